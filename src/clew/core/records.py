"""The records that rooms hand to each other: memories, candidates, states, hits.

Times are Unix milliseconds in UTC (`_ms`). Records are frozen: a change is a new record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Scope = Literal["user", "project"]
Origin = Literal["ask", "command", "cli", "library", "gate", "tool", "extraction", "import", "compaction", "merge"]
MemoryState = Literal["active", "superseded"]
Outcome = Literal["saved", "queued", "filtered", "vetoed"]
SearchMode = Literal["hybrid", "lexical"]

#: Origins in which the person spoke for themselves; only these may bring a forgotten text back.
DIRECT_ORIGINS: frozenset[Origin] = frozenset({"ask", "command", "cli", "library"})

#: Categories of the gate (first four) and of Noodle; others are accepted and kept as they are.
GATE_CATEGORIES: tuple[str, ...] = ("memory", "user", "project", "failure")
NOODLE_CATEGORIES: tuple[str, ...] = ("identity", "response_style", "coding_pref", "workflow", "project")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a memory comes from: which door it came through, and which message it was said in."""

    origin: Origin
    session_id: str | None = None
    entry_id: str | None = None
    decision_model: str | None = None
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """A statement to be stored.

    Attributes:
        text: the statement, 1 to 20,000 characters after trimming.
        category: one word; see GATE_CATEGORIES and NOODLE_CATEGORIES.
        scope: `user` is recalled everywhere, `project` only where `project_key` is the current project.
        project_key: `host/owner/repo` or `cwd:<real path>`; needed when scope is `project`.
        speaker: who said it, when several people share a history.
        created_at_ms: when it was said; None = now.
        user_id, assistant_id, session_id: Noodle's scope columns.
        metadata: JSON object, kept as it is.
    """

    text: str
    provenance: Provenance
    category: str = "memory"
    categories: tuple[str, ...] = ()
    scope: Scope = "user"
    project_key: str | None = None
    user_id: str | None = None
    assistant_id: str | None = "pi"
    session_id: str | None = None
    speaker: str | None = None
    created_at_ms: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """One stored statement, as it stands in the database. `row` is the local row number, `id` the public one."""

    row: int
    id: str
    text: str
    category: str
    categories: tuple[str, ...]
    scope: Scope
    project_key: str | None
    user_id: str | None
    assistant_id: str | None
    session_id: str | None
    speaker: str | None
    metadata: Mapping[str, Any]
    provenance: Provenance | None
    state: MemoryState
    superseded_by: str | None
    pinned: bool
    seen_count: int
    created_at_ms: int
    updated_at_ms: int
    last_retrieved_ms: int | None
    retrieval_count: int
    has_vector: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One search result.

    Attributes:
        score: fused score; absolute, so hits of different queries can be compared; it orders the hits.
        relevance: the memory's own evidence (its words and its meaning) without the bonus of its neighbours;
            this is what a floor for "nothing relevant" is set on.
        signals: each signal's share of the score, for `why`.
    """

    memory: MemoryRecord
    score: float
    relevance: float
    signals: Mapping[str, float] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The memory's public id."""
        return self.memory.id

    @property
    def text(self) -> str:
        """The memory's text."""
        return self.memory.text


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Hits, best first, and how they were found (`lexical` = full text alone, and why)."""

    hits: tuple[Hit, ...]
    mode: SearchMode
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility:
    """Which memories a reader may see.

    `everywhere` sees all projects (explorer, CLI). Otherwise: user-scoped memories, and those of `project_key`.
    The other fields, when set, narrow further by equality.
    """

    everywhere: bool = False
    project_key: str | None = None
    categories: tuple[str, ...] = ()
    user_id: str | None = None
    assistant_id: str | None = None
    session_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation, as Clew needs it. `text` is the typed or answered text without tool noise.

    Attributes:
        stop_reason: for assistant messages, why it ended (`stop`, `toolUse`, `aborted`, `error`, `length`).
    """

    entry_id: str
    role: Literal["user", "assistant"]
    text: str
    timestamp_ms: int
    stop_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a decision model looks at: one user message with what stands around it."""

    user: str
    assistant: str | None = None
    previous_assistant: str | None = None
    project: str | None = None

    def as_json(self) -> dict[str, str | None]:
        """The state as it goes over the wire to a System One server."""
        return {
            "user": self.user,
            "assistant": self.assistant,
            "previous_assistant": self.previous_assistant,
            "project": self.project,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPair:
    """Two entries of the memory that a decision model compares; `b` is the later one."""

    a: str
    b: str

    def as_json(self) -> dict[str, str | None]:
        """The pair as it goes over the wire to a System One server."""
        return {"a": self.a, "b": self.b}


@dataclass(frozen=True, slots=True, kw_only=True)
class DatedEntry:
    """One entry of the memory, of which a decision model is asked whether it still holds.

    Attributes:
        written: the day it was written, `YYYY-MM-DD`; None if unknown.
    """

    entry: str
    written: str | None = None

    def as_json(self) -> dict[str, str | None]:
        """The entry as it goes over the wire to a System One server."""
        return {"entry": self.entry, "written": self.written}


#: Everything that a decision model may be shown.
Judged = State | EntryPair | DatedEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedState:
    """A state on its way to judgement, as the journal keeps it.

    Attributes:
        key: identity of the user message across resume, fork and reload: `<entry id>:<timestamp in ms>`.
        state: texts already redacted: a secret's value never reaches the journal.
        secret_kinds: what the scanner found (and redacted) in the user's text or the reply.
        is_open: the reply may still grow; judged when a later capture closes it or its engine is gone.
        owner: process id of the engine that captured it.
    """

    key: str
    entry_id: str
    session_id: str
    project_key: str | None
    state: State
    timestamp_ms: int
    secret_kinds: tuple[str, ...] = ()
    is_open: bool = False
    owner: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A proposed memory that waits for review. `id` and `queued_at_ms` are set by the store."""

    text: str
    category: str
    scope: Scope
    project_key: str | None
    session_id: str | None
    entry_id: str | None
    scores: Mapping[str, float]
    reason: str
    decision_model: str | None = None
    id: str = ""
    queued_at_ms: int = 0
    seen_count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What became of one state."""

    key: str
    entry_id: str
    outcome: Outcome
    reason: str
    scores: Mapping[str, float]
    target: str
    duration_ms: float
    decision_model: str
    memory_id: str | None = None
    candidate_id: str | None = None
