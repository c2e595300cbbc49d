"""The OpenAPI description is valid and true, and the pages keep to their policy."""

from __future__ import annotations

import http.client
import json
import re
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from clew.decide.questionnaire import CONSOLIDATION, GATE, PAIRS, load_questionnaire
from clew.decide.server import pages
from clew.decide.server.listener import DecisionServer
from clew.decide.server.matching import load_heads
from clew.decide.server.openapi import describe
from clew.decide.server.routes import ROUTES

LIMIT_S = 30
DOCUMENT = describe(ROUTES)
PAGES = sorted(Path(pages.__file__).with_name("pages").iterdir())
SYSTEM_ONE = {
    "model": "jev-latest",
    "state": {"user": "We use tabs.", "a": "x", "b": "y"},
    "questions": {
        "known": {"type": "noul", "instructions": "Is this worth remembering?"},
        "is_failure": {"type": "noul", "instructions": "?", "criteria": {"true": {"a": 1}}},
        "unknown": {"type": "choice", "criteria": {"a": None, "b": ["x"]}},
        "scale": {"type": "score", "instructions": ["How?"], "criteria": ["low", {"x": "high"}]},
    },
}
ASKED = {"instructions": "Is this worth remembering?", "policy": {"allow_abstain": False}}
DESCRIBED = [{"description": text} for text in "ab"]
NATIVE = {
    "state": "We use tabs.",
    "mode": "direct",
    "questions": {
        "known": {**ASKED, "type": "boolean", "true_description": "Yes."},
        "choice": {**ASKED, "type": "choice", "options": [{"id": "a", **DESCRIBED[0]}, {"id": "b", **DESCRIBED[1]}]},
        "score": {**ASKED, "type": "score", "levels": ["a", "b"]},
        "held_back": {"instructions": "?", "type": "score", "levels": ["a", "b"]},
        "numeric": {
            "type": "numeric", "instructions": "?", "unit": "m",
            "anchors": [{"value": 1, **DESCRIBED[0]}, {"value": 2, **DESCRIBED[1]}],
        },
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with DecisionServer("127.0.0.1", 0, key="k") as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join(LIMIT_S)


def send(port: int, method: str, path: str, body: Any = None, key: str = "k") -> tuple[int, Any, bytes]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT_S)) as connection:
        data = None if body is None else json.dumps(body).encode()
        connection.request(method, path, data, {"Authorization": f"Bearer {key}"})
        reply = connection.getresponse()
        return reply.status, reply.headers, reply.read()


def problems(schema: str, value: Any) -> list[str]:
    whole = {"$ref": f"#/components/schemas/{schema}", "components": DOCUMENT["components"]}
    return [error.message for error in Draft202012Validator(whole).iter_errors(value)]


def test_the_description_is_valid_and_is_served(port: int) -> None:
    validate(DOCUMENT)
    assert json.loads(send(port, "GET", "/openapi.json")[2]) == DOCUMENT
    assert set(DOCUMENT["paths"]) == {route.path for route in ROUTES}


def test_the_guide_names_every_route_head_and_refusal() -> None:
    guide = (Path(__file__).resolve().parents[3] / "docs/serve.md").read_text("utf-8")
    paths = [route.path for route in ROUTES if not route.path.startswith("/pages/")]
    kinds = {
        status
        for path in DOCUMENT["paths"].values()
        for operation in path.values()
        for status in operation["responses"]
    }
    named = [*paths, *load_heads(), *(kinds - {"200", "302"})]
    assert [name for name in named if not re.search(rf"(?<![\w/]){re.escape(name)}(?!\w)", guide)] == []


def test_every_schema_is_used() -> None:
    used = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(DOCUMENT)))
    assert used == set(DOCUMENT["components"]["schemas"])


@pytest.mark.parametrize("route", [route for route in ROUTES if not route.takes], ids=lambda route: route.path)
def test_what_is_read_is_what_the_description_says(port: int, route: Any) -> None:
    status, headers, data = send(port, "GET", route.path)
    content = DOCUMENT["paths"][route.path]["get"]["responses"][str(status)]["content"]
    assert list(content) == [headers["Content-Type"].partition(";")[0]]
    if "application/json" in content:
        assert problems(route.gives, json.loads(data)) == []


@pytest.mark.parametrize(("path", "body"), [("/v1/systemone", SYSTEM_ONE), ("/v1/decisions", NATIVE)])
def test_what_is_asked_and_answered_is_what_the_description_says(port: int, path: str, body: Any) -> None:
    route = next(route for route in ROUTES if route.path == path)
    assert route.takes
    assert problems(route.takes, body) == []
    assert (
        problems(route.takes, DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["application/json"]["example"])
        == []
    )
    status, _, data = send(port, "POST", path, body)
    assert (status, problems(route.gives, json.loads(data))) == (200, [])


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ("Problems", ("POST", "/v1/systemone", {"questions": {}})),
        ("Problems", ("POST", "/v1/decisions", [])),
        ("Refusal", ("POST", "/v1/systemone", {**SYSTEM_ONE, "model": "gpt"})),
        ("Refusal", ("POST", "/v1/systemone", SYSTEM_ONE, "wrong")),
        ("Refusal", ("GET", "/nothing")),
        ("Refusal", ("POST", "/health", {})),
    ],
)
def test_refusals_are_what_the_description_says(port: int, schema: str, arguments: tuple[Any, ...]) -> None:
    status, _, data = send(port, *arguments)
    assert status >= 400
    assert problems(schema, json.loads(data)) == []


def test_the_questions_are_those_that_clew_asks(port: int) -> None:
    asked = json.loads(send(port, "GET", "/questions.json")[2])
    assert {name: list(questions) for name, questions in asked.items()} == {
        kind.name: list(load_questionnaire(None, kind)) for kind in (GATE, PAIRS, CONSOLIDATION)
    }


def test_pages_come_without_the_key_and_under_a_strict_policy(port: int) -> None:
    for path in ("/docs", "/playground", "/pages/style.css", "/pages/docs.js", "/pages/playground.js"):
        status, headers, data = send(port, "GET", path, key="wrong")
        policy = headers["Content-Security-Policy"]
        assert status == 200
        assert data
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
    assert send(port, "GET", "/")[1]["Location"] == "/playground"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_needs_nothing_that_its_policy_forbids(path: Path) -> None:
    text = path.read_text("utf-8")
    assert re.findall(r"https?://|//[a-z]+\.", text) == []
    assert re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Storage|cookie", text) == []
    if path.suffix == ".html":
        assert re.findall(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", text) == []
        linked = re.findall(r'(?:src|href)="([^"]+)"', text)
        assert set(linked) <= {route.path for route in ROUTES}
