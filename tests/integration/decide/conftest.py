"""A scripted System One server on loopback."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

Script = Callable[["Exchange"], None]


class Exchange(BaseHTTPRequestHandler):
    """One request. A script answers it with `reply` or by hand on `wfile`."""

    server: DecisionServer
    body: bytes = b""

    def do_GET(self) -> None:
        self._run()

    def do_POST(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._run()

    def _run(self) -> None:
        self.server.requests.append((self.command, self.path, dict(self.headers), self.body))
        route = self.server.routes.get((self.command, self.path))
        steps = route if isinstance(route, list) else [route]
        script = (steps.pop(0) if len(steps) > 1 else steps[0]) or not_found
        with contextlib.suppress(OSError):  # the client may leave early
            script(self)

    def reply(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in (
            {"Content-Length": str(len(data)), "Content-Type": "application/json"} | (headers or {})
        ).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Stay quiet."""


def not_found(exchange: Exchange) -> None:
    exchange.reply(404, {"detail": {"error_type": "not_found", "message": "no such route"}})


class DecisionServer(ThreadingHTTPServer):
    """`routes` maps (method, path) to a script, or to a list of scripts used one after the other."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.routes: dict[tuple[str, str], Any] = {}
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.release = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_: Any) -> None:
        """A client that leaves early is no error of the test."""


@pytest.fixture
def server() -> Iterator[DecisionServer]:
    server = DecisionServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.release.set()
    server.shutdown()
    server.server_close()
    thread.join()
