"""How well the words of memories match the words of a query, from the full-text index, on an absolute scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clew.store.adapter import Reader
from clew.store.terms import match_any, match_phrase

# FTS5's bm25() has k1 = 1.2; a word can reach k1 + 1 times its rarity, and in practice about 0.6 of that.
_TYPICAL_SHARE = (1.2 + 1) * 0.6
_FTS5_LOWEST_RARITY = 1e-6
#: A word in more memories than this, and in more than a tenth of all, costs time and tells nothing.
_COMMON_ROWS, _COMMON_SHARE = 2000, 0.1
_FALLBACK_ROWS = 200
#: Two words that begin alike and have the same hits have one stem, which counts once.
_FINGERPRINT_ROWS, _FINGERPRINT_LETTERS = 8, 3
#: How rare a word is cannot be told from a handful of memories; fewer than this count as so many.
_FEWEST_ROWS = 50

_COUNT = "SELECT count(*) FROM memory_fts WHERE memory_fts MATCH ?"
_RANKS = "SELECT rowid, rank FROM memory_fts WHERE memory_fts MATCH ?"
_BEST_RANKS = "SELECT rowid, rank FROM memory_fts WHERE memory_fts MATCH ? ORDER BY rank LIMIT ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class WordMatches:
    """Matches of a query's words, by row.

    Attributes:
        strengths: about 0 to 1.5, where 1 is a good match of all terms.
        counts: how many of the terms a row holds.
        terms: how many terms the query has.
        total: among how many memories they were looked for.
    """

    strengths: Mapping[int, float]
    counts: Mapping[int, int]
    terms: int
    total: int


def rarity(holding: int, total: int) -> float:
    """BM25's inverse document frequency, in the form that stays above 0 for common words."""
    return math.log(1 + (max(total, _FEWEST_ROWS) - holding + 0.5) / (holding + 0.5))


def match_words(reader: Reader, terms: Sequence[str], total: int) -> WordMatches:
    """How well the words of rows match the terms; of all rows that hold one.

    BM25, divided by what a good match of all terms would reach. Asked term by term, since FTS5 gives a word that most
    memories hold no weight at all, which in a store of three memories leaves nothing; only the share of a term's
    frequency and the row's length is taken from FTS5, and weighed by `rarity`.

    Args:
        total: how many memories there are.
    """
    told = [term for term in terms if total <= _COMMON_ROWS or not _is_common(reader, term, total)]
    if terms and not told:
        return _match_common_words(reader, terms, total)
    reachable = 0.0
    strengths: dict[int, float] = {}
    counts: dict[int, int] = {}
    seen: set[tuple[Any, ...]] = set()
    for term in told:
        ranks = reader.rows(_RANKS, (match_phrase(term),))
        same_stem = (term[:_FINGERPRINT_LETTERS], len(ranks), *ranks[:_FINGERPRINT_ROWS])
        if ranks and same_stem in seen:
            continue
        seen.add(same_stem)
        weight = rarity(len(ranks), total)
        reachable += weight
        fts5_weight = max(math.log((total - len(ranks) + 0.5) / (len(ranks) + 0.5)), _FTS5_LOWEST_RARITY)
        for row, rank in ranks:
            strengths[row] = strengths.get(row, 0.0) - rank * weight / fts5_weight
            counts[row] = counts.get(row, 0) + 1
    scale = 1 / max(reachable * _TYPICAL_SHARE, 1e-6)
    strengths = {row: strength * scale for row, strength in strengths.items()}
    return WordMatches(strengths=strengths, counts=counts, terms=len(told), total=total)


def _is_common(reader: Reader, term: str, total: int) -> bool:
    ((holding,),) = reader.rows(_COUNT, (match_phrase(term),))
    return bool(holding > max(_COMMON_ROWS, total * _COMMON_SHARE))


def _match_common_words(reader: Reader, terms: Sequence[str], total: int) -> WordMatches:
    ranks = reader.rows(_BEST_RANKS, (match_any(terms), _FALLBACK_ROWS))
    best = max((-rank for _, rank in ranks), default=0.0) or 1.0
    strengths = {row: 0.5 * -rank / best for row, rank in ranks}
    return WordMatches(strengths=strengths, counts=dict.fromkeys(strengths, 1), terms=len(terms), total=total)
