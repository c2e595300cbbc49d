"""Metrics of the judge on labelled states, computed through the same classes that run in Clew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from clew.core.decisions import ChoiceAnswer, Decision, NoulAnswer, ScoreAnswer
from clew.decide.builtin import read_answers
from clew.decide.lexical.model import Weights
from clew.decide.questionnaire import load_questionnaire
from judge_data import Row
from judge_fit import features_of

YES_NO = ("has_secret", "is_session_scoped", "is_failure", "is_durable")
_QUESTIONS = load_questionnaire(None)


def decide_all(weights: Weights, rows: Sequence[Row]) -> list[Decision]:
    """The judge's decisions with these weights."""
    return [read_answers(weights.score(features_of(row.state)), row.state, _QUESTIONS) for row in rows]


def noul(decision: Decision, id_: str) -> float:
    """Probability of a yes/no question."""
    answer = decision.answers[id_]
    assert isinstance(answer, NoulAnswer)
    return answer.probability


def importance(decision: Decision) -> float:
    """Expected level."""
    answer = decision.answers["importance"]
    assert isinstance(answer, ScoreAnswer)
    return answer.score


def target(decision: Decision) -> ChoiceAnswer:
    """Chosen category."""
    answer = decision.answers["target"]
    assert isinstance(answer, ChoiceAnswer)
    return answer


def is_proposed(decision: Decision) -> bool:
    """The gate's rule at its default thresholds."""
    if noul(decision, "has_secret") >= 0.5 or noul(decision, "is_session_scoped") >= 0.8:
        return False
    if target(decision).choice == "none":
        return False
    level = importance(decision)
    is_kept = noul(decision, "is_durable") >= 0.5 and level >= 1.5
    return noul(decision, "is_failure") >= 0.5 or level >= 2.5 or is_kept


def measure_question(decisions: Sequence[Decision], rows: Sequence[Row], id_: str) -> dict[str, float]:
    """AUC, F1 at 0.5, Brier score and expected calibration error (10 equal bins)."""
    from sklearn.metrics import f1_score, roc_auc_score

    truth = np.array([row.label(id_) for row in rows])
    guess = np.array([noul(decision, id_) for decision in decisions])
    auc = roc_auc_score(truth, guess) if 0 < truth.sum() < len(truth) else float("nan")
    return {
        "auc": float(auc),
        "f1": float(f1_score(truth, guess >= 0.5, zero_division=0)),
        "brier": float(np.mean((guess - truth) ** 2)),
        "ece": calibration_error(guess, truth),
    }


def calibration_error(guess: np.ndarray, truth: np.ndarray) -> float:
    """Mean gap between stated probability and observed share over ten equal bins, weighted by size."""
    bins = np.minimum((guess * 10).astype(int), 9)
    gaps = [
        (bins == index).sum() * abs(guess[bins == index].mean() - truth[bins == index].mean()) for index in set(bins)
    ]
    return float(sum(gaps) / len(guess))


def measure_saving(decisions: Sequence[Decision], rows: Sequence[Row]) -> dict[str, float]:
    """Precision, recall and share of false proposals of the gate's rule."""
    proposed = np.array([is_proposed(decision) for decision in decisions])
    truth = np.array([row.should_save for row in rows])
    right = int((proposed & truth).sum())
    return {
        "rows": len(rows),
        "precision": right / max(1, int(proposed.sum())),
        "recall": right / max(1, int(truth.sum())),
        "false_proposals": float((proposed & ~truth).sum() / max(1, (~truth).sum())),
        "secrets_proposed": int(sum(p and row.has_secret for p, row in zip(proposed, rows, strict=True))),
    }


def measure(decisions: Sequence[Decision], rows: Sequence[Row]) -> dict[str, object]:
    """Everything, as JSON."""
    kept = [(target(d).probabilities, row) for d, row in zip(decisions, rows, strict=True) if row.should_save]
    hits = [max((c for c in p if c != "none"), key=lambda c: p[c]) == row.target for p, row in kept]
    errors = [abs(importance(decision) - row.importance) for decision, row in zip(decisions, rows, strict=True)]
    return {
        "questions": {id_: measure_question(decisions, rows, id_) for id_ in YES_NO},
        "importance_mae": float(np.mean(errors)),
        "target_accuracy": float(np.mean(hits)) if hits else float("nan"),
        "saving": measure_saving(decisions, rows),
        "saving_by_source": _by(decisions, rows, "source"),
        "saving_by_language": _by(decisions, rows, "lang"),
    }


def _by(decisions: Sequence[Decision], rows: Sequence[Row], field: str) -> dict[str, dict[str, float]]:
    found = {}
    for value in sorted(Counter(getattr(row, field) for row in rows)):
        chosen = [(d, row) for d, row in zip(decisions, rows, strict=True) if getattr(row, field) == value]
        found[value] = measure_saving([d for d, _ in chosen], [row for _, row in chosen])
    return found
