"""Finds temperatures: the one number per type that makes a model's stated probabilities fit what came true.

A temperature changes how sure a model sounds, never which option is likeliest. Method: Guo et al. 2017.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from clew.core.errors import InvalidInput
from clew.decide.calibration.fit import Fit
from clew.decide.calibration.rows import KINDS, CalibrationRow, RowKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: A type with fewer rows is not fitted.
MIN_ROWS = 10
LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE = 0.05, 20.0
_GRID_POINTS = 241
_HELD_OUT_SHARE = 0.3
#: Two losses nearer than this are the same; then the temperature nearer to 1 is taken.
_SAME_LOSS = 1e-12


def split_by_state(rows: Sequence[CalibrationRow]) -> tuple[list[CalibrationRow], list[CalibrationRow]]:
    """Part the rows: about 70 % to fit on, and the rest held out.

    All rows of a state fall on the same side, and on the same one whenever it is asked again, however the log grew:
    so a fit of today is never judged on rows that it has seen. Rows without a key go by their own content.
    """
    sides: tuple[list[CalibrationRow], list[CalibrationRow]] = ([], [])
    for row in rows:
        key = row.state_key or _canonical([row])
        sides[_position(key) < _HELD_OUT_SHARE].append(row)
    return sides


def _position(key: str) -> float:
    """Where a key falls in [0, 1)."""
    digest = hashlib.sha256(key.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:6]) / 2**48


def fit_temperatures(rows: Sequence[CalibrationRow], fingerprint: str) -> Fit:
    """The temperature of least mean negative log-likelihood for each type present.

    Raises:
        InvalidInput: there are no rows, or fewer than MIN_ROWS of a type.
    """
    by_kind = group_by_kind(rows)
    if not by_kind:
        raise InvalidInput("There are no labelled rows to fit.", "Answer some of the gate's proposals first.")
    for kind, group in by_kind.items():
        if len(group) < MIN_ROWS:
            raise InvalidInput(
                f"There are {len(group)} labelled rows of type {kind} to fit.", f"A fit needs {MIN_ROWS} of each type."
            )
    temperatures: dict[RowKind, float] = {}
    metrics: dict[str, Any] = {}
    for kind, group in by_kind.items():
        temperature = find_temperature(group)
        temperatures[kind] = temperature
        metrics[kind] = {
            "rows": len(group),
            "fit_nll_before": mean_loss(group, 1.0),
            "fit_nll_after": mean_loss(group, temperature),
        }
    return Fit(
        fingerprint=fingerprint,
        dataset_sha256=hashlib.sha256(_canonical(rows).encode()).hexdigest(),
        temperatures=temperatures,
        fit_metrics=metrics,
    )


def group_by_kind(rows: Sequence[CalibrationRow]) -> dict[RowKind, list[CalibrationRow]]:
    """Rows by type, for the types present."""
    groups = {kind: [row for row in rows if row.kind == kind] for kind in KINDS}
    return {kind: group for kind, group in groups.items() if group}


def find_temperature(rows: Sequence[CalibrationRow]) -> float:
    """The best of 241 temperatures between .05 and 20, evenly spaced in their logarithm, and of 1 itself."""
    import numpy as np

    logits, labels = as_arrays(rows)
    grid = [*np.geomspace(LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE, _GRID_POINTS).tolist(), 1.0]
    losses = [float(_losses(logits, labels, temperature).mean()) for temperature in grid]
    least = min(losses)
    best = [temperature for temperature, loss in zip(grid, losses, strict=True) if loss <= least + _SAME_LOSS]
    return float(min(best, key=lambda temperature: abs(np.log(temperature))))


def mean_loss(rows: Sequence[CalibrationRow], temperature: float) -> float:
    """Mean negative log-likelihood (nats) of the right answers."""
    return float(_losses(*as_arrays(rows), temperature).mean())


def as_arrays(rows: Sequence[CalibrationRow]) -> tuple[Floats, NDArray[np.intp]]:
    """Logits [rows, widest row] with missing options far below all others, and labels [rows]."""
    import numpy as np

    logits = np.full((len(rows), max(len(row.logits) for row in rows)), -np.inf)
    for index, row in enumerate(rows):
        logits[index, : len(row.logits)] = row.logits
    return logits, np.array([row.label_index for row in rows], dtype=np.intp)


def probabilities(logits: Floats, temperature: float) -> Floats:
    """Softmax of logits / temperature along the last axis."""
    import numpy as np

    powers = np.exp((logits - logits.max(axis=1, keepdims=True)) / temperature)
    scaled: Floats = powers / powers.sum(axis=1, keepdims=True)
    return scaled


def _losses(logits: Floats, labels: NDArray[np.intp], temperature: float) -> Floats:
    import numpy as np

    shifted = (logits - logits.max(axis=1, keepdims=True)) / temperature
    total = np.log(np.exp(shifted).sum(axis=1))
    lost: Floats = total - shifted[np.arange(len(labels)), labels]
    return lost


def _canonical(rows: Sequence[CalibrationRow]) -> str:
    listed = [row.as_rizzo() for row in rows]
    return json.dumps(listed, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
