// A symmetric JSON-RPC 2.0 peer: one JSON object per LF line, both sides ask and answer.
import { StringDecoder } from "node:string_decoder";
import type { EngineMethods, HostMethods } from "./protocol.gen.ts";

/** What the extension does for the engine. `signal` is aborted when the engine gives the request up. */
export type HostHandlers = {
	[M in Exclude<keyof HostMethods, "cancel">]: (
		params: HostMethods[M]["params"],
		signal: AbortSignal,
	) => HostMethods[M]["result"] | Promise<HostMethods[M]["result"]> | void;
};

interface Frame {
	id?: number | string | null;
	method?: string;
	params?: unknown;
	result?: unknown;
	error?: { code?: number; message?: string };
}

interface Waiting {
	resolve(result: unknown): void;
	reject(error: Error): void;
}

/** The engine's own error answer: it says what happened and what to do. */
export class EngineError extends Error {}

const METHOD_NOT_FOUND = -32601;
const HANDLER_FAILED = -32000;

export class Peer {
	#write: (frame: string) => void;
	#handlers: HostHandlers;
	#onFrame: () => void;
	#nextId = 1;
	#waiting = new Map<number, Waiting>();
	#dialogs = new Map<number | string, AbortController>();
	#decoder = new StringDecoder("utf8");
	#rest = "";
	#closed: Error | undefined;

	/** `onFrame` is called for everything that the engine says. */
	constructor(write: (frame: string) => void, handlers: HostHandlers, onFrame: () => void = () => {}) {
		this.#write = write;
		this.#handlers = handlers;
		this.#onFrame = onFrame;
	}

	/** Asks the engine. Rejects when it answers with an error, when it is gone, or when `signal` is aborted. */
	call<M extends keyof EngineMethods>(
		method: M,
		params: EngineMethods[M]["params"],
		signal?: AbortSignal,
	): Promise<EngineMethods[M]["result"]> {
		if (this.#closed) return Promise.reject(this.#closed);
		const id = this.#nextId++;
		return new Promise<EngineMethods[M]["result"]>((resolve, reject) => {
			const cancel = () => {
				this.#waiting.delete(id);
				this.#send({ method: "cancel", params: { id } });
				reject(new Error("cancelled"));
			};
			const settle = () => signal?.removeEventListener("abort", cancel);
			this.#waiting.set(id, {
				resolve: (result) => (settle(), resolve(result as EngineMethods[M]["result"])),
				reject: (error) => (settle(), reject(error)),
			});
			this.#send({ id, method, params });
			if (signal?.aborted) cancel();
			else signal?.addEventListener("abort", cancel, { once: true });
		});
	}

	/** Takes bytes from the engine, which itself sends no frame beyond the limit. */
	receive(chunk: Buffer): void {
		const text = this.#decoder.write(chunk);
		// Looked for in what is new alone, so that a long frame costs no more than its length.
		const end = text.lastIndexOf("\n");
		const lines = end < 0 ? [] : (this.#rest + text.slice(0, end)).split("\n");
		this.#rest = end < 0 ? this.#rest + text : text.slice(end + 1);
		for (const line of lines) if (line.trim()) this.#handle(line);
	}

	/** The engine is gone: whoever waits is told why, open dialogs are closed. */
	close(error: Error): void {
		this.#closed ??= error;
		for (const waiting of this.#waiting.values()) waiting.reject(error);
		this.#waiting.clear();
		for (const dialog of this.#dialogs.values()) dialog.abort();
		this.#dialogs.clear();
	}

	#handle(line: string): void {
		let frame: Frame;
		try {
			frame = JSON.parse(line) as Frame;
		} catch {
			return; // not ours: the engine keeps its stdout clean, so nothing that matters is lost
		}
		if (typeof frame !== "object" || frame === null) return;
		this.#onFrame();
		if (typeof frame.method === "string") void this.#carryOut(frame.method, frame);
		else this.#settle(frame);
	}

	#settle(frame: Frame): void {
		const waiting = this.#waiting.get(frame.id as number);
		this.#waiting.delete(frame.id as number);
		if (frame.error) waiting?.reject(new EngineError(frame.error.message ?? "the engine gave no reason"));
		else waiting?.resolve(frame.result);
	}

	async #carryOut(method: string, frame: Frame): Promise<void> {
		if (method === "cancel") {
			this.#dialogs.get((frame.params as { id: number }).id)?.abort();
			return;
		}
		const id = frame.id ?? undefined;
		const dialog = new AbortController();
		if (id !== undefined) this.#dialogs.set(id, dialog);
		const answer = await this.#run(method, frame.params, dialog.signal);
		if (id === undefined) return;
		this.#dialogs.delete(id);
		this.#send({ id, ...answer });
	}

	async #run(method: string, params: unknown, signal: AbortSignal): Promise<object> {
		const handler = Object.hasOwn(this.#handlers, method) ? this.#handlers[method as keyof HostHandlers] : undefined;
		if (!handler) return { error: { code: METHOD_NOT_FOUND, message: `There is no method ${method}.` } };
		try {
			return { result: (await handler(params as never, signal)) ?? null };
		} catch (error) {
			return { error: { code: HANDLER_FAILED, message: String(error) } };
		}
	}

	#send(message: object): void {
		if (!this.#closed) this.#write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
	}
}

export const TIMED_OUT = Symbol("timed out");

/** The promise's outcome, or TIMED_OUT. The timer holds the process open while somebody waits, and is cleared after. */
export async function withDeadline<T>(promise: Promise<T>, ms: number): Promise<T | typeof TIMED_OUT> {
	let timer: NodeJS.Timeout | undefined;
	const timeout = new Promise<typeof TIMED_OUT>((resolve) => {
		timer = setTimeout(() => resolve(TIMED_OUT), ms);
	});
	try {
		return await Promise.race([promise, timeout]);
	} finally {
		clearTimeout(timer);
	}
}
