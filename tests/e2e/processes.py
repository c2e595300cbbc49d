"""Waiting for things that happen in other processes."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: How long anything may take before a test fails. It bounds a hang, not a speed: a busy machine stays far below.
PATIENCE_S = 60.0

_POLL_S = 0.02


def wait_until(condition: Callable[[], Any], what: str, *, patience_s: float = PATIENCE_S) -> Any:
    """Value of the condition as soon as it is true. Raises TimeoutError that names what did not happen."""
    end = time.monotonic() + patience_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: did not happen within {patience_s:.0f} s")
        time.sleep(_POLL_S)


def is_alive(pid: int) -> bool:
    """Whether a process runs. A zombie that nobody has waited for counts as ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = _read_stat(Path(f"/proc/{pid}/stat"))
    return not stat or stat.rpartition(")")[2].split()[0] != "Z"


def descendants(pid: int) -> list[int]:
    """Ids of the processes below a process."""
    children: dict[int, list[int]] = {}
    for child, parent in _process_table():
        children.setdefault(parent, []).append(child)
    found, waiting = [], [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _process_table() -> list[tuple[int, int]]:
    """Process id and parent id of every process: from /proc where there is one, else from `ps`."""
    if Path("/proc/self/stat").exists():
        stats = [_read_stat(path) for path in Path("/proc").glob("[0-9]*/stat")]
        return [(int(stat.split()[0]), int(stat.rpartition(")")[2].split()[1])) for stat in stats if stat]
    table = subprocess.run(["ps", "-axo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    return [(int(child), int(parent)) for child, parent in (line.split() for line in table.splitlines())]


def _read_stat(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # it has ended meanwhile
        return ""
