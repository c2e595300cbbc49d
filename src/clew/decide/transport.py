"""One HTTP request to a decision server: bounded in time and size, straight to the address.

Proxies and redirects are not followed: the text of a conversation goes to the address in the settings and nowhere else.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from clew.core.errors import SettingsError

MAX_REPLY_BYTES = 4 * 1024 * 1024
_CHUNK_BYTES = 64 * 1024


class Unreachable(Exception):
    """No reply: refused, timed out or cut off. `was_reset`: the connection broke while open, so once more may help."""

    def __init__(self, reason: str, *, was_reset: bool = False) -> None:
        super().__init__(reason)
        self.was_reset = was_reset


class OversizedReply(Exception):
    """The reply is larger than MAX_REPLY_BYTES."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """Status, headers (lower-case names) and body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class HttpEndpoint:
    """The base address of a server, with the key to it. Holds no connection open.

    Args:
        url: `http://host[:port][/path]` or https.
        api_key: sent as bearer token; None sends none.

    Raises:
        SettingsError: the address or the key cannot be used.
    """

    def __init__(self, url: str, *, api_key: str | None = None) -> None:
        parts = _split_url(url)
        self._secure = parts.scheme == "https"
        self._host = parts.hostname or ""
        self._port = parts.port
        self._base_path = parts.path.rstrip("/")
        self._headers = {"Accept": "application/json", "Connection": "close", "User-Agent": "clew"}
        if api_key:
            if not (api_key.isascii() and api_key.isprintable()):
                raise SettingsError(
                    "The decision model's key holds characters that no key has.", "Check DECISION_MODEL_KEY."
                )
            self._headers["Authorization"] = f"Bearer {api_key}"
        self.address = f"{parts.scheme}://{parts.netloc}{self._base_path}"

    @property
    def is_loopback(self) -> bool:
        """Whether text sent there stays on this machine."""
        if self._host == "localhost" or self._host.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(self._host).is_loopback
        except ValueError:
            return False

    def send(
        self,
        method: Literal["GET", "POST"],
        path: str,
        body: bytes | None = None,
        *,
        connect_timeout_s: float,
        deadline: float,
    ) -> HttpReply:
        """Send one request and read the whole reply.

        Args:
            deadline: `time.monotonic()` second by which the reply must be complete.

        Raises:
            Unreachable: there is no complete reply in time.
            OversizedReply: the reply is larger than 4 MB.
        """
        headers = dict(self._headers) | ({"Content-Type": "application/json"} if body is not None else {})
        try:
            with self._open_connection(connect_timeout_s, deadline) as connection:
                connection.request(method, self._base_path + path, body, headers)
                reply = _read_reply(connection.getresponse())
                if time.monotonic() >= deadline:  # cut off: what was read may be a part
                    raise TimeoutError
                return reply
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._explain(error, deadline) from error

    @contextmanager
    def _open_connection(self, connect_timeout_s: float, deadline: float) -> Iterator[http.client.HTTPConnection]:
        """A connection that is cut at the deadline, however slowly the peer drips."""
        seconds_left = deadline - time.monotonic()
        if seconds_left <= 0:
            raise TimeoutError
        connect_s = min(connect_timeout_s, seconds_left)
        connection = (
            http.client.HTTPSConnection(self._host, self._port, timeout=connect_s, context=ssl.create_default_context())
            if self._secure
            else http.client.HTTPConnection(self._host, self._port, timeout=connect_s)
        )
        try:
            connection.connect()
            with _cut_at(connection.sock, deadline):
                yield connection
        finally:
            connection.close()

    def _explain(self, error: Exception, deadline: float) -> Unreachable:
        if isinstance(error, TimeoutError) or time.monotonic() >= deadline:
            return Unreachable("no reply in time")
        if isinstance(error, ConnectionRefusedError):
            return Unreachable("connection refused")
        if isinstance(error, ConnectionResetError | BrokenPipeError | http.client.IncompleteRead):
            return Unreachable("the connection broke", was_reset=True)
        if isinstance(error, ssl.SSLError):
            return Unreachable("no secure connection could be made")
        if isinstance(error, socket.gaierror):
            return Unreachable("the host name is unknown")
        return Unreachable("what answers there does not speak HTTP or went away")


@contextmanager
def _cut_at(sock: socket.socket, deadline: float) -> Iterator[None]:
    """Socket timeouts count from the last byte; only shutting the socket bounds the whole exchange."""
    seconds_left = max(0.001, deadline - time.monotonic())
    sock.settimeout(seconds_left)
    timer = threading.Timer(seconds_left, _shut, (sock,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _shut(sock: socket.socket) -> None:
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # closed already


def _read_reply(response: http.client.HTTPResponse) -> HttpReply:
    body = bytearray()
    while chunk := response.read(_CHUNK_BYTES):
        body += chunk
        if len(body) > MAX_REPLY_BYTES:
            raise OversizedReply
    if response.length:  # bytes that Content-Length promised and that never came
        raise http.client.IncompleteRead(b"", response.length)
    headers = {name.lower(): value for name, value in response.getheaders()}
    return HttpReply(status=response.status, headers=headers, body=bytes(body))


def _split_url(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or parts.username is not None or parts.query or parts.fragment or not url.strip().isascii():
        raise SettingsError(
            "The decision model's address cannot be used.",
            "Write decisionModelUrl as http://host:port, without user name, query or fragment.",
        )
    return parts
