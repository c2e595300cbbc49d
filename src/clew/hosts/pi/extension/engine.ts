// One engine process: started with a handshake, spoken to through `peer`, and ended for good.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { InitializeParams, InitializeResult, ShutdownParams } from "./protocol.gen.ts";
import { type HostHandlers, Peer, TIMED_OUT, withDeadline } from "./rpc.ts";

const HANDSHAKE_LIMIT_MS = 5_000;
const END_OF_INPUT_MS = 320;
const KILL_MS = 100;
const DRAIN_MS = 100;
const STDERR_CHARS = 2_000;

export interface EngineEvents {
	/** The engine said something. */
	onFrame(): void;
	/** It is gone without having been asked to; `greeted` = it had answered the handshake. */
	onDeath(why: string, greeted: boolean): void;
}

export class Engine {
	readonly peer: Peer;
	readonly handshake: Promise<InitializeResult>;
	#child: ChildProcessWithoutNullStreams;
	#gone: Promise<void>;
	#isGone = false;
	#isStopping = false;
	#isGreeted = false;
	#stderr = "";

	/** Starts `python` and greets it; never throws for what the child does, which arrives through `events`. */
	constructor(python: string, hello: InitializeParams, handlers: HostHandlers, events: EngineEvents) {
		// -P: the project's own folders must never shadow the package. An argument list, never a shell.
		this.#child = spawn(python, ["-P", "-m", "clew", "engine"], { stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
		this.peer = new Peer((frame) => void this.#child.stdin.write(frame), handlers, events.onFrame);
		this.#gone = new Promise((resolve) => this.#listen(python, events, resolve));
		this.handshake = this.#greet(hello);
		this.handshake.catch(() => {}); // told through onDeath
	}

	/** Asks the engine to finish, then makes sure that it is gone: at most `budget_ms` and 420 ms more. */
	async stop(params: ShutdownParams): Promise<void> {
		this.#isStopping = true;
		if (this.#isGone) return;
		await withDeadline(this.peer.call("shutdown", params), params.budget_ms).catch(() => undefined);
		await this.#end();
	}

	async #greet(hello: InitializeParams): Promise<InitializeResult> {
		try {
			const answer = await withDeadline(this.peer.call("initialize", hello), HANDSHAKE_LIMIT_MS);
			if (answer === TIMED_OUT) throw new Error(`no answer within ${HANDSHAKE_LIMIT_MS / 1000} s`);
			this.#isGreeted = true;
			return answer;
		} catch (error) {
			// It runs, or answers, but is of no use.
			this.peer.close(new Error("the engine is of no use"));
			if (!this.#isStopping) void this.#end();
			throw error;
		}
	}

	#listen(python: string, events: EngineEvents, resolve: () => void): void {
		let why = "";
		const end = (reason: string) => {
			if (this.#isGone) return;
			this.#isGone = true;
			this.peer.close(new Error(reason));
			this.#release();
			resolve();
			if (!this.#isStopping) events.onDeath(reason, this.#isGreeted);
		};
		this.#child.on("error", (error) => end(`${python}: ${error.message}`));
		this.#child.on("exit", (code, signal) => {
			why = signal ? `ended by ${signal}` : `ended with code ${code}`;
			// What it wrote last may still be in the pipe; a grandchild may hold the pipe open for ever.
			const drain = setTimeout(() => this.#release(), DRAIN_MS);
			this.#child.once("close", () => clearTimeout(drain));
		});
		this.#child.on("close", () => end([why, this.#lastLine()].filter(Boolean).join(": ")));
		this.#child.stdin.on("error", () => {}); // a broken pipe is told by the exit
		this.#child.stdout.on("data", (chunk: Buffer) => this.peer.receive(chunk));
		this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
			this.#stderr = (this.#stderr + text).slice(-STDERR_CHARS);
		});
	}

	async #end(): Promise<void> {
		this.#child.stdin.end();
		if (await this.#isGoneWithin(END_OF_INPUT_MS)) return;
		this.#child.kill("SIGKILL"); // an engine takes SIGTERM as it takes the end of its input
		if (await this.#isGoneWithin(KILL_MS)) return;
		this.#release();
		this.#child.unref();
	}

	async #isGoneWithin(ms: number): Promise<boolean> {
		return (await withDeadline(this.#gone, ms)) !== TIMED_OUT;
	}

	#release(): void {
		for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream.destroy();
	}

	#lastLine(): string {
		return this.#stderr.trim().split("\n").at(-1) ?? "";
	}
}
