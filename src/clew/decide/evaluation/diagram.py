"""Reliability diagrams as SVG, drawn here: what was stated against what came true, with the number of rows below.

The text is real text, the colours follow the reader's light or dark scheme, and title and description are there for
whoever cannot see the picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from clew.decide.evaluation.metrics import ReliabilityBin

PLOT = 180
_COUNTS = 44
_LEFT, _TOP, _GAP, _BOTTOM = 50, 34, 14, 52
_PANEL_WIDTH = _LEFT + PLOT + 18
_PANEL_HEIGHT = _TOP + PLOT + _GAP + _COUNTS + _BOTTOM
_HEADER = 66
_MARGIN = 14
_LEAST_WIDTH = 620
_MOST_COLUMNS = 3
#: A bin with fewer rows is drawn small: its share says little.
_FEW_ROWS = 10
_TICKS = (0.0, 0.5, 1.0)
_STYLE = """
svg { color-scheme: light dark; --paper: #ffffff; --ink: #1f2328; --soft: #59636e; --rule: #d1d9e0; --now: #0550ae; --was: #9a6700 }
@media (prefers-color-scheme: dark) {
  svg { --paper: #0d1117; --ink: #f0f6fc; --soft: #9198a1; --rule: #3d444d; --now: #79c0ff; --was: #e3b341 } }
text { font: 12px system-ui, sans-serif; fill: var(--ink) }
.title { font-size: 16px; font-weight: 600 } .name { font-size: 13px; font-weight: 600 } .soft { fill: var(--soft) }
.paper { fill: var(--paper) } .rule { stroke: var(--rule); fill: none } .ideal { stroke: var(--soft); stroke-dasharray: 3 4 }
.now { stroke: var(--now); fill: var(--now) } .was { stroke: var(--was); fill: var(--paper) }
polyline { fill: none !important; stroke-width: 1.8 } .was.line { stroke-dasharray: 6 3 } .bar { fill: var(--rule) }
.end { text-anchor: end } .middle { text-anchor: middle }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One question: its bins, those from before a calibration if there are any, and a remark such as `ECE .03`."""

    name: str
    bins: Sequence[ReliabilityBin]
    before: Sequence[ReliabilityBin] = ()
    remark: str = ""


def draw_reliability(title: str, panels: Sequence[Panel]) -> str:
    """The diagram as an SVG file."""
    columns = 2 if len(panels) == 4 else min(_MOST_COLUMNS, max(1, len(panels)))  # a square rather than 3 and 1
    rows = -(-len(panels) // columns) if panels else 0
    width = max(2 * _MARGIN + columns * _PANEL_WIDTH, _LEAST_WIDTH)
    height = _HEADER + rows * _PANEL_HEIGHT + _MARGIN
    size = f'width="{width}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title description">',
        f'<title id="title">{_text(title)}</title>',
        f'<desc id="description">{_text(_describe(panels))}</desc>',
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" {size}/>',
        f'<text class="title" x="{_MARGIN}" y="28">{_text(title)}</text>',
        *_legend(has_before=any(panel.before for panel in panels)),
    ]
    for index, panel in enumerate(panels):
        x, y = _MARGIN + index % columns * _PANEL_WIDTH, _HEADER + index // columns * _PANEL_HEIGHT
        parts += [f'<g transform="translate({x} {y})">', *_draw(panel), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def _describe(panels: Sequence[Panel]) -> str:
    """The picture in words: each bin's numbers."""
    lines = ["Stated probability against the share that came true, for each tenth."]
    for panel in panels:
        bins = "; ".join(f"{one.predicted:.2f} stated, {one.observed:.2f} true, {one.rows} rows" for one in panel.bins)
        lines.append(f"{panel.name}: {bins or 'no rows'}.")
    return " ".join(lines)


def _legend(*, has_before: bool) -> Iterator[str]:
    x = _MARGIN
    entries = [("now", "calibrated" if has_before else "stated"), *([("was", "before")] if has_before else [])]
    for class_, label in entries:
        yield f'<polyline class="{class_} line" points="{x},48 {x + 26},48"/>'
        yield f'<circle class="{class_}" cx="{x + 13}" cy="48" r="4"/>'
        yield f'<text x="{x + 34}" y="52">{label}</text>'
        x += 116
    yield f'<line class="ideal" x1="{x}" y1="48" x2="{x + 26}" y2="48"/>'
    yield f'<text x="{x + 34}" y="52">as it should be</text>'
    yield f'<rect class="bar" x="{x + 150}" y="42" width="12" height="11"/>'
    yield f'<text x="{x + 170}" y="52">rows (small points: under {_FEW_ROWS})</text>'


def _draw(panel: Panel) -> Iterator[str]:
    yield f'<text class="name" x="{_LEFT}" y="14">{_text(panel.name)}</text>'
    yield f'<text class="soft" x="{_LEFT}" y="29">{_text(panel.remark)}</text>'
    yield f'<g transform="translate({_LEFT} {_TOP + 4})">'
    yield from _axes()
    if panel.before:
        yield from _curve("was", panel.before)
    yield from _curve("now", panel.bins)
    yield from _counts(panel.bins)
    yield "</g>"


def _axes() -> Iterator[str]:
    for tick in _TICKS:
        at = tick * PLOT
        yield f'<line class="rule" x1="0" x2="{PLOT}" y1="{PLOT - at:g}" y2="{PLOT - at:g}"/>'
        yield f'<line class="rule" y1="0" y2="{PLOT}" x1="{at:g}" x2="{at:g}"/>'
        yield f'<text class="soft end" x="-6" y="{PLOT - at + 4:g}">{tick:g}</text>'
        yield f'<text class="soft middle" x="{at:g}" y="{PLOT + _GAP + _COUNTS + 14}">{tick:g}</text>'
    yield f'<line class="ideal" x1="0" y1="{PLOT}" x2="{PLOT}" y2="0"/>'
    yield f'<text class="soft middle" transform="translate(-34 {PLOT // 2}) rotate(-90)">came true</text>'
    yield f'<text class="soft middle" x="{PLOT // 2}" y="{PLOT + _GAP + _COUNTS + 28}">stated probability</text>'


def _curve(class_: str, bins: Sequence[ReliabilityBin]) -> Iterator[str]:
    points = [(one.predicted * PLOT, (1 - one.observed) * PLOT, 4 if one.rows >= _FEW_ROWS else 2) for one in bins]
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
    yield f'<polyline class="{class_} line" points="{joined}"/>'
    yield from (f'<circle class="{class_}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>' for x, y, radius in points)


def _counts(bins: Sequence[ReliabilityBin]) -> Iterator[str]:
    """A bar for each tenth; the tallest bin is named with its number."""
    floor = PLOT + _GAP + _COUNTS
    most = max((one.rows for one in bins), default=0)
    yield f'<line class="rule" x1="0" x2="{PLOT}" y1="{floor}" y2="{floor}"/>'
    for one in bins:
        tall = max(1.5, one.rows / most * (_COUNTS - 2))
        left = min(9, int(one.predicted * 10)) * PLOT / 10
        yield (
            f'<rect class="bar" x="{left + 1:g}" y="{floor - tall:.1f}" width="{PLOT / 10 - 2:g}" height="{tall:.1f}">'
            f"<title>{one.rows} rows</title></rect>"
        )
    yield f'<text class="soft end" x="-6" y="{PLOT + _GAP + 10}">{most}</text>' if most else ""


def _text(text: str) -> str:
    """Text as XML takes it; what XML forbids becomes a question mark."""
    return escape("".join(char if char.isprintable() else "?" for char in text))
