"""An exclusive lock between processes, held on a file beside the database and freed by the kernel when its holder dies."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clew.core.errors import StoreBusy, StoreUnavailable

_FIRST_PAUSE_S = 0.001
_LONGEST_PAUSE_S = 0.02


@contextmanager
def exclusive_file_lock(path: Path, *, deadline: float) -> Iterator[None]:
    """Hold the lock on `path` for the length of the block.

    Each call opens the file anew, so two threads, or two stores in one process, exclude each other too.

    Args:
        path: the lock file; created with mode 0600, never deleted (a deleted one would split the lock in two).
        deadline: `time.monotonic()` second at which to give up.

    Raises:
        StoreBusy: somebody else held the lock until the deadline.
        StoreUnavailable: the file cannot be created, or the file system knows no locks.
    """
    descriptor = _open(path)
    try:
        _acquire(descriptor, path, deadline)
        try:
            yield
        finally:
            _release(descriptor)
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreUnavailable(
            f"The lock file {path} cannot be opened ({error.strerror}).",
            "Check that the folder exists, that you may write to it, and that the disk is not full.",
        ) from error


def _acquire(descriptor: int, path: Path, deadline: float) -> None:
    pause_s = _FIRST_PAUSE_S
    while not _try_lock(descriptor, path):
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise StoreBusy(
                f"Another process has been writing to {path.with_suffix('')} for too long.",
                "Try again; if it stays so, end the process that holds the lock.",
            )
        time.sleep(min(pause_s, left_s))
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int, path: Path) -> bool:  # noqa: ARG001 - the same call on each platform
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _release(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int, path: Path) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise StoreUnavailable(
                f"The file system of {path} does not support locks ({error.strerror}).",
                "Keep the database on a local disk.",
            ) from error
        return True

    def _release(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
