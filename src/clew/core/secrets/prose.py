"""Secrets that people tell in a sentence: "the wifi password is …", "la contraseña es …", "密码是…".

Behind a word for a secret the next few words of the sentence are read. A value right behind a link ("is", "è", ":")
may be plain; one further on, or without a link, must look like nothing but a password.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from clew.core.secrets import prose_patterns as patterns
from clew.core.secrets.harmless import WORDS, is_placeholder, is_plain_word, is_reference

_WINDOW_CHARS = 240
_MAX_TOKENS = 10
_IN_STRINGS = re.compile(r"[\"']\s?[:,]|^\[")
_Span = tuple[str, int, int]


def told_secrets(text: str, lowered: str) -> Iterator[_Span]:
    """`(kind, start, end)` of every value that stands a few words behind a word for a secret."""
    keywords = list(patterns.KEYWORD.finditer(lowered))
    for keyword, following in pairwise([*keywords, None]):
        if keyword is not None:
            end = min(len(text), keyword.end() + _WINDOW_CHARS, following.start() if following else len(text))
            span = _told(text, keyword, end)
            if span is not None:
                yield _kind(keyword), *span
    yield from _told_without_blanks(text, lowered)
    yield from _told_as_login(text, lowered)
    for match in _hinted(patterns.PHRASE, ("phrase", "frase"), lowered):
        start, end = match.span(match.lastgroup or 0)
        if not WORDS.intersection(lowered[start:end].split()):
            yield "passphrase", start, end


def _hinted(pattern: re.Pattern[str], hints: tuple[str, ...], text: str) -> Iterator[re.Match[str]]:
    return pattern.finditer(text) if any(hint in text for hint in hints) else iter(())


def _told_without_blanks(text: str, lowered: str) -> Iterator[_Span]:
    for match in _hinted(patterns.DENSE, patterns.DENSE_HINTS, lowered):
        start, end = _trim(text, *match.span("value"))
        value, kind = text[start:end], _kind(match)
        if _is_strong(value, kind) or (kind == "password" and len(value) >= 6 and not _is_harmless(value)):
            yield kind, start, end


def _told_as_login(text: str, lowered: str) -> Iterator[_Span]:
    for match in patterns.CREDENTIALS.finditer(lowered):
        start, end = _trim(text, *match.span("value"))
        if _is_strong(text[start:end], "password"):
            yield "password", start, end
    for match in _hinted(patterns.COMMAND_LINE, (" -u", "sshpass"), lowered):
        start, end = match.span(match.lastgroup or 0)
        if not _is_harmless(text[start:end]):
            yield "password", start, end


def _told(text: str, keyword: re.Match[str], window_end: int) -> tuple[int, int] | None:
    """The value that a keyword announces, looked for in the rest of its sentence."""
    kind = _kind(keyword)
    if text[keyword.end() : keyword.end() + 1] not in patterns.BEHIND_KEYWORD:
        return None
    is_linked = is_adjacent = is_owned = False
    last_end = keyword.end()
    for index, token in enumerate(patterns.TOKENS.finditer(text, keyword.end(), window_end)):
        is_new_line = "\n" in text[last_end : token.start()]
        if index >= _MAX_TOKENS or (is_new_line and index and not is_adjacent):
            return None
        last_end = token.end()
        word = token.group().strip(patterns.EDGE + ".,;!?").casefold()
        if word in patterns.LINKS or token.group() in patterns.LINKS or word.endswith((":", "=")):
            is_linked = is_adjacent = True
            continue
        if is_linked and word in patterns.PLACES:
            return None
        span = _trim(text, *token.span())
        value = text[slice(*span)]
        if patterns.CODE.search(value) and not (is_linked and is_adjacent):
            return None
        is_next = is_adjacent or index == 0
        if kind == "pin":
            if _is_pin(value) and (is_next or is_owned):
                return span
        elif _is_told(value, kind, is_linked=is_linked, is_next=is_next, is_last=_ends_clause(text, span[1])):
            return span
        if is_linked and token.group()[-1] in ".!?;":
            return None
        is_owned = is_owned or (index == 0 and word in patterns.OWNERS)
        is_adjacent = False
    return None


def _is_told(value: str, kind: str, *, is_linked: bool, is_next: bool, is_last: bool) -> bool:
    if _is_strong(value, kind):
        is_long = len(value) >= 6 and not value.isdecimal()
        return is_next if is_linked and not is_long else is_long and (is_linked or is_next)
    may_be_word = kind == "password" and is_linked and is_next and is_last
    return may_be_word and len(value) >= 6 and value.isalpha() and not _is_harmless(value)


def _ends_clause(text: str, end: int) -> bool:
    rest = text[end : end + 3]
    return rest.strip(patterns.EDGE + " .,;!?") == "" or rest[0] in "\n\r.,;!?" + patterns.EDGE


def _is_harmless(value: str) -> bool:
    return (
        is_placeholder(value)
        or is_reference(value)
        or is_plain_word(value)
        or _IN_STRINGS.search(value) is not None
        or patterns.SHAPES_OF_OTHER_THINGS.match(value) is not None
    )


def _is_pin(value: str) -> bool:
    return 4 <= len(value) <= 8 and value.isascii() and value.isdecimal()


def _is_strong(value: str, kind: str) -> bool:
    """True for what can hardly be a word: digits among letters, or symbols; longer for a token than for a password."""
    if kind == "pin":
        return _is_pin(value)
    if _is_harmless(value):
        return False
    has_digit = any(map(str.isdigit, value))
    has_letter = any(map(str.isalpha, value))
    if kind == "token":
        return has_digit and has_letter and len(value) >= 8
    has_symbol = any(not char.isalnum() and char not in "-_./'\u2019" for char in value)
    return len(value) >= 4 and (has_digit or (has_letter and has_symbol))


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without quotation marks around it and without the punctuation of the sentence."""
    while start < end and text[start] in patterns.EDGE:
        start += 1
    while end > start and text[end - 1] in patterns.EDGE + ".,;:?#":
        end -= 1
    return start, end


def _kind(match: re.Match[str]) -> str:
    return next(kind for kind in ("password", "pin", "token") if match[kind] is not None)
