"""Letters that look like Latin ones, read as those: full-width forms, and Cyrillic or Greek inside a Latin word."""

# ruff: noqa: RUF001 - letters that look alike are the point

from __future__ import annotations

import re

from clew.core.patterns import LazyPattern

_WIDE = {0xFF01 + offset: 0x21 + offset for offset in range(94) if chr(0x21 + offset).isalnum()} | {
    ord("："): ord(":"),
    ord("＝"): ord("="),
}
_ALIKE = str.maketrans(
    "аеорсухіѕјԁԛԝһӏкмтвнАЕОРСУХІЅЈКМТВНοαρτνικΑΒΕΗΙΚΜΝΟΡΤΥΧΖ",
    "aeopcyxisjdqwhlkmtbhAEOPCYXISJKMTBHoaptvikABEHIKMNOPTYXZ",
)
_FULL_WIDTH = LazyPattern(r"[\uff10-\uff5a]")
_OTHER = LazyPattern(r"[\u0370-\u052f]")
_LATIN = LazyPattern("[A-Za-z]")
_RUN = LazyPattern(r"[A-Za-z\u0370-\u052f]{2,}+")


def fold_lookalikes(text: str) -> str:
    """The text with look-alikes as Latin letters, each at its old place; a word in one script stays as it is."""
    if text.isascii():
        return text
    if _FULL_WIDTH.search(text):
        text = text.translate(_WIDE)
    return _RUN.sub(_fold_mixed, text) if _OTHER.search(text) else text


def _fold_mixed(match: re.Match[str]) -> str:
    run = match.group()
    is_mixed = not run.isascii() and _LATIN.search(run) is not None
    return run.translate(_ALIKE) if is_mixed else run
