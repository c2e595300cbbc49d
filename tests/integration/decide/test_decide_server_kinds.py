"""Which state each kind of head is shown, seen by a judge that answers everything and remembers what it was asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from clew.core.decisions import Decision, NoulAnswer, Question
from clew.core.records import DatedEntry, EntryPair, Judged, State
from clew.decide.builtin import BuiltinJudge
from clew.decide.questionnaire import CONSOLIDATION, GATE, PAIRS, find_in_force
from clew.decide.server.service import DecisionService
from clew.decide.wire import question_as_json

HEADS = (
    "has_secret", "is_session_scoped", "is_failure", "is_durable", "importance", "target",
    "same_fact", "replaces", "adds_detail", "still_relevant",
)  # fmt: skip

QUESTIONS = {
    "keep": {"type": "noul", "instructions": "Is this worth remembering?"},
    "keep again": {"type": "noul", "instructions": "Is this durable?"},
    "same": {"type": "noul", "instructions": "Do a and b state the same fact?"},
    "replaces": {"type": "noul", "instructions": "Does b replace a?"},
    "holds": {"type": "noul", "instructions": "Is this memory still relevant?"},
    "rain": {"type": "noul", "instructions": "Is it raining?"},
}


class AttentiveJudge:
    """Says 0.9 to everything."""

    name = "attentive"

    def __init__(self) -> None:
        self.shown: dict[Judged, set[str]] = {}

    def decide(self, state: Judged, questions: Mapping[str, Question]) -> Decision:
        self.shown[state] = {question.id for question in questions.values()}
        return Decision(
            answers={id_: NoulAnswer(probability=0.9) for id_ in questions}, model=self.name, fingerprint="f"
        )


def ask(state: Any) -> tuple[dict[str, Any], dict[Judged, set[str]]]:
    judge = AttentiveJudge()
    service = DecisionService(judge)
    judge.shown.clear()
    body = {"model": "attentive", "state": state, "questions": QUESTIONS}
    return service.answer(json.dumps(body).encode())["answers"], judge.shown


def test_one_state_is_read_for_each_kind_of_head_in_its_own_way() -> None:
    state = {"user": "Use tabs.", "a": "Tabs.", "b": "Blanks.", "entry": "Tabs it is.", "written": "2026-03-01"}
    answers, shown = ask(state)
    assert shown == {
        State(user="Use tabs."): {"is_durable"},
        EntryPair(a="Tabs.", b="Blanks."): {"same_fact", "replaces"},
        DatedEntry(entry="Tabs it is.", written="2026-03-01"): {"still_relevant"},
    }
    assert {id_: answer.get("x_head") for id_, answer in answers.items()} == {
        "keep": "is_durable", "keep again": "is_durable", "same": "same_fact", "replaces": "replaces",
        "holds": "still_relevant", "rain": None,
    }  # fmt: skip
    assert abs(answers["keep"]["noul"] - 0.9) < 1e-9
    assert answers["rain"]["x_abstained"]


def test_heads_that_cannot_read_the_state_are_not_asked() -> None:
    answers, shown = ask(["Tabs.", "Blanks."])
    assert list(shown) == [EntryPair(a="Tabs.", b="Blanks.")]
    assert {id_ for id_, answer in answers.items() if "x_abstained" in answer} == {
        "keep",
        "keep again",
        "holds",
        "rain",
    }


def test_the_judge_that_ships_answers_all_ten_questions_over_the_wire() -> None:
    service = DecisionService(BuiltinJudge())
    state = {"user": "From now on use tabs.", "a": "Tabs.", "b": "Tabs are used.", "entry": "Tabs it is."}
    bundled = [find_in_force(kind, None).questions for kind in (GATE, PAIRS, CONSOLIDATION)]
    asked = {id_: question_as_json(question) for group in bundled for id_, question in group.items()}
    body = {"model": "jev-latest", "state": state, "questions": asked}
    answers = service.answer(json.dumps(body).encode())["answers"]
    assert {id_: answer.get("x_head") for id_, answer in answers.items()} == {head: head for head in HEADS}
