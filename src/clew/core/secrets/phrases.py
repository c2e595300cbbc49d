"""Passphrases: several plain words, known by their quotation marks or by standing alone behind the word for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clew.core.patterns import LazyPattern
from clew.core.secrets.harmless import is_plain_word

_IS = r"\b(?:is|es|est|ist|jest|är|là)\b|[:=èé]"
_BEHIND = LazyPattern(
    rf"[^\n.:=\"“„]{{0,60}}?(?:{_IS})\s{{0,3}}(?:[\"“„'«](?P<quoted>[^\"“”'»\n]{{8,120}})[\"“”'»](?=\s{{0,3}}(?:[.,;!?)\n]|$|\w))"
    r"|(?P<bare>[a-z]{2,12}(?: [a-z]{2,12}){2,9})\s{0,3}(?:[.\n]|$))"
)
_BEFORE = LazyPattern(
    r"[\"“„«](?P<quoted>[a-z]{2,14}(?:[ -][a-z]{2,14}){2,9})[\"“”»] (?:is|was|è|es|est|ist|é) (?:[^\s.,;:!?]{1,20} ){0,3}$"
)
_REACH_CHARS = 220
_SMALL_WORDS = """
    a about above after again all always among an and another any are ask at be because been before below between but by
    call can cannot changes check choose come consult contact could create do does during each either enter every expires
    find follow for forget from get goes had has have he her here his how i if in into is it its just keep keys know known
    less letters like look make may maybe me might minimum maximum more most must my need needs never new no none nor not
    now of off on once only onto or our out over own pick please read repeat rotate same see set shall she should since
    so some someone something soon still than that the their them then there these they this those through to too under
    until up upper us use users very was way we were what when where whether which while who whose why will with within
    without would yet you your digits characters long confirm
    è e di da il lo la le un una per con non che sono del della nel alla y el los las de en por con no que se está para
    et le les du des dans sur pour pas est sera und der die das den dem ist im in auf mit von nicht bei o os as do da em no na
"""
_SENTENCE_WORDS = frozenset(_SMALL_WORDS.split())


def told_phrases(text: str, lowered: str, keywords: Sequence[re.Match[str]]) -> Iterator[tuple[str, int, int]]:
    """`("passphrase", start, end)` of the words that someone gives as a password."""
    done = 0
    for keyword in keywords:
        if keyword["password"] is None or keyword.end() < done:
            continue
        span = _behind(text, lowered, keyword) or _before(lowered, keyword)
        if span is not None:
            done = span[1]
            yield "passphrase", *span


def _behind(text: str, lowered: str, keyword: re.Match[str]) -> tuple[int, int] | None:
    reach = keyword.end() + _REACH_CHARS
    match = _BEHIND.match(lowered, keyword.end(), reach)
    if match is None or (match["bare"] and match.end() == reach < len(text)):
        return None
    start, end = match.span(match.lastgroup or 0)
    is_phrase_word = "phrase" in keyword[0] or "frase" in keyword[0] or "zin" in keyword[0]
    least = 2 if is_phrase_word and match["quoted"] else 3 if is_phrase_word or match["quoted"] else 4
    is_typed_in_one_case = match["quoted"] is not None or text[start:end] == lowered[start:end]
    return (start, end) if is_typed_in_one_case and _is_phrase(lowered[start:end], least) else None


def _before(lowered: str, keyword: re.Match[str]) -> tuple[int, int] | None:
    floor = max(0, keyword.start() - _REACH_CHARS)
    before = lowered[floor : keyword.start()]
    match = _BEFORE.search(before) if '" ' in before or "” " in before or "» " in before else None
    if match is None or not _is_phrase(match["quoted"], 3):
        return None
    return floor + match.start("quoted"), floor + match.end("quoted")


def _is_phrase(phrase: str, least_words: int) -> bool:
    """True for words that make no sentence: no small words, at most one that is said of passwords."""
    found = phrase.replace("-", " ").split()
    return (
        len(found) >= least_words
        and all(word.isalnum() and len(word) > 1 for word in found)
        and _SENTENCE_WORDS.isdisjoint(found)
        and sum(map(is_plain_word, found)) <= 1
    )
