"""How honest the probabilities are on rows that no fit has seen, before and after the temperature, and what thresholds
they bear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.core.errors import InvalidInput
from clew.decide.calibration.fit import Fit
from clew.decide.calibration.fitting import (
    MIN_ROWS,
    as_arrays,
    find_temperature,
    group_by_kind,
    mean_loss,
    probabilities,
    split_by_state,
)
from clew.decide.calibration.rows import CalibrationRow, RowKind
from clew.decide.evaluation.metrics import (
    ReliabilityBin,
    expected_calibration_error,
    measure_proposals,
    reliability,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

DEFAULT_PRECISION = 0.9
DEFAULT_THRESHOLD = 0.5
#: A precision is not told from fewer answers than this.
MIN_ANSWERS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Honesty:
    """Proper scores of stated probabilities; lower is better.

    Attributes:
        nll: mean negative log-likelihood of the right answers, in nats.
        brier: boolean: mean squared distance of P(true) from the truth; others: the same summed over the options.
        ece: expected calibration error over ten bins, of P(true) for a boolean and of the likeliest option for others.
        bins: what `ece` is made of.
    """

    nll: float
    brier: float
    ece: float
    bins: tuple[ReliabilityBin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """A threshold and what it does on the held-out rows; None = too few rows to tell."""

    threshold: float
    precision: float | None
    recall: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupReport:
    """One type of question, or one question.

    Attributes:
        name: the type, or the question's id.
        fit_rows, held_out_rows: labelled rows on each side of the split.
        before, after: on the held-out rows, at temperature 1 and at `temperature`; None if there are none.
        current: what the threshold in force does (yes/no questions only).
        suggested: the least threshold with the wished precision on the rows of the fit; None if they do not show one.
    """

    name: str
    kind: RowKind
    temperature: float
    fit_rows: int
    held_out_rows: int
    before: Honesty | None
    after: Honesty | None
    current: OperatingPoint | None = None
    suggested: OperatingPoint | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationReport:
    """The whole report.

    Attributes:
        source: `fit` when the temperatures come from a file, `rows` when they were found on 70 % of these rows.
        unfitted: types that had too few rows; their temperature is 1.
    """

    source: str
    precision: float
    types: tuple[GroupReport, ...]
    questions: tuple[GroupReport, ...]
    unfitted: tuple[RowKind, ...]


def report_calibration(
    rows: Sequence[CalibrationRow],
    *,
    fit: Fit | None = None,
    thresholds: Mapping[str, float] | None = None,
    precision: float = DEFAULT_PRECISION,
) -> CalibrationReport:
    """Measure stated probabilities on the held-out rows.

    Args:
        fit: temperatures to judge; None finds them on the other rows.
        thresholds: question → threshold in force; DEFAULT_THRESHOLD for others.
        precision: the wished one, for the suggested thresholds.

    Raises:
        InvalidInput: there are no rows.
    """
    if not rows:
        raise InvalidInput("There are no labelled rows to report on.", "Answer some of the gate's proposals first.")
    to_fit, held_out = split_by_state(rows)
    temperatures = dict(fit.temperatures) if fit else _find_temperatures(to_fit)
    kinds = group_by_kind(rows)

    def report(name: str, kind: RowKind, question: str | None) -> GroupReport:
        def own(side: Sequence[CalibrationRow]) -> list[CalibrationRow]:
            return [row for row in side if row.kind == kind and question in (None, row.question)]

        threshold = (thresholds or {}).get(name, DEFAULT_THRESHOLD) if question else None
        return _report_group(
            name, kind, temperatures.get(kind, 1.0), own(to_fit), own(held_out), threshold=threshold, wished=precision
        )

    questions = sorted({(row.question, row.kind) for row in rows if row.question})
    return CalibrationReport(
        source="fit" if fit else "rows",
        precision=precision,
        types=tuple(report(kind, kind, None) for kind in kinds),
        questions=tuple(report(question, kind, question) for question, kind in questions if question),
        unfitted=tuple(kind for kind in kinds if kind not in temperatures),
    )


def _find_temperatures(rows: Sequence[CalibrationRow]) -> dict[RowKind, float]:
    groups = group_by_kind(rows).items()
    return {kind: find_temperature(group) for kind, group in groups if len(group) >= MIN_ROWS}


def _report_group(
    name: str,
    kind: RowKind,
    temperature: float,
    to_fit: Sequence[CalibrationRow],
    held_out: Sequence[CalibrationRow],
    *,
    threshold: float | None,
    wished: float,
) -> GroupReport:
    is_yes_no = kind == "boolean" and threshold is not None
    return GroupReport(
        name=name,
        kind=kind,
        temperature=temperature,
        fit_rows=len(to_fit),
        held_out_rows=len(held_out),
        before=measure_honesty(held_out, 1.0) if held_out else None,
        after=measure_honesty(held_out, temperature) if held_out else None,
        current=_operate(held_out, temperature, threshold) if is_yes_no and threshold is not None else None,
        suggested=_suggest(to_fit, held_out, temperature, wished) if is_yes_no else None,
    )


def measure_honesty(rows: Sequence[CalibrationRow], temperature: float) -> Honesty:
    """Scores of rows of one type (at least one row) at a temperature."""
    import numpy as np

    logits, labels = as_arrays(rows)
    shares = probabilities(logits, temperature)
    if rows[0].kind == "boolean":
        stated, came_true = shares[:, 1], labels == 1
        brier = float(((stated - came_true) ** 2).mean())
    else:
        stated, came_true = shares.max(axis=1), shares.argmax(axis=1) == labels
        brier = float(((shares - np.eye(shares.shape[1])[labels]) ** 2).sum(axis=1).mean())
    return Honesty(
        nll=mean_loss(rows, temperature),
        brier=brier,
        ece=expected_calibration_error(stated, came_true) or 0.0,
        bins=reliability(stated, came_true),
    )


def _yes_no(rows: Sequence[CalibrationRow], temperature: float) -> tuple[Floats, Bools]:
    """P(true) and the truth of boolean rows."""
    logits, labels = as_arrays(rows)
    return probabilities(logits, temperature)[:, 1], labels == 1


def _operate(rows: Sequence[CalibrationRow], temperature: float, threshold: float) -> OperatingPoint:
    if not rows:
        return OperatingPoint(threshold=threshold, precision=None, recall=None)
    stated, truth = _yes_no(rows, temperature)
    found = measure_proposals(stated >= threshold, truth)
    return OperatingPoint(
        threshold=threshold,
        precision=found.precision if int((stated >= threshold).sum()) >= MIN_ANSWERS else None,
        recall=found.recall if int(truth.sum()) >= MIN_ANSWERS else None,
    )


def _suggest(
    to_fit: Sequence[CalibrationRow], held_out: Sequence[CalibrationRow], temperature: float, wished: float
) -> OperatingPoint | None:
    """The least threshold at and above which the wished share of the fit's rows is true; then measured held out."""
    import numpy as np

    if len(to_fit) < MIN_ANSWERS:
        return None
    stated, truth = _yes_no(to_fit, temperature)
    order = np.argsort(-stated, kind="stable")
    counts = np.arange(1, len(order) + 1)
    precisions = np.cumsum(truth[order]) / counts
    is_last_of_tie = np.append(np.diff(stated[order]) != 0, True)
    good = np.flatnonzero((precisions >= wished) & (counts >= MIN_ANSWERS) & is_last_of_tie)
    return _operate(held_out, temperature, float(stated[order][good[-1]])) if len(good) else None
