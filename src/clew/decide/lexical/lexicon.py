"""Word lists in eight languages: which kinds of wording a sentence holds, such as standing, temporary or lesson."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from clew.decide.lexical.folding import has_cjk, has_kana, tokens

_FILE = Path(__file__).with_name("lexicons.json")
_LANGUAGE_WORDS = "common"
_MAX_PHRASE_WORDS = 4
_SENTENCE_MARKS = " .!?\u3002\uff01\uff1f"

#: Kinds of wording, in the order of their features.
KINDS: tuple[str, ...] = (
    "standing", "rule", "self", "ask", "temporary", "lesson", "hypothetical", "retract", "courtesy", "task", "question",
    "machine", "project", "secret_word", "pointer", "untrusted", "trouble", "negation",
)  # fmt: skip
_KIND_BIT = {kind: 1 << position for position, kind in enumerate(KINDS)}


class Lexicon:
    """Phrases of one set of languages.

    Phrases of whole words are looked up by hash, so that the cost grows with the text and not with the list;
    the rest (Chinese, Japanese, fragments with symbols) are searched as substrings.
    """

    def __init__(self, phrases: Iterable[tuple[str, int]]) -> None:
        self._by_words: dict[str, int] = {}
        self._fragments: list[tuple[str, int]] = []
        self._dense: list[tuple[str, int]] = []
        for phrase, bit in phrases:
            if has_cjk(phrase):
                self._dense.append((phrase, bit))
            elif " ".join(tokens(phrase)) == phrase:
                self._by_words[phrase] = self._by_words.get(phrase, 0) | bit
            else:
                self._fragments.append((phrase, bit))

    def find(self, folded: str, words: list[str]) -> int:
        """Bits of the kinds found in a folded sentence, given with its words."""
        found = 0
        lookup = self._by_words.get
        for start in range(len(words)):
            phrase = words[start]
            found |= lookup(phrase, 0)
            for word in words[start + 1 : start + _MAX_PHRASE_WORDS]:
                phrase = f"{phrase} {word}"
                found |= lookup(phrase, 0)
        searched = self._fragments + self._dense if has_cjk(folded) else self._fragments
        for phrase, bit in searched:
            if not found & bit and phrase in folded:
                found |= bit
        return found

    def opens_with(self, folded: str, words: list[str]) -> int:
        """Bits of the kinds that the sentence begins with, or in Chinese and Japanese ends with."""
        found = 0
        for count in (1, 2, 3):
            found |= self._by_words.get(" ".join(words[:count]), 0)
        if has_cjk(folded):
            head, tail = folded[:6], folded.rstrip(_SENTENCE_MARKS)[-8:]
            for phrase, bit in self._dense:
                if head.startswith(phrase) or tail.endswith(phrase):
                    found |= bit
        return found


@lru_cache(maxsize=1)
def _load() -> dict[str, dict[str, list[str]]]:
    lists: dict[str, dict[str, list[str]]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return lists


@lru_cache(maxsize=16)
def lexicon_for(language: str) -> Lexicon:
    """The phrases of a language together with the English ones, which programmers mix in everywhere; "" = all."""
    wanted = {language, "en"}
    return Lexicon(
        (phrase, _KIND_BIT[kind])
        for kind, by_language in _load().items()
        if kind != _LANGUAGE_WORDS
        for name, phrases in by_language.items()
        if not language or name in wanted
        for phrase in phrases
    )


@lru_cache(maxsize=1)
def _common_words() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(common) for name, common in _load()[_LANGUAGE_WORDS].items()}


@lru_cache(maxsize=1)
def secret_words() -> tuple[str, ...]:
    """Words that announce a secret, in all languages."""
    return tuple(sorted({phrase for phrases in _load()["secret_word"].values() for phrase in phrases}))


def guess_language(folded: str, words: list[str]) -> str:
    """Which of the eight languages a folded text is in, by script and by its commonest words; "" = no idea."""
    if has_kana(folded):
        return "ja"
    if has_cjk(folded):
        return "zh"
    votes = {name: sum(map(common.__contains__, words)) for name, common in _common_words().items()}
    best = max(votes, key=lambda name: votes[name])
    return best if votes[best] else ""
