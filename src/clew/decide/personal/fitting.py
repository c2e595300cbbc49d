"""Fits one head to a person's answers: logistic regression with a Gaussian prior around the shipped judge.

The prior is what makes few answers move little, and what a head returns to where the answers say nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.decide.personal.adjustment import MAX_BIAS, MAX_WEIGHT, SLOPE_RANGE, HeadAdjustment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

#: Precisions of the prior: slope 1 give or take .22, bias 0 give or take .45.
SLOPE_PRECISION, BIAS_PRECISION = 20.0, 5.0
#: Least precision of a feature's weight, on features of unit variance.
MIN_WEIGHT_PRECISION = 3.0
#: A feature is scaled as if it varied by at least this, so that one that was seen once carries no great weight.
MIN_SPREAD = 0.25
_MAX_STEPS, _MAX_HALVINGS = 40, 30
_SAME_LOSS = 1e-10
#: Beyond this a logit says no more; it only makes numbers large.
_MAX_LOGIT = 30.0
_DIGITS = 6


def fit_scale(logits: Floats, truth: Bools) -> HeadAdjustment:
    """Slope and bias of one head.

    Args:
        logits: the shipped judge's, [rows].
        truth: the person's answers, [rows].
    """
    return _read_scale(_fit_map(_scale_columns(logits), truth, *_scale_prior()))


def fit_weights(logits: Floats, features: Floats, truth: Bools) -> HeadAdjustment:
    """Slope, bias and a weight for each hand feature of one head.

    The weights' precision is the number of features that vary, at least MIN_WEIGHT_PRECISION: so before any answer
    the shift of a typical state is 0 give or take 1, however many features there are.

    Args:
        features: hand features, [rows, features].
    """
    import numpy as np

    mean, spread = features.mean(axis=0), features.std(axis=0)
    varies = spread > 0
    scale = np.maximum(spread[varies], MIN_SPREAD)
    standard = (features[:, varies] - mean[varies]) / scale
    precision = max(MIN_WEIGHT_PRECISION, float(varies.sum()))
    centre, precisions = _scale_prior()
    found = _fit_map(
        np.hstack([_scale_columns(logits), standard]),
        truth,
        np.concatenate([centre, np.zeros(standard.shape[1])]),
        np.concatenate([precisions, np.full(standard.shape[1], precision)]),
    )
    weights = np.zeros(features.shape[1])
    weights[varies] = np.clip(found[2:] / scale, -MAX_WEIGHT, MAX_WEIGHT)
    found[1] -= weights @ mean
    return _read_scale(found, weights)


def _scale_columns(logits: Floats) -> Floats:
    import numpy as np

    return np.stack([np.clip(logits, -_MAX_LOGIT, _MAX_LOGIT), np.ones(len(logits))], axis=1)


def _scale_prior() -> tuple[Floats, Floats]:
    import numpy as np

    return np.array([1.0, 0.0]), np.array([SLOPE_PRECISION, BIAS_PRECISION])


def _read_scale(found: Floats, weights: Floats | None = None) -> HeadAdjustment:
    """Rounded, so that the file is short; the rounded numbers are what is used."""
    return HeadAdjustment(
        slope=round(min(max(float(found[0]), SLOPE_RANGE[0]), SLOPE_RANGE[1]), _DIGITS),
        bias=round(min(max(float(found[1]), -MAX_BIAS), MAX_BIAS), _DIGITS),
        weights=() if weights is None else tuple(round(float(weight), _DIGITS) for weight in weights),
    )


def _fit_map(design: Floats, truth: Bools, centre: Floats, precision: Floats) -> Floats:
    """The likeliest coefficients [columns] under the prior N(centre, 1/precision): Newton, a step halved until it helps.

    The loss is strictly convex, so there is one answer; the steps are bounded all the same.
    """
    import numpy as np

    found = centre.copy()
    least = _penalised_loss(design, truth, found, centre, precision)
    for _ in range(_MAX_STEPS):
        stated = 1.0 / (1.0 + np.exp(-np.clip(design @ found, -500, 500)))
        slope = design.T @ (stated - truth) + precision * (found - centre)
        curvature = (design * (stated * (1.0 - stated))[:, None]).T @ design + np.diag(precision)
        step = np.linalg.solve(curvature, slope)
        for _ in range(_MAX_HALVINGS):
            loss = _penalised_loss(design, truth, found - step, centre, precision)
            if loss < least:
                break
            step /= 2
        if not loss < least - _SAME_LOSS:
            break
        found, least = found - step, loss
    return found


def _penalised_loss(design: Floats, truth: Bools, found: Floats, centre: Floats, precision: Floats) -> float:
    penalty = 0.5 * float((precision * (found - centre) ** 2).sum())
    return float(log_losses(design @ found, truth).sum()) + penalty


def log_losses(logits: Floats, truth: Bools) -> Floats:
    """Log-loss (nats) of each answer, [rows]."""
    import numpy as np

    losses: Floats = np.logaddexp(0.0, np.where(truth, -logits, logits))
    return losses
