"""From the logits of the judge's heads to answers to questions. A question that no head knows gets an even prior."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clew.core.decisions import Answer, ChoiceAnswer, Decision, NoulAnswer, Question, ScoreAnswer
from clew.core.records import State
from clew.decide.lexical.model import CATEGORIES, GATE_HEADS, IMPORTANCE_HEADS, RELEVANCE_HEAD
from clew.decide.lexical.pairs import PAIR_HEADS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.decide.builtin import StateScores

    Floats = NDArray[np.float32]

_NO_HEAD_PROBABILITY = 0.5
_FOUND_SECRET_PROBABILITY = 0.99
_LEVELS = ("0", "1", "2", "3", "4")
_LEAST_PROBABILITY = 1e-6
_STATE_YES_NO = ("has_secret", "is_session_scoped", "is_failure", "is_durable")

#: An answer and the logits of its options; None where no head knows the question.
_Known = tuple[Answer, tuple[float, ...]] | None


@dataclass(frozen=True, kw_only=True)
class Answered:
    """Answers without the name of the judge that gave them."""

    answers: Mapping[str, Answer]
    logits: Mapping[str, tuple[float, ...]]
    abstained: tuple[str, ...]
    highlights: tuple[str, ...] = field(default=())

    def as_decision(self, model: str, fingerprint: str) -> Decision:
        """The decision of a judge."""
        return Decision(
            answers=self.answers,
            model=model,
            fingerprint=fingerprint,
            logits=self.logits,
            logits_source="native" if self.logits else "none",
            highlights=self.highlights,
            abstained=self.abstained,
        )


def answer_state(scores: StateScores, state: State, questions: Mapping[str, Question]) -> Answered:
    """Answers about a message. The scanner's word on secrets overrules a head that sees none."""
    logits = dict(zip(GATE_HEADS, map(float, scores.logits), strict=True))

    def answer(question: Question) -> _Known:
        if question.type == "noul" and question.id in _STATE_YES_NO:
            least = _FOUND_SECRET_PROBABILITY if question.id == "has_secret" and _holds_secret(state) else 0.0
            return _yes_no(logits[question.id], least=least)
        if question.type == "score" and question.id == "importance" and tuple(question.criteria) == _LEVELS:
            return _importance(logits)
        if question.type == "choice" and question.id == "target":
            return _target(logits, tuple(question.criteria))
        return None

    return _answer_all(questions, answer, scores.highlights)


def answer_pair(scores: Floats, questions: Mapping[str, Question]) -> Answered:
    """Answers about two entries of the memory."""
    logits = dict(zip(PAIR_HEADS, map(float, scores), strict=True))

    def answer(question: Question) -> _Known:
        return _yes_no(logits[question.id]) if question.type == "noul" and question.id in logits else None

    return _answer_all(questions, answer)


def answer_entry(score: float, questions: Mapping[str, Question]) -> Answered:
    """Answers about one entry of the memory."""

    def answer(question: Question) -> _Known:
        return _yes_no(score) if question.type == "noul" and question.id == RELEVANCE_HEAD else None

    return _answer_all(questions, answer)


def _answer_all(
    questions: Mapping[str, Question], answer: Callable[[Question], _Known], highlights: tuple[str, ...] = ()
) -> Answered:
    known = {id_: answer(question) for id_, question in questions.items()}
    return Answered(
        answers={id_: found[0] if found else _prior(questions[id_]) for id_, found in known.items()},
        logits={id_: found[1] for id_, found in known.items() if found},
        abstained=tuple(id_ for id_, found in known.items() if not found),
        highlights=highlights,
    )


def _yes_no(logit: float, least: float = 0.0) -> _Known:
    # the options of a noul are false, true
    return NoulAnswer(probability=max(least, _sigmoid(logit))), (0.0, logit)


def _holds_secret(state: State) -> bool:
    from clew.core.secrets import find_secrets

    return any(find_secrets(text) for text in (state.user, state.assistant) if text)


def _importance(logits: Mapping[str, float]) -> _Known:
    """Levels from cumulative heads P(level >= k), made non-increasing in k."""
    at_least = [1.0]
    for head in IMPORTANCE_HEADS:
        at_least.append(min(at_least[-1], _sigmoid(logits[head])))
    at_least.append(0.0)
    probabilities = {level: at_least[index] - at_least[index + 1] for index, level in enumerate(_LEVELS)}
    return ScoreAnswer(score=sum(at_least[1:]), probabilities=probabilities), _logs(probabilities)


def _target(logits: Mapping[str, float], options: tuple[str, ...]) -> _Known:
    """`none` by the save head alone; otherwise the likeliest category. None if the options are not the known ones."""
    categories = [option for option in options if option != "none"]
    if "none" not in options or not categories or not set(categories) <= set(CATEGORIES):
        return None
    save = _sigmoid(logits["save"])
    shares = _softmax([logits[f"target={category}"] for category in categories])
    top = max(range(len(shares)), key=lambda index: shares[index])
    if save >= 0.5:
        shares = _raise_share(shares, top, (1.0 - save) / save)
    named = dict(zip(categories, shares, strict=True))
    probabilities = {option: 1.0 - save if option == "none" else save * named[option] for option in options}
    answer = ChoiceAnswer(choice=categories[top] if save >= 0.5 else "none", probabilities=probabilities)
    return answer, _logs(probabilities)


def _raise_share(shares: Sequence[float], top: int, least: float) -> list[float]:
    """Give the top category at least this share, so that splitting hairs among categories never reads as `none`."""
    if shares[top] >= least or shares[top] >= 1.0:
        return list(shares)
    rest = (1.0 - least) / (1.0 - shares[top])
    return [least if index == top else share * rest for index, share in enumerate(shares)]


def _prior(question: Question) -> Answer:
    """An even answer for a question that no head can answer."""
    if question.type == "noul":
        return NoulAnswer(probability=_NO_HEAD_PROBABILITY)
    options = list(question.criteria)
    probabilities = dict.fromkeys(options, 1.0 / len(options))
    if question.type == "choice":
        return ChoiceAnswer(choice=options[0], probabilities=probabilities)
    return ScoreAnswer(score=(len(options) - 1) / 2, probabilities=probabilities)


def _logs(probabilities: Mapping[str, float]) -> tuple[float, ...]:
    """Logits that give these probabilities back."""
    return tuple(math.log(max(share, _LEAST_PROBABILITY)) for share in probabilities.values())


def _sigmoid(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


def _softmax(logits: Sequence[float]) -> list[float]:
    highest = max(logits)
    powers = [math.exp(logit - highest) for logit in logits]
    total = sum(powers)
    return [power / total for power in powers]
