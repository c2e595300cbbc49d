"""What the words of a question mean, as far as matching needs it: synonyms of six languages folded to concepts. Pure.

A concept stands for every word and phrase that asks for the same thing ("password", "credential", "contraseña"). Words
that say nothing are left out, and a word that belongs to no concept stands for itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any

from clew.decide.lexical.folding import fold_letters, tokens

WORDINGS_FILE = Path(__file__).with_name("wordings.json")
_MAX_PHRASE_WORDS = 6
#: Stand-ins for phrases: what follows "rather than" in its clause is not asked; "not only" negates nothing.
_EXCLUSION, _NEUTRAL = "\0excluded", "\0neutral"
#: "the value, not the place" excludes and does not negate.
_COMMA_NOT = re.compile(r"[,:(\u2013\u2014]\s*(?:not|non|nicht|pas|no)\b")
_CLAUSE_END = re.compile(r"[.?!;)\n]")
_ELISION = re.compile(r"^(?:[cdjlmnst]|qu|un|[dns]ell|all|dall|sull|c)'")
_ENDING = re.compile(r"'s$|-(?:t-)?(?:ils?|elles?|on|y)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """Concepts and words of a text; `is_negated` when one of them turns it round."""

    terms: frozenset[str]
    is_negated: bool

    def __or__(self, other: Meaning) -> Meaning:
        return Meaning(terms=self.terms | other.terms, is_negated=self.is_negated or other.is_negated)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """Phrases and words by what they stand for; all folded.

    Attributes:
        phrases: of several words; `words`: of one; `prefixes`: of words that begin so.
    """

    phrases: Mapping[tuple[str, ...], str]
    words: Mapping[str, str]
    prefixes: Mapping[str, str]
    negators: frozenset[str]
    stop_words: frozenset[str]

    def read(self, text: str) -> Meaning:
        """The meaning of a text in any of the six languages."""
        clauses = _CLAUSE_END.split(_COMMA_NOT.sub(" and not ", fold_letters(text)))
        found = [term for clause in clauses for term in self._read_clause(clause)]
        terms = frozenset(term for term in found if term not in self.negators and term != _NEUTRAL)
        return Meaning(terms=terms, is_negated=any(term in self.negators for term in found))

    def _read_clause(self, clause: str) -> Iterator[str]:
        terms = self._fold_phrases([_strip(token) for token in tokens(clause)])
        return takewhile(lambda term: term != _EXCLUSION, terms)

    def _fold_phrases(self, words: Sequence[str]) -> Iterator[str]:
        at = 0
        while at < len(words):
            longest = min(_MAX_PHRASE_WORDS, len(words) - at)
            sizes = (size for size in range(longest, 1, -1) if tuple(words[at : at + size]) in self.phrases)
            size = next(sizes, 1)
            if size > 1:
                yield self.phrases[tuple(words[at : at + size])]
            elif term := self._fold_word(words[at]):
                yield term
            at += size

    def _fold_word(self, word: str) -> str | None:
        if word in self.words:
            return self.words[word]
        if word in self.negators:
            return word
        if word in self.stop_words or word.isdigit():
            return None
        starts = (word[:size] for size in range(len(word), 2, -1))
        return next((self.prefixes[start] for start in starts if start in self.prefixes), word)


def _strip(token: str) -> str:
    return _ENDING.sub("", _ELISION.sub("", token))


@lru_cache(maxsize=1)
def load_wordings() -> Mapping[str, Any]:
    """The file of concepts and known wordings that comes with Clew."""
    loaded: Mapping[str, Any] = json.loads(WORDINGS_FILE.read_text(encoding="utf-8"))
    return loaded


@lru_cache(maxsize=1)
def load_vocabulary() -> Vocabulary:
    """The vocabulary of the bundled file."""
    raw = load_wordings()
    phrases: dict[tuple[str, ...], str] = {}
    words: dict[str, str] = {}
    prefixes: dict[str, str] = {}
    named = {**raw["concepts"], _EXCLUSION: raw["exclusions"], _NEUTRAL: raw["neutral"]}
    for concept, listed in named.items():
        for entry in _split(listed):
            if entry.endswith("*"):
                prefixes.setdefault(entry[:-1], concept)
            parts = tuple(map(_strip, tokens(entry)))
            if len(parts) > 1:
                phrases.setdefault(parts, concept)
            elif not entry.endswith("*"):
                words.setdefault(parts[0], concept)
    return Vocabulary(
        phrases=phrases,
        words=words,
        prefixes=prefixes,
        negators=frozenset(_split(raw["negators"])),
        stop_words=frozenset(map(_strip, _split(raw["stop_words"]))),
    )


def _split(lines: Sequence[str]) -> list[str]:
    """The entries of lines that hold several each, folded."""
    return [fold_letters(entry) for line in lines for entry in line.split(",")]
