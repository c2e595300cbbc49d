"""A real peer on real pipes; the test plays the other side."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from dataclasses import dataclass, field
from queue import SimpleQueue

import pytest

from clew.core.errors import ProtocolError, SecretFound
from clew.hosts.pi import rpc
from clew.hosts.pi.lanes import Lane
from clew.hosts.pi.protocol import (
    ENGINE_METHODS,
    HOST_METHODS,
    CommandParams,
    ConfirmParams,
    ConfirmResult,
    Empty,
)
from clew.hosts.pi.rpc import Peer, PeerGone, Route, RpcError

METHODS = {method.name: method for method in (*ENGINE_METHODS, *HOST_METHODS)}
COMMAND, CONFIRM = METHODS["command.run"], METHODS["ui.confirm"]
QUESTION = ConfirmParams(title="Sure?", message="Really")


@dataclass
class Other:
    """The other end: writes raw frames, reads parsed ones."""

    to_peer: int
    from_peer: object
    peer: Peer
    thread: threading.Thread | None = None
    handled: SimpleQueue = field(default_factory=SimpleQueue)

    def send(self, **message):
        os.write(self.to_peer, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def read(self):
        return json.loads(self.from_peer.readline())

    def run_command(self, request_id, args=""):
        self.send(id=request_id, method="command.run", params={"name": "noodle", "args": args})

    def hang_up(self):
        os.close(self.to_peer)
        self.thread.join(10)
        assert not self.thread.is_alive()


@pytest.fixture
def connect():
    opened = []

    def start(handle=lambda _params: Empty(), *, lane=None, admit=lambda _name: None, **more):
        read_end, to_peer = os.pipe()
        from_peer, write_end = os.pipe()
        stdin, stdout = os.fdopen(read_end, "rb"), os.fdopen(write_end, "wb")
        other = Other(to_peer=to_peer, from_peer=os.fdopen(from_peer, "rb"), peer=Peer(stdin, stdout))
        routes = {
            "command.run": Route(method=COMMAND, handle=handle, lane=lane or Lane("test", 8), **more),
            "cancel": Route(method=METHODS["cancel"], handle=other.peer.cancel),
        }
        other.thread = threading.Thread(target=other.peer.run, args=(routes, admit))
        other.thread.start()
        opened.append((other, stdin, stdout))
        return other

    yield start
    for other, stdin, stdout in opened:
        if other.thread.is_alive():
            other.hang_up()
        other.from_peer.close()
        stdin.close()
        with contextlib.suppress(BrokenPipeError):  # what was never read
            stdout.close()


def test_a_request_is_answered_with_the_result(connect):
    other = connect()
    other.run_command("a")
    assert other.read() == {"jsonrpc": "2.0", "id": "a", "result": {}}


@pytest.mark.parametrize(
    ("message", "code", "says"),
    [
        ({"id": 1, "method": "nope", "params": {}}, -32601, "no method 'nope'"),
        ({"id": 1, "method": "command.run", "params": {"name": "x"}}, -32602, "`args` is missing"),
        ({"id": 1, "method": "command.run", "params": ["x"]}, -32602, "not an object"),
        ({"id": 1, "method": "command.run"}, -32602, "`name` is missing"),
        ({"id": 1, "method": 7}, -32600, "`method`"),
        ({"id": 1}, -32600, "neither a request nor an answer"),
        ({"id": 1, "method": "cancel", "params": {"id": 3}}, -32600, "must not have an id"),
        ({"id": 1, "jsonrpc": "1.0", "method": "command.run", "params": {}}, -32600, "`jsonrpc`"),
    ],
)
def test_a_bad_request_is_answered_with_its_fault(connect, message, code, says):
    other = connect()
    other.send(**message)
    answer = other.read()
    assert (answer["id"], answer["error"]["code"]) == (1, code)
    assert says in answer["error"]["message"]


@pytest.mark.parametrize("request_id", [1.5, True, [], {}])
def test_an_id_of_a_wrong_type_is_answered_without_one(connect, request_id):
    other = connect()
    other.run_command(request_id)
    answer = other.read()
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)


def test_a_refusal_of_clew_keeps_its_words(connect):
    def refuse(_params):
        raise SecretFound(("api_key",))

    other = connect(refuse)
    other.run_command(1)
    error = other.read()["error"]
    assert error["code"] == -32000
    assert error["data"]["kind"] == "SecretFound"
    assert "api_key" in error["message"]


def test_an_unforeseen_error_is_answered_without_its_text(connect, capsys):
    def fail(params: CommandParams):
        raise KeyError(params.args)

    other = connect(fail)
    other.run_command(1, "my private words")
    error = other.read()["error"]
    assert error["code"] == -32603
    assert "KeyError" in error["message"]
    assert "private" not in json.dumps(error) + capsys.readouterr().err


def test_an_answer_that_fits_no_frame_becomes_an_error(connect):
    other = connect(lambda _params: {"text": "x" * 9_000_000})
    other.run_command(1)
    assert "at most 8388608" in other.read()["error"]["message"]


def test_waiting_dialogs_do_not_hold_up_other_requests(connect):
    other = None

    def handle(params: CommandParams):
        if params.args == "ask":
            other.handled.put(other.peer.call(CONFIRM, QUESTION))
        return Empty()

    other = connect(handle)
    for request_id in (1, 2, 3):
        other.run_command(request_id, "ask")
    questions = [other.read() for _ in range(3)]
    other.run_command(4)
    assert other.read()["id"] == 4
    for question in reversed(questions):
        other.send(id=question["id"], result={"confirmed": True})
    assert {other.read()["id"] for _ in range(3)} == {1, 2, 3}
    assert [other.handled.get(timeout=5) for _ in range(3)] == [ConfirmResult(confirmed=True)] * 3


def call_and_catch(other: Other, **more):
    try:
        other.handled.put(other.peer.call(CONFIRM, QUESTION, **more))
    except ProtocolError as error:
        other.handled.put(error)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"error": {"code": 5, "message": "no screen"}}, "no screen"),
        ({"error": "x"}, "malformed error"),
        ({"result": {"confirmed": "yes"}}, "`confirmed` is not true or false"),
        ({"result": None}, "not an object"),
    ],
)
def test_an_error_or_malformed_answer_reaches_the_caller(connect, answer, says):
    other = connect()
    caller = threading.Thread(target=call_and_catch, args=(other,))
    caller.start()
    other.send(id=other.read()["id"], **answer)
    caller.join(10)
    assert says in str(other.handled.get(timeout=5))


def test_a_call_that_times_out_is_cancelled_on_the_other_side(connect):
    other = connect()
    call_and_catch(other, timeout_s=0.01)
    question = other.read()
    assert other.read() == {"jsonrpc": "2.0", "method": "cancel", "params": {"id": question["id"]}}
    assert isinstance(other.handled.get(timeout=5), RpcError)


def test_cancelling_a_request_closes_the_dialogs_it_opened(connect):
    other = None
    other = connect(lambda _params: (call_and_catch(other), Empty())[1])
    other.run_command(1)
    question = other.read()
    other.send(method="cancel", params={"id": 1})
    assert other.read()["params"] == {"id": question["id"]}
    assert isinstance(other.handled.get(timeout=5), PeerGone)
    assert other.read()["id"] == 1


@pytest.mark.parametrize(("can_be_skipped", "runs"), [(True, ["first"]), (False, ["first", "second"])])
def test_a_request_cancelled_before_its_turn_is_skipped_unless_it_must_run(connect, can_be_skipped, runs):
    ran, go_on = [], threading.Event()

    def handle(params: CommandParams):
        ran.append(params.args)
        go_on.wait(10)
        return Empty()

    other = connect(handle, lane=Lane("one", 1), can_be_skipped=can_be_skipped)
    other.run_command(1, "first")
    other.run_command(2, "second")
    other.send(method="cancel", params={"id": 2})
    other.send(id=3, method="nope")
    assert other.read()["id"] == 3  # so the cancel has been read
    go_on.set()
    assert other.read()["id"] == 1
    assert ("error" in other.read()) == can_be_skipped
    assert ran == runs


def test_when_the_stream_ends_waiting_calls_end_too(connect):
    other = connect()
    caller = threading.Thread(target=call_and_catch, args=(other,))
    caller.start()
    other.read()
    other.hang_up()
    caller.join(10)
    assert isinstance(other.handled.get(timeout=5), PeerGone)
    with pytest.raises(PeerGone):
        other.peer.call(CONFIRM, QUESTION)


def test_a_second_request_with_an_id_in_use_is_refused_and_the_first_can_still_be_cancelled(connect):
    other = None
    other = connect(lambda _params: (call_and_catch(other), Empty())[1])
    other.run_command(1)
    question = other.read()
    other.run_command(1)
    refusal = other.read()
    assert (refusal["id"], refusal["error"]["code"]) == (1, -32600)
    assert "already in use" in refusal["error"]["message"]
    other.send(method="cancel", params={"id": 1})
    assert other.read()["params"] == {"id": question["id"]}
    assert isinstance(other.handled.get(timeout=5), PeerGone)
    assert other.read() == {"jsonrpc": "2.0", "id": 1, "result": {}}
    other.run_command(1)
    assert other.read()["method"] == "ui.confirm", "an id that was answered may be used again"


def test_reading_goes_on_although_nobody_reads_the_answers(connect):
    handled = threading.Semaphore(0)
    other = connect(lambda _params: (handled.release(), Empty())[1])
    for number in range(3_000):  # far more answers than a pipe holds
        other.send(id=number, method="nope", params={"pad": "x" * 50})
    other.run_command("last")
    assert handled.acquire(timeout=20)
    assert [other.read()["id"] for _ in range(3_001)] == [*range(3_000), "last"]


def test_a_host_that_never_reads_ends_the_connection_before_memory_fills(connect, monkeypatch):
    monkeypatch.setattr(rpc, "MAX_UNREAD_BYTES", 200_000)
    other = connect()
    os.set_blocking(other.to_peer, False)
    while other.thread.is_alive():
        with contextlib.suppress(BlockingIOError):
            other.send(id=1, method="nope")
    os.close(other.to_peer)


def test_stray_answers_and_unknown_notifications_are_ignored(connect):
    other = connect()
    other.send(id=99, result={})
    other.send(id=None, error={"code": 1, "message": "x"})
    other.send(method="nope", params={})
    other.run_command(1)
    assert other.read()["id"] == 1


def test_a_lane_of_one_keeps_the_order():
    ran: SimpleQueue[int] = SimpleQueue()
    lane = Lane("one", 1)
    for number in range(200):
        lane.submit(lambda number=number: ran.put(number))
    assert [ran.get(timeout=5) for _ in range(200)] == list(range(200))


def test_a_wide_lane_runs_as_many_as_it_is_wide_and_no_more():
    started, go_on = SimpleQueue(), threading.Event()
    lane = Lane("wide", 3)
    for number in range(5):
        lane.submit(lambda number=number: (started.put(number), go_on.wait(10)))
    assert {started.get(timeout=5) for _ in range(3)} == {0, 1, 2}
    assert started.empty()
    go_on.set()
    assert {started.get(timeout=5) for _ in range(2)} == {3, 4}
