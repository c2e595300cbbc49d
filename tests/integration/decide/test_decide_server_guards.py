"""Who may ask the decision server, how long a request may take, how many may connect, and how it ends."""

from __future__ import annotations

import http.client
import json
import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from clew.decide.server import exchange, listener
from clew.decide.server.access import Access
from clew.decide.server.listener import DecisionServer

LIMIT_S = 30
BODY = json.dumps(
    {"model": "jev-latest", "state": "x", "questions": {"q": {"type": "noul", "instructions": "?"}}}
).encode()


@contextmanager
def running(host: str = "127.0.0.1") -> Iterator[DecisionServer]:
    with DecisionServer(host, 0) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield made
        finally:
            made.shutdown()
            thread.join(LIMIT_S)


@pytest.fixture
def server() -> Iterator[DecisionServer]:
    with running() as made:
        yield made


def send(server: DecisionServer, method: str, path: str, headers: dict[str, str]) -> tuple[int, Any]:
    with closing(http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=LIMIT_S)) as connection:
        connection.request(method, path, BODY if method == "POST" else None, headers)
        reply = connection.getresponse()
        data = reply.read()
        return reply.status, json.loads(data) if reply.headers["Content-Type"] == "application/json" and data else None


def read_all(client: socket.socket) -> bytes:
    return b"".join(iter(lambda: client.recv(65536), b""))


# -- pages of other sites -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8017", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:9"])
def test_this_machine_is_known_by_its_usual_names(server: DecisionServer, host: str) -> None:
    assert send(server, "POST", "/v1/systemone", {"Host": host})[0] == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8017", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.7", "[", ""],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/v1/systemone"), ("POST", "/v1/decisions"), ("GET", "/health"), ("GET", "/playground")],
)
def test_a_name_that_was_pointed_at_this_machine_is_refused(
    server: DecisionServer, method: str, path: str, host: str
) -> None:
    status, body = send(server, method, path, {"Host": host})
    assert (status, body["detail"]["error_type"]) == (403, "forbidden")


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://localhost:3000", "http://127.0.0.1:8018", "null", "http://[", ""]
)
def test_a_page_of_another_origin_may_not_ask(server: DecisionServer, origin: str) -> None:
    for path in ("/v1/systemone", "/v1/decisions", "/nothing"):
        status, body = send(server, "POST", path, {"Host": "127.0.0.1:8017", "Origin": origin})
        assert (status, body["detail"]["error_type"]) == (403, "forbidden")


def test_the_servers_own_page_may_ask(server: DecisionServer) -> None:
    for host in ("127.0.0.1:8017", "localhost:8017"):
        assert send(server, "POST", "/v1/systemone", {"Host": host, "Origin": f"http://{host}"})[0] == 200


def test_a_second_host_header_does_not_get_past_the_guard(server: DecisionServer) -> None:
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=LIMIT_S) as client:
        client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
        assert read_all(client).startswith(b"HTTP/1.1 403 ")


@pytest.mark.parametrize(
    ("address", "is_loopback"),
    [("127.0.0.2", True), ("::1", True), ("::ffff:127.0.0.1", True), ("::", False), ("::ffff:192.0.2.1", False)],
)
def test_an_address_of_this_machine_alone_is_known_in_every_form(address: str, is_loopback: bool) -> None:
    assert Access(address=address, key=None).is_loopback is is_loopback


def test_a_server_for_other_machines_takes_any_name_but_no_foreign_page() -> None:
    with running("0.0.0.0") as server:  # noqa: S104 - that is the point
        assert send(server, "POST", "/v1/systemone", {"Host": "judge.lan"})[0] == 200
        assert send(server, "POST", "/v1/systemone", {"Host": "judge.lan", "Origin": "https://evil.example"})[0] == 403


# -- methods --------------------------------------------------------------------------------------------------------


def test_head_gives_the_headers_of_get_and_no_body(server: DecisionServer) -> None:
    for path in ("/health", "/v1/models", "/openapi.json", "/docs", "/playground", "/"):
        with closing(http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=LIMIT_S)) as connection:
            sizes = []
            for method in ("GET", "HEAD"):
                connection.request(method, path)
                reply = connection.getresponse()
                sizes.append((reply.status, reply.headers["Content-Length"], reply.headers["Content-Type"]))
                data = reply.read()
            assert sizes[0] == sizes[1]
            assert data == b""


def test_a_preflight_gets_no_leave_from_us(server: DecisionServer) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=LIMIT_S)) as connection:
        connection.request("OPTIONS", "/v1/systemone", headers={"Origin": "https://evil.example"})
        reply = connection.getresponse()
        assert reply.status == 405
        assert not [name for name in reply.headers if name.lower().startswith("access-control")]


# -- time and number ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "start",
    [b"POST /v1/systemone HTTP/1.1\r\nContent-Length: 100000\r\n\r\n", b"GET /health HTTP/1.1\r\nX: ", b"GE"],
    ids=["body", "headers", "request line"],
)
def test_a_request_that_trickles_in_is_given_up_in_the_end(
    server: DecisionServer, monkeypatch: pytest.MonkeyPatch, start: bytes
) -> None:
    monkeypatch.setattr(exchange, "REQUEST_TIMEOUT_S", 0.2)
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=LIMIT_S) as client:
        client.sendall(start)
        given_up_at = time.monotonic() + LIMIT_S
        while not select.select([client], [], [], 0.02)[0]:
            assert time.monotonic() < given_up_at
            client.sendall(b"x")  # never silent for long
        reply = read_all(client)
    assert reply.startswith(b"HTTP/1.1 408 ")
    assert b"request_timeout" in reply


def test_a_connection_that_rests_too_long_is_closed_without_a_word(
    server: DecisionServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "IDLE_TIMEOUT_S", 0.05)
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=LIMIT_S) as client:
        assert read_all(client) == b""


def test_who_is_turned_away_may_go_on_sending_and_still_reads_why(
    server: DecisionServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "MAX_CONNECTIONS", 0)
    monkeypatch.setattr(listener, "_FAREWELL_S", LIMIT_S)
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=LIMIT_S) as client:
        assert select.select([client], [], [], LIMIT_S)[0]  # the answer is here, and not yet read
        for _ in range(3):
            client.sendall(b"x" * 1000)
        assert read_all(client).startswith(b"HTTP/1.1 503 ")


def test_one_connection_more_than_may_be_open_is_turned_away_and_a_free_place_is_given_again(
    server: DecisionServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "MAX_CONNECTIONS", 2)
    connections = [http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=LIMIT_S) for _ in range(2)]
    for connection in connections:
        connection.request("GET", "/health")
        assert connection.getresponse().read()
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=LIMIT_S) as client:
        client.sendall(b"POST /v1/systemone HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello")
        head, _, body = read_all(client).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503 ")
    assert b"\r\nRetry-After: 1" in head
    assert json.loads(body)["detail"]["error_type"] == "overloaded_error"
    for connection in connections:
        connection.close()
    given_up_at = time.monotonic() + LIMIT_S
    while send(server, "GET", "/health", {})[0] == 503:
        assert time.monotonic() < given_up_at
    assert send(server, "GET", "/health", {})[0] == 200


# -- the end --------------------------------------------------------------------------------------------------------


def start_request(server: DecisionServer) -> http.client.HTTPConnection:
    """A request that is in flight when this returns."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=LIMIT_S)
    connection.request("POST", "/v1/systemone", BODY)
    given_up_at = time.monotonic() + LIMIT_S
    while not server._answering:
        assert time.monotonic() < given_up_at
        time.sleep(0.001)
    return connection


def test_the_end_waits_for_a_request_in_flight() -> None:
    with running() as server:
        with server.service._judging:
            connection = start_request(server)
            server.shutdown()
            assert server.drain(timeout_s=0.01) is False
        assert server.drain(timeout_s=LIMIT_S) is True
        reply = connection.getresponse()
        assert (reply.status, reply.headers["Connection"]) == (200, "close")
        assert "q" in json.loads(reply.read())["answers"]
        connection.close()
