"""The judge's heads, asked: each question finds its head, each head the state in its own form, each logit its
temperature. Both APIs rest on this, so that they agree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from clew.core.decisions import Answer, ChoiceAnswer, Decision, NoulAnswer, Question, ScoreAnswer
from clew.core.ports import DecisionModel
from clew.core.records import DatedEntry, EntryPair, Judged, State
from clew.decide.questionnaire import CONSOLIDATION, PAIRS
from clew.decide.server.matching import Match, find_match
from clew.decide.server.states import read_judged

if TYPE_CHECKING:
    from clew.decide.calibration.fit import Fit

_LEAST_PROBABILITY = 1e-12
#: What a secret that the scanner found is worth, whatever the head and its temperature say.
_FOUND_SECRET_LOGIT = math.log(0.99 / 0.01) + 1e-9  # rounded up, so that it comes out as .99 and not just below


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadAnswer:
    """What a head said.

    Attributes:
        answer: at the temperature; an even one if there is no head.
        logits: in the order of the options (noul: false, true), before the temperature.
        match: how the head was found; None if the judge abstains.
    """

    answer: Answer
    logits: tuple[float, ...]
    temperature: float
    match: Match | None

    @property
    def marks(self) -> dict[str, Any]:
        """Who answered, as extension fields of the answer."""
        if self.match is None:
            return {"x_abstained": True}
        return {"x_head": self.match.head, "x_matched_by": self.match.by}


def ask_heads(
    judge: DecisionModel, raw_state: Any, questions: Mapping[str, Question], fit: Fit | None = None
) -> dict[str, HeadAnswer]:
    """An answer for every question, by its id; each is judged by itself.

    Args:
        raw_state: as it came off the wire.
        fit: temperatures to apply; None leaves the logits as they are.
    """
    matches = {id_: find_match(question) for id_, question in questions.items()}
    views = _Views(raw_state)
    asked: dict[type[Judged], dict[str, Question]] = {}
    for id_, match in matches.items():
        if match and views.see(match.head) is not None:
            question = replace(questions[id_], id=match.head)
            asked.setdefault(_kind(match.head), {})[_key(question)] = question
    decisions = {kind: judge.decide(views.seen[kind], group) for kind, group in asked.items()}  # type: ignore[arg-type]
    return {id_: _answer(question, matches[id_], decisions, views, fit) for id_, question in questions.items()}


@dataclass(frozen=True, slots=True)
class _Views:
    """One state, read once for each kind of head that is asked about it."""

    raw: Any
    seen: dict[type[Judged], Judged | None] = field(default_factory=dict)

    def see(self, head: str) -> Judged | None:
        kind = _kind(head)
        if kind not in self.seen:
            self.seen[kind] = read_judged(self.raw, kind)
        return self.seen[kind]


def _kind(head: str) -> type[Judged]:
    if head in PAIRS.needed:
        return EntryPair
    return DatedEntry if head in CONSOLIDATION.needed else State


def _key(question: Question) -> str:
    """Name of a question towards the judge: its head, with the options where they may differ."""
    return question.id if question.type == "noul" else "\0".join((question.id, *question.criteria))


def _answer(
    question: Question,
    match: Match | None,
    decisions: Mapping[type[Judged], Decision],
    views: _Views,
    fit: Fit | None,
) -> HeadAnswer:
    temperature = fit.temperature(question.type) if fit else 1.0
    decision = decisions.get(_kind(match.head)) if match else None
    key = _key(replace(question, id=match.head)) if match else ""
    if match is None or decision is None or key in decision.abstained or key not in decision.answers:
        logits = (0.0,) * (2 if question.type == "noul" else len(question.criteria))
        return HeadAnswer(
            answer=_at_temperature(question, logits, 1.0), logits=logits, temperature=temperature, match=None
        )
    logits = _logits(decision.answers[key], decision.logits.get(key))
    if match.head == "has_secret" and _holds_secret(views.see(match.head)):
        logits = (0.0, max(logits[1], temperature * _FOUND_SECRET_LOGIT))
    answer = _at_temperature(question, logits, temperature)
    return HeadAnswer(answer=answer, logits=logits, temperature=temperature, match=match)


def _logits(answer: Answer, raw: Sequence[float] | None) -> tuple[float, ...]:
    """Of a noul the head's own, if it is known; otherwise logarithms of the probabilities."""
    if isinstance(answer, NoulAnswer):
        if raw and len(raw) == 2:
            return (0.0, raw[1] - raw[0])
        share = min(1.0 - _LEAST_PROBABILITY, max(_LEAST_PROBABILITY, answer.probability))
        return (0.0, math.log(share) - math.log1p(-share))
    return tuple(math.log(max(share, _LEAST_PROBABILITY)) for share in answer.probabilities.values())


def _holds_secret(state: Judged | None) -> bool:
    from clew.core.secrets import find_secrets

    return isinstance(state, State) and any(find_secrets(text) for text in (state.user, state.assistant) if text)


def _at_temperature(question: Question, logits: Sequence[float], temperature: float) -> Answer:
    shares = softmax(logits, temperature)
    if question.type == "noul":
        return NoulAnswer(probability=shares[1])
    probabilities = dict(zip(question.criteria, shares, strict=True))
    if question.type == "score":
        mean = math.fsum(level * share for level, share in enumerate(shares))
        return ScoreAnswer(score=mean, probabilities=probabilities)
    return ChoiceAnswer(choice=max(probabilities, key=lambda name: probabilities[name]), probabilities=probabilities)


def softmax(logits: Sequence[float], temperature: float = 1.0) -> list[float]:
    """Probabilities of options by their logits; they sum to 1."""
    highest = max(logits)
    powers = [math.exp((logit - highest) / temperature) for logit in logits]
    total = math.fsum(powers)
    return [power / total for power in powers]
