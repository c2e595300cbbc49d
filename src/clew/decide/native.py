"""The native decisions API on the wire, for servers that offer it: one call gives raw logits, and the answers from them.

A question is mapped so that both APIs ask the same: no abstention, yes/no descriptions with their word in front,
options `o0`, `o1`, … in request order. Pure, and as distrustful of a reply as `wire`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from clew.core.decisions import Answer, ChoiceAnswer, NoulAnswer, Question, ScoreAnswer
from clew.core.records import Judged
from clew.decide.wire import BadReply, WireReply, parse_json, read_distribution

PATH = "/v1/decisions"
#: One capital letter for each option.
MAX_OPTIONS = 26
_TYPES = {"noul": "boolean", "choice": "choice", "score": "score"}
#: How far probabilities may be from the softmax of the logits they come with.
_SOFTMAX_TOLERANCE = 0.01


def can_ask(questions: Mapping[str, Question]) -> bool:
    """Whether the native API takes these: it wants instructions, at most 26 options, and levels that differ."""
    return all(
        question.instructions
        and len(question.criteria) <= MAX_OPTIONS
        and (question.type != "score" or len(set(question.criteria.values())) == len(question.criteria))
        for question in questions.values()
    )


def encode_request(state: Judged, questions: Mapping[str, Question]) -> bytes:
    """The body of a POST /v1/decisions. Equal input gives equal bytes."""
    body = {
        "mode": "shared",
        "questions": {id_: _as_json(question) for id_, question in questions.items()},
        "state": state.as_json(),
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _as_json(question: Question) -> dict[str, Any]:
    asked: dict[str, Any] = {
        "instructions": question.instructions,
        "policy": {"allow_abstain": False},
        "type": _TYPES[question.type],
    }
    if question.type == "noul":
        for outcome, word in (("true", "Yes"), ("false", "No")):
            if text := question.criteria.get(outcome):
                asked[f"{outcome}_description"] = f"{word}. {text}"
    elif question.type == "choice":
        asked["options"] = [
            {"id": f"o{index}", "description": f"{name}: {text}" if text else name}
            for index, (name, text) in enumerate(question.criteria.items())
        ]
    else:
        asked["levels"] = list(question.criteria.values())
    return asked


def decode_reply(body: bytes, questions: Mapping[str, Question]) -> WireReply:
    """Read a native reply to these questions: answers, and raw logits in the order of each question's options.

    A noul has the options `false`, `true`.

    Raises:
        BadReply: it is not JSON, lacks an answer, or its probabilities do not follow from its logits.
    """
    reply = parse_json(body)
    answers = reply.get("answers") if isinstance(reply, dict) else None
    if not isinstance(answers, dict):
        raise BadReply("it has no answers")
    metadata = reply.get("model")
    fingerprint = metadata.get("fingerprint") if isinstance(metadata, dict) else None
    read = {id_: _read_answer(question, answers.get(id_)) for id_, question in questions.items()}
    return WireReply(
        model="",
        answers={id_: answer for id_, (answer, _) in read.items()},
        logits={id_: logits for id_, (_, logits) in read.items()},
        fingerprint=fingerprint if isinstance(fingerprint, str) else None,
    )


def _read_answer(question: Question, raw: Any) -> tuple[Answer, tuple[float, ...]]:
    if not isinstance(raw, dict) or raw.get("type") != _TYPES[question.type]:
        raise BadReply(f'question "{question.id}" has no answer of its type')
    names = _candidates(question)
    shares = read_distribution(question.id, names, raw.get("probabilities"))
    logits = _read_logits(question.id, names, raw.get("option_logits"))
    _check_softmax(question.id, list(shares.values()), logits, raw.get("temperature", 1.0))
    return _answer(question, shares), logits


def _candidates(question: Question) -> list[str]:
    """The server's names of the options, in its order and ours."""
    if question.type == "noul":
        return ["false", "true"]
    if question.type == "choice":
        return [f"o{index}" for index in range(len(question.criteria))]
    return list(question.criteria)


def _answer(question: Question, shares: Mapping[str, float]) -> Answer:
    if question.type == "noul":
        return NoulAnswer(probability=shares["true"])
    named = dict(zip(question.criteria, shares.values(), strict=True))
    if question.type == "choice":
        return ChoiceAnswer(choice=max(named, key=lambda name: named[name]), probabilities=named)
    return ScoreAnswer(score=sum(int(level) * share for level, share in named.items()), probabilities=named)


def _read_logits(id_: str, names: list[str], raw: Any) -> tuple[float, ...]:
    if not isinstance(raw, dict) or set(raw) != set(names):
        raise BadReply(f'the logits of question "{id_}" do not name exactly its options')
    return tuple(_finite(id_, raw[name]) for name in names)


def _finite(id_: str, raw: Any) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not -1e9 < raw < 1e9:
        raise BadReply(f'question "{id_}" has a logit that is no usable number')
    return float(raw)


def _check_softmax(id_: str, shares: list[float], logits: tuple[float, ...], raw_temperature: Any) -> None:
    """Logits train the calibration, probabilities decide: if they contradict each other, neither can be used."""
    temperature = _finite(id_, raw_temperature)
    if temperature <= 0:
        raise BadReply(f'question "{id_}" has a temperature that is not above 0')
    highest = max(logits)
    powers = [math.exp((logit - highest) / temperature) for logit in logits]
    total = math.fsum(powers)
    if any(abs(power / total - share) > _SOFTMAX_TOLERANCE for power, share in zip(powers, shares, strict=True)):
        raise BadReply(f'the probabilities of question "{id_}" do not follow from its logits')
