"""Daemon threads that work off requests: a lane of one keeps order, a wider lane lets slow work wait beside quick work."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

Work = Callable[[], None]


class Lane:
    """A queue with at most `width` threads, started when needed. Work must not raise."""

    def __init__(self, name: str, width: int) -> None:
        self._name = name
        self._width = width
        self._queue: SimpleQueue[Work] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._started = 0
        self._lock = threading.Lock()

    def submit(self, work: Work) -> None:
        """Queue the work; returns at once."""
        self._queue.put(work)
        if self._idle.acquire(blocking=False):
            return
        with self._lock:
            if self._started == self._width:
                return
            self._started += 1
            number = self._started
        threading.Thread(target=self._run, name=f"{self._name}-{number}", daemon=True).start()

    def _run(self) -> None:
        while True:
            self._next()()

    def _next(self) -> Work:
        try:
            return self._queue.get_nowait()
        except Empty:
            self._idle.release()
            return self._queue.get()
