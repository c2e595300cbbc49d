"""Small ensembles of decision trees, as arrays: what joins many weak signs that matter only together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

#: Every tree is full: the children of node i are 2i + 1 (not above the threshold) and 2i + 2.
DEPTH = 3
_PARTS = ("feature", "threshold", "value", "start")


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEnsemble:
    """One logit per head, each the sum over its trees.

    Attributes:
        feature: [heads, trees, 7] uint8, which feature a node looks at.
        threshold: [heads, trees, 7] float32.
        value: [heads, trees, 8] float32, of the leaves from left to right.
        start: [heads] float32, what the sum begins with.
    """

    feature: NDArray[np.uint8]
    threshold: Floats
    value: Floats
    start: Floats

    def score(self, features: Floats) -> Floats:
        """Logits [heads] of one row of features."""
        import numpy as np

        heads, trees = np.ogrid[: self.feature.shape[0], : self.feature.shape[1]]
        node = np.zeros(self.feature.shape[:2], np.intp)
        for _ in range(DEPTH):
            is_above = features[self.feature[heads, trees, node]] > self.threshold[heads, trees, node]
            node = 2 * node + 1 + is_above
        leaf = node - (2**DEPTH - 1)
        logits: Floats = self.start + self.value[heads, trees, leaf].sum(axis=1)
        return logits

    def as_arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """The arrays under names of a weights file."""
        return {f"{name}_{part}": getattr(self, part) for part in _PARTS}


def read_trees(arrays: Mapping[str, Any], name: str) -> TreeEnsemble:
    """The ensemble that was written under a name. Raises KeyError if it is not there."""
    return TreeEnsemble(**{part: arrays[f"{name}_{part}"] for part in _PARTS})
