"""`clew serve` as a process: the public conformance tool, the official SDK, hostile bodies, and how it ends."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from backports import zstd

from clew.core.records import State
from clew.decide.builtin import BuiltinJudge
from clew.decide.questionnaire import load_questionnaire
from clew.decide.wire import decode_reply, encode_request

KEY = "kept-in-a-variable"
LIMIT_S = 60
NOUL = {"type": "noul", "instructions": "Is it urgent?"}
RULE = State(user="From now on always run the linter before you commit. We use tabs in this repository.")


@dataclass(frozen=True, kw_only=True)
class Served:
    process: subprocess.Popen[str]
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def send(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any, Any]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)) as connection:
            connection.request(method, path, body, headers or {})
            reply = connection.getresponse()
            data = reply.read()
            return reply.status, json.loads(data) if data else None, reply.headers

    def ask(self, body: Any, headers: dict[str, str] | None = None) -> tuple[int, Any, Any]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.send("POST", "/v1/systemone", data, headers)

    def answers(self, questions: dict[str, Any], state: Any = RULE.user) -> dict[str, Any]:
        status, reply, _ = self.ask({"model": "jev-latest", "state": state, "questions": questions})
        assert status == 200, reply
        return reply["answers"]


@contextmanager
def serving(home: Path, *arguments: str) -> Iterator[Served]:
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "SERVE_KEY": KEY}
    command = [sys.executable, "-m", "clew", "serve", "--port", "0", *arguments]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout
            first = process.stdout.readline()
            assert first.startswith("Serving on http://"), process.communicate()
            yield Served(process=process, port=int(first.rsplit(":", 1)[1]))
        finally:
            process.kill()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("home")) as server:
        yield server


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("home"), "--key-env", "SERVE_KEY") as server:
        yield server


# -- conformance ----------------------------------------------------------------------------------------------------


def run_conformance(server: Served, report: Path, *arguments: str) -> dict[str, set[str]]:
    """Requirement ids by status."""
    command = [sys.executable, "-m", "jevcompat.cli", "test", server.url, "--json", str(report), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stdout
    by_status: dict[str, set[str]] = {}
    for result in json.loads(report.read_text("utf-8"))["results"]:
        by_status.setdefault(result["status"], set()).add(result["id"])
    return by_status


def test_all_requirements_are_met_with_and_without_a_key(served: Served, guarded: Served, tmp_path: Path) -> None:
    without = run_conformance(served, tmp_path / "without.json")
    with_key = run_conformance(guarded, tmp_path / "with.json", "--key", KEY)
    # each run leaves out what only the other one can show; nothing fails, neither MUST nor SHOULD
    assert set(without) == set(with_key) == {"pass", "skip"}
    assert without["skip"] == {"auth.bearer", "auth.missing", "auth.invalid"}
    assert with_key["skip"] == {"auth.ignored-when-off"}
    assert len(without["pass"] | with_key["pass"]) == 48


@pytest.mark.parametrize("compression", ["zstd", False])
def test_the_official_sdk_reads_every_type_of_answer(guarded: Served, compression: Any) -> None:
    from typesafe_sdk import Choice, Noul, Score, TypeSafeClient

    questions = {
        "refund": Noul(instructions="Do they want money back?"),
        "team": Choice(instructions="Which team?", criteria={"Billing": "invoices", "Sales": None}),
        "anger": Score(instructions="How angry?", criteria=["calm", "cross", "furious"]),
    }
    with TypeSafeClient(api_key=KEY, base_url=guarded.url, compression=compression) as client:
        reply = client.system_one(state="Where is my refund? " * 100, questions=questions)
    assert 0 <= reply.nouls["refund"].noul <= 1
    assert reply.choices["team"].choice in {"Billing", "Sales"}
    assert 0 <= reply.scores["anger"].score <= 2


# -- answers --------------------------------------------------------------------------------------------------------


def test_the_answers_over_the_wire_are_those_of_the_judge(served: Served) -> None:
    questions = load_questionnaire(None)
    status, reply, _ = served.ask(encode_request(RULE, questions, "rizzo-latest"))
    assert status == 200
    assert not any("x_abstained" in answer for answer in reply["answers"].values())
    direct = BuiltinJudge().decide(RULE, questions)
    over_the_wire = decode_reply(json.dumps(reply).encode(), questions)
    assert over_the_wire.answers["is_durable"].probability == pytest.approx(direct.answers["is_durable"].probability)
    assert over_the_wire.answers["target"].probabilities == pytest.approx(direct.answers["target"].probabilities)
    assert over_the_wire.answers["importance"].score == pytest.approx(direct.answers["importance"].score)


def bundled(id_: str) -> dict[str, Any]:
    question = load_questionnaire(None)[id_]
    criteria = list(question.criteria.values()) if question.type == "score" else dict(question.criteria)
    return {"type": question.type, "instructions": question.instructions, "criteria": criteria}


def test_a_known_wording_chooses_the_head_whatever_the_id(served: Served) -> None:
    answers = served.answers({"is_durable": bundled("is_durable"), "has_secret": bundled("is_durable"), "q": NOUL})
    assert answers["has_secret"] == answers["is_durable"]
    assert (answers["has_secret"]["x_head"], answers["has_secret"]["x_matched_by"]) == ("is_durable", "wording")
    assert answers["q"] == {"type": "noul", "noul": 0.5, "x_abstained": True}


def test_an_unknown_wording_under_a_known_id_is_answered_and_says_so(served: Served) -> None:
    answers = served.answers({"is_durable": NOUL, "other": bundled("is_durable")})
    assert answers["is_durable"]["noul"] == answers["other"]["noul"]
    assert (answers["is_durable"]["x_matched_by"], answers["other"]["x_matched_by"]) == ("id", "wording")


def test_outcomes_that_are_swapped_are_another_question(served: Served) -> None:
    question = bundled("is_durable")
    swapped = {"true": question["criteria"]["false"], "false": question["criteria"]["true"]}
    answers = served.answers({"bare": {**question, "criteria": None}, "swapped": {**question, "criteria": swapped}})
    assert "x_abstained" not in answers["bare"]
    assert answers["swapped"]["x_abstained"] is True


def test_a_state_of_another_shape_gets_priors_only(served: Served) -> None:
    for state in ({"ticket": "x"}, ["x"], {"user": 5}, {"user": "x", "assistant": ["y"]}):
        assert served.answers({"q": bundled("is_durable")}, state)["q"]["x_abstained"] is True


# -- refusals -------------------------------------------------------------------------------------------------------


def assert_refused(reply: tuple[int, Any, Any], status: int, kind: str) -> None:
    """`kind` is the type of the first problem, or the error type."""
    got, body, headers = reply
    detail = body["detail"]
    found = detail[0]["type"] if isinstance(detail, list) else detail["error_type"]
    assert (got, found) == (status, kind), body
    assert headers["Content-Type"] == "application/json"
    for problem in detail if isinstance(detail, list) else []:
        assert set(problem) == {"loc", "msg", "type"}
        assert problem["loc"][0] == "body"


def asking(**question: Any) -> dict[str, Any]:
    return {"model": "jev-latest", "state": "x", "questions": {"q": question}}


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        (b"", 422, "json_invalid"),
        (b"\xff\xfe", 422, "json_invalid"),
        (b"{", 422, "json_invalid"),
        (b"[" * 200_000, 422, "json_invalid"),
        (b"9" * 10_000, 422, "json_invalid"),
        (b'{"model":"jev-latest","state":NaN,"questions":{}}', 422, "json_invalid"),
        (b"null", 422, "dict_type"),
        ({}, 422, "missing"),
        ({**asking(**NOUL), "model": 5}, 422, "string_type"),
        ({**asking(**NOUL), "model": "gpt"}, 400, "api_usage_error"),
        ({**asking(**NOUL), "state": None}, 422, "union_type"),
        ({**asking(**NOUL), "state": True}, 422, "union_type"),
        ({**asking(**NOUL), "state": "ü" * 128_001}, 422, "too_long"),
        ({**asking(**NOUL), "assets": ["image"]}, 422, "extra_forbidden"),
        ({**asking(**NOUL), "questions": []}, 422, "dict_type"),
        ({**asking(**NOUL), "questions": {"": NOUL}}, 422, "too_short"),
        ({**asking(**NOUL), "questions": {"q": "noul"}}, 422, "dict_type"),
        ({**asking(**NOUL), "questions": {str(i): NOUL for i in range(257)}}, 422, "too_long"),
        (asking(instructions="?"), 422, "union_tag_not_found"),
        (asking(type=["noul"], instructions="?"), 422, "union_tag_invalid"),
        (asking(type="box", instructions="?"), 422, "union_tag_invalid"),
        (asking(type="noul"), 422, "missing"),
        (asking(type="noul", criteria={"true": None}), 422, "missing"),
        (asking(type="noul", instructions=5), 422, "union_type"),
        (asking(type="noul", instructions="?", criteria={"maybe": "x"}), 422, "model_type"),
        (asking(type="noul", instructions="?", criteria={"true": 1}), 422, "union_type"),
        (asking(type="noul", instruction="?"), 422, "extra_forbidden"),
        (asking(type="choice", instructions="?"), 422, "missing"),
        (asking(type="choice", instructions="?", criteria=["a", "b"]), 422, "dict_type"),
        (asking(type="choice", instructions="?", criteria={}), 422, "too_short"),
        (asking(type="choice", instructions="?", criteria={" ": None, "b": None}), 422, "too_short"),
        (asking(type="choice", instructions="?", criteria={"a": 1, "b": None}), 422, "union_type"),
        (asking(type="choice", criteria={str(i): None for i in range(256)}), 422, "too_long"),
        (asking(type="score", instructions="?", criteria={"0": "a"}), 422, "list_type"),
        (asking(type="score", instructions="?", criteria=["a", None]), 422, "string_type"),
        (asking(type="score", instructions="?", criteria=["a"] * 11), 422, "too_long"),
    ],
)  # fmt: skip
def test_a_bad_body_is_refused_and_says_why(served: Served, body: Any, status: int, kind: str) -> None:
    assert_refused(served.ask(body), status, kind)


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"jev-latest","state":{"user":"\\ud800 \\u0000"},"questions":{"\\ud800":{"type":"noul","instructions":"\\ud800"}}}',
        b'{"model":"jev-latest","state":[1e999],"questions":{"q":{"type":"score","criteria":[{"a":1e999},"a"]}}}',
        b'{"model":"jev-latest","state":"","questions":{"q":{"type":"choice","criteria":{"only":null}}}}',
        b'{"model":"jev-latest","state":"'
        + b"a\\n" * 80_000
        + b'","questions":{"q":{"type":"score","criteria":["a"]}}}',
    ],
)
def test_odd_but_valid_bodies_are_answered(served: Served, body: bytes) -> None:
    status, reply, _ = served.ask(body)
    assert status == 200, reply
    assert list(reply["answers"]) == list(json.loads(body)["questions"])


def test_other_routes_and_methods_are_refused_in_json(served: Served) -> None:
    assert_refused(served.send("GET", "/nothing"), 404, "not_found")
    assert_refused(served.send("POST", "/v1/systemtwo", b"{}"), 404, "not_found")
    assert_refused(served.send("GET", "/v1/systemone"), 405, "method_not_allowed")
    assert_refused(served.send("POST", "/v1/models", b"{}"), 405, "method_not_allowed")
    assert_refused(served.send("BREW", "/v1/systemone"), 405, "method_not_allowed")
    assert served.send("HEAD", "/v1/systemone")[0] == 405


def test_health_and_models_say_who_answers(guarded: Served) -> None:
    status, health, _ = guarded.send("GET", "/health")
    assert (status, health["status"], health["model"]["name"]) == (200, "ready", BuiltinJudge().name)
    assert health["model"]["fingerprint"] == BuiltinJudge().decide(RULE, {}).fingerprint
    assert_refused(guarded.send("GET", "/v1/models"), 401, "authentication_error")
    status, models, _ = guarded.send("GET", "/v1/models", headers={"Authorization": f"bearer {KEY}"})
    assert status == 200
    assert "jev-latest" in {model["name"] for model in models["models"]}


# -- bodies on the wire ---------------------------------------------------------------------------------------------


def test_chunked_and_compressed_bodies_are_read(served: Served) -> None:
    body = json.dumps(asking(**NOUL)).encode()
    assert served.send("POST", "/v1/systemone", iter([body[:7], body[7:]]))[0] == 200
    assert served.ask(zstd.compress(body), {"Content-Encoding": "zstd"})[0] == 200


def test_bodies_over_the_limit_are_refused_on_the_wire_and_when_unpacked(served: Served) -> None:
    huge = b" " * (2 << 20)
    assert_refused(served.ask(huge), 413, "request_too_large")
    assert_refused(served.send("POST", "/v1/systemone", iter([huge, huge])), 413, "request_too_large")
    assert_refused(served.ask(zstd.compress(huge), {"Content-Encoding": "zstd"}), 413, "request_too_large")


def test_what_is_not_compressed_as_announced_is_refused(served: Served) -> None:
    body = json.dumps(asking(**NOUL)).encode()
    assert_refused(served.ask(body, {"Content-Encoding": "zstd"}), 400, "api_usage_error")
    assert_refused(served.ask(zstd.compress(body)[:-4], {"Content-Encoding": "zstd"}), 400, "api_usage_error")
    assert_refused(served.ask(body, {"Content-Encoding": "gzip"}), 415, "unsupported_content_encoding")


@pytest.mark.parametrize(
    "rest",
    [
        b"Content-Length: 100\r\n\r\nshort",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 1e3\r\n\r\n",
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel",
        b"Transfer-Encoding: chunked\r\n\r\n" + b"1" * 5000,
        b"A: " + b"b" * 70_000 + b"\r\n\r\n",
        b"nonsense\r\n" * 200 + b"\r\n",
    ],
)
def test_broken_framing_is_refused_and_the_connection_closed(served: Served, rest: bytes) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=LIMIT_S) as client:
        client.sendall(b"POST /v1/systemone HTTP/1.1\r\nHost: here\r\n" + rest)
        client.shutdown(socket.SHUT_WR)
        reply = b"".join(iter(lambda: client.recv(65536), b""))
    assert reply.startswith(b"HTTP/1.1 4"), reply
    assert reply.count(b"HTTP/1.1") == 1
    assert "detail" in json.loads(reply.split(b"\r\n\r\n", 1)[1])


def test_a_connection_stays_open_for_the_next_request(served: Served) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", served.port, timeout=LIMIT_S)) as connection:
        connection.connect()
        first = connection.sock
        for body in (b"{", json.dumps(asking(**NOUL)).encode()):
            connection.request("POST", "/v1/systemone", body)
            connection.getresponse().read()
            assert connection.sock is first


# -- start and end --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_told_to(tmp_path: Path, sent: signal.Signals) -> None:
    with serving(tmp_path) as server:
        server.process.send_signal(sent)
        assert server.process.wait(LIMIT_S) == 0
        assert server.process.stderr
        assert "Traceback" not in server.process.stderr.read()


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_request_that_has_begun_is_answered_before_the_end(tmp_path: Path, sent: signal.Signals) -> None:
    body = json.dumps(asking(**NOUL)).encode()
    head = (
        f"POST /v1/systemone HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
    )
    with (
        serving(tmp_path) as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT_S) as client,
    ):
        client.sendall(head.encode())
        assert client.recv(65536).startswith(b"HTTP/1.1 100 ")
        server.process.send_signal(sent)
        wait_until_refused(server.port)
        client.sendall(body)
        reply = b"".join(iter(lambda: client.recv(65536), b""))
        assert reply.startswith(b"HTTP/1.1 200 ")
        assert server.process.wait(LIMIT_S) == 0


def wait_until_refused(port: int) -> None:
    """Until nobody listens there any more."""
    given_up_at = time.monotonic() + LIMIT_S
    while time.monotonic() < given_up_at:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S).close()
        except ConnectionError:
            return
        time.sleep(0.01)
    pytest.fail("the server goes on listening")


def test_other_machines_get_in_only_with_a_warning(tmp_path: Path) -> None:
    with serving(tmp_path, "--host", "0.0.0.0") as server:  # noqa: S104 - that is the point
        server.process.terminate()
        assert "other machines can reach this server and no key is asked for" in server.process.communicate()[1]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--key-env", "NO_SUCH_VARIABLE"], 1, "holds no key"),
        (["--key-env", ""], 1, "holds no key"),
        (["--host", "not an address"], 1, "Cannot listen"),
        (["--host", "ä..é"], 1, "Cannot listen"),
        (["--host", ""], 1, "Cannot listen"),
        (["--port", "70000"], 2, "not a port"),
    ],
)
def test_what_cannot_be_served_is_said(tmp_path: Path, arguments: list[str], code: int, says: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "clew", "serve", *arguments],
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]}, capture_output=True, text=True, timeout=LIMIT_S,
        check=False,
    )  # fmt: skip
    assert (done.returncode, says in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", ["1", "2"])
def test_it_serves_with_an_output_closed(tmp_path: Path, closed: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = f'exec "$0" -m clew serve --port {port} {closed}>&-'
    with subprocess.Popen(
        ["sh", "-c", command, sys.executable], env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    ) as process:
        try:
            assert is_listening(port, process)
            process.terminate()
            assert process.wait(LIMIT_S) == 0
        finally:
            process.kill()


def is_listening(port: int, process: subprocess.Popen[bytes]) -> bool:
    """Whether somebody listens there before the process ends."""
    given_up_at = time.monotonic() + LIMIT_S
    while process.poll() is None and time.monotonic() < given_up_at:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S).close()
        except ConnectionError:
            time.sleep(0.01)
        else:
            return True
    return False


def test_a_port_that_is_taken_is_said(served: Served, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "clew", "serve", "--port", str(served.port)],
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]}, capture_output=True, text=True, timeout=LIMIT_S,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert "in use" in done.stderr
