"""Text rules that every room shares: one normal form, one idea of a word and of a sentence, one identity of a text."""

# ruff: noqa: RUF001 - words and marks of many scripts

from __future__ import annotations

import hashlib
import re
import unicodedata
from itertools import pairwise

from clew.core.pastes import set_aside_pastes
from clew.core.patterns import LazyPattern, lower_in_place

__all__ = [
    "INVISIBLE_CLASS",
    "display_text",
    "lower_in_place",
    "normalise",
    "sentences",
    "set_aside_pastes",
    "shorten",
    "text_key",
    "words",
]

#: Characters that take no room on the screen and can hide text from a reader; a regex class body. The two joiners
#: (U+200C, U+200D) are among them, but `normalise` keeps them where a script needs them.
INVISIBLE_CLASS = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_JOINERS = LazyPattern(r"([\u200c\u200d])[\u200c\u200d]+")
# Persian, Indic scripts and emoji need joiners between their letters; Latin, Greek and Cyrillic text never does.
_INVISIBLE = LazyPattern(
    r"(?![\u200c\u200d])[" + INVISIBLE_CLASS + "]"
    r"|(?<![\u0600-\U0010ffff])[\u200c\u200d]"
    r"|[\u200c\u200d](?![\u0600-\U0010ffff])"
)
_CONTROL = LazyPattern(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
_SURROGATE = LazyPattern(r"[\ud800-\udfff]")


def normalise(text: str) -> str:
    """One line in NFC, without invisible and control characters, white space collapsed to single blanks.

    Control characters become blanks (so that words do not run together), lone surrogates U+FFFD. Joiners stay between
    letters of scripts that need them. Applying it twice changes nothing.
    """
    if text.isascii():
        return " ".join(_CONTROL.sub(" ", text).split())
    text = unicodedata.normalize("NFC", _SURROGATE.sub("\ufffd", text))
    text = _INVISIBLE.sub("", _CONTROL.sub(" ", text))
    text = _INVISIBLE.sub("", _JOINERS.sub(r"\1", " ".join(text.split())))
    return unicodedata.normalize("NFC", text)


def display_text(text: str, max_chars: int) -> str:
    """The text as one safe line of at most `max_chars` characters for a screen, cut at a word with an ellipsis."""
    line = normalise(text)
    if len(line) <= max_chars:
        return line
    if max_chars < 1:
        return ""
    end = max_chars - 1
    while end > 0 and unicodedata.combining(line[end]):
        end -= 1
    blank = line.rfind(" ", 0, end + 1)
    if blank > end * 2 // 3:
        end = blank
    return line[:end].rstrip() + "…"


# A full stop ends a sentence only before white space, so that "v1.2.3" and "example.org" stay whole. The first mark
# stands before the cases: the engine skips to it, which is several times quicker. A run of marks is read once, from
# its first one.
_SENTENCE_END = LazyPattern(
    r"""[.!?…。！？｡।؟۔\n](?:(?<=[.!?…])(?<![.!?…]{2})[.!?…]*+["'”’»)\]]*+(?=\s)|(?<=[。！？｡])[。！？｡]*+[」』”）]*+"""
    r"""|(?<=[।؟۔])[।؟۔]*+(?=\s)|(?<=\n)\n*+)"""
)
_ABBREVIATION = LazyPattern(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|resp|dr|mr|mrs|ms|prof|st|no|nr|p|pp|fig|sig|dott|sr|sra|mme|z\.\s?b"
    r"|d\.\s?h|u\.\s?a|bzw|ca|ggf|usw|evtl|p\.\s?ej|ecc|es|n|ex|[a-z]))\.$",
    re.IGNORECASE,
)


def sentences(text: str) -> list[str]:
    """The sentences of a text, trimmed, without empty ones. A line break ends a sentence; an abbreviation does not."""
    found: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        end = match.end()
        if match.group() == "." and _ABBREVIATION.search(text, max(start, end - 12), end):
            continue
        found.append(text[start:end].strip())
        start = end
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


# Combining marks that belong inside words; Python's \w leaves them out. Ranges may span letters in between.
# tests/unit/core/test_core_text.py checks them against unicodedata.
_MARKS = (
    r"\u0300-\u034e\u0350-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a"
    r"\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u07f3\u07fd\u0816-\u082d\u0859-\u085b"
    r"\u0898-\u08e1\u08e3-\u0963\u0981-\u09e3\u09fe-\u0a75\u0a81-\u0ae3\u0afa-\u0b63\u0b82-\u0bd7\u0c00-\u0c63"
    r"\u0c81-\u0c83\u0cbc-\u0d4d\u0d57-\u0d63\u0d81-\u0df3\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ecd\u0f18-\u0f19"
    r"\u0f35\u0f37\u0f39\u0f3e-\u0f84\u0f86-\u0fbc\u0fc6\u102b-\u103e\u1056-\u109d\u135d-\u135f\u1712-\u1734"
    r"\u1752-\u1773\u17b6-\u17d3\u17dd\u1885-\u193b\u1a17-\u1a1b\u1a55-\u1a7f\u1ab0-\u1b44\u1b6b-\u1b73"
    r"\u1b80-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1dff\u20d0-\u20f0\u2cef-\u2cf1\u2d7f-\u2dff\u302a-\u302f"
    r"\u3099-\u309a\ua66f\ua674-\ua67d\ua69e-\ua6f1\ua802-\ua827\ua82c\ua880-\ua8c5\ua8e0-\ua8f1\ua8ff-\ua92d"
    r"\ua947-\ua953\ua980-\ua9c0\ua9e5-\uaa4d\uaa7b-\uaac1\uaaeb-\uaaef\uaaf5-\uaaf6\uabe3-\uabea\uabec-\uabed"
    r"\ufb1e\ufe20-\ufe2f\U00010a01-\U00010a3f\U00011000-\U00011046\U00011070-\U000110ba\U00011100-\U00011134"
    r"\U00011180-\U000111c0"
)
#: Scripts written without blanks between words (and Hangul, whose endings stick to the word).
_DENSE = (
    r"\u0e01-\u0e4e\u0e81-\u0ecd\u1000-\u1049\u1050-\u109d\u1100-\u11ff\u1780-\u17d3\u3005-\u3007\u3041-\u3096"
    r"\u3099\u309a\u30a1-\u30fa\u30fc\u3105-\u312f\u3131-\u318e\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f"
    r"\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
)
_WORD = LazyPattern(rf"(?P<dense>[{_DENSE}]+)|v?\d+(?:\.\d+)+|(?:(?![{_DENSE}])(?:[^\W_]|[{_MARKS}\u200c\u200d]))+")
_CLUSTER = LazyPattern(rf"[^{_MARKS}][{_MARKS}]*|[{_MARKS}]+")


def words(text: str) -> list[str]:
    """The words of a text, case-folded, in order, in any script.

    Runs of scripts without blanks (Chinese, Japanese, Thai, Lao, Khmer, Burmese, also Korean) come as overlapping pairs
    of characters, a lone one as itself. Combining marks stay inside their word. Decimal numbers and versions stay whole.
    """
    found: list[str] = []
    for match in _WORD.finditer(normalise(text).casefold()):
        if match.lastgroup == "dense":
            found.extend(_bigrams(match.group()))
        else:
            found.append(match.group())
    return found


def _bigrams(run: str) -> list[str]:
    clusters = _CLUSTER.findall(run)
    if len(clusters) < 2:
        return clusters
    return [first + second for first, second in pairwise(clusters)]


_TRAILING_MARKS = " .,;:!?…。、，；：！？｡।؟۔"


def text_key(text: str) -> str:
    """Identity of a statement: sha256 (hex) of its normalised, case-folded form without trailing punctuation."""
    folded = normalise(normalise(text).casefold()).rstrip(_TRAILING_MARKS)
    return hashlib.sha256(folded.encode()).hexdigest()


def shorten(text: str, max_chars: int) -> str:
    """A text of at most `max_chars` characters: 75 % head and 25 % tail with a marker that says how much is missing."""
    if len(text) <= max_chars:
        return text
    marker = f"\n[… {len(text) - max_chars} characters or more left out …]\n"
    room = max_chars - len(marker)
    if room < 4:
        return text[: max(max_chars, 0)]
    tail = room // 4
    return text[: room - tail] + marker + text[len(text) - tail :]
