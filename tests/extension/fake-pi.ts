// Enough of Pi to drive the extension: its registration API, a session tree, and a UI that records and answers.
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import clew from "../../src/clew/hosts/pi/extension/index.ts";

export interface LogRecord {
	pid?: number;
	start?: number;
	argv?: string[];
	method?: string;
	params?: any;
	result?: any;
	eof?: boolean;
}

const FAKE_ENGINE = join(import.meta.dirname, "fake-engine.mjs");
const POLL_MS = 5;
const LIMIT_MS = 8_000;

export class FakePi {
	readonly folder = mkdtempSync(join(tmpdir(), "clew äö "));
	readonly commands = new Map<string, any>();
	readonly tools = new Map<string, any>();
	readonly notices: string[] = [];
	readonly statuses: (string | undefined)[] = [];
	readonly dialogs: string[] = [];
	answers: Record<string, unknown> = {};
	#handlers = new Map<string, ((event: any, ctx: any) => unknown)[]>();
	#entries: any[] = [];

	/** Loads the extension; `script` tells the fake engine how to behave. */
	constructor(script: object = {}, python = FAKE_ENGINE) {
		chmodSync(FAKE_ENGINE, 0o755);
		process.env.CLEW_PYTHON = python;
		process.env.FAKE_ENGINE = JSON.stringify(script);
		process.env.FAKE_ENGINE_LOG = join(this.folder, "engine.log");
		process.env.PI_CODING_AGENT_DIR = join(this.folder, "agent");
		this.load();
	}

	load(): void {
		clew({
			on: (event: string, handler: any) => this.#handlers.set(event, [...(this.#handlers.get(event) ?? []), handler]),
			registerCommand: (name: string, options: any) => this.commands.set(name, options),
			registerTool: (tool: any) => this.tools.set(tool.name, tool),
		} as any);
	}

	readonly ctx: any = {
		mode: "rpc",
		hasUI: true,
		cwd: this.folder,
		isIdle: () => true,
		isProjectTrusted: () => true,
		ui: {
			notify: (text: string) => this.notices.push(text),
			setStatus: (_key: string, text?: string) => this.statuses.push(text),
			confirm: (title: string) => this.#dialog("confirm", title),
			select: (title: string) => this.#dialog("select", title),
			input: (title: string) => this.#dialog("input", title),
			editor: (title: string) => this.#dialog("editor", title),
		},
		sessionManager: {
			getSessionId: () => "s1",
			getSessionFile: () => undefined,
			getLeafId: () => this.#entries.at(-1)?.id ?? null,
			getLeafEntry: () => this.#entries.at(-1),
			getEntry: (id: string) => this.#entries.find((entry) => entry.id === id),
			buildSessionProjection: () => ({ entries: this.#entries.map((e) => ({ sourceEntry: e, messages: [e] })) }),
		},
	};

	async #dialog(kind: string, title: string): Promise<unknown> {
		this.dialogs.push(`${kind} ${title}`);
		return this.answers[kind];
	}

	async emit(event: string, fields: object = {}): Promise<any> {
		let result: unknown;
		for (const handler of this.#handlers.get(event) ?? []) result = (await handler({ type: event, ...fields }, this.ctx)) ?? result;
		return result;
	}

	start = (reason = "startup") => this.emit("session_start", { reason });
	stop = (reason = "quit") => this.emit("session_shutdown", { reason });
	recall = (prompt: string) => this.emit("before_agent_start", { messageType: "user", prompt });

	append(entry: object): string {
		const id = `e${this.#entries.length}`;
		const parentId = this.#entries.at(-1)?.id ?? null;
		this.#entries.push({ id, parentId, timestamp: "2026-01-01T00:00:00.000Z", ...entry });
		return id;
	}

	say(role: "user" | "assistant", text: string, stopReason = "stop"): string {
		const message = { role, content: [{ type: "text", text }], timestamp: 1_000 + this.#entries.length, stopReason };
		return this.append({ type: "message", message });
	}

	/** A whole turn, as Pi runs it. */
	async turn(prompt: string, reply: string): Promise<void> {
		this.say("user", prompt);
		this.say("assistant", reply);
		await this.emit("turn_end");
		await this.emit("agent_settled", { aborted: false });
	}

	log(): LogRecord[] {
		try {
			const lines = readFileSync(process.env.FAKE_ENGINE_LOG as string, "utf8").trim().split("\n");
			return lines.map((line) => JSON.parse(line));
		} catch {
			return [];
		}
	}

	calls = (method: string) => this.log().filter((record) => record.method === method);
	pids = () => this.log().flatMap((record) => (record.pid ? [record.pid] : []));

	/** Waits for a condition, not for a time; fails the test when it never comes. */
	async until(condition: () => boolean, what: string): Promise<void> {
		for (const started = Date.now(); !condition(); ) {
			if (Date.now() - started > LIMIT_MS) throw new Error(`never happened: ${what}; log ${JSON.stringify(this.log())}`);
			await new Promise((resolve) => setTimeout(resolve, POLL_MS));
		}
	}

	remove(): void {
		rmSync(this.folder, { recursive: true, force: true });
	}
}

export function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
}
