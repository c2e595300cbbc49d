"""Between rows of the database and records. What another program left unreadable becomes empty, never an error."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast, get_args

from clew.core.records import (
    Candidate,
    CapturedState,
    MemoryRecord,
    MemoryState,
    Origin,
    Provenance,
    Scope,
    State,
)
from clew.store.columns import as_name, as_number, as_text
from clew.store.screening import is_category, is_shallow

_DEFAULT_CATEGORY = "memory"
_TOO_DEEP = {"unreadable": "nested too deeply, or too large"}
#: Columns of `memories` in the order in which `memory_from_row` takes them.
MEMORY_COLUMNS = (
    "row, id, text, category, categories, scope, project_key, user_id, assistant_id, session_id, speaker, metadata, "
    "provenance, state, superseded_by, pinned, seen_count, created_at, updated_at, last_retrieved, retrieval_count, "
    "embedding IS NOT NULL"
)
#: Columns of `inbox` in the order in which `candidate_from_row` takes them.
CANDIDATE_COLUMNS = "id, text, category, scope, project_key, session_id, entry_id, scores, reason, decision_model, queued_at, seen_count"
#: Columns of `journal` in the order in which `state_from_row` takes them.
STATE_COLUMNS = "key, entry_id, session_id, project_key, state, timestamp, secret_kinds, is_open, owner"


def memory_from_row(row: tuple[Any, ...]) -> MemoryRecord:
    """A record of one row of MEMORY_COLUMNS."""
    return MemoryRecord(
        row=row[0],
        id=as_text(row[1]),
        text=as_text(row[2]),
        category=row[3] if is_category(row[3]) else _DEFAULT_CATEGORY,
        categories=tuple(name for name in map(str, _decoded(row[4], list)) if is_category(name)),
        scope=cast("Scope", row[5] if row[5] in get_args(Scope) else "user"),
        project_key=as_name(row[6]),
        user_id=as_name(row[7]),
        assistant_id=as_name(row[8]),
        session_id=as_name(row[9]),
        speaker=as_name(row[10]),
        metadata=_metadata(row[11]),
        provenance=_provenance(row[12]),
        state=cast("MemoryState", as_text(row[13])),
        superseded_by=as_name(row[14]),
        pinned=bool(row[15]),
        seen_count=as_number(row[16]),
        created_at_ms=as_number(row[17]),
        updated_at_ms=as_number(row[18]),
        last_retrieved_ms=None if row[19] is None else as_number(row[19]),
        retrieval_count=as_number(row[20]),
        has_vector=bool(row[21]),
    )


def candidate_from_row(row: tuple[Any, ...]) -> Candidate:
    """A record of one row of CANDIDATE_COLUMNS."""
    return Candidate(
        id=row[0],
        text=row[1],
        category=row[2],
        scope=row[3],
        project_key=row[4],
        session_id=row[5],
        entry_id=row[6],
        scores=_decoded(row[7], dict),
        reason=row[8],
        decision_model=row[9],
        queued_at_ms=row[10],
        seen_count=row[11],
    )


def state_from_row(row: tuple[Any, ...]) -> CapturedState:
    """A record of one row of STATE_COLUMNS."""
    texts = _decoded(row[4], dict)
    return CapturedState(
        key=row[0],
        entry_id=row[1],
        session_id=row[2],
        project_key=row[3],
        state=State(
            user=texts.get("user") or "",
            assistant=texts.get("assistant"),
            previous_assistant=texts.get("previous_assistant"),
            project=texts.get("project"),
        ),
        timestamp_ms=row[5],
        secret_kinds=tuple(_decoded(row[6], list)),
        is_open=bool(row[7]),
        owner=row[8],
    )


def encode(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """JSON as the database keeps it: readable, without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def encode_provenance(provenance: Provenance) -> str:
    """Provenance as JSON without the fields that say nothing."""
    return encode({name: value for name, value in asdict(provenance).items() if value not in (None, {})})


def _provenance(encoded: str | None) -> Provenance | None:
    fields = _decoded(encoded, dict)
    if fields.get("origin") not in get_args(Origin):
        return None
    return Provenance(
        origin=fields["origin"],
        session_id=fields.get("session_id"),
        entry_id=fields.get("entry_id"),
        decision_model=fields.get("decision_model"),
        scores=fields.get("scores") or {},
    )


def _metadata(encoded: Any) -> Mapping[str, Any]:
    """The metadata, or a mark in its place when it is so deep that other code would stumble over it."""
    metadata: dict[str, Any] = _decoded(encoded, dict)
    return metadata if is_shallow(metadata) else dict(_TOO_DEEP)


def _decoded(encoded: Any, kind: type) -> Any:
    """The JSON value if it is of the kind, else an empty one."""
    try:
        value = json.loads(encoded) if encoded else None
    except (TypeError, ValueError, RecursionError):
        value = None
    return value if isinstance(value, kind) else kind()
