"""The files of a database: made when missing, and readable by their owner alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from clew.core.errors import StoreCorrupt, StoreUnavailable

_SMALLEST_DATABASE_BYTES = 512
#: The end of the folder that Noodle and Clew keep for themselves; any other may be shared with other things.
_OWN_FOLDER = (".pi", "noodle")


def create_missing(path: Path) -> None:
    """Create the folder (0700) and an empty file (0600): memories are nobody else's business.

    Raises:
        StoreUnavailable: neither can be made.
        StoreCorrupt: the file is there and too short to be a database.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Only ever opened when it did not exist: closing a file drops this process's locks on it.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        size_bytes = path.stat().st_size
    except OSError as error:
        raise StoreUnavailable(
            f"The database {path} cannot be created ({error.strerror}).",
            "Check the path, that you may write there, and that the disk is not full.",
        ) from error
    if 0 < size_bytes < _SMALLEST_DATABASE_BYTES:
        # SQLite would take it for an empty database and write over it.
        raise StoreCorrupt(f"{path} is not a database.", "Choose another file for the memories.")


def backups_of(database: Path) -> list[Path]:
    """The backups that lie beside a database."""
    name = "".join(f"[{character}]" if character in "*?[" else character for character in database.name)
    return sorted(database.parent.glob(f"{name}.backup-v*"))


def make_private(database: Path) -> None:
    """Take others' permissions off a database, what belongs to it, and its folder if that is Noodle's own.

    What belongs to somebody else is left as it is. SQLite gives new side files the mode of the database.
    """
    if os.name == "nt":  # there the user's profile is private already, and files have no such modes
        return
    for path in _files_of(database):
        _restrict(path, stat.S_IFREG, 0o600)
    if database.absolute().parent.parts[-2:] == _OWN_FOLDER:
        _restrict(database.absolute().parent, stat.S_IFDIR, 0o700)


def _files_of(database: Path) -> Iterator[Path]:
    yield database
    for ending in ("-wal", "-shm", ".lock"):
        yield database.with_name(database.name + ending)
    yield from backups_of(database)


def _restrict(path: Path, kind: int, mode: int) -> None:
    with suppress(OSError):  # gone meanwhile, or a file system without modes
        found = path.stat()
        is_ours = stat.S_IFMT(found.st_mode) == kind and found.st_uid == os.geteuid()
        if is_ours and stat.S_IMODE(found.st_mode) & ~mode:
            path.chmod(stat.S_IMODE(found.st_mode) & mode)
