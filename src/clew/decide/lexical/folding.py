"""The form of a text that n-grams and lexicons are matched in: lower case, no Latin accents, one kind of digit."""

from __future__ import annotations

import re
import unicodedata

_DIGIT = re.compile(r"\d")
_TOKEN = re.compile(r"[^\W_]++(?:['-][^\W_]++)*+")
_CJK = re.compile(r"[\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f]")
_KANA = re.compile(r"[\u3041-\u30ff\uff66-\uff9f]")


def _latin_folds() -> dict[int, str]:
    """Accented Latin letters to their base; dots of Japanese kana must stay, so no general decomposition."""
    folds = {
        code: unicodedata.normalize("NFKD", chr(code))[0] for code in (*range(0xC0, 0x180), *range(0x1E00, 0x1F00))
    }
    punctuation = {"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u00ab": '"', "\u00bb": '"'}
    letters = {"\u00df": "ss", "\u0153": "oe", "\u00e6": "ae", "\u00f8": "o"}
    return folds | {ord(char): base for char, base in (punctuation | letters).items()}


#: In the widths of both scripts.
QUESTION_MARKS = ("?", "\uff1f")
EXCLAMATION_MARKS = ("!", "\uff01")
COLONS = (":", "\uff1a")
CLOSING_MARKS = " \"')\u201d\u2019\u300d\uff09"

_FOLDS = _latin_folds()


def fold(text: str) -> str:
    """Lower-cased, accents off, white space collapsed, every digit a 0."""
    return fold_digits(fold_letters(text))


def fold_digits(folded: str) -> str:
    """Every digit a 0: the one difference between `fold` and `fold_letters`."""
    return _DIGIT.sub("0", folded)


def fold_letters(text: str) -> str:
    """Lower-cased, accents off, white space collapsed; digits stay."""
    lowered = text.lower()
    return " ".join((lowered if lowered.isascii() else lowered.translate(_FOLDS)).split())


def tokens(folded: str) -> list[str]:
    """Words of a folded text; `don't` and `d'ora` stay whole."""
    return _TOKEN.findall(folded)


def has_cjk(text: str) -> bool:
    """Whether there is Chinese or Japanese in it."""
    return not text.isascii() and _CJK.search(text) is not None


def has_kana(text: str) -> bool:
    """Whether there is Japanese syllabic script in it."""
    return not text.isascii() and _KANA.search(text) is not None
