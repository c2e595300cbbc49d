"""The built-in judge, so that the gate works with nothing else installed. Tier `lexical`: no model runtime, a few ms.

It answers the gate's six questions by id and type; their wording is ignored, because trained heads cannot read. For
any other question it abstains: the answer is an even prior and listed in `Decision.abstained`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clew.core.decisions import Answer, ChoiceAnswer, Decision, NoulAnswer, Question, ScoreAnswer
from clew.core.records import Judged, State

if TYPE_CHECKING:
    from clew.decide.lexical.model import Logits

_NO_HEAD_PROBABILITY = 0.5
_FOUND_SECRET_PROBABILITY = 0.99
_MAX_HIGHLIGHTS = 3
_YES_NO_IDS = ("has_secret", "is_session_scoped", "is_failure", "is_durable")
_LEVELS = ("0", "1", "2", "3", "4")


class LexicalJudge:
    """A DecisionModel made of word lists, character n-grams and trained heads.

    Args:
        weights_path: another weights file; None takes the one that comes with Clew. It is read at the first decision.
    """

    name = "clew-judge-lexical"
    address = "built in"
    warning: str | None = None

    def __init__(self, weights_path: Path | None = None) -> None:
        self._weights_path = weights_path

    def warm_up(self) -> None:
        """Load weights and word lists now, so that the first decision is as quick as the next."""
        self._judge(State(user=""))

    def decide(self, state: Judged, questions: Mapping[str, Question]) -> Decision:
        """Answer all questions about one state. Never raises for any text."""
        if not isinstance(state, State):
            return _abstain(questions)
        logits, sentences, fingerprint = self._judge(state)
        decision = read_answers(logits, state, questions)
        return replace(decision, fingerprint=fingerprint, highlights=_rank_highlights(logits, sentences))

    def _judge(self, state: State) -> tuple[Logits, tuple[str, ...], str]:
        from clew.decide.lexical.features import extract_features
        from clew.decide.lexical.model import WEIGHTS_FILE, load_weights
        from clew.decide.lexical.reading import read_state

        weights = load_weights(self._weights_path or WEIGHTS_FILE)
        reading = read_state(state)
        return weights.score(extract_features(reading)), reading.sentences, weights.fingerprint


def read_answers(logits: Logits, state: State, questions: Mapping[str, Question]) -> Decision:
    """Turn the logits of a state into answers; the state is only searched for the value of a secret."""
    by_head = _by_head(logits)
    answers: dict[str, Answer] = {}
    abstained: list[str] = []
    for id_, question in questions.items():
        answer = _answer(question, by_head, state)
        if answer is None:
            abstained.append(id_)
        answers[id_] = answer or _prior(question)
    # option order of a noul is false, true
    raw = {id_: (0.0, by_head[id_]) for id_ in _YES_NO_IDS if id_ in answers and id_ not in abstained}
    return Decision(
        answers=answers,
        model=LexicalJudge.name,
        logits=raw,
        logits_source="native" if raw else "none",
        abstained=tuple(abstained),
    )


def _abstain(questions: Mapping[str, Question]) -> Decision:
    answers = {id_: _prior(question) for id_, question in questions.items()}
    return Decision(answers=answers, model=LexicalJudge.name, abstained=tuple(questions))


def _by_head(logits: Logits) -> dict[str, float]:
    from clew.decide.lexical.model import HEADS

    return dict(zip(HEADS, map(float, logits.combined), strict=True))


def _rank_highlights(logits: Logits, sentences: Sequence[str]) -> tuple[str, ...]:
    """The sentences likeliest to be worth saving; empty ones and ones clearly behind the best are left out."""
    from clew.decide.lexical.model import COLUMN

    scores = logits.by_sentence[:, [COLUMN["save"], COLUMN["is_durable"]]].mean(axis=1)
    ranked = sorted(range(len(sentences)), key=lambda index: (-scores[index], index))
    kept = [index for index in ranked if scores[index] >= min(0.0, float(scores[ranked[0]]))]
    return tuple(sentences[index] for index in (kept or ranked)[:_MAX_HIGHLIGHTS] if sentences[index])


def _answer(question: Question, logits: Mapping[str, float], state: State) -> Answer | None:
    """The answer of the head for this id and type; None if there is no such head."""
    if question.type == "noul" and question.id in _YES_NO_IDS:
        probability = _sigmoid(logits[question.id])
        if question.id == "has_secret" and _holds_secret(state):
            probability = max(probability, _FOUND_SECRET_PROBABILITY)
        return NoulAnswer(probability=probability)
    if question.type == "score" and question.id == "importance" and tuple(question.criteria) == _LEVELS:
        return _importance(logits)
    if question.type == "choice" and question.id == "target":
        return _target(logits, tuple(question.criteria))
    return None


def _holds_secret(state: State) -> bool:
    """Whether the scanner sees a value: it decides, the head is a second opinion."""
    from clew.core.secrets import find_secrets

    return any(find_secrets(text) for text in (state.user, state.assistant) if text)


def _importance(logits: Mapping[str, float]) -> ScoreAnswer:
    """Levels from cumulative heads P(level >= k), made non-increasing in k."""
    from clew.decide.lexical.model import IMPORTANCE_HEADS

    at_least = [1.0]
    for head in IMPORTANCE_HEADS:
        at_least.append(min(at_least[-1], _sigmoid(logits[head])))
    at_least.append(0.0)
    probabilities = {level: at_least[index] - at_least[index + 1] for index, level in enumerate(_LEVELS)}
    return ScoreAnswer(score=sum(at_least[1:]), probabilities=probabilities)


def _target(logits: Mapping[str, float], options: tuple[str, ...]) -> ChoiceAnswer | None:
    """`none` by the save head alone; otherwise the likeliest category. None if the options are not the known ones."""
    from clew.decide.lexical.model import CATEGORIES

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
    return ChoiceAnswer(choice=categories[top] if save >= 0.5 else "none", probabilities=probabilities)


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


def _sigmoid(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


def _softmax(logits: Sequence[float]) -> list[float]:
    highest = max(logits)
    powers = [math.exp(logit - highest) for logit in logits]
    total = sum(powers)
    return [power / total for power in powers]
