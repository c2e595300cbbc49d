import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { explainInstallation, findAgentDir, findPython } from "../../src/clew/hosts/pi/extension/locate.ts";

let home: string;
let agentDir: string;
let clone: string;
let inClone: string;
let installed: string;

beforeEach(() => {
	home = mkdtempSync(join(tmpdir(), "clew locate ñ "));
	agentDir = join(home, "agent");
	clone = join(home, "clone");
	inClone = join(clone, "src", "clew", "hosts", "pi", "extension");
	installed = join(agentDir, "extensions", "clew");
	touch(join(clone, "pyproject.toml"));
	delete process.env.CLEW_PYTHON;
});
afterEach(() => rmSync(home, { recursive: true }));

function touch(path: string, text = ""): string {
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(path, text);
	return path;
}

test("the environment variable wins over everything", () => {
	touch(join(clone, ".venv", "bin", "python"));
	process.env.CLEW_PYTHON = "/chosen/python";
	assert.equal(findPython(inClone, agentDir), "/chosen/python");
});

test("an installed copy uses the interpreter that it was installed with", () => {
	const python = touch(join(home, "env", "python"));
	touch(join(installed, "engine.json"), JSON.stringify({ python }));
	assert.equal(findPython(installed, agentDir), python);
});

test("an interpreter that has gone is passed over", () => {
	touch(join(installed, "engine.json"), JSON.stringify({ python: join(home, "gone") }));
	const venv = touch(join(agentDir, "clew", "venv", "bin", "python"));
	assert.equal(findPython(installed, agentDir), venv);
});

test("a clone uses its own venv before the one in the agent directory", () => {
	touch(join(agentDir, "clew", "venv", "bin", "python"));
	const own = touch(join(clone, ".venv", "bin", "python"));
	assert.equal(findPython(inClone, agentDir), own);
});

test("a venv that merely lies some folders above an installed copy is not Clew's", () => {
	const deep = join(home, "a", "b", "c", "d", "extension");
	touch(join(home, ".venv", "bin", "python"));
	touch(join(home, "pyproject.toml"));
	assert.equal(findPython(deep, agentDir), "python3");
});

for (const text of ["not json", "[]", "null", '{"python": 3}']) {
	test(`an unusable engine.json (${text}) is passed over`, () => {
		touch(join(installed, "engine.json"), text);
		assert.equal(findPython(installed, agentDir), "python3");
	});
}

test("the way to install names a venv outside the clone", () => {
	const text = explainInstallation(inClone, agentDir);
	assert.ok(text.includes(`-m venv "${join(agentDir, "clew", "venv")}"`));
	assert.ok(text.includes(`pip install "${clone}"`));
	assert.match(explainInstallation(installed, agentDir), /`clew pi install` again/);
});

test("the agent directory is the one that Pi uses", () => {
	process.env.PI_CODING_AGENT_DIR = "~/elsewhere";
	assert.equal(findAgentDir(), join(homedir(), "elsewhere"));
	delete process.env.PI_CODING_AGENT_DIR;
	assert.equal(findAgentDir(), join(homedir(), ".pi", "agent"));
});
