"""How alike two short texts are, by their words. Meaning is the embedder's business, not this module's."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from clew.core.text import normalise, words

_NEAR = 0.8
_FIRST_LINE_CHARS = 300
# Two texts that differ in one of these say opposite things, however alike they look.
_OPPOSITES_WORDS = """
    not no never always don doesn didn isn aren wasn without except enable disable enabled disabled on off true
    false non mai sempre senza nunca siempre sin jamais toujours sans pas nie immer kein keine keinen nicht ohne
    não sempre sem 不要 不再 不用 总是 从不 禁用 启用
"""
_OPPOSITES = frozenset(_OPPOSITES_WORDS.split())
_NUMBER = re.compile(r"\d")


def token_set(text: str) -> frozenset[str]:
    """The distinct words of a text (see `clew.core.text.words`)."""
    return frozenset(words(text))


def jaccard(a: str, b: str) -> float:
    """Shared words over all words, in [0, 1]; 0 when either text has no words."""
    first, second = token_set(a), token_set(b)
    if not first or not second:
        return 0.0
    return len(first & second) / len(first | second)


def containment(a: str, b: str) -> float:
    """Shared words over the words of the smaller text, in [0, 1]; 0 when either text has no words.

    The measure for merging memories, where one may say all that another says and more.
    """
    first, second = token_set(a), token_set(b)
    if not first or not second:
        return 0.0
    return len(first & second) / min(len(first), len(second))


def is_near_duplicate(a: str, b: str) -> bool:
    """True when two texts say the same in nearly the same words.

    Equal after folding case and white space; or first lines at least 80 % alike *and* a Jaccard index of at least
    0.8. Texts that differ in a number or in a word such as *never* are not duplicates: "port 8090" and "port 8091" are
    two facts.
    """
    if normalise(a).casefold() == normalise(b).casefold():
        return True
    if jaccard(a, b) < _NEAR or _clash(a, b):
        return False
    first, second = _first_line(a), _first_line(b)
    return SequenceMatcher(None, first, second, autojunk=False).ratio() >= _NEAR


def may_be_same_fact(a: str, b: str) -> bool:
    """True when two texts are worth comparing by a person: near duplicates, or one value told of one subject.

    "PocketBase runs on port 8090" and "PocketBase backend at localhost:8090" share the opening word and a number.
    """
    if is_near_duplicate(a, b):
        return True
    first, second = words(a), words(b)
    if not first or not second or first[0] != second[0]:
        return False
    return bool(_numbers(frozenset(first)) & _numbers(frozenset(second)))


def _clash(a: str, b: str) -> bool:
    difference = token_set(a) ^ token_set(b)
    return bool(difference & _OPPOSITES or _numbers(difference))


def _numbers(tokens: frozenset[str]) -> frozenset[str]:
    return frozenset(token for token in tokens if _NUMBER.search(token))


def _first_line(text: str) -> str:
    lines = text.strip().splitlines() or [""]
    return normalise(lines[0]).casefold()[:_FIRST_LINE_CHARS]
