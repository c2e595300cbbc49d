"""A memory on one line, for dialogs, notices and lists. A secret that another program left in the store stays hidden."""

from __future__ import annotations

from clew.core.records import MemoryRecord
from clew.core.secrets import redact
from clew.core.text import display_text
from clew.memory.filters import REWORDED_MARK

_TEXT_CHARS = 90
_CATEGORY_CHARS = 20
_SHORT_ID_CHARS = 8
_UNITS_MS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"))
_ORIGINS = {"tool": "saved by the agent", "import": "imported", "merge": "merged from others"}


def render_line(memory: MemoryRecord, max_chars: int = _TEXT_CHARS) -> str:
    """Category and text; `max_chars` bounds the text."""
    return f"{_category(memory)} {_text(memory, max_chars)}"


def render_listed(memory: MemoryRecord, now_ms: int) -> str:
    """Short id, category, age and text."""
    age = describe_age(now_ms - memory.created_at_ms)
    return f"{short_id(memory)}  {_category(memory)}  {age}  {_text(memory, _TEXT_CHARS)}"


def short_id(memory: MemoryRecord) -> str:
    """The end of the id: its beginning is a time, which memories of the same minute share."""
    return display_text(memory.id, 100)[-_SHORT_ID_CHARS:]


def describe_age(age_ms: int) -> str:
    """How long ago, in the largest unit that fits."""
    unit = next(((unit_ms, name) for unit_ms, name in _UNITS_MS if age_ms >= unit_ms), None)
    return f"{age_ms // unit[0]} {unit[1]}" if unit else "now"


def describe_origin(memory: MemoryRecord) -> str:
    """Who saved (or last worded) a memory in the form that the person has not seen."""
    if memory.metadata.get("reworded_by") == REWORDED_MARK["reworded_by"]:
        return "reworded by the agent"
    origin = memory.provenance.origin if memory.provenance else ""
    return _ORIGINS.get(origin, "saved automatically")


def _category(memory: MemoryRecord) -> str:
    return f"[{display_text(redact(memory.category).text, _CATEGORY_CHARS)}]"


def _text(memory: MemoryRecord, max_chars: int) -> str:
    return display_text(redact(memory.text).text, max_chars)
