"""What a told value looks like: strong enough to be nothing but a secret, or a word that only its place betrays."""

from __future__ import annotations

import re
import unicodedata

from clew.core.patterns import LazyPattern
from clew.core.secrets import prose_patterns as patterns
from clew.core.secrets.harmless import is_placeholder, is_plain_word, is_reference

# The end of one string and the beginning of the next, or a link of Markdown.
_IN_STRINGS = LazyPattern(r"[\"']\s?[:,]|^\[|\]\(")
# A name that a number makes unique (`customerNumber2`, `bestell_nr2`), or one of a product (`Vault2024`, `argon2id`).
_NUMBERED_NAME = LazyPattern(r"[A-Za-z]+(?:_[a-z]+|[A-Z][a-z]+)+_?\d{1,2}$|[a-z]+(?:[-_][a-z]+)+[-_]?v?\d{1,2}$")
_PRODUCT = LazyPattern(
    r"(?:[A-Z][a-z]+|[A-Z]{2,6}|[a-z]{2,9})-?(?:\d|[12]\d|256|384|512|20\d\d)(?:[a-z]{1,3})?$|\d{1,3}-?[A-Za-z]{2,}$"
)


def is_harmless(value: str) -> bool:
    """True for what is told of a secret without being it: a placeholder, a reference, a word, a file, a date."""
    return (
        is_placeholder(value)
        or is_reference(value)
        or is_plain_word(value)
        or _IN_STRINGS.search(value) is not None
        or patterns.SHAPES_OF_OTHER_THINGS.match(value) is not None
    )


def is_identifier_with_number(value: str) -> bool:
    """True for a name with a number behind it, which people write as often as they write passwords of that shape."""
    return _NUMBERED_NAME.match(value) is not None or _PRODUCT.match(value) is not None


def is_pin(value: str) -> bool:
    """True for four to eight digits."""
    return 4 <= len(value) <= 8 and value.isascii() and value.isdecimal()


def is_keypad_code(value: str) -> bool:
    """True for digits with a letter or a sign of a keypad among them: `48B21`, `4821#`."""
    return (
        4 <= len(value) <= 8
        and sum(map(str.isdigit, value)) >= 3
        and all(c.isdigit() or c in "ABCDEF*#" for c in value)
    )


def is_strong(value: str, kind: str) -> bool:
    """True for what can hardly be a word: digits among letters, or symbols; longer for a token than for a password."""
    if kind == "pin":
        return is_pin(value)
    if is_harmless(value):
        return False
    has_digit = any(map(str.isdigit, value))
    has_letter = any(map(str.isalpha, value))
    if kind == "token":
        return has_digit and has_letter and len(value) >= 8 and _NUMBERED_NAME.match(value) is None
    has_symbol = any(map(_is_symbol, value))
    return len(value) >= 4 and (has_digit or (has_letter and has_symbol))


def _is_symbol(char: str) -> bool:
    """True for what words are not made of; the vowel signs of many scripts are no letters, but no symbols either."""
    return not char.isalnum() and char not in "-_./'\u2019" and unicodedata.category(char)[0] != "M"


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without quotation marks around it and without the punctuation of the sentence."""
    while start < end and text[start] in patterns.EDGE + ":=":
        start += 1
    while end > start and text[end - 1] in patterns.EDGE + ".,;:?#":
        end -= 1
    return start, end


def kind_of(match: re.Match[str]) -> str:
    """Which of the groups of a vocabulary a word belongs to."""
    return next(kind for kind in ("password", "pin", "token") if match[kind] is not None)
