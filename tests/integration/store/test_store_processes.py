"""Several processes on one database file."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.core.records import CapturedState, NewMemory, Provenance, State, Visibility
from clew.store.store import Store

EVERYWHERE = Visibility(everywhere=True)


def stored_texts(store: Store) -> list[str]:
    return [record.text for record in store.list(EVERYWHERE, limit=10_000)]


def assert_sound(store: Store) -> None:
    with store._database.write() as writer:
        assert writer.rows("PRAGMA integrity_check") == [("ok",)]
        writer.rows("INSERT INTO memory_fts(memory_fts, rank) VALUES('integrity-check', 1)")


@pytest.mark.parametrize("trial", range(20))
def test_two_processes_that_create_the_file_together_both_succeed(tmp_path: Path, start, trial: int) -> None:
    database = tmp_path / "new" / "clew.db"
    workers = [start("write", database, name, "6") for name in ("a", "b")]
    for worker in workers:
        worker.wait_until_ready()
    for worker in workers:
        worker.go()
    said = [line for worker in workers for line in worker.finish()]
    with Store.open(database) as store:
        assert sorted(stored_texts(store)) == sorted(said)
        assert len(said) == 12
        assert_sound(store)
    assert list(database.parent.glob("*.backup*")) == []


@pytest.mark.slow
def test_no_acknowledged_memory_is_lost_when_one_of_four_writers_is_killed(tmp_path: Path, start) -> None:
    database = tmp_path / "clew.db"
    workers = [start("write", database, name) for name in "abcd"]
    for worker in workers:
        worker.wait_until_ready()
    for worker in workers:
        worker.go()
    acknowledged = [workers[0].line() for _ in range(20)]
    workers[0].kill()
    acknowledged += workers[0].process.stdout.read().splitlines()
    survivors = [line for worker in workers[1:] for line in worker.finish()]
    with Store.open(database) as store:
        stored = stored_texts(store)
        assert len(survivors) == 180
        assert set(acknowledged) | set(survivors) <= set(stored)
        assert len(stored) == len(set(stored))
        assert_sound(store)
        assert len(store.search("writer fact", EVERYWHERE, limit=5).hits) == 5


def test_two_engines_on_one_journal_settle_each_state_once(tmp_path: Path, start) -> None:
    database = tmp_path / "clew.db"
    states = [
        CapturedState(
            key=f"k{number}",
            entry_id=f"e{number}",
            session_id="s",
            project_key=None,
            state=State(user=f"the user said fact {number}"),
            timestamp_ms=number,
        )
        for number in range(100)
    ]
    with Store.open(database) as store:
        store.journal(states)
        workers = [start("settle", database, name) for name in ("a", "b")]
        for worker in workers:
            worker.wait_until_ready()
        for worker in workers:
            worker.go()
        won = [key for worker in workers for key in worker.finish()]
        assert sorted(won) == sorted(state.key for state in states)
        assert store.unjudged() == []
        records = store.list(EVERYWHERE, limit=200)
        assert [record.seen_count for record in records] == [1] * 100


def test_the_open_state_of_a_killed_engine_becomes_ready(tmp_path: Path, start) -> None:
    database = tmp_path / "clew.db"
    worker = start("journal", database, "killed engine")
    worker.wait_until_ready()
    with Store.open(database) as store:
        assert [state.key for state in store.unjudged()] == ["closed"]
        worker.kill()
        assert [state.key for state in store.unjudged()] == ["closed", "open"]


def test_what_was_saved_is_there_after_the_process_is_killed(tmp_path: Path, start) -> None:
    database = tmp_path / "clew.db"
    worker = start("write", database, "a", "1000000")
    worker.wait_until_ready()
    worker.go()
    saved = worker.line()
    worker.kill()
    with Store.open(database) as store:
        assert saved in stored_texts(store)


def test_a_long_reader_puts_off_the_erasure_and_a_later_write_finishes_it(tmp_path: Path, start) -> None:
    database = tmp_path / "clew.db"

    def is_on_disk(word: bytes) -> bool:
        return any(word in path.read_bytes() for path in tmp_path.iterdir())

    with Store.open(database) as store:
        memory = NewMemory(text="my cat is called Quxwhiskers", provenance=Provenance(origin="ask"))
        memory_id = store.add(memory).memory.id
        reader = start("hold", database, "x")
        reader.wait_until_ready()
        store.forget(memory_id)
        assert store._database.erasure_is_pending
        assert is_on_disk(b"Quxwhiskers")
        reader.go()
        reader.finish()
        store.mark_retrieved(["whatever"])
        assert not store._database.erasure_is_pending
        # Reading the file closed a descriptor of ours, which drops SQLite's locks; so nothing is written after this.
        assert not is_on_disk(b"Quxwhiskers")
