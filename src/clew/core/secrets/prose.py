"""Secrets that people tell in a sentence: "the wifi password is …", "la contraseña es …", "密码是…".

Behind a word for a secret the next few words of the sentence are read. A value right behind a link ("is", "è", ":")
may be plain; one further on, or without a link, must look like nothing but a password.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from clew.core.patterns import LoweredText
from clew.core.secrets import prose_patterns as patterns
from clew.core.secrets.phrases import told_phrases
from clew.core.secrets.told_before import told_before, told_before_dense
from clew.core.secrets.values import is_harmless, is_keypad_code, is_pin, is_strong, kind_of, trim
from clew.core.secrets.vocabulary import DENSE, DENSE_WORDS, LOGINS, SPOKEN

_WINDOW_CHARS = 240
_MAX_TOKENS = 10
_Span = tuple[str, int, int]


def told_secrets(text: str, lowered: LoweredText) -> Iterator[_Span]:
    """`(kind, start, end)` of every value that a sentence tells, mostly a few words behind a word for a secret."""
    keywords = list(SPOKEN.finditer(lowered))
    for keyword, following in pairwise([*keywords, None]):
        if keyword is not None:
            end = min(len(text), keyword.end() + _WINDOW_CHARS, following.start() if following else len(text))
            span = _told(text, keyword, end)
            if span is not None:
                yield kind_of(keyword), *span
    yield from told_before(text, lowered.text, keywords)
    yield from told_phrases(text, lowered.text, keywords)
    yield from _told_without_blanks(text, lowered)
    yield from _told_as_login(text, lowered)


def _told_without_blanks(text: str, lowered: LoweredText) -> Iterator[_Span]:
    for match in DENSE.finditer(lowered):
        start, end = trim(text, *match.span("value"))
        value, kind = text[start:end], kind_of(match)
        if is_strong(value, kind) or (kind == "password" and len(value) >= 6 and not is_harmless(value)):
            yield kind, start, end
    yield from told_before_dense(text, lowered.text, list(DENSE_WORDS.finditer(lowered)))


def _told_as_login(text: str, lowered: LoweredText) -> Iterator[_Span]:
    for match in LOGINS.finditer(lowered):
        start, end = trim(text, *match.span("value" if match["value"] is not None else "other"))
        if is_strong(text[start:end], "password"):
            yield "password", start, end


def _told(text: str, keyword: re.Match[str], window_end: int) -> tuple[int, int] | None:
    """The value that a keyword announces, looked for in the rest of its sentence."""
    kind = kind_of(keyword)
    if text[keyword.end() : keyword.end() + 1] not in patterns.BEHIND_KEYWORD:
        return None
    is_linked = is_adjacent = is_owned = False
    last_end = keyword.end()
    for index, token in enumerate(patterns.WORDS_OF_TEXT.finditer(text, keyword.end(), window_end)):
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
        span = trim(text, *token.span())
        value = text[slice(*span)]
        if patterns.CODE.search(value) and not (is_linked and is_adjacent):
            return None
        is_next = is_adjacent or index == 0
        if kind == "pin":
            if _is_code(text, span, is_linked=is_linked) and (is_next or is_owned):
                return span
        elif _is_told(value, kind, is_linked=is_linked, is_next=is_next, is_last=_ends_clause(text, span[1])):
            return span
        if is_linked and token.group()[-1] in ".!?;":
            return None
        is_owned = is_owned or (index == 0 and word in patterns.OWNERS)
        is_adjacent = False
    return None


def _is_code(text: str, span: tuple[int, int], *, is_linked: bool) -> bool:
    value = text[slice(*span)]
    if patterns.UNIT.match(text, span[1]):
        return False
    return is_pin(value) or (is_linked and is_keypad_code(value))


def _is_told(value: str, kind: str, *, is_linked: bool, is_next: bool, is_last: bool) -> bool:
    if is_strong(value, kind):
        is_long = len(value) >= 6 and not value.isdecimal()
        return is_next if is_linked and not is_long else is_long and (is_linked or is_next)
    may_be_word = kind == "password" and is_linked and is_next and is_last
    return may_be_word and len(value) >= 6 and value.isalpha() and not is_harmless(value)


def _ends_clause(text: str, end: int) -> bool:
    rest = text[end : end + 3]
    return rest.strip(patterns.EDGE + " .,;!?") == "" or rest[0] in "\n\r.,;!?" + patterns.EDGE
