"""Which memories may answer a query, read from the database: the best by words, the nearest by meaning, and the
neighbours of both in their sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clew.core.records import Visibility
from clew.core.text import words
from clew.store import signals
from clew.store.adapter import Reader
from clew.store.columns import as_name, as_number, as_text
from clew.store.fusion import Candidate
from clew.store.terms import query_terms, reads_english
from clew.store.visibility import visible_sql

#: How many rows words and meaning may each propose.
CANDIDATES = 100
_PAGE_ROWS = 250
#: What people did is told with a time ("last week I …"): a question about a named speaker counts time words this much.
_TIME_SHARE = 1 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query as search reads it. `text` is what is embedded: the query without the speakers' names."""

    text: str
    terms: tuple[str, ...]
    named: frozenset[str]
    window: signals.DateWindow | None
    asks_when: bool
    is_english: bool


def read_question(query: str, speakers: Sequence[str]) -> Question:
    """What a query asks, given who speaks in the memories."""
    named = signals.speakers_named(query, speakers)
    return Question(
        text=signals.without_names(query, named),
        terms=query_terms(query, without={word for speaker in named for word in words(speaker)}),
        named=named,
        window=signals.date_window(query),
        asks_when=signals.asks_when(query),
        is_english=reads_english(query),
    )


def read_candidates(
    reader: Reader, question: Question, by_words: Mapping[int, float], near: Sequence[int], visible: Visibility
) -> list[Candidate]:
    """Candidates among the visible memories.

    Args:
        by_words: match of words by row, of any rows.
        near: the nearest rows by meaning.
    """
    pages = _Pages(reader, question, visible)
    found = {one.row: one for one in _best_by_words(pages, by_words)}
    found |= {one.row: one for one in pages.read(set(near) - found.keys())}
    beside = {row for one in found.values() for row in (one.before, one.after) if row is not None}
    found |= {one.row: one for one in pages.read(beside - found.keys())}
    return list(found.values())


def _best_by_words(pages: _Pages, by_words: Mapping[int, float]) -> list[Candidate]:
    # Which hits are visible only the rows can say, so they are read in order of their match until enough are.
    ranked = sorted(by_words, key=lambda row: (-by_words[row], -row))
    found: list[Candidate] = []
    for start in range(0, len(ranked), CANDIDATES):
        page = {one.row: one for one in pages.read(ranked[start : start + CANDIDATES])}
        found += [page[row] for row in ranked[start : start + CANDIDATES] if row in page]
        if len(found) >= CANDIDATES:
            break
    return found[:CANDIDATES]


class _Pages:
    """Reads candidates by row number; rows that are not visible are left out."""

    def __init__(self, reader: Reader, question: Question, visible: Visibility) -> None:
        self._reader, self._question = reader, question
        seen, self._seen_values = visible_sql(visible, "memories")
        beside, self._beside_values = visible_sql(visible, "beside")
        self._sql = f"""SELECT row, text, speaker, session_id, created_at,
            {_beside_sql(beside, "<", "DESC")}, {_beside_sql(beside, ">", "ASC")}
            FROM memories WHERE {seen} AND row IN """  # noqa: S608  # conditions of ours; values are bound

    def read(self, rows: Iterable[int]) -> Iterator[Candidate]:
        """The visible ones of these rows."""
        wanted = list(rows)
        for start in range(0, len(wanted), _PAGE_ROWS):
            page = wanted[start : start + _PAGE_ROWS]
            values = (*self._beside_values, *self._beside_values, *self._seen_values, *page)
            for fetched in self._reader.rows(f"{self._sql}({', '.join('?' * len(page))})", values):
                yield self._candidate(fetched)

    def _candidate(self, fetched: tuple[Any, ...]) -> Candidate:
        row, _, speaker, session_id, created_at, before, after = fetched
        text = as_text(fetched[1])
        question = self._question
        curiosity = 1.0 if question.asks_when else _TIME_SHARE if question.named else 0.0
        return Candidate(
            row=row,
            session_id=as_name(session_id),
            before=before,
            after=after,
            who=float(as_name(speaker) in question.named),
            when=signals.date_closeness(question.window, as_number(created_at)),
            time_words=curiosity * signals.has_time_word(text) if curiosity else 0.0,
            question=float(signals.is_question(text)),
            length=signals.length_signal(text),
        )


def _beside_sql(visible: str, comparison: str, direction: str) -> str:
    """The row number of the neighbour before or after a row in its session."""
    return f"""(SELECT beside.row FROM memories AS beside
        WHERE beside.session_id = memories.session_id AND {visible}
        AND (beside.created_at, beside.row) {comparison} (memories.created_at, memories.row)
        ORDER BY beside.created_at {direction}, beside.row {direction} LIMIT 1)"""  # noqa: S608
