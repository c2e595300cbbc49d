"""Fits the trees that judge two memory entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier

from clew.core.records import EntryPair
from clew.decide.evaluation.labelled import LabelledRow
from clew.decide.lexical.pairs import PAIR_HEADS, extract_pair_features
from clew.decide.training.examples import expect
from clew.decide.trees import DEPTH, TreeEnsemble

Floats = NDArray[np.float32]
_NODES, _LEAVES = 2**DEPTH - 1, 2**DEPTH
_LEAF = -2


@dataclass(frozen=True, kw_only=True)
class TreeRecipe:
    """Settings of the boosting."""

    trees: int = 200
    learning_rate: float = 0.06
    row_share: float = 0.6
    feature_share: float = 0.4
    seed: int = 0


def lexical_matrix(rows: Sequence[LabelledRow]) -> Floats:
    """Lexical features of pairs, [rows, features]."""
    return np.stack([extract_pair_features(expect(row, EntryPair)) for row in rows])


def fit_pair_trees(features: Floats, rows: Sequence[LabelledRow], recipe: TreeRecipe) -> TreeEnsemble:
    """Boosted trees, one ensemble per pair head; equal input gives equal trees."""
    fitted = [_fit(features, np.array([row.yes[head] for row in rows]), recipe) for head in PAIR_HEADS]
    feature, threshold, value, start = (np.stack(parts) for parts in zip(*fitted, strict=True))
    return TreeEnsemble(feature=feature, threshold=threshold, value=value, start=start)


def _fit(
    features: Floats, truth: NDArray[np.bool_], recipe: TreeRecipe
) -> tuple[NDArray[np.uint8], Floats, Floats, Floats]:
    if len(set(truth.tolist())) < 2:
        share = (truth.sum() + 0.5) / (len(truth) + 1)
        return (
            np.zeros((recipe.trees, _NODES), np.uint8),
            np.zeros((recipe.trees, _NODES), np.float32),
            np.zeros((recipe.trees, _LEAVES), np.float32),
            np.array(np.log(share / (1 - share)), np.float32),
        )
    model = GradientBoostingClassifier(
        n_estimators=recipe.trees,
        learning_rate=recipe.learning_rate,
        max_depth=DEPTH,
        subsample=recipe.row_share,
        max_features=recipe.feature_share,
        random_state=recipe.seed,
    ).fit(features, truth)
    trees = [_fill(one[0].tree_, recipe.learning_rate) for one in model.estimators_]
    share = truth.mean()
    return (
        np.stack([tree[0] for tree in trees]),
        np.stack([tree[1] for tree in trees]),
        np.stack([tree[2] for tree in trees]),
        np.array(np.log(share / (1 - share)), np.float32),  # what the boosting begins with
    )


def _fill(tree: Any, learning_rate: float) -> tuple[NDArray[np.uint8], Floats, Floats]:
    """A tree grown by need as a full one: below an early leaf, both sides give its value."""
    feature, threshold = np.zeros(_NODES, np.uint8), np.zeros(_NODES, np.float32)
    value = np.zeros(_LEAVES, np.float32)

    def place(node: int, at: int) -> None:
        is_leaf = tree.feature[node] == _LEAF
        if at >= _NODES:
            value[at - _NODES] = learning_rate * tree.value[node, 0, 0]
            return
        if not is_leaf:
            feature[at], threshold[at] = tree.feature[node], tree.threshold[node]
        left, right = (node, node) if is_leaf else (tree.children_left[node], tree.children_right[node])
        place(left, 2 * at + 1)
        place(right, 2 * at + 2)

    place(0, 0)
    return feature, threshold, value
