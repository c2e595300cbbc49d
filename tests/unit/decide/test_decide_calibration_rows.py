"""Calibration rows: what is written to the log and what is read back, and every file that must be refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clew.core.decisions import Decision, NoulAnswer, Question
from clew.core.errors import InvalidInput
from clew.core.records import State
from clew.decide.calibration import log
from clew.decide.calibration.log import log_row
from clew.decide.calibration.rows import CalibrationRow, encode_rows
from clew.decide.calibration.sources import OTHER_FINGERPRINT, TORN, gather_rows
from clew.decide.evaluation.json_lines import create_file

QUESTIONS = {
    "is_durable": Question(id="is_durable", type="noul", instructions="Lasting?"),
    "target": Question(id="target", type="choice", instructions="Where?", criteria={"user": None, "none": "nothing"}),
    "importance": Question(
        id="importance", type="score", instructions="How much?", criteria={"0": "none", "1": "some", "2": "much"}
    ),
}
LOGITS = {"is_durable": (0.0, 1.5), "target": (2.0, -1.0), "importance": (0.1, 0.2, 0.3)}
RIZZO = {"type": "boolean", "logits": [0, 1.25], "label_index": 1}


def logged(user: str = "we deploy on Fridays", *, source: Any = "native", **more: Any) -> str:
    fields = {"fingerprint": "f" * 64, **{name: more.pop(name) for name in ("fingerprint", "logits") if name in more}}
    decision = Decision(
        answers={"is_durable": NoulAnswer(probability=0.8)},
        model="m",
        logits=fields.get("logits", LOGITS),
        logits_source=source,
        fingerprint=fields["fingerprint"],
    )
    given: dict[str, Any] = {
        "outcome": "approved",
        "reason": "durable .80",
        "timestamp_ms": 1,
        "session_id": "s",
        "entry_id": "e",
        "scores": {"is_durable": 0.8},
        "thresholds": {"durable": 0.5},
        "label": {"is_durable": True},
        "label_source": "confirm",
    }
    return log_row(decision=decision, questions=QUESTIONS, state=State(user=user), **given | more)


def write(path: Path, *lines: str | bytes | dict[str, Any], ended: bool = True) -> Path:
    data = [
        line if isinstance(line, bytes) else (line if isinstance(line, str) else json.dumps(line)).encode()
        for line in lines
    ]
    path.write_bytes(b"\n".join(data) + (b"\n" if ended else b""))
    return path


def test_labels_of_a_logged_state_become_rows(tmp_path: Path) -> None:
    line = logged(label={"is_durable": True, "target": "none", "importance": 2})
    rows = gather_rows([write(tmp_path / "c.jsonl", line)]).rows
    assert [(row.kind, row.logits, row.label_index, row.question) for row in rows] == [
        ("boolean", (0.0, 1.5), 1, "is_durable"),
        ("choice", (2.0, -1.0), 1, "target"),
        ("score", (0.1, 0.2, 0.3), 2, "importance"),
    ]
    assert len({row.state_key for row in rows}) == 1


def test_a_logged_row_is_one_line_and_holds_no_secret() -> None:
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"
    line = logged(f"the token is\n{token}\nkeep it")
    assert "\n" not in line
    assert token not in line
    assert "[redacted:" in json.loads(line)["state"]["user"]


def test_equal_states_have_equal_keys_and_others_do_not(tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", logged("a", timestamp_ms=1), logged("a", timestamp_ms=2), logged("b"))
    keys = [row.state_key for row in gather_rows([path]).rows]
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (logged(label=None), log.NO_LABEL),
        (logged(source="log_prob"), log.LOG_PROBABILITIES),
        (logged(source="none", logits={}), log.NO_LOGITS),
        (logged(fingerprint=None), log.NO_FINGERPRINT),
        (logged(logits={"target": (1.0, 2.0)}), log.NO_LOGITS),
        (logged().replace('"label":{"is_durable":"true"}', '"label":{"is_durable":"maybe"}'), log.UNKNOWN_OPTION),
    ],
)
def test_what_cannot_be_used_is_counted_with_its_reason(tmp_path: Path, line: str, reason: str) -> None:
    gathered = gather_rows([write(tmp_path / "c.jsonl", line, logged("other"))])
    assert len(gathered.rows) == 1
    assert gathered.left_out == {reason: 1}


def test_a_choice_with_more_options_than_the_format_takes_is_counted(tmp_path: Path) -> None:
    row = json.loads(logged())
    options = [str(number) for number in range(27)]
    row["questions"] = {"is_durable": {"type": "choice", "order": options, "logits": [0.0] * 27}}
    row["label"] = {"is_durable": "26"}
    assert gather_rows([write(tmp_path / "c.jsonl", row)]).left_out == {log.TOO_WIDE: 1}


@pytest.mark.parametrize("cut", [1, 40, -1])
def test_a_last_line_torn_by_a_kill_is_counted(tmp_path: Path, cut: int) -> None:
    gathered = gather_rows([write(tmp_path / "c.jsonl", logged(), logged("b")[:cut], ended=False)])
    assert (len(gathered.rows), gathered.left_out) == (1, {TORN: 1})


def test_a_torn_line_that_the_next_one_was_begun_after_is_counted(tmp_path: Path) -> None:
    gathered = gather_rows([write(tmp_path / "c.jsonl", logged()[:200], logged("b"))])
    assert (len(gathered.rows), gathered.left_out) == (1, {TORN: 1})


def test_a_character_torn_in_its_middle_is_counted(tmp_path: Path) -> None:
    whole = logged("città").encode()
    torn = whole[: whole.index("à".encode()) + 1]
    gathered = gather_rows([write(tmp_path / "c.jsonl", logged(), torn, ended=False)])
    assert (len(gathered.rows), gathered.left_out) == (1, {TORN: 1})


def test_rows_of_two_models_need_a_choice_which_lists_both(tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", logged("a"), logged("b", fingerprint="e" * 64), logged("c"))
    with pytest.raises(InvalidInput) as caught:
        gather_rows([path])
    assert "e" * 64 in str(caught.value)
    assert "f" * 64 in str(caught.value)
    chosen = gather_rows([path], fingerprint="ee")
    assert (len(chosen.rows), chosen.fingerprint, chosen.left_out) == (1, "e" * 64, {OTHER_FINGERPRINT: 2})


def test_a_fingerprint_that_the_log_does_not_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no model of the log"):
        gather_rows([write(tmp_path / "c.jsonl", logged())], fingerprint="abc")


def test_rows_of_rizzo_flow_go_round_byte_for_byte(tmp_path: Path) -> None:
    text = encode_rows(gather_rows([write(tmp_path / "r.jsonl", RIZZO, {**RIZZO, "type": "numeric"})]).rows)
    assert [json.loads(line) for line in text.splitlines()] == [RIZZO, {**RIZZO, "type": "numeric"}]
    assert encode_rows(gather_rows([write(tmp_path / "again.jsonl", *text.splitlines())]).rows) == text


def test_a_byte_order_mark_and_blank_lines_do_no_harm(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", b"\xef\xbb\xbf" + json.dumps(RIZZO).encode(), b"", b"  ", RIZZO)
    assert len(gather_rows([path]).rows) == 2


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ({**RIZZO, "note": 1}, "note"),
        ({"type": "boolean", "logits": [0, 1]}, "label_index"),
        ({**RIZZO, "type": "noul"}, '"?noul'),
        ({**RIZZO, "type": ["boolean"]}, "type"),
        ({**RIZZO, "logits": [1]}, "1 logits"),
        ({**RIZZO, "logits": [0] * 27}, "27 logits"),
        ({**RIZZO, "logits": [0, True]}, "finite"),
        ({**RIZZO, "logits": [0, "1"]}, "finite"),
        ({**RIZZO, "logits": [0, 10**400]}, "finite"),
        ({**RIZZO, "logits": "01"}, "not a list"),
        ({**RIZZO, "label_index": 2}, "label_index"),
        ({**RIZZO, "label_index": True}, "label_index"),
        ({**RIZZO, "label_index": 1.0}, "label_index"),
        ('{"type": "boolean", "logits": [0, NaN], "label_index": 1}', "not valid JSON"),
        ('{"type": "boolean", "logits": [0, 1e999], "label_index": 1}', "finite"),
        ("[" * 100_000, "not valid JSON"),
        ("[1]", "not a JSON object"),
        (b"\x00\xff\xfe\x80", "not UTF-8"),
        ({"v": 2}, "version 1"),
        ({"hello": 1}, "version 1"),
        ({**json.loads(logged()), "logits_source": []}, "logits_source"),
        ({**json.loads(logged()), "fingerprint": 7}, "fingerprint"),
        ({**json.loads(logged()), "label": ["x"]}, "label"),
        ({**json.loads(logged()), "label": {"is_durable": 0.5}}, "is_durable"),
        ({**json.loads(logged()), "state_sha256": None}, "state_sha256"),
        ({**json.loads(logged()), "questions": []}, "questions"),
        ({**json.loads(logged()), "questions": {"q": 1}}, '"q"'),
        ({**json.loads(logged()), "questions": {"q": {"type": "choice", "order": [[]], "logits": [1]}}}, "order"),
        (
            {**json.loads(logged()), "questions": {"q": {"type": "choice", "order": ["a", "b"], "logits": [1]}}},
            "logits",
        ),
        (
            {
                **json.loads(logged()),
                "questions": {"q": {"type": "boolean", "order": ["true", "false"], "logits": [1, 2]}},
            },
            '"false" and then "true"',
        ),
    ],
)
def test_a_bad_line_is_refused_with_file_line_and_mend(tmp_path: Path, line: Any, what: str) -> None:
    path = write(tmp_path / "c.jsonl", RIZZO, line)
    with pytest.raises(InvalidInput, match=r"c\.jsonl, line 2") as caught:
        gather_rows([path])
    assert what.removeprefix('"?') in caught.value.what
    assert caught.value.next_step


def test_a_line_of_ten_megabytes_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", RIZZO, b'{"a": "' + b"x" * 10_000_000 + b'"}')
    with pytest.raises(InvalidInput, match="line 2: it is longer than 1 MB"):
        gather_rows([path])


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        gather_rows([tmp_path / name])


@pytest.mark.parametrize(
    "bad",
    [
        {"label": {"target": "moon"}},
        {"label": {"unasked": True}},
        {"logits": {"is_durable": (1.0,)}},
        {"logits": {"is_durable": (0.0, float("nan"))}},
        {"logits": {"unasked": (0.0, 1.0)}},
        {"scores": {"is_durable": float("inf")}},
    ],
)
def test_nothing_is_logged_that_could_not_be_read_back(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        logged(**bad)


def test_lone_surrogates_do_not_stop_the_log(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(logged("\ud800 broken") + "\n", encoding="utf-8")
    assert len(gather_rows([path]).rows) == 1


def test_a_file_is_created_and_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [CalibrationRow(kind="boolean", logits=(0.0, 1.0), label_index=0)]
    create_file(path, encode_rows(rows))
    with pytest.raises(InvalidInput, match="exists already"):
        create_file(path, "other")
    assert path.read_text() == encode_rows(rows)
    with pytest.raises(InvalidInput, match="cannot be written"):
        create_file(tmp_path / "no folder" / "rows.jsonl", "x")
