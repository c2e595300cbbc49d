"""Labelled rows: states, pairs of memories and dated memories, told apart by their fields."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from clew.core.records import GATE_CATEGORIES, DatedEntry, EntryPair, Judged, State
from clew.decide.evaluation.json_lines import Line, read_lines, refuse, require_object, shown
from clew.decide.evaluation.placeholders import fill_placeholders, seeded

RowsKind = Literal["states", "pairs", "relevance"]
TARGETS: tuple[str, ...] = (*GATE_CATEGORIES, "none")
TOP_LEVEL = 4
_YES_NO: Mapping[RowsKind, tuple[str, ...]] = {
    "states": ("is_durable", "has_secret", "is_session_scoped", "is_failure", "should_save"),
    "pairs": ("same_fact", "replaces", "adds_detail"),
    "relevance": ("still_relevant",),
}
_MARKS: Mapping[str, RowsKind] = {"user": "states", "a": "pairs", "text": "relevance"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRow:
    """Something to be judged, and the right answers.

    Attributes:
        source: name of the file, without its ending.
        topic: rows of one topic say much the same; a row without one is a topic of its own.
        subkind: what a pair was written to show (`paraphrase`, `update`, …); empty where nothing is said.
        yes: question → right answer of the yes/no questions; for states also `should_save`.
        importance: level from 0 to 4 (states).
        target: category (states).
    """

    judged: Judged
    id: str
    source: str
    lang: str
    topic: str
    is_test: bool
    subkind: str
    yes: Mapping[str, bool]
    importance: int = 0
    target: str = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledFile:
    """The rows of one file; all are of one kind."""

    path: Path
    kind: RowsKind
    rows: tuple[LabelledRow, ...]


def read_labelled(path: Path) -> LabelledFile:
    """Read a file of labelled rows. Placeholders such as `{{ghp}}` become made-up values, the same ones every time.

    Raises:
        InvalidInput: it cannot be read, holds no rows, or a row is not complete; with file, line and mend.
    """
    kind: RowsKind | None = None
    rows: list[LabelledRow] = []
    for line in read_lines(path):
        raw = require_object(line)
        found = _kind_of(line, raw)
        if kind not in (None, found):
            refuse(line, f"it is a row of {found} in a file of {kind}.", "Put each kind into a file of its own.")
        kind = found
        rows.append(_read_row(line, raw, kind))
    if kind is None:
        from clew.core.errors import InvalidInput

        raise InvalidInput(f"{path} holds no rows.", "Name a file of labelled states, pairs or dated memories.")
    return LabelledFile(path=path, kind=kind, rows=tuple(rows))


def _kind_of(line: Line, raw: Mapping[str, Any]) -> RowsKind:
    found = {kind for mark, kind in _MARKS.items() if mark in raw}
    if len(found) != 1:
        refuse(
            line,
            "it is not clear what it is.",
            'A state has "user", a pair has "a" and "b", a dated memory has "text" and "written".',
        )
    return found.pop()


def _read_row(line: Line, raw: Mapping[str, Any], kind: RowsKind) -> LabelledRow:
    labels = raw.get("labels")
    if not isinstance(labels, dict):
        refuse(line, "it has no labels.", 'Write "labels": {question: right answer, …}.')
    source = _without_surrogates(line.path.stem)
    id_ = _text(line, raw, "id", default=f"line {line.number}")
    return LabelledRow(
        judged=_READERS[kind](line, raw, seeded(source, id_)),
        id=id_,
        source=source,
        lang=_text(line, raw, "lang", default="?"),
        topic=f"{source} {_text(line, raw, 'topic', default=f'line {line.number}')}",
        is_test=raw.get("split") == "test",
        subkind=_text(line, raw, "kind", default=""),
        yes={name: _yes(line, labels, name) for name in _YES_NO[kind]},
        importance=_level(line, labels) if kind == "states" else 0,
        target=_target(line, labels) if kind == "states" else "none",
    )


def _read_state(line: Line, raw: Mapping[str, Any], chance: random.Random) -> State:
    return State(
        user=fill_placeholders(_text(line, raw, "user"), chance),
        assistant=_fill(_optional(line, raw, "assistant"), chance),
        previous_assistant=_fill(_optional(line, raw, "previous_assistant"), chance),
        project=_optional(line, raw, "project"),
    )


def _read_pair(line: Line, raw: Mapping[str, Any], chance: random.Random) -> EntryPair:
    return EntryPair(
        a=fill_placeholders(_text(line, raw, "a"), chance), b=fill_placeholders(_text(line, raw, "b"), chance)
    )


def _read_entry(line: Line, raw: Mapping[str, Any], chance: random.Random) -> DatedEntry:
    return DatedEntry(
        entry=fill_placeholders(_text(line, raw, "text"), chance), written=_optional(line, raw, "written")
    )


_READERS: Mapping[RowsKind, Callable[[Line, Mapping[str, Any], random.Random], Judged]] = {
    "states": _read_state,
    "pairs": _read_pair,
    "relevance": _read_entry,
}


def _fill(text: str | None, chance: random.Random) -> str | None:
    return None if text is None else fill_placeholders(text, chance)


def _text(line: Line, raw: Mapping[str, Any], field: str, *, default: str | None = None) -> str:
    found = raw.get(field)
    if found is None and default is not None:
        return default
    if not isinstance(found, str):
        refuse(line, f'"{field}" is not a text.', f'Write "{field}": "…".')
    return _without_surrogates(found)


def _without_surrogates(text: str) -> str:
    """JSON and names of files can hold halves of characters, which nothing can write or hash."""
    return text.encode("utf-8", "replace").decode()


def _optional(line: Line, raw: Mapping[str, Any], field: str) -> str | None:
    return None if raw.get(field) is None else _text(line, raw, field)


def _yes(line: Line, labels: Mapping[str, Any], name: str) -> bool:
    found = labels.get(name)
    if not isinstance(found, bool):
        refuse(line, f'the label "{name}" is {shown(found)}.', "Write true or false.")
    return found


def _level(line: Line, labels: Mapping[str, Any]) -> int:
    found = labels.get("importance")
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= TOP_LEVEL:
        refuse(line, f'the label "importance" is {shown(found)}.', f"Write a whole number from 0 to {TOP_LEVEL}.")
    return found


def _target(line: Line, labels: Mapping[str, Any]) -> str:
    found = labels.get("target")
    if found not in TARGETS:
        refuse(line, f'the label "target" is {shown(found)}.', f"Write one of {', '.join(TARGETS)}.")
    return str(found)


def select_rows(files: Sequence[LabelledFile], kind: RowsKind) -> list[LabelledRow]:
    """The rows of one kind, in the order of the files."""
    return [row for file in files if file.kind == kind for row in file.rows]
