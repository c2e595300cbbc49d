"""All evidence about a memory in one number.

The score is a weighted sum of signals on absolute scales, without rescaling per query: scores of different queries can
be compared, so that "nothing relevant" has a floor. Ranks (reciprocal rank fusion) cannot do that, and find less.
Weights were found on conversations by coordinate ascent and rounded; benchmarks/locomo.py measures what they give.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from operator import mul
from typing import NamedTuple

from clew.store.lexical import WordMatches

#: What `relevance` a memory must reach to go into a prompt unasked; benchmarks/relevance.py shows what it lets through.
RELEVANCE_FLOOR = 0.4

_BEST_OF_SESSION = 3
# Among more memories, more hold the same words by chance: by words alone each is the less likely to be meant. Below the
# first size nothing changes.
_CROWD_ROWS, _CROWD_SHARE = 100, 0.35
# What the cosine of a memory without a vector probably is, given its words.
_COSINE_OF_STRANGERS, _COSINE_PER_WORD_MATCH = 0.15, 0.35
#: Words beyond so many good matches add nothing to relevance; neither do matches in more than about a thousand memories.
_MOST_WORDS, _MOST_BREADTH = 2.0, 7.0


class Weights(NamedTuple):
    """How much each signal counts. Neighbours are the memories before and after in the same session."""

    words: float = 0.0
    words_before: float = 0.0
    words_after: float = 0.0
    meaning: float = 0.0
    meaning_before: float = 0.0
    meaning_after: float = 0.0
    session: float = 0.0
    who: float = 0.0
    when: float = 0.0
    time_words: float = 0.0
    question: float = 0.0
    length: float = 0.0


WITH_VECTORS = Weights(
    words=1.0,
    words_before=0.6,
    words_after=0.2,
    meaning=1.5,
    meaning_before=0.4,
    meaning_after=0.3,
    session=0.8,
    who=0.8,
    when=0.8,
    time_words=0.45,
    question=-0.15,
    length=0.15,
)
WORDS_ALONE = Weights(
    words=1.0,
    words_before=0.8,
    words_after=0.3,
    session=1.3,
    who=0.6,
    when=0.4,
    time_words=0.25,
    question=-0.1,
    length=0.15,
)


class Candidate(NamedTuple):
    """A memory that may answer a query.

    Attributes:
        before, after: rows of its neighbours in the session.
        who, when, time_words, question, length: signals that concern the memory alone (`clew.store.signals`).
    """

    row: int
    session_id: str | None = None
    before: int | None = None
    after: int | None = None
    who: float = 0.0
    when: float = 0.0
    time_words: float = 0.0
    question: float = 0.0
    length: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """How well rows match a query.

    Attributes:
        words: by words.
        meaning: cosine by row, of rows that have a vector; None when no vectors take part.
        is_english: whether the query is; the built-in embedder understands nothing else.
    """

    words: WordMatches
    meaning: Mapping[int, float] | None
    is_english: bool = True

    def words_of(self, row: int | None) -> float:
        """Match of words; 0 for no row."""
        return 0.0 if row is None else self.words.strengths.get(row, 0.0)

    def meaning_of(self, row: int | None) -> float:
        """Cosine; for a row without a vector what its words make likely; 0 for no row."""
        if row is None or self.meaning is None:
            return 0.0
        known = self.meaning.get(row)
        if known is None:
            return _COSINE_OF_STRANGERS + _COSINE_PER_WORD_MATCH * min(self.words_of(row), 1.0)
        return known

    def strength_of(self, row: int) -> float:
        """Words and meaning together."""
        return self.words_of(row) + self.meaning_of(row)

    def relevance_of(self, row: int) -> float:
        """How likely the memory has to do with the query, 0 to 1, from its own words and meaning alone.

        A logistic model, fitted on half of benchmarks/data/relevance.json. Words count by how many match, not by what
        share of the query they are: prompts are full of words that no memory holds. The more memories hold one of the
        query's words, the less a match tells.
        """
        words = min(self.words_of(row) * self.words.terms, _MOST_WORDS)
        breadth = min(math.log1p(len(self.words.strengths)), _MOST_BREADTH) if words else 0.0
        cosine = None if self.meaning is None else self.meaning.get(row)
        if cosine is None:
            crowd = math.log(max(self.words.total / _CROWD_ROWS, 1))
            return _logistic(6.4 * words - breadth - _CROWD_SHARE * crowd - 3.9)
        return _logistic(15.3 * cosine + 6.3 * words - breadth - 1.9 * (not self.is_english) - 8.8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A memory's place in the result.

    Attributes:
        score: orders the result.
        relevance: 0 to 1, from the memory's own words and meaning alone.
        signals: each signal's share of the score.
    """

    row: int
    score: float
    relevance: float
    signals: Mapping[str, float]


def fuse(candidates: Sequence[Candidate], matches: Matches, *, limit: int, min_relevance: float = 0.0) -> list[Scored]:
    """The best candidates of sufficient relevance, best first; of equal ones the newer row first."""
    weights = WORDS_ALONE if matches.meaning is None else WITH_VECTORS
    support = _session_support(candidates, matches)
    signals = {one.row: _signals(one, matches, support) for one in candidates}
    scores = {row: sum(map(mul, values, weights)) for row, values in signals.items()}
    best: list[Scored] = []
    for row in sorted(scores, key=lambda row: (-scores[row], -row)):
        if len(best) == limit:
            break
        relevance = matches.relevance_of(row)
        if relevance >= min_relevance:
            shares = {
                name: value * weight
                for name, value, weight in zip(Weights._fields, signals[row], weights, strict=True)
                if value and weight
            }
            best.append(Scored(row=row, score=scores[row], relevance=relevance, signals=shares))
    return best


def _signals(one: Candidate, matches: Matches, support: Mapping[str, float]) -> Weights:
    """The value of each signal, in the places of their weights."""
    return Weights(
        matches.words_of(one.row),
        matches.words_of(one.before),
        matches.words_of(one.after),
        matches.meaning_of(one.row),
        matches.meaning_of(one.before),
        matches.meaning_of(one.after),
        matches.strength_of(one.row) if one.session_id is None else support[one.session_id],
        one.who,
        one.when,
        one.time_words,
        one.question,
        one.length,
    )


def _session_support(candidates: Iterable[Candidate], matches: Matches) -> dict[str, float]:
    """The mean strength of the best few memories of each session."""
    by_session: dict[str, list[float]] = {}
    for one in candidates:
        if one.session_id is not None:
            by_session.setdefault(one.session_id, []).append(matches.strength_of(one.row))
    best = {session: nlargest(_BEST_OF_SESSION, strengths) for session, strengths in by_session.items()}
    return {session: sum(strengths) / len(strengths) for session, strengths in best.items()}


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))
