"""Journal, judged states and inbox as rows: each function does its work within a transaction that the caller opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clew.core.errors import NotFound
from clew.core.ports import CaptureCounts
from clew.core.records import Candidate, CapturedState, Judgement
from clew.core.text import normalise, text_key
from clew.store.adapter import Reader
from clew.store.ids import new_id
from clew.store.processes import is_process_alive
from clew.store.rows import CANDIDATE_COLUMNS, STATE_COLUMNS, candidate_from_row, encode, state_from_row

_DAY_MS = 86_400_000
#: Rejections older than this no longer keep a text from being proposed.
_REJECTION_MS = 30 * _DAY_MS
#: An open state this old is judged whoever owns it: its owner's process id may have gone to another program.
_OPEN_STATE_MS = _DAY_MS


def keep_state(writer: Reader, captured: CapturedState, *, now_ms: int) -> bool:
    """Write one state to the journal. True if it is new or replaced an open one that differed."""
    columns = {
        "key": captured.key,
        "entry_id": captured.entry_id,
        "session_id": captured.session_id,
        "project_key": captured.project_key,
        "state": encode(captured.state.as_json()),
        "timestamp": captured.timestamp_ms,
        "secret_kinds": encode(captured.secret_kinds),
        "is_open": int(captured.is_open),
        "owner": captured.owner,
        "captured_at": now_ms,
    }
    written = writer.rows(
        f"INSERT INTO journal({', '.join(columns)}) SELECT {', '.join('?' * len(columns))} "  # noqa: S608
        "WHERE NOT EXISTS (SELECT 1 FROM judged WHERE key = ?) "
        "ON CONFLICT(key) DO UPDATE SET entry_id = excluded.entry_id, session_id = excluded.session_id, "
        "project_key = excluded.project_key, state = excluded.state, timestamp = excluded.timestamp, "
        "secret_kinds = excluded.secret_kinds, is_open = excluded.is_open, owner = excluded.owner, "
        "captured_at = excluded.captured_at "
        "WHERE journal.is_open AND (journal.state, journal.secret_kinds, journal.is_open, journal.owner) "
        "IS NOT (excluded.state, excluded.secret_kinds, excluded.is_open, excluded.owner) RETURNING key",
        (*columns.values(), captured.key),
    )
    return bool(written)


def ready_states(reader: Reader, *, limit: int, now_ms: int) -> list[CapturedState]:
    """States that can be judged now, oldest first: closed ones, and open ones that nobody will close any more."""
    owners = [owner for (owner,) in reader.rows("SELECT DISTINCT owner FROM journal WHERE is_open")]
    gone = encode([owner for owner in owners if not is_process_alive(owner)])
    found = reader.rows(
        f"SELECT {STATE_COLUMNS} FROM journal "  # noqa: S608
        "WHERE NOT is_open OR owner IN (SELECT value FROM json_each(?)) OR captured_at < ? "
        "ORDER BY timestamp, key LIMIT ?",
        (gone, now_ms - _OPEN_STATE_MS, limit),
    )
    return [state_from_row(row) for row in found]


def judged_among(reader: Reader, keys: Sequence[str]) -> frozenset[str]:
    """Those of the keys that have been judged."""
    found = reader.rows("SELECT key FROM judged WHERE key IN (SELECT value FROM json_each(?))", (encode(keys),))
    return frozenset(key for (key,) in found)


def claim(writer: Reader, key: str) -> bool:
    """Take a state out of the journal. Exactly one engine is told True: it settles the state."""
    return bool(writer.rows("DELETE FROM journal WHERE key = ? RETURNING key", (key,)))


def record(writer: Reader, judgement: Judgement, *, now_ms: int) -> None:
    """Write down what became of a state; its text is not part of it."""
    columns = {
        "key": judgement.key,
        "entry_id": judgement.entry_id,
        "outcome": judgement.outcome,
        "reason": judgement.reason,
        "scores": encode(judgement.scores),
        "target": judgement.target,
        "duration_ms": judgement.duration_ms,
        "decision_model": judgement.decision_model,
        "memory_id": judgement.memory_id,
        "candidate_id": judgement.candidate_id,
        "judged_at": now_ms,
    }
    writer.rows(
        f"INSERT OR REPLACE INTO judged({', '.join(columns)}) VALUES({', '.join('?' * len(columns))})",
        tuple(columns.values()),
    )


def enqueue(writer: Reader, candidate: Candidate, *, now_ms: int) -> str:
    """Put a candidate into the inbox, or count it at the one that says the same, which keeps the higher scores.

    Returns its id.
    """
    key = text_key(candidate.text)
    found = writer.rows(
        f"SELECT {CANDIDATE_COLUMNS} FROM inbox WHERE text_key = ? AND scope = ? AND project_key IS ?",  # noqa: S608
        (key, candidate.scope, candidate.project_key),
    )
    if found:
        waiting = candidate_from_row(found[0])
        scores = {**waiting.scores, **candidate.scores}
        best = {name: max(score, waiting.scores.get(name, score)) for name, score in scores.items()}
        writer.rows("UPDATE inbox SET seen_count = seen_count + 1, scores = ? WHERE id = ?", (encode(best), waiting.id))
        return waiting.id
    candidate = replace(candidate, id=new_id(now_ms), queued_at_ms=now_ms)
    _insert_candidate(writer, candidate, key)
    return candidate.id


def trim_inbox(writer: Reader, *, max_queue: int) -> None:
    """Let the oldest candidates beyond `max_queue` fall off; the records of their states then say so."""
    dropped = writer.rows(
        "DELETE FROM inbox WHERE seq NOT IN (SELECT seq FROM inbox ORDER BY seq DESC LIMIT ?) RETURNING id",
        (max(max_queue, 1),),
    )
    for (candidate_id,) in dropped:
        amend(writer, candidate_id, "filtered", "fell off the full inbox")


def waiting_candidates(reader: Reader) -> list[Candidate]:
    """The inbox, oldest first."""
    return [candidate_from_row(row) for row in reader.rows(f"SELECT {CANDIDATE_COLUMNS} FROM inbox ORDER BY seq")]  # noqa: S608


def take_out(writer: Reader, candidate_id: str) -> Candidate:
    """Remove a candidate from the inbox and return it. Raises NotFound."""
    found = writer.rows(f"DELETE FROM inbox WHERE id = ? RETURNING {CANDIDATE_COLUMNS}", (candidate_id,))  # noqa: S608
    if not found:
        raise NotFound(
            f"No candidate with the id {normalise(candidate_id)[:80]} waits.", "Another session may have reviewed it."
        )
    return candidate_from_row(found[0])


def note_approval(writer: Reader, candidate_id: str, memory_id: str) -> None:
    """Let the record of the candidate's states say that it was saved."""
    writer.rows("UPDATE judged SET outcome = 'saved', memory_id = ? WHERE candidate_id = ?", (memory_id, candidate_id))


def note_rejection(writer: Reader, candidate: Candidate, reason: str, *, now_ms: int) -> None:
    """Remember a rejected text for 30 days; one rejected as secret is not kept in any form."""
    writer.rows("DELETE FROM rejected WHERE rejected_at < ?", (now_ms - _REJECTION_MS,))
    if reason == "secret":
        amend(writer, candidate.id, "vetoed", "rejected as secret")
        return
    writer.rows(
        "INSERT INTO rejected(text, text_key, reason, rejected_at) VALUES(?, ?, ?, ?)",
        (candidate.text, text_key(candidate.text), reason, now_ms),
    )
    amend(writer, candidate.id, "filtered", f"rejected: {reason}")


def recent_rejections(reader: Reader, *, now_ms: int) -> list[str]:
    """Texts rejected in the last 30 days, newest first."""
    found = reader.rows("SELECT text FROM rejected WHERE rejected_at >= ? ORDER BY seq DESC", (now_ms - _REJECTION_MS,))
    return [text for (text,) in found]


def count_all(reader: Reader) -> CaptureCounts:
    """Numbers for status lines."""
    ((unjudged, judged, queued, oldest),) = reader.rows(
        "SELECT (SELECT count(*) FROM journal), (SELECT count(*) FROM judged), count(*), min(queued_at) FROM inbox"
    )
    return CaptureCounts(unjudged=unjudged, judged=judged, queued=queued, oldest_queued_ms=oldest)


def _insert_candidate(writer: Reader, candidate: Candidate, key: str) -> None:
    writer.rows(
        f"INSERT INTO inbox({CANDIDATE_COLUMNS}, text_key) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            candidate.id,
            candidate.text,
            candidate.category,
            candidate.scope,
            candidate.project_key,
            candidate.session_id,
            candidate.entry_id,
            encode(candidate.scores),
            candidate.reason,
            candidate.decision_model,
            candidate.queued_at_ms,
            candidate.seen_count,
            key,
        ),
    )


def amend(writer: Reader, candidate_id: str, outcome: str, reason: str) -> None:
    """Change what the record of a candidate's states says became of them."""
    writer.rows("UPDATE judged SET outcome = ?, reason = ? WHERE candidate_id = ?", (outcome, reason, candidate_id))
