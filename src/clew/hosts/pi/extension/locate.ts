// Finds the Python that Clew is installed in, and says how to get one.
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, sep } from "node:path";

const IS_WINDOWS = process.platform === "win32";
const BIN = IS_WINDOWS ? ["Scripts", "python.exe"] : ["bin", "python"];
const SYSTEM_PYTHON = IS_WINDOWS ? "python" : "python3";
const FOLDER_IN_CLONE = join("src", "clew", "hosts", "pi", "extension");

/** Pi's agent directory, as Pi itself finds it. */
export function findAgentDir(): string {
	const configured = process.env.PI_CODING_AGENT_DIR;
	if (!configured) return join(homedir(), ".pi", "agent");
	return configured === "~" || configured.startsWith("~/") ? join(homedir(), configured.slice(1)) : configured;
}

/** The interpreter to start: the first that exists, else the system's. */
export function findPython(folder: string, agentDir: string): string {
	if (process.env.CLEW_PYTHON) return process.env.CLEW_PYTHON;
	const root = findClone(folder);
	const candidates = [
		readInstalledPython(folder),
		root && join(root, ".venv", ...BIN),
		join(agentDir, "clew", "venv", ...BIN),
	];
	return candidates.find((path) => path && existsSync(path)) || SYSTEM_PYTHON;
}

/** What to run when there is no engine. The venv lies outside the clone, where `pi update` would delete it. */
export function explainInstallation(folder: string, agentDir: string): string {
	const root = findClone(folder);
	if (!root) return "Run `clew pi install` again with the Python that Clew is installed in, then /reload.";
	const venv = join(agentDir, "clew", "venv");
	return [
		"To get it, run (Python 3.11 or newer), then /reload:",
		`  ${SYSTEM_PYTHON} -m venv "${venv}"`,
		`  "${join(venv, ...BIN)}" -m pip install "${root}"`,
	].join("\n");
}

/** Root of the clone or package that the extension lies in; undefined for a copy made by `clew pi install`. */
function findClone(folder: string): string | undefined {
	if (!folder.endsWith(sep + FOLDER_IN_CLONE)) return undefined;
	const root = folder.slice(0, -FOLDER_IN_CLONE.length - 1);
	return existsSync(join(root, "pyproject.toml")) ? root : undefined;
}

function readInstalledPython(folder: string): string | undefined {
	try {
		const { python } = JSON.parse(readFileSync(join(folder, "engine.json"), "utf8")) as { python?: unknown };
		return typeof python === "string" ? python : undefined;
	} catch {
		return undefined; // not installed by `clew pi install`
	}
}
