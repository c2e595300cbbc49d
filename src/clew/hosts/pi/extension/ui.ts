// Carries out what the engine wants shown or asked, in every mode of Pi.
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { HOST_CAPABILITIES } from "./protocol.gen.ts";
import type { HostHandlers } from "./rpc.ts";

type UiContext = Pick<ExtensionContext, "hasUI" | "ui">;

/** Shows a message: in Pi where there is a UI, else on stderr. */
export function notify(ctx: UiContext, message: string, level: "info" | "warning" | "error"): void {
	if (ctx.hasUI) ctx.ui.notify(message, level);
	else console.error(message);
}

/** What this Pi can show, for the handshake. */
export function readCapabilities(ctx: UiContext): readonly string[] {
	return ctx.hasUI ? HOST_CAPABILITIES : ["notify"];
}

/** Dialogs answer false or null where there is no UI, and when the person leaves them. */
export function createUiHandlers(ctx: UiContext): HostHandlers {
	const ask = async (dialog: () => Promise<string | undefined>) => ({
		value: ctx.hasUI ? ((await dialog()) ?? null) : null,
	});
	return {
		"ui.notify": ({ message, level }) => notify(ctx, message, level),
		"ui.status": ({ text }) => {
			if (ctx.hasUI) ctx.ui.setStatus("clew", text ?? undefined);
		},
		"ui.confirm": async ({ title, message }, signal) => ({
			confirmed: ctx.hasUI && (await ctx.ui.confirm(title, message, { signal })),
		}),
		"ui.select": ({ title, options }, signal) => ask(() => ctx.ui.select(title, [...options], { signal })),
		"ui.input": ({ title, placeholder }, signal) => ask(() => ctx.ui.input(title, placeholder, { signal })),
		"ui.editor": ({ title, prefill }) => ask(() => ctx.ui.editor(title, prefill)),
	};
}
