"""Answers of the native decisions API: logits of the candidates, what follows from them, and whether to rely on it.

Where the judge has no head for a question, all options weigh the same and "insufficient evidence" outweighs them, if
the question offers it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clew.core.ports import DecisionModel
from clew.decide.server.answers import estimate_tokens
from clew.decide.server.heads import HeadAnswer, ask_heads, softmax
from clew.decide.server.native_requests import ABOVE, BELOW, INSUFFICIENT, SPECIALS, NativeQuestion, NativeRequest
from clew.decide.server.requests import render_text

if TYPE_CHECKING:
    from clew.decide.calibration.fit import Fit

_LEAST_PROBABILITY = 1e-12
#: Logit, at temperature 1, of a special candidate that wins; one that cannot win has its negative. Further out than
#: any option's.
_CERTAIN = 40.0
_UNCALIBRATED = "uncalibrated_conditional_option_scores"
_CALIBRATED = "temperature_scaled_requires_held_out_validation"


def answer_native(judge: DecisionModel, request: NativeRequest, fit: Fit | None = None) -> dict[str, Any]:
    """The `answers` of the body, by question id."""
    asked = {id_: replace(question.asked, id=id_) for id_, question in request.questions.items() if question.asked}
    said = ask_heads(judge, request.state, asked, fit)
    answers: dict[str, Any] = {}
    for id_, question in request.questions.items():
        temperature = said[id_].temperature if id_ in said else fit.temperature("numeric") if fit else 1.0
        marks = said[id_].marks if id_ in said else {"x_abstained": True}
        answers[id_] = read_answer(question, _logits(question, said.get(id_), temperature), temperature) | marks
        prompt = render_text([request.state_text, request.raw_questions[id_]])
        answers[id_]["prompt_sha256"] = hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()
        answers[id_]["input_tokens"] = max(1, estimate_tokens(prompt))
    return answers


def _logits(question: NativeQuestion, said: HeadAnswer | None, temperature: float) -> dict[str, float]:
    """By candidate, specials last."""
    specials = dict.fromkeys(question.specials, -_CERTAIN * temperature)
    if said and said.match:
        return dict(zip(question.legend, said.logits, strict=True)) | specials
    if INSUFFICIENT in specials:
        specials[INSUFFICIENT] = _CERTAIN * temperature
    return dict.fromkeys(question.legend, 0.0) | specials


def read_answer(question: NativeQuestion, logits: Mapping[str, float], temperature: float = 1.0) -> dict[str, Any]:
    """Everything of an answer that follows from the candidates' logits (before the temperature)."""
    shares = dict(zip(logits, softmax(list(logits.values()), temperature), strict=True))
    unavailable = sum(shares[name] for name in question.specials)
    status = _status(question, shares, unavailable)
    return {
        "type": question.type,
        "status": status,
        "probabilities": shares,
        "option_logits": dict(logits),
        "legend": dict(question.legend) | {name: SPECIALS[name] for name in question.specials},
        "uncertainty": _uncertainty(shares, unavailable),
        "probability_status": _UNCALIBRATED if temperature == 1.0 else _CALIBRATED,
        "temperature": temperature,
        **_values(question, shares, unavailable, is_ok=status == "ok"),
    }


def _status(question: NativeQuestion, shares: Mapping[str, float], unavailable: float) -> str:
    top = max(shares, key=lambda name: shares[name])
    if top in question.specials or unavailable >= question.policy.max_unavailable_probability:
        outside = shares.get(BELOW, 0.0) + shares.get(ABOVE, 0.0)
        return "out_of_range" if outside > shares.get(INSUFFICIENT, 0.0) else "insufficient_evidence"
    return "uncertain" if shares[top] < question.policy.min_top_probability else "ok"


def _uncertainty(shares: Mapping[str, float], unavailable: float) -> dict[str, float]:
    entropy = -math.fsum(share * math.log(share) for share in shares.values() if share > 0)
    return {
        "top_probability": max(shares.values()),
        "entropy_nats": max(0.0, entropy),
        "concentration": min(1.0, max(0.0, 1.0 - entropy / math.log(len(shares)))),
        "unavailable_probability": unavailable,
    }


def _values(
    question: NativeQuestion, shares: Mapping[str, float], unavailable: float, *, is_ok: bool
) -> dict[str, Any]:
    """The fields of this type; primary values are null unless the answer can be relied on."""
    top = max(question.legend, key=lambda name: shares[name])
    if question.type == "boolean":
        given = shares["true"] / max(1.0 - unavailable, _LEAST_PROBABILITY)
        return {"value": top == "true" if is_ok else None, "probability_true_given_available": min(1.0, given)}
    if question.type == "choice":
        return {"choice": top if is_ok else None}
    statistics = _statistics(question.values, [shares[name] for name in question.legend]) if is_ok else None
    mean = statistics["mean"] if statistics else None
    fields: dict[str, Any] = {
        "values": list(question.values),
        "support": [question.values[0], question.values[-1]],
        "statistics_given_available": statistics,
    }
    if question.type == "score":
        return {"score": mean, "normalized_score": None if mean is None else mean / question.values[-1], **fields}
    outside = {"below": shares[BELOW], "above": shares[ABOVE]}
    return {"value": mean, "unit": question.unit, "range_probabilities": outside, **fields}


def _statistics(values: Sequence[float], shares: Sequence[float]) -> dict[str, Any]:
    total = math.fsum(shares)
    weights = [share / total for share in shares]
    mean = math.fsum(value * weight for value, weight in zip(values, weights, strict=True))
    spread = [abs(value - mean) * math.sqrt(weight) for value, weight in zip(values, weights, strict=True)]
    return {
        "mean": mean,
        "stddev": math.hypot(*spread),
        "median": _quantile(values, weights, 0.5),
        "anchor_quantiles": {"p10": _quantile(values, weights, 0.1), "p90": _quantile(values, weights, 0.9)},
    }


def _quantile(values: Sequence[float], weights: Sequence[float], share: float) -> float:
    """The first value at which the cumulative probability reaches the share."""
    reached = 0.0
    for value, weight in zip(values, weights, strict=True):
        reached += weight
        if reached >= share:
            return value
    return values[-1]
