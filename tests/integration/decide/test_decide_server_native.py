"""The native decisions API of the server, through the socket: agreement with System One, policies, strictness."""

from __future__ import annotations

import http.client
import json
import math
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from clew.core.decisions import Question
from clew.core.records import State
from clew.decide.builtin import BuiltinJudge
from clew.decide.questionnaire import load_questionnaire
from clew.decide.server import native_answers, native_requests
from clew.decide.server.listener import DecisionServer
from clew.decide.system_one import SystemOneClient

LIMIT_S = 30
STATE = {"user": "From now on always run the linter before you commit. We use tabs in this repository."}


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


def post(port: int, path: str, body: Any) -> tuple[int, Any]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT_S)) as connection:
        connection.request("POST", path, body if isinstance(body, bytes) else json.dumps(body).encode())
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())


def decide(port: int, questions: dict[str, Any], state: Any = STATE) -> dict[str, Any]:
    status, reply = post(port, "/v1/decisions", {"state": state, "questions": questions})
    assert status == 200, reply
    return reply


def natively(question: Question) -> dict[str, Any]:
    """The mapping between the two APIs."""
    mapped: dict[str, Any] = {"instructions": question.instructions, "policy": {"allow_abstain": False}}
    texts = question.criteria
    if question.type == "noul":
        outcomes = {"true_description": f"Yes. {texts['true']}", "false_description": f"No. {texts['false']}"}
        return {**mapped, "type": "boolean", **outcomes}
    if question.type == "score":
        return {**mapped, "type": "score", "levels": list(texts.values())}
    named = [{"id": f"o{i}", "description": f"{name}: {text}"} for i, (name, text) in enumerate(texts.items())]
    return {**mapped, "type": "choice", "options": named}


def compat(question: Question) -> dict[str, Any]:
    criteria = list(question.criteria.values()) if question.type == "score" else dict(question.criteria)
    return {"type": question.type, "instructions": question.instructions, "criteria": criteria}


def test_both_apis_answer_the_same(port: int) -> None:
    bundled = load_questionnaire(None)
    native = decide(port, {id_: natively(question) for id_, question in bundled.items()})["answers"]
    asked = {"model": "jev-latest", "state": STATE, "questions": {id_: compat(q) for id_, q in bundled.items()}}
    answers = post(port, "/v1/systemone", asked)[1]["answers"]
    assert not any("x_abstained" in answer for answer in native.values())
    for id_, answer in native.items():
        other = answers[id_]
        expected = [1 - other["noul"], other["noul"]] if "noul" in other else list(other["probabilities"].values())
        assert list(answer["probabilities"].values()) == pytest.approx(expected, abs=1e-9)
        powers = [math.exp(logit) for logit in answer["option_logits"].values()]
        assert [power / sum(powers) for power in powers] == pytest.approx(expected, abs=1e-9)
        assert answer["status"] == "ok"
    assert native["importance"]["score"] == pytest.approx(answers["importance"]["score"])
    assert list(bundled["target"].criteria)[int(native["target"]["choice"][1:])] == answers["target"]["choice"]


def test_our_own_client_gets_the_judge_through_the_server(port: int) -> None:
    questions = load_questionnaire(None)
    state = State(**STATE)
    asked = SystemOneClient(f"http://127.0.0.1:{port}", model_id="rizzo-latest").decide(state, questions)
    direct = BuiltinJudge().decide(state, questions)
    assert asked.answers["target"].probabilities == pytest.approx(direct.answers["target"].probabilities, abs=1e-6)
    assert asked.answers["importance"].score == pytest.approx(direct.answers["importance"].score, abs=1e-6)


def test_what_the_judge_cannot_tell_is_insufficient_evidence(port: int) -> None:
    questions = {
        "rain": {"type": "boolean", "instructions": "Is it raining?"},
        "team": {"type": "choice", "instructions": "Who?", "options": [{"id": "a", "description": "A"}, {"id": "b", "description": "B"}]},
        "mood": {"type": "score", "instructions": "How?", "levels": ["low", "high"]},
        "cost": {"type": "numeric", "instructions": "How much?", "unit": "EUR",
                 "anchors": [{"value": 1, "description": "little"}, {"value": 2.5, "description": "much"}]},
    }  # fmt: skip
    reply = decide(port, questions)
    for answer in reply["answers"].values():
        assert (answer["status"], answer["x_abstained"]) == ("insufficient_evidence", True)
        assert math.fsum(answer["probabilities"].values()) == pytest.approx(1, abs=1e-6)
        assert answer["input_tokens"] > 0
        assert len(answer["prompt_sha256"]) == 64
    assert reply["answers"]["rain"]["value"] is None
    assert reply["answers"]["cost"]["statistics_given_available"] is None
    assert list(reply["answers"]["cost"]["probabilities"]) == [
        "0", "1", "__below_range__", "__above_range__", "__insufficient__",
    ]  # fmt: skip
    assert (reply["mode"], reply["calibration"], reply["timing"]["generated_tokens"]) == ("shared", None, 0)


def read(question: dict[str, Any], logits: list[float]) -> dict[str, Any]:
    body = json.dumps({"state": "x", "questions": {"q": question}}).encode()
    parsed = native_requests.parse_native(body).questions["q"]
    return native_answers.read_answer(parsed, dict(zip([*parsed.legend, *parsed.specials], logits, strict=True)))


def test_a_score_is_the_mean_of_its_levels() -> None:
    question = {"type": "score", "instructions": "?", "levels": ["a", "b", "c"], "policy": {"allow_abstain": False}}
    answer = read(question, [math.log(p) for p in (0.05, 0.06, 0.89)])
    assert (answer["score"], answer["normalized_score"]) == (pytest.approx(1.84), pytest.approx(0.92))
    assert answer["statistics_given_available"]["anchor_quantiles"] == {"p10": 1.0, "p90": 2.0}


def test_an_amount_is_the_mean_of_its_anchors() -> None:
    anchors = [{"value": value, "description": f"about {value}"} for value in (10, 20, 40)]
    question = {"type": "numeric", "instructions": "?", "unit": "EUR", "anchors": anchors}
    answer = read(question, [math.log(p) for p in (0.2, 0.2, 0.4, 0.05, 0.05, 0.1)])
    assert (answer["status"], answer["value"]) == ("ok", pytest.approx(27.5))
    assert answer["range_probabilities"] == {"below": pytest.approx(0.05), "above": pytest.approx(0.05)}
    assert (answer["statistics_given_available"]["median"], answer["support"]) == (20.0, [10.0, 40.0])


@pytest.mark.parametrize(
    ("policy", "logits", "status"),
    [
        ({}, [0, 0, 20], "insufficient_evidence"),
        ({}, [0, 5, 0], "ok"),
        ({"min_top_probability": 0.9}, [0, 1, -9], "uncertain"),
        ({"max_unavailable_probability": 0.05}, [0, 1, -1], "insufficient_evidence"),
    ],
)
def test_the_policy_holds_the_value_back(policy: dict[str, Any], logits: list[float], status: str) -> None:
    answer = read({"type": "boolean", "instructions": "?", "policy": policy}, logits)
    assert answer["status"] == status
    assert (answer["value"] is True) == (status == "ok")


def test_mass_outside_the_anchors_is_out_of_range() -> None:
    anchors = [{"value": 1, "description": "a"}, {"value": 2, "description": "b"}]
    answer = read({"type": "numeric", "instructions": "?", "unit": "", "anchors": anchors}, [0, 0, 0, 9, 1])
    assert (answer["status"], answer["value"]) == ("out_of_range", None)


def asking(**question: Any) -> dict[str, Any]:
    return {"state": "x", "questions": {"q": {"instructions": "?", **question}}}


def options(count: int) -> list[dict[str, str]]:
    return [{"id": f"o{i}", "description": f"{i}"} for i in range(count)]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"{", "json_invalid"),
        ([], "dict_type"),
        ({}, "missing"),
        ({**asking(type="boolean"), "model": "jev-latest"}, "extra_forbidden"),
        ({**asking(type="boolean"), "mode": "fast"}, "literal_error"),
        ({**asking(type="boolean"), "mode": []}, "literal_error"),
        ({"state": "x", "questions": {str(i): {"type": "boolean", "instructions": "?"} for i in range(65)}}, "too_long"),
        ({"state": "x", "questions": {"x" * 129: {"type": "boolean", "instructions": "?"}}}, "string_type"),
        (asking(), "union_tag_not_found"),
        (asking(type="noul"), "union_tag_invalid"),
        (asking(type={}), "union_tag_invalid"),
        (asking(type="boolean", instructions=" "), "string_type"),
        (asking(type="boolean", instructions="x" * 8001), "string_type"),
        (asking(type="boolean", criteria={}), "extra_forbidden"),
        (asking(type="boolean", true_description=5), "string_type"),
        (asking(type="boolean", policy=[]), "dict_type"),
        (asking(type="boolean", policy={"allow_abstain": 1}), "bool_type"),
        (asking(type="boolean", policy={"max_unavailable_probability": 0}), "float_type"),
        (asking(type="boolean", policy={"min_top_probability": "1"}), "float_type"),
        (asking(type="boolean", policy={"other": 1}), "extra_forbidden"),
        (asking(type="choice"), "missing"),
        (asking(type="choice", options={}), "list_type"),
        (asking(type="choice", options=options(1)), "too_short"),
        (asking(type="choice", options=options(26)), "too_long"),
        (asking(type="choice", options=[*options(2), "x"]), "dict_type"),
        (asking(type="choice", options=[*options(2), {"id": "o0", "description": "x"}]), "string_type"),
        (asking(type="choice", options=[*options(2), {"id": "_", "description": "x"}]), "string_type"),
        (asking(type="choice", options=[*options(2), {"id": "c"}]), "missing"),
        (asking(type="score", levels=["a", "a"]), "value_error"),
        (asking(type="score", levels=["a", {}]), "string_type"),
        (asking(type="numeric", anchors=[]), "string_type"),
        (asking(type="numeric", unit="x", anchors=[{"value": 1, "description": "a"}, {"value": 1, "description": "b"}]), "float_type"),
        (asking(type="numeric", unit="x", anchors=[{"value": 10**400, "description": "a"}, {"value": 2, "description": "b"}]), "float_type"),
        (b'{"state":"x","questions":{"q":{"type":"numeric","instructions":"?","unit":"x","anchors":[{"value":1e999,"description":"a"},{"value":2,"description":"b"}]}}}', "float_type"),
    ],
)  # fmt: skip
def test_a_bad_body_is_refused_and_says_why(port: int, body: Any, kind: str) -> None:
    status, reply = post(port, "/v1/decisions", body)
    assert (status, reply["detail"][0]["type"]) == (422, kind), reply


def test_twenty_six_candidates_fit_without_abstention(port: int) -> None:
    question = {"type": "choice", "instructions": "?", "options": options(26), "policy": {"allow_abstain": False}}
    answer = decide(port, {"q": question})["answers"]["q"]
    assert len(answer["probabilities"]) == 26
    assert answer["x_abstained"] is True
