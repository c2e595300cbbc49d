#!/usr/bin/env node
// A scripted engine: answers, hangs or dies as FAKE_ENGINE (JSON) says, and logs what it hears to FAKE_ENGINE_LOG.
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const script = JSON.parse(process.env.FAKE_ENGINE ?? "{}");
const logFile = process.env.FAKE_ENGINE_LOG;
const log = (record) => logFile && appendFileSync(logFile, `${JSON.stringify(record)}\n`);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const waiting = new Map();
const refused = new Set();
let nextId = 1;

const ask = (method, params) =>
	new Promise((resolve) => {
		waiting.set(nextId, resolve);
		send({ id: nextId++, method, params });
	});

/** Counts the engines started with this log, so that a script can let only the first ones misbehave. */
function countStart() {
	if (!logFile) return 1;
	let count = 1;
	try {
		count = Number(readFileSync(`${logFile}.starts`, "utf8")) + 1;
	} catch {}
	writeFileSync(`${logFile}.starts`, String(count));
	return count;
}

const start = countStart();
log({ pid: process.pid, argv: process.argv.slice(2), cwd: process.cwd(), start });
if (script.broken) {
	console.error("python3: No module named clew");
	process.exit(1);
}
if (script.ignoreTerm) process.on("SIGTERM", () => log({ signal: "SIGTERM" }));
if (script.hold) setInterval(() => {}, 1000);

const HELLO = { protocol: 1, engine_version: "0.0.0", recall_deadline_ms: 100, warmup_ms: 400, capabilities: [] };
const INJECTED = [{ id: "m1", updated_at_ms: 7 }];
const answers = {
	initialize: () => ({ ...HELLO, ...script.hello }),
	recall: () => ({ content: "<memories>\n- uses tabs\n</memories>", injected: INJECTED, mode: "hybrid" }),
	"turn.capture": ({ messages }) => ({ journalled: messages.length }),
	"session.sync": () => ({}),
	"command.run": async ({ args }) => {
		if (args === "ask") {
			const all = await Promise.all([
				ask("ui.confirm", { title: "Delete?", message: "For good" }),
				ask("ui.select", { title: "Pick", options: ["alpha", "beta"] }),
				ask("ui.input", { title: "Name", placeholder: "p" }),
				ask("ui.editor", { title: "Edit", prefill: "a\nb" }),
			]);
			send({ method: "ui.notify", params: { message: `answers ${JSON.stringify(all)}`, level: "info" } });
			send({ method: "ui.status", params: { text: "clew: busy" } });
		} else send({ method: "ui.notify", params: { message: `ran ${args}`, level: "info" } });
		return {};
	},
	"tool.run": ({ name, arguments: args }) => ({ text: `${name} ${JSON.stringify(args)}`, details: { rows: 1 }, is_error: false }),
	shutdown: () => ({}),
};

let turn = Promise.resolve();
/** Greets before anything else, as the real engine does; everything after that at the same time. */
async function receive(line) {
	const frame = JSON.parse(line);
	if (frame.method !== "initialize") await turn;
	const done = act(frame);
	if (frame.method === "initialize") turn = done;
}

async function act(frame) {
	log(frame);
	if (!frame.method) return waiting.get(frame.id)?.(frame.result ?? frame.error);
	const manner = script[frame.method] ?? "answer";
	if (manner === "die" && start <= (script.dieUntilStart ?? start)) process.exit(3);
	if (manner === "hang") return frame.method === "initialize" ? new Promise(() => {}) : undefined;
	if (frame.id === undefined) return;
	if (manner === "refuse" || (manner === "refuse once" && !refused.has(frame.method))) {
		refused.add(frame.method);
		return send({ id: frame.id, error: { code: -32000, message: "The store is busy. Try again." } });
	}
	if (typeof manner === "number") await new Promise((resolve) => setTimeout(resolve, manner));
	send({ id: frame.id, result: await answers[frame.method](frame.params) });
}

createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
	.on("line", receive)
	.on("close", () => {
		log({ eof: true });
		if (!script.ignoreEof) process.exit(0);
	});
