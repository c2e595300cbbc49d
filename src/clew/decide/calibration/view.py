"""Calibration as a person or a program reads it, and as a diagram."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from clew.decide.calibration.fit import Fit, short
from clew.decide.calibration.report import CalibrationReport, GroupReport, OperatingPoint
from clew.decide.calibration.sources import GatheredRows
from clew.decide.evaluation.diagram import Panel, draw_reliability
from clew.decide.evaluation.table import render_table, show_number


def render_report(report: CalibrationReport, gathered: GatheredRows) -> str:
    """The report as text."""
    return "\n".join(_report_lines(report, gathered))


def _report_lines(report: CalibrationReport, gathered: GatheredRows) -> Iterator[str]:
    yield f"{describe_rows(gathered)}; measured on the states held out (30 %)."
    yield "Temperatures: " + ("from the fit." if report.source == "fit" else "found on the other 70 %.")
    if report.unfitted:
        yield f"Too few rows for {', '.join(report.unfitted)}: temperature 1."
    yield ""
    yield from render_table(
        ("", "T", "rows", "held out", "NLL", "→", "Brier", "→", "ECE", "→"),
        [_honesty_cells(group) for group in (*report.types, *report.questions)],
    )
    points = [_threshold_cells(group) for group in report.questions if group.current]
    if points:
        yield ""
        yield f"Thresholds, calibrated; suggested for a precision of {report.precision:g} (? = too few rows to tell):"
        yield from render_table(("", "now", "P", "R", "suggested", "P", "R"), points)


def _honesty_cells(group: GroupReport) -> tuple[str, ...]:
    cells = [
        group.name,
        f"{group.temperature:.2f}",
        str(group.fit_rows + group.held_out_rows),
        str(group.held_out_rows),
    ]
    for name in ("nll", "brier", "ece"):
        cells += [show_number(getattr(one, name) if one else None, 3) for one in (group.before, group.after)]
    return tuple(cells)


def _threshold_cells(group: GroupReport) -> tuple[str, ...]:
    return (group.name, *_point_cells(group.current), *_point_cells(group.suggested))


def _point_cells(point: OperatingPoint | None) -> tuple[str, str, str]:
    if point is None:
        return ("?", "?", "?")
    return show_number(point.threshold), show_number(point.precision), show_number(point.recall)


def report_json(report: CalibrationReport, gathered: GatheredRows) -> dict[str, Any]:
    """The report as JSON; null where there are too few rows to tell."""
    return {
        "fingerprint": gathered.fingerprint,
        "rows": len(gathered.rows),
        "left_out": dict(gathered.left_out),
        "temperatures_from": report.source,
        "wished_precision": report.precision,
        "unfitted": list(report.unfitted),
        "types": [asdict(group) for group in report.types],
        "questions": [asdict(group) for group in report.questions],
    }


def draw_report(report: CalibrationReport) -> str:
    """The reliability diagram: a panel for each question, or for each type when the rows name no questions."""
    groups = [group for group in (report.questions or report.types) if group.after and group.before]
    return draw_reliability("Reliability on held-out states", [_panel(group) for group in groups])


def _panel(group: GroupReport) -> Panel:
    before, after = group.before, group.after
    if before is None or after is None:
        return Panel(name=group.name, bins=())
    remark = f"{group.held_out_rows} rows, ECE {before.ece:.3f} → {after.ece:.3f}"
    return Panel(name=group.name, bins=after.bins, before=before.bins, remark=remark)


def render_fit(fit: Fit, gathered: GatheredRows) -> str:
    """What a fit found."""
    rows = [
        (
            kind,
            f"{temperature:.3f}",
            str(fit.fit_metrics[kind]["rows"]),
            show_number(fit.fit_metrics[kind]["fit_nll_before"], 3),
            show_number(fit.fit_metrics[kind]["fit_nll_after"], 3),
        )
        for kind, temperature in fit.temperatures.items()
    ]
    return "\n".join(
        [
            f"{describe_rows(gathered)}; fitted on about 70 % of the states, for model {short(fit.fingerprint)}.",
            *render_table(("", "T", "rows", "NLL", "→"), rows),
        ]
    )


def describe_rows(gathered: GatheredRows) -> str:
    """How many rows and states there are."""
    states = len({row.state_key for row in gathered.rows if row.state_key})
    return f"{len(gathered.rows)} labelled rows" + (f" of {states} states" if states else "")


def render_left_out(left_out: Mapping[str, int]) -> Sequence[str]:
    """One line for each reason."""
    return [f"left out {count}: {reason}" for reason, count in sorted(left_out.items())]
