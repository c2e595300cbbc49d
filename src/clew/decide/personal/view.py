"""Learning as a person or a program reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from clew.decide.calibration.fit import short
from clew.decide.evaluation.json_lines import shown
from clew.decide.evaluation.table import render_table, show_number
from clew.decide.personal.learning import (
    MARGIN,
    MIN_ANSWERS,
    MIN_FOR_WEIGHTS,
    MIN_OF_EACH,
    Gain,
    HeadLesson,
    Lesson,
    Stage,
)
from clew.decide.personal.versions import PersonalFile, Version

_STAGE_NAMES: Mapping[Stage, str] = {"scale": "slope and bias", "weights": "with feature weights"}


def render_lesson(lesson: Lesson, *, is_written: bool) -> str:
    """What came of learning, as text."""
    return "\n".join(_lesson_lines(lesson, is_written=is_written))


def _lesson_lines(lesson: Lesson, *, is_written: bool) -> Iterator[str]:
    yield from render_answers({one.head: (one.no, one.yes) for one in lesson.heads})
    yield ""
    tried = [one for one in lesson.heads if one.trials]
    if not tried:
        yield "Nothing was learned: no head has enough answers. The judge stays as it is."
        return
    yield "Log-loss on the last fifth of the answers, each predicted by what came before:"
    yield from render_table(
        ("", "answers", "log-loss", "gain on shipped", "on the one in force"),
        [row for one in tried for row in _trial_rows(one)],
    )
    yield ""
    yield _conclude(lesson, is_written=is_written)


def _conclude(lesson: Lesson, *, is_written: bool) -> str:
    if lesson.adjustment is None:
        return f"Nothing was changed: to count as more than chance, a gain must exceed {MARGIN:g} standard errors (±)."
    learned = ", ".join(f"{one.head} ({_STAGE_NAMES[one.accepted.stage]})" for one in lesson.heads if one.accepted)
    if not is_written:
        return f"Good enough: {learned}. Nothing was written (--dry-run)."
    return f"Learned: {learned}. `clew judge learn --undo` takes it back."


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


def _trial_rows(lesson: HeadLesson) -> Iterator[tuple[str, ...]]:
    yield (f"{lesson.head}, shipped", str(lesson.held_out), show_number(lesson.shipped_loss, 3), "", "")
    if lesson.present_loss is not None:
        yield ("  in force", "", show_number(lesson.present_loss, 3), "", "")
    for trial in lesson.trials:
        gains = (_show_gain(trial.over_shipped), _show_gain(trial.over_present))
        yield (f"  {_STAGE_NAMES[trial.stage]}", "", show_number(trial.loss, 3), *gains)


def _show_gain(gain: Gain | None) -> str:
    if gain is None:
        return ""
    return f"{gain.mean:+.3f} ± {gain.standard_error:.3f} {'yes' if gain.is_better else ' no'}"


def lesson_json(lesson: Lesson, left_out: Mapping[str, int], *, is_written: bool) -> dict[str, Any]:
    """What came of learning, as JSON."""
    return {
        "heads": [_head_json(one) for one in lesson.heads],
        "left_out": dict(left_out),
        "fingerprint": lesson.adjustment.fingerprint if lesson.adjustment else None,
        "is_written": is_written,
    }


def _head_json(lesson: HeadLesson) -> dict[str, Any]:
    """All figures; the weights stand in the file."""
    found = asdict(lesson) | {"accepted": lesson.accepted.stage if lesson.accepted else None}
    del found["adjustment"]
    return found


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
    heads = [
        f"{head} ({_STAGE_NAMES['weights' if one.weights else 'scale']})"
        for head, one in version.adjustment.heads.items()
    ]
    day, states = _show_day(version.facts.get("learned_at_ms")), shown(version.facts.get("states"), 12)
    return f"{short(version.adjustment.fingerprint)}, learned {day} from {states} states: {', '.join(heads)}"


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
