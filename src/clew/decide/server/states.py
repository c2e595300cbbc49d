"""What a request's state says, read as what a head judges: an exchange, a pair of entries, or one entry. Pure.

A state is text or JSON of the sender's own making. The same state may be asked questions of several kinds, so each
reader looks for its own fields; what it cannot find with certainty it leaves alone: None means "cannot be judged".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from clew.core.records import DatedEntry, EntryPair, Judged, State

_MAX_DEPTH = 3
_USER, _ASSISTANT = "user", "assistant"
_AROUND = {
    "assistant": ("assistant", "assistant_message", "reply", "response"),
    "previous_assistant": ("previous_assistant", "previous_assistant_message"),
    "project": ("project",),
}
_USER_FIELDS = ("user", "user_message")
_EXCHANGE_FIELDS = ("text", "message", "exchange", "messages", "conversation", "state")
_ENTRY_FIELDS = ("entry", "memory", "content", "text")
_DATE_FIELDS = ("written", "date", "created_at")
_PAIR_FIELDS = (
    ("a", "b"),
    ("memory_a", "memory_b"),
    ("entry_a", "entry_b"),
    ("text_a", "text_b"),
    ("first", "second"),
    ("left", "right"),
    ("earlier", "later"),
    ("old", "new"),
    ("memory_1", "memory_2"),
)
_PAIR_LISTS = ("pair", "memories", "entries")
_ROLES = {"user": _USER, "human": _USER, "assistant": _ASSISTANT, "ai": _ASSISTANT, "model": _ASSISTANT}

_SPEAKER = re.compile(
    r"^[ \t]*\*{0,2}(user|human|assistant|ai)\*{0,2}[ \t]*:\*{0,2}[ \t]*", re.IGNORECASE | re.MULTILINE
)
_NOUN = r"(?:memory|entry|fact|statement|text)"
_FIRST = re.compile(rf"\s*(?:{_NOUN}[ \t]+)?(?:a|1)[ \t]*[:=]\s*", re.IGNORECASE)
_SECOND = re.compile(
    rf"(?:^[ \t]*(?:{_NOUN}[ \t]+)?|\b{_NOUN}[ \t]+)(?:b|2)[ \t]*[:=]\s*", re.IGNORECASE | re.MULTILINE
)
#: Times in seconds are below this until the year 5138; in milliseconds they are above it from 1973 on.
_LEAST_MS = 1e11


def read_judged(raw: Any, kind: type[Judged]) -> Judged | None:
    """The state as a head of this kind reads it; None if it cannot."""
    if kind is EntryPair:
        return read_pair(raw)
    return read_entry(raw) if kind is DatedEntry else read_exchange(raw)


def read_exchange(raw: Any, depth: int = _MAX_DEPTH) -> State | None:
    """A message with what stands around it.

    A text is the user's message, or a transcript if it begins with "User:" or "Assistant:". An object has `user`, or
    holds the exchange under a name of its own; a list holds messages with `role` and `content`.
    """
    if isinstance(raw, str):
        return _read_transcript(raw) or State(user=raw)
    if isinstance(raw, list):
        return _last_turn(_read_messages(raw))
    if not isinstance(raw, dict) or depth == 0:
        return None
    user = _field(raw, _USER_FIELDS)
    if user is None:
        inner = next((raw[name] for name in (*_EXCHANGE_FIELDS, *_ENTRY_FIELDS) if raw.get(name) is not None), None)
        return read_exchange(inner, depth - 1)
    around = {name: _field(raw, aliases) for name, aliases in _AROUND.items()}
    if not all(value is None or isinstance(value, str) for value in (user, *around.values())):
        return None
    return State(user=user, **around)


def read_pair(raw: Any, depth: int = _MAX_DEPTH) -> EntryPair | None:
    """Two entries: an object with two matching names, a list of two, or a text that names both."""
    if isinstance(raw, str):
        return _read_labelled_pair(raw)
    if isinstance(raw, list):
        return _pair_of(raw)
    if not isinstance(raw, dict) or depth == 0:
        return None
    for names in _PAIR_FIELDS:
        if all(name in raw for name in names):
            return _pair_of([raw[name] for name in names])
    inner = next((raw[name] for name in (*_PAIR_LISTS, *_EXCHANGE_FIELDS) if raw.get(name) is not None), None)
    return read_pair(inner, depth - 1)


def read_entry(raw: Any, depth: int = _MAX_DEPTH) -> DatedEntry | None:
    """One entry, with the day that it was written if that can be read; failing that, the user's message."""
    if isinstance(raw, str):
        return DatedEntry(entry=raw)
    if not isinstance(raw, dict) or depth == 0:
        return None
    written = _read_day(_field(raw, _DATE_FIELDS))
    value = _field(raw, _ENTRY_FIELDS)
    if isinstance(value, dict):
        inner = read_entry(value, depth - 1)
        return DatedEntry(entry=inner.entry, written=inner.written or written) if inner else None
    if isinstance(value, str):
        return DatedEntry(entry=value, written=written)
    exchange = read_exchange(raw)
    return DatedEntry(entry=exchange.user, written=written) if exchange else None


def _field(raw: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The value under the first of the names that has one."""
    return next((raw[name] for name in names if raw.get(name) is not None), None)


# -- exchanges ------------------------------------------------------------------------------------------------------


def _read_transcript(text: str) -> State | None:
    """Turns after "User:" and "Assistant:" at the start of a line; the first one must start the text."""
    marks = list(_SPEAKER.finditer(text))
    if not marks or text[: marks[0].start()].strip():
        return None
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    turns = [(_ROLES[mark[1].lower()], text[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)]
    return _last_turn(turns)


def _read_messages(raw: Sequence[Any]) -> list[tuple[str, str]]:
    """Role and text of each message that has both."""
    read = ((entry.get("role"), _read_content(entry.get("content"))) for entry in raw if isinstance(entry, dict))
    return [(_ROLES[role], text) for role, text in read if isinstance(role, str) and role in _ROLES and text]


def _read_content(raw: Any) -> str:
    """A text, or the text parts of a list of parts."""
    if isinstance(raw, str):
        return raw
    parts = [part.get("text") for part in raw if isinstance(part, dict)] if isinstance(raw, list) else []
    return "\n".join(part for part in parts if isinstance(part, str))


def _last_turn(turns: Sequence[tuple[str, str]]) -> State | None:
    """The last message of the user, the reply after it and the reply before it."""
    at = max((place for place, (role, _) in enumerate(turns) if role == _USER), default=None)
    if at is None:
        return None
    before = [text for role, text in turns[:at] if role == _ASSISTANT]
    after = [text for _, text in turns[at + 1 :]]
    return State(
        user=turns[at][1], assistant="\n".join(after) or None, previous_assistant=before[-1] if before else None
    )


# -- entries --------------------------------------------------------------------------------------------------------


def _pair_of(raw: Sequence[Any]) -> EntryPair | None:
    texts = [_read_text(entry) for entry in raw]
    if len(texts) != 2 or texts[0] is None or texts[1] is None:
        return None
    return EntryPair(a=texts[0], b=texts[1])


def _read_text(raw: Any) -> str | None:
    """An entry's text, bare or in an object."""
    value = _field(raw, _ENTRY_FIELDS) if isinstance(raw, dict) else raw
    return value if isinstance(value, str) else None


def _read_labelled_pair(text: str) -> EntryPair | None:
    """Entries after "a:" and "b:" at the start of lines, or after "Memory a:" and "Memory b:" anywhere."""
    first = _FIRST.match(text)
    second = _SECOND.search(text, first.end()) if first else None
    if not first or not second:
        return None
    return EntryPair(a=text[first.end() : second.start()].strip(), b=text[second.end() :].strip())


def _read_day(raw: Any) -> str | None:
    """`YYYY-MM-DD` of an ISO date or of a time in milliseconds or seconds; None if it is none."""
    try:
        if isinstance(raw, str):
            return datetime.fromisoformat(raw.strip()).date().isoformat()
        if isinstance(raw, int | float) and not isinstance(raw, bool):
            moment_s = raw / 1000 if abs(raw) >= _LEAST_MS else raw
            return datetime.fromtimestamp(moment_s, tz=UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        pass
    return None
