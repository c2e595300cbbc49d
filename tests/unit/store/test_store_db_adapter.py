"""The adapter: settings of the connection, transactions, threads, what is bound."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.core.errors import InvalidInput, StoreError
from clew.store.adapter import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "x.db", lock_timeout_s=5)

    def create(connection) -> None:
        connection.use_write_ahead_log()
        connection.rows("CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, v)")

    opened.open(create)
    yield opened
    opened.close()


def put(database: Database, value: object) -> None:
    with database.write() as writer:
        writer.rows("INSERT INTO t(v) VALUES(?)", (value,))


def values(database: Database) -> list[object]:
    with database.read() as reader:
        return [value for (value,) in reader.rows("SELECT v FROM t ORDER BY id")]


def test_every_connection_has_the_settings_that_keep_data_safe(database: Database) -> None:
    for transaction in (database.read, database.write):
        with transaction() as connection:
            settings = {
                name: connection.rows(f"PRAGMA {name}")[0][0]
                for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "busy_timeout")
            }
        assert settings.pop("busy_timeout") >= 5000
        assert settings == {"journal_mode": "wal", "synchronous": 1, "foreign_keys": 1, "secure_delete": 1}


def test_a_block_that_raises_leaves_nothing_behind(database: Database) -> None:
    def fail_half_way() -> None:
        with database.write() as writer:
            writer.rows("INSERT INTO t(v) VALUES(1)")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    assert values(database) == []
    put(database, 2)
    assert values(database) == [2]


def test_a_reader_sees_one_state_while_others_write(database: Database) -> None:
    put(database, 1)
    with database.read() as reader:
        assert reader.rows("SELECT count(*) FROM t") == [(1,)]
        writing = threading.Thread(target=put, args=(database, 2))
        writing.start()
        writing.join()
        assert reader.rows("SELECT count(*) FROM t") == [(1,)]
    assert values(database) == [1, 2]


def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises(StoreError), database.read() as reader:
        reader.rows("INSERT INTO t(v) VALUES(1)")


def test_threads_take_turns_to_write(database: Database) -> None:
    threads = [
        threading.Thread(target=lambda n=number: [put(database, f"{n}-{i}") for i in range(20)]) for number in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(values(database))) == 80


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("a\x00b", "a\ufffdb"),
        ("ü\x00\ud800\udc00", "ü\ufffd\ufffd\ufffd"),
        ("😀", "😀"),
        (2**63 - 1, 2**63 - 1),
        (b"\x00\xff", b"\x00\xff"),
        (None, None),
        (0.1, 0.1),
    ],
)
def test_values_are_stored_whole_or_with_a_visible_replacement(database: Database, given, stored) -> None:
    put(database, given)
    assert values(database) == [stored]


def test_a_number_beyond_64_bits_is_refused(database: Database) -> None:
    with pytest.raises(InvalidInput):
        put(database, 2**63)
    assert values(database) == []


def test_errors_name_the_file_but_neither_statement_nor_values(database: Database) -> None:
    for sql, params in (("SELECT nothing FROM t WHERE v = 'private'", ()), ("SELECT ?", ("private", "too many"))):
        with pytest.raises(StoreError) as error, database.read() as reader:
            reader.rows(sql, params)
        assert "x.db" in str(error.value)
        assert "private" not in str(error.value)


def test_the_log_is_kept_short(database: Database) -> None:
    log = database.path.with_name("x.db-wal")
    for _ in range(40):
        put(database, b"x" * 1_000_000)
    assert log.stat().st_size < 12_000_000


def test_emptying_the_log_leaves_nothing_in_it(database: Database) -> None:
    put(database, "x" * 10_000)
    log = database.path.with_name("x.db-wal")
    assert log.stat().st_size > 0
    database.erase_log()
    assert (log.stat().st_size, database.erasure_is_pending) == (0, False)


def test_after_closing_every_use_is_a_typed_error(database: Database) -> None:
    values(database)
    database.close()
    database.close()
    for use in (lambda: values(database), lambda: put(database, 1)):
        with pytest.raises(StoreError, match="closed"):
            use()
    database.erase_log()


def test_a_thread_that_ended_leaves_no_open_connection(database: Database) -> None:
    thread = threading.Thread(target=values, args=(database,))
    thread.start()
    thread.join()
    del thread
    assert len(database._readers) == 0
