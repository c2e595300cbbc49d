"""Fits how whole message, best sentence and encoder are combined, on topics that none of the heads has seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from clew.decide.encoder import joining
from clew.decide.lexical.model import COLUMN, GATE_HEADS, RELEVANCE_HEAD, TARGET_HEADS
from clew.decide.lexical.pairs import PAIR_HEADS

Floats = NDArray[np.float32]
_YES_NO = tuple(head for head in GATE_HEADS if head not in TARGET_HEADS)
#: Fewer of either answer than this say nothing; the head then keeps the mean of its views.
_LEAST_ROWS = 8


@dataclass(frozen=True, kw_only=True)
class CombinationRecipe:
    """Settings of the combination."""

    inverse_regularisation: float = 1.0


def fit_gate(inputs: Floats, truth: Sequence[Mapping[str, bool]], recipe: CombinationRecipe) -> Floats:
    """Weights [gate heads, inputs] from inputs [examples, gate heads, inputs], whose last or only constant is free.

    The category heads are fitted together on what belongs somewhere, since they compete.
    """
    table = np.zeros(inputs.shape[1:], np.float32)
    for head in _YES_NO:
        answers = np.array([one[head] for one in truth])
        table[COLUMN[head]] = _fit_one(inputs[:, COLUMN[head]], answers, recipe)
    columns = [COLUMN[head] for head in TARGET_HEADS]
    chosen = np.array([[one[head] for head in TARGET_HEADS] for one in truth])
    somewhere = chosen.any(axis=1)
    table[columns] = _fit_categories(inputs[somewhere][:, columns], chosen[somewhere].argmax(axis=1))
    return table


def fit_pairs(inputs: Floats, truth: Sequence[Mapping[str, bool]], recipe: CombinationRecipe) -> Floats:
    """Weights [pair heads, inputs] from inputs [pairs, inputs]."""
    return np.stack([_fit_one(inputs, np.array([one[head] for one in truth]), recipe) for head in PAIR_HEADS])


def fit_relevance(inputs: Floats, truth: Sequence[Mapping[str, bool]], recipe: CombinationRecipe) -> Floats:
    """Weights [inputs] from inputs [entries, inputs]."""
    answers = np.array([one[RELEVANCE_HEAD] for one in truth])
    return _fit_one(inputs, answers, recipe)


def _fit_one(inputs: Floats, answers: NDArray[np.bool_], recipe: CombinationRecipe) -> Floats:
    """A logistic regression whose constants are inputs already."""
    if min(answers.sum(), (~answers).sum()) < _LEAST_ROWS:
        return _mean_of_views(inputs.shape[1])
    model = LogisticRegression(C=recipe.inverse_regularisation, fit_intercept=False, tol=1e-6, max_iter=1_000)
    model.fit(inputs.astype(np.float64), answers)
    found: Floats = model.coef_[0].astype(np.float32)
    return found


def _mean_of_views(count: int) -> Floats:
    row = np.zeros(count, np.float32)
    row[:2] = 0.5
    return row


def _fit_categories(inputs: Floats, chosen: NDArray[np.intp]) -> Floats:
    """One factor for the lexical views and one for the encoder's, the same for all categories, by their likelihood."""
    count = inputs.shape[2]
    lexical = inputs[:, :, :2].mean(axis=2).astype(np.float64)
    encoder = inputs[:, :, joining.ENCODER_INPUT].astype(np.float64) if count > joining.ENCODER_INPUT else None

    def loss(factors: NDArray[np.float64]) -> float:
        logits = factors[0] * lexical + (factors[1] * encoder if encoder is not None else 0)
        logits = logits - logits.max(axis=1, keepdims=True)
        log_shares = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return float(-log_shares[np.arange(len(chosen)), chosen].mean() + 1e-3 * (factors**2).sum())

    factors = minimize(loss, np.ones(2), method="Nelder-Mead").x if len(chosen) >= _LEAST_ROWS else np.ones(2)
    row = np.zeros(count, np.float32)
    row[:2] = factors[0] / 2
    if encoder is not None:
        row[joining.ENCODER_INPUT] = factors[1]
    return np.tile(row, (len(TARGET_HEADS), 1))
