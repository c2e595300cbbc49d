"""What the wiring promises: a person's mistakes in files become warnings, and nothing is contacted to find them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clew.app import check_model, read_questionnaire, warn_of_distance
from clew.config.load import Config, load_config


def configured(folder: Path, **gate: object) -> Config:
    (folder / "memory-gate-config.json").write_text(json.dumps(gate), encoding="utf-8")
    return load_config({}, home=folder, agent_dir=folder)


def test_the_bundled_questionnaire_has_no_gaps(tmp_path: Path) -> None:
    assert read_questionnaire(configured(tmp_path)).warnings == ()


@pytest.mark.parametrize("content", ["{", '{"is_durable": {"type": "maybe"}}', None])
def test_a_questionnaire_that_cannot_be_used_is_named_and_replaced_by_the_bundled_one(
    tmp_path: Path, content: str | None
) -> None:
    file = tmp_path / "mine.json"
    if content is not None:
        file.write_text(content)
    read = read_questionnaire(configured(tmp_path, questionsPath=str(file)))
    (warning,) = read.warnings
    assert str(file) in warning
    assert read.questions == read_questionnaire(configured(tmp_path)).questions


def test_a_question_that_is_missing_is_told(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"is_durable": {"type": "noul", "instructions": "Does it last?"}}))
    assert any(
        "has_secret" in warning
        for warning in read_questionnaire(configured(tmp_path, questionsPath=str(file))).warnings
    )


@pytest.mark.parametrize(
    ("url", "is_far"),
    [("http://127.0.0.1:9", False), ("http://localhost:9", False), ("https://judge.example.org", True)],
)
def test_a_decision_server_on_another_machine_is_warned_of(tmp_path: Path, url: str, is_far: bool) -> None:
    assert bool(warn_of_distance(configured(tmp_path, decisionModelUrl=url))) is is_far


def test_without_an_address_nobody_is_warned(tmp_path: Path) -> None:
    assert warn_of_distance(configured(tmp_path)) == ()


def test_a_server_that_was_asked_for_and_is_down_shows_as_such(tmp_path: Path) -> None:
    report = check_model(configured(tmp_path, decisionModelUrl="http://127.0.0.1:9"))
    assert report.where == "http://127.0.0.1:9"
    assert report.problem
