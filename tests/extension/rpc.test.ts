import assert from "node:assert/strict";
import { test } from "node:test";
import { type HostHandlers, Peer, TIMED_OUT, withDeadline } from "../../src/clew/hosts/pi/extension/rpc.ts";

const handlers = {
	"ui.notify": () => {},
	"ui.confirm": () => {
		throw new Error("no screen");
	},
	"ui.select": (_params: unknown, signal: AbortSignal) =>
		new Promise((resolve) => signal.addEventListener("abort", () => resolve({ value: null }))),
} as unknown as HostHandlers;

function connect() {
	const sent: any[] = [];
	const peer = new Peer((frame) => void sent.push(JSON.parse(frame)), handlers);
	const receive = (message: object | string) =>
		peer.receive(Buffer.from(typeof message === "string" ? message : `${JSON.stringify(message)}\n`));
	return { peer, sent, receive };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("frames are cut at LF alone, wherever the chunks end", async () => {
	const { peer } = connect();
	const call = peer.call("shutdown", { reason: "quit", budget_ms: 1 });
	const bytes = Buffer.from(`${JSON.stringify({ id: 1, result: { text: "ü\u2028 – 😀" } })}\n`);
	for (const byte of bytes) peer.receive(Buffer.from([byte]));
	assert.deepEqual(await call, { text: "ü\u2028 – 😀" });
});

test("noise is skipped, however long", async () => {
	const { peer, receive } = connect();
	const call = peer.call("shutdown", { reason: "quit", budget_ms: 1 });
	receive("not json\n[1]\nnull\n42\n");
	for (let megabyte = 0; megabyte < 8; megabyte++) peer.receive(Buffer.alloc(1 << 20, 0x78));
	receive("\n");
	receive({ id: 1, result: {} });
	assert.deepEqual(await call, {});
});

test("unknown methods and failing handlers are answered with errors", async () => {
	const { sent, receive } = connect();
	receive({ id: 1, method: "toString", params: {} });
	receive({ id: 2, method: "ui.confirm", params: {} });
	await settled();
	assert.equal(sent[0].error.code, -32601);
	assert.match(sent[1].error.message, /no screen/);
});

test("the engine can close a dialog", async () => {
	const { sent, receive } = connect();
	receive({ id: 5, method: "ui.select", params: {} });
	receive({ method: "cancel", params: { id: 5 } });
	await settled();
	assert.deepEqual(sent, [{ jsonrpc: "2.0", id: 5, result: { value: null } }]);
});

test("after the end every call fails with the reason", async () => {
	const { peer } = connect();
	const waiting = peer.call("shutdown", { reason: "quit", budget_ms: 1 });
	peer.close(new Error("gone"));
	await assert.rejects(waiting, /gone/);
	await assert.rejects(peer.call("shutdown", { reason: "quit", budget_ms: 1 }), /gone/);
});

test("a deadline leaves no timer behind", async () => {
	assert.equal(await withDeadline(Promise.resolve(1), 60_000), 1);
	assert.equal(await withDeadline(new Promise(() => {}), 1), TIMED_OUT);
});
