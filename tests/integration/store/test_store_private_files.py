"""Who may read the files, what a file that lacks its tables says, and opening without creating."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from clew.core.errors import StoreCorrupt, StoreUnavailable
from clew.core.records import NewMemory, Provenance, Visibility
from clew.store.adapter import Connection
from clew.store.store import Store

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def write_noodle(database: Path) -> None:
    database.parent.mkdir(parents=True, exist_ok=True)
    database.touch(mode=0o644)
    database.chmod(0o644)
    database.parent.chmod(0o755)
    connection = Connection(database)
    connection.rows("CREATE TABLE memories(id TEXT PRIMARY KEY, text TEXT)")
    connection.rows("INSERT INTO memories VALUES('m', 'a fact')")
    connection.close()


def test_a_database_that_is_taken_over_is_its_owner_s_alone(tmp_path: Path) -> None:
    database = tmp_path / ".pi" / "noodle" / "memories.db"
    write_noodle(database)
    for name in ("memories.db.backup-v0", "memories.db.lock"):
        database.with_name(name).touch(mode=0o644)
    database.with_name("config.json").write_text("{}")
    database.with_name("config.json").chmod(0o644)
    with Store.open(database) as store:
        assert store.count(Visibility()) == 1
        modes = {path.name: mode(path) for path in database.parent.iterdir()}
    assert modes.pop("config.json") == 0o644, "not ours to change"
    assert set(modes.values()) == {0o600}
    assert {"memories.db", "memories.db-wal", "memories.db.backup-v0-2", "memories.db.lock"} <= set(modes)
    assert mode(database.parent) == 0o700


def test_a_folder_of_another_name_keeps_its_mode(tmp_path: Path) -> None:
    database = tmp_path / "shared" / "memories.db"
    write_noodle(database)
    with Store.open(database):
        pass
    assert (mode(database), mode(database.parent)) == (0o600, 0o755)


@pytest.mark.parametrize(
    "damage",
    ["DROP TABLE memories", "DROP TABLE inbox", "ALTER TABLE memories DROP COLUMN pinned", "DROP TABLE memory_log"],
)
def test_missing_tables_are_reported_as_damage_with_a_next_step(tmp_path: Path, damage: str) -> None:
    database = tmp_path / "x.db"
    with Store.open(database) as store:
        store.add(NewMemory(text="a fact", provenance=Provenance(origin="ask")))
    connection = Connection(database)
    connection.rows(damage)
    connection.close()

    def use() -> None:
        with Store.open(database) as store:
            store.list(Visibility())
            store.inbox()

    with pytest.raises(StoreCorrupt, match=r"x\.db .*backup.*clew status"):
        use()


def test_a_missing_database_is_not_created_when_it_must_exist(tmp_path: Path) -> None:
    database = tmp_path / "no" / "memories.db"
    with pytest.raises(StoreUnavailable, match=r"memories\.db"):
        Store.open(database, must_exist=True)
    assert not database.parent.exists()
    with Store.open(database):
        pass
    with Store.open(database, must_exist=True) as store:
        assert store.count(Visibility()) == 0
