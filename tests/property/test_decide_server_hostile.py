"""Requests full of anything, through the socket: every one is answered or refused in JSON, none with a 5xx."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.core.decisions import Question
from clew.core.records import DatedEntry, EntryPair, State
from clew.decide.server.listener import DecisionServer
from clew.decide.server.matching import find_match, load_heads
from clew.decide.server.pages import bundled_questions
from clew.decide.server.states import read_entry, read_exchange, read_pair

LIMIT_S = 30
ALL_TEN = {id_: question for group in bundled_questions().values() for id_, question in group.items()}
NAMES = st.sampled_from(
    ["user", "assistant", "previous_assistant", "project", "messages", "role", "content", "text", "message", "exchange",
     "a", "b", "memory_a", "memory_b", "first", "second", "entry", "memory", "written", "date", "created_at", "memories",
     "type", "instructions", "criteria", "true", "false", "none", "", "x"]
)  # fmt: skip
TEXTS = st.sampled_from(
    ["user", "User: x\nAssistant: y", "a: x\nb: y", "Memory a: x Memory b: y", "2026-03-01", "2026-03-01T00:00:00Z",
     "\ud800", "\x00", "noul", "Is this worth remembering?", ""]
) | st.text(max_size=30)  # fmt: skip
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
ANYTHING = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5), max_leaves=20
)
QUESTIONS = st.dictionaries(st.sampled_from([*ALL_TEN, "q", ""]), st.sampled_from(list(ALL_TEN.values())) | ANYTHING)


@pytest.fixture(scope="module")
def connection() -> Iterator[http.client.HTTPConnection]:
    with DecisionServer("127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=LIMIT_S)
        try:
            yield connection
        finally:
            connection.close()
            server.shutdown()
            thread.join(LIMIT_S)


def ask(connection: http.client.HTTPConnection, path: str, body: Any) -> tuple[int, Any]:
    connection.request("POST", path, json.dumps(body).encode())
    reply = connection.getresponse()
    return reply.status, json.loads(reply.read())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(state=ANYTHING)
def test_any_state_is_answered_or_refused(connection: http.client.HTTPConnection, state: Any) -> None:
    status, reply = ask(connection, "/v1/systemone", {"model": "jev-latest", "state": state, "questions": ALL_TEN})
    if isinstance(state, str | dict | list):
        assert status == 200
        assert set(reply["answers"]) == set(ALL_TEN)
    else:
        assert status == 422


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(questions=QUESTIONS, state=ANYTHING, path=st.sampled_from(["/v1/systemone", "/v1/decisions"]))
def test_any_questions_are_answered_or_refused(
    connection: http.client.HTTPConnection, questions: Any, state: Any, path: str
) -> None:
    model = {"model": "jev-latest"} if path == "/v1/systemone" else {}
    status, reply = ask(connection, path, {**model, "state": state, "questions": questions})
    assert status in (200, 422)
    assert ("answers" in reply) == (status == 200)


@given(ANYTHING)
def test_what_a_state_is_read_as_holds_texts_only(state: Any) -> None:
    exchange, pair, entry = read_exchange(state), read_pair(state), read_entry(state)
    assert exchange is None or isinstance(exchange, State)
    assert pair is None or isinstance(pair, EntryPair)
    assert entry is None or isinstance(entry, DatedEntry)
    for read in (exchange, pair, entry):
        assert read is None or all(text is None or isinstance(text, str) for text in read.as_json().values())


@given(
    st.text(max_size=200),
    st.sampled_from(["noul", "choice", "score"]),
    st.dictionaries(st.text(max_size=9), st.none() | st.text(max_size=50), max_size=6),
)
def test_any_wording_is_matched_or_not_alike_under_every_name(wording: str, type_: Any, criteria: Any) -> None:
    first, second = (
        find_match(Question(id=id_, type=type_, instructions=wording, criteria=criteria)) for id_ in ("q1", "another")
    )
    assert first == second
    assert first is None or first.head in load_heads()
