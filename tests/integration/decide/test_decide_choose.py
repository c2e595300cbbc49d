"""Which decision model answers."""

from __future__ import annotations

import pytest

from clew.core.errors import DecisionModelDown, SettingsError
from clew.core.records import State
from clew.decide import choose
from clew.decide.builtin import BuiltinJudge
from clew.decide.questionnaire import load_questionnaire
from clew.decide.system_one import SystemOneClient

QUESTIONS = load_questionnaire(None)
STATE = State(user="hello")


def opened(url: str | None, *, explicit: bool, key: str | None = None):
    return choose.open_decision_model(url=url, url_is_explicit=explicit, model_id="m", api_key=key)


def be_ready(exchange) -> None:
    exchange.reply(200, {"status": "ready"})


def test_the_address_of_the_person_is_used_even_when_nobody_answers(server) -> None:
    address = server.url
    server.server_close()
    model = opened(address, explicit=True)
    assert isinstance(model, SystemOneClient)
    with pytest.raises(DecisionModelDown):
        model.decide(STATE, QUESTIONS)


def test_without_a_setting_and_a_server_the_built_in_judge_answers(server) -> None:
    address = server.url
    server.server_close()
    model = opened(address, explicit=False)
    assert isinstance(model, BuiltinJudge)
    assert model.address == "built in"
    assert model.warning is None


def test_a_healthy_server_at_the_default_address_is_used(server) -> None:
    server.routes["GET", "/health"] = be_ready
    model = opened(server.url, explicit=False, key="sesame")
    assert model.name == "m"
    assert model.address == server.url
    assert all("Authorization" not in headers for _, _, headers, _ in server.requests)


def test_something_else_at_the_default_address_is_left_alone(server) -> None:
    server.routes["GET", "/health"] = lambda exchange: exchange.reply(200, {"status": "ok"})
    assert isinstance(opened(server.url, explicit=False), BuiltinJudge)
    assert all(not body for _, _, _, body in server.requests)


def test_a_slow_stranger_at_the_default_address_does_not_hold_up_the_start(server) -> None:
    server.routes["GET", "/health"] = lambda exchange: exchange.server.release.wait(30)
    assert isinstance(opened(server.url, explicit=False), BuiltinJudge)


def test_the_judge_takes_over_when_a_found_server_fails(server) -> None:
    server.routes["GET", "/health"] = be_ready
    model = opened(server.url, explicit=False)
    decision = model.decide(STATE, QUESTIONS)
    assert decision.model == "clew-judge-encoder"
    assert model.name == "clew-judge-encoder"
    asked = len(server.requests)
    model.decide(STATE, QUESTIONS)
    assert len(server.requests) == asked


def test_an_address_elsewhere_works_with_a_warning() -> None:
    model = opened("https://judge.example", explicit=True)
    assert "judge.example" in (model.warning or "")


def test_an_unusable_address_is_told() -> None:
    with pytest.raises(SettingsError):
        opened("nonsense", explicit=True)
