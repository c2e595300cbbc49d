// Picks from Pi's session what Clew needs: the texts of the two speakers, and which memories stand injected.
import type { ExtensionContext, SessionEntry } from "@earendil-works/pi-coding-agent";
import { type Injected, MAX_FRAME_BYTES, MAX_TEXT_CHARS, type WireMessage } from "./protocol.gen.ts";

export const RECALL_TYPE = "clew-recall";
export const TAIL_MESSAGES = 200;

// JSON may need six bytes for a character.
const FRAME_CHARS = Math.floor(MAX_FRAME_BYTES / 6) - 100_000;
const HEAD_SHARE = 0.75;

type Branch = Pick<ExtensionContext["sessionManager"], "getLeafEntry" | "getEntry" | "buildSessionProjection">;

/** Messages after the entry `since` (null: from the start), oldest first, at most TAIL_MESSAGES of the newest. */
export function readMessages(branch: Branch, since: string | null): WireMessage[] {
	const messages: WireMessage[] = [];
	const omitted = new Set<string>();
	// Backwards from the leaf, so that the cost is that of what is new, not of the whole session.
	let entry = branch.getLeafEntry();
	while (entry && entry.id !== since && messages.length < TAIL_MESSAGES) {
		// A failed attempt that Pi retried is taken out of the context by a later edit.
		if (entry.type === "context_edit" && entry.replacement === null) omitted.add(entry.targetId);
		const message = omitted.has(entry.id) ? undefined : toWire(entry);
		if (message) messages.push(message);
		entry = entry.parentId === null ? undefined : branch.getEntry(entry.parentId);
	}
	return messages.reverse();
}

/** The newest messages of the branch, as many as fit into one frame. */
export function readTail(branch: Branch): WireMessage[] {
	return splitByFrame(readMessages(branch, null).reverse())[0]?.reverse() ?? [];
}

/** The messages in groups that fit into a frame each. */
export function splitByFrame(messages: WireMessage[]): WireMessage[][] {
	const groups: WireMessage[][] = [];
	let room = 0;
	for (const message of messages) {
		const group = groups.at(-1);
		if (group && message.text.length <= room) group.push(message);
		else groups.push([message]);
		room = (group === groups.at(-1) ? room : FRAME_CHARS) - message.text.length;
	}
	return groups;
}

/** Memories that the model still sees: injected on this branch, and neither compacted nor edited away. */
export function readInjected(branch: Branch): Injected[] {
	const injected = new Map<string, Injected>();
	for (const { sourceEntry, messages } of branch.buildSessionProjection().entries) {
		if (sourceEntry.type !== "custom_message" || sourceEntry.customType !== RECALL_TYPE || !messages.length) continue;
		const details = sourceEntry.details as { injected?: Injected[] } | undefined;
		for (const memory of details?.injected ?? []) injected.set(memory.id, memory);
	}
	return [...injected.values()];
}

/** The text, or its head and tail around a marker when it is longer than a frame should carry. */
export function shorten(text: string): string {
	if (text.length <= MAX_TEXT_CHARS) return text;
	const marker = `\n[… ${text.length - MAX_TEXT_CHARS} characters left out …]\n`;
	const kept = MAX_TEXT_CHARS - marker.length;
	const head = Math.floor(kept * HEAD_SHARE);
	// Well-formed: a cut may fall between the halves of a surrogate pair.
	return (text.slice(0, head) + marker + text.slice(text.length - (kept - head))).toWellFormed();
}

function toWire(entry: SessionEntry): WireMessage | undefined {
	if (entry.type !== "message") return undefined;
	const { message } = entry;
	if (message.role !== "user" && message.role !== "assistant") return undefined;
	const stopReason = message.role === "assistant" ? message.stopReason : null;
	if (stopReason === "error") return undefined;
	const text = readText(message.content);
	// A reply without text is a tool call; a person's message without text is still the one that was answered.
	if (!text && message.role === "assistant") return undefined;
	return {
		entry_id: entry.id,
		role: message.role,
		text: shorten(text),
		timestamp_ms: [message.timestamp, Date.parse(entry.timestamp)].find(Number.isFinite) ?? null,
		stop_reason: stopReason,
	};
}

function readText(content: string | readonly { type: string; text?: string }[]): string {
	if (typeof content === "string") return content;
	return content.flatMap((block) => (block.type === "text" && block.text ? [block.text] : [])).join("\n");
}
