"""The inbox: what becomes of a selected candidate, and what the person says about it.

`confirm`: it waits for the person; `auto`: it is saved at once; `off`: it is only recorded that it was seen.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from clew.core.errors import NotFound
from clew.core.guard import screen
from clew.core.ports import Added, CaptureStore, MemoryStore
from clew.core.records import Candidate, Judgement, MemoryRecord, NewMemory, Provenance, Visibility
from clew.core.scopes import scope_of
from clew.core.similarity import is_near_duplicate, may_be_same_fact
from clew.memory.filters import PERSONAL_MARKS, REVIEWED_MARK, is_auto_saved

ReviewMode = Literal["confirm", "auto", "off"]
DEFAULT_MAX_QUEUE = 20
_NEIGHBOURS = 5
# Full text alone finds duplicates too, so an embedder that is still loading is not waited for any longer.
_SEARCH_LIMIT_S = 2.0


class Inbox:
    """Routes candidates by review mode and carries out the person's answers. Thread-safe as far as its stores are."""

    def __init__(
        self,
        captures: CaptureStore,
        memories: MemoryStore,
        *,
        mode: ReviewMode = "confirm",
        max_queue: int = DEFAULT_MAX_QUEUE,
    ) -> None:
        self._captures = captures
        self._memories = memories
        self._max_queue = max_queue
        self.mode = mode

    def place(self, candidate: Candidate, judgement: Judgement) -> Judgement | None:
        """Save, queue or drop a candidate and settle its state in one transaction.

        What is already stored, waiting or rejected is not proposed again. In mode `auto`, a candidate that may tell
        the same fact as a stored memory in other words waits for the person instead of standing beside it.

        Returns:
            The judgement with its outcome, reason and ids; None when another engine settled the state first.
        """
        if self.mode == "off":
            return self._drop(judgement, f"{judgement.reason}; review mode is off")
        if any(is_near_duplicate(candidate.text, text) for text in self._captures.rejected_texts()):
            return self._drop(judgement, "you rejected this before")
        neighbours = self._neighbours(candidate)
        if any(is_near_duplicate(candidate.text, memory.text) for memory in neighbours):
            return self._drop(judgement, "already remembered")
        waiting = self._waiting_twin(candidate)
        if waiting is not None:
            return self._queue(_merge(waiting, candidate), judgement, f"{judgement.reason}; seen again")
        if self.mode == "auto" and not any(may_be_same_fact(candidate.text, memory.text) for memory in neighbours):
            return self._save(candidate, judgement)
        return self._queue(candidate, judgement, judgement.reason)

    def waiting(self) -> Sequence[Candidate]:
        """Candidates that wait for review, oldest first."""
        return self._captures.inbox()

    def similar(self, candidate: Candidate) -> MemoryRecord | None:
        """A stored memory that may tell the same fact, to be shown beside the candidate."""
        found = (memory for memory in self._neighbours(candidate) if may_be_same_fact(candidate.text, memory.text))
        return next(found, None)

    def approve(self, candidate_id: str, text: str | None = None, category: str | None = None) -> Added:
        """Save a waiting candidate, as it stands or as the person changed it.

        Raises:
            NotFound: it does not wait any more.
            RefusedText: the guard, which looks again now, does not let the text through; the candidate keeps waiting.
            InvalidInput: the text is empty or too long.
        """
        candidate = self._find(candidate_id)
        changed = replace(
            candidate,
            text=screen(candidate.text if text is None else text),
            category=category or candidate.category,
            scope=scope_of(category, candidate.project_key) if category else candidate.scope,
        )
        added = self._captures.approve(candidate_id, replace(_as_memory(changed), metadata=REVIEWED_MARK))
        return Added(memory=mark_reviewed(self._memories, added.memory), outcome=added.outcome)

    def reject(self, candidate_id: str) -> None:
        """Take a candidate out; its like is not proposed again for a while. Raises NotFound."""
        self._captures.reject(candidate_id, "in review")

    def _find(self, candidate_id: str) -> Candidate:
        for candidate in self._captures.inbox():
            if candidate.id == candidate_id:
                return candidate
        raise NotFound(f"No candidate {candidate_id} waits for review.", "It was saved, rejected or pushed out.")

    def _neighbours(self, candidate: Candidate) -> list[MemoryRecord]:
        visible = Visibility(project_key=candidate.project_key)
        deadline = time.monotonic() + _SEARCH_LIMIT_S
        found = self._memories.search(candidate.text, visible, limit=_NEIGHBOURS, deadline=deadline)
        return [hit.memory for hit in found.hits]

    def _waiting_twin(self, candidate: Candidate) -> Candidate | None:
        for waiting in self._captures.inbox():
            is_same_place = (waiting.scope, waiting.project_key) == (candidate.scope, candidate.project_key)
            if (is_same_place or waiting.scope == "user") and is_near_duplicate(waiting.text, candidate.text):
                return waiting
        return None

    def _drop(self, judgement: Judgement, reason: str) -> Judgement | None:
        return self._captures.settle(replace(judgement, outcome="filtered", reason=reason))

    def _queue(self, candidate: Candidate, judgement: Judgement, reason: str) -> Judgement | None:
        queued = replace(judgement, outcome="queued", reason=reason)
        return self._captures.settle(queued, queue=candidate, max_queue=self._max_queue)

    def _save(self, candidate: Candidate, judgement: Judgement) -> Judgement | None:
        return self._captures.settle(replace(judgement, outcome="saved"), save=_as_memory(candidate))


def mark_reviewed(memories: MemoryStore, memory: MemoryRecord) -> MemoryRecord:
    """The memory with the mark that the person approved it. One that has their word already stays as it is."""
    if not is_auto_saved(memory):
        return memory
    kept = {name: value for name, value in memory.metadata.items() if name not in PERSONAL_MARKS}
    return memories.update(memory.id, metadata={**kept, **REVIEWED_MARK})


def _merge(waiting: Candidate, again: Candidate) -> Candidate:
    """The waiting candidate with the higher of each score. The store counts that it was seen once more."""
    scores = {name: max(again.scores.get(name, value), value) for name, value in waiting.scores.items()}
    return replace(waiting, scores={**again.scores, **scores})


def _as_memory(candidate: Candidate) -> NewMemory:
    return NewMemory(
        text=candidate.text,
        category=candidate.category,
        scope=candidate.scope,
        project_key=candidate.project_key if candidate.scope == "project" else None,
        provenance=Provenance(
            origin="gate",
            session_id=candidate.session_id,
            entry_id=candidate.entry_id,
            decision_model=candidate.decision_model,
            scores=candidate.scores,
        ),
    )
