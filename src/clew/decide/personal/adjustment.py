"""A personal adjustment: for a few heads another slope and bias of the shipped logit, and a shift by hand features."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from clew.decide.evaluation.json_lines import shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

#: Heads that a person's answers may move. Never `has_secret`: what was taught by mistake must not open that door.
LEARNED_HEADS: tuple[str, ...] = ("is_durable", "is_session_scoped", "is_failure", "save")
#: Bounds of what is learned, and of what a file may say: the order of states is bent, never turned round.
SLOPE_RANGE = (0.25, 4.0)
MAX_BIAS = 8.0
MAX_WEIGHT = 4.0
_FIELDS = frozenset({"slope", "bias", "weights"})


@dataclass(frozen=True, kw_only=True)
class HeadAdjustment:
    """New logit = slope · logit + bias + weights · hand features. `weights` is empty, or one number for each feature."""

    slope: float
    bias: float
    weights: tuple[float, ...] = ()

    def apply(self, logits: Floats, features: Floats) -> Floats:
        """Adjusted logits [...] of the head, from its shipped logits [...] and hand features [..., features]."""
        adjusted: Floats = logits * self.slope + self.bias
        return adjusted + features @ self._weights if self.weights else adjusted

    @cached_property
    def _weights(self) -> Floats:
        import numpy as np

        return np.array(self.weights, np.float32)

    def as_json(self) -> dict[str, Any]:
        """As it stands in the file."""
        return {"slope": self.slope, "bias": self.bias, "weights": list(self.weights)}


@dataclass(frozen=True, kw_only=True)
class Adjustment:
    """Corrections of the shipped judge for one person. Immutable; heads that are not named keep their logit.

    Attributes:
        base_fingerprint: the shipped judge that it was learned for; it means nothing for another.
        heads: head → correction.
    """

    base_fingerprint: str
    heads: Mapping[str, HeadAdjustment]

    @cached_property
    def fingerprint(self) -> str:
        """Sha256 (hex) of the base and of all numbers: the identity of the judge so adjusted."""
        content = {"base": self.base_fingerprint, "heads": self.heads_json()}
        return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()

    def heads_json(self) -> dict[str, Any]:
        """Heads as they stand in the file."""
        return {head: one.as_json() for head, one in self.heads.items()}

    def apply(self, logits: Floats, features: Floats) -> Floats:
        """Adjusted logits.

        Args:
            logits: combined logits of the shipped judge, [heads], or [states, heads].
            features: hand features of the state, [features], or [states, features].
        """
        import numpy as np

        from clew.decide.lexical.model import COLUMN

        adjusted = np.array(logits, np.float32)
        for head, one in self.heads.items():
            adjusted[..., COLUMN[head]] = one.apply(logits[..., COLUMN[head]], features)
        return adjusted


def parse_heads(raw: Any) -> dict[str, HeadAdjustment]:
    """Heads from the file. Raises ValueError that says what is wrong with them."""
    if not isinstance(raw, dict) or not raw:
        raise ValueError("heads is not an object with at least one head")
    return {head: _parse_head(head, one) for head, one in raw.items()}


def _parse_head(head: str, raw: Any) -> HeadAdjustment:
    from clew.decide.lexical.features import FEATURE_NAMES

    def refuse(what: str) -> NoReturn:
        raise ValueError(f'the head "{shown(head)}" {what}')

    if head not in LEARNED_HEADS:
        refuse("is none that can be learned")
    if not isinstance(raw, dict) or set(raw) != _FIELDS:
        refuse("does not have exactly slope, bias and weights")
    low, high = SLOPE_RANGE
    if not _is_within(raw["slope"], low, high):
        refuse(f"has a slope that is no number from {low:g} to {high:g}")
    if not _is_within(raw["bias"], -MAX_BIAS, MAX_BIAS):
        refuse(f"has a bias that is no number from {-MAX_BIAS:g} to {MAX_BIAS:g}")
    weights = raw["weights"]
    if not isinstance(weights, list) or len(weights) not in {0, len(FEATURE_NAMES)}:
        refuse(f"does not have {len(FEATURE_NAMES)} weights, or none")
    if not all(_is_within(weight, -MAX_WEIGHT, MAX_WEIGHT) for weight in weights):
        refuse(f"has a weight that is no number from {-MAX_WEIGHT:g} to {MAX_WEIGHT:g}")
    return HeadAdjustment(slope=float(raw["slope"]), bias=float(raw["bias"]), weights=tuple(map(float, weights)))


def _is_within(value: Any, low: float, high: float) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and low <= value <= high and math.isfinite(value)
