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
    stat = _read(Path(f"/proc/{pid}/stat"))
    return not stat or stat.rpartition(")")[2].split()[0] != "Z"


def processes_of(home: Path) -> dict[int, str]:
    """Process id and command line of every process that runs with this home folder."""
    mark = f"HOME={home}"
    if Path("/proc/self/environ").exists():
        environments = {int(p.parent.name): _read(p).split("\0") for p in Path("/proc").glob("[0-9]*/environ")}
        pids = [pid for pid, environment in environments.items() if mark in environment]
        return {pid: _read(Path(f"/proc/{pid}/cmdline")).replace("\0", " ") for pid in pids}
    table = subprocess.run(["ps", "-axwwE", "-o", "pid=,command="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=1) for line in table.splitlines() if f"{mark} " in f"{line} "]
    return {int(pid): command for pid, command in rows}


def engines_of(home: Path) -> list[int]:
    """Process ids of Clew's engines that run with this home folder."""
    return [pid for pid, command in processes_of(home).items() if "clew" in command and " engine" in command]


def resident_mb(pid: int) -> float:
    """Memory that a process holds, in MB of 10^6 bytes."""
    done = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(done.stdout) * 1024 / 1e6


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # it has ended meanwhile, or belongs to somebody else
        return ""
