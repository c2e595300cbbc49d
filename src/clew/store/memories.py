"""Memories as rows: each function does its work within a transaction that the caller opened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from clew.core.errors import ForgottenText, InvalidInput, NotFound
from clew.core.ports import Added
from clew.core.records import MemoryRecord, NewMemory, Visibility
from clew.core.text import normalise, text_key
from clew.store.adapter import Reader
from clew.store.columns import as_text
from clew.store.ids import new_id
from clew.store.rows import MEMORY_COLUMNS, encode, encode_provenance, memory_from_row
from clew.store.terms import lexical_form
from clew.store.vectors import StoredVector
from clew.store.visibility import visible_sql

#: SQLite takes this many numbers in one `IN` list with room to spare.
_BATCH = 500
#: Entries of the change log: trimmed at open beyond the first number, down to the second.
_LONGEST_LOG, _KEPT_LOG = 50_000, 10_000

_REPAIR = (
    "UPDATE memories SET text = ? WHERE row = ? "
    "AND (typeof(text) <> 'text' OR CAST(text AS BLOB) <> CAST(? AS BLOB)) RETURNING row"
)


def save(writer: Reader, memory: NewMemory, vector: StoredVector | None, *, now_ms: int, may_revive: bool) -> Added:
    """Store a screened memory, or raise `seen_count` of its twin: an active memory of the same words in the same place.

    Args:
        may_revive: the person asks for it, so a text that was forgotten comes back, under its old id.

    Raises:
        ForgottenText: it was forgotten and `may_revive` is false.
    """
    twin = find_twin(writer, memory)
    if twin is not None:
        count_sighting(writer, twin)
        return Added(memory=_fetch_row(writer, twin), outcome="duplicate")
    former_id = forgotten_id(writer, memory.text)
    if former_id and not may_revive:
        raise ForgottenText
    memory_id = _revive(writer, memory.text, former_id, now_ms) if former_id else new_id(now_ms)
    row = _insert(writer, memory_id, memory, vector, now_ms)
    return Added(memory=_fetch_row(writer, row), outcome="saved")


def find_twin(reader: Reader, memory: NewMemory) -> int | None:
    """Row number of the active memory that says the same in the same place, by the same person; None if there is none."""
    found = reader.rows(
        "SELECT row FROM memories WHERE text_key = ? AND state = 'active' AND scope = ? AND project_key IS ? "
        "AND user_id IS ? AND speaker IS ? ORDER BY row LIMIT 1",
        (text_key(memory.text), memory.scope, memory.project_key, memory.user_id, memory.speaker),
    )
    return found[0][0] if found else None


def count_sighting(writer: Reader, row: int) -> None:
    """Note that a memory was stated once more."""
    writer.rows("UPDATE memories SET seen_count = seen_count + 1 WHERE row = ?", (row,))


def forgotten_id(reader: Reader, text: str) -> str | None:
    """The id of the memory that said this before it was forgotten; None if it never was."""
    found = reader.rows("SELECT memory_id FROM tombstones WHERE text_key = ?", (text_key(text),))
    return found[0][0] if found else None


def fetch(reader: Reader, memory_id: str) -> MemoryRecord | None:
    """The memory with this id, or None."""
    found = reader.rows(f"SELECT {MEMORY_COLUMNS} FROM memories WHERE id = ?", (memory_id,))  # noqa: S608
    return memory_from_row(found[0]) if found else None


def fetch_existing(reader: Reader, memory_id: str) -> MemoryRecord:
    """The memory with this id. Raises NotFound."""
    record = fetch(reader, memory_id)
    if record is None:
        raise NotFound(
            f"There is no memory with the id {normalise(memory_id)[:80]}.", "List memories to see their ids."
        )
    return record


def fetch_many(reader: Reader, rows: Sequence[int]) -> dict[int, MemoryRecord]:
    """The memories at these row numbers; those that are gone are left out."""
    records: dict[int, MemoryRecord] = {}
    for start in range(0, len(rows), _BATCH):
        batch = rows[start : start + _BATCH]
        marks = ", ".join("?" * len(batch))
        for row in reader.rows(f"SELECT {MEMORY_COLUMNS} FROM memories WHERE row IN ({marks})", batch):  # noqa: S608
            records[row[0]] = memory_from_row(row)
    return records


def newest(reader: Reader, visible: Visibility, *, limit: int, offset: int) -> list[MemoryRecord]:
    """Active memories that may be seen, newest first."""
    condition, params = visible_sql(visible)
    found = reader.rows(
        f"SELECT {MEMORY_COLUMNS} FROM memories WHERE {condition} "  # noqa: S608
        "ORDER BY created_at DESC, row DESC LIMIT ? OFFSET ?",
        (*params, limit, offset),
    )
    return [memory_from_row(row) for row in found]


def count(reader: Reader, visible: Visibility) -> int:
    """How many active memories may be seen."""
    condition, params = visible_sql(visible)
    total: int = reader.rows(f"SELECT count(*) FROM memories WHERE {condition}", params)[0][0]  # noqa: S608
    return total


def containing(reader: Reader, words: str, visible: Visibility, *, limit: int) -> list[int]:
    """Row numbers of memories that have this id or whose text contains the words, in any script and case; newest first.

    SQL folds the case of ASCII only, so the texts are compared here.
    """
    wanted = normalise(words).casefold()
    if not wanted:
        return []
    condition, params = visible_sql(visible)
    texts = reader.rows(
        f"SELECT row, id, text FROM memories WHERE {condition} ORDER BY created_at DESC, row DESC",  # noqa: S608
        params,
    )
    found = (
        row
        for row, memory_id, text in texts
        if wanted == as_text(memory_id).casefold() or wanted in normalise(as_text(text)).casefold()
    )
    return list(islice(found, limit))


def revise(
    writer: Reader,
    memory_id: str,
    *,
    text: str | None,
    category: str | None,
    metadata: Mapping[str, Any] | None,
    vector: StoredVector | None,
    now_ms: int,
) -> MemoryRecord:
    """Change a memory and keep its old form in the history. What is None stays; an equal form changes nothing.

    Raises:
        NotFound: no such memory.
        ForgottenText: the new text was forgotten.
        InvalidInput: another memory already says it.
    """
    old = fetch_existing(writer, memory_id)
    changes: dict[str, Any] = {}
    if text is not None and text != old.text:
        changes |= _text_columns(writer, old, text, vector)
    if category is not None and category != old.category:
        changes["category"] = category
    if metadata is not None and dict(metadata) != old.metadata:
        changes["metadata"] = encode(metadata)
    if not changes:
        return old
    _keep_history(writer, memory_id, now_ms)
    # Always later than before: a version that was injected into a prompt is recognised by this time.
    changes["updated_at"] = max(now_ms, old.updated_at_ms + 1)
    assignments = ", ".join(f"{column} = ?" for column in changes)
    writer.rows(f"UPDATE memories SET {assignments} WHERE id = ?", (*changes.values(), memory_id))  # noqa: S608
    return fetch_existing(writer, memory_id)


def forget(writer: Reader, memory_id: str, *, now_ms: int) -> tuple[MemoryRecord, list[str]]:
    """Delete a memory and its history; leave a tombstone for each form that it had.

    Returns:
        The memory, and the texts of all its forms.

    Raises:
        NotFound: no such memory.
    """
    record = fetch_existing(writer, memory_id)
    old_forms = writer.rows("SELECT text FROM memory_history WHERE memory_id = ? AND text IS NOT NULL", (memory_id,))
    forms = list(dict.fromkeys([record.text, *(as_text(text) for (text,) in old_forms)]))
    for form in forms:
        writer.rows(
            "INSERT OR REPLACE INTO tombstones(text_key, memory_id, at) VALUES(?, ?, ?)",
            (text_key(form), memory_id, now_ms),
        )
    writer.rows("DELETE FROM memory_history WHERE memory_id = ?", (memory_id,))
    writer.rows("DELETE FROM memories WHERE id = ?", (memory_id,))
    _note_event(writer, memory_id, "forgotten", now_ms)
    return record, forms


def mark_retrieved(writer: Reader, memory_ids: Iterable[str], *, now_ms: int) -> None:
    """Count one retrieval of each memory that exists."""
    for memory_id in dict.fromkeys(memory_ids):
        writer.rows(
            "UPDATE memories SET retrieval_count = retrieval_count + 1, last_retrieved = ? WHERE id = ?",
            (now_ms, memory_id),
        )


def prepare_foreign(writer: Reader) -> int:
    """Fill in what another program (pi-noodle) left out of the rows it wrote: text key and full-text form.

    A text that is no UTF-8 is replaced by what can be read of it. Returns how many were.
    """
    repaired = 0
    for row, found in writer.rows("SELECT row, text FROM memories WHERE lexical IS NULL"):
        text = as_text(found)
        repaired += len(writer.rows(_REPAIR, (text, row, text)))
        writer.rows(
            "UPDATE memories SET lexical = ?, text_key = ?, updated_at = max(updated_at, created_at) WHERE row = ?",
            (lexical_form(text), text_key(text), row),
        )
    return repaired


def note_repaired(writer: Reader, count: int) -> None:
    """Add to the number of repaired texts, which status lines show."""
    if count:
        writer.rows(
            "INSERT INTO clew_meta(key, value) VALUES('repaired_texts', ?) "
            "ON CONFLICT(key) DO UPDATE SET value = value + excluded.value",
            (str(count),),
        )


def repaired_texts(reader: Reader) -> int:
    """How many texts were repaired since the database was made."""
    ((count,),) = reader.rows(
        "SELECT coalesce(max(CAST(value AS INTEGER)), 0) FROM clew_meta WHERE key = 'repaired_texts'"
    )
    return int(count)


def trim_change_log(writer: Reader) -> None:
    """Drop old entries of the change log. A derived index that is further behind builds itself anew."""
    ((span, last),) = writer.rows("SELECT coalesce(max(seq) - min(seq), 0), coalesce(max(seq), 0) FROM memory_log")
    if span > _LONGEST_LOG:
        writer.rows("DELETE FROM memory_log WHERE seq <= ?", (last - _KEPT_LOG,))


def _revive(writer: Reader, text: str, old_id: str, now_ms: int) -> str:
    """Lift the tombstone. Returns the id to use: the old one, unless a memory has it (another form came back first)."""
    writer.rows("DELETE FROM tombstones WHERE text_key = ?", (text_key(text),))
    memory_id = old_id if fetch(writer, old_id) is None else new_id(now_ms)
    _note_event(writer, memory_id, "revived", now_ms)
    return memory_id


def _insert(writer: Reader, memory_id: str, memory: NewMemory, vector: StoredVector | None, now_ms: int) -> int:
    columns: dict[str, Any] = {
        "id": memory_id,
        "text": memory.text,
        "embedding": vector.blob if vector else None,
        "embedding_model": vector.model if vector else None,
        "category": memory.category,
        "categories": encode(memory.categories),
        "user_id": memory.user_id,
        "assistant_id": memory.assistant_id,
        "session_id": memory.session_id,
        "metadata": encode(memory.metadata),
        "created_at": now_ms if memory.created_at_ms is None else memory.created_at_ms,
        "updated_at": now_ms,
        "scope": memory.scope,
        "project_key": memory.project_key,
        "speaker": memory.speaker,
        "provenance": encode_provenance(memory.provenance),
        "lexical": lexical_form(memory.text),
        "text_key": text_key(memory.text),
    }
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    ((row,),) = writer.rows(
        f"INSERT INTO memories({names}) VALUES({marks}) RETURNING row",
        tuple(columns.values()),
    )
    return int(row)


def _text_columns(writer: Reader, old: MemoryRecord, text: str, vector: StoredVector | None) -> dict[str, Any]:
    key = text_key(text)
    if forgotten_id(writer, text):
        raise ForgottenText
    if writer.rows(
        "SELECT 1 FROM memories WHERE text_key = ? AND id <> ? AND state = 'active' AND scope = ? AND project_key IS ? "
        "AND user_id IS ? AND speaker IS ?",
        (key, old.id, old.scope, old.project_key, old.user_id, old.speaker),
    ):
        raise InvalidInput("Another memory already says this.", "Forget one of the two instead.")
    return {
        "text": text,
        "lexical": lexical_form(text),
        "text_key": key,
        "embedding": vector.blob if vector else None,
        "embedding_model": vector.model if vector else None,
    }


def _keep_history(writer: Reader, memory_id: str, now_ms: int) -> None:
    writer.rows(
        "INSERT INTO memory_history(memory_id, event, text, text_key, category, metadata, at) "
        "SELECT id, 'changed', text, text_key, category, metadata, ? FROM memories WHERE id = ?",
        (now_ms, memory_id),
    )


def _note_event(writer: Reader, memory_id: str, event: str, now_ms: int) -> None:
    writer.rows("INSERT INTO memory_history(memory_id, event, at) VALUES(?, ?, ?)", (memory_id, event, now_ms))


def _fetch_row(reader: Reader, row: int) -> MemoryRecord:
    return fetch_many(reader, [row])[row]
