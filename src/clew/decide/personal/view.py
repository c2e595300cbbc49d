"""Learning as a person or a program reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from clew.decide.calibration.fit import short
from clew.decide.evaluation.json_lines import shown
from clew.decide.evaluation.table import render_table, show_number
from clew.decide.personal.learning import MARGIN, MIN_ANSWERS, MIN_FOR_WEIGHTS, MIN_OF_EACH, Gain, Lesson, Stage
from clew.decide.personal.versions import PersonalFile, Version

_STAGE_NAMES: Mapping[Stage, str] = {"scale": "slope and bias", "weights": "slope, bias and feature weights"}


def render_lesson(lesson: Lesson, *, is_written: bool) -> str:
    """What came of learning, as text."""
    return "\n".join(_lesson_lines(lesson, is_written=is_written))


def _lesson_lines(lesson: Lesson, *, is_written: bool) -> Iterator[str]:
    yield from render_answers(lesson.answers)
    yield ""
    if not lesson.trials:
        yield "Nothing was learned: no head has enough answers. The judge stays as it is."
        return
    yield f"Log-loss on the last {lesson.held_out} states, each predicted by what came before ({', '.join(lesson.heads)}):"
    yield from render_table(("", "log-loss", "better than shipped", "than the one in force"), list(_trial_rows(lesson)))
    yield ""
    if lesson.accepted is None:
        yield f"Nothing was changed: a gain must exceed {MARGIN:g} standard errors (±), so as not to be chance."
    elif is_written:
        yield f"In force now: {_STAGE_NAMES[lesson.accepted.stage]}. `clew judge learn --undo` takes it back."
    else:
        yield f"Good enough: {_STAGE_NAMES[lesson.accepted.stage]}. Nothing was written (--dry-run)."


def render_answers(answers: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """How many answers each head has, and how many are missing."""
    rows = [(head, str(no + yes), str(no), str(yes), _explain_need(no, yes)) for head, (no, yes) in answers.items()]
    yield from render_table(("answers", "all", "no", "yes", ""), rows)


def _explain_need(no: int, yes: int) -> str:
    if no + yes < MIN_ANSWERS:
        return f"{MIN_ANSWERS} are needed"
    if min(no, yes) < MIN_OF_EACH:
        return f"{MIN_OF_EACH} of each are needed"
    return "" if no + yes >= MIN_FOR_WEIGHTS else f"weights from {MIN_FOR_WEIGHTS}"


def _trial_rows(lesson: Lesson) -> Iterator[tuple[str, ...]]:
    yield ("as shipped", show_number(lesson.shipped_loss, 3), "", "")
    if lesson.present_loss is not None:
        yield ("in force", show_number(lesson.present_loss, 3), "", "")
    for trial in lesson.trials:
        gains = (_show_gain(trial.over_shipped), _show_gain(trial.over_present))
        yield (_STAGE_NAMES[trial.stage], show_number(trial.loss, 3), *gains)


def _show_gain(gain: Gain | None) -> str:
    if gain is None:
        return ""
    return f"{gain.mean:+.3f} ± {gain.standard_error:.3f} {'yes' if gain.is_better else 'no'}"


def lesson_json(lesson: Lesson, left_out: Mapping[str, int], *, is_written: bool) -> dict[str, Any]:
    """What came of learning, as JSON."""
    return {
        "answers": {head: {"no": no, "yes": yes} for head, (no, yes) in lesson.answers.items()},
        "left_out": dict(left_out),
        "heads": list(lesson.heads),
        "held_out_states": lesson.held_out,
        "shipped_log_loss": lesson.shipped_loss,
        "present_log_loss": lesson.present_loss,
        "trials": [
            {
                "stage": trial.stage,
                "log_loss": trial.loss,
                "over_shipped": _gain_json(trial.over_shipped),
                "over_present": _gain_json(trial.over_present),
                "is_accepted": trial.is_accepted,
            }
            for trial in lesson.trials
        ],
        "accepted": lesson.accepted.stage if lesson.accepted else None,
        "fingerprint": lesson.adjustment.fingerprint if lesson.adjustment else None,
        "is_written": is_written,
    }


def _gain_json(gain: Gain | None) -> dict[str, Any] | None:
    return None if gain is None else {"mean": gain.mean, "standard_error": gain.standard_error}


def make_facts(lesson: Lesson, *, states: int, learned_at_ms: int) -> dict[str, Any]:
    """What a version remembers of its making."""
    return {
        "learned_at_ms": learned_at_ms,
        "stage": lesson.accepted.stage if lesson.accepted else None,
        "states": states,
        "held_out_states": lesson.held_out,
        "shipped_log_loss": lesson.shipped_loss,
        "log_loss": lesson.accepted.loss if lesson.accepted else None,
    }


def render_file(file: PersonalFile) -> Iterator[str]:
    """Which judge is in force, and what `--undo` would bring back."""
    yield f"Shipped judge: {short(file.base_fingerprint)}"
    if file.present is None:
        yield "In force: the judge as shipped"
        return
    yield f"In force: {describe_version(file.present)}"
    for version in reversed(file.versions[:-1]):
        yield f"Before: {describe_version(version)}"
    yield "Before: the judge as shipped" if len(file.versions) == 1 else "First of all: the judge as shipped"


def describe_version(version: Version | None) -> str:
    """One version in a line. Its facts come from a file and may be anything."""
    if version is None:
        return "the judge as shipped"
    facts = version.facts
    stage = _STAGE_NAMES.get(facts.get("stage", ""), "") if isinstance(facts.get("stage"), str) else ""
    losses = [show_number(loss if isinstance(loss, float) else None, 3) for loss in _losses(facts)]
    return (
        f"{short(version.adjustment.fingerprint)}, {stage or '?'} of {', '.join(version.adjustment.heads)};"
        f" learned {_show_day(facts.get('learned_at_ms'))} from {shown(facts.get('states'), 12)} states,"
        f" log-loss {losses[0]} → {losses[1]}"
    )


def _losses(facts: Mapping[str, Any]) -> tuple[Any, Any]:
    return facts.get("shipped_log_loss"), facts.get("log_loss")


def _show_day(milliseconds: Any) -> str:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d")
    except (TypeError, ValueError, OverflowError, OSError):
        return "?"


def file_json(file: PersonalFile, answers: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    """The state of things as JSON; versions newest first."""
    return {
        "path": str(file.path),
        "base_fingerprint": file.base_fingerprint,
        "problem": file.problem,
        "answers": {head: {"no": no, "yes": yes} for head, (no, yes) in answers.items()},
        "versions": [
            {"fingerprint": one.adjustment.fingerprint, "heads": list(one.adjustment.heads), "facts": dict(one.facts)}
            for one in reversed(file.versions)
        ],
    }
