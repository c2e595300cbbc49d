"""Copies of the database made before it is changed, and taking a forgotten memory out of them too."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from clew.core.errors import StoreError, StoreUnavailable
from clew.store.adapter import Connection
from clew.store.columns import as_text
from clew.store.files import backups_of
from clew.store.forgetting import erase_mentions


def back_up(connection: Connection, version: int) -> Path:
    """Copy the whole database to `<file>.backup-v<version>`, or the next free `…-2`, `…-3`. Returns where it lies.

    The copy appears under its name only when it is complete. Call it outside a transaction.

    Raises:
        StoreUnavailable: no room or no permission; the database is unchanged.
    """
    target = _free_name(connection.path, version)
    unfinished = target.with_name(target.name + ".unfinished")
    try:
        with suppress(FileNotFoundError):
            unfinished.unlink()
        os.close(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        connection.rows("VACUUM INTO ?", (str(unfinished),))
        unfinished.replace(target)
    except (OSError, StoreError) as error:
        with suppress(OSError):
            unfinished.unlink()
        raise StoreUnavailable(
            f"No backup of {connection.path} could be made, so it was left as it is.",
            "Make room on the disk and check that you may write to its folder.",
        ) from error
    return target


def forget_in_backups(database: Path, memory_id: str, texts: Sequence[str], *, now_ms: int) -> None:
    """Delete a memory, its history and what else says it from every backup, leaving no trace in their bytes.

    Args:
        texts: all forms that the memory had.

    Raises:
        StoreError: a backup could not be changed; the message names it.
    """
    for backup in backups_of(database):
        try:
            with closing(Connection(backup)) as connection:
                _delete(connection, memory_id, texts, now_ms)
        except StoreError as error:
            raise StoreUnavailable(
                f"The memory is forgotten, but the backup {backup} still holds it.", "Delete that file."
            ) from error


def _delete(connection: Connection, memory_id: str, texts: Sequence[str], now_ms: int) -> None:
    connection.rows("PRAGMA journal_mode = MEMORY")  # or a rollback file would hold the deleted pages for a moment
    connection.rows("PRAGMA secure_delete = ON")
    tables = {name for (name,) in connection.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
    with connection.transaction("IMMEDIATE"):
        forms = _take_out(connection, "memories", "id", memory_id)
        if "memory_history" in tables:
            forms += _take_out(connection, "memory_history", "memory_id", memory_id)
        changed = erase_mentions(connection, [*dict.fromkeys([*texts, *forms])], now_ms=now_ms, tables=tables)
    if forms or changed:
        connection.rows("VACUUM")


def _free_name(database: Path, version: int) -> Path:
    target = database.with_name(f"{database.name}.backup-v{version}")
    number = 2
    while target.exists():
        target = database.with_name(f"{database.name}.backup-v{version}-{number}")
        number += 1
    return target


def _take_out(connection: Connection, table: str, column: str, memory_id: str) -> list[str]:
    """Delete the rows of a memory. Returns their texts."""
    found = connection.rows(f"SELECT text FROM {table} WHERE {column} = ?", (memory_id,))  # noqa: S608
    connection.rows(f"DELETE FROM {table} WHERE {column} = ?", (memory_id,))  # noqa: S608
    return [as_text(text) for (text,) in found]
