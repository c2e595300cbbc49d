"""A person's answers, out of `calibration.jsonl`: which states can be learned from, and what was right about each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew.core.records import State
from clew.core.secrets import find_secrets
from clew.decide.calibration.log import NO_LABEL, read_log_row
from clew.decide.calibration.rows import is_rizzo_row
from clew.decide.calibration.sources import OTHER_FINGERPRINT, TORN
from clew.decide.evaluation.json_lines import Line, NotJson, parse_object, read_lines, refuse
from clew.decide.personal.adjustment import LEARNED_HEADS

#: Only the newest are learned from: habits change, and the time that learning takes stays bounded.
MAX_STATES = 2_000

NEAR_SECRET = "a secret stood in it"  # noqa: S105 - a reason
NO_TEXT = "a row of Rizzo Flow, which holds no text"
ANSWERED_AGAIN = "the same state was answered again later"
TOO_OLD = f"older than the newest {MAX_STATES:,}"
_REDACTED_MARK = "[redacted:"
_TEMPORARY = "temporary"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredState:
    """A judged state and what the person's choice says about it.

    Attributes:
        answers: head (one of LEARNED_HEADS) → whether it should say yes; at least one.
        key: equal for equal states.
    """

    state: State
    answers: Mapping[str, bool]
    timestamp_ms: int
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What a log teaches.

    Attributes:
        states: oldest first.
        left_out: why other lines are not among them → how many.
    """

    states: tuple[AnsweredState, ...]
    left_out: Mapping[str, int]


def read_answers(paths: Iterable[Path], fingerprints: Collection[str]) -> Answers:
    """Read the states that can be learned from.

    Args:
        fingerprints: the shipped judge and its personal versions; what another model judged is left out.

    Raises:
        InvalidInput: a file cannot be read, or a line is neither torn nor a row of the log.
    """
    left_out: Counter[str] = Counter()
    found: list[AnsweredState] = []
    for path in paths:
        for line in read_lines(path):
            one = _read(line, fingerprints)
            if isinstance(one, AnsweredState):
                found.append(one)
            else:
                left_out[one] += 1
    found.sort(key=lambda one: one.timestamp_ms)
    return Answers(states=_keep_newest(found, left_out), left_out=dict(+left_out))


def _keep_newest(found: Sequence[AnsweredState], left_out: Counter[str]) -> tuple[AnsweredState, ...]:
    """The last answer to each state, newest states first until there are enough; returned oldest first."""
    kept: dict[str, AnsweredState] = {}
    for index, one in enumerate(reversed(found)):
        if len(kept) == MAX_STATES:
            left_out[TOO_OLD] += len(found) - index
            break
        if one.key in kept:
            left_out[ANSWERED_AGAIN] += 1
        elif _holds_value(one.state):
            left_out[NEAR_SECRET] += 1
        else:
            kept[one.key] = one
    return tuple(reversed(kept.values()))


def _read(line: Line, fingerprints: Collection[str]) -> AnsweredState | str:
    """The answered state on a line, or why there is none."""
    try:
        raw = parse_object(line)
    except NotJson as error:
        if error.is_cut:
            return TORN
        refuse(line, str(error), "Mend or remove the line.", cause=error)
    if is_rizzo_row(raw):
        return NO_TEXT
    logged = read_log_row(line, raw)
    label = {id_: str(answer).lower() for id_, answer in (raw.get("label") or {}).items()}
    if _concerns_a_secret(raw, label):
        return NEAR_SECRET
    answers = dict(_say(raw.get("outcome"), label))
    if not answers:
        return NO_LABEL
    if logged.fingerprint not in fingerprints:
        return OTHER_FINGERPRINT
    return AnsweredState(
        state=_read_state(line, raw),
        answers=answers,
        timestamp_ms=_read_timestamp(line, raw),
        key=str(raw.get("state_sha256")),
    )


def _concerns_a_secret(raw: Mapping[str, Any], label: Mapping[str, str]) -> bool:
    """Whether the row was vetoed for a secret, or the person says that there is one. A veto that is not said to be
    for something temporary counts as one for a secret."""
    is_vetoed = raw.get("outcome") == "vetoed" and not str(raw.get("reason")).startswith(_TEMPORARY)
    return is_vetoed or label.get("has_secret") == "true"


def _say(outcome: Any, label: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    for head in LEARNED_HEADS:
        answer = _is_worth_saving(outcome, label) if head == "save" else _as_bool(label.get(head))
        if answer is not None:
            yield head, answer


def _is_worth_saving(outcome: Any, label: Mapping[str, str]) -> bool | None:
    """What the save head should have said; None if the labels do not tell, or contradict the approval."""
    target = label.get("target")
    is_refused = target == "none" or label.get("is_durable") == "false" or label.get("is_session_scoped") == "true"
    is_approved = bool(label) and outcome == "approved"
    if is_refused:
        return None if is_approved else False
    return True if is_approved or target is not None else None


def _as_bool(label: str | None) -> bool | None:
    return {"true": True, "false": False}.get(label or "")


def _read_state(line: Line, raw: Mapping[str, Any]) -> State:
    found = raw.get("state")
    texts: dict[str, Any] = {name: found.get(name) for name in State.__slots__} if isinstance(found, dict) else {}
    if not isinstance(texts.get("user"), str) or not all(isinstance(text, str | None) for text in texts.values()):
        refuse(line, "its state is not made of texts.", 'A state has "user", and if known what stands around it.')
    return State(**texts)


def _read_timestamp(line: Line, raw: Mapping[str, Any]) -> int:
    found = raw.get("ts")
    if isinstance(found, bool) or not isinstance(found, int):
        refuse(line, "its ts is not a whole number.", "It is the time of the judgement in milliseconds.")
    return found


def _holds_value(state: State) -> bool:
    """Whether a value stands in the state, or stood there until it was redacted."""
    texts = [text for text in (state.user, state.assistant, state.previous_assistant, state.project) if text]
    return any(_REDACTED_MARK in text or find_secrets(text) for text in texts)
