"""Labelled logits, the rows that a temperature is fitted on, in the format that Rizzo Flow reads and writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from clew.decide.evaluation.json_lines import Line, refuse, shown

RowKind = Literal["boolean", "choice", "score", "numeric"]
KINDS: tuple[RowKind, ...] = ("boolean", "choice", "score", "numeric")
MIN_OPTIONS, MAX_OPTIONS = 2, 26
#: A logit beyond this is a broken number, not a strong opinion.
MAX_LOGIT = 1e9
_RIZZO_FIELDS = frozenset({"type", "logits", "label_index"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationRow:
    """What a model said to one question, and which answer was right.

    Attributes:
        logits: one for each option, in the question's order (boolean: false, true), before any temperature.
        label_index: the right option.
        state_key: equal for rows of the same state; None where the format does not tell.
        question: id of the question; None where the format does not tell.
    """

    kind: RowKind
    logits: tuple[float, ...]
    label_index: int
    state_key: str | None = None
    question: str | None = None

    def as_rizzo(self) -> dict[str, Any]:
        """The row as Rizzo Flow has it."""
        return {"type": self.kind, "logits": list(self.logits), "label_index": self.label_index}


def encode_rows(rows: Iterable[CalibrationRow]) -> str:
    """Rows as JSON lines for Rizzo Flow."""
    return "".join(json.dumps(row.as_rizzo()) + "\n" for row in rows)


def is_rizzo_row(raw: Mapping[str, Any]) -> bool:
    """Whether an object is meant as a row of Rizzo Flow and not as one of Clew's log."""
    return "label_index" in raw or "logits" in raw


def read_rizzo_row(line: Line, raw: Mapping[str, Any]) -> CalibrationRow:
    """One row of Rizzo Flow. Raises InvalidInput."""
    if set(raw) != _RIZZO_FIELDS:
        odd = ", ".join(sorted(shown(name) for name in set(raw) ^ _RIZZO_FIELDS)[:5])
        refuse(line, f"a row has exactly type, logits and label_index ({odd}).", "Add or remove what is named.")
    if raw["type"] not in KINDS:
        refuse(line, f"the type is {shown(raw['type'])}.", f"Use one of {', '.join(KINDS)}.")
    logits = read_logits(line, raw["logits"])
    if not MIN_OPTIONS <= len(logits) <= MAX_OPTIONS:
        refuse(line, f"it has {len(logits)} logits.", f"A row takes {MIN_OPTIONS} to {MAX_OPTIONS}.")
    label = raw["label_index"]
    if isinstance(label, bool) or not isinstance(label, int) or not 0 <= label < len(logits):
        refuse(line, f"label_index is {shown(label)}.", f"Write a whole number from 0 to {len(logits) - 1}.")
    return CalibrationRow(kind=cast("RowKind", raw["type"]), logits=logits, label_index=label)


def read_logits(line: Line, raw: Any) -> tuple[float, ...]:
    """Logits as they stand (whole numbers stay whole, so that a hash of the rows is anybody's). Raises InvalidInput."""
    if not isinstance(raw, list):
        refuse(line, "the logits are not a list.", "Write one number for each option.")
    if not all(is_logit(value) for value in raw):
        refuse(line, "a logit is not a finite number.", "Write numbers between -1e9 and 1e9.")
    return tuple(raw)


def is_logit(value: Any) -> bool:
    """Whether a value can be a logit: a number, finite and of a sane size."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -MAX_LOGIT < value < MAX_LOGIT
