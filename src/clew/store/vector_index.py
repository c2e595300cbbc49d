"""An index of the store's vectors, derived from the database and never the truth.

It follows the database through `memory_log`: `seq` grows in commit order, since SQLite has one writer. It is refreshed
inside the caller's read transaction, so that full text, vectors and rows show one state.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from clew.core.records import Visibility
from clew.store.adapter import Reader
from clew.store.visibility import Audience, may_see

if TYPE_CHECKING:
    import numpy as np

    from clew.store.vector_table import VectorTable

_PAGE_ROWS = 4000
_SQL_VARIABLES = 500
_NO_SESSION = -1

_COLUMNS = "row, embedding, scope, project_key, category, user_id, assistant_id, session_id"
_ELIGIBLE = "embedding IS NOT NULL AND embedding_model = ? AND state = 'active'"
_LOG_ENDS = """SELECT coalesce((SELECT min(seq) FROM memory_log), 0),
    coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'memory_log'), 0)"""


class VectorIndex:
    """Vectors of the active memories that one embedder made. Safe to use from several threads.

    Args:
        signature: only rows with this `embedding_model` are taken in.
        width: how many numbers a vector has.
    """

    def __init__(self, signature: str, width: int) -> None:
        self._signature, self._width = signature, width
        self._lock = threading.Lock()
        self._seq = -1
        self._table: VectorTable | None = None
        self._bad: set[int] = set()
        self._audiences: dict[Audience, int] = {}
        self._sessions: dict[str, int] = {}

    @property
    def is_built(self) -> bool:
        """Whether the first, full read of the database has been done."""
        return self._table is not None

    @property
    def bad_rows(self) -> int:
        """How many vectors are unusable: of a wrong width, not finite, or all zero."""
        return len(self._bad)

    def __len__(self) -> int:
        return 0 if self._table is None else len(self._table)

    def refresh(self, reader: Reader) -> None:
        """Take in what was committed since the last call. To be called within a read transaction."""
        with self._lock:
            ((oldest, newest),) = reader.rows(_LOG_ENDS)
            is_gap = newest > self._seq and not 0 < oldest <= self._seq + 1
            if self._table is None or is_gap:
                self._build(reader)  # the first time, or the log was trimmed beyond what was seen last
            elif newest > self._seq:
                self._catch_up(reader, newest)
            else:
                # Another thread has seen a later state. The vectors are then newer than this view; rows that the view
                # does not have drop out when the caller fetches them.
                return
            self._seq = newest

    def nearest(self, vector: np.ndarray, visible: Visibility, *, limit: int) -> list[int]:
        """The rows nearest to a unit vector among the visible ones, in no order; at most `limit`."""
        import numpy as np

        with self._lock:
            if self._table is None or not len(self._table):
                return []
            cosines = self._table.cosines(vector)
            allowed = np.flatnonzero(self._visible_mask(visible))
            if len(allowed) > limit:
                allowed = allowed[np.argpartition(cosines[allowed], -limit)[-limit:]]
            return [int(row) for row in self._table.rows[allowed]]

    def exact_cosines(self, reader: Reader, vector: np.ndarray, rows: Sequence[int]) -> dict[int, float]:
        """Cosines of a unit vector with rows as the database has them; rows without a usable vector are left out."""
        from clew.store.vector_table import unit_vectors

        found: dict[int, float] = {}
        for page in _pages(rows):
            fetched = reader.rows(
                f"SELECT row, embedding FROM memories WHERE {_ELIGIBLE} AND row IN ({_marks(page)})",  # noqa: S608
                (self._signature, *page),
            )
            usable, matrix = unit_vectors([blob for _, blob in fetched], self._width)
            good = [row for (row, _), is_usable in zip(fetched, usable, strict=True) if is_usable]
            found.update(zip(good, (matrix @ vector).tolist(), strict=True))
        return found

    def _visible_mask(self, visible: Visibility) -> np.ndarray:
        import numpy as np

        assert self._table is not None  # noqa: S101  # `nearest` looks
        seen = np.array([may_see(visible, audience) for audience in self._audiences], dtype=bool)
        mask: np.ndarray = seen[self._table.audiences]
        if visible.session_id is not None:
            mask &= self._table.sessions == self._sessions.get(visible.session_id, _NO_SESSION - 1)
        return mask

    def _build(self, reader: Reader) -> None:
        from clew.store.vector_table import VectorTable

        self._table = VectorTable(self._width)
        self._bad.clear()
        last = 0
        while page := reader.rows(
            f"SELECT {_COLUMNS} FROM memories WHERE row > ? AND {_ELIGIBLE} ORDER BY row LIMIT {_PAGE_ROWS}",  # noqa: S608
            (last, self._signature),
        ):
            self._put(self._table, page)
            last = page[-1][0]

    def _catch_up(self, reader: Reader, newest: int) -> None:
        assert self._table is not None  # noqa: S101  # `refresh` looks
        changed = reader.rows("SELECT DISTINCT row FROM memory_log WHERE seq > ? AND seq <= ?", (self._seq, newest))
        for page in _pages([row for (row,) in changed]):
            fetched = reader.rows(
                f"SELECT {_COLUMNS} FROM memories WHERE row IN ({_marks(page)}) AND {_ELIGIBLE}",  # noqa: S608
                (*page, self._signature),
            )
            for row in set(page) - {row for row, *_ in fetched}:
                self._table.drop(row)
                self._bad.discard(row)
            self._put(self._table, fetched)

    def _put(self, table: VectorTable, fetched: Sequence[tuple[Any, ...]]) -> None:
        import numpy as np

        from clew.store.vector_table import unit_vectors

        usable, vectors = unit_vectors([blob for _, blob, *_ in fetched], self._width)
        labels = np.array([self._labels(row) for row in fetched], dtype=np.int64).reshape(-1, 3)
        table.put(labels[usable], vectors)
        good, bad = labels[usable, 0].tolist(), labels[~usable, 0].tolist()
        self._bad.difference_update(good)
        self._bad.update(bad)
        for row in bad:
            table.drop(row)

    def _labels(self, fetched: tuple[Any, ...]) -> tuple[int, int, int]:
        row, _, *audience, session_id = fetched
        number = self._audiences.setdefault(Audience(*audience), len(self._audiences))
        if session_id is None:
            return row, number, _NO_SESSION
        return row, number, self._sessions.setdefault(session_id, len(self._sessions))


def _pages(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(rows), _SQL_VARIABLES):
        yield rows[start : start + _SQL_VARIABLES]


def _marks(page: Sequence[int]) -> str:
    return ", ".join("?" * len(page))
