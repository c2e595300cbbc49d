"""Signs that the value of a secret stands in a text: the second opinion beside the scanner of `core.secrets`."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from clew.core.patterns import lower_in_place
from clew.decide.lexical.folding import fold_letters
from clew.decide.lexical.lexicon import secret_words

SIGN_NAMES: tuple[str, ...] = (
    "value_near_word", "number_near_word", "long_random", "random_bits", "only_hash", "placeholder", "url_login",
)  # fmt: skip

_MAX_VALUES = 60
_WINDOW_CHARS = 40
_MIN_VALUE_CHARS, _MAX_VALUE_CHARS = 4, 200
_MARK = r"\d_#!@$%&*+~^?.-"
_EDGE = r"\s\"'`,;()<>\[\]{}、。"
# Begins with what stands before a run of characters: the engine skips to that quickly, past the runs of plain words.
_MARKED_RUN = re.compile(rf"[{_EDGE}](?P<run>[^{_EDGE}{_MARK}]*+[{_MARK}][^{_EDGE}]*+)")
_NUMBER = re.compile(r"\d{4,10}#?")
_HASH = re.compile(r"(?:[0-9a-f]{7,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.IGNORECASE)
_LETTER, _DIGIT, _SYMBOL = re.compile(r"[^\W\d_]"), re.compile(r"\d"), re.compile(r"[_#!@$%&*+~^?.-]")
_DIGIT_OR_SYMBOL = re.compile(rf"[{_MARK}]")
# Sees lowered text; these letters count as Latin ones in any case, but do not become so by lowering.
_LATIN = r"a-z\u0130\u0131\u017f"
# Every branch begins with a plain character (`xxxx` brings its left boundary behind itself): the engine skips to one.
_PLACEHOLDER = re.compile(
    rf"<[{_LATIN}_ -]{{2,30}}>|xxxx(?<!\wxxxx)x*\b|\*\*\*\*|\$\{{?[{_LATIN}_]{{3}}|your[_-]\w|changeme|\[redacted"
    r"|process\.env|os\.environ"
)
_URL_LOGIN = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,80}:[^\s/@]{1,80}@", re.IGNORECASE)


def secret_signs(text: str) -> tuple[float, ...]:
    """One number per SIGN_NAMES, each in [0, 1]."""
    near_value = near_number = long_random = bits = only_hash = 0.0
    for start, value in islice(_marked_values(text), _MAX_VALUES):
        token = value.strip(".:?!")
        if _HASH.fullmatch(token) and _DIGIT.search(token):
            only_hash = 1.0
            continue
        is_number = _NUMBER.fullmatch(token) is not None
        if not (is_number or _is_mixed(token)):
            continue
        if _follows_secret_word(text, start, token):
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
        float(_PLACEHOLDER.search(lower_in_place(text)) is not None),
        float("://" in text and _URL_LOGIN.search(text) is not None),
    )


def _marked_values(text: str) -> Iterator[tuple[int, str]]:
    """`(start, value)` of the runs that hold a digit or a symbol, a longer one in pieces of _MAX_VALUE_CHARS."""
    for match in _MARKED_RUN.finditer(f" {text}"):
        first, run = match.start(), match["run"]
        for begin in range(0, len(run), _MAX_VALUE_CHARS):
            value = run[begin : begin + _MAX_VALUE_CHARS]
            if len(value) >= _MIN_VALUE_CHARS and _DIGIT_OR_SYMBOL.search(value):
                yield first + begin, value


def _is_mixed(token: str) -> bool:
    return bool(_LETTER.search(token) and (_DIGIT.search(token) or _SYMBOL.search(token[1:-1])) and len(token) >= 6)


def _follows_secret_word(text: str, start: int, token: str) -> bool:
    """Whether a word such as "password" stands shortly before the token, or in it before a `=` or `:`."""
    name, separator, _ = token.replace(":", "=").partition("=")
    before = fold_letters(text[max(0, start - _WINDOW_CHARS) : start])
    searched = f" {before} {name.lower().replace('_', ' ') if separator else ''}"
    return any(word in searched for word in _announcing_words())


@lru_cache(maxsize=1)
def _announcing_words() -> tuple[str, ...]:
    """The words that announce a secret, with the blank before them in scripts that have one."""
    return tuple(f" {word}" if word.isascii() else word for word in secret_words())


def _bits_per_char(token: str) -> float:
    counts = Counter(token)
    return -sum(count / len(token) * math.log2(count / len(token)) for count in counts.values())
