"""Metrics of yes/no answers, each with optional row weights, and bootstrap intervals.

A metric that cannot be told from the rows (one class missing, nothing proposed) is None, never a made-up number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

BINS = 10
BOOTSTRAP_ROUNDS = 1_000
_SEED = 20_240_601
_INTERVAL_PERCENTILES = (2.5, 97.5)

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin:
    """Answers whose probability fell into one tenth: mean of it, observed share of yes, and how many they are."""

    predicted: float
    observed: float
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals:
    """What a rule's proposals are worth. Shares in [0, 1]; None where nothing can be said.

    Attributes:
        precision: share of what was proposed that is worth it.
        recall: share of what is worth it that was proposed.
        false_share: share of what is not worth it that was proposed.
    """

    precision: float | None
    recall: float | None
    false_share: float | None


def auc(scores: Floats, truth: Bools, weights: Floats | None = None) -> float | None:
    """Area under the ROC curve: the chance that a yes scores above a no; a tie counts half."""
    import numpy as np

    return _auc_of_ranks(np.unique(scores, return_inverse=True)[1], truth, weights)


def _auc_of_ranks(ranks: NDArray[np.intp], truth: Bools, weights: Floats | None) -> float | None:
    import numpy as np

    weights = np.ones(len(ranks)) if weights is None else weights
    yes = np.bincount(ranks, weights=weights * truth)
    no = np.bincount(ranks, weights=weights * ~truth)
    if yes.sum() <= 0 or no.sum() <= 0:
        return None
    below = np.cumsum(no) - no
    return float((yes * (below + no / 2)).sum() / (yes.sum() * no.sum()))


def auc_interval(scores: Floats, truth: Bools, groups: Sequence[str]) -> Interval | None:
    """95 % bootstrap interval of the AUC. `groups` as for `bootstrap_interval`."""
    import numpy as np

    ranks = np.unique(scores, return_inverse=True)[1]
    return bootstrap_interval(lambda weights: _auc_of_ranks(ranks, truth, weights), groups)


def f1(is_yes: Bools, truth: Bools) -> float | None:
    """Harmonic mean of precision and recall; None when there is no yes, neither said nor true."""
    said, true = int(is_yes.sum()), int(truth.sum())
    return 2 * int((is_yes & truth).sum()) / (said + true) if said + true else None


def brier(probabilities: Floats, truth: Bools) -> float | None:
    """Mean squared distance of the probability of yes from what is true."""
    return float(((probabilities - truth) ** 2).mean()) if len(truth) else None


def reliability(probabilities: Floats, truth: Bools) -> tuple[ReliabilityBin, ...]:
    """The ten bins of equal width that hold rows, lowest first; 1.0 belongs to the last."""
    import numpy as np

    index = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    return tuple(
        ReliabilityBin(
            predicted=float(probabilities[index == number].mean()),
            observed=float(truth[index == number].mean()),
            rows=int((index == number).sum()),
        )
        for number in sorted(set(index.tolist()))
    )


def expected_calibration_error(probabilities: Floats, truth: Bools) -> float | None:
    """Mean gap between predicted and observed over the bins, weighted by their rows."""
    if not len(truth):
        return None
    bins = reliability(probabilities, truth)
    return sum(one.rows * abs(one.predicted - one.observed) for one in bins) / len(truth)


def measure_proposals(proposed: Bools, truth: Bools, weights: Floats | None = None) -> Proposals:
    """Precision, recall and false share of a rule."""
    import numpy as np

    weights = np.ones(len(truth)) if weights is None else weights

    def share(part: Bools, whole: Bools) -> float | None:
        total = float(weights[whole].sum())
        return float(weights[part & whole].sum()) / total if total > 0 else None

    return Proposals(
        precision=share(truth, proposed), recall=share(proposed, truth), false_share=share(proposed, ~truth)
    )


def weigh_to_share(truth: Bools, share: float) -> Floats:
    """Row weights under which a yes is this share of all: the others are weighed up or down."""
    import numpy as np

    yes, no = int(truth.sum()), int((~truth).sum())
    weight = yes * (1 - share) / (share * no) if yes and no else 1.0
    return np.where(truth, 1.0, weight)


def bootstrap_interval(measure: Callable[[Floats], float | None], groups: Sequence[str]) -> Interval | None:
    """95 % percentile interval of a measure under resampling; None if it can seldom be told.

    Args:
        measure: from row weights (how often each row was drawn) to the measure.
        groups: one name a row; rows of a group are drawn together, because they say much the same. Same groups, same
            draws: the seed is fixed.
    """
    import numpy as np

    found = [value for weights in _draw(groups) if (value := measure(weights)) is not None]
    if len(found) < BOOTSTRAP_ROUNDS // 2:
        return None
    low, high = np.percentile(found, _INTERVAL_PERCENTILES)
    return float(low), float(high)


def _draw(groups: Sequence[str]) -> Iterator[Floats]:
    import numpy as np

    if not groups:
        return
    names, index = np.unique(np.array(groups), return_inverse=True)
    chance: Any = np.random.default_rng(_SEED)
    even = np.full(len(names), 1 / len(names))
    for _ in range(BOOTSTRAP_ROUNDS):
        yield chance.multinomial(len(names), even)[index].astype(np.float64)
