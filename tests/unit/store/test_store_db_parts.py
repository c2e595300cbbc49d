"""Small parts: ids, processes, the file lock, history, unreadable columns, time zones."""

from __future__ import annotations

import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from clew.core.errors import StoreBusy, StoreUnavailable
from clew.core.records import NewMemory, Provenance, Visibility
from clew.store.file_lock import exclusive_file_lock
from clew.store.ids import new_id
from clew.store.processes import is_process_alive
from clew.store.store import Store


def new(text: str, origin="gate") -> NewMemory:
    return NewMemory(text=text, provenance=Provenance(origin=origin))


def test_an_id_is_a_uuid_of_version_7_that_carries_its_time() -> None:
    made = uuid.UUID(new_id(1_790_000_000_123))
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert made.int >> 80 == 1_790_000_000_123
    assert len({new_id(1) for _ in range(1000)}) == 1000


def test_a_process_is_alive_until_it_has_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert is_process_alive(process.pid)
    assert not is_process_alive(process.pid)
    assert not is_process_alive(0)
    assert not is_process_alive(-1)


def test_the_file_lock_is_exclusive_within_one_process_too(tmp_path: Path) -> None:
    path = tmp_path / "x.db.lock"
    with (
        exclusive_file_lock(path, deadline=time.monotonic()),
        pytest.raises(StoreBusy, match=r"x\.db "),
        exclusive_file_lock(path, deadline=time.monotonic()),
    ):
        pass
    with exclusive_file_lock(path, deadline=time.monotonic()):
        pass


def test_a_lock_file_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable), exclusive_file_lock(tmp_path / "no" / "x.lock", deadline=0):
        pass


def test_history_tells_what_was_changed_forgotten_and_revived(tmp_path: Path) -> None:
    def events(store: Store, memory_id: str) -> list[tuple]:
        with store._database.read() as reader:
            return reader.rows("SELECT event, text FROM memory_history WHERE memory_id = ? ORDER BY seq", (memory_id,))

    with Store.open(tmp_path / "x.db") as store:
        memory_id = store.add(new("first form")).memory.id
        store.add(new("first form"))
        assert events(store, memory_id) == []
        store.update(memory_id, text="second form")
        assert events(store, memory_id) == [("changed", "first form")]
        store.forget(memory_id)
        store.add(new("second form", "command"))
        assert events(store, memory_id) == [("forgotten", None), ("revived", None)]


def test_columns_that_another_program_left_unreadable_become_empty(tmp_path: Path) -> None:
    with Store.open(tmp_path / "x.db") as store:
        memory_id = store.add(new("a fact")).memory.id
        with store._database.write() as writer:
            writer.rows(
                "UPDATE memories SET metadata = '[1]', categories = '{}', provenance = 'x{', scope = 'galaxy', "
                "category = 'odd'"
            )
        record = store.get(memory_id)
        assert (record.metadata, record.categories, record.provenance, record.scope) == ({}, (), None, "user")
        assert store.list(Visibility()) == [record]


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles", "UTC"])
def test_stored_times_do_not_depend_on_the_time_zone(tmp_path: Path, zone: str) -> None:
    code = (
        "import sys, time; from pathlib import Path; from clew.store.store import Store; "
        "from clew.core.records import NewMemory, Provenance\n"
        "with Store.open(Path(sys.argv[1])) as store:\n"
        "    memory = NewMemory(text='a fact', provenance=Provenance(origin='ask'))\n"
        "    print(store.add(memory).memory.created_at_ms)"
    )
    before_ms = time.time_ns() // 1_000_000
    said = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "x.db")],
        env={"TZ": zone},
        capture_output=True,
        text=True,
        check=True,
    )
    assert before_ms <= int(said.stdout) <= time.time_ns() // 1_000_000
