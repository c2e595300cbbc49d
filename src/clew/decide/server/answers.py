"""The body of a System One answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clew.core.decisions import ChoiceAnswer, NoulAnswer, Question
from clew.core.ports import DecisionModel
from clew.decide.server.heads import HeadAnswer, ask_heads
from clew.decide.server.refusals import UnknownModel
from clew.decide.server.requests import SystemOneRequest
from clew.decide.wire import confidence

if TYPE_CHECKING:
    from clew.decide.calibration.fit import Fit

#: Names under which any judge may be asked, beside its own; so is everything that begins with one of the prefixes.
ALIASES = ("clew-latest", "rizzo-latest", "jev-latest")
_PREFIXES = ("jev-", "clew-judge-")
_CHARS_PER_TOKEN = 4


def answer_request(judge: DecisionModel, request: SystemOneRequest, fit: Fit | None = None) -> dict[str, Any]:
    """The body of the answer.

    Raises:
        UnknownModel: the request asks for another model.
    """
    served = (judge.name, *ALIASES)
    if not (request.model in served or request.model.startswith(_PREFIXES)):
        raise UnknownModel(f"This server has no such model. Ask for one of {', '.join(served)}.")
    answers = ask_heads(judge, request.state, request.questions, fit)
    return {
        "model": judge.name,
        "answers": {id_: _as_json(request.questions[id_], answer) for id_, answer in answers.items()},
        "usage": {"input_tokens": estimate_tokens(request.state_text, *request.questions.values()), "output_tokens": 0},
    }


def _as_json(question: Question, said: HeadAnswer) -> dict[str, Any]:
    answer = said.answer
    if isinstance(answer, NoulAnswer):
        return {"type": "noul", "noul": answer.probability, **said.marks}
    shares = dict(answer.probabilities)
    shared = {"probabilities": shares, "confidence": min(1.0, confidence(list(shares.values()))), **said.marks}
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
