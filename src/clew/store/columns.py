"""Values of columns into which another program may have written anything: SQLite binds no column to its type."""

from __future__ import annotations

import math


def as_text(value: object) -> str:
    """The value as text; bytes that are no UTF-8 become U+FFFD, NULL becomes empty."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").replace("\x00", "\ufffd")
    return "" if value is None else str(value)


def as_name(value: object) -> str | None:
    """The same, for a column that may be NULL."""
    return None if value is None else as_text(value)


def as_number(value: object) -> int:
    """The value as a whole number; 0 for what is none."""
    return int(value) if isinstance(value, (int, float)) and math.isfinite(value) else 0
