"""Bringing a database file up to date: numbered steps, each in one transaction, never changed once released.

The number of steps that a file has seen stands in its `user_version`. Version 0 is an empty file or a database of
pi-noodle, which is taken over in place. Before an older database with content is changed, it is copied beside itself.
"""

from __future__ import annotations

from collections.abc import Callable

from clew.core.errors import StoreCorrupt, StoreTooNew
from clew.store import noodle
from clew.store.adapter import Connection
from clew.store.backups import back_up
from clew.store.schema import VERSION_1


def create_tables(connection: Connection) -> None:
    """Version 0 → 1: Clew's tables, with the memories of pi-noodle if the file was its."""
    was_noodle = noodle.is_noodle(connection)
    if was_noodle:
        noodle.set_aside(connection)
    connection.rows(VERSION_1)
    if was_noodle:
        noodle.take_over(connection)


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (create_tables,)
LATEST = len(MIGRATIONS)


def migrate(connection: Connection) -> None:
    """Run the steps that the file has not seen. Call it with the write lock held.

    Raises:
        StoreTooNew: a newer Clew wrote the file; nothing has been written.
        StoreCorrupt: the file is the database of some other program; nothing has been written.
    """
    ((version,),) = connection.rows("PRAGMA user_version")
    if version > LATEST:
        raise StoreTooNew(
            f"{connection.path} was written by a newer Clew (format {version}, this one knows {LATEST}).",
            "Update Clew.",
        )
    tables = connection.rows("SELECT count(*) FROM sqlite_master")[0][0]
    if version == 0 and tables and not noodle.is_noodle(connection):
        raise StoreCorrupt(
            f"{connection.path} is the database of another program.", "Choose another file for the memories."
        )
    connection.use_write_ahead_log()
    if version < LATEST and tables:
        back_up(connection, version)
    for number, step in enumerate(MIGRATIONS[version:], start=version + 1):
        with connection.transaction("IMMEDIATE"):
            step(connection)
            connection.rows(f"PRAGMA user_version = {number:d}")
