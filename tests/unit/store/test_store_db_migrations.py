"""Bringing a file up to date, and taking over pi-noodle's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from clew.core.errors import StoreUnavailable
from clew.core.records import NewMemory, Provenance, Visibility
from clew.store.adapter import Connection
from clew.store.embedder import BuiltinEmbedder
from clew.store.migrations import LATEST
from clew.store.store import Store

EVERYWHERE = Visibility(everywhere=True)
SIGNATURE = json.dumps({"provider": "openai", "model": "text-embedding-3-small", "baseUrl": None})
VECTOR = np.full(1536, 1536**-0.5, "<f4").tobytes()

NOODLE = """
CREATE TABLE memories(
  id TEXT PRIMARY KEY, text TEXT NOT NULL, embedding F32_BLOB(1536), category TEXT NOT NULL, categories TEXT DEFAULT '[]',
  user_id TEXT, assistant_id TEXT, session_id TEXT, metadata TEXT DEFAULT '{}', created_at INTEGER NOT NULL,
  last_retrieved INTEGER, retrieval_count INTEGER DEFAULT 0);
CREATE INDEX idx_memories_scope ON memories(assistant_id, user_id);
CREATE TABLE noodle_meta(key TEXT PRIMARY KEY, value TEXT);
INSERT INTO noodle_meta VALUES('embedding_dimensions', '1536');
"""


def write_noodle(path: Path) -> list[tuple]:
    """A database as pi-noodle leaves it. Returns its rows."""
    rows = [
        ("m-2", "prefers short answers", VECTOR, "response_style", '["response_style"]', "u", "pi", "s1",
         '{"confidence": 0.9}', 1_700_000_000_002, 1_700_000_000_009, 3),
        ("m-1", "制表符缩进", VECTOR, "coding_pref", "[]", None, "pi", None, "{}", 1_700_000_000_001, None, 0),
        ("m-3", "CI runs on Woodpecker", None, "project", "[]", None, None, None,
         '{"project_key": "acme"}', 1_700_000_000_003, None, 0),
        ("m-4", "odd row", b"abc", "memory", "not json", None, "pi", None, "{broken", 1_700_000_000_004, None, None),
    ]  # fmt: skip
    path.touch()
    connection = Connection(path)
    connection.rows(NOODLE)
    connection.rows("INSERT INTO noodle_meta VALUES('embedding_signature', ?)", (SIGNATURE,))
    for row in rows:
        connection.rows(f"INSERT INTO memories VALUES({', '.join('?' * 12)})", row)
    connection.close()
    return rows


def raw(store: Store, sql: str) -> list[tuple]:
    with store._database.read() as reader:
        return reader.rows(sql)


def test_a_noodle_database_is_taken_over_with_nothing_lost(tmp_path: Path) -> None:
    path = tmp_path / "noodle.db"
    rows = write_noodle(path)
    with Store.open(path) as store:
        assert store.count(EVERYWHERE) == 4
        record = store.get("m-2")
        assert (record.text, record.category, record.categories) == (rows[0][1], "response_style", ("response_style",))
        assert (record.user_id, record.assistant_id, record.session_id) == ("u", "pi", "s1")
        assert (record.created_at_ms, record.last_retrieved_ms, record.retrieval_count) == rows[0][9:]
        assert (record.metadata, record.scope, record.state) == ({"confidence": 0.9}, "user", "active")
        assert (
            raw(store, "SELECT embedding, embedding_model FROM memories WHERE id IN ('m-1', 'm-2')")
            == [(VECTOR, f"pi-noodle {SIGNATURE}")] * 2
        )
        assert (store.get("m-3").scope, store.get("m-3").project_key) == ("project", "acme")
        assert store.get("m-4").metadata == {"unreadable": "{broken"}
        assert store.get("m-4").categories == (), "two words are no category to show"
        assert raw(store, "SELECT categories FROM memories WHERE id = 'm-4'") == [('["not json"]',)]
        assert [found.id for found in store.list(EVERYWHERE)] == ["m-4", "m-3", "m-2", "m-1"]
        assert raw(store, "SELECT value FROM noodle_meta ORDER BY key") == [("1536",), (SIGNATURE,)]


def test_a_taken_over_memory_is_found_edited_and_not_doubled(tmp_path: Path) -> None:
    path = tmp_path / "noodle.db"
    write_noodle(path)
    with Store.open(path, embedder=BuiltinEmbedder()) as store:
        assert [hit.id for hit in store.search("缩进", EVERYWHERE).hits][:1] == ["m-1"]
        assert store.search("woodpecker", EVERYWHERE).hits[0].id == "m-3"
        twin = NewMemory(text="Prefers short answers.", provenance=Provenance(origin="gate"), user_id="u")
        assert store.add(twin).memory.id == "m-2"
        assert store.update("m-2", text="prefers long answers").text == "prefers long answers"


def test_the_backup_holds_the_old_database_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "noodle.db"
    rows = write_noodle(path)
    with Store.open(path):
        pass
    (backup,) = tmp_path.glob("noodle.db.backup*")
    assert (backup.name, backup.stat().st_mode & 0o777) == ("noodle.db.backup-v0", 0o600)
    connection = Connection(backup)
    assert sorted(connection.rows("SELECT * FROM memories")) == sorted(rows)
    connection.close()
    with Store.open(path):
        pass
    assert len(list(tmp_path.glob("*backup*"))) == 1, "a file that is up to date is not copied again"


def test_an_earlier_backup_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "noodle.db"
    write_noodle(path)
    earlier = tmp_path / "noodle.db.backup-v0"
    earlier.write_text("precious")
    with Store.open(path):
        pass
    assert earlier.read_text() == "precious"
    assert (tmp_path / "noodle.db.backup-v0-2").exists()


def test_without_room_for_a_backup_nothing_is_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "noodle.db"
    write_noodle(path)
    (tmp_path / "noodle.db.backup-v0.unfinished").mkdir()
    with pytest.raises(StoreUnavailable, match="backup"):
        Store.open(path)
    connection = Connection(path)
    assert connection.rows("SELECT count(*) FROM memories WHERE id = 'm-1'") == [(1,)]
    assert connection.rows("PRAGMA user_version") == [(0,)]
    connection.close()


def test_a_noodle_database_of_an_older_shape_is_taken_over_too(tmp_path: Path) -> None:
    path = tmp_path / "noodle.db"
    path.touch()
    connection = Connection(path)
    connection.rows("CREATE TABLE memories(id TEXT PRIMARY KEY, text TEXT)")
    connection.rows("INSERT INTO memories VALUES('a', 'one fact'), ('b', NULL)")
    connection.close()
    with Store.open(path) as store:
        assert store.get("a").text == "one fact"
        assert store.count(EVERYWHERE) == 2


def test_rows_that_noodle_writes_afterwards_are_prepared_at_the_next_open(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    with Store.open(path) as store, store._database.write() as writer:
        writer.rows("INSERT INTO memories(id, text, category, created_at) VALUES('n', '数据库叫做土拨鼠', 'memory', 1)")
    with Store.open(path) as store:
        assert [hit.id for hit in store.search("土拨鼠", EVERYWHERE).hits] == ["n"]
        assert (
            store.add(NewMemory(text="数据库叫做土拨鼠", provenance=Provenance(origin="gate"))).outcome == "duplicate"
        )


def test_opening_again_and_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    with Store.open(path) as store:
        store.add(NewMemory(text="a fact", provenance=Provenance(origin="gate")))
    before = path.read_bytes()
    for _ in range(3):
        with Store.open(path) as store:
            assert raw(store, "PRAGMA user_version") == [(LATEST,)]
            assert raw(store, "SELECT count(*) FROM memory_log") == [(1,)]
    assert path.read_bytes() == before


def test_the_change_log_is_trimmed_and_search_still_right(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    with Store.open(path) as store:
        store.add(NewMemory(text="rabbits eat hay", provenance=Provenance(origin="gate")))
        with store._database.write() as writer:
            writer.rows(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) "
                "INSERT INTO memory_log(row) SELECT 1 FROM n"
            )
    with Store.open(path) as store:
        assert raw(store, "SELECT count(*) FROM memory_log") == [(10_000,)]
        assert [hit.text for hit in store.search("rabbits", EVERYWHERE).hits] == ["rabbits eat hay"]
