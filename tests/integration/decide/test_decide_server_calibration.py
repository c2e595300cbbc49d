"""`clew serve --calibration`: temperatures of a fit on both APIs, and fits that are refused."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clew.app import serve_decisions
from clew.core.errors import SettingsError
from clew.core.records import State
from clew.decide.builtin import BuiltinJudge
from clew.decide.calibration.fit import Fit, read_fit, write_fit
from clew.decide.questionnaire import load_questionnaire
from clew.decide.server.service import DecisionService
from clew.decide.wire import encode_request

RULE = State(user="From now on always run the linter before you commit. We use tabs in this repository.")
SECRET = State(user="The deploy key is ghp_" + "aB3dE5fG7h" * 3 + "aB3dE5")
FIT = Fit(
    fingerprint=BuiltinJudge().decide(RULE, {}).fingerprint or "",
    dataset_sha256="0" * 64,
    temperatures={"boolean": 2.0, "choice": 3.0, "score": 0.5},
    fit_metrics={},
)


def compat(service: DecisionService, state: State = RULE) -> dict[str, Any]:
    answers: dict[str, Any] = service.answer(encode_request(state, load_questionnaire(None), "jev-latest"))["answers"]
    return answers


def native(service: DecisionService, state: State = RULE) -> dict[str, Any]:
    questions: dict[str, Any] = {}
    for id_, question in load_questionnaire(None).items():
        shared = {"instructions": question.instructions}
        if question.type == "noul":
            questions[id_] = {**shared, "type": "boolean"}
        elif question.type == "score":
            questions[id_] = {**shared, "type": "score", "levels": list(question.criteria.values())}
        else:
            options = [{"id": f"o{at}", "description": name} for at, name in enumerate(question.criteria)]
            questions[id_] = {**shared, "type": "choice", "options": options}
    anchors = [{"value": value, "description": f"{value}"} for value in (1, 2)]
    questions["cost"] = {"type": "numeric", "instructions": "?", "unit": "EUR", "anchors": anchors}
    return service.answer_native(json.dumps({"state": state.as_json(), "questions": questions}).encode())


@pytest.fixture(scope="module")
def plain() -> DecisionService:
    return DecisionService(BuiltinJudge())


@pytest.fixture(scope="module")
def fitted() -> DecisionService:
    return DecisionService(BuiltinJudge(), FIT)


def shares(answer: dict[str, Any]) -> list[float]:
    return [1 - answer["noul"], answer["noul"]] if "noul" in answer else list(answer["probabilities"].values())


def test_probabilities_are_those_of_the_logits_divided_by_the_temperature(
    plain: DecisionService, fitted: DecisionService
) -> None:
    raw, scaled = compat(plain), compat(fitted)
    for id_, question in load_questionnaire(None).items():
        powers = [share ** (1 / FIT.temperature(question.type)) for share in shares(raw[id_])]
        assert shares(scaled[id_]) == pytest.approx([power / sum(powers) for power in powers], abs=1e-6)
    assert scaled["target"]["choice"] == raw["target"]["choice"]
    assert scaled["is_durable"]["noul"] != pytest.approx(raw["is_durable"]["noul"])


def test_native_answers_show_the_temperature_and_logits_from_before_it(
    plain: DecisionService, fitted: DecisionService
) -> None:
    raw, scaled = native(plain), native(fitted)
    for id_, answer in scaled["answers"].items():
        temperature = FIT.temperature(answer["type"])
        assert answer["temperature"] == temperature
        assert ("temperature_scaled" in answer["probability_status"]) == (temperature != 1)
        powers = [
            math.exp((logit - max(answer["option_logits"].values())) / temperature)
            for logit in answer["option_logits"].values()
        ]
        assert list(answer["probabilities"].values()) == pytest.approx(
            [power / sum(powers) for power in powers], abs=1e-9
        )
        assert answer["status"] == raw["answers"][id_]["status"]
        ordinary = [name for name in answer["option_logits"] if not name.startswith("__")]
        assert [answer["option_logits"][name] for name in ordinary] == pytest.approx(
            [raw["answers"][id_]["option_logits"][name] for name in ordinary]
        )
    assert (raw["calibration"], scaled["calibration"]) == (None, FIT.as_json())
    assert raw["answers"]["is_durable"]["probability_status"] == "uncalibrated_conditional_option_scores"


def test_both_apis_agree_under_a_fit(fitted: DecisionService) -> None:
    answers = native(fitted)["answers"]
    for id_, answer in compat(fitted).items():
        ordinary = [share for name, share in answers[id_]["probabilities"].items() if not name.startswith("__")]
        assert ordinary == pytest.approx(shares(answer), abs=1e-6)


@pytest.mark.parametrize("temperature", [0.05, 1.0, 20.0])
def test_a_secret_that_the_scanner_finds_stays_certain_at_any_temperature(temperature: float) -> None:
    service = DecisionService(BuiltinJudge(), replace(FIT, temperatures={"boolean": temperature}))
    assert compat(service, SECRET)["has_secret"]["noul"] >= 0.99
    assert native(service, SECRET)["answers"]["has_secret"]["value"] is True
    assert compat(service, RULE)["has_secret"]["noul"] < 0.5


@pytest.mark.parametrize("temperature", [0.05, 20.0])
def test_no_temperature_takes_from_the_options_or_makes_an_abstention_less_certain(temperature: float) -> None:
    kinds = ("boolean", "choice", "score", "numeric")
    service = DecisionService(BuiltinJudge(), replace(FIT, temperatures=dict.fromkeys(kinds, temperature)))
    answers = native(service)["answers"]
    unsure = answers.pop("cost")
    assert unsure["uncertainty"]["unavailable_probability"] == pytest.approx(1)
    for answer in answers.values():
        assert answer["uncertainty"]["unavailable_probability"] == pytest.approx(0, abs=1e-8)


def test_health_says_whether_numbers_are_calibrated(plain: DecisionService, fitted: DecisionService) -> None:
    assert (plain.health()["calibrated"], fitted.health()["calibrated"]) == (False, True)


def test_a_fit_of_another_model_is_refused_before_anything_is_served(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    write_fit(path, replace(FIT, fingerprint="another"))
    with pytest.raises(SettingsError, match="another"):
        serve_decisions("127.0.0.1", 0, calibration=path)
    with pytest.raises(SettingsError, match="cannot be read"):
        serve_decisions("127.0.0.1", 0, calibration=tmp_path / "missing.json")


def test_the_command_takes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    write_fit(path, FIT)
    assert read_fit(path) == FIT
    command = [sys.executable, "-m", "clew", "serve", "--port", "0", "--calibration", str(path)]
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout
            assert process.stdout.readline().startswith("Serving on http://"), process.communicate()
        finally:
            process.terminate()
            assert process.wait(30) == 0
