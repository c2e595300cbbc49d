"""Fits the lexical heads: logistic regressions over character n-grams and hand features."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from clew.core.records import DatedEntry, State
from clew.decide.evaluation.labelled import LabelledRow
from clew.decide.lexical.features import Features, extract_features
from clew.decide.lexical.grams import BUCKET_COUNT, REPLY_SEED, USER_SEED, iter_grams
from clew.decide.lexical.model import COLUMN, GATE_HEADS, HEADS, RELEVANCE_HEAD, REPLY_SCALE, TARGET_HEADS
from clew.decide.lexical.reading import read_state
from clew.decide.training.examples import Example, add_variants, expect

Floats = NDArray[np.float64]
_CPU_THREADS = 2


@dataclass(frozen=True, kw_only=True)
class LexicalRecipe:
    """Settings of a fit.

    Attributes:
        gram_scale, hand_scale: size of n-gram and hand features; larger is less regularised.
        min_documents: n-grams of fewer rows are dropped.
    """

    inverse_regularisation: float = 1.0
    gram_scale: float = 0.6
    hand_scale: float = 0.8
    min_documents: int = 2


@dataclass(frozen=True, kw_only=True)
class LexicalTables:
    """Fitted tables: [buckets, heads], [hand features, heads], [heads]."""

    grams: NDArray[np.float32]
    hand: NDArray[np.float32]
    bias: NDArray[np.float32]


@lru_cache(maxsize=60_000)
def features_of(state: State) -> Features:
    """Features of a state, remembered between fits."""
    return extract_features(read_state(state))


def fit_lexical(examples: Sequence[Example], entries: Sequence[LabelledRow], recipe: LexicalRecipe) -> LexicalTables:
    """Fit all heads; equal input gives equal tables."""
    examples = add_variants(examples)
    states = [example.state for example in examples] + [entry_state(row) for row in entries]
    counts = _gram_matrix(states)
    documents = np.asarray((counts > 0).sum(axis=0)).ravel()
    kept = np.flatnonzero(documents >= recipe.min_documents)
    rarity = np.log((1 + len(states)) / (1 + documents[kept])) * recipe.gram_scale
    hand = np.stack([features_of(state).whole for state in states]) * recipe.hand_scale
    matrix = sparse.hstack([counts[:, kept] @ sparse.diags(rarity), hand], format="csr").astype(np.float64)
    tasks = {head: _gate_task(head, examples) for head in GATE_HEADS}
    tasks[RELEVANCE_HEAD] = _relevance_task(entries, first=len(examples))

    def fit(head: str) -> tuple[Floats, float]:
        task = tasks[head]
        return _fit_logistic(matrix[task.places], task.truth, task.weights, recipe.inverse_regularisation)

    table = np.zeros((matrix.shape[1], len(HEADS)), np.float32)
    bias = np.zeros(len(HEADS), np.float32)
    with ThreadPoolExecutor(_CPU_THREADS) as threads:  # liblinear lets go of the interpreter while it works
        for head, (row, offset) in zip(HEADS, threads.map(fit, HEADS), strict=True):
            table[:, COLUMN[head]], bias[COLUMN[head]] = row, offset
    grams = np.zeros((BUCKET_COUNT, len(HEADS)), np.float32)
    grams[kept] = table[: len(kept)] * rarity[:, None]
    return LexicalTables(
        # as they will be stored: what is fitted on top must see the same numbers
        grams=grams.astype(np.float16).astype(np.float32),
        hand=(table[len(kept) :] * recipe.hand_scale).astype(np.float32),
        bias=bias,
    )


class _Task(NamedTuple):
    """What one head learns: rows of the matrix, the truth for each, and its weight."""

    places: NDArray[np.intp]
    truth: NDArray[np.bool_]
    weights: Floats


def _gate_task(head: str, examples: Sequence[Example]) -> _Task:
    """The category heads learn only from what belongs somewhere."""
    places = [
        place
        for place, example in enumerate(examples)
        if head not in TARGET_HEADS or any(example.truth[name] for name in TARGET_HEADS)
    ]
    truth = np.array([examples[place].truth[head] for place in places], dtype=bool)
    return _Task(np.array(places, np.intp), truth, np.array([examples[place].weight for place in places]))


def _relevance_task(entries: Sequence[LabelledRow], *, first: int) -> _Task:
    truth = np.array([row.yes[RELEVANCE_HEAD] for row in entries], dtype=bool)
    return _Task(np.arange(first, first + len(entries)), truth, np.ones(len(entries)))


def entry_state(row: LabelledRow) -> State:
    """A memory entry as a message, so that the same features describe it."""
    return State(user=expect(row, DatedEntry).entry)


def _fit_logistic(
    matrix: sparse.csr_matrix | NDArray[np.float32], truth: NDArray[np.bool_], weights: Floats, inverse: float
) -> tuple[Floats, float]:
    """One logistic regression; a constant when there is only one answer to learn."""
    if len(set(truth.tolist())) < 2:
        share = (truth.sum() + 0.5) / (len(truth) + 1)
        return np.zeros(matrix.shape[1]), float(np.log(share / (1 - share)))
    # liblinear is deterministic with a fixed seed; its penalised bias is scaled up so that it stays free
    model = LogisticRegression(C=inverse, solver="liblinear", intercept_scaling=10, random_state=0, max_iter=300)
    model.fit(matrix, truth, sample_weight=weights)
    return model.coef_[0], float(model.intercept_[0])


@lru_cache(maxsize=60_000)
def _gram_counts(state: State) -> tuple[NDArray[np.intp], Floats]:
    """Buckets and their values before inverse document frequency."""
    features = features_of(state)
    buckets: list[NDArray[np.intp]] = []
    values: list[Floats] = []
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


def _gram_matrix(states: Sequence[State]) -> sparse.csr_matrix:
    parts = [_gram_counts(state) for state in states]
    lengths = np.cumsum([0, *(len(buckets) for buckets, _ in parts)])
    indices = np.concatenate([buckets for buckets, _ in parts])
    values = np.concatenate([values for _, values in parts])
    matrix = sparse.csr_matrix((values, indices, lengths), shape=(len(states), BUCKET_COUNT))
    matrix.sum_duplicates()
    return matrix
