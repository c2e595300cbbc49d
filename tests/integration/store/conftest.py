"""Several processes on one store."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

WORKER = Path(__file__).with_name("store_worker.py")


class Worker:
    """A process that runs one job of `store_worker.py`."""

    def __init__(self, job: str, database: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER), job, str(database), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait_until_ready(self) -> None:
        assert self.line() == "ready"

    def line(self) -> str:
        return self.process.stdout.readline().strip()

    def go(self) -> None:
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def finish(self) -> list[str]:
        """What it said since, once it has ended without an error."""
        said, _ = self.process.communicate(timeout=100)
        assert self.process.returncode == 0
        return said.splitlines()


@pytest.fixture
def start() -> Iterator[type[Worker]]:
    started: list[Worker] = []

    def start_worker(job: str, database: Path, *arguments: str) -> Worker:
        started.append(Worker(job, database, *arguments))
        return started[-1]

    yield start_worker
    for worker in started:
        worker.process.kill()
        worker.process.communicate()
