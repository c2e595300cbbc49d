"""The vector index equals the database after any history, whoever wrote it and however the log was trimmed."""

from __future__ import annotations

import tempfile
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.core.records import Visibility
from clew.store.adapter import Database
from clew.store.migrations import migrate
from clew.store.vector_index import VectorIndex

SIGNATURE, WIDTH = "model", 4
EVERYTHING = Visibility(everywhere=True)

ROWS = st.integers(1, 8)
VECTORS = st.lists(st.sampled_from([0.0, 1.0, -2.0, 3.5, float("nan"), float("inf")]), min_size=WIDTH, max_size=WIDTH)
CHANGES = st.one_of(
    st.tuples(st.just("put"), ROWS, VECTORS | st.just([1.0]), st.sampled_from([SIGNATURE, "other", None])),
    st.tuples(st.just("delete"), ROWS),
    st.tuples(st.just("supersede"), ROWS),
    st.tuples(st.just("roll back"), ROWS),
    st.tuples(st.just("trim"), st.integers(0, 3)),
    st.tuples(st.just("look")),
)


def apply(database: Database, change: tuple) -> None:
    kind, *values = change
    if kind == "roll back":
        with suppress(RuntimeError), database.write() as writer:
            writer.rows("DELETE FROM memories WHERE row = ?", values)
            raise RuntimeError
        return
    with database.write() as writer:
        if kind == "put":
            row, vector, model = values
            blob = np.array(vector, "<f4").tobytes()
            writer.rows(
                "INSERT OR IGNORE INTO memories(row, id, text, created_at) VALUES (?, ?, 'x', 1)", (row, str(row))
            )
            writer.rows(
                "UPDATE memories SET embedding = ?, embedding_model = ?, state = 'active' WHERE row = ?",
                (blob, model, row),
            )
        elif kind == "delete":
            writer.rows("DELETE FROM memories WHERE row = ?", values)
        elif kind == "supersede":
            writer.rows("UPDATE memories SET state = 'superseded' WHERE row = ?", values)
        elif kind == "trim":
            writer.rows("DELETE FROM memory_log WHERE seq <= (SELECT max(seq) FROM memory_log) - ?", values)


def expected_rows(database: Database) -> tuple[set[int], int]:
    """Rows that an index must hold, and how many it must call bad, by a plain reading of the table."""
    sql = "SELECT row, embedding FROM memories WHERE embedding_model = ? AND state = 'active' AND embedding NOT NULL"
    with database.read() as reader:
        found = {row: np.frombuffer(blob, "<f4") for row, blob in reader.rows(sql, (SIGNATURE,))}
    good = {row for row, vector in found.items() if len(vector) == WIDTH and np.isfinite(vector).all() and vector.any()}
    return good, len(found) - len(good)


def check(database: Database, index: VectorIndex) -> None:
    good, bad = expected_rows(database)
    with database.read() as reader:
        index.refresh(reader)
        nearest = index.nearest(np.array([0.6, 0.8, 0, 0], np.float32), EVERYTHING, limit=100)
        cosines = index.exact_cosines(reader, np.array([1, 0, 0, 0], np.float32), range(1, 9))
    assert sorted(nearest) == sorted(good)
    assert len(index) == len(good)
    assert index.bad_rows == bad
    assert cosines.keys() == good


@settings(max_examples=60, deadline=None)
@given(st.lists(CHANGES, max_size=25))
def test_the_index_equals_the_table_after_any_history(changes: list[tuple]) -> None:
    with tempfile.TemporaryDirectory() as folder, closing(Database(Path(folder) / "memories.db")) as database:
        database.open(migrate)
        index = VectorIndex(SIGNATURE, WIDTH)
        for change in changes:
            if change[0] == "look":
                check(database, index)
            else:
                apply(database, change)
        check(database, index)
