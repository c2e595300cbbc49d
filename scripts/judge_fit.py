"""Fits the heads of the built-in judge: logistic regressions, and how whole state and best sentence are combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from clew.core.records import State
from clew.decide.lexical.features import Features, extract_features
from clew.decide.lexical.grams import BUCKET_COUNT, REPLY_SEED, USER_SEED, iter_grams
from clew.decide.lexical.model import COLUMN, HEADS, REPLY_SCALE, TARGET_HEADS, Weights, combine_logits
from clew.decide.lexical.reading import read_state
from judge_data import Row, add_variants


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Settings of a fit.

    Attributes:
        gram_scale, hand_scale: size of n-gram and hand features; larger is less regularised.
        min_documents: n-grams of fewer rows are dropped.
        inner_folds: folds for fitting the combination on logits of unseen topics.
        natural_weight: weight of natural rows against authored ones.
        long_idle_weight: weight, in the combination, of messages of several sentences that hold nothing: in real
            conversations they are far commoner than in the data.
    """

    inverse_regularisation: float = 1.0
    gram_scale: float = 0.6
    hand_scale: float = 0.8
    min_documents: int = 2
    inner_folds: int = 4
    natural_weight: float = 2.0
    long_idle_weight: float = 2.0


@lru_cache(maxsize=20_000)
def features_of(state: State) -> Features:
    """Features of a state, remembered between fits."""
    return extract_features(read_state(state))


@lru_cache(maxsize=20_000)
def _gram_counts(state: State) -> tuple[np.ndarray, np.ndarray]:
    """Buckets and their values before inverse document frequency."""
    features = features_of(state)
    buckets: list[np.ndarray] = []
    values: list[np.ndarray] = []
    for text, seed, scale in (
        (" ".join(features.sentences), USER_SEED, 1.0),
        (features.reply, REPLY_SEED, REPLY_SCALE),
    ):
        if seed == REPLY_SEED and not text:
            continue
        found, counts = np.unique(np.concatenate(list(iter_grams(text, seed))), return_counts=True)
        buckets.append(found)
        values.append(scale * counts / np.sqrt(counts.sum()))
    return np.concatenate(buckets), np.concatenate(values)


def _gram_matrix(rows: Sequence[Row]) -> sparse.csr_matrix:
    parts = [_gram_counts(row.state) for row in rows]
    lengths = np.cumsum([0, *(len(buckets) for buckets, _ in parts)])
    indices = np.concatenate([buckets for buckets, _ in parts])
    values = np.concatenate([values for _, values in parts])
    matrix = sparse.csr_matrix((values, indices, lengths), shape=(len(rows), BUCKET_COUNT))
    matrix.sum_duplicates()
    return matrix


def fit_weights(rows: Sequence[Row], topics: Sequence[int], recipe: Recipe) -> Weights:
    """Fit all heads on the rows, and the combination on held-out topics of them."""
    folds = GroupKFold(min(recipe.inner_folds, len(set(topics))))
    whole = np.zeros((len(rows), len(HEADS)), np.float32)
    combined_inputs: list[np.ndarray] = [np.zeros(0)] * len(rows)
    identity = np.tile(np.array([1, 0, 0, 0], np.float32), (len(HEADS), 1))
    best_only = np.tile(np.array([0, 1, 0, 0], np.float32), (len(HEADS), 1))
    probe = _spread_rows(rows)
    for trained, held in folds.split(rows, groups=topics):
        heads = _fit_heads([rows[index] for index in trained], recipe, identity)
        for index in held:
            logits = heads.score(features_of(probe[index].state))
            whole[index] = logits.whole
            combined_inputs[index] = combine_logits(logits.whole, logits.by_sentence, best_only)
    best = np.stack(combined_inputs)
    spread = np.log([len(features_of(row.state).sentences) for row in probe])
    combine = _fit_combination(probe, whole, best, spread, recipe)
    return _fit_heads(rows, recipe, combine)


def _spread_rows(rows: Sequence[Row]) -> list[Row]:
    """For every row, itself or in turn its variant amid chatter: single sentences alone cannot teach combining."""
    variants = {row.id: row for row in add_variants(rows) if len(row.state.user) > 0}  # the last variant wins
    return [variants[row.id] if index % 2 else row for index, row in enumerate(rows)]


def _fit_heads(rows: Sequence[Row], recipe: Recipe, combine: np.ndarray) -> Weights:
    rows = add_variants(rows)
    counts = _gram_matrix(rows)
    documents = np.asarray((counts > 0).sum(axis=0)).ravel()
    kept = np.flatnonzero(documents >= recipe.min_documents)
    rarity = np.log((1 + len(rows)) / (1 + documents[kept])) * recipe.gram_scale
    hand = np.stack([features_of(row.state).whole for row in rows]) * recipe.hand_scale
    matrix = sparse.hstack([counts[:, kept] @ sparse.diags(rarity), hand], format="csr").astype(np.float64)
    weights = np.array([row.weight * (recipe.natural_weight if row.source == "natural" else 1.0) for row in rows])
    table = np.zeros((matrix.shape[1], len(HEADS)), np.float32)
    bias = np.zeros(len(HEADS), np.float32)
    for head, column in COLUMN.items():
        table[:, column], bias[column] = _fit_head(head, rows, matrix, weights, recipe)
    grams = np.zeros((BUCKET_COUNT, len(HEADS)), np.float32)
    grams[kept] = table[: len(kept)] * rarity[:, None]
    hand_table = (table[len(kept) :] * recipe.hand_scale).astype(np.float32)
    return Weights(grams=grams, hand=hand_table, bias=bias, combine=combine, fingerprint="")


def _fit_head(
    head: str, rows: Sequence[Row], matrix: sparse.csr_matrix, weights: np.ndarray, recipe: Recipe
) -> tuple[np.ndarray, float]:
    """One logistic regression. The category heads learn only from what should be saved."""
    chosen = np.array([head not in TARGET_HEADS or row.target != "none" for row in rows])
    truth = np.array([row.label(head) for row in rows])[chosen]
    if len(set(truth.tolist())) < 2:
        share = (truth.sum() + 0.5) / (len(truth) + 1)
        return np.zeros(matrix.shape[1]), float(np.log(share / (1 - share)))
    # liblinear is deterministic with a fixed seed; its penalised bias is scaled up so that it stays free
    model = LogisticRegression(
        C=recipe.inverse_regularisation, solver="liblinear", intercept_scaling=10, random_state=0, max_iter=300
    )
    model.fit(matrix[chosen], truth, sample_weight=weights[chosen])
    return model.coef_[0], float(model.intercept_[0])


def _fit_combination(
    rows: Sequence[Row], whole: np.ndarray, best: np.ndarray, spread: np.ndarray, recipe: Recipe
) -> np.ndarray:
    """Per head: weights of whole logit, best sentence, log of sentence count, and an offset."""
    combine = np.zeros((len(HEADS), 4), np.float32)
    is_long_and_idle = (spread > 0) & np.array([not row.should_save for row in rows])
    weights = np.where(is_long_and_idle, recipe.long_idle_weight, 1.0)
    for head, column in COLUMN.items():
        truth = np.array([row.label(head) for row in rows])
        if head in TARGET_HEADS or min(truth.sum(), (~truth).sum()) < 8:
            combine[column] = (0.5, 0.5, 0.0, 0.0)
            continue
        inputs = np.column_stack([whole[:, column], best[:, column], spread])
        model = LogisticRegression(C=1.0, random_state=0).fit(inputs, truth, sample_weight=weights)
        combine[column] = (*model.coef_[0], model.intercept_[0])
    return combine
