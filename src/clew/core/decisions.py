"""Typed questions about a state, and their answers: the vocabulary of a decision model.

Shapes follow System One: `noul` is a yes/no probability, `choice` one of named options, `score` the expected level
on an ordered scale. No text is generated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

QuestionType = Literal["noul", "choice", "score"]
LogitsSource = Literal["native", "log_prob", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One typed question.

    Attributes:
        criteria: noul: `{"true": text, "false": text}` (either may be missing); choice: option name → text;
            score: level number as text ("0", "1", …) → text, in order.
    """

    id: str
    type: QuestionType
    instructions: str | None
    criteria: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoulAnswer:
    """Probability that the answer is yes, in [0, 1]."""

    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceAnswer:
    """The likeliest option and the probability of each; they sum to 1."""

    choice: str
    probabilities: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreAnswer:
    """Expected level (Σ i·pᵢ) and the probability of each level, keyed "0", "1", …"""

    score: float
    probabilities: Mapping[str, float]


Answer = NoulAnswer | ChoiceAnswer | ScoreAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """All answers of one call.

    Attributes:
        model: which model answered, as its server names it (`clew-judge-lexical-1`, `rizzo-latest`, …).
        fingerprint: identity of the exact weights, when known.
        logits: option logits by question, in the order of the question's options (noul: false, true).
        logits_source: `native`: raw, as the model has them; `log_prob`: logarithms of probabilities, for a model that
            shows no logits; `none`: there are none.
        highlights: the sentences of the user's text that carried the decision, best first (built-in judge only).
        split: ids of choices that were too wide for the server and were asked in groups: their probabilities are put
            together out of several answers, and they have no logits.
        abstained: ids of questions that the model cannot judge; their answers are mere priors and must decide nothing.
    """

    answers: Mapping[str, Answer]
    model: str
    fingerprint: str | None = None
    logits: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    logits_source: LogitsSource = "none"
    split: tuple[str, ...] = ()
    highlights: tuple[str, ...] = ()
    abstained: tuple[str, ...] = ()
