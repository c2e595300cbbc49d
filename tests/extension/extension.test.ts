import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";
import { FakePi, isAlive } from "./fake-pi.ts";

let pi: FakePi;
afterEach(async () => {
	await pi.stop();
	for (const pid of pi.pids()) assert.ok(!isAlive(pid), `engine ${pid} was left behind`);
	pi.remove();
});

const open = async (script: object = {}, python?: string) => {
	pi = new FakePi(script, python);
	await pi.start();
	return pi;
};
const texts = () => pi.calls("turn.capture").flatMap((call) => call.params.messages.map((m: any) => m.text));

test("nothing is started before a session starts", () => {
	pi = new FakePi();
	assert.deepEqual(pi.log(), []);
	assert.deepEqual([...pi.commands.keys()].sort(), ["gate-status", "memory-review", "noodle"]);
	assert.equal(pi.tools.size, 6);
});

test("a recalled block is injected hidden, with what it holds in the details", async () => {
	await open();
	const { message } = await pi.recall("how do I indent?");
	assert.equal(message.customType, "clew-recall");
	assert.equal(message.display, false);
	assert.match(message.content, /uses tabs/);
	assert.deepEqual(message.details, { injected: [{ id: "m1", updated_at_ms: 7 }] });
});

test("what stands injected on the branch goes into the handshake", async () => {
	pi = new FakePi();
	pi.append({ type: "custom_message", customType: "clew-recall", details: { injected: [{ id: "m9", updated_at_ms: 3 }] } });
	pi.say("user", "earlier");
	await pi.start("resume");
	await pi.until(() => pi.calls("initialize").length === 1, "handshake");
	const { params } = pi.calls("initialize")[0]!;
	assert.deepEqual(params.injected, [{ id: "m9", updated_at_ms: 3 }]);
	assert.deepEqual(params.messages.map((m: any) => m.text), ["earlier"]);
});

test("each message is captured once, and the end of the run is told", async () => {
	await open();
	await pi.turn("one", "first");
	await pi.turn("two", "second");
	await pi.stop();
	assert.deepEqual(texts(), ["one", "first", "two", "second"]);
	assert.deepEqual(pi.calls("turn.capture").map((call) => call.params.settled), [false, true, false, true]);
});

test("what was said in the last moment is captured at shutdown", async () => {
	await open();
	pi.say("user", "quick, before I go");
	await pi.stop();
	assert.deepEqual(texts(), ["quick, before I go"]);
	assert.ok(pi.log().some((record) => record.eof));
});

test("failed attempts and replies that are only tool calls are not captured", async () => {
	await open();
	pi.say("user", "try");
	pi.say("assistant", "half an ans", "error");
	const target = pi.say("assistant", "omitted by Pi");
	pi.append({ type: "context_edit", targetId: target, replacement: null });
	pi.append({ type: "message", message: { role: "assistant", content: [{ type: "toolCall", id: "c" }], stopReason: "toolUse" } });
	pi.append({ type: "message", message: { role: "toolResult", content: [{ type: "text", text: "noise" }] } });
	pi.say("assistant", "the answer");
	await pi.emit("turn_end");
	await pi.stop();
	assert.deepEqual(texts(), ["try", "the answer"]);
});

test("a very long text keeps its head and its tail", async () => {
	await open();
	pi.say("user", `HEAD${"x".repeat(500_000)}TAIL`);
	await pi.emit("turn_end");
	await pi.stop();
	const [text] = texts();
	assert.equal(text.length, 400_000);
	assert.match(text, /^HEAD.*characters left out.*TAIL$/s);
});

test("more text than fits into one frame goes out in several", async () => {
	await open();
	for (let index = 0; index < 8; index++) pi.say("user", `${index}${"\u0001".repeat(390_000)}`);
	await pi.emit("turn_end");
	await pi.stop();
	assert.deepEqual(texts().map((text) => text[0]), [..."01234567"]);
	for (const call of pi.calls("turn.capture")) assert.ok(JSON.stringify(call).length < 8 * 1024 * 1024);
});

test("commands and tools reach the engine, and their answers come back", async () => {
	await open();
	await pi.commands.get("noodle").handler("remember tea", pi.ctx);
	assert.deepEqual(pi.calls("command.run")[0]?.params, { name: "noodle", args: "remember tea" });
	assert.deepEqual(pi.notices, ["ran remember tea"]);
	const result = await pi.tools.get("memory_get").execute("c1", { id: "m1" }, undefined);
	assert.equal(result.content[0].text, 'memory_get {"id":"m1"}');
	assert.equal(result.isError, false);
});

test("several dialogs may wait at once, and a recall is answered meanwhile", async () => {
	await open();
	let answerConfirm = (_value: boolean) => {};
	pi.answers = { confirm: new Promise((resolve) => (answerConfirm = resolve)), select: "beta", editor: "a" };
	const command = pi.commands.get("noodle").handler("ask", pi.ctx);
	await pi.until(() => pi.dialogs.length === 4, "four dialogs");
	assert.ok(await pi.recall("meanwhile"));
	answerConfirm(true);
	await command;
	assert.match(pi.notices[0] ?? "", /"confirmed":true.*"value":"beta".*"value":null.*"value":"a"/);
	assert.deepEqual(pi.statuses, ["clew: busy"]);
});

test("without a UI nothing is asked", async () => {
	pi = new FakePi();
	pi.ctx.hasUI = false;
	await pi.start();
	await pi.commands.get("noodle").handler("ask", pi.ctx);
	assert.deepEqual(pi.dialogs, []);
	assert.deepEqual(pi.calls("initialize")[0]?.params.capabilities, ["notify"]);
});

for (const [name, script, python] of [
	["missing", {}, "/nonexistent/python"],
	["broken", { broken: true }, undefined],
] as const) {
	test(`a ${name} engine costs one notice that says what to run; tools and commands say so too`, async () => {
		await open(script, python);
		await pi.until(() => pi.notices.length > 0, "notice");
		assert.equal(await pi.recall("hello"), undefined);
		await pi.turn("a", "b");
		assert.equal(pi.notices.length, 1);
		assert.match(pi.notices[0] ?? "", /-m venv ".*agent\/clew\/venv"[^]*pip install/);
		const result = await pi.tools.get("memory_list").execute("c", {}, undefined);
		assert.ok(result.isError);
		assert.match(result.content[0].text, /^unavailable: /);
		await pi.commands.get("noodle").handler("", pi.ctx);
		assert.equal(pi.notices.length, 2);
	});
}

test("an engine that refuses the handshake costs one notice with its own words", async () => {
	await open({ initialize: "refuse" });
	assert.equal(await pi.recall("hello"), undefined);
	await pi.until(() => pi.notices.length > 0, "notice");
	await pi.recall("again");
	assert.deepEqual(pi.notices, ["Clew's engine does not fit: The store is busy. Try again."]);
});

test("a hanging engine is waited for twice, then no more until it speaks", async () => {
	await open({ recall: "hang" });
	for (let prompt = 0; prompt < 5; prompt++) assert.equal(await pi.recall(`prompt ${prompt}`), undefined);
	assert.equal(pi.calls("recall").length, 2);
	assert.equal(pi.notices.length, 1);
	await pi.turn("a", "b"); // its capture is answered
	await pi.until(() => pi.calls("turn.capture").length === 2, "captures");
	await pi.commands.get("noodle").handler("hello", pi.ctx);
	await pi.recall("once more");
	assert.equal(pi.calls("recall").length, 3);
});

test("a recall that comes too late is not injected, and the engine hears what is", async () => {
	await open({ recall: 600 });
	assert.equal(await pi.recall("slow"), undefined);
	await pi.until(() => pi.calls("session.sync").length === 1, "sync");
	assert.deepEqual(pi.calls("session.sync")[0]?.params.injected, []);
});

test("an engine that dies is started again twice, then given up with one notice", async () => {
	await open({ recall: "die" });
	for (let prompt = 0; prompt < 5; prompt++) assert.equal(await pi.recall("die"), undefined);
	await pi.until(() => pi.notices.length > 0, "notice");
	assert.equal(pi.pids().length, 3);
	assert.equal(pi.notices.length, 1);
	assert.match(pi.notices[0] ?? "", /keeps ending/);
});

test("what a dying engine had not confirmed is sent to the next one", async () => {
	await open({ "turn.capture": "die", dieUntilStart: 1 });
	await pi.turn("precious", "noted");
	await pi.until(() => pi.calls("turn.capture").some((call) => call.params.messages.length && pi.pids().length === 2), "resend");
	await pi.stop();
	assert.equal(texts().filter((text) => text === "precious").length, 2);
	assert.deepEqual(pi.notices, []);
});

test("a refused capture goes out again with the next turn", async () => {
	await open({ "turn.capture": "refuse" });
	await pi.turn("one", "first");
	await pi.commands.get("noodle").handler("wait for the answers", pi.ctx);
	await pi.turn("two", "second");
	await pi.stop();
	assert.ok(texts().filter((text) => text === "one").length >= 2);
});

test("what was refused goes out again although a later part of it was taken", async () => {
	await open({ "turn.capture": "refuse once" });
	for (let index = 0; index < 8; index++) pi.say("user", `${index}${"x".repeat(390_000)}`);
	await pi.emit("turn_end");
	await pi.until(() => pi.calls("turn.capture").length > 1, "captures");
	await pi.commands.get("noodle").handler("wait for the answers", pi.ctx);
	await pi.turn("later", "reply");
	await pi.stop();
	assert.equal(texts().filter((text) => text[0] === "0").length, 2);
});

test("deaths long ago do not count: an engine that was healthy since is started again", async () => {
	await open({ recall: "die" });
	for (let prompt = 0; prompt < 2; prompt++) await pi.recall("die");
	await pi.until(() => pi.pids().length === 3, "third engine");
	await pi.commands.get("noodle").handler("be up", pi.ctx);
	const now = performance.now.bind(performance);
	mock.method(performance, "now", () => now() + 11 * 60_000);
	await pi.commands.get("noodle").handler("still there", pi.ctx);
	mock.restoreAll();
	await pi.recall("die");
	await pi.until(() => pi.pids().length === 4, "fourth engine");
	assert.ok(!pi.notices.some((text) => /keeps ending/.test(text)));
});

test("the engine hears whether a run is on its way", async () => {
	await open({ recall: "die", dieUntilStart: 1 });
	pi.ctx.isIdle = () => false;
	await pi.recall("die");
	await pi.until(() => pi.calls("initialize").length === 2, "second handshake");
	assert.deepEqual(pi.calls("initialize").map((call) => call.params.is_idle), [true, false]);
});

test("a message without a usable time is sent with that of its entry, or without one", async () => {
	await open();
	const content = [{ type: "text", text: "when?" }];
	pi.append({ type: "message", timestamp: "not a time", message: { role: "user", content, timestamp: Number.NaN } });
	pi.append({ type: "message", message: { role: "user", content, timestamp: Number.NaN } });
	await pi.emit("turn_end");
	await pi.stop();
	const times = pi.calls("turn.capture").flatMap((call) => call.params.messages.map((m: any) => m.timestamp_ms));
	assert.deepEqual(times, [null, Date.parse("2026-01-01T00:00:00.000Z")]);
});

test("pending calls fail at once when the engine dies", async () => {
	await open({ "command.run": "hang", "tool.run": "die", dieUntilStart: 1 });
	const command = pi.commands.get("noodle").handler("hang", pi.ctx);
	const result = await pi.tools.get("memory_list").execute("c", {}, undefined);
	await command;
	assert.ok(result.isError);
});

test("an aborted tool call ends at once and the engine is told", async () => {
	await open({ "tool.run": "hang" });
	const abort = new AbortController();
	const call = pi.tools.get("memory_list").execute("c", {}, abort.signal);
	abort.abort();
	assert.match((await call).content[0].text, /cancelled/);
	await pi.until(() => pi.calls("cancel").length === 1, "cancel");
});

test("an engine that ignores everything is killed at shutdown", async () => {
	await open({ shutdown: "hang", ignoreEof: true, ignoreTerm: true, hold: true });
	await pi.recall("be up");
	await pi.stop();
	assert.ok(!isAlive(pi.pids()[0]!));
});

test("a second session starts a second engine and ends the first", async () => {
	await open();
	await pi.recall("be up");
	await pi.stop("new");
	await pi.start("new");
	await pi.until(() => pi.calls("initialize").length === 2, "second handshake");
	assert.ok(!isAlive(pi.pids()[0]!));
});

test("after tree navigation only what comes later is captured", async () => {
	await open();
	pi.say("user", "on the other branch");
	await pi.emit("session_tree");
	await pi.turn("later", "reply");
	await pi.stop();
	assert.deepEqual(texts(), ["later", "reply"]);
	assert.deepEqual(pi.calls("session.sync")[0]?.params.messages.map((m: any) => m.text), ["on the other branch"]);
});

test("an exception of ours never reaches Pi", async () => {
	await open();
	pi.ctx.sessionManager.getLeafEntry = () => {
		throw new Error("stale");
	};
	await pi.emit("turn_end");
	assert.match(pi.notices[0] ?? "", /stale/);
});

test("a second copy of the extension does nothing but say so", async () => {
	(globalThis as any)[Symbol.for("clew.pi.extension")] = "/elsewhere";
	pi = new FakePi();
	await pi.start();
	assert.equal(pi.commands.size, 0);
	assert.deepEqual(pi.log(), []);
	assert.match(pi.notices[0] ?? "", /loaded twice/);
	delete (globalThis as any)[Symbol.for("clew.pi.extension")];
});
