"""Vetoes and selection: what a decision means for a state. Pure; the order and the defaults are the gate's contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from clew.core.decisions import ChoiceAnswer, Decision, NoulAnswer, ScoreAnswer

#: The question that may veto even what the person asked to remember.
SECRET_QUESTION = "has_secret"  # noqa: S105 - a question, not a password
Verdict = Literal["selected", "filtered", "vetoed"]
#: Category of what is worth keeping when the questionnaire does not ask for one.
DEFAULT_TARGET = "memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Least values at which a rule fires. Probabilities in [0, 1], importance in levels from 0 to 4."""

    secret: float = 0.5
    session: float = 0.8
    durable: float = 0.5
    failure: float = 0.5
    importance: float = 2.5
    importance_min: float = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What the rule made of a decision.

    Attributes:
        reason: a short phrase that names what decided, with its number.
        scores: the numbers that the rule saw, by question; for `target` the probability of the likeliest option.
        target: the category, `none` when there is nothing to keep.
    """

    outcome: Verdict
    reason: str
    scores: Mapping[str, float] = field(default_factory=dict)
    target: str = "none"


def veto_by_scan(secret_kinds: Sequence[str], injection_kinds: Sequence[str]) -> Selection | None:
    """The veto that needs no model: a scanner found the value of a secret, or an order planted for an agent."""
    if secret_kinds:
        return Selection(outcome="vetoed", reason=f"secret: {_phrase(secret_kinds)}")
    if injection_kinds:
        return Selection(outcome="vetoed", reason=f"planted instruction: {_phrase(injection_kinds)}")
    return None


def veto_secret(decision: Decision, thresholds: Thresholds) -> Selection | None:
    """The model's one veto that holds for everything, even for what the person asked to remember."""
    scores, target = _read_scores(decision)
    if SECRET_QUESTION not in scores or scores[SECRET_QUESTION] < thresholds.secret:
        return None
    reason = f"secret {scores[SECRET_QUESTION]:.2f}"
    return Selection(outcome="vetoed", reason=reason, scores=scores, target=target)


def select(decision: Decision, thresholds: Thresholds) -> Selection:
    """Apply vetoes, then the three ways to be selected; a rule fires when its value is at or above the threshold.

    A question that was not answered, was answered in another type, or that the model cannot judge switches off the
    rules that need it and no others.
    """
    suspected = veto_secret(decision, thresholds)
    if suspected is not None:
        return suspected
    scores, target = _read_scores(decision)

    def reaches(question: str, least: float) -> bool:
        return question in scores and scores[question] >= least

    def conclude(outcome: Verdict, reason: str) -> Selection:
        return Selection(outcome=outcome, reason=reason, scores=scores, target=target)

    if reaches("is_session_scoped", thresholds.session):
        return conclude("vetoed", f"temporary {scores['is_session_scoped']:.2f}")
    if target == "none":
        return conclude("filtered", f"nothing to keep {scores['target']:.2f}")
    if reaches("is_failure", thresholds.failure):
        return conclude("selected", f"lesson {scores['is_failure']:.2f}")
    if reaches("importance", thresholds.importance):
        return conclude("selected", f"importance {scores['importance']:.1f}")
    if reaches("is_durable", thresholds.durable) and reaches("importance", thresholds.importance_min):
        return conclude("selected", f"durable {scores['is_durable']:.2f}, importance {scores['importance']:.1f}")
    return conclude("filtered", _shortfall(scores))


def _read_scores(decision: Decision) -> tuple[dict[str, float], str]:
    scores: dict[str, float] = {}
    target = DEFAULT_TARGET
    for question, answer in decision.answers.items():
        if question in decision.abstained:
            continue
        if isinstance(answer, ChoiceAnswer):
            if question == "target":
                target = answer.choice
                scores[question] = answer.probabilities.get(answer.choice, 0.0)
        elif isinstance(answer, ScoreAnswer):
            if question == "importance":
                scores[question] = answer.score
        elif isinstance(answer, NoulAnswer) and question not in {"target", "importance"}:
            scores[question] = answer.probability
    return scores, target


def _shortfall(scores: Mapping[str, float]) -> str:
    """Why nothing selected the state, as far as it was judged."""
    parts = [f"durable {scores['is_durable']:.2f}"] if "is_durable" in scores else []
    parts += [f"importance {scores['importance']:.1f}"] if "importance" in scores else []
    return "not enough: " + ", ".join(parts) if parts else "not judged"


def _phrase(kinds: Sequence[str]) -> str:
    return ", ".join(kind.replace("_", " ").replace("-", " ") for kind in kinds)
