"""What becomes of a judged state: saved, queued for review, or dropped, decided and written down in one transaction.

The guard has the last word. A text that it refuses settles the state all the same, or the state would come back for
ever: the judgement is then recorded as vetoed or filtered, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from clew.core.errors import ForgottenText, InjectionFound, InvalidInput, SecretFound
from clew.core.records import DIRECT_ORIGINS, Candidate, Judgement, NewMemory, Provenance
from clew.store import capture, memories
from clew.store.adapter import Reader
from clew.store.screening import screen_memory
from clew.store.vectors import StoredVector


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """A judgement whose texts have passed the guard."""

    judgement: Judgement
    save: NewMemory | None = None
    queue: Candidate | None = None


def screen_settlement(judgement: Judgement, save: NewMemory | None, queue: Candidate | None) -> Settlement:
    """Put the texts through the guard; what it refuses is left out and the judgement changed to say so."""
    try:
        return Settlement(
            judgement=judgement,
            save=screen_memory(save) if save else None,
            queue=screen_candidate(queue) if queue else None,
        )
    except SecretFound:
        return Settlement(judgement=replace(judgement, outcome="vetoed", reason="secret found by the guard"))
    except InjectionFound:
        return Settlement(judgement=replace(judgement, outcome="vetoed", reason="injection found by the guard"))
    except InvalidInput:
        return Settlement(judgement=replace(judgement, outcome="filtered", reason="not a text that can be stored"))


def screen_candidate(candidate: Candidate) -> Candidate:
    """The candidate as it may be stored. Raises RefusedText or InvalidInput."""
    screened = screen_memory(_as_memory(candidate))
    # The project stays with a user-wide candidate: in review the person may still decide that it belongs there.
    return replace(candidate, text=screened.text, category=screened.category)


def is_direct(memory: NewMemory) -> bool:
    """Whether the person spoke for themselves, and so may bring a forgotten text back."""
    return memory.provenance.origin in DIRECT_ORIGINS


def settle(
    writer: Reader, settlement: Settlement, vector: StoredVector | None, *, max_queue: int, now_ms: int
) -> Judgement | None:
    """Take the state out of the journal and carry the settlement out. None when another engine did so first."""
    if not capture.claim(writer, settlement.judgement.key):
        return None
    judgement = settlement.judgement
    if settlement.save is not None:
        judgement = _save(writer, judgement, settlement.save, vector, now_ms)
    elif settlement.queue is not None:
        judgement = _enqueue(writer, judgement, settlement.queue, now_ms)
    capture.record(writer, judgement, now_ms=now_ms)
    if judgement.candidate_id is not None:
        capture.trim_inbox(writer, max_queue=max_queue)
    return judgement


def _save(
    writer: Reader, judgement: Judgement, memory: NewMemory, vector: StoredVector | None, now_ms: int
) -> Judgement:
    try:
        added = memories.save(writer, memory, vector, now_ms=now_ms, may_revive=is_direct(memory))
    except ForgottenText:
        return _forgotten(judgement)
    return replace(judgement, memory_id=added.memory.id)


def _enqueue(writer: Reader, judgement: Judgement, candidate: Candidate, now_ms: int) -> Judgement:
    if memories.forgotten_id(writer, candidate.text):
        return _forgotten(judgement)
    twin = memories.find_twin(writer, _as_memory(candidate))
    if twin is None:
        return replace(judgement, candidate_id=capture.enqueue(writer, candidate, now_ms=now_ms))
    memories.count_sighting(writer, twin)
    known = memories.fetch_many(writer, [twin])[twin]
    return replace(judgement, outcome="filtered", reason="already stored", memory_id=known.id)


def _forgotten(judgement: Judgement) -> Judgement:
    return replace(judgement, outcome="filtered", reason="forgotten earlier")


def _as_memory(candidate: Candidate) -> NewMemory:
    return NewMemory(
        text=candidate.text,
        provenance=Provenance(origin="gate", session_id=candidate.session_id, entry_id=candidate.entry_id),
        category=candidate.category,
        scope=candidate.scope,
        project_key=candidate.project_key,
        session_id=candidate.session_id,
    )
