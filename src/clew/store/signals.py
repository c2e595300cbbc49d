"""What a query and a memory say besides words and meaning: who is asked about, when, and what kind of text it is.

Each signal is a number on an absolute scale, about 0 to 1, so that fusion needs no rescaling per query.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from clew.core.text import words

_MONTH_NAMES = "january february march april may june july august september october november december"
_MONTHS = {name[:end]: number for number, name in enumerate(_MONTH_NAMES.split(), 1) for end in (3, None)}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_ORDINAL = r"(\d{1,2})(?:st|nd|rd|th)?"
_DAY_MONTH = re.compile(rf"\b{_ORDINAL}\s+(?:of\s+)?({_MONTH})\b\.?,?\s*(\d{{4}})?", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"\b({_MONTH})\b\.?\s+{_ORDINAL}\b,?\s*(\d{{4}})?", re.IGNORECASE)
_ISO_DAY = re.compile(r"\b((?:19|20)\d\d)-(\d\d)-(\d\d)\b")
_MONTH_YEAR = re.compile(rf"\b({_MONTH})\b\.?,?\s*(?:of\s+)?(\d{{4}})?", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
#: Months that are also other words, or abbreviations that are: only with a year or a capital letter.
_AMBIGUOUS = {"may", "mar", "dec", "march"}

_ASKS_WHEN = re.compile(
    r"\s*(?:when|how long|which (?:year|month|day)|quando|da quanto|cuándo|cuánto tiempo|quand|depuis quand|wann|wie lange"
    r"|há quanto tempo)\b",
    re.IGNORECASE,
)
_TIME_WORD = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|this (?:week|month|year|weekend|morning|past)|week|weekend|month"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday|recently|just|since|years?|days?)\b",
    re.IGNORECASE,
)
_TRAILING_REMARK = re.compile(r"\s*\[[^\]]*\]\s*$")

_DAYS_BACK, _DAYS_FORWARD = 3, 14
_SHORT_WORDS, _LONG_WORDS = 4, 60
_LONGEST = 1.2
_COUNTED_CHARS = 2000
_LOG_SHORT = math.log1p(_SHORT_WORDS)
_LOG_SPAN = math.log1p(_LONG_WORDS) - _LOG_SHORT


class DateWindow(NamedTuple):
    """A day, month or year that a query names; `year` None means any year."""

    year: int | None
    month: int | None = None
    day: int | None = None


def speakers_named(query: str, speakers: Iterable[str]) -> frozenset[str]:
    """Which of the speakers a query names, by full name or first name."""
    asked = set(words(query))
    return frozenset(
        speaker for speaker in speakers if (name := words(speaker)) and (name[0] in asked or asked >= set(name))
    )


def without_names(query: str, speakers: Iterable[str]) -> str:
    """A query without the names of the speakers: in their shared history they say nothing about the topic, and an
    embedding is drawn by them to texts that merely address somebody. The query itself when nothing else is left."""
    bare = query
    for speaker in speakers:
        for name in {speaker, *speaker.split()[:1]}:
            if name.strip():
                bare = re.sub(rf"\b{re.escape(name)}\b(?:['\u2019]s)?", "", bare, flags=re.IGNORECASE)
    bare = re.sub(r"\s+([?.!,])", r"\1", re.sub(r"\s+", " ", bare)).strip()
    return bare or query


def date_window(query: str) -> DateWindow | None:
    """The time that a query names, if any."""
    return _named_day(query) or _named_month(query) or _named_year(query)


def _named_day(query: str) -> DateWindow | None:
    if match := _ISO_DAY.search(query):
        return DateWindow(int(match[1]), int(match[2]), int(match[3]))
    if match := _DAY_MONTH.search(query):
        return DateWindow(int(match[3]) if match[3] else None, _MONTHS[match[2].lower()], int(match[1]))
    if match := _MONTH_DAY.search(query):
        return DateWindow(int(match[3]) if match[3] else None, _MONTHS[match[1].lower()], int(match[2]))
    return None


def _named_month(query: str) -> DateWindow | None:
    for match in _MONTH_YEAR.finditer(query):
        name = match[1]
        is_doubtful = name.lower() in _AMBIGUOUS and (
            not name[0].isupper() or (name.lower() == "may" and not match.start())
        )
        if match[2] or not is_doubtful:
            return DateWindow(int(match[2]) if match[2] else None, _MONTHS[name.lower()])
    return None


def _named_year(query: str) -> DateWindow | None:
    match = _YEAR.search(query)
    return DateWindow(int(match[0])) if match else None


def date_closeness(window: DateWindow | None, created_at_ms: int) -> float:
    """How near a memory's date is to the time a query names: 1 inside, less around it, 0 far off or when none is named.

    The window reaches further forward than back: people talk of things after they happened.
    """
    if window is None:
        return 0.0
    try:
        day = datetime.fromtimestamp(created_at_ms / 1000, UTC).date()
    except (ValueError, OverflowError, OSError):
        return 0.0
    if window.month is None:
        return 0.5 if day.year == window.year else 0.0
    years = (window.year,) if window.year else (day.year - 1, day.year)
    return max(_closeness_in(year, window, day) for year in years)


def _closeness_in(year: int, window: DateWindow, day: date) -> float:
    month = window.month or 1
    try:
        first = date(year, month, window.day or 1)
        last = first if window.day else date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
    except ValueError:  # 31 February
        return 0.0
    if first <= day <= last:
        return 1.0
    if day < first:
        return 0.5 * max(0.0, 1 - (first - day).days / _DAYS_BACK)
    return 0.7 * max(0.0, 1 - (day - last).days / _DAYS_FORWARD)


def asks_when(query: str) -> bool:
    """Whether a query asks for a time or a duration."""
    return _ASKS_WHEN.match(query) is not None


def has_time_word(text: str) -> bool:
    """Whether a text speaks of a time ("last week", "on Monday")."""
    return _TIME_WORD.search(text) is not None


def is_question(text: str) -> bool:
    """Whether a text ends with a question mark, a trailing [remark] set aside."""
    said = text.rstrip()
    if said.endswith("]"):
        said = _TRAILING_REMARK.sub("", said)
    return said.endswith(("?", "\uff1f", "\u061f"))


def length_signal(text: str) -> float:
    """Logarithm of the number of words, scaled so that 4 words give 0 and 60 give 1; at most 1.2."""
    count = text.count(" ", 0, _COUNTED_CHARS) + 1
    scaled = (math.log1p(count) - _LOG_SHORT) / _LOG_SPAN
    return min(max(scaled, 0.0), _LONGEST)
