"""One daemon thread that does the session's slow work, one pass at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

Work = Callable[[threading.Event], None]


class Background:
    """Runs `work` after each `wake`, and now and then by itself. Wakes during a pass are answered by one more pass."""

    def __init__(self, work: Work, *, period_s: float = 60.0) -> None:
        """The thread starts with the first `wake`.

        Args:
            work: one pass; it gets an event that tells it to stop early, and must not raise.
            period_s: a pass is made after this many quiet seconds, so that a server that was down is asked again.
        """
        self._work = work
        self._period_s = period_s
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._requested = 0
        self._done = 0
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """Ask for a pass; returns at once. After `finish` nothing more is done."""
        with self._changed:
            if self._stop.is_set():
                return
            self._requested += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="judge", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def finish(self, budget_s: float) -> bool:
        """Wait for the passes asked for, then end the thread.

        Returns:
            Whether the thread has ended, so that what it used may be closed.
        """
        deadline = time.monotonic() + budget_s
        with self._changed:
            self._changed.wait_for(lambda: self._done == self._requested, timeout=budget_s * 0.8)
            self._stop.set()
            self._changed.notify_all()
        if self._thread is None:
            return True
        self._thread.join(max(deadline - time.monotonic(), 0))
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._stop.is_set():
            with self._changed:
                self._changed.wait_for(self._is_wanted, timeout=self._period_s)
                goal = self._requested
            if self._stop.is_set():
                return
            self._work(self._stop)
            with self._changed:
                self._done = goal
                self._changed.notify_all()

    def _is_wanted(self) -> bool:
        return self._stop.is_set() or self._requested > self._done
