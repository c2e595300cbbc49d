"""The decision server's socket: how many may connect, and how it ends."""

from __future__ import annotations

import json
import signal
import socket
import socketserver
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from clew.core.errors import SettingsError
from clew.core.ports import DecisionModel
from clew.decide.builtin import BuiltinJudge
from clew.decide.server.access import Access
from clew.decide.server.exchange import Exchange
from clew.decide.server.refusals import Overloaded
from clew.decide.server.service import DecisionService

if TYPE_CHECKING:
    from clew.decide.calibration.fit import Fit

MAX_CONNECTIONS = 64
#: How long the end waits for requests that are being answered.
DRAIN_S = 5.0
#: How long a client that was turned away has to read why.
_FAREWELL_S = 1.0
_MAX_FAREWELLS = 64
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class DecisionServer(ThreadingHTTPServer):
    """The built-in judge behind a socket. Bound when made; port 0 takes a free one.

    Args:
        key: what clients must send as bearer token; None asks for nothing.
        fit: temperatures for the judge's logits.
        judge: who answers; None takes the built-in judge.

    Raises:
        SettingsError: the address cannot be used, or the fit was made for another model.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self,
        host: str,
        port: int,
        *,
        key: str | None = None,
        fit: Fit | None = None,
        judge: DecisionModel | None = None,
    ) -> None:
        if not host.strip():  # to a socket this means every address, and to who wrote "$HOST" it does not
            raise SettingsError("Cannot listen on an empty address.", "Name one, or leave --host out.")
        self.service = DecisionService(judge or BuiltinJudge(), fit)
        self.is_ending = False
        self._counting = threading.Condition()
        self._open = self._answering = 0
        self._turned_away: deque[tuple[float, socket.socket]] = deque()
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            super().__init__((host, port), Exchange)
        except (OSError, OverflowError, TypeError, ValueError) as error:  # the last two: no name of a host
            reason = getattr(error, "strerror", None) or error
            raise SettingsError(f"Cannot listen on {host} port {port} ({reason}).", "Choose another one.") from error
        self.access = Access(address=self.server_name, key=key)

    def server_bind(self) -> None:
        """Bind without asking a name server who we are."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    @property
    def url(self) -> str:
        """Base address for clients."""
        host = f"[{self.server_name}]" if ":" in self.server_name else self.server_name
        return f"http://{host}:{self.server_port}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give the connection a thread, or turn it away when there are too many."""
        with self._counting:
            is_welcome = self._open < MAX_CONNECTIONS
            self._open += is_welcome
        if not is_welcome:
            self._turn_away(request)
            return
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # the system has no thread left
            self._close_one()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve the connection until it ends."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._close_one()

    def _close_one(self) -> None:
        with self._counting:
            self._open -= 1

    def _turn_away(self, connection: socket.socket) -> None:
        """Say why, and leave the socket open for a moment: closed at once, it might lose the answer."""
        connection.setblocking(False)  # noqa: FBT003 - the standard library's signature
        with suppress(OSError):
            connection.sendall(_overloaded_reply())
            connection.shutdown(socket.SHUT_WR)
        self._turned_away.append((time.monotonic() + _FAREWELL_S, connection))
        if len(self._turned_away) > _MAX_FAREWELLS:
            self._turned_away.popleft()[1].close()

    def service_actions(self) -> None:
        """Close the connections that were turned away a while ago."""
        while self._turned_away and self._turned_away[0][0] <= time.monotonic():
            self._turned_away.popleft()[1].close()

    def server_close(self) -> None:
        """Stop listening."""
        super().server_close()
        while self._turned_away:
            self._turned_away.popleft()[1].close()

    @contextmanager
    def in_flight(self) -> Iterator[None]:
        """Count a request as one that the end has to wait for."""
        with self._counting:
            self._answering += 1
        try:
            yield
        finally:
            with self._counting:
                self._answering -= 1
                self._counting.notify_all()

    def drain(self, timeout_s: float = DRAIN_S) -> bool:
        """Wait for the requests that are being answered; False if some still are when the time is up."""
        self.is_ending = True
        with self._counting:
            return self._counting.wait_for(lambda: not self._answering, timeout_s)

    def handle_error(self, *_: Any) -> None:
        """Say in one line that a connection failed, unless the client just left."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError | TimeoutError):
            sys.stderr.write(f"clew: a connection failed ({type(error).__name__})\n")


def serve(
    host: str,
    port: int,
    *,
    key: str | None,
    fit: Fit | None = None,
    judge: DecisionModel | None = None,
    announce: Callable[[DecisionServer], None],
) -> int:
    """Serve until SIGTERM or Ctrl-C, let requests that are being answered end, and return 0.

    Args:
        judge: who answers; None takes the built-in judge.
        announce: called once the address is known and connections are accepted.

    Raises:
        SettingsError: the address cannot be used, or the fit was made for another model.
        KeyboardInterrupt: Ctrl-C came a second time.
    """
    with DecisionServer(host, port, key=key, fit=fit, judge=judge) as server, _stopped_by_signals(server):
        announce(server)
        server.serve_forever(poll_interval=0.1)
        server.server_close()
        server.drain()
    return 0


@contextmanager
def _stopped_by_signals(server: DecisionServer) -> Iterator[None]:
    """The first signal stops the server, the second one ends the process at once."""
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def stop(*_: Any) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        # shutdown() waits for the loop that this very thread runs
        threading.Thread(target=server.shutdown, daemon=True).start()

    for number in _SIGNALS:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _overloaded_reply() -> bytes:
    refusal = Overloaded(f"{MAX_CONNECTIONS} connections are open already.")
    data = json.dumps(refusal.body()).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(data)), "Connection": "close"}
    lines = [f"{name}: {value}" for name, value in {**headers, **refusal.headers}.items()]
    return "\r\n".join([f"HTTP/1.1 {refusal.status} Service Unavailable", *lines, "", ""]).encode() + data
