"""`calibration.jsonl`: one line for each judged state, with the model's raw logits and what the person made of it.

Writer and reader stand side by side. A row holds the state with every secret redacted; its key is a hash of that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from clew.core.decisions import Decision, LogitsSource, Question
from clew.core.errors import InvalidInput
from clew.core.records import State
from clew.core.secrets import redact
from clew.decide.calibration.rows import MAX_OPTIONS, CalibrationRow, RowKind, is_logit, read_logits
from clew.decide.evaluation.json_lines import Line, refuse, shown

LOG_NAME = "calibration.jsonl"
VERSION = 1
LoggedOutcome = Literal["approved", "discarded", "filtered", "vetoed", "dropped", "auto_saved", "observed"]
LabelSource = Literal["confirm", "auto", "import", "edit"]
#: A yes/no question has these options, in this order.
BOOLEAN_ORDER = ("false", "true")
_KINDS: Mapping[str, RowKind] = {"noul": "boolean", "choice": "choice", "score": "score"}

NO_LABEL = "the person has not said what is right"
NO_LOGITS = "the model shows no logits"
LOG_PROBABILITIES = "probabilities stand in for logits"
NO_FINGERPRINT = "the model's fingerprint is not known"
UNKNOWN_OPTION = "the label is none of the options"
TOO_WIDE = f"more than {MAX_OPTIONS} options"


def log_row(
    *,
    decision: Decision,
    questions: Mapping[str, Question],
    state: State,
    outcome: LoggedOutcome,
    reason: str,
    timestamp_ms: int,
    session_id: str,
    entry_id: str,
    scores: Mapping[str, float],
    thresholds: Mapping[str, float],
    temperatures: Mapping[str, float] | None = None,
    label: Mapping[str, bool | int | str] | None = None,
    label_source: LabelSource | None = None,
) -> str:
    """One line of the log, without its line break. Pure: the caller appends it.

    A file that does not end with a line break was cut by a kill; begin with one then, and the reader counts the torn
    line and goes on.

    Args:
        questions: those that were asked; they give the type and the order of the options.
        state: redacted once more here.
        reason: a short phrase of ours, never text of the person.
        temperatures: what the model's logits were divided by, by type; None is 1 throughout.
        label: question → right answer: true or false, an option, a level. Only what the person's choice determines.

    Raises:
        InvalidInput: logits or a label do not fit their question.
    """
    shown_state = _redact(state)
    row = {
        "v": VERSION,
        "ts": timestamp_ms,
        "session": session_id,
        "entry_id": entry_id,
        "state": shown_state,
        "state_sha256": _hash(shown_state),
        "outcome": outcome,
        "reason": reason,
        "scores": dict(scores),
        "questions": {id_: _logged(questions, id_, logits) for id_, logits in decision.logits.items()},
        "logits_source": decision.logits_source,
        "temperature": dict(temperatures or {}),
        "fingerprint": decision.fingerprint,
        "model_id": decision.model,
        "thresholds": dict(thresholds),
        "label": {id_: _check_label(questions, id_, answer) for id_, answer in label.items()} if label else None,
        "label_source": label_source,
    }
    try:
        return (
            json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            .encode("utf-8", "replace")
            .decode()
        )
    except ValueError as error:
        raise InvalidInput("A score of a decision is not a finite number.", "This is a mistake in Clew.") from error


def _redact(state: State) -> dict[str, str | None]:
    return {name: redact(text).text if text else text for name, text in state.as_json().items()}


def _hash(state: Mapping[str, str | None]) -> str:
    canonical = json.dumps(state, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "replace")).hexdigest()


def _order(questions: Mapping[str, Question], id_: str) -> tuple[RowKind, tuple[str, ...]]:
    question = questions.get(id_)
    if question is None:
        raise InvalidInput(f'"{shown(id_)}" was not asked.', "Hand in the questionnaire of this decision.")
    kind = _KINDS[question.type]
    return kind, BOOLEAN_ORDER if kind == "boolean" else tuple(question.criteria)


def _logged(questions: Mapping[str, Question], id_: str, logits: tuple[float, ...]) -> dict[str, Any]:
    kind, order = _order(questions, id_)
    if len(logits) != len(order) or not all(is_logit(logit) for logit in logits):
        raise InvalidInput(
            f'The logits of "{shown(id_)}" are not one finite number for each of its {len(order)} options.',
            "Hand in the decision as the model gave it.",
        )
    return {"type": kind, "order": list(order), "logits": [float(logit) for logit in logits]}


def _check_label(questions: Mapping[str, Question], id_: str, answer: bool | int | str) -> str:  # noqa: FBT001 - a label
    order, option = _order(questions, id_)[1], _option(answer)
    if option not in order:
        raise InvalidInput(f'"{shown(id_)}" has no option "{shown(option)}".', "Label it with one of its options.")
    return option


def _option(answer: bool | int | str) -> str:  # noqa: FBT001 - a label
    return str(answer).lower() if isinstance(answer, bool) else str(answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedState:
    """One line of the log, as far as calibration needs it.

    Attributes:
        rows: one for each labelled question that can be used.
        unusable: why labels, or the line as a whole, cannot be used; each entry counts once.
    """

    fingerprint: str | None
    rows: tuple[CalibrationRow, ...]
    unusable: tuple[str, ...] = ()


def read_log_row(line: Line, raw: Mapping[str, Any]) -> LoggedState:
    """One line of the log. Raises InvalidInput when it is not what `log_row` writes."""
    if raw.get("v") != VERSION or isinstance(raw["v"], bool):
        refuse(
            line,
            f"it is no row of a calibration log of version {VERSION}.",
            "Name calibration.jsonl, or rows of Rizzo Flow.",
        )
    source, fingerprint, label = raw.get("logits_source"), raw.get("fingerprint"), raw.get("label")
    if not isinstance(source, str) or source not in get_args(LogitsSource):
        refuse(line, f"logits_source is {shown(source)}.", 'It is "native", "log_prob" or "none".')
    if fingerprint is not None and not isinstance(fingerprint, str):
        refuse(line, "the fingerprint is not a text.", "It is the sha256 that the model's server names.")
    if label is not None and not isinstance(label, dict):
        refuse(line, "the label is not an object.", "It maps questions to their right answers, or is null.")
    asked = _read_questions(line, raw.get("questions"))
    obstacle = _obstacle(source, fingerprint, label)
    if obstacle:
        return LoggedState(fingerprint=fingerprint, rows=(), unusable=(obstacle,))
    found = list(_read_labels(line, asked, label or {}, _state_key(line, raw)))
    return LoggedState(
        fingerprint=fingerprint,
        rows=tuple(one for one in found if isinstance(one, CalibrationRow)),
        unusable=tuple(one for one in found if isinstance(one, str)),
    )


def _obstacle(source: str, fingerprint: str | None, label: Mapping[str, Any] | None) -> str | None:
    if not label:
        return NO_LABEL
    if source != "native":
        return LOG_PROBABILITIES if source == "log_prob" else NO_LOGITS
    return None if fingerprint else NO_FINGERPRINT


def _state_key(line: Line, raw: Mapping[str, Any]) -> str:
    key = raw.get("state_sha256")
    if not isinstance(key, str) or not key:
        refuse(
            line, "it has no state_sha256.", "Without it rows of one state cannot be kept together: remove the line."
        )
    return key


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    kind: RowKind
    order: tuple[str, ...]
    logits: tuple[float, ...]


def _read_questions(line: Line, raw: Any) -> dict[str, _Asked]:
    if not isinstance(raw, dict):
        refuse(line, "the questions are not an object.", "It maps ids to type, order and logits.")
    return {id_: _read_question(line, id_, asked) for id_, asked in raw.items()}


def _read_question(line: Line, id_: str, raw: Any) -> _Asked:
    kind, order = (raw.get("type"), raw.get("order")) if isinstance(raw, dict) else (None, None)
    if kind not in _KINDS.values():
        refuse(line, f'the type of "{shown(id_)}" is {shown(kind)}.', 'It is "boolean", "choice" or "score".')
    if not isinstance(order, list) or not all(isinstance(name, str) for name in order) or len(set(order)) != len(order):
        refuse(line, f'the order of "{shown(id_)}" is not a list of its options.', "Each option stands in it once.")
    logits = read_logits(line, raw.get("logits"))
    if len(logits) != len(order) or len(order) < 2:
        refuse(line, f'"{shown(id_)}" has {len(order)} options and {len(logits)} logits.', "Each option has a logit.")
    if kind == "boolean" and tuple(order) != BOOLEAN_ORDER:
        refuse(line, f'"{shown(id_)}" does not list "false" and then "true".', "A boolean has this order.")
    return _Asked(kind=cast("RowKind", kind), order=tuple(order), logits=logits)


def _read_labels(
    line: Line, asked: Mapping[str, _Asked], label: Mapping[str, Any], state_key: str
) -> Iterator[CalibrationRow | str]:
    for id_, answer in label.items():
        question = asked.get(id_)
        if not isinstance(answer, bool | int | str):
            refuse(line, f'the label of "{shown(id_)}" is {shown(answer)}.', "It is one of the question's options.")
        if question is None:
            yield NO_LOGITS
        elif _option(answer) not in question.order:
            yield UNKNOWN_OPTION
        elif len(question.order) > MAX_OPTIONS:
            yield TOO_WIDE
        else:
            yield CalibrationRow(
                kind=question.kind,
                logits=question.logits,
                label_index=question.order.index(_option(answer)),
                state_key=state_key,
                question=id_,
            )
