"""What was said on its way to the journal: screened as it arrives, and kept until it is written."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence

from clew.core.errors import InvalidInput, StoreError
from clew.core.records import Message
from clew.gate.evaluation import Gate
from clew.gate.states import split_exchanges
from clew.hosts.pi.ids import screen_id
from clew.hosts.pi.process import log
from clew.hosts.pi.protocol import WireMessage

_MAX_WAITING = 500
#: The end of the year 9999.
_LATEST_MS = 253_402_300_799_999
_RESUMED, _BRANCH = object(), object()

Step = Callable[[Gate], int]


class Captures:
    """Hands messages to the gate one exchange at a time, in the order they came, and again until they are written.

    May be used from several threads.
    """

    def __init__(self, clock_ms: Callable[[], int]) -> None:
        self._clock_ms = clock_ms
        self._lock = threading.Lock()
        # By what each step begins with, so that a longer version of the same exchange replaces the shorter one.
        self._steps: dict[object, Step] = {}
        self._arrived_ms: dict[str, int] = {}

    @property
    def is_waiting(self) -> bool:
        """Whether something is not written yet."""
        return bool(self._steps)

    def resume(self, messages: Sequence[WireMessage], *, settled: bool) -> None:
        """Take the tail of a conversation that goes on. It may be known already; the gate looks at its window alone."""
        known = self._readable(messages)
        self._append(_RESUMED, lambda gate: gate.capture(known, settled=settled))

    def sync(self, messages: Sequence[WireMessage]) -> None:
        """What comes next follows these messages, which were captured when they were said."""
        branch = self._readable(messages)

        def follow(gate: Gate) -> int:
            gate.sync(branch)
            return 0

        self._append(_BRANCH, follow)

    def add(self, messages: Sequence[WireMessage], *, settled: bool) -> int:
        """Take new messages; `settled`: the last reply is complete.

        Returns:
            How many were left out, because their ids are none.
        """
        readable = self._readable(messages)
        exchanges = [exchange.messages for exchange in split_exchanges(readable)]
        for exchange in exchanges[:-1]:
            self._append_exchange(exchange, settled=True)
        self._append_exchange(exchanges[-1] if exchanges else (), settled=settled)
        return len(messages) - len(readable)

    def flush(self, gate: Gate) -> int:
        """Journal what waits, oldest first. Returns how many states are new or changed; they are on disk.

        Raises:
            StoreError: what was not written stays for the next try.
            Exception: whatever else the gate raised for an exchange, which is given up; all others are written.
        """
        count, failure = 0, None
        with self._lock:
            while self._steps:
                key, step = next(iter(self._steps.items()))
                try:
                    count += step(gate)
                except StoreError:
                    raise
                except Exception as error:  # noqa: BLE001 - one exchange that breaks the gate must not stop the others
                    gate.sync([])
                    failure = error
                del self._steps[key]
        if failure is not None:
            raise failure
        return count

    def _append_exchange(self, messages: Sequence[Message], *, settled: bool) -> None:
        key = messages[0].entry_id if messages else None
        self._append(key, lambda gate: gate.capture(messages, settled=settled))

    def _append(self, key: object, step: Step) -> None:
        with self._lock:
            self._steps.pop(key, None)
            self._steps[key] = step
            if len(self._steps) > _MAX_WAITING:
                del self._steps[next(iter(self._steps))]
                log(f"more than {_MAX_WAITING} exchanges wait to be written; the oldest was given up")

    def _readable(self, messages: Sequence[WireMessage]) -> list[Message]:
        readable = []
        for message in messages:
            try:
                readable.append(self._read(message))
            except InvalidInput as error:
                log(f"a message was left out: {error}")
        return readable

    def _read(self, message: WireMessage) -> Message:
        entry_id = screen_id(message.entry_id, "entry_id")
        return Message(
            entry_id=entry_id,
            role=message.role,
            text=message.text,
            timestamp_ms=self._moment_ms(entry_id, message.timestamp_ms),
            stop_reason=message.stop_reason,
        )

    def _moment_ms(self, entry_id: str, sent_ms: float | None) -> int:
        if sent_ms is not None and 0 < sent_ms <= _LATEST_MS and math.isfinite(sent_ms):
            return int(sent_ms)
        # The same each time the message comes: with its id it is the identity of what is judged once.
        return self._arrived_ms.setdefault(entry_id, self._clock_ms())
