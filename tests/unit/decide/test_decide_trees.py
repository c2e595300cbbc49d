"""Ensembles of trees as arrays."""

from __future__ import annotations

import numpy as np
import pytest

from clew.decide.trees import TreeEnsemble, read_trees


def ensemble(threshold: float = 0.5) -> TreeEnsemble:
    """One head, two trees: the first looks at feature 0 and then at feature 1 everywhere, the second says 1 always."""
    feature = np.zeros((1, 2, 7), np.uint8)
    feature[0, 0, 1:] = 1
    thresholds = np.full((1, 2, 7), threshold, np.float32)
    value = np.ones((1, 2, 8), np.float32)
    value[0, 0] = range(8)
    return TreeEnsemble(feature=feature, threshold=thresholds, value=value, start=np.array([10], np.float32))


@pytest.mark.parametrize(("row", "leaf"), [((0, 0), 0), ((0, 1), 3), ((1, 0), 4), ((1, 1), 7)])
def test_a_row_falls_to_the_leaf_that_its_features_lead_to(row, leaf) -> None:
    assert ensemble().score(np.array(row, np.float32)) == pytest.approx([10 + leaf + 1])


def test_a_feature_at_the_threshold_goes_left() -> None:
    assert ensemble(threshold=1.0).score(np.array([1, 1], np.float32)) == pytest.approx([11])


def test_what_was_written_is_read() -> None:
    read = read_trees(ensemble().as_arrays("pairs"), "pairs")
    row = np.array([0.2, 0.9], np.float32)
    assert np.array_equal(read.score(row), ensemble().score(row))


def test_a_missing_part_is_named() -> None:
    with pytest.raises(KeyError, match="pairs_feature"):
        read_trees({}, "pairs")


def test_fitted_trees_give_the_probabilities_of_the_library_that_grew_them() -> None:
    pytest.importorskip("sklearn", reason="training needs scikit-learn")
    from sklearn.ensemble import GradientBoostingClassifier

    from clew.core.records import EntryPair
    from clew.decide.evaluation.labelled import LabelledRow
    from clew.decide.lexical.pairs import PAIR_HEADS
    from clew.decide.training.pair_fit import TreeRecipe, fit_pair_trees

    chance = np.random.default_rng(1)
    features = chance.normal(size=(120, 6)).astype(np.float32)
    truth = features[:, 0] * features[:, 1] > 0
    rows = [
        LabelledRow(
            judged=EntryPair(a="a", b="b"), id=str(at), source="s", lang="en", topic=str(at), is_test=False,
            subkind="", yes=dict.fromkeys(PAIR_HEADS, bool(yes)),
        )
        for at, yes in enumerate(truth)
    ]  # fmt: skip
    recipe = TreeRecipe(trees=30)
    fitted = fit_pair_trees(features, rows, recipe)
    reference = GradientBoostingClassifier(
        n_estimators=30, learning_rate=recipe.learning_rate, max_depth=3, subsample=recipe.row_share,
        max_features=recipe.feature_share, random_state=recipe.seed,
    ).fit(features, truth)  # fmt: skip
    ours = [fitted.score(row)[0] for row in features]
    assert ours == pytest.approx(reference.decision_function(features).tolist(), abs=1e-4)
