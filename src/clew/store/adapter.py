"""The one door to the database driver: nothing else in Clew imports it.

Rules kept here, so that no caller can break them:

- Write-ahead log; automatic checkpoints off. Every write, checkpoint, first open and last close happens under one
  exclusive file lock (`<database>.lock`), so writers queue up fairly and no checkpoint runs beside a write.
- Transactions are explicit: `BEGIN IMMEDIATE` to write, `BEGIN` for a stable view to read. A statement's rows are
  fetched at once, because a half-read cursor would pin an old state of the file.
- A connection belongs to one thread: one reader for each, and one writer behind a mutex.
- Deleted content is overwritten (`secure_delete`). What the write-ahead log still holds goes with `erase_log`.
- Driver errors become those of `clew.core.errors`. Their messages name files and driver codes, never SQL or values.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, Protocol
from weakref import WeakSet

from clew.core.errors import InvalidInput, StoreBusy, StoreCorrupt, StoreError, StoreUnavailable
from clew.store.columns import as_text
from clew.store.file_lock import exclusive_file_lock
from clew.store.files import create_missing, make_private

DEFAULT_LOCK_TIMEOUT_S = 30.0
_CLOSE_TIMEOUT_S = 0.5
_BUSY_TIMEOUT_MS = 5000
#: How long emptying the log waits for a reader of an old state before it is put off.
_ERASE_TIMEOUT_MS = 500
_PAGE_BYTES = 4096
_PASSIVE_PAGES = 4 * 1024 * 1024 // _PAGE_BYTES
_TRUNCATE_PAGES = 64 * 1024 * 1024 // _PAGE_BYTES
_RECOVER = "Move it away and put a backup in its place (<file>.backup-v…) if there is one; `clew status` checks it."
#: What SQLite says of tables that are not as Clew made them, to tell damage from a fault in a statement.
_LACKS_TABLES = re.compile(
    r"no such (?:table|column|module)|.*has no column|malformed|vtable constructor|error in |unrecognized option",
    re.IGNORECASE,
)
#: SQLite keeps a NUL, other libSQL clients cut the text there; no client can encode half a surrogate pair.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class Reader(Protocol):
    """Something that answers SQL within an open transaction."""

    def rows(self, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of one statement."""
        ...


class Connection:
    """One connection to one file, used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        """Open an existing file (an empty one is an empty database).

        Raises:
            StoreUnavailable: the file is missing or must not be opened.
        """
        import apsw

        self.path = path
        self.log_pages = 0
        self._driver_error = apsw.Error
        try:
            self._raw = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        except apsw.Error as error:
            raise _typed(error, path) from error
        self._raw.set_busy_timeout(_BUSY_TIMEOUT_MS)

    def rows(self, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run SQL and return all rows it yields.

        NUL and lone surrogates in text become U+FFFD before they are bound, and bytes that are no text when they are
        read: other programs may have written them.

        Raises:
            StoreError: the matching kind, see `clew.core.errors`.
            InvalidInput: an integer does not fit 64 bits.
        """
        bound = tuple(_storable(value) for value in params)
        try:
            try:
                return self._raw.execute(sql, bound).fetchall()
            except UnicodeDecodeError:
                return self._rows_with_damaged_text(sql, bound)
        except self._driver_error as error:
            raise _typed(error, self.path) from error
        except OverflowError as error:
            raise InvalidInput("A number is too large for the database.", "Use one that fits 64 bits.") from error

    @contextmanager
    def transaction(self, mode: Literal["DEFERRED", "IMMEDIATE"]) -> Iterator[None]:
        """Commit at the end of the block, or roll everything back when it raises."""
        self.rows(f"BEGIN {mode}")
        try:
            yield
            self.rows("COMMIT")
        except BaseException:
            # A full disk makes SQLite roll back by itself; a second ROLLBACK would hide the first error.
            if self._raw.in_transaction:
                self.rows("ROLLBACK")
            raise

    def configure(self) -> None:
        """Set what is set for each connection anew."""
        self.rows("PRAGMA synchronous = NORMAL")
        self.rows("PRAGMA foreign_keys = ON")
        self.rows("PRAGMA secure_delete = ON")
        self.rows("PRAGMA temp_store = MEMORY")
        self.rows("PRAGMA wal_autocheckpoint = 0")

    def watch_log_size(self) -> None:
        """Keep `log_pages` up to date. For the writer alone: the hook refers back to the connection, so a connection
        that has one is freed by `close` and not by the end of its thread."""
        self._raw.set_wal_hook(self._note_log_size)

    def use_write_ahead_log(self) -> None:
        """Switch the file to its write-ahead log. Raises StoreUnavailable where the file system cannot do it."""
        if self.rows("PRAGMA journal_mode = WAL") != [("wal",)]:
            raise StoreUnavailable(
                f"{self.path} cannot be used by several processes where it lies.", "Keep it on a local disk."
            )

    def checkpoint(self, mode: Literal["PASSIVE", "TRUNCATE"]) -> bool:
        """Copy the log into the database file; TRUNCATE also empties it. False when a reader stood in the way."""
        self._raw.set_busy_timeout(_ERASE_TIMEOUT_MS)
        try:
            ((blocked, _log, _copied),) = self.rows(f"PRAGMA wal_checkpoint({mode})")
        finally:
            self._raw.set_busy_timeout(_BUSY_TIMEOUT_MS)
        if mode == "TRUNCATE" and not blocked:
            self.log_pages = 0
        return not blocked

    def close(self) -> None:
        """Close; a second call does nothing."""
        try:
            self._raw.close()
        except self._driver_error as error:
            raise _typed(error, self.path) from error

    def _rows_with_damaged_text(self, sql: str, bound: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """The rows of a query, with its text fetched as bytes: the driver gives up at the first that is no UTF-8."""
        cursor = self._raw.execute(sql, bound)
        if not cursor.is_readonly:  # it has taken effect and cannot be asked again; the transaction rolls back
            raise StoreCorrupt(f"{self.path} holds text that is not UTF-8.", _RECOVER)
        names = [f"c{number}" for number in range(len(cursor.get_description()))]
        cursor.close()
        columns = (f"typeof({name}), iif(typeof({name}) = 'text', CAST({name} AS BLOB), {name})" for name in names)
        wrapped = f"WITH found({', '.join(names)}) AS ({sql}) SELECT {', '.join(columns)} FROM found"  # noqa: S608
        return [
            tuple(as_text(value) if kind == "text" else value for kind, value in zip(row[::2], row[1::2], strict=True))
            for row in self._raw.execute(wrapped, bound)
        ]

    def _note_log_size(self, _connection: object, _database: str, pages: int) -> int:
        self.log_pages = pages
        return 0


class Database:
    """A database file that several threads and processes share. See the rules at the top of this module."""

    def __init__(self, path: Path, *, lock_timeout_s: float = DEFAULT_LOCK_TIMEOUT_S) -> None:
        self.path = path
        #: True while deleted bytes may still stand in the write-ahead log because a reader held an old state.
        #: Each later write tries again, so does the next open; the last process to close empties it for certain.
        self.erasure_is_pending = False
        self._lock_path = path.with_name(path.name + ".lock")
        self._lock_timeout_s = lock_timeout_s
        self._mutex = threading.Lock()
        self._writer: Connection | None = None
        self._own = threading.local()
        self._readers: WeakSet[Connection] = WeakSet()

    def open(self, migrate: Callable[[Connection], None], *, must_exist: bool = False) -> None:
        """Open or create the file and bring its tables up to date under the lock.

        Args:
            migrate: called with the writing connection before anything is written.
            must_exist: create nothing; a missing file is StoreUnavailable.

        Raises:
            StoreUnavailable, StoreCorrupt, StoreBusy, StoreTooNew: as their names say.
        """
        if must_exist and not self.path.exists():
            raise StoreUnavailable(f"There is no database {self.path}.", "Check the path, or save a first memory.")
        create_missing(self.path)
        make_private(self.path)
        with self._exclusive(self._lock_timeout_s):
            connection = Connection(self.path)
            try:
                connection.configure()
                connection.watch_log_size()
                migrate(connection)
                connection.checkpoint("TRUNCATE")
            except BaseException:
                connection.close()
                raise
            self._writer = connection

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """One stable view of the database; nothing is locked."""
        connection = self._reader()
        with connection.transaction("DEFERRED"):
            yield connection

    @contextmanager
    def write(self) -> Iterator[Reader]:
        """One transaction that commits at the end of the block. Raises StoreBusy after the lock timeout."""
        with self._exclusive(self._lock_timeout_s):
            writer = self._open_writer()
            with writer.transaction("IMMEDIATE"):
                yield writer
            self._tidy(writer)

    def erase_log(self) -> None:
        """Empty the write-ahead log, so that deleted bytes are nowhere left; see `erasure_is_pending`.

        Never raises: what was deleted is committed, and what is left is tried again.
        """
        self.erasure_is_pending = True
        with suppress(StoreError), self._exclusive(self._lock_timeout_s):
            self._tidy(self._open_writer())

    def close(self) -> None:
        """Close all connections; a second call does nothing. Waits for the lock half a second at most."""
        if self._writer is None:
            return
        for reader in list(self._readers):
            with suppress(StoreError):  # another thread is reading: its connection closes when that thread ends
                reader.close()
        try:
            with self._exclusive(_CLOSE_TIMEOUT_S):
                self._close_writer()
        except StoreError:
            self._close_writer()

    @contextmanager
    def _exclusive(self, timeout_s: float) -> Iterator[None]:
        deadline = time.monotonic() + timeout_s
        if not self._mutex.acquire(timeout=timeout_s):
            raise StoreBusy("Another thread has been writing to the database for too long.", "Try again.")
        try:
            with exclusive_file_lock(self._lock_path, deadline=deadline):
                yield
        finally:
            self._mutex.release()

    def _open_writer(self) -> Connection:
        if self._writer is None:
            raise StoreError(f"The store {self.path} is closed.", "Open it again.")
        return self._writer

    def _reader(self) -> Connection:
        self._open_writer()
        reader: Connection | None = getattr(self._own, "reader", None)
        if reader is None:
            reader = Connection(self.path)
            reader.configure()
            reader.rows("PRAGMA query_only = ON")
            self._own.reader = reader
            self._readers.add(reader)
        return reader

    def _tidy(self, writer: Connection) -> None:
        """Keep the log short. The write before it is committed, so a failure here only puts the work off."""
        with suppress(StoreError):
            if self.erasure_is_pending or writer.log_pages > _TRUNCATE_PAGES:
                self.erasure_is_pending = not writer.checkpoint("TRUNCATE") and self.erasure_is_pending
            elif writer.log_pages > _PASSIVE_PAGES:
                writer.checkpoint("PASSIVE")

    def _close_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()


def _storable(value: Any) -> Any:
    if isinstance(value, str) and not value.isascii():
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, str) and "\x00" in value:
        return value.replace("\x00", "\ufffd")
    return value


def _typed(error: Exception, path: Path) -> StoreError:
    """The error of ours for an error of the driver."""
    import apsw

    code = type(error).__name__.removesuffix("Error")
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return StoreBusy(f"{path} is in use by another program ({code}).", "Try again when it has finished.")
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        return StoreCorrupt(f"{path} is damaged or not a database ({code}).", _RECOVER)
    if isinstance(error, apsw.SQLError) and _LACKS_TABLES.match(str(error)):
        return StoreCorrupt(f"{path} lacks tables that Clew keeps in it, so it is damaged ({code}).", _RECOVER)
    if isinstance(error, (apsw.CantOpenError, apsw.PermissionsError, apsw.ReadOnlyError, apsw.IOError, apsw.FullError)):
        return StoreUnavailable(
            f"{path} cannot be read or written ({code}).",
            "Check that it exists, that you may write to it and its folder, and that the disk is not full.",
        )
    return StoreError(
        f"The database {path} refused a statement ({code}).", "This is a fault in Clew; please report it."
    )
