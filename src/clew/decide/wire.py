"""System One on the wire: a request as bytes, a reply as answers. Pure; the reply is trusted in nothing.

Tolerances follow the public conformance tool: probabilities may miss 1 by .05 in sum and leave [0, 1] by rounding.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clew.core.decisions import Answer, ChoiceAnswer, NoulAnswer, Question, ScoreAnswer
from clew.core.records import Judged

SUM_TOLERANCE = 0.05
#: How far the named choice may be behind: servers that show two decimals make a tie look like a lead.
ARGMAX_TOLERANCE = 0.01
ROUNDING = 1e-6
MAX_STATE_BYTES = 256_000


class BadReply(Exception):
    """The reply cannot be used; the text says why, without quoting it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireReply:
    """What a server answered: the model as it names itself ("" if it does not), and one answer per question.

    `logits` and `fingerprint` only come from the native API.
    """

    model: str
    answers: Mapping[str, Answer]
    logits: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    fingerprint: str | None = None


def encode_request(state: Judged, questions: Mapping[str, Question], model: str) -> bytes:
    """The body of a POST /v1/systemone. Equal input gives equal bytes, so that a server's prefix cache helps."""
    body = {
        "model": model,
        "questions": {id_: question_as_json(question) for id_, question in questions.items()},
        "state": state.as_json(),
    }
    # Keys are sorted, options are not: their order is part of the question.
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def question_as_json(question: Question) -> dict[str, Any]:
    """A question as a System One request has it; as good in a questionnaire file."""
    criteria: Any = dict(question.criteria)
    if question.type == "score":
        criteria = list(question.criteria.values())
    return {"criteria": criteria or None, "instructions": question.instructions, "type": question.type}


def decode_reply(body: bytes, questions: Mapping[str, Question]) -> WireReply:
    """Read a reply to these questions. Unknown fields and additional answers are passed over.

    Raises:
        BadReply: it is not JSON, lacks an answer, or an answer does not fit its question.
    """
    reply = parse_json(body)
    answers = reply.get("answers") if isinstance(reply, dict) else None
    if not isinstance(answers, dict):
        raise BadReply("it has no answers")
    model = reply.get("model")
    return WireReply(
        model=model if isinstance(model, str) else "",
        answers={id_: _read_answer(question, answers.get(id_)) for id_, question in questions.items()},
    )


def parse_json(body: bytes) -> Any:
    """JSON as the standard has it: no NaN, no Infinity, UTF-8. Raises BadReply."""
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadReply("it is not JSON") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _read_answer(question: Question, raw: Any) -> Answer:
    if not isinstance(raw, dict):
        raise BadReply(f'question "{question.id}" has no answer')
    if raw.get("type", question.type) != question.type:
        raise BadReply(f'question "{question.id}" has an answer of another type')
    if question.type == "noul":
        return NoulAnswer(probability=_probability(question.id, raw.get("noul")))
    probabilities = read_distribution(question.id, question.criteria, raw.get("probabilities"))
    if question.type == "choice":
        return ChoiceAnswer(choice=_named_choice(question, raw, probabilities), probabilities=probabilities)
    expected = sum(int(level) * share for level, share in probabilities.items())
    return ScoreAnswer(score=expected, probabilities=probabilities)


def _named_choice(question: Question, raw: Mapping[str, Any], probabilities: Mapping[str, float]) -> str:
    """The server's choice, if it is an option and none is clearly likelier."""
    choice = raw.get("choice")
    if not isinstance(choice, str) or choice not in probabilities:
        raise BadReply(f'question "{question.id}" was answered with an option that it does not have')
    if probabilities[choice] < max(probabilities.values()) - ARGMAX_TOLERANCE:
        raise BadReply(f'the choice of question "{question.id}" is not its likeliest option')
    return choice


def read_distribution(id_: str, options: Collection[str], raw: Any) -> dict[str, float]:
    """Probabilities in the order of the options, scaled to sum to exactly 1. Raises BadReply."""
    if not isinstance(raw, dict) or set(raw) != set(options):
        raise BadReply(f'the probabilities of question "{id_}" do not name exactly its options')
    shares = {option: _probability(id_, raw[option]) for option in options}
    total = math.fsum(shares.values())
    if abs(total - 1.0) > SUM_TOLERANCE:
        raise BadReply(f'the probabilities of question "{id_}" sum to {total:.2f}')
    return {option: share / total for option, share in shares.items()}


def _probability(id_: str, raw: Any) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise BadReply(f'question "{id_}" was answered without a number')
    if not -ROUNDING <= raw <= 1.0 + ROUNDING:  # also false for an infinity that came in as 1e999
        raise BadReply(f'question "{id_}" was answered with a probability outside 0 to 1')
    return min(1.0, max(0.0, float(raw)))


def log_probabilities(answer: Answer) -> tuple[float, ...]:
    """Stand-in for logits where the server gives none; a noul has the options `false`, `true`.

    They differ from the logits at temperature 1 by one constant, which no softmax sees.
    """
    if isinstance(answer, NoulAnswer):
        shares: Sequence[float] = (1.0 - answer.probability, answer.probability)
    else:
        shares = tuple(answer.probabilities.values())
    return tuple(math.log(max(share, ROUNDING)) for share in shares)  # a share shown as 0 is merely below the rounding


def confidence(probabilities: Sequence[float]) -> float:
    """How far the likeliest of n options stands above an even split, in [0, 1]: (p_max - 1/n) / (1 - 1/n).

    Servers use different formulas; this one is computed here, so that thresholds mean the same everywhere.
    """
    count = len(probabilities)
    if count < 2:
        return 1.0
    return max(0.0, (max(probabilities) - 1 / count) / (1 - 1 / count))
