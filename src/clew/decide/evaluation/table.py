"""Plain tables: the first column to the left, numbers to the right, nothing that a pipe could not take."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from clew.decide.evaluation.json_lines import shown


def render_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Aligned lines, the head first. Cells may come from files: each stays on its line and gives a terminal no orders."""
    lines = [tuple(map(shown, line)) for line in (head, *rows)]
    widths = [max(_width(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        first, *others = (
            " " * (width - _width(cell)) + cell if column else cell + " " * (width - _width(cell))
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        yield "  ".join((first, *others)).rstrip()


def show_number(value: float | None, digits: int = 2) -> str:
    """A number with so many decimals; `?` for one that cannot be told."""
    return "?" if value is None else f"{value:.{digits}f}"


def _width(text: str) -> int:
    """Columns on a terminal: wide characters take two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
