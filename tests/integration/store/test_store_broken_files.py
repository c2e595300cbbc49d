"""Files, folders and disks that cannot be used: typed errors, and nothing harmed."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from clew.core.errors import StoreBusy, StoreCorrupt, StoreTooNew, StoreUnavailable
from clew.core.records import NewMemory, Provenance, Visibility
from clew.store.adapter import Connection
from clew.store.store import Store

EVERYWHERE = Visibility(everywhere=True)


def new(text: str) -> NewMemory:
    return NewMemory(text=text, provenance=Provenance(origin="gate"))


def test_a_missing_folder_is_made_and_belongs_to_its_owner_alone(tmp_path: Path) -> None:
    database = tmp_path / "a b" / "ü" / "clew.db"
    with Store.open(database) as store:
        store.add(new("a fact"))
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in database.parent.iterdir()}
    assert stat.S_IMODE(database.parent.stat().st_mode) == 0o700
    assert modes == {"clew.db": 0o600, "clew.db-wal": 0o600, "clew.db-shm": 0o600, "clew.db.lock": 0o600}


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for database in (tmp_path / "file" / "clew.db", tmp_path):
        with pytest.raises(StoreUnavailable):
            Store.open(database)


@pytest.mark.parametrize("content", [b"not a database at all" * 500, b"SQLite format 3\x00" + b"\xff" * 8192, b"x"])
def test_a_file_that_is_no_database_is_reported_and_left_alone(tmp_path: Path, content: bytes) -> None:
    database = tmp_path / "clew.db"
    database.write_bytes(content)
    with pytest.raises(StoreCorrupt):
        Store.open(database)
    assert database.read_bytes() == content


def test_damaged_pages_are_reported(tmp_path: Path) -> None:
    database = tmp_path / "clew.db"
    with Store.open(database) as store:
        for number in range(200):
            store.add(new(f"fact {number} " + "word " * 50))
    content = bytearray(database.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    database.write_bytes(content)
    with pytest.raises(StoreCorrupt):
        Store.open(database)


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    database = tmp_path / "clew.db"
    database.touch()
    other = Connection(database)
    other.rows("CREATE TABLE bookmarks(url TEXT)")
    other.close()
    before = database.read_bytes()
    with pytest.raises(StoreCorrupt, match="another program"):
        Store.open(database)
    assert database.read_bytes() == before


def test_a_database_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    database = tmp_path / "clew.db"
    with Store.open(database) as store:
        store.add(new("a fact"))
    connection = Connection(database)
    connection.rows("PRAGMA user_version = 99")
    connection.close()
    before = database.read_bytes()
    with pytest.raises(StoreTooNew, match="99"):
        Store.open(database)
    assert database.read_bytes() == before
    assert list(tmp_path.glob("*backup*")) == []


def test_a_folder_without_write_permission_is_reported(tmp_path: Path, start) -> None:
    with Store.open(tmp_path / "clew.db"):
        pass
    for path in (tmp_path, *tmp_path.parents):
        if path.stat().st_uid == tmp_path.stat().st_uid and path not in (Path("/"), Path("/tmp")):  # noqa: S108
            path.chmod(path.stat().st_mode | 0o055)
    (tmp_path / "clew.db").chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        assert start("open_unprivileged", tmp_path / "clew.db", "x").finish() == ["StoreUnavailable"]
        assert start("open_unprivileged", tmp_path / "other.db", "x").finish() == ["StoreUnavailable"]
    finally:
        tmp_path.chmod(0o700)


def test_a_full_disk_is_reported_and_what_was_saved_stays_readable(tmp_path: Path, start) -> None:
    database = tmp_path / "clew.db"
    ((said),) = start("fill_disk", database, str(400 * 1024)).finish()
    name, saved, counted = said.split()
    assert (name, saved) == ("StoreUnavailable", counted)
    assert int(saved) > 5
    with Store.open(database) as store:
        assert store.count(EVERYWHERE) == int(saved)
        store.add(new("there is room again"))


def test_a_lock_that_is_not_given_up_ends_in_a_typed_error(tmp_path: Path) -> None:
    database = tmp_path / "clew.db"
    with Store.open(database) as holder, Store.open(database, lock_timeout_s=0.05) as waiter:
        with holder._database.write(), pytest.raises(StoreBusy):
            waiter.add(new("a fact"))
        assert waiter.add(new("a fact")).outcome == "saved"
        with holder._database.write(), pytest.raises(StoreBusy):
            Store.open(database, lock_timeout_s=0.05)
