// Generated from protocol.py by `python -m clew.hosts.pi.generate`. Do not edit.

export const EXTENSION_VERSION = "0.1.0";
export const PROTOCOL_VERSION = 1;
export const MAX_FRAME_BYTES = 8388608;
export const MAX_TEXT_CHARS = 400000;
export const RECALL_DEADLINE_MS = 150;
export const WARMUP_MS = 1500;
export const HOST_CAPABILITIES = ["notify", "status", "confirm", "select", "input", "editor"] as const;

/** One message of the conversation. `text` joins the text blocks; images, thinking and tool calls are left out. `timestamp_ms` is in Unix milliseconds; null, or a moment that cannot be, stands for the time of arrival. */
export interface WireMessage {
	entry_id: string;
	role: "user" | "assistant";
	text: string;
	timestamp_ms: number | null;
	stop_reason: string | null;
}

/** A memory that already stands in the conversation, in the version that was injected. */
export interface Injected {
	id: string;
	updated_at_ms: number;
}

/** No fields. */
export type Empty = Record<string, never>;

/** Handshake. `reason` is Pi's `session_start.reason`; `messages` is the tail of the branch (at most 200). `is_idle`: no run is on its way, so the last reply in `messages` is complete. */
export interface InitializeParams {
	protocol: number;
	extension_version: string;
	mode: "tui" | "rpc" | "print" | "json";
	has_ui: boolean;
	capabilities: readonly string[];
	cwd: string;
	agent_dir: string;
	session_id: string;
	session_file: string | null;
	project_trusted: boolean;
	reason: string;
	is_idle: boolean;
	messages: readonly WireMessage[];
	injected: readonly Injected[];
}

/** `engine_version` is Clew's; `recall_deadline_ms` bounds each recall, `warmup_ms` the first of a process. */
export interface InitializeResult {
	protocol: number;
	engine_version: string;
	recall_deadline_ms: number;
	warmup_ms: number;
	capabilities: readonly string[];
}

/** The branch changed under the engine (tree navigation, compaction): the tail and what stands injected now. */
export interface SyncParams {
	messages: readonly WireMessage[];
	injected: readonly Injected[];
}

/** Messages since the last capture. `settled`: the run has ended, so the last reply is complete. Answered with an error when they could not be written; the engine keeps them and tries again. */
export interface CaptureParams {
	messages: readonly WireMessage[];
	settled: boolean;
}

/** How many states were journalled; they are on disk when this arrives. */
export interface CaptureResult {
	journalled: number;
}

/** What the person typed, and how long the extension will wait. */
export interface RecallParams {
	prompt: string;
	deadline_ms: number;
}

/** `content` is the fenced block to inject, or null for nothing; `injected` names what it holds. */
export interface RecallResult {
	content: string | null;
	injected: readonly Injected[];
	mode: "hybrid" | "lexical" | "none";
}

/** A slash command without its slash, and the raw rest of the line. */
export interface CommandParams {
	name: string;
	args: string;
}

/** A tool call of the agent. */
export interface ToolParams {
	name: string;
	arguments: Record<string, unknown>;
}

/** `text` goes to the model, `details` to Pi's renderer. */
export interface ToolResult {
	text: string;
	details: unknown;
	is_error: boolean;
}

/** The session ends. The engine works off what it can in `budget_ms`; the rest waits in the journal. */
export interface ShutdownParams {
	reason: string;
	budget_ms: number;
}

/** Show a message. Without a UI it goes to stderr. */
export interface NotifyParams {
	message: string;
	level: "info" | "warning" | "error";
}

/** Set (or, with null, clear) Clew's text in the footer. */
export interface StatusParams {
	text: string | null;
}

/** Ask yes or no. */
export interface ConfirmParams {
	title: string;
	message: string;
}

/** False also when the person left the dialog. */
export interface ConfirmResult {
	confirmed: boolean;
}

/** Choose one of the options. */
export interface SelectParams {
	title: string;
	options: readonly string[];
}

/** Ask for a line of text. */
export interface InputParams {
	title: string;
	placeholder: string;
}

/** Ask for a text of several lines, starting from `prefill`. */
export interface EditorParams {
	title: string;
	prefill: string;
}

/** What the person chose or wrote; null when they left the dialog. */
export interface TextAnswer {
	value: string | null;
}

/** Give up the request with this id; its answer is no longer awaited. */
export interface CancelParams {
	id: number;
}

/** A slash command that the extension registers. `completions` are offered for its first argument. */
export interface Command {
	name: string;
	description: string;
	completions: readonly string[];
}

/** A tool that the extension registers for the agent. `parameters` is a JSON Schema. */
export interface Tool {
	name: string;
	label: string;
	description: string;
	prompt_snippet: string;
	parameters: Record<string, unknown>;
}

/** Answered by the engine. `result: null` marks a notification. */
export interface EngineMethods {
	"initialize": { params: InitializeParams; result: InitializeResult };
	"session.sync": { params: SyncParams; result: Empty };
	"turn.capture": { params: CaptureParams; result: CaptureResult };
	"recall": { params: RecallParams; result: RecallResult };
	"command.run": { params: CommandParams; result: Empty };
	"tool.run": { params: ToolParams; result: ToolResult };
	"shutdown": { params: ShutdownParams; result: Empty };
	"cancel": { params: CancelParams; result: null };
}

/** Carried out by the extension. `result: null` marks a notification. */
export interface HostMethods {
	"ui.notify": { params: NotifyParams; result: null };
	"ui.status": { params: StatusParams; result: null };
	"ui.confirm": { params: ConfirmParams; result: ConfirmResult };
	"ui.select": { params: SelectParams; result: TextAnswer };
	"ui.input": { params: InputParams; result: TextAnswer };
	"ui.editor": { params: EditorParams; result: TextAnswer };
	"cancel": { params: CancelParams; result: null };
}

export const COMMANDS: readonly Command[] = [
	{
		"name": "gate-status",
		"description": "Clew: what judges, what is stored, what waits, and which settings are in force",
		"completions": []
	},
	{
		"name": "memory-review",
		"description": "Clew: approve or reject the memories that wait for you",
		"completions": []
	},
	{
		"name": "noodle",
		"description": "Clew: long-term memory (list, search, remember, forget, edit, review)",
		"completions": [
			"list",
			"search",
			"remember",
			"forget",
			"edit",
			"review"
		]
	}
];

export const TOOLS: readonly Tool[] = [
	{
		"name": "memory_add",
		"label": "Remember",
		"description": "Save a lasting fact, preference or decision to long-term memory. Write one self-contained statement; never the value of a secret.",
		"prompt_snippet": "Save a lasting fact or preference to long-term memory",
		"parameters": {
			"type": "object",
			"properties": {
				"text": {
					"type": "string",
					"description": "The statement to remember."
				},
				"messages": {
					"type": "array",
					"description": "Messages to remember instead of a text.",
					"items": {
						"type": "object",
						"properties": {
							"role": {
								"type": "string"
							},
							"content": {
								"type": "string"
							}
						},
						"required": [
							"role",
							"content"
						]
					}
				},
				"category": {
					"type": "string",
					"description": "memory, user, project, failure, identity, response_style, coding_pref or workflow."
				},
				"categories": {
					"type": "array",
					"items": {
						"type": "string"
					}
				},
				"scope": {
					"type": "object",
					"description": "Narrow to one user, assistant or session. Usually left out.",
					"properties": {
						"userId": {
							"type": "string"
						},
						"assistantId": {
							"type": "string"
						},
						"sessionId": {
							"type": "string"
						}
					}
				},
				"metadata": {
					"type": "object",
					"description": "Kept with the memory as it is."
				}
			}
		}
	},
	{
		"name": "memory_search",
		"label": "Search memory",
		"description": "Search long-term memory by meaning and words. Gives rows with a score, best first.",
		"prompt_snippet": "Search long-term memory of earlier sessions",
		"parameters": {
			"type": "object",
			"properties": {
				"query": {
					"type": "string",
					"description": "What to look for, in plain words."
				},
				"categories": {
					"type": "array",
					"items": {
						"type": "string"
					}
				},
				"scope": {
					"type": "object",
					"description": "Narrow to one user, assistant or session. Usually left out.",
					"properties": {
						"userId": {
							"type": "string"
						},
						"assistantId": {
							"type": "string"
						},
						"sessionId": {
							"type": "string"
						}
					}
				},
				"limit": {
					"type": "integer",
					"minimum": 1,
					"maximum": 50
				},
				"threshold": {
					"type": "number",
					"description": "Lowest score of a row to be returned."
				},
				"filters": {
					"type": "object",
					"description": "Known filters: source, auto_saved, createdAfter, createdBefore, lastRetrievedAfter, lastRetrievedBefore (Unix milliseconds), minRetrievalCount, maxRetrievalCount, minConfidence, metadata (fields and the values they must have)."
				}
			},
			"required": [
				"query"
			]
		}
	},
	{
		"name": "memory_list",
		"label": "List memories",
		"description": "List stored memories, newest first.",
		"prompt_snippet": "List stored memories",
		"parameters": {
			"type": "object",
			"properties": {
				"scope": {
					"type": "object",
					"description": "Narrow to one user, assistant or session. Usually left out.",
					"properties": {
						"userId": {
							"type": "string"
						},
						"assistantId": {
							"type": "string"
						},
						"sessionId": {
							"type": "string"
						}
					}
				},
				"limit": {
					"type": "integer",
					"minimum": 1,
					"maximum": 200,
					"description": "Most rows (default 50)."
				}
			}
		}
	},
	{
		"name": "memory_get",
		"label": "Get a memory",
		"description": "Get one memory by its id; null if there is none.",
		"prompt_snippet": "Get one memory by id",
		"parameters": {
			"type": "object",
			"properties": {
				"id": {
					"type": "string",
					"description": "Id of the memory, as search and list give it."
				}
			},
			"required": [
				"id"
			]
		}
	},
	{
		"name": "memory_update",
		"label": "Update a memory",
		"description": "Change the text or the metadata of a memory that is no longer right.",
		"prompt_snippet": "Correct a stored memory",
		"parameters": {
			"type": "object",
			"properties": {
				"id": {
					"type": "string",
					"description": "Id of the memory, as search and list give it."
				},
				"text": {
					"type": "string",
					"description": "The new statement."
				},
				"metadata": {
					"type": "object",
					"description": "Kept with the memory as it is."
				}
			},
			"required": [
				"id"
			]
		}
	},
	{
		"name": "memory_delete",
		"label": "Forget",
		"description": "Delete a memory for good. Only when the person asks for it.",
		"prompt_snippet": "Delete a memory for good when the person asks",
		"parameters": {
			"type": "object",
			"properties": {
				"id": {
					"type": "string",
					"description": "Id of the memory, as search and list give it."
				}
			},
			"required": [
				"id"
			]
		}
	}
];
