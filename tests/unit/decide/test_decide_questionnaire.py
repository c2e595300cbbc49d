"""Questionnaire files: three shapes are read, everything else is refused with the place and the mend."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clew.core.errors import SettingsError
from clew.decide.questionnaire import GATE_QUESTIONS, find_gaps, load_questionnaire

NOUL = {"type": "noul", "instructions": "Is it so?"}
CHOICE = {"type": "choice", "instructions": "Which?", "criteria": {"a": "first", "b": None}}
SCORE = {"type": "score", "instructions": "How much?", "criteria": ["none", "some", "all"]}


def write(tmp_path: Path, content: object) -> Path:
    path = tmp_path / "my-questions.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def test_the_bundled_questionnaire_asks_everything_the_gate_needs() -> None:
    questions = load_questionnaire(None)
    assert {id_: question.type for id_, question in questions.items()} == GATE_QUESTIONS
    assert find_gaps(questions) == ()
    assert tuple(questions["importance"].criteria) == ("0", "1", "2", "3", "4")
    assert set(questions["target"].criteria) == {"none", "memory", "user", "project", "failure"}


@pytest.mark.parametrize(
    "content",
    [
        {"q": NOUL, "c": CHOICE, "s": SCORE},
        {"version": 1, "questions": {"q": NOUL, "c": CHOICE, "s": SCORE}},
        {"questions": [{"id": "q", **NOUL}, {"id": "c", **CHOICE}, {"id": "s", **SCORE}]},
        [{"id": "q", **NOUL}, {"id": "c", **CHOICE}, {"id": "s", **SCORE}],
    ],
    ids=["bare map", "wrapped map", "wrapped list", "list"],
)
def test_all_shapes_are_read_in_order(tmp_path, content) -> None:
    questions = load_questionnaire(write(tmp_path, content))
    assert list(questions) == ["q", "c", "s"]
    assert questions["c"].criteria == {"a": "first", "b": None}
    assert questions["s"].criteria == {"0": "none", "1": "some", "2": "all"}


def test_a_question_may_be_called_questions(tmp_path) -> None:
    assert list(load_questionnaire(write(tmp_path, {"questions": NOUL, "other": NOUL}))) == ["questions", "other"]


def test_a_file_without_an_end_is_refused() -> None:
    with pytest.raises(SettingsError, match="larger than 1 MB"):
        load_questionnaire(Path("/dev/zero"))


def test_a_text_that_is_too_long_is_not_said_to_be_none(tmp_path) -> None:
    with pytest.raises(SettingsError, match="instructions is too long"):
        load_questionnaire(write(tmp_path, {"q": {"type": "noul", "instructions": "x" * 8_001}}))


def test_a_byte_order_mark_is_tolerated(tmp_path) -> None:
    assert load_questionnaire(write(tmp_path, b"\xef\xbb\xbf" + json.dumps({"q": NOUL}).encode()))


@pytest.mark.parametrize(
    ("content", "place", "mend"),
    [
        (b"{", "not valid JSON", "Mend it"),
        (b"\xff\xfe", "not valid JSON", "Mend it"),
        (b"[" * 100_000, "not valid JSON", "Mend it"),
        (b'{"q": {"type": "noul", "instructions": "a"}, "q": 1}', '"q" stands twice', "Mend it"),
        (b" " * 1_100_000, "1 MB", "questionsPath"),
        (3, "neither an object nor a list", "Write"),
        ({}, "0 questions", "Write 1 to 64"),
        ({f"q{n}": NOUL for n in range(65)}, "65 questions", "Write 1 to 64"),
        ([NOUL], "number 1", "id"),
        ([{"id": "q", **NOUL}, {"id": "q", **NOUL}], '"q"', "Rename"),
        ({" ": NOUL}, "id is blank", "Use 1 to"),
        ({"q" * 129: NOUL}, "too long", "Use 1 to"),
        ({"q": 1}, '"q"', "Write"),
        ({"q": {"type": "boolean"}}, '"boolean"', '"noul", "choice" or "score"'),
        ({"q": {"type": "noul"}}, "asks nothing", "instructions"),
        ({"q": {"type": "noul", "instructions": 4}}, "instructions is not a text", "string"),
        ({"q": {"type": "noul", "instructions": "x" * 8001}}, "instructions", "8000"),
        ({"q": {"type": "noul", "criteria": {"maybe": "x"}}}, "two outcomes", "true"),
        ({"q": {"type": "choice", "criteria": {"a": "x"}}}, "1 options", "2 to 255"),
        ({"q": {"type": "choice", "criteria": {str(n): None for n in range(256)}}}, "256 options", "2 to 255"),
        ({"q": {"type": "choice", "criteria": {"a": None, "": None}}}, "no name", "Name"),
        ({"q": {"type": "choice", "criteria": ["a", "b"]}}, "object", "Write"),
        ({"q": {"type": "choice", "criteria": {"a": 1, "b": None}}}, "criteria.a", "string"),
        ({"q": {"type": "score", "criteria": {"0": "a", "1": "b"}}}, "list of levels", "Write"),
        ({"q": {"type": "score", "criteria": ["a"]}}, "1 options", "2 to 10"),
        ({"q": {"type": "score", "criteria": ["a"] * 11}}, "11 options", "2 to 10"),
        ({"q": {"type": "score", "criteria": ["a", None]}}, "each level", "Describe"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_file_place_and_mend(tmp_path, content, place, mend) -> None:
    path = write(tmp_path, content)
    with pytest.raises(SettingsError) as caught:
        load_questionnaire(path)
    assert str(path) in caught.value.what
    assert place in caught.value.what
    assert mend in caught.value.next_step


def test_a_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.json"):
        load_questionnaire(tmp_path / "nowhere.json")


def test_a_folder_is_no_questionnaire(tmp_path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        load_questionnaire(tmp_path)


def test_gaps_name_what_the_gate_will_do_without(tmp_path) -> None:
    target = {"type": "choice", "criteria": {"user": None, "project": None}}
    questions = load_questionnaire(write(tmp_path, {"is_durable": SCORE, "target": target}))
    gaps = " ".join(find_gaps(questions))
    assert '"has_secret"' in gaps
    assert '"is_durable" is a score and should be a noul' in gaps
    assert '"none"' in gaps
