"""The shipped judge as learning sees it: the one place that knows which weights are in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.core.records import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


def read_base_fingerprint() -> str:
    """Fingerprint of the shipped judge, without any personal adjustment."""
    from clew.decide.lexical.model import load_weights

    return load_weights().fingerprint


def score_state(state: State) -> tuple[Floats, Floats]:
    """What an adjustment rests on: the shipped judge's combined logits [heads] and the hand features [features]."""
    from clew.decide.lexical.features import extract_features
    from clew.decide.lexical.model import load_weights
    from clew.decide.lexical.reading import read_state

    features = extract_features(read_state(state))
    return load_weights().score(features).combined, features.whole
