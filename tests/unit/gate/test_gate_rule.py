from __future__ import annotations

import pytest
from gate_fakes import decision

from clew.core.decisions import ChoiceAnswer, Decision, NoulAnswer, ScoreAnswer
from clew.gate.rule import Thresholds, select, veto_by_scan

DEFAULTS = Thresholds()


@pytest.mark.parametrize(
    ("answers", "outcome", "reason"),
    [
        # Vetoes, at and just below their thresholds.
        ({"secret": 0.5, "importance": 4.0}, "vetoed", "secret 0.50"),
        ({"secret": 0.49, "importance": 4.0}, "selected", "importance 4.0"),
        ({"session": 0.8, "importance": 4.0}, "vetoed", "temporary 0.80"),
        ({"session": 0.79, "importance": 4.0}, "selected", "importance 4.0"),
        # A secret beats a temporary instruction; both beat target none.
        ({"secret": 0.9, "session": 0.9}, "vetoed", "secret 0.90"),
        ({"session": 0.9, "target": "none"}, "vetoed", "temporary 0.90"),
        # Target none beats every way to be selected.
        ({"failure": 1.0, "durable": 1.0, "importance": 4.0, "target": "none"}, "filtered", "nothing to keep 0.90"),
        # Three ways, each alone, at and just below.
        ({"failure": 0.5}, "selected", "lesson 0.50"),
        ({"failure": 0.49}, "filtered", "not enough: durable 0.00, importance 0.0"),
        ({"importance": 2.5}, "selected", "importance 2.5"),
        ({"importance": 2.4}, "filtered", "not enough: durable 0.00, importance 2.4"),
        ({"durable": 0.5, "importance": 1.5}, "selected", "durable 0.50, importance 1.5"),
        ({"durable": 0.49, "importance": 2.4}, "filtered", "not enough: durable 0.49, importance 2.4"),
        ({"durable": 0.9, "importance": 1.4}, "filtered", "not enough: durable 0.90, importance 1.4"),
    ],
)
def test_vetoes_and_selection_at_their_thresholds(answers, outcome, reason):
    selection = select(decision(**answers), DEFAULTS)
    assert (selection.outcome, selection.reason) == (outcome, reason)


def test_a_selected_state_carries_its_category_and_all_scores():
    selection = select(decision(durable=0.93, importance=2.4, target="project"), DEFAULTS)
    assert selection.target == "project"
    assert selection.scores == {
        "has_secret": 0.0,
        "is_session_scoped": 0.0,
        "is_failure": 0.0,
        "is_durable": 0.93,
        "importance": 2.4,
        "target": 0.9,
    }


def test_thresholds_can_be_moved():
    strict = Thresholds(session=0.95, failure=0.99, importance=3.9, durable=0.99, importance_min=3.0, secret=0.95)
    assert select(decision(secret=0.9, session=0.9, importance=3.9), strict).outcome == "selected"
    assert select(decision(failure=0.98, durable=0.98, importance=3.8), strict).outcome == "filtered"


def test_an_unanswered_question_switches_off_only_its_own_rules():
    without_secret = Decision(
        answers={
            "importance": ScoreAnswer(score=3.0, probabilities={}),
            "target": ChoiceAnswer(choice="user", probabilities={"user": 1.0}),
        },
        model="m",
    )
    assert select(without_secret, DEFAULTS).outcome == "selected"
    without_importance = Decision(answers={"is_durable": NoulAnswer(probability=1.0)}, model="m")
    assert select(without_importance, DEFAULTS).reason == "not enough: durable 1.00"
    assert select(Decision(answers={}, model="m"), DEFAULTS).reason == "not judged"


def test_a_decision_without_a_target_keeps_under_the_default_category():
    selection = select(Decision(answers={"is_failure": NoulAnswer(probability=0.9)}, model="m"), DEFAULTS)
    assert (selection.outcome, selection.target) == ("selected", "memory")


def test_an_answer_of_the_wrong_type_is_no_answer():
    odd = Decision(
        answers={
            "importance": NoulAnswer(probability=1.0),
            "has_secret": ScoreAnswer(score=4.0, probabilities={}),
            "target": NoulAnswer(probability=1.0),
        },
        model="m",
    )
    assert select(odd, DEFAULTS).outcome == "filtered"


def test_what_a_model_cannot_judge_decides_nothing():
    answered = decision(failure=0.9, secret=0.9)
    abstaining = Decision(answers=answered.answers, model="m", abstained=("has_secret",))
    selection = select(abstaining, DEFAULTS)
    assert selection.outcome == "selected"
    assert "has_secret" not in selection.scores


def test_what_the_scanner_found_vetoes_without_a_model():
    veto = veto_by_scan(("github_token", "password"), ())
    assert veto is not None
    assert (veto.outcome, veto.reason) == ("vetoed", "secret: github token, password")
    planted = veto_by_scan((), ("role-hijack",))
    assert planted is not None
    assert planted.reason == "planted instruction: role hijack"
    assert veto_by_scan((), ()) is None
