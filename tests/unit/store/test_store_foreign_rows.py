"""Rows that another program wrote badly: one of them never hides the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.core.records import NewMemory, Provenance, Visibility
from clew.store.adapter import Connection
from clew.store.embedder import BuiltinEmbedder
from clew.store.store import Store

EVERYWHERE = Visibility(everywhere=True)
#: The same text as no UTF-8 in a text cell, and as a blob.
DAMAGED = {"text": "cast(x'ff4120676164676574' as text)", "blob": "x'ff4120676164676574'", "utf-16": "x'fffe41ff'"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "x.db") as opened:
        opened.add(NewMemory(text="the gadget costs 9 euro", provenance=Provenance(origin="gate"), speaker="Ada"))
        yield opened


def insert(store: Store, text_sql: str, more: str = "created_at", values: str = "1") -> None:
    with store._database.write() as writer:
        writer.rows(f"INSERT INTO memories(id, text, {more}) VALUES('x', {text_sql}, {values})")


@pytest.mark.parametrize("form", DAMAGED)
def test_a_text_that_is_no_utf_8_hides_no_other_memory(store: Store, form: str) -> None:
    insert(store, DAMAGED[form])
    assert store.count(EVERYWHERE) == 2
    assert [memory.id for memory in store.list(EVERYWHERE)][1] == "x"
    assert "\ufffd" in store.get("x").text
    assert "the gadget costs 9 euro" in {hit.text for hit in store.search("gadget euro", EVERYWHERE).hits}
    assert len(store.find("gadget", EVERYWHERE)) == 2 - (form == "utf-16")


@pytest.mark.parametrize("form", DAMAGED)
def test_such_a_text_is_mended_at_the_next_open_and_counted(tmp_path: Path, form: str) -> None:
    path = tmp_path / "y.db"
    with Store.open(path) as store:
        insert(store, DAMAGED[form])
        assert store.repaired_texts() == 0
    for _ in range(2):
        with Store.open(path, embedder=BuiltinEmbedder()) as store:
            assert store.repaired_texts() == 1
            assert "\ufffd" in store.get("x").text
            with store._database.read() as reader:
                assert reader.rows("SELECT typeof(text) FROM memories") == [("text",)]
            store.embed_missing()
            assert store.get("x").has_vector


@pytest.mark.parametrize("column", ["user_id", "category", "metadata", "session_id", "speaker", "provenance", "scope"])
@pytest.mark.parametrize("value", ["cast(x'22ff22' as text)", "x'ff41'", "7"])
def test_no_column_of_a_foreign_row_stops_reading(store: Store, column: str, value: str) -> None:
    if column == "metadata" and value == "x'ff41'":
        value = "x'7b7d'"  # the table lets in nothing that SQLite takes for no JSON
    insert(store, "'a gadget'", f"created_at, {column}", f"1, {value}")
    assert len(store.list(EVERYWHERE)) == 2
    assert len(store.search("gadget", EVERYWHERE).hits) == 2
    assert len(store.find("gadget", EVERYWHERE)) == 2


@pytest.mark.parametrize("value", ["'abc'", "x'ff'", "9e30", "9e999", "-5"])
def test_no_time_of_a_foreign_row_stops_reading(store: Store, value: str) -> None:
    insert(store, "'a gadget'", "created_at, retrieval_count, last_retrieved", f"{value}, {value}, {value}")
    assert isinstance(store.get("x").created_at_ms, int)
    assert len(store.list(EVERYWHERE)) == 2
    assert len(store.search("which gadget on 7 May 2023?", EVERYWHERE).hits) == 2


def test_a_noodle_database_with_such_texts_is_taken_over_whole(tmp_path: Path) -> None:
    path = tmp_path / "noodle.db"
    path.touch()
    connection = Connection(path)
    connection.rows("CREATE TABLE memories(id TEXT PRIMARY KEY, text TEXT, category TEXT, created_at INTEGER)")
    connection.rows("CREATE TABLE noodle_meta(key TEXT PRIMARY KEY, value TEXT)")
    connection.rows("INSERT INTO noodle_meta VALUES('embedding_signature', x'ff00')")
    for number, sql in enumerate([*DAMAGED.values(), "'a whole fact'"]):
        connection.rows(f"INSERT INTO memories VALUES('m{number}', {sql}, '', {number})")
    connection.close()
    with Store.open(path) as store:
        assert (store.count(EVERYWHERE), store.repaired_texts()) == (4, 3)
        assert [memory.category for memory in store.list(EVERYWHERE)] == ["memory"] * 4
        assert store.search("whole fact", EVERYWHERE).hits[0].id == "m3"
