"""From the log to a lesson: what is read, what is never learned from, and what is let in."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clew.core.decisions import Decision
from clew.core.errors import InvalidInput
from clew.core.records import State
from clew.decide.calibration.log import NO_LABEL, log_row
from clew.decide.calibration.sources import OTHER_FINGERPRINT, TORN
from clew.decide.lexical.model import COLUMN
from clew.decide.personal import answers as answers_module
from clew.decide.personal.adjustment import LEARNED_HEADS, Adjustment, HeadAdjustment
from clew.decide.personal.answers import (
    ANSWERED_AGAIN,
    NEAR_SECRET,
    NO_TEXT,
    TOO_OLD,
    AnsweredState,
    Answers,
    read_answers,
)
from clew.decide.personal.fitting import fit_scale
from clew.decide.personal.learning import Gain, HeadLesson, count_answers, is_ready, learn, measure_gain
from clew.decide.personal.scoring import score_state
from clew.decide.questionnaire import load_questionnaire

BASE = "b" * 64
QUESTIONS = load_questionnaire(None)
TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"
THINGS = ["branch", "cache", "build", "linter", "parser", "header", "footer", "table", "index", "queue"]
SAYINGS = (
    "from now on always run the {} check before you commit",
    "can you fix the {} please, it is red again",
    "we keep the {} in its own package, that was decided for good",
    "why does the {} look empty?",
    "thanks, the {} works now",
    "I prefer short names in the {}",
)


def row(user: str = "we deploy on Fridays", *, at: int = 1, **more: Any) -> str:
    fingerprint = more.pop("fingerprint", BASE)
    decision = Decision(
        answers={}, model="m", logits={"is_durable": (0.0, 1.0)}, logits_source="native", fingerprint=fingerprint
    )
    given: dict[str, Any] = {
        "outcome": "approved", "reason": "durable .80", "label": {"is_durable": True, "target": "project"},
        "session_id": "s", "entry_id": "e", "scores": {}, "thresholds": {},
    }  # fmt: skip
    return log_row(decision=decision, questions=QUESTIONS, state=State(user=user), timestamp_ms=at, **given | more)


def read(tmp_path: Path, *lines: str | dict[str, Any]) -> Answers:
    path = tmp_path / "calibration.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return read_answers([path], {BASE, "personal"})


@pytest.mark.parametrize(
    ("outcome", "label", "expected"),
    [
        ("approved", {"is_durable": True, "is_session_scoped": False, "target": "user"},
         {"is_durable": True, "is_session_scoped": False, "save": True}),
        ("approved", {"is_durable": True}, {"is_durable": True, "save": True}),
        ("discarded", {"target": "none"}, {"save": False}),
        ("discarded", {"is_durable": False}, {"is_durable": False, "save": False}),
        ("discarded", {"is_session_scoped": True}, {"is_session_scoped": True, "save": False}),
        ("observed", {"is_failure": True, "target": "failure"}, {"is_failure": True, "save": True}),
        ("observed", {"is_durable": True}, {"is_durable": True}),
        ("approved", {"is_durable": False, "target": "none"}, {"is_durable": False}),
    ],
)  # fmt: skip
def test_a_choice_teaches_what_it_determines_and_no_more(
    tmp_path: Path, outcome: Any, label: Any, expected: Any
) -> None:
    (found,) = read(tmp_path, row(outcome=outcome, label=label)).states
    assert found.answers == expected


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (row(label=None), NO_LABEL),
        (row(label={"importance": 3}, outcome="observed"), NO_LABEL),
        (row(outcome="vetoed", reason="secret 0.71"), NEAR_SECRET),
        (row(outcome="vetoed", reason="holds a github token"), NEAR_SECRET),
        (row(label={"has_secret": True, "is_durable": True}), NEAR_SECRET),
        (row(f"the token is {TOKEN}, and we deploy on Fridays"), NEAR_SECRET),
        (row().replace("we deploy on Fridays", f"the token is {TOKEN}"), NEAR_SECRET),
        (row(fingerprint="other"), OTHER_FINGERPRINT),
        (row(fingerprint=None), OTHER_FINGERPRINT),
        ({"type": "boolean", "logits": [0, 1], "label_index": 1}, NO_TEXT),
        (row()[:-20], TORN),
    ],
)
def test_what_cannot_be_learned_from_is_counted(tmp_path: Path, line: Any, reason: str) -> None:
    found = read(tmp_path, line)
    assert (found.states, found.left_out) == ((), {reason: 1})


def test_a_veto_for_something_temporary_may_teach(tmp_path: Path) -> None:
    line = row(outcome="vetoed", reason="temporary 0.85", label={"is_session_scoped": True})
    assert read(tmp_path, line).states[0].answers == {"is_session_scoped": True, "save": False}


def test_rows_of_a_personal_version_count_as_the_judges(tmp_path: Path) -> None:
    assert len(read(tmp_path, row(fingerprint="personal")).states) == 1


def test_states_come_in_order_of_time_and_the_last_word_on_each_counts(tmp_path: Path) -> None:
    no = {"target": "none"}
    found = read(
        tmp_path, row("b", at=5), row("a", at=9, outcome="discarded", label=no), row("a", at=2), row("c", at=1)
    )
    assert [(one.state.user, one.answers["save"]) for one in found.states] == [("c", True), ("b", True), ("a", False)]
    assert found.left_out == {ANSWERED_AGAIN: 1}


def test_only_the_newest_are_learned_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers_module, "MAX_STATES", 3)
    found = read(tmp_path, *(row(f"state {number}", at=number) for number in range(8)))
    assert [one.state.user for one in found.states] == ["state 5", "state 6", "state 7"]
    assert found.left_out == {TOO_OLD: 5}


@pytest.mark.parametrize(
    "change",
    [{"state": None}, {"state": {}}, {"state": {"user": 3}}, {"state": {"user": "a", "assistant": []}}, {"ts": "now"},
     {"ts": True}, {"v": 2}, {"label": [1]}, {"state_sha256": 3}],
)  # fmt: skip
def test_a_row_that_is_none_is_named_with_its_line(tmp_path: Path, change: Any) -> None:
    broken = json.dumps(json.loads(row()) | change)
    with pytest.raises(InvalidInput, match="line 2"):
        read(tmp_path, row(), broken)


# -- learning -------------------------------------------------------------------------------------------------------


def person(count: int, *, bias: float = 0.0, turned: bool = False, seed: int = 7) -> list[AnsweredState]:
    """Answers drawn from the shipped judge's own save logit, with this person's bias."""
    chance = random.Random(seed)
    found = []
    for number in range(count):
        state = State(user=SAYINGS[number % len(SAYINGS)].format(chance.choice(THINGS)) + f" ({number})")
        logit = float(score_state(state)[0][COLUMN["save"]])
        answer = bool(chance.random() < 1 / (1 + np.exp(-(logit * (-1 if turned else 1) + bias))))
        found.append(AnsweredState(state=state, answers={"save": answer}, timestamp_ms=number, key=str(number)))
    return found


def save_lesson(states: list[AnsweredState], present: Adjustment | None = None) -> HeadLesson:
    return next(one for one in learn(states, BASE, present).heads if one.head == "save")


def test_a_person_who_wants_more_is_learned_from() -> None:
    states = person(300, bias=4.0)
    lesson, adjustment = save_lesson(states), learn(states, BASE, None).adjustment
    assert lesson.accepted is not None
    assert lesson.held_out == 60
    assert lesson.accepted.loss < (lesson.shipped_loss or 0)
    assert lesson.accepted.loss == min(trial.loss for trial in lesson.trials if trial.is_accepted)
    assert adjustment is not None
    assert dict(adjustment.heads) == {"save": lesson.adjustment}
    logits, features = score_state(states[0].state)
    adjusted = adjustment.apply(logits, features)
    assert adjusted[COLUMN["save"]] > logits[COLUMN["save"]]
    assert adjusted[COLUMN["has_secret"]] == logits[COLUMN["has_secret"]]


def test_what_was_learned_does_not_get_in_twice() -> None:
    states = person(300, bias=4.0)
    present = learn(states, BASE, None).adjustment
    assert present is not None
    assert learn(states, BASE, present).adjustment is None
    again = save_lesson(states, present)
    assert again.present_loss is not None
    assert again.trials[0].over_shipped.is_better


def test_a_head_that_gained_nothing_stays_as_it_was() -> None:
    before = HeadAdjustment(slope=1.0, bias=-1.0)
    present = Adjustment(base_fingerprint=BASE, heads={"is_failure": before})
    adjustment = learn(person(300, bias=4.0), BASE, present).adjustment
    assert adjustment is not None
    assert adjustment.heads["is_failure"] == before
    assert set(adjustment.heads) == {"is_failure", "save"}


def test_learning_is_deterministic() -> None:
    states = person(200, bias=4.0)
    first, second = learn(states, BASE, None), learn(states, BASE, None)
    assert first == second
    assert first.adjustment is not None


def test_a_change_of_mind_in_the_last_fifth_keeps_out_what_the_rest_teaches() -> None:
    states, turned = person(300, bias=4.0), person(300, bias=-4.0)
    lesson = save_lesson([*states[:240], *turned[240:]])
    assert lesson.accepted is None
    assert all(trial.over_shipped.mean < 0 for trial in lesson.trials)


def test_a_block_is_never_predicted_by_itself() -> None:
    """The last answer may change its own loss, and nothing else."""
    states = person(60, bias=1.0)
    flipped = [*states[:-1], replace(states[-1], answers={"save": not states[-1].answers["save"]})]
    losses = [save_lesson(one).trials[0].loss * 12 for one in (states, flipped)]
    assert abs(losses[0] - losses[1]) == pytest.approx(abs(_forward_logit(states)), abs=1e-4)


def _forward_logit(states: list[AnsweredState]) -> float:
    """What the answers before the last one make of its logit; log-losses of yes and no differ by exactly this."""
    logits = np.array([score_state(one.state)[0][COLUMN["save"]] for one in states], float)
    found = fit_scale(logits[:-1], np.array([one.answers["save"] for one in states[:-1]]))
    return found.slope * float(logits[-1]) + found.bias


@pytest.mark.parametrize("said", [True, False])
def test_equal_answers_teach_nothing(said: bool) -> None:
    states = [
        AnsweredState(state=State(user=f"a {n}"), answers={"save": said}, timestamp_ms=n, key=str(n)) for n in range(90)
    ]
    lesson = save_lesson(states)
    assert (lesson.trials, lesson.adjustment) == ((), None)
    assert (lesson.no, lesson.yes) == ((0, 90) if said else (90, 0))


def test_contradicting_answers_to_one_wording_leave_finite_numbers() -> None:
    states = [
        AnsweredState(state=State(user="we use tabs"), answers={"save": n % 2 == 0}, timestamp_ms=n, key=str(n))
        for n in range(60)
    ]
    lesson = save_lesson(states)
    assert [trial.stage for trial in lesson.trials] == ["scale", "weights"]
    assert np.isfinite([trial.loss for trial in lesson.trials]).all()


def test_each_head_is_learned_from_its_own_answers() -> None:
    states = [
        replace(one, answers={**one.answers, **({"is_durable": True} if number < 30 else {})})
        for number, one in enumerate(person(60, bias=1.0))
    ]
    assert [one.head for one in learn(states, BASE, None).heads if one.trials] == ["save"]
    assert count_answers(states)["is_durable"] == (0, 30)


def test_weights_wait_for_fifty_answers() -> None:
    assert [trial.stage for trial in save_lesson(person(49, bias=1.0)).trials] == ["scale"]
    assert [trial.stage for trial in save_lesson(person(50, bias=1.0)).trials] == ["scale", "weights"]


def test_nothing_said_is_nothing_learned() -> None:
    lesson = learn([], BASE, None)
    assert lesson.adjustment is None
    assert [one.no + one.yes for one in lesson.heads] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("no", "yes", "expected"), [(0, 40, False), (2, 40, False), (3, 17, True), (3, 16, False), (10, 10, True)]
)
def test_a_head_needs_twenty_answers_and_both_kinds(no: int, yes: int, expected: bool) -> None:
    assert is_ready(no, yes) is expected


@pytest.mark.parametrize(
    ("differences", "expected"),
    [([0.1, 0.1, 0.1, 0.1], True), ([0.0, 0.0, 0.0], False), ([1.0, -0.9, 1.0, -0.9], False), ([0.5], False),
     ([-0.1, -0.1], False)],
)  # fmt: skip
def test_a_gain_must_stand_out_from_its_noise(differences: list[float], expected: bool) -> None:
    assert measure_gain(np.array(differences)).is_better is expected


def test_a_gain_of_nothing_is_none() -> None:
    assert not Gain(mean=0.0, standard_error=0.0).is_better


def test_secrets_are_never_learned() -> None:
    assert "has_secret" not in LEARNED_HEADS
