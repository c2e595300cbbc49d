"""The wire between the Pi extension and the engine, declared once.

JSON-RPC 2.0, one JSON object per line (LF), UTF-8, both ways over the engine's stdin and stdout. `clew.hosts.pi.generate`
writes the TypeScript side of this page; a stale file fails `make check`.

Every method is a `Method(name, Params, Result)`; `Result = None` marks a notification. Field names go over the wire
as they stand here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

#: Raised when either side changes in a way that the other must know of.
PROTOCOL_VERSION = 1
#: A longer frame is refused with an error; the stream goes on behind it.
MAX_FRAME_BYTES = 8 * 1024 * 1024
#: The extension cuts the middle out of longer message texts, with a marker.
MAX_TEXT_CHARS = 400_000
#: The longest id of a session or of an entry.
MAX_ID_CHARS = 128
#: How long the extension waits for a recall, unless the handshake's answer says otherwise.
RECALL_DEADLINE_MS = 150
#: How long it waits for recalls in all, until a fresh engine has answered its first one.
WARMUP_MS = 1_500

Mode = Literal["tui", "rpc", "print", "json"]
Level = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WireMessage:
    """One message of the conversation. `text` joins the text blocks; images, thinking and tool calls are left out.

    `timestamp_ms` is in Unix milliseconds; null, or a moment that cannot be, stands for the time of arrival.
    """

    entry_id: str
    role: Literal["user", "assistant"]
    text: str
    timestamp_ms: float | None = None
    stop_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    """A memory that already stands in the conversation, in the version that was injected."""

    id: str
    updated_at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Empty:
    """No fields."""


# -- extension → engine ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class InitializeParams:
    """Handshake. `reason` is Pi's `session_start.reason`; `messages` is the tail of the branch (at most 200).

    `is_idle`: no run is on its way, so the last reply in `messages` is complete.
    """

    protocol: int
    extension_version: str
    mode: Mode
    has_ui: bool
    capabilities: list[str]
    cwd: str
    agent_dir: str
    session_id: str
    session_file: str | None
    project_trusted: bool
    reason: str
    is_idle: bool = False
    messages: list[WireMessage] = field(default_factory=list)
    injected: list[Injected] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class InitializeResult:
    """`engine_version` is Clew's; `recall_deadline_ms` bounds each recall, `warmup_ms` the first of a process."""

    protocol: int
    engine_version: str
    recall_deadline_ms: int
    warmup_ms: int
    capabilities: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncParams:
    """The branch changed under the engine (tree navigation, compaction): the tail and what stands injected now."""

    messages: list[WireMessage]
    injected: list[Injected]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureParams:
    """Messages since the last capture. `settled`: the run has ended, so the last reply is complete.

    Answered with an error when they could not be written; the engine keeps them and tries again.
    """

    messages: list[WireMessage]
    settled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureResult:
    """How many states were journalled; they are on disk when this arrives."""

    journalled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallParams:
    """What the person typed, and how long the extension will wait."""

    prompt: str
    deadline_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """`content` is the fenced block to inject, or null for nothing; `injected` names what it holds."""

    content: str | None
    injected: list[Injected]
    mode: Literal["hybrid", "lexical", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandParams:
    """A slash command without its slash, and the raw rest of the line."""

    name: str
    args: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolParams:
    """A tool call of the agent."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """`text` goes to the model, `details` to Pi's renderer."""

    text: str
    details: Any
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShutdownParams:
    """The session ends. The engine works off what it can in `budget_ms`; the rest waits in the journal."""

    reason: str
    budget_ms: int


# -- engine → extension ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyParams:
    """Show a message. Without a UI it goes to stderr."""

    message: str
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusParams:
    """Set (or, with null, clear) Clew's text in the footer."""

    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmParams:
    """Ask yes or no."""

    title: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmResult:
    """False also when the person left the dialog."""

    confirmed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectParams:
    """Choose one of the options."""

    title: str
    options: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class InputParams:
    """Ask for a line of text."""

    title: str
    placeholder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorParams:
    """Ask for a text of several lines, starting from `prefill`."""

    title: str
    prefill: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextAnswer:
    """What the person chose or wrote; null when they left the dialog."""

    value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelParams:
    """Give up the request with this id; its answer is no longer awaited."""

    id: int


@dataclass(frozen=True, slots=True)
class Method:
    """One method: its name on the wire, the shape of its parameters and of its result (None: a notification)."""

    name: str
    params: type
    result: type | None


#: Answered by the engine.
ENGINE_METHODS: tuple[Method, ...] = (
    Method("initialize", InitializeParams, InitializeResult),
    Method("session.sync", SyncParams, Empty),
    Method("turn.capture", CaptureParams, CaptureResult),
    Method("recall", RecallParams, RecallResult),
    Method("command.run", CommandParams, Empty),
    Method("tool.run", ToolParams, ToolResult),
    Method("shutdown", ShutdownParams, Empty),
    Method("cancel", CancelParams, None),
)

#: Carried out by the extension.
HOST_METHODS: tuple[Method, ...] = (
    Method("ui.notify", NotifyParams, None),
    Method("ui.status", StatusParams, None),
    Method("ui.confirm", ConfirmParams, ConfirmResult),
    Method("ui.select", SelectParams, TextAnswer),
    Method("ui.input", InputParams, TextAnswer),
    Method("ui.editor", EditorParams, TextAnswer),
    Method("cancel", CancelParams, None),
)

#: What an extension may say that it can do, in `InitializeParams.capabilities`.
HOST_CAPABILITIES: tuple[str, ...] = ("notify", "status", "confirm", "select", "input", "editor")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A slash command that the extension registers. `completions` are offered for its first argument."""

    name: str
    description: str
    completions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that the extension registers for the agent. `parameters` is a JSON Schema."""

    name: str
    label: str
    description: str
    prompt_snippet: str
    parameters: dict[str, Any]


COMMANDS: tuple[Command, ...] = (
    Command(
        name="gate-status", description="Clew: what judges, what is stored, what waits, and which settings are in force"
    ),
    Command(name="memory-review", description="Clew: approve or reject the memories that wait for you"),
    Command(
        name="noodle",
        description="Clew: long-term memory (list, search, remember, forget, edit, review)",
        completions=("list", "search", "remember", "forget", "edit", "review"),
    ),
)

_SCOPE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "Narrow to one user, assistant or session. Usually left out.",
    "properties": {
        "userId": {"type": "string"},
        "assistantId": {"type": "string"},
        "sessionId": {"type": "string"},
    },
}
_TEXTS_SCHEMA: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
_ID_SCHEMA: dict[str, Any] = {"type": "string", "description": "Id of the memory, as search and list give it."}
_METADATA_SCHEMA: dict[str, Any] = {"type": "object", "description": "Kept with the memory as it is."}

TOOLS: tuple[Tool, ...] = (
    Tool(
        name="memory_add",
        label="Remember",
        description=(
            "Save a lasting fact, preference or decision to long-term memory. "
            "Write one self-contained statement; never the value of a secret."
        ),
        prompt_snippet="Save a lasting fact or preference to long-term memory",
        parameters={
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "The statement to remember."},
                "messages": {
                    "type": "array",
                    "description": "Messages to remember instead of a text.",
                    "items": {
                        "type": "object",
                        "properties": {"role": {"type": "string"}, "content": {"type": "string"}},
                        "required": ["role", "content"],
                    },
                },
                "category": {
                    "type": "string",
                    "description": "memory, user, project, failure, identity, response_style, coding_pref or workflow.",
                },
                "categories": _TEXTS_SCHEMA,
                "scope": _SCOPE_SCHEMA,
                "metadata": _METADATA_SCHEMA,
            },
        },
    ),
    Tool(
        name="memory_search",
        label="Search memory",
        description="Search long-term memory by meaning and words. Gives rows with a score, best first.",
        prompt_snippet="Search long-term memory of earlier sessions",
        parameters={
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for, in plain words."},
                "categories": _TEXTS_SCHEMA,
                "scope": _SCOPE_SCHEMA,
                "limit": {"type": "integer", "minimum": 1, "maximum": 50},
                "threshold": {"type": "number", "description": "Lowest score of a row to be returned."},
                "filters": {
                    "type": "object",
                    "description": "Known filters: source, auto_saved, createdAfter, createdBefore, lastRetrievedAfter, "
                    "lastRetrievedBefore (Unix milliseconds), minRetrievalCount, maxRetrievalCount, minConfidence, "
                    "metadata (fields and the values they must have).",
                },
            },
            "required": ["query"],
        },
    ),
    Tool(
        name="memory_list",
        label="List memories",
        description="List stored memories, newest first.",
        prompt_snippet="List stored memories",
        parameters={
            "type": "object",
            "properties": {
                "scope": _SCOPE_SCHEMA,
                "limit": {"type": "integer", "minimum": 1, "maximum": 200, "description": "Most rows (default 50)."},
            },
        },
    ),
    Tool(
        name="memory_get",
        label="Get a memory",
        description="Get one memory by its id; null if there is none.",
        prompt_snippet="Get one memory by id",
        parameters={"type": "object", "properties": {"id": _ID_SCHEMA}, "required": ["id"]},
    ),
    Tool(
        name="memory_update",
        label="Update a memory",
        description="Change the text or the metadata of a memory that is no longer right.",
        prompt_snippet="Correct a stored memory",
        parameters={
            "type": "object",
            "properties": {
                "id": _ID_SCHEMA,
                "text": {"type": "string", "description": "The new statement."},
                "metadata": _METADATA_SCHEMA,
            },
            "required": ["id"],
        },
    ),
    Tool(
        name="memory_delete",
        label="Forget",
        description="Delete a memory for good. Only when the person asks for it.",
        prompt_snippet="Delete a memory for good when the person asks",
        parameters={"type": "object", "properties": {"id": _ID_SCHEMA}, "required": ["id"]},
    ),
)
