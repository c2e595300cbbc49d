"""Hybrid search: full text and vectors find candidates, fusion orders them, and a floor may say "nothing relevant".

Without an embedder (none configured, still loading, damaged) full text alone answers, and the result says why. That
path imports nothing heavy, so a cold engine answers in a few milliseconds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.core.errors import EmbedderUnavailable
from clew.core.records import SearchMode, Visibility
from clew.store.adapter import Reader
from clew.store.candidates import CANDIDATES, read_candidates, read_question
from clew.store.columns import as_text
from clew.store.fusion import Candidate, Matches, Scored, fuse
from clew.store.lexical import match_words
from clew.store.vector_index import VectorIndex

if TYPE_CHECKING:
    import numpy as np

    from clew.store.embedder import Embedder

__all__ = ["Found", "Scored", "Searcher"]

_MAX_SPEAKERS = 1000
#: What embedding the query and ranking may still take when the embedder is ready.
_RESERVE_S = 0.03
#: Reading the vectors of more memories than this takes longer than a deadline may leave.
_QUICK_BUILD_ROWS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Rows, best first; how they were found, and for mode `lexical` why no vectors took part."""

    rows: tuple[Scored, ...]
    mode: SearchMode
    reason: str = ""


class Searcher:
    """Searches within a read transaction of the caller. Safe to use from several threads.

    Args:
        embedder: makes the query's vector; None = full text alone.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._index = VectorIndex(embedder.signature, embedder.width) if embedder else None
        self._lock = threading.Lock()
        self._statistics: tuple[int, int, tuple[str, ...]] = (-1, 0, ())

    @property
    def bad_vectors(self) -> int:
        """How many stored vectors are unusable (wrong width, not finite, all zero); known after the first search."""
        return self._index.bad_rows if self._index else 0

    def prepare(self, reader: Reader) -> None:
        """Read the vectors now, so that the first search need not. To be called within a read transaction."""
        if self._index:
            self._index.refresh(reader)

    def search(
        self,
        reader: Reader,
        query: str,
        visible: Visibility,
        *,
        limit: int,
        min_relevance: float,
        deadline: float | None,
    ) -> Found:
        """The visible memories that answer a query, best first.

        Args:
            reader: an open read transaction.
            limit: at most so many rows.
            min_relevance: rows of lower `relevance` are left out.
            deadline: `time.monotonic()` second by which an answer is needed; None = wait for the embedder.
        """
        if limit < 1 or not query.strip():
            return Found(rows=(), mode="lexical", reason="Nothing was asked.")
        total, speakers = self._read_statistics(reader)
        question = read_question(query, speakers)
        by_words = match_words(reader, question.terms, total)
        vector, reason = self._embed(reader, question.text, deadline, total)
        near = self._index.nearest(vector, visible, limit=CANDIDATES) if self._index and vector is not None else []
        candidates = read_candidates(reader, question, by_words.strengths, near, visible)
        matches = Matches(
            words=by_words, meaning=self._cosines(reader, vector, candidates), is_english=question.is_english
        )
        rows = fuse(candidates, matches, limit=limit, min_relevance=min_relevance)
        return Found(rows=tuple(rows), mode="lexical" if vector is None else "hybrid", reason=reason)

    def _cosines(
        self, reader: Reader, vector: np.ndarray | None, candidates: Sequence[Candidate]
    ) -> Mapping[int, float] | None:
        if self._index is None or vector is None:
            return None
        rows = {row for one in candidates for row in (one.row, one.before, one.after) if row is not None}
        return self._index.exact_cosines(reader, vector, sorted(rows))

    def _read_statistics(self, reader: Reader) -> tuple[int, tuple[str, ...]]:
        """How many memories there are, and who speaks in them; kept until the change log grows."""
        ((newest,),) = reader.rows("SELECT coalesce(max(seq), 0) FROM memory_log")
        with self._lock:
            seen, total, speakers = self._statistics
        if seen == newest:
            return total, speakers
        ((total,),) = reader.rows("SELECT count(*) FROM memories")
        found = reader.rows("SELECT DISTINCT speaker FROM memories WHERE speaker IS NOT NULL LIMIT ?", (_MAX_SPEAKERS,))
        speakers = tuple(as_text(name) for (name,) in found)
        with self._lock:
            self._statistics = (newest, total, speakers)
        return total, speakers

    def _embed(self, reader: Reader, text: str, deadline: float | None, total: int) -> tuple[np.ndarray | None, str]:
        """The query's vector, or None and why there is none. Brings the vector index up to date."""
        if self._embedder is None or self._index is None:
            return None, "No embedder is configured."
        if deadline is not None:
            self._embedder.warm_up()
            if not self._embedder.ready(max(0.0, deadline - time.monotonic() - _RESERVE_S)):
                return None, self._embedder.problem or "The embedder is still loading."
            if not self._index.is_built and total > _QUICK_BUILD_ROWS:
                return None, "The vectors have not been read yet."
        try:
            vector = self._embedder.embed(text)
        except EmbedderUnavailable as error:
            return None, str(error)
        self._index.refresh(reader)
        return vector, ""
