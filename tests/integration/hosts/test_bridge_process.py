"""The bridge in a real process, with a session that does what each test needs."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from pathlib import Path
from queue import Queue
from threading import Thread

import pytest

import clew
from clew.hosts.pi.protocol import PROTOCOL_VERSION

ENGINE = Path(__file__).with_name("scripted_engine.py")
WAIT_S = 20
HELLO = {
    "protocol": PROTOCOL_VERSION,
    "extension_version": "0",
    "mode": "rpc",
    "has_ui": True,
    "capabilities": ["notify", "confirm"],
    "cwd": "/",
    "agent_dir": "/",
    "session_id": "s",
    "session_file": None,
    "project_trusted": True,
    "reason": "startup",
}


class Engine:
    def __init__(self, log: Path, **script: str) -> None:
        self.log = log
        self.process = subprocess.Popen(
            [sys.executable, str(ENGINE), str(log), *(f"{key}={value}" for key, value in script.items())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.frames: Queue[bytes] = Queue()
        self.errors: list[bytes] = []
        self.readers = [
            Thread(target=lambda: [self.frames.put(line) for line in self.process.stdout]),
            Thread(target=lambda: self.errors.extend(self.process.stderr)),
        ]
        for reader in self.readers:
            reader.start()

    def write(self, data: bytes) -> None:
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, request_id, method: str, params: dict) -> None:
        frame = {"jsonrpc": "2.0", "method": method, "params": params}
        self.write(json.dumps(frame | ({} if request_id is None else {"id": request_id})).encode() + b"\n")

    def read(self) -> dict:
        return json.loads(self.frames.get(timeout=WAIT_S))

    def greet(self) -> dict:
        self.send(0, "initialize", HELLO)
        return self.read()

    def capture(self, request_id: int, text: str) -> None:
        message = {"entry_id": text, "role": "user", "text": text, "timestamp_ms": 1}
        self.send(request_id, "turn.capture", {"messages": [message], "settled": True})

    def hang_up(self) -> int:
        """End of stdin; the exit code once the process is gone. A test that gets stuck here fails by its time limit."""
        self.process.stdin.close()
        return self.wait()

    def wait(self) -> int:
        code = self.process.wait(WAIT_S)
        for reader in self.readers:
            reader.join(WAIT_S)
        return code

    def lines(self) -> list[str]:
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    def stderr(self) -> str:
        return b"".join(self.errors).decode()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(BrokenPipeError):
                stream.close()


@pytest.fixture
def start(tmp_path):
    engines = []

    def open_engine(**script: str) -> Engine:
        engines.append(Engine(tmp_path / "log", **script))
        return engines[-1]

    yield open_engine
    for engine in engines:
        engine.close()


def test_the_handshake_is_answered_while_the_session_is_still_being_built(start):
    engine = start(build="hang")
    result = engine.greet()["result"]
    assert (result["protocol"], result["engine_version"]) == (PROTOCOL_VERSION, clew.__version__)
    assert result["recall_deadline_ms"] < result["warmup_ms"]
    assert "turn.capture" in result["capabilities"]


def test_anything_before_the_handshake_is_refused_and_a_second_one_too(start):
    engine = start()
    engine.send(1, "recall", {"prompt": "x", "deadline_ms": 100})
    assert "Send `initialize` first" in engine.read()["error"]["message"]
    engine.greet()
    assert "second time" in engine.greet()["error"]["message"]


@pytest.mark.parametrize(("protocol", "mend"), [(PROTOCOL_VERSION + 1, "Update Clew's Python"), (0, "clew pi install")])
def test_another_protocol_is_refused_with_the_mend_even_if_its_fields_differ(start, protocol, mend):
    engine = start()
    engine.send(1, "initialize", {"protocol": protocol, "new_field": 1})
    assert mend in engine.read()["error"]["message"]
    assert engine.hang_up() == 0


def test_a_handshake_with_a_missing_field_names_it(start):
    engine = start()
    engine.send(1, "initialize", {"protocol": PROTOCOL_VERSION})
    assert "`extension_version` is missing" in engine.read()["error"]["message"]


def test_every_call_reaches_the_session(start):
    engine = start()
    engine.greet()
    engine.send(1, "recall", {"prompt": "tabs", "deadline_ms": 5000})
    assert engine.read()["result"]["content"] == "for tabs"
    engine.capture(2, "hello")
    assert engine.read()["result"] == {"journalled": 1}
    engine.send(3, "tool.run", {"name": "memory_get", "arguments": {"id": "m"}})
    assert engine.read()["result"] == {"text": "memory_get", "details": {"id": "m"}, "is_error": False}
    engine.send(4, "session.sync", {"messages": [], "injected": []})
    assert engine.read()["result"] == {}
    engine.send(5, "shutdown", {"reason": "quit", "budget_ms": 100})
    assert engine.read()["result"] == {}
    assert engine.hang_up() == 0
    assert engine.lines() == ["capture hello", "sync 0", "shutdown quit"]


def test_a_dialog_that_waits_does_not_hold_up_capture_and_recall(start):
    engine = start()
    engine.greet()
    engine.send(1, "command.run", {"name": "noodle", "args": "ask"})
    question = engine.read()
    assert question["method"] == "ui.confirm"
    engine.send(2, "recall", {"prompt": "x", "deadline_ms": 5000})
    assert engine.read()["id"] == 2
    engine.capture(3, "meanwhile")
    assert engine.read()["id"] == 3
    engine.write(json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": {"confirmed": True}}).encode() + b"\n")
    assert engine.read()["method"] == "ui.notify"
    assert engine.read()["id"] == 1
    assert "answer True" in engine.lines()


def test_a_hanging_recall_does_not_hold_up_capture(start):
    engine = start(recall="hang")
    engine.greet()
    engine.send(1, "recall", {"prompt": "x", "deadline_ms": 100})
    engine.capture(2, "meanwhile")
    assert engine.read()["id"] == 2


def test_a_recall_while_the_session_is_being_built_waits_no_longer_than_its_deadline(start):
    engine = start(build="hang")
    engine.greet()
    engine.send(1, "recall", {"prompt": "x", "deadline_ms": 50})
    assert engine.read()["result"] == {"content": None, "injected": [], "mode": "none"}


def test_captures_that_come_before_the_session_is_built_wait_for_it_in_order(start):
    engine = start(build="0.2")
    engine.greet()
    for number in range(20):
        engine.capture(number, str(number))
    assert [engine.read()["id"] for _ in range(20)] == list(range(20))
    assert engine.lines() == [f"capture {number}" for number in range(20)]


@pytest.mark.parametrize("point", ["build", "start"])
def test_a_session_that_cannot_be_built_is_told_once_and_answers_every_call_with_the_reason(start, point):
    engine = start(**{point: "refuse"})
    engine.greet()
    notice = engine.read()
    assert notice["method"] == "ui.notify"
    assert notice["params"] == {"message": "Clew could not start: The store is busy. Try again.", "level": "error"}
    engine.capture(1, "x")
    assert "The store is busy" in engine.read()["error"]["message"]
    assert engine.hang_up() == 0


def test_an_unforeseen_failure_to_start_does_not_leak_its_text(start):
    engine = start(build="fail")
    engine.greet()
    assert "KeyError" in engine.read()["params"]["message"]
    engine.hang_up()
    assert "KeyError" in engine.stderr()
    assert "private-words" not in engine.stderr()


def test_what_others_print_never_reaches_the_protocol(start):
    engine = start()
    engine.greet()
    engine.send(1, "command.run", {"name": "noodle", "args": "print"})
    assert engine.read()["method"] == "ui.notify"
    assert engine.read()["id"] == 1, "and a child that reads stdin takes none of our frames"
    engine.hang_up()
    for noise in ("while building", "from a library", "from a child", "on descriptor 1"):
        assert f"noise {noise}" in engine.stderr()


@pytest.mark.parametrize(
    "damage",
    [b"not json\n", b"[1,2]\n", b"\xff\xfe\n", b'{"jsonrpc":"1.0","id":1}\n', b'{"a":"' + b"x" * 10_000_000 + b'"}\n'],
)
def test_the_engine_goes_on_after_a_damaged_frame(start, damage):
    engine = start()
    engine.greet()
    engine.write(damage)
    assert engine.read()["error"]["code"] in {-32700, -32600}
    engine.send(2, "recall", {"prompt": "still here", "deadline_ms": 5000})
    assert engine.read()["result"]["content"] == "for still here"


def test_what_came_in_before_the_end_of_stdin_is_journalled(start):
    engine = start(build="0.2")
    engine.greet()
    for number in range(5):
        engine.capture(number, str(number))
    assert engine.hang_up() == 0
    assert engine.lines() == [*(f"capture {number}" for number in range(5)), "shutdown eof"]


def test_a_session_that_was_shut_down_is_not_shut_down_again(start):
    engine = start()
    engine.greet()
    engine.send(1, "shutdown", {"reason": "reload", "budget_ms": 100})
    engine.read()
    engine.hang_up()
    assert engine.lines() == ["shutdown reload"]


@pytest.mark.parametrize("point", ["build", "start", "capture", "recall", "shutdown"])
def test_the_process_ends_with_stdin_whatever_hangs(start, point):
    engine = start(**{point: "hang"})
    engine.greet()
    engine.capture(1, "x")
    engine.send(2, "recall", {"prompt": "x", "deadline_ms": 60_000})
    assert engine.hang_up() == 0


def test_the_process_ends_with_stdin_although_its_stdout_is_full(tmp_path):
    with subprocess.Popen(
        [sys.executable, str(ENGINE), str(tmp_path / "log")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}).encode())
        process.stdin.write(b"\n" + b'{"jsonrpc":"2.0","id":7,"method":"nope"}\n' * 5_000)
        process.stdin.close()
        assert process.wait(WAIT_S) == 0
    assert (tmp_path / "log").read_text(encoding="utf-8").splitlines() == ["shutdown eof"]


def test_every_answer_is_written_before_the_process_ends(start):
    engine = start()
    engine.greet()
    for number in range(1, 3_000):
        engine.send(number, "nope", {})
    engine.send(3_000, "shutdown", {"reason": "quit", "budget_ms": 100})
    assert engine.hang_up() == 0
    assert {engine.read()["id"] for _ in range(3_000)} == set(range(1, 3_001))


def test_dialogs_that_wait_do_not_hold_up_the_agents_tools(start):
    engine = start()
    engine.greet()
    for number in range(1, 21):
        engine.send(number, "command.run", {"name": "noodle", "args": "ask"})
    engine.send(99, "tool.run", {"name": "memory_get", "arguments": {}})
    while engine.read().get("id") != 99:
        pass


@pytest.mark.parametrize("limit", [-5, 10**40, 10**400])
def test_an_odd_time_limit_is_brought_into_bounds(start, limit):
    engine = start()
    engine.greet()
    engine.send(1, "recall", {"prompt": "x", "deadline_ms": limit})
    assert "result" in engine.read()
    engine.send(2, "shutdown", {"reason": "quit", "budget_ms": limit})
    assert engine.read()["result"] == {}
    assert engine.hang_up() == 0
    assert "Traceback" not in engine.stderr()


@pytest.mark.parametrize("session_id", ["s" * 129, "a\nb"])
def test_a_session_id_that_is_none_is_refused_at_the_handshake(start, session_id):
    engine = start()
    engine.send(1, "initialize", HELLO | {"session_id": session_id})
    error = engine.read()["error"]
    assert error["code"] == -32602
    assert "`session_id`" in error["message"]


def test_the_process_ends_when_it_is_never_greeted(start):
    assert start().hang_up() == 0


def test_the_process_ends_although_a_dialog_is_open(start):
    engine = start()
    engine.greet()
    engine.send(1, "command.run", {"name": "noodle", "args": "ask"})
    engine.read()
    assert engine.hang_up() == 0
    assert "answer False" in engine.lines(), "an open dialog is answered as if the person had left it"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to catch")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_process_like_the_end_of_stdin(start, number):
    engine = start()
    engine.greet()
    engine.capture(1, "x")
    engine.read()
    engine.process.send_signal(number)
    assert engine.wait() == 0
    assert engine.lines() == ["capture x", f"shutdown {number.name}"]


def test_a_host_that_is_killed_breaks_both_pipes_and_leaves_no_traceback(tmp_path):
    errors = tmp_path / "stderr"
    with errors.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, str(ENGINE), str(tmp_path / "log")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )
    with process:
        process.stdout.close()
        recall = {"jsonrpc": "2.0", "id": 1, "method": "recall", "params": {"prompt": "x", "deadline_ms": 9}}
        for frame in ({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}, recall, recall):
            process.stdin.write(json.dumps(frame).encode() + b"\n")
        process.stdin.close()
        assert process.wait(WAIT_S) == 0
    assert b"Traceback" not in errors.read_bytes()
