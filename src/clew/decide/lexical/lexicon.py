"""Word lists in eight languages: which kinds of wording a sentence holds, such as standing, temporary or lesson."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from clew.decide.lexical.folding import has_cjk, has_kana, tokens

_FILE = Path(__file__).with_name("lexicons.json")
_LANGUAGE_WORDS = "common"
_SENTENCE_MARKS = " .!?\u3002\uff01\uff1f"

#: Kinds of wording, in the order of their features.
KINDS: tuple[str, ...] = (
    "standing", "henceforth", "rule", "self", "ask", "temporary", "lesson", "hypothetical", "retract", "courtesy", "task", "question",
    "machine", "project", "secret_word", "pointer", "untrusted", "trouble", "negation",
    "fact", "manner", "deictic", "done", "pledge",
)  # fmt: skip
_KIND_BIT = {kind: 1 << position for position, kind in enumerate(KINDS)}


class Lexicon:
    """Phrases of one set of languages.

    Phrases of whole words are looked up by hash, so that the cost grows with the text and not with the list;
    the rest (Chinese, Japanese, fragments with symbols) are searched as substrings.
    """

    def __init__(self, phrases: Iterable[tuple[str, int]]) -> None:
        self._by_words: dict[str, int] = {}
        #: By the first two words of longer phrases: of how many words the phrases are that begin with them.
        self._counts_by_pair: dict[tuple[str, str], set[int]] = {}
        self._fragments: list[tuple[str, int]] = []
        self._dense: list[tuple[str, int]] = []
        for phrase, bit in phrases:
            if has_cjk(phrase):
                self._dense.append((phrase, bit))
            elif " ".join(tokens(phrase)) == phrase:
                self._by_words[phrase] = self._by_words.get(phrase, 0) | bit
                first, *others = phrase.split(" ")
                if others:
                    self._counts_by_pair.setdefault((first, others[0]), set()).add(1 + len(others))
            else:
                self._fragments.append((phrase, bit))

    def find(self, folded: str, words: list[str]) -> int:
        """Bits of the kinds found in a folded sentence, given with its words."""
        found = 0
        lookup, counts_of = self._by_words.get, self._counts_by_pair.get
        for word in self._by_words.keys() & words:
            found |= self._by_words[word]
        for start, pair in enumerate(pairwise(words)):
            for count in counts_of(pair, ()):
                found |= lookup(" ".join(words[start : start + count]), 0)
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
def _votes_by_word() -> Mapping[str, tuple[tuple[str, float], ...]]:
    """For each word of any list, the languages that have it; a word that many share says little about each."""
    languages: dict[str, set[str]] = {}
    for by_language in _load().values():
        for name, phrases in by_language.items():
            for phrase in phrases:
                if " " not in phrase:
                    languages.setdefault(phrase, set()).add(name)
    return {word: tuple((name, 1 / len(names)) for name in sorted(names)) for word, names in languages.items()}


@lru_cache(maxsize=1)
def secret_words() -> tuple[str, ...]:
    """Words that announce a secret, in all languages."""
    return tuple(sorted({phrase for phrases in _load()["secret_word"].values() for phrase in phrases}))


def guess_language(folded: str, words: list[str]) -> str:
    """Which of the eight languages a folded text is in, by script and by the words of its lists; "" = no idea."""
    if has_kana(folded):
        return "ja"
    if has_cjk(folded):
        return "zh"
    votes: dict[str, float] = {}
    votes_of = _votes_by_word().get
    for word in words:
        for name, weight in votes_of(word, ()):
            votes[name] = votes.get(name, 0.0) + weight
    return max(sorted(votes), key=lambda name: votes[name]) if votes else ""
