"""A memory as the agent's tools show it, in Noodle's shape.

A database filled by something else may hold what the guard never let in, so the whole row is redacted on its way out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew.core.records import MemoryRecord
from clew.core.secrets import redact

#: Metadata is shown this many levels deep.
MAX_METADATA_DEPTH = 32
_TOO_DEEP = "[nested too deeply]"


def render_row(memory: MemoryRecord) -> dict[str, Any]:
    """The memory as a JSON object, without the value of any secret."""
    names = {"userId": memory.user_id, "assistantId": memory.assistant_id, "sessionId": memory.session_id}
    return {
        "id": memory.id,
        "text": redact(memory.text).text,
        "category": redact(memory.category).text,
        "categories": [redact(category).text for category in memory.categories],
        "scope": {field: name and redact(name).text for field, name in names.items()},
        "metadata": _redact_mapping(memory.metadata, ()),
        "createdAt": memory.created_at_ms,
        "updatedAt": memory.updated_at_ms,
        "retrievalCount": memory.retrieval_count,
        "lastRetrieved": memory.last_retrieved_ms,
    }


def _redact_mapping(value: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {redact(name).text: _redact(item, (*names, name)) for name, item in value.items()}


def _redact(value: Any, names: tuple[str, ...]) -> Any:
    if isinstance(value, (Mapping, list)) and len(names) >= MAX_METADATA_DEPTH:
        return _TOO_DEEP
    if isinstance(value, Mapping):
        return _redact_mapping(value, names)
    if isinstance(value, list):
        return [_redact(item, (*names, "")) for item in value]
    if value is None or isinstance(value, bool):
        return value
    return _redact_leaf(value, names)


def _redact_leaf(value: Any, names: tuple[str, ...]) -> Any:
    """A text or a number. A name that it stands under, at any level, may be what makes it a secret."""
    for name in {"", *names}:
        kinds = redact(f"{name}: {value}" if name else str(value)).kinds
        if kinds and not redact(name).kinds:
            return redact(value).text if not name and isinstance(value, str) else f"[redacted:{kinds[0]}]"
    return value
