// One Pi session: keeps its engine alive, passes on what Pi tells, and lets nothing of Clew's hold Pi up.
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { RECALL_TYPE, readInjected, readMessages, readTail, shorten, splitByFrame } from "./conversation.ts";
import { Engine } from "./engine.ts";
import { explainInstallation, findAgentDir, findPython } from "./locate.ts";
import { Patience } from "./patience.ts";
import { EXTENSION_VERSION, type InitializeParams, PROTOCOL_VERSION, type RecallResult } from "./protocol.gen.ts";
import { EngineError, TIMED_OUT, withDeadline } from "./rpc.ts";
import { createUiHandlers, notify, readCapabilities } from "./ui.ts";

const MAX_RESTARTS = 2;
/** An engine that still answers after this long is healthy: earlier deaths no longer count. */
const HEALTHY_MS = 10 * 60_000;
const SHUTDOWN_BUDGET_MS = 1_000;

export class Session {
	#ctx: ExtensionContext;
	#folder: string;
	#agentDir = findAgentDir();
	#engine: Engine | undefined;
	/** One that is of no use but may not be gone yet. */
	#discarded: Engine | undefined;
	#patience = new Patience();
	#unavailable = "the session has ended";
	#notices = new Set<string>();
	#restarts = 0;
	/** Last entry handed to the engine, and last one that it has confirmed. */
	#sent: string | null = null;
	#confirmed: string | null = null;

	/** `folder` is where the extension lies. */
	constructor(ctx: ExtensionContext, folder: string) {
		this.#ctx = ctx;
		this.#folder = folder;
	}

	/** Starts the engine; its handshake is not waited for. */
	start(reason: string): void {
		this.#sent = this.#confirmed = this.#ctx.sessionManager.getLeafId();
		this.#startEngine(reason);
	}

	/** What to put behind the prompt, if the engine finds something in time. */
	async recall(prompt: string) {
		const patience = this.#patience;
		if (!this.#engine || patience.isHanging) return undefined;
		const started = performance.now();
		const result = await this.#ask(this.#engine, prompt, patience).catch((error) => this.#hearError(error));
		if (result === TIMED_OUT) this.#giveUp(patience, performance.now() - started);
		if (!result || result === TIMED_OUT || !result.content) return undefined;
		const details = { injected: result.injected };
		return { message: { customType: RECALL_TYPE, content: result.content, display: false, details } };
	}

	/** Hands new messages to the engine and does not wait. */
	capture(settled: boolean): void {
		const engine = this.#engine;
		if (!engine) return;
		const { sessionManager } = this.#ctx;
		const groups = splitByFrame(readMessages(sessionManager, this.#sent));
		const leaf = sessionManager.getLeafId();
		if (!groups.length && !settled) return;
		this.#sent = leaf;
		if (!groups.length) groups.push([]);
		const calls = groups.map((messages) =>
			engine.peer.call("turn.capture", { messages, settled: settled && messages === groups.at(-1) }),
		);
		Promise.all(calls).then(
			() => {
				if (this.#engine === engine) this.#confirmed = leaf;
			},
			() => {
				// Gone or refused: what is not confirmed goes out again with the next turn.
				if (this.#engine === engine) this.#sent = this.#confirmed;
			},
		);
	}

	/** The person went to another branch of the session: what stands there was captured when it was said. */
	moveTo(leafId: string | null): void {
		this.#sent = this.#confirmed = leafId;
		this.sync();
	}

	/** Tells the engine what the branch holds now. */
	sync(): void {
		const { sessionManager } = this.#ctx;
		const branch = { messages: readTail(sessionManager), injected: readInjected(sessionManager) };
		this.#engine?.peer.call("session.sync", branch).catch(() => {});
	}

	/** Runs a command; it may open dialogs and take as long as the person does. */
	async runCommand(name: string, args: string): Promise<void> {
		try {
			await this.#requireEngine().peer.call("command.run", { name, args: shorten(args) });
		} catch (error) {
			this.#notify(messageOf(error), "error");
		}
	}

	/** Runs a tool of the agent; failures are error results, never exceptions. */
	async runTool(name: string, args: Record<string, unknown>, signal: AbortSignal | undefined) {
		try {
			const result = await this.#requireEngine().peer.call("tool.run", { name, arguments: args }, signal);
			return toolResult(result.text, result.details, result.is_error);
		} catch (error) {
			return toolResult(`unavailable: ${messageOf(error)}`, null, true);
		}
	}

	/** Ends the engine, within 1.5 s whatever it does. */
	async stop(reason: string): Promise<void> {
		const engine = this.#engine ?? this.#discarded;
		this.capture(false);
		this.#engine = undefined;
		await engine?.stop({ reason, budget_ms: SHUTDOWN_BUDGET_MS });
	}

	async #ask(engine: Engine, prompt: string, patience: Patience): Promise<RecallResult | typeof TIMED_OUT | undefined> {
		const started = performance.now();
		const greeting = await withDeadline(engine.handshake.catch(() => undefined), patience.limitMs);
		if (greeting === TIMED_OUT || !greeting) return greeting;
		// The greeting may have changed the limit.
		const leftMs = Math.max(Math.ceil(patience.limitMs - (performance.now() - started)), 1);
		const answer = engine.peer.call("recall", { prompt: shorten(prompt), deadline_ms: leftMs });
		const result = await withDeadline(answer, leftMs);
		if (result !== TIMED_OUT) patience.answered();
		// The engine believes that what it found late is injected; tell it what really is.
		else answer.then((late) => late.content && this.#engine === engine && this.sync()).catch(() => {});
		return result;
	}

	#startEngine(reason: string): void {
		try {
			this.#engine = this.#spawn(reason);
		} catch (error) {
			this.#declareUnavailable("Clew's engine cannot be started", messageOf(error));
		}
	}

	#spawn(reason: string): Engine {
		const started = performance.now();
		const patience = new Patience();
		this.#patience = patience;
		const engine = new Engine(findPython(this.#folder, this.#agentDir), this.#hello(reason), createUiHandlers(this.#ctx), {
			onFrame: () => {
				patience.heard();
				if (performance.now() - started > HEALTHY_MS) this.#restarts = 0;
			},
			onDeath: (why, greeted) => this.#onDeath(engine, why, greeted),
		});
		engine.handshake.then(
			(limits) => patience.adopt(limits),
			(error) => this.#onFailedHandshake(engine, error),
		);
		return engine;
	}

	#hello(reason: string): InitializeParams {
		const { sessionManager, mode, hasUI, cwd } = this.#ctx;
		return {
			protocol: PROTOCOL_VERSION,
			extension_version: EXTENSION_VERSION,
			mode,
			has_ui: hasUI,
			capabilities: readCapabilities(this.#ctx),
			cwd,
			agent_dir: this.#agentDir,
			session_id: sessionManager.getSessionId(),
			session_file: sessionManager.getSessionFile() ?? null,
			project_trusted: this.#ctx.isProjectTrusted(),
			reason,
			is_idle: this.#ctx.isIdle(),
			messages: readTail(sessionManager),
			injected: readInjected(sessionManager),
		};
	}

	#onDeath(engine: Engine, why: string, greeted: boolean): void {
		if (this.#engine !== engine) return;
		if (!greeted) return; // told by the handshake
		if (this.#restarts === MAX_RESTARTS) {
			this.#declareUnavailable("Clew's engine keeps ending", `${why}. Pi works on without it; /reload tries again.`);
			return;
		}
		this.#restarts += 1;
		this.#sent = this.#confirmed;
		this.#startEngine("restart");
		try {
			this.capture(this.#ctx.isIdle());
		} catch (error) {
			this.#notifyOnce(messageOf(error));
		}
	}

	#onFailedHandshake(engine: Engine, error: unknown): void {
		if (this.#engine !== engine) return;
		const why = messageOf(error);
		if (error instanceof EngineError) return this.#declareUnavailable("Clew's engine does not fit", why);
		const mend = explainInstallation(this.#folder, this.#agentDir);
		this.#declareUnavailable("Clew's Python side does not run", `${why}. Pi works without it.\n${mend}`);
	}

	/** An engine that answers with an error is told once; one that died is dealt with elsewhere. */
	#hearError(error: unknown): undefined {
		if (error instanceof EngineError) this.#notifyOnce(error.message);
		return undefined;
	}

	#declareUnavailable(what: string, detail: string): void {
		this.#discarded = this.#engine;
		this.#engine = undefined;
		this.#unavailable = `${what}: ${detail}`;
		this.#notifyOnce(this.#unavailable);
	}

	#requireEngine(): Engine {
		if (!this.#engine) throw new Error(this.#unavailable);
		return this.#engine;
	}

	#giveUp(patience: Patience, waitedMs: number): void {
		patience.timedOut(waitedMs);
		if (patience.isHanging) {
			this.#notifyOnce("Clew does not answer; prompts go out without memories until it does.");
		}
	}

	#notifyOnce(message: string): void {
		if (this.#notices.has(message)) return;
		this.#notices.add(message);
		this.#notify(message, "warning");
	}

	#notify(message: string, level: "warning" | "error"): void {
		try {
			notify(this.#ctx, message, level);
		} catch {
			// Pi has replaced the session meanwhile: nobody is left to tell
		}
	}
}

function toolResult(text: string, details: unknown, isError: boolean) {
	return { content: [{ type: "text" as const, text }], details, isError };
}

function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}
