"""The seams between rooms. `gate`, `memory` and `hosts` see these and never a database or HTTP client.

Implementations: `decide` has DecisionModel, `store` has MemoryStore and CaptureStore. Each port has one contract test
suite in tests/contract that every implementation passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from clew.core.decisions import Decision, Question
from clew.core.records import (
    Candidate,
    CapturedState,
    Judged,
    Judgement,
    MemoryRecord,
    NewMemory,
    SearchResult,
    Visibility,
)


class DecisionModel(Protocol):
    """Answers typed questions about a state, with probabilities and no generated text."""

    @property
    def name(self) -> str:
        """Which model answers, for status lines and provenance."""
        ...

    def decide(self, state: Judged, questions: Mapping[str, Question]) -> Decision:
        """Answer all questions about one state.

        Raises:
            DecisionModelDown: nobody answers.
            DecisionModelError: the answer cannot be used.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """Result of a save. `duplicate` means that an equal memory existed and its `seen_count` was raised."""

    memory: MemoryRecord
    outcome: Literal["saved", "duplicate"]


class MemoryStore(Protocol):
    """Stored memories: written through the guard, found by hybrid search."""

    def add(self, memory: NewMemory) -> Added:
        """Store a memory. Raises RefusedText (secret, injection, forgotten), InvalidInput, StoreError."""
        ...

    def get(self, memory_id: str) -> MemoryRecord | None:
        """The memory with this public id, or None."""
        ...

    def list(self, visible: Visibility, *, limit: int = 100, offset: int = 0) -> Sequence[MemoryRecord]:
        """Active memories, newest first."""
        ...

    def count(self, visible: Visibility) -> int:
        """How many active memories there are."""
        ...

    def search(
        self,
        query: str,
        visible: Visibility,
        *,
        limit: int = 10,
        min_relevance: float = 0.0,
        deadline: float | None = None,
    ) -> SearchResult:
        """Hybrid search, best first.

        Args:
            min_relevance: hits whose `relevance` is lower are left out.
            deadline: `time.monotonic()` second by which an answer is needed; when the embedder is not ready by
                then, full text alone answers (mode `lexical`).
        """
        ...

    def find(self, query: str, visible: Visibility, *, limit: int = 8) -> Sequence[MemoryRecord]:
        """Memories a person means by a few words: those that contain them; search hits only when none does."""
        ...

    def update(
        self,
        memory_id: str,
        *,
        text: str | None = None,
        category: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> MemoryRecord:
        """Change a memory; the old form goes to its history. Raises NotFound, RefusedText, InvalidInput."""
        ...

    def forget(self, memory_id: str) -> MemoryRecord:
        """Delete a memory for good: row, vector, full text and history; a tombstone stays. Raises NotFound."""
        ...

    def mark_retrieved(self, memory_ids: Sequence[str]) -> None:
        """Count that these memories went into a prompt."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureCounts:
    """How many states wait unjudged, how many were judged, how many candidates wait, and since when (ms)."""

    unjudged: int
    judged: int
    queued: int
    oldest_queued_ms: int | None


class CaptureStore(Protocol):
    """The journal of unjudged states, the record of judged ones, and the inbox."""

    def journal(self, states: Sequence[CapturedState]) -> int:
        """Keep states until they are judged. Judged ones are skipped, open ones replaced. Returns how many are new
        or changed. Committed when this returns."""
        ...

    def judged_keys(self, keys: Sequence[str]) -> frozenset[str]:
        """Those of the keys that have been judged."""
        ...

    def unjudged(self, *, limit: int = 50) -> Sequence[CapturedState]:
        """States ready to be judged, oldest first: closed ones, and open ones whose engine is gone."""
        ...

    def settle(
        self,
        judgement: Judgement,
        *,
        save: NewMemory | None = None,
        queue: Candidate | None = None,
        max_queue: int = 20,
    ) -> Judgement | None:
        """Record what became of a state and carry it out, in one transaction.

        The state leaves the journal; `save` is stored or `queue` joins the inbox (the oldest falls off beyond
        `max_queue`). Returns the judgement completed with ids, or None when another engine settled it first.
        """
        ...

    def inbox(self) -> Sequence[Candidate]:
        """Candidates waiting for review, oldest first."""
        ...

    def approve(self, candidate_id: str, memory: NewMemory) -> Added:
        """Save the memory and take the candidate out of the inbox, in one transaction. Raises NotFound, RefusedText."""
        ...

    def reject(self, candidate_id: str, reason: str) -> None:
        """Take the candidate out of the inbox and remember not to propose it again. Raises NotFound."""
        ...

    def rejected_texts(self) -> Sequence[str]:
        """Texts rejected in the last 30 days, so that they are not proposed again. A text rejected as secret is
        never kept, so it is not among them."""
        ...

    def counts(self) -> CaptureCounts:
        """Numbers for status lines."""
        ...
