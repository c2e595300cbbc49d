"""The shipped judge as learning sees it: the one place that knows which weights are in use."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from clew.core.records import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.decide.builtin import BuiltinJudge
    from clew.decide.personal.adjustment import Adjustment

    Floats = NDArray[np.float32]


@lru_cache(maxsize=1)
def _shipped_judge() -> BuiltinJudge:
    from clew.decide.builtin import BuiltinJudge

    return BuiltinJudge()


def read_base_fingerprint() -> str:
    """Fingerprint of the shipped judge, without any personal adjustment."""
    return _shipped_judge().base_fingerprint


def read_fingerprint(adjustment: Adjustment) -> str:
    """Fingerprint of the judge that answers with this adjustment: rows of the log will name it."""
    from clew.decide.builtin import BuiltinJudge

    return BuiltinJudge(adjustment=adjustment).fingerprint


def score_state(state: State) -> tuple[Floats, Floats]:
    """What an adjustment rests on: the shipped judge's logits [gate heads] and the hand features [features]."""
    scores = _shipped_judge().score(state)
    return scores.logits, scores.features
