// How long a prompt may wait for its memories. Esc cannot interrupt that wait, so it is short and never in vain twice.
import { RECALL_DEADLINE_MS, WARMUP_MS } from "./protocol.gen.ts";

const TIMEOUTS_UNTIL_HANGING = 2;

export class Patience {
	#deadlineMs = RECALL_DEADLINE_MS;
	#warmupLeftMs = WARMUP_MS;
	#isWarm = false;
	#timeouts = 0;

	/** Takes the engine's own limits from its handshake. */
	adopt(limits: { recall_deadline_ms: number; warmup_ms: number }): void {
		this.#deadlineMs = limits.recall_deadline_ms;
		this.#warmupLeftMs += limits.warmup_ms - WARMUP_MS;
	}

	/** Milliseconds that the next recall may take, as long as the engine does not hang. */
	get limitMs(): number {
		return this.#isWarm ? this.#deadlineMs : Math.max(this.#warmupLeftMs, this.#deadlineMs);
	}

	get isHanging(): boolean {
		return this.#timeouts >= TIMEOUTS_UNTIL_HANGING;
	}

	/** A recall was answered in time. */
	answered(): void {
		this.#isWarm = true;
		this.#timeouts = 0;
	}

	/** A recall was not answered in time. */
	timedOut(waitedMs: number): void {
		this.#warmupLeftMs -= waitedMs;
		this.#timeouts += 1;
	}

	/** The engine said something: one that was taken for hanging gets another chance. */
	heard(): void {
		if (this.isHanging) this.#timeouts = 0;
	}
}
