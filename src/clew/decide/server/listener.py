"""The HTTP side of the decision server: routes, keys, one judgement at a time.

Every answer is JSON, refusals too. Nothing of a request is logged.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import signal
import socket
import socketserver
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from clew.core.errors import SettingsError
from clew.core.records import State
from clew.decide.builtin import LexicalJudge
from clew.decide.server.answers import SERVED_NAMES, answer_request
from clew.decide.server.bodies import read_body
from clew.decide.server.native_answers import answer_native
from clew.decide.server.native_requests import parse_native
from clew.decide.server.refusals import (
    Busy,
    Failed,
    NotAuthenticated,
    Refusal,
    UnknownRoute,
    WrongMethod,
)
from clew.decide.server.requests import parse_request

MAX_WAITING = 32
READ_TIMEOUT_S = 30.0
_RELEASE_DATE = "2026-11-30"
#: What the standard library would answer with a 5xx, though the request is to blame.
_SENDERS_FAULT = {501: 405, 505: 400}


class DecisionServer(ThreadingHTTPServer):
    """The built-in judge behind a socket. Bound when made; port 0 takes a free one.

    Args:
        key: what clients must send as bearer token; None asks for nothing.

    Raises:
        SettingsError: the address cannot be used.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, host: str, port: int, *, key: str | None = None) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            super().__init__((host, port), _Exchange)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise SettingsError(f"Cannot listen on {host} port {port} ({reason}).", "Choose another one.") from error
        self._key = key
        self._judge = LexicalJudge()
        self._judging = threading.Lock()
        self._places = threading.BoundedSemaphore(MAX_WAITING + 1)  # one is being judged
        self.fingerprint = self._judge.decide(State(user=""), {}).fingerprint

    def server_bind(self) -> None:
        """Bind without asking a name server who we are."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    @property
    def url(self) -> str:
        """Base address for clients."""
        host = f"[{self.server_name}]" if ":" in self.server_name else self.server_name
        return f"http://{host}:{self.server_port}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        return ipaddress.ip_address(self.server_name.split("%")[0]).is_loopback

    def check_key(self, header: str | None) -> None:
        """Compare a request's Authorization header with the key. Raises NotAuthenticated."""
        if self._key is None:
            return
        scheme, _, given = (header or "").partition(" ")
        if scheme.lower() != "bearer" or not given.strip():
            raise NotAuthenticated("Send the key as a bearer token.")
        if not hmac.compare_digest(given.strip().encode("latin-1", "replace"), self._key.encode()):
            raise NotAuthenticated("The key is not the right one.")

    def answer(self, body: bytes) -> dict[str, Any]:
        """Answer the body of a System One request. Raises Refusal."""
        request = parse_request(body)
        with self._turn():
            return answer_request(self._judge, request)

    def health(self) -> dict[str, Any]:
        """Who answers here."""
        return {"status": "ready", "model": {"name": self._judge.name, "fingerprint": self.fingerprint}}

    def answer_native(self, body: bytes) -> dict[str, Any]:
        """Answer the body of a native decisions request. Raises Refusal."""
        request = parse_native(body)
        arrived = time.perf_counter()
        with self._turn():
            started = time.perf_counter()
            answers = answer_native(self._judge, request)
        ended = time.perf_counter()
        tokens = sum(answer["input_tokens"] for answer in answers.values())
        return {
            "model": self.health()["model"],
            "mode": request.mode,
            "answers": answers,
            "calibration": None,
            "timing": {
                **dict.fromkeys(("prefill_seconds", "compile_seconds"), 0.0),
                **dict.fromkeys(("shared_prefix_tokens", "generated_tokens"), 0),
                "inference_seconds": ended - started,
                "queue_seconds": started - arrived,
                "total_seconds": ended - arrived,
                "evaluated_tokens_including_padding": tokens,
                "logical_input_tokens": tokens,
                "batches": 1,
            },
        }

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._places.acquire(blocking=False):
            raise Busy(f"{MAX_WAITING} requests wait already.")
        try:
            with self._judging:
                yield
        finally:
            self._places.release()

    def handle_error(self, *_: Any) -> None:
        """Say in one line that a connection failed, unless the client just left."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError | TimeoutError):
            sys.stderr.write(f"clew: a connection failed ({type(error).__name__})\n")


def serve(host: str, port: int, *, key: str | None, announce: Callable[[DecisionServer], None]) -> int:
    """Serve until SIGTERM (returns 0) or Ctrl-C (raises KeyboardInterrupt).

    Args:
        announce: called once the address is known and connections are accepted.

    Raises:
        SettingsError: the address cannot be used.
    """
    with DecisionServer(host, port, key=key) as server:
        # shutdown() waits for the loop that this very thread runs
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown, daemon=True).start())
        announce(server)
        server.serve_forever(poll_interval=0.1)
    return 0


def _list_models() -> dict[str, Any]:
    description = "Clew's built-in judge, lexical tier: answers the gate's questions"
    return {
        "models": [{"name": name, "description": description, "release_date": _RELEASE_DATE} for name in SERVED_NAMES]
    }


class _Exchange(BaseHTTPRequestHandler):
    """One connection: any number of requests, one after the other."""

    server: DecisionServer
    protocol_version = "HTTP/1.1"
    server_version = "clew"
    sys_version = ""
    timeout = READ_TIMEOUT_S
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._run()

    def do_HEAD(self) -> None:
        self._run()

    def do_POST(self) -> None:
        self._run()

    def _run(self) -> None:
        try:
            status, body, headers = 200, self._handle(), {}
        except Refusal as refusal:
            status, body, headers = refusal.status, refusal.body(), dict(refusal.headers)
        except Exception as error:  # noqa: BLE001 - a mistake of ours must not cost the client its answer
            sys.stderr.write(f"clew: a request failed ({type(error).__name__})\n")
            status, body, headers = Failed.status, Failed("The server made a mistake.").body(), {}
        self._reply(status, body, headers)

    def _handle(self) -> dict[str, Any]:
        body = self._read()
        path = urlsplit(self.path).path
        routes: dict[str, tuple[str, Callable[[], dict[str, Any]]]] = {
            "/health": ("GET, HEAD", self.server.health),
            "/v1/models": ("GET, HEAD", _list_models),
            "/v1/decisions": ("POST", lambda: self.server.answer_native(body)),
            "/v1/systemone": ("POST", lambda: self.server.answer(body)),
        }
        if path not in routes:
            raise UnknownRoute("There is nothing at this path.")
        methods, respond = routes[path]
        if self.command not in methods.split(", "):
            raise WrongMethod(methods)
        if path != "/health":
            self.server.check_key(self.headers.get("Authorization"))
        return respond()

    def _read(self) -> bytes:
        """The whole body, whatever the route: what is left unread would be taken for the next request."""
        self.close_connection, keeps_open = True, not self.close_connection
        body = read_body(self.rfile, self.headers)  # type: ignore[arg-type]  # a Message is a Mapping in all but name
        self.close_connection = not keeps_open
        return body

    def _reply(self, status: int, body: Any, headers: dict[str, str]) -> None:
        data = json.dumps(body, allow_nan=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("X-TypeSafe-Request-Id", uuid.uuid4().hex)
        if self.close_connection:
            self.send_header("Connection", "close")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def send_error(self, code: int, *_: Any, **__: Any) -> None:
        """What the standard library refuses by itself, in the same shape as all else."""
        self.close_connection = True
        status = _SENDERS_FAULT.get(code, code)
        refusal = WrongMethod("") if status == 405 else Refusal(f"The request cannot be read ({status}).")
        self.command = self.command or "GET"
        with suppress(OSError):
            self._reply(status, refusal.body(), {})

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the standard library's
        """Log nothing: what is judged is private."""
