"""Damaged requests through the socket: every one gets JSON back, none a 5xx, none a hang."""

from __future__ import annotations

import http.client
import json
import random
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from clew.decide.server.listener import DecisionServer

LIMIT_S = 20
CHOICE = {"type": "choice", "instructions": "y"}
SYSTEM_ONE = {
    "model": "jev-latest",
    "state": {"user": "hi"},
    "questions": {
        "a": {"type": "noul", "instructions": "x", "criteria": {"true": "a"}},
        "b": {**CHOICE, "criteria": {"u": None, "v": "w"}},
        "c": {"type": "score", "instructions": "z", "criteria": ["a", "b"]},
    },
}
NATIVE = {
    "state": "x",
    "mode": "shared",
    "questions": {
        "a": {"type": "boolean", "instructions": "x", "policy": {"allow_abstain": True, "min_top_probability": 0.2}},
        "b": {**CHOICE, "options": [{"id": "a", "description": "A"}, {"id": "b", "description": "B"}]},
        "c": {
            "type": "numeric", "instructions": "y", "unit": "m",
            "anchors": [{"value": 1, "description": "A"}, {"value": 2, "description": "B"}],
        },
        "d": {"type": "score", "instructions": "q", "levels": ["a", "b"]},
    },
}  # fmt: skip
ODD = (
    None, True, 0, -1, 1.5, 10**400, "", "\ud800", "\x00", "x" * 9000, [], {}, [None], {"": None}, {"type": "noul"}, [[]],
)  # fmt: skip
ROUTES = [("/v1/systemone", SYSTEM_ONE), ("/v1/decisions", NATIVE)]


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with DecisionServer("127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join(LIMIT_S)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from places(entry, (*path, key))


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    if not path:
        return by
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(copy[path[0]], path[1:], by)
    return copy


def send_all(port: int, route: str, bodies: Iterator[bytes]) -> set[int]:
    """The statuses, over one connection that must survive every body."""
    statuses = set()
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT_S)) as connection:
        for body in bodies:
            connection.request("POST", route, body)
            reply = connection.getresponse()
            assert isinstance(json.loads(reply.read()), dict)
            assert reply.status < 500, body
            statuses.add(reply.status)
    return statuses


@pytest.mark.parametrize(("route", "request_"), ROUTES, ids=["systemone", "decisions"])
def test_an_odd_value_in_any_place_is_answered_or_refused(port: int, route: str, request_: Any) -> None:
    bodies = (json.dumps(replaced(request_, place, odd)).encode() for place in places(request_) for odd in ODD)
    assert {200, 422} <= send_all(port, route, bodies) <= {200, 400, 422}


@pytest.mark.parametrize(("route", "request_"), ROUTES, ids=["systemone", "decisions"])
def test_flipped_bytes_are_answered_or_refused(port: int, route: str, request_: Any) -> None:
    chance = random.Random(7)

    def damaged() -> Iterator[bytes]:
        for _ in range(400):
            body = bytearray(json.dumps(request_).encode())
            for _ in range(chance.randint(1, 4)):
                body[chance.randrange(len(body))] = chance.randrange(256)
            yield bytes(body)

    assert send_all(port, route, damaged()) <= {200, 400, 422}


def test_damaged_requests_on_the_wire_are_answered_or_refused(port: int) -> None:
    chance = random.Random(11)
    body = json.dumps(SYSTEM_ONE).encode()
    whole = b"POST /v1/systemone HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    for _ in range(200):
        sent = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            sent[chance.randrange(90)] = chance.choice(b"\r\n :/0Z\x00\xff")
        with socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S) as client:
            client.sendall(sent)
            client.shutdown(socket.SHUT_WR)
            reply = b"".join(iter(lambda: client.recv(65536), b""))
        status = reply.split(b" ", 2)[1:2]
        assert not status or status[0] < b"500", bytes(sent)
