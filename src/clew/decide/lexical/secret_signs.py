"""Signs that the value of a secret stands in a text: the second opinion beside the scanner of `core.secrets`."""

from __future__ import annotations

import math
import re
from collections import Counter

from clew.decide.lexical.folding import fold_letters
from clew.decide.lexical.lexicon import secret_words

SIGN_NAMES: tuple[str, ...] = (
    "value_near_word", "number_near_word", "long_random", "random_bits", "only_hash", "placeholder", "url_login",
)  # fmt: skip

_MAX_VALUES = 60
_WINDOW_CHARS = 40
_VALUE = re.compile(r"[^\s\"'`,;()<>\[\]{}、。]{4,200}")
_NUMBER = re.compile(r"\d{4,10}#?")
_HASH = re.compile(r"(?:[0-9a-f]{7,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.IGNORECASE)
_LETTER, _DIGIT, _SYMBOL = re.compile(r"[^\W\d_]"), re.compile(r"\d"), re.compile(r"[_#!@$%&*+~^?.-]")
_DIGIT_OR_SYMBOL = re.compile(r"[\d_#!@$%&*+~^?.-]")
_PLACEHOLDER = re.compile(
    r"<[a-z_ -]{2,30}>|\bx{4,}\b|\*{4,}|\$\{?[A-Z_]{3,}|your[_-]\w+|changeme|\[redacted|process\.env|os\.environ",
    re.IGNORECASE,
)
_URL_LOGIN = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,80}:[^\s/@]{1,80}@", re.IGNORECASE)


def secret_signs(text: str) -> tuple[float, ...]:
    """One number per SIGN_NAMES, each in [0, 1]."""
    near_value = near_number = long_random = bits = only_hash = 0.0
    for match in _first_values(text):
        token = match.group().strip(".:?!")
        if _HASH.fullmatch(token) and _DIGIT.search(token):
            only_hash = 1.0
            continue
        is_number = _NUMBER.fullmatch(token) is not None
        if not (is_number or _is_mixed(token)):
            continue
        if _follows_secret_word(text, match.start(), token):
            near_number = max(near_number, float(is_number))
            near_value = max(near_value, float(not is_number))
        if len(token) >= 20 and not is_number and "/" not in token[:8]:
            long_random = 1.0
            bits = max(bits, _bits_per_char(token) / 6)
    return (
        near_value,
        near_number,
        long_random,
        bits,
        only_hash,
        float(_PLACEHOLDER.search(text) is not None),
        float(_URL_LOGIN.search(text) is not None),
    )


def _first_values(text: str) -> list[re.Match[str]]:
    """Tokens that hold a digit or a symbol, the first few of them: a log full of ids must not cost more."""
    found = []
    for match in _VALUE.finditer(text):
        if _DIGIT_OR_SYMBOL.search(text, match.start(), match.end()):
            found.append(match)
            if len(found) == _MAX_VALUES:
                break
    return found


def _is_mixed(token: str) -> bool:
    return bool(_LETTER.search(token) and (_DIGIT.search(token) or _SYMBOL.search(token[1:-1])) and len(token) >= 6)


def _follows_secret_word(text: str, start: int, token: str) -> bool:
    """Whether a word such as "password" stands shortly before the token, or in it before a `=` or `:`."""
    name, separator, _ = token.replace(":", "=").partition("=")
    before = fold_letters(text[max(0, start - _WINDOW_CHARS) : start])
    searched = f" {before} {name.lower().replace('_', ' ') if separator else ''}"
    return any((f" {word}" if word.isascii() else word) in searched for word in secret_words())


def _bits_per_char(token: str) -> float:
    counts = Counter(token)
    return -sum(count / len(token) * math.log2(count / len(token)) for count in counts.values())
