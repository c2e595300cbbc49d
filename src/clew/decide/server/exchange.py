"""One connection to the decision server: any number of requests, one after the other.

Every answer but the pages is JSON, refusals too. Nothing of a request is logged.
"""

from __future__ import annotations

import io
import socket
import sys
import uuid
from contextlib import AbstractContextManager, ExitStack, suppress
from http.server import BaseHTTPRequestHandler
from typing import Any, Protocol
from urllib.parse import urlsplit

from clew.decide.server.access import Access
from clew.decide.server.arrivals import RequestStream, discard_rest
from clew.decide.server.bodies import check_head, read_body
from clew.decide.server.refusals import Failed, Refusal, UnknownRoute, WrongMethod
from clew.decide.server.routes import ROUTES, Content, as_json
from clew.decide.server.service import DecisionService

#: How long a connection may rest between requests, a request may take to arrive, and an answer to be taken.
IDLE_TIMEOUT_S = 30.0
REQUEST_TIMEOUT_S = 30.0
WRITE_TIMEOUT_S = 30.0
#: How long a client that was cut off may go on sending: closed at once, the connection might lose the answer.
FAREWELL_S = 1.0
_ROUTES = {route.path: route for route in ROUTES}
#: What the standard library would answer with a 5xx, though the request is to blame.
_SENDERS_FAULT = {501: 405, 505: 400}


class Host(Protocol):
    """What a connection needs of the server that it belongs to."""

    access: Access
    service: DecisionService
    is_ending: bool

    def in_flight(self) -> AbstractContextManager[None]:
        """Count a request as one that the end has to wait for."""
        ...


class Exchange(BaseHTTPRequestHandler):
    """The requests of one connection."""

    server: Host  # type: ignore[assignment]  # a BaseServer that is one
    protocol_version = "HTTP/1.1"
    server_version = "clew"
    sys_version = ""
    disable_nagle_algorithm = True

    def setup(self) -> None:
        """Read through a stream that watches the time."""
        super().setup()
        self.rfile.close()
        self._stream = RequestStream(self.connection, idle_s=IDLE_TIMEOUT_S, total_s=REQUEST_TIMEOUT_S)
        self.rfile = io.BufferedReader(self._stream)
        self._is_cut_off = False

    def finish(self) -> None:
        """End the connection, so that the last answer arrives."""
        super().finish()
        if self._is_cut_off:
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_WR)
                discard_rest(self.connection, FAREWELL_S)

    def handle_one_request(self) -> None:
        """Read and answer one request; a head that does not arrive in time is refused like any other."""
        self._stream.expect_request()
        self.command = self.requestline = self.request_version = ""
        with ExitStack() as self._request:
            try:
                super().handle_one_request()
            except Refusal as refusal:
                self._close_with(refusal)

    def parse_request(self) -> bool:
        """From its first line on, the request is one that the end waits for."""
        self._request.enter_context(self.server.in_flight())
        return super().parse_request()

    def do_GET(self) -> None:
        """Answer a GET."""
        self._run()

    def do_HEAD(self) -> None:
        """Answer a HEAD."""
        self._run()

    def do_POST(self) -> None:
        """Answer a POST."""
        self._run()

    def _run(self) -> None:
        try:
            content = self._handle()
        except Refusal as refusal:
            content = as_json(refusal.body(), refusal.status, refusal.headers)
        except ConnectionError:
            raise  # the client has left: nobody is there to answer
        except Exception as error:  # noqa: BLE001 - a mistake of ours must not cost the client its answer
            sys.stderr.write(f"clew: a request failed ({type(error).__name__})\n")
            content = as_json(Failed("The server made a mistake.").body(), Failed.status)
        self._reply(content)

    def _handle(self) -> Content:
        body = self._read()
        self.server.access.check_sender(self.headers, is_reading=self.command != "POST")
        route = _ROUTES.get(_path_of(self.path) or "")
        if route is None:
            raise UnknownRoute("There is nothing at this path.")
        if self.command not in route.methods:
            raise WrongMethod(", ".join(route.methods))
        if route.needs_key:
            self.server.access.check_key(self.headers)
        return route.respond(self.server.service, body)

    def _read(self) -> bytes:
        """The whole body, whatever the route: what is left unread would be taken for the next request."""
        self.close_connection, keeps_open = True, not self.close_connection
        self._is_cut_off = True
        check_head(self.headers)
        body = read_body(self.rfile, self.headers)  # type: ignore[arg-type]  # a Message is a Mapping in all but name
        self.close_connection = not keeps_open
        self._is_cut_off = False
        return body

    def _reply(self, content: Content) -> None:
        self.connection.settimeout(WRITE_TIMEOUT_S)
        self.request_version = self.protocol_version  # a status line also for a request whose first line is broken
        self.close_connection = self.close_connection or self.server.is_ending
        self.send_response(content.status)
        self.send_header("Content-Type", content.media_type)
        self.send_header("Content-Length", str(len(content.data)))
        self.send_header("X-TypeSafe-Request-Id", uuid.uuid4().hex)
        if self.close_connection:
            self.send_header("Connection", "close")
        for name, value in content.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content.data)

    def _close_with(self, refusal: Refusal) -> None:
        self.close_connection = self._is_cut_off = True
        with suppress(OSError):
            self._reply(as_json(refusal.body(), refusal.status, refusal.headers))

    def send_error(self, code: int, *_: Any, **__: Any) -> None:
        """What the standard library refuses by itself, in the same shape as all else."""
        refusal = Refusal(f"The request cannot be read ({code}).")
        refusal.status = _SENDERS_FAULT.get(code, code)
        self._close_with(WrongMethod("") if refusal.status == WrongMethod.status else refusal)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the standard library's
        """Log nothing: what is judged is private."""


def _path_of(target: str) -> str | None:
    """The path of a request's target; None for one that no client could mean, such as `http://[`."""
    try:
        return urlsplit(target).path
    except ValueError:
        return None
