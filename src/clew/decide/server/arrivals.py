"""A connection as a stream of requests, each of which has to arrive within a total time."""

from __future__ import annotations

import io
import socket
import time
from typing import Any

from clew.decide.server.refusals import TooSlow

_STEP_BYTES = 1 << 16


class RequestStream(io.RawIOBase):
    """What arrives on a socket.

    Between requests it waits `idle_s` and then ends, as if the client had left. Once the first byte of a request is
    here, the rest has `total_s`, however it is spread.
    """

    def __init__(self, connection: socket.socket, *, idle_s: float, total_s: float) -> None:
        self._connection = connection
        self._idle_s = idle_s
        self._total_s = total_s
        self._deadline: float | None = None

    def expect_request(self) -> None:
        """The next byte is the first of a request."""
        self._deadline = None

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what is there. Raises TooSlow."""
        left_s = self._idle_s if self._deadline is None else self._deadline - time.monotonic()
        late = TooSlow(f"The request did not arrive within {self._total_s:g} seconds.")
        if left_s <= 0:
            raise late
        try:
            self._connection.settimeout(left_s)
            count = self._connection.recv_into(buffer)
        except TimeoutError as error:
            if self._deadline is None:
                return 0
            raise late from error
        if self._deadline is None:
            self._deadline = time.monotonic() + self._total_s
        return count


def discard_rest(connection: socket.socket, total_s: float) -> None:
    """Read and throw away what still arrives, until the sender ends or the time is up."""
    deadline = time.monotonic() + total_s
    while (left_s := deadline - time.monotonic()) > 0:
        connection.settimeout(left_s)
        if not connection.recv(_STEP_BYTES):
            return
