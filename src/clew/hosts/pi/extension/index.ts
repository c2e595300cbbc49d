// Clew's extension for Pi: wires Pi's events, commands and tools to one engine per session.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { COMMANDS, type Command, TOOLS } from "./protocol.gen.ts";
import { Session } from "./session.ts";
import { notify } from "./ui.ts";

const FOLDER = dirname(fileURLToPath(import.meta.url));
const CLAIM = Symbol.for("clew.pi.extension");
const shared = globalThis as { [CLAIM]?: string };

export default function clew(pi: ExtensionAPI): void {
	const owner = (shared[CLAIM] ??= FOLDER);
	if (owner !== FOLDER) return refuse(pi, owner);
	let session: Session | undefined;

	pi.on("session_start", (event, ctx) =>
		guard(ctx, () => {
			shared[CLAIM] = FOLDER;
			session = new Session(ctx, FOLDER);
			session.start(event.reason);
		}),
	);
	pi.on("before_agent_start", (event, ctx) =>
		guard(ctx, () => (event.messageType === "user" ? session?.recall(event.prompt) : undefined)),
	);
	pi.on("turn_end", (_event, ctx) => guard(ctx, () => session?.capture(false)));
	pi.on("agent_settled", (_event, ctx) => guard(ctx, () => session?.capture(true)));
	pi.on("session_tree", (_event, ctx) => guard(ctx, () => session?.moveTo(ctx.sessionManager.getLeafId())));
	pi.on("session_compact", (_event, ctx) => guard(ctx, () => session?.sync()));
	pi.on("session_shutdown", (event, ctx) =>
		guard(ctx, async () => {
			delete shared[CLAIM];
			await session?.stop(event.reason);
		}),
	);

	for (const command of COMMANDS) {
		pi.registerCommand(command.name, {
			description: command.description,
			getArgumentCompletions: (prefix) => complete(command, prefix),
			handler: async (args, ctx) => guard(ctx, () => session?.runCommand(command.name, args)),
		});
	}
	for (const { name, label, description, prompt_snippet, parameters } of TOOLS) {
		pi.registerTool({
			name,
			label,
			description,
			promptSnippet: prompt_snippet,
			parameters,
			execute: async (_id, args, signal) => {
				const result = await session?.runTool(name, args as Record<string, unknown>, signal);
				if (!result) throw new Error("unavailable: no session has started");
				return result;
			},
		});
	}
}

/** An exception of ours is told, and never reaches Pi. */
async function guard<T>(ctx: ExtensionContext, run: () => T | Promise<T>): Promise<T | undefined> {
	try {
		return await run();
	} catch (error) {
		try {
			notify(ctx, `Clew: ${String(error)}`, "warning");
		} catch {
			// a stale context: nobody is left to tell
		}
		return undefined;
	}
}

/** A second copy of the extension would judge everything twice: it stays out of the way. */
function refuse(pi: ExtensionAPI, owner: string): void {
	const text = `Clew is loaded twice. The copy in ${FOLDER} does nothing; the one in ${owner} works. Remove one of them.`;
	pi.on("session_start", (_event, ctx) => void guard(ctx, () => notify(ctx, text, "warning")));
}

function complete(command: Command, prefix: string) {
	const items = command.completions.filter((word) => word.startsWith(prefix));
	return items.length ? items.map((value) => ({ value, label: value })) : null;
}
