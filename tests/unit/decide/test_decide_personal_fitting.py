"""Learning of one head: little evidence moves little, much evidence finds the truth, and nothing runs away."""

from __future__ import annotations

import numpy as np
import pytest

from clew.decide.personal.adjustment import MAX_BIAS, SLOPE_RANGE
from clew.decide.personal.fitting import fit_scale, fit_weights, log_losses


def draw(count: int, *, slope: float = 1.0, bias: float = 0.0, seed: int = 3):
    chance = np.random.default_rng(seed)
    logits = chance.normal(0, 2, count)
    return logits, chance.random(count) < 1 / (1 + np.exp(-(slope * logits + bias)))


def test_no_answers_leave_the_shipped_head() -> None:
    found = fit_scale(np.zeros(0), np.zeros(0, bool))
    assert (found.slope, found.bias, found.weights) == (1.0, 0.0, ())


def test_twenty_refusals_move_the_bias_by_about_one_and_not_more() -> None:
    found = fit_scale(np.zeros(20), np.zeros(20, bool))
    assert -1.2 < found.bias < -0.8
    assert found.slope == pytest.approx(1.0)


def test_many_answers_find_the_persons_own_slope_and_bias() -> None:
    found = fit_scale(*draw(5_000, slope=0.6, bias=-1.5))
    assert found.slope == pytest.approx(0.6, abs=0.06)
    assert found.bias == pytest.approx(-1.5, abs=0.12)


def test_the_fit_is_where_the_penalised_loss_is_least() -> None:
    logits, truth = draw(60, bias=1.0)
    found = fit_scale(logits, truth)

    def loss(slope: float, bias: float) -> float:
        return float(log_losses(slope * logits + bias, truth).sum() + 10 * (slope - 1) ** 2 + 2.5 * bias**2)

    least = loss(found.slope, found.bias)
    around = [loss(found.slope + x, found.bias + y) for x in (-0.01, 0, 0.01) for y in (-0.01, 0, 0.01) if x or y]
    assert least < min(around)


def test_answers_against_the_judge_never_turn_its_order_round() -> None:
    logits, truth = draw(2_000)
    found = fit_scale(logits, ~truth)
    assert found.slope == SLOPE_RANGE[0]


@pytest.mark.parametrize("size", [1e3, 1e6, 1e30])
def test_enormous_logits_give_finite_numbers(size: float) -> None:
    logits = np.array([size, -size] * 30)
    for truth in (logits > 0, logits < 0, np.ones(60, bool)):
        found = fit_weights(logits, np.stack([logits * 0, logits * 0 + 1, np.sign(logits)], axis=1), truth)
        assert SLOPE_RANGE[0] <= found.slope <= SLOPE_RANGE[1]
        assert abs(found.bias) <= MAX_BIAS
        assert np.isfinite(found.weights).all()


def test_weights_find_the_feature_that_the_judge_overlooks() -> None:
    chance = np.random.default_rng(5)
    logits, features = chance.normal(0, 1, 400), (chance.random((400, 30)) < 0.4).astype(float)
    truth = chance.random(400) < 1 / (1 + np.exp(-(logits + 4 * (features[:, 7] - 0.4))))
    found = fit_weights(logits, features, truth)
    assert int(np.argmax(np.abs(found.weights))) == 7
    assert found.weights[7] > 0.5
    assert max(abs(weight) for index, weight in enumerate(found.weights) if index != 7) < found.weights[7] / 2


def test_a_feature_that_never_varies_gets_no_weight() -> None:
    logits, truth = draw(80)
    features = np.stack([np.ones(80), logits > 0], axis=1)
    assert fit_weights(logits, features, truth).weights[0] == 0.0


def test_a_feature_that_was_seen_once_carries_little() -> None:
    features = (np.random.default_rng(2).random((60, 100)) < 0.3).astype(float)
    features[:, 4] = np.arange(60) == 3
    truth = np.zeros(60, bool)
    truth[3] = True
    assert abs(fit_weights(np.zeros(60), features, truth).weights[4]) < 0.3


def test_more_features_do_not_let_the_prior_shift_a_state_further() -> None:
    chance = np.random.default_rng(9)
    truth = chance.random(50) < 0.5
    spread = []
    for width in (20, 200):
        features = chance.normal(0, 1, (50, width))
        found = fit_weights(np.zeros(50), features, truth)
        spread.append(float((features @ np.array(found.weights)).std()))
    assert spread[1] < 1.5
    assert spread[1] < spread[0] * 3
