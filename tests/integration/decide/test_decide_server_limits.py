"""The decision server inside this process: the queue, and bodies that stop arriving."""

from __future__ import annotations

import http.client
import json
import queue
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from clew.decide.server import bodies, exchange, listener, service

LIMIT_S = 30
BODY = json.dumps(
    {"model": "jev-latest", "state": "x", "questions": {"q": {"type": "noul", "instructions": "?"}}}
).encode()


@pytest.fixture
def server() -> Iterator[listener.DecisionServer]:
    with listener.DecisionServer("127.0.0.1", 0) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield made
        finally:
            made.shutdown()
            thread.join(LIMIT_S)


def post(port: int, headers: dict[str, str] | None = None) -> tuple[int, Any, Any]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT_S)) as connection:
        connection.request("POST", "/v1/systemone", BODY, headers or {})
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read()), reply.headers


def test_one_request_more_than_may_wait_is_sent_away(server: listener.DecisionServer) -> None:
    replies: queue.Queue[tuple[int, Any, Any]] = queue.Queue()
    count = service.MAX_WAITING + 2  # one is being judged, one is too many
    threads = [threading.Thread(target=lambda: replies.put(post(server.server_port))) for _ in range(count)]
    with server.service._judging:
        for thread in threads:
            thread.start()
        status, body, headers = replies.get(timeout=LIMIT_S)
    assert (status, headers["Retry-After"], body["detail"]["error_type"]) == (429, "1", "rate_limit_error")
    for thread in threads:
        thread.join(LIMIT_S)
    assert [replies.get_nowait()[0] for _ in range(count - 1)] == [200] * (count - 1)


def test_a_body_that_stops_arriving_is_given_up(
    server: listener.DecisionServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "REQUEST_TIMEOUT_S", 0.05)
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=LIMIT_S) as client:
        client.sendall(b"POST /v1/systemone HTTP/1.1\r\nContent-Length: 10\r\n\r\n{")
        reply = b"".join(iter(lambda: client.recv(65536), b""))
    assert reply.startswith(b"HTTP/1.1 408 ")
    assert b'"request_timeout"' in reply


def test_without_a_decoder_compressed_bodies_are_refused_in_the_standard_shape(
    server: listener.DecisionServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "_ZSTD_MODULES", ("no_such_module",))
    status, body, headers = post(server.server_port, {"Content-Encoding": "zstd"})
    assert (status, headers["Accept-Encoding"]) == (415, "identity")
    assert body["detail"]["error_type"] == "unsupported_content_encoding"


def test_a_mistake_of_ours_is_answered_without_its_details(
    server: listener.DecisionServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("x marks the state")

    monkeypatch.setattr(service, "answer_request", fail)
    status, body, _ = post(server.server_port)
    assert (status, body["detail"]["error_type"]) == (500, "internal_error")
    assert "marks" not in str(body) + capsys.readouterr().err
