"""The three questionnaires: what comes with Clew, what a person puts in its place, and what `clew questions` prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clew.cli import main
from clew.core.errors import SettingsError
from clew.decide.questionnaire import (
    CONSOLIDATION,
    GATE,
    PAIRS,
    QuestionnaireKind,
    find_gaps,
    find_in_force,
    load_consolidation_questionnaire,
    load_pair_questionnaire,
    load_questionnaire,
)

KINDS = (GATE, CONSOLIDATION, PAIRS)
NOUL = {"type": "noul", "instructions": "Is it so?"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PI_CODING_AGENT_DIR", raising=False)
    for name in ("GATE_QUESTIONS_PATH", "GATE_CONSOLIDATE_QUESTIONS_PATH", "GATE_PAIR_QUESTIONS_PATH"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_bundled_file_asks_exactly_what_is_needed(kind: QuestionnaireKind) -> None:
    questions = load_questionnaire(None, kind)
    assert {id_: question.type for id_, question in questions.items()} == kind.needed
    assert find_gaps(questions, kind) == ()
    assert all(question.instructions and set(question.criteria) for question in questions.values())


def test_the_consolidation_and_pair_questions_have_loaders_of_their_own() -> None:
    assert list(load_consolidation_questionnaire(None)) == ["still_relevant"]
    assert list(load_pair_questionnaire(None)) == ["same_fact", "replaces", "adds_detail"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_file_that_cannot_be_read_names_the_setting_to_mend(kind: QuestionnaireKind, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load_questionnaire(tmp_path / "gone.json", kind)
    assert "gone.json" in caught.value.what
    assert kind.setting in caught.value.next_step


def test_a_bad_pair_question_is_named_with_its_file_and_the_mend(tmp_path: Path) -> None:
    path = tmp_path / "pairs.json"
    path.write_text('{"same_fact": {"type": "yesno"}}')
    with pytest.raises(SettingsError) as caught:
        load_pair_questionnaire(path)
    assert str(path) in caught.value.what
    assert '"same_fact"' in caught.value.what
    assert "noul" in caught.value.next_step


def test_a_file_in_force_is_told_with_its_gaps(tmp_path: Path) -> None:
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps({"same_fact": NOUL}))
    found = find_in_force(PAIRS, path)
    assert found.source == path
    assert list(found.questions) == ["same_fact"]
    assert '"replaces"' in " ".join(found.warnings)


def test_the_bundled_questions_stand_in_for_a_bad_file(tmp_path: Path) -> None:
    found = find_in_force(CONSOLIDATION, tmp_path / "gone.json")
    assert found.source == CONSOLIDATION.bundled
    assert list(found.questions) == ["still_relevant"]
    assert "bundled questions are used" in found.warnings[0]


def test_clew_questions_prints_every_question_with_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["questions"]) == 0
    printed = capsys.readouterr().out
    for kind in KINDS:
        assert str(kind.bundled) in printed
        assert all(f"{id_} ({type_})" in printed for id_, type_ in kind.needed.items())


def test_clew_questions_shows_a_configured_file_and_warns_of_a_bad_one(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = home / "mine.json"
    mine.write_text(json.dumps({"same_fact": NOUL}))
    monkeypatch.setenv("GATE_PAIR_QUESTIONS_PATH", str(mine))
    monkeypatch.setenv("GATE_QUESTIONS_PATH", str(home / "gone.json"))
    assert main(["questions", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["pairs"]["source"] == str(mine)
    assert "gone.json" in printed["gate"]["warnings"][0]
    assert printed["consolidation"]["warnings"] == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_what_clew_questions_prints_as_json_can_be_loaded_again(
    kind: QuestionnaireKind, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["questions", "--json"])
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(json.loads(capsys.readouterr().out)[kind.name]))
    assert load_questionnaire(path, kind) == load_questionnaire(None, kind)
