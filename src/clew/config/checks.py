"""Turn what stands in a file or an environment variable into a setting's value, or say why not.

A check takes the raw value (any JSON value, or text from the environment) and returns the value to use; it raises
ValueError with what is allowed, as a phrase ("one of confirm, auto, off").
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

Check = Callable[[Any], Any]

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def nearest(word: str, known: tuple[str, ...]) -> str | None:
    """The known word that was probably meant, or None."""
    found = difflib.get_close_matches(word.lower(), [name.lower() for name in known], n=1, cutoff=0.6)
    return next((name for name in known if found and name.lower() == found[0]), None)


def one_of(*options: str) -> Check:
    """One of the given words, in any case."""

    def check(raw: Any) -> str:
        word = raw.strip().lower() if isinstance(raw, str) else ""
        if word in options:
            return word
        meant = nearest(word, options)
        hint = f" (did you mean {meant}?)" if meant else ""
        raise ValueError(f"one of {', '.join(options)}{hint}")

    return check


def number(low: float, high: float = math.inf) -> Check:
    """A finite number within bounds."""
    allowed = f"a number of at least {low:g}" if high == math.inf else f"a number from {low:g} to {high:g}"

    def check(raw: Any) -> float:
        value = _as_float(raw)
        if value is None or not low <= value <= high:
            hint = "" if value is None else f" (the nearest is {min(max(value, low), high):g})"
            raise ValueError(allowed + hint)
        return value

    return check


def whole_number(low: int, high: int = 1_000_000_000) -> Check:
    """A whole number within bounds."""

    def check(raw: Any) -> int:
        value = _as_float(raw)
        if value is None or value != int(value) or not low <= value <= high:
            hint = "" if value is None else f" (the nearest is {min(max(round(value), low), high)})"
            raise ValueError(f"a whole number of at least {low}{hint}")
        return int(value)

    return check


def _as_float(raw: Any) -> float | None:
    if isinstance(raw, bool) or not isinstance(raw, (int, float, str)):
        return None
    try:
        value = float(raw)
    except (ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def boolean(raw: Any) -> bool:
    """True or false; from the environment also 1/0, yes/no, on/off."""
    if isinstance(raw, bool):
        return raw
    word = str(raw).strip().lower() if isinstance(raw, (str, int)) else ""
    if word in _TRUE | _FALSE:
        return word in _TRUE
    raise ValueError("true or false")


def text(raw: Any) -> str:
    """A text that is not blank."""
    if isinstance(raw, str) and raw.strip():
        return raw.strip()
    raise ValueError("a text that is not empty")


def web_address(raw: Any) -> str:
    """An http or https address; a trailing slash is removed. User info in the address is refused."""
    value = raw.strip().rstrip("/") if isinstance(raw, str) else ""
    try:
        parts = urlsplit(value)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("an http:// or https:// address")
    if parts.username or parts.password:
        raise ValueError("an address without a user name or password in it (use DECISION_MODEL_KEY for the key)")
    return value


def path_below(home: Path, folder: Path, variables: dict[str, str]) -> Check:
    """A path: `~` and `$VARIABLES` are expanded, relative ones start at `folder`."""

    def check(raw: Any) -> Path:
        value = text(raw)
        if "\0" in value:
            raise ValueError("a path without NUL characters")
        value = _VARIABLE.sub(lambda match: variables.get(match[1] or match[2], match[0]), value)
        if value == "~" or value.startswith(("~/", "~\\")):
            return home / value[2:]
        if value.startswith("~"):
            raise ValueError("a path that starts with ~/, not with another user's ~name")
        return folder / value

    return check
