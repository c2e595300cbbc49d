"""What a client could mean in two ways, or not at all, is refused; what it means in an unusual way is answered."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Iterator

import pytest
from backports import zstd

from clew.decide.server.bodies import MAX_BODY_BYTES
from clew.decide.server.listener import DecisionServer
from clew.decide.server.refusals import InvalidRequest
from clew.decide.server.requests import MAX_PROBLEMS, parse_request

LIMIT_S = 30
BODY = json.dumps(
    {"model": "jev-latest", "state": "x", "questions": {"q": {"type": "noul", "instructions": "?"}}}
).encode()
POST = b"POST /v1/systemone HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(BODY)


@pytest.fixture(scope="module")
def server() -> Iterator[DecisionServer]:
    with DecisionServer("127.0.0.1", 0, key="sch\udcff") as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join(LIMIT_S)


def send(server: DecisionServer, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=LIMIT_S) as client:
        client.sendall(request)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65536), b""))


def status(reply: bytes) -> int:
    assert reply.count(b"HTTP/1.1 ") == 1, reply
    return int(reply.split(b" ", 2)[1])


@pytest.mark.parametrize("target", [b"http://[/health", b"http://[::1/health", b"/x//[", b"http://["])
def test_a_target_that_is_no_address_is_not_found(server: DecisionServer, target: bytes) -> None:
    assert status(send(server, b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")) == 404


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 3\r\n" + LENGTH,
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n",
        b"Content-Encoding: identity\r\nContent-Encoding: zstd\r\n" + LENGTH,
        b"no header\r\n" + LENGTH,
        b"Transfer-Encoding : chunked\r\n",
    ],
)
def test_a_head_that_can_be_read_in_two_ways_is_refused(server: DecisionServer, head: bytes) -> None:
    reply = send(server, POST + head + b"\r\n" + BODY)
    assert status(reply) == 400
    assert b"api_usage_error" in reply


def test_a_head_that_breaks_off_is_refused(server: DecisionServer) -> None:
    assert status(send(server, b"POST /v1/systemone HTTP/1.1\r\nHost")) == 400


def test_a_form_is_no_json_and_its_head_is_not_to_blame(server: DecisionServer) -> None:
    head = (
        b"Authorization: Bearer sch\xff\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 3\r\n\r\n"
    )
    assert status(send(server, POST + head + b"--b")) == 422


def test_a_key_of_any_bytes_can_be_sent(server: DecisionServer) -> None:
    right, wrong = (b"Authorization: Bearer sch" + last + b"\r\n" for last in (b"\xff", b"x"))
    assert status(send(server, POST + right + LENGTH + b"\r\n" + BODY)) == 200
    assert status(send(server, POST + wrong + LENGTH + b"\r\n" + BODY)) == 401


def test_a_client_that_leaves_in_the_middle_is_no_mistake_of_ours(
    server: DecisionServer, capsys: pytest.CaptureFixture[str]
) -> None:
    client = socket.create_connection(("127.0.0.1", server.server_port), timeout=LIMIT_S)
    client.sendall(POST + b"Expect: 100-continue\r\n" + LENGTH + b"\r\n")
    assert client.recv(65536).startswith(b"HTTP/1.1 100 ")  # the server waits for the body now
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # leave with a reset
    client.close()
    assert server.drain(LIMIT_S)
    server.is_ending = False
    assert capsys.readouterr().err == ""


def compressed(server: DecisionServer, body: bytes) -> int:
    head = b"Authorization: Bearer sch\xff\r\nContent-Encoding: zstd\r\nContent-Length: %d\r\n\r\n" % len(body)
    return status(send(server, POST + head + body))


def test_a_body_of_several_compressed_frames_is_read_to_its_end(server: DecisionServer) -> None:
    skipped = b"\x50\x2a\x4d\x18\x04\x00\x00\x00user"  # a frame that holds no content
    assert compressed(server, skipped + zstd.compress(BODY[:20]) + zstd.compress(BODY[20:])) == 200
    assert compressed(server, zstd.compress(BODY) + b"more") == 400
    half = zstd.compress(b" " * (MAX_BODY_BYTES // 2 + 1))
    assert compressed(server, half + half) == 413
    assert compressed(server, zstd.compress(b"") * 1000) == 400


def test_a_body_full_of_problems_does_not_get_a_longer_answer_than_can_be_read() -> None:
    question = {"type": "noul", "instructions": "?"} | {f"field {number}": 0 for number in range(10_000)}
    with pytest.raises(InvalidRequest) as refused:
        parse_request(json.dumps({"model": "m", "state": "x", "questions": {"q": question}}).encode())
    assert len(refused.value.problems) == MAX_PROBLEMS
