"""Metrics against numbers computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from clew.decide.evaluation.metrics import (
    auc,
    auc_interval,
    bootstrap_interval,
    brier,
    expected_calibration_error,
    f1,
    measure_proposals,
    reliability,
    weigh_to_share,
)


def numbers(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def truths(text: str) -> np.ndarray:
    """`y` is yes, `n` is no."""
    return np.array([char == "y" for char in text], dtype=bool)


@pytest.mark.parametrize(
    ("scores", "truth", "expected"),
    [
        ((0.1, 0.2, 0.8, 0.9), "nnyy", 1.0),
        ((0.9, 0.8, 0.2, 0.1), "nnyy", 0.0),
        ((0.5, 0.5, 0.5), "yny", 0.5),
        ((0.1, 0.4, 0.35, 0.8), "nnyy", 0.75),
        ((0.1, 0.4, 0.4, 0.8), "nnyy", 0.875),  # one tie between a yes and a no counts half
        ((0.3, 0.4), "yy", None),
        ((), "", None),
    ],
)
def test_auc_counts_pairs_and_half_of_the_ties(scores: tuple[float, ...], truth: str, expected: float | None) -> None:
    found = auc(numbers(*scores), truths(truth))
    assert found == (expected if expected is None else pytest.approx(expected))


def test_auc_with_weights_is_that_of_repeated_rows() -> None:
    scores, truth = numbers(0.1, 0.4, 0.4, 0.8, 0.2), truths("nnyyy")
    repeats = np.array([1, 3, 2, 1, 2])
    repeated = auc(np.repeat(scores, repeats), np.repeat(truth, repeats))
    assert auc(scores, truth, repeats.astype(float)) == pytest.approx(repeated)


def test_f1_brier_and_calibration_error() -> None:
    stated, truth = numbers(0.95, 0.92, 0.65, 0.05), truths("ynyn")
    assert f1(stated >= 0.5, truth) == pytest.approx(2 * 2 / (3 + 2))
    assert f1(stated >= 2, truths("nnnn")) is None
    assert brier(stated, truth) == pytest.approx((0.05**2 + 0.92**2 + 0.35**2 + 0.05**2) / 4)
    # bins: .9-1 (mean .935, observed .5, 2 rows), .6-.7 (.65, 1), 0-.1 (.05, 0)
    assert expected_calibration_error(stated, truth) == pytest.approx((2 * 0.435 + 0.35 + 0.05) / 4)
    assert brier(numbers(), truths("")) is None
    assert expected_calibration_error(numbers(), truths("")) is None


def test_zero_and_one_belong_to_the_outer_bins() -> None:
    bins = reliability(numbers(0.0, 1.0), truths("ny"))
    assert [(one.predicted, one.observed, one.rows) for one in bins] == [(0.0, 0.0, 1), (1.0, 1.0, 1)]


def test_precision_recall_and_false_share() -> None:
    found = measure_proposals(truths("yyynnn"), truths("yynynn"))
    assert (found.precision, found.recall, found.false_share) == pytest.approx((2 / 3, 2 / 3, 1 / 3))
    nothing = measure_proposals(truths("nn"), truths("nn"))
    assert (nothing.precision, nothing.recall, nothing.false_share) == (None, None, 0.0)


def test_weighing_to_a_share_changes_precision_and_leaves_recall() -> None:
    truth, proposed = truths("yyyyynnnnn"), truths("yyyynynnnn")
    weights = weigh_to_share(truth, 0.1)
    assert weights[truth].sum() / weights.sum() == pytest.approx(0.1)
    found = measure_proposals(proposed, truth, weights)
    assert found.precision == pytest.approx(4 / (4 + 9))  # each no stands for nine
    assert found.recall == pytest.approx(0.8)


def test_intervals_hold_the_value_are_repeatable_and_shrink_with_more_rows() -> None:
    chance = np.random.default_rng(0)
    truth = chance.random(400) < 0.5
    scores = chance.random(400) + truth * 0.5
    groups = [str(number) for number in range(400)]
    low, high = auc_interval(scores, truth, groups) or (1.0, 0.0)
    assert low < (auc(scores, truth) or 0) < high
    assert auc_interval(scores, truth, groups) == (low, high)
    few_low, few_high = auc_interval(scores[:60], truth[:60], groups[:60]) or (0.0, 0.0)
    assert few_high - few_low > high - low


def test_rows_of_one_topic_are_drawn_together() -> None:
    truth = truths("yn" * 50)
    one_topic = bootstrap_interval(lambda weights: measure_proposals(truth, truth, weights).recall, ["t"] * 100)
    assert one_topic == (1.0, 1.0)
    wide = bootstrap_interval(
        lambda weights: float((weights * truth).sum() / weights.sum()), [f"{n // 25}" for n in range(100)]
    )
    narrow = bootstrap_interval(
        lambda weights: float((weights * truth).sum() / weights.sum()), [str(n) for n in range(100)]
    )
    assert wide
    assert narrow
    assert wide[1] - wide[0] < narrow[1] - narrow[0]  # each topic is half yes, so that drawing topics changes little


def test_an_interval_of_what_cannot_be_told_is_none() -> None:
    assert bootstrap_interval(lambda _: None, ["a", "b"]) is None
    assert bootstrap_interval(lambda _: 1.0, []) is None
