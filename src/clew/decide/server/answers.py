"""What the built-in judge answers to a request.

The judge has one trained head for each bundled question. A question of the request gets a head when its type and
wording are those of a bundled one. Its id plays no part, so that renaming it moves no number. Any other question, and
any question about a state that the judge cannot read, gets an even prior and `"x_abstained": true`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from clew.core.decisions import Answer, ChoiceAnswer, NoulAnswer, Question
from clew.core.records import State
from clew.core.text import text_key
from clew.decide.builtin import LexicalJudge
from clew.decide.questionnaire import load_questionnaire
from clew.decide.server.refusals import UnknownModel
from clew.decide.server.requests import SystemOneRequest
from clew.decide.wire import confidence

#: Names under which the judge may be asked, beside everything that begins with `jev-`.
SERVED_NAMES = (LexicalJudge.name, "clew-latest", "rizzo-latest", "jev-latest")
_CHARS_PER_TOKEN = 4
_NO_HEAD = ""
_STATE_FIELDS = ("assistant", "previous_assistant", "project")


def answer_request(judge: LexicalJudge, request: SystemOneRequest) -> dict[str, Any]:
    """The body of the answer.

    Raises:
        UnknownModel: the request asks for another model.
    """
    if not (request.model in SERVED_NAMES or request.model.startswith("jev-")):
        raise UnknownModel(f"This server has no such model. Ask for one of {', '.join(SERVED_NAMES)}.")
    state = read_state(request.state)
    asked = {id_: address(question, state) for id_, question in request.questions.items()}
    decision = judge.decide(state or State(user=""), asked)
    return {
        "model": decision.model,
        "answers": {
            id_: _as_json(question, decision.answers[id_], is_prior=id_ in decision.abstained)
            for id_, question in request.questions.items()
        },
        "usage": {"input_tokens": estimate_tokens(request.state_text, *request.questions.values()), "output_tokens": 0},
    }


def read_state(raw: Any) -> State | None:
    """A plain text is the user's message, an object with `user` a whole state; None for everything else."""
    if isinstance(raw, str):
        return State(user=raw)
    if not isinstance(raw, dict) or not isinstance(raw.get("user"), str):
        return None
    around = {name: raw.get(name) for name in _STATE_FIELDS}
    if not all(value is None or isinstance(value, str) for value in around.values()):
        return None
    return State(user=raw["user"], **around)


def find_head(question: Question) -> str | None:
    """The bundled question with this type and wording; None if there is none.

    Descriptions may be left out of a noul or a choice, but not be other ones; a choice may offer fewer options.
    """
    for bundled in _bundled().values():
        if bundled.type == question.type and _asks_the_same(question, bundled) and _means_the_same(question, bundled):
            return bundled.id
    return None


@lru_cache(maxsize=1)
def _bundled() -> Mapping[str, Question]:
    return load_questionnaire(None)


def _asks_the_same(question: Question, bundled: Question) -> bool:
    if question.instructions:
        return _same_text(question.instructions, bundled.instructions)
    return set(question.criteria) == set(bundled.criteria) and all(question.criteria.values())


def _means_the_same(question: Question, bundled: Question) -> bool:
    if question.type == "score" and len(question.criteria) != len(bundled.criteria):
        return False
    return all(
        name in bundled.criteria and (text is None or _same_text(text, bundled.criteria[name]))
        for name, text in question.criteria.items()
    )


def _same_text(one: str, other: str | None) -> bool:
    return other is not None and text_key(one) == text_key(other)


def address(question: Question, state: State | None) -> Question:
    """The question under the id that the judge knows its head by."""
    return replace(question, id=(state and find_head(question)) or _NO_HEAD)


def _as_json(question: Question, answer: Answer, *, is_prior: bool) -> dict[str, Any]:
    mark = {"x_abstained": True} if is_prior else {}
    if isinstance(answer, NoulAnswer):
        return {"type": "noul", "noul": answer.probability, **mark}
    shares = dict(answer.probabilities)
    shared = {"probabilities": shares, "confidence": min(1.0, confidence(list(shares.values()))), **mark}
    if isinstance(answer, ChoiceAnswer):
        return {"type": "choice", "choice": answer.choice, **shared}
    return {"type": "score", "score": answer.score, "legend": dict(question.criteria), **shared}


def estimate_tokens(state_text: str, *questions: Question) -> int:
    """Tokens that a language model would have read: characters by four, rounded up."""
    chars = len(state_text)
    for question in questions:
        chars += len(question.instructions or "")
        chars += sum(len(name) + len(text or "") for name, text in question.criteria.items())
    return -(-chars // _CHARS_PER_TOKEN)
