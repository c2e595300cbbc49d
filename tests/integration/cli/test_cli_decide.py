"""`clew judge evaluate` and `clew calibrate` as processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clew.decide.calibration.fit import read_fit
from clew.decide.calibration.log import log_row
from clew.decide.evaluation.labelled import read_labelled
from clew.decide.questionnaire import load_questionnaire
from clew.decide.server.listener import DecisionServer
from clew.decide_commands import open_judge

LIMIT_S = 60
USERS = ("from now on use tabs", "fix the test", "never push to main", "the port is 5544", "why is it red?", "thanks!")


def clew(home: Path, *args: str | Path, **more: Any) -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    return subprocess.run(  # noqa: PLW1510 - it stands in the keywords
        [sys.executable, "-m", "clew", *map(str, args)],
        **{"env": environment, "cwd": home, "capture_output": True, "text": True, "stdin": subprocess.DEVNULL,
           "timeout": LIMIT_S, "check": False, **more},
    )  # fmt: skip


def labelled_states(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        is_saved = number % 2 == 0
        yield {
            "id": f"s{number}",
            "topic": f"t{number}",
            "lang": "en",
            "user": f"{USERS[number % len(USERS)]} ({number})",
            "assistant": "Done.",
            "labels": {
                "is_durable": is_saved, "has_secret": False, "is_session_scoped": False, "is_failure": False,
                "importance": 2 * is_saved, "target": "user" if is_saved else "none", "should_save": is_saved,
            },
        }  # fmt: skip


@pytest.fixture
def states(tmp_path: Path) -> Path:
    path = tmp_path / "states.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in labelled_states(60)))
    return path


def write_log(path: Path, states: Path) -> Path:
    judge, questions = open_judge("lexical"), load_questionnaire(None)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for row in read_labelled(states).rows:
            decision = judge.decide(row.judged, questions)
            line = log_row(
                decision=decision,
                questions=questions,
                state=row.judged,  # type: ignore[arg-type]
                outcome="approved",
                reason="durable",
                timestamp_ms=1,
                session_id="s",
                entry_id=row.id,
                scores={},
                thresholds={},
                label={"is_durable": row.yes["is_durable"], "has_secret": False},
                label_source="confirm",
            )
            file.write(line + "\n")
    return path


def test_the_built_in_judge_is_evaluated_as_text_json_and_diagram(tmp_path: Path, states: Path) -> None:
    done = clew(tmp_path, "judge", "evaluate", states, "--plot", "d.svg")
    assert (done.returncode, done.stderr) == (0, "")
    assert "saving rule" in done.stdout
    assert (tmp_path / "d.svg").read_text().startswith("<svg")
    found = json.loads(clew(tmp_path, "judge", "evaluate", states, "--json", "--share", "0.05").stdout)["states"]
    assert (found["rows"], found["true_share"], found["saving"]["memorable"]) == (60, 0.05, 30)
    assert found["questions"][0]["auc"] > 0.5


def test_a_server_gives_the_numbers_of_the_judge_behind_it(tmp_path: Path, states: Path) -> None:
    server = DecisionServer("127.0.0.1", 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        remote = json.loads(clew(tmp_path, "judge", "evaluate", states, "--json", "--url", server.url).stdout)["states"]
    finally:
        server.shutdown()
        server.server_close()
    local = json.loads(clew(tmp_path, "judge", "evaluate", states, "--json").stdout)["states"]
    assert (remote["address"], local["address"]) == (server.url, None)
    assert remote["saving"] == local["saving"]
    assert [one["auc"] for one in remote["questions"]] == pytest.approx([one["auc"] for one in local["questions"]])


def test_a_server_that_is_down_is_one_line(tmp_path: Path, states: Path) -> None:
    done = clew(tmp_path, "judge", "evaluate", states, "--url", "http://127.0.0.1:9")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("clew: ")
    assert "Traceback" not in done.stderr


def test_progress_in_a_log_comes_in_tenths(tmp_path: Path, states: Path) -> None:
    lines = clew(tmp_path, "judge", "evaluate", states, "--progress").stderr.splitlines()
    assert lines[0] == "judged 0 of 60"
    assert lines[-1] == "judged 60 of 60"
    assert len(lines) == 11


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_ends_an_evaluation_cleanly(tmp_path: Path, states: Path) -> None:
    states.write_text("".join(json.dumps(row) + "\n" for row in labelled_states(20_000)))
    command = [sys.executable, "-m", "clew", "judge", "evaluate", str(states), "--progress"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stderr
        assert process.stderr.readline() == "judged 0 of 20000\n"
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, out) == (130, "")
    assert errors.endswith("clew: interrupted\n")
    assert "Traceback" not in errors


def test_a_log_is_fitted_reported_and_exported(tmp_path: Path, states: Path) -> None:
    log = write_log(tmp_path / "calibration.jsonl", states)
    fitted = clew(tmp_path, "calibrate", "fit", log, "--output", "fit.json")
    assert fitted.returncode == 0, fitted.stderr
    fit = read_fit(tmp_path / "fit.json")
    assert set(fit.temperatures) == {"boolean"}
    report = clew(tmp_path, "calibrate", "report", log, "--fit", "fit.json", "--plot", "d.svg", "--json")
    found = json.loads(report.stdout)
    assert (found["fingerprint"], found["rows"], found["temperatures_from"]) == (fit.fingerprint, 120, "fit")
    assert [one["name"] for one in found["questions"]] == ["has_secret", "is_durable"]
    assert "is_durable" in clew(tmp_path, "calibrate", "report", log, "--precision", ".8").stdout
    exported = clew(tmp_path, "calibrate", "export", log, "--output", "rows.jsonl")
    assert fit.fingerprint in exported.stdout
    refit = clew(tmp_path, "calibrate", "fit", "rows.jsonl", "--fingerprint", fit.fingerprint, "--output", "again.json")
    assert refit.returncode == 0, refit.stderr
    assert read_fit(tmp_path / "again.json").fingerprint == fit.fingerprint


def test_without_a_log_the_gates_own_is_read(tmp_path: Path, states: Path) -> None:
    missing = clew(tmp_path, "calibrate", "report")
    assert missing.returncode == 1
    assert "There is no calibration log yet" in missing.stderr
    write_log(tmp_path / ".pi" / "agent" / "memory-gate" / "calibration.jsonl", states)
    assert "120 labelled rows of 60 states" in clew(tmp_path, "calibrate", "report").stdout


def test_no_output_is_overwritten_and_nothing_is_computed_for_it(tmp_path: Path, states: Path) -> None:
    (tmp_path / "there").write_text("mine")
    for command in (
        ("judge", "evaluate", states, "--plot", "there"),
        ("calibrate", "fit", "log", "--output", "there"),
        ("calibrate", "report", "log", "--plot", "there"),
        ("calibrate", "export", "log", "--output", "there"),
    ):
        done = clew(tmp_path, *command)
        assert (done.returncode, done.stdout) == (1, "")
        assert "exists already" in done.stderr
    assert (tmp_path / "there").read_text() == "mine"


def test_a_place_that_takes_no_file_is_told_before_the_work(tmp_path: Path, states: Path) -> None:
    done = clew(tmp_path, "judge", "evaluate", states, "--plot", "no/folder.svg", "--progress")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no such folder" in done.stderr
    assert "judged" not in done.stderr


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder in which nobody can make a file")
def test_figures_are_not_lost_with_the_diagram(tmp_path: Path, states: Path) -> None:
    done = clew(tmp_path, "judge", "evaluate", states, "--plot", "/proc/self/new.svg")
    assert (done.returncode, "is_durable" in done.stdout, "cannot be written" in done.stderr) == (1, True, True)


@pytest.mark.parametrize(
    "command", [("questions",), ("calibrate", "report"), ("judge", "learn", "--status"), ("judge", "evaluate", "x")]
)
def test_settings_that_cannot_be_read_are_said(tmp_path: Path, states: Path, command: tuple[str, ...]) -> None:
    agent = tmp_path / ".pi" / "agent"
    write_log(agent / "memory-gate" / "calibration.jsonl", states)
    (agent / "memory-gate-config.json").write_text('{"memoryDir": ')
    (tmp_path / "x").write_bytes(states.read_bytes())
    done = clew(tmp_path, *command)
    assert done.returncode == 0
    assert "memory-gate-config.json: cannot be read" in done.stderr


@pytest.mark.parametrize("wrong", ["", "  "])
def test_a_fingerprint_that_names_nothing_is_wrong_usage(tmp_path: Path, wrong: str) -> None:
    (tmp_path / "rows").write_text('{"type": "boolean", "logits": [0, 1], "label_index": 1}\n' * 20)
    done = clew(tmp_path, "calibrate", "fit", "rows", "--output", "o", "--fingerprint", wrong)
    assert (done.returncode, "it is empty" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("judge", "evaluate", "bad.jsonl"), "bad.jsonl, line 1"),
        (("judge", "evaluate", "missing.jsonl"), "cannot be read"),
        (("judge", "evaluate", "empty.jsonl"), "holds no rows"),
        (("judge", "evaluate", "states.jsonl", "--url", "ftp://127.0.0.1"), "http://host:port"),
        (("calibrate", "report", "bad.jsonl"), "bad.jsonl, line 1"),
        (("calibrate", "report", "empty.jsonl"), "no labelled rows"),
        (("calibrate", "fit", "empty.jsonl", "--output", "o"), "no labelled rows"),
        (("calibrate", "export", "empty.jsonl", "--output", "o"), "no labelled rows"),
        (("calibrate", "fit", "rizzo.jsonl", "--output", "o"), "--fingerprint"),
        (
            ("calibrate", "fit", "rizzo.jsonl", "--output", "o", "--fingerprint", "f" * 64),
            "labelled rows of type boolean",
        ),
        (("calibrate", "fit", "rizzo.jsonl", "--output", "o", "--fingerprint", "f"), "is not a whole fingerprint"),
        (("calibrate", "report", "rizzo.jsonl", "--fit", "bad.jsonl"), "bad.jsonl"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    tmp_path: Path, states: Path, command: tuple[str, ...], said: str
) -> None:
    assert states.exists()
    (tmp_path / "bad.jsonl").write_bytes(b'{"user": 1}\n\x00\xff\n')
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "rizzo.jsonl").write_text('{"type": "boolean", "logits": [0, 1], "label_index": 1}\n' * 2)
    done = clew(tmp_path, *command)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "o").exists()


def test_a_server_has_no_tier(tmp_path: Path, states: Path) -> None:
    done = clew(tmp_path, "judge", "evaluate", states, "--tier", "lexical", "--url", "http://127.0.0.1:9")
    assert (done.returncode, "not allowed with" in done.stderr) == (2, True)


@pytest.mark.parametrize("wrong", ["0", "1", "nan", "x", "-1"])
def test_a_share_outside_zero_to_one_is_wrong_usage(tmp_path: Path, states: Path, wrong: str) -> None:
    assert clew(tmp_path, "judge", "evaluate", states, f"--share={wrong}").returncode == 2
    assert clew(tmp_path, "calibrate", "report", states, f"--precision={wrong}").returncode == 2


def test_only_the_test_rows_are_measured_when_asked(tmp_path: Path) -> None:
    rows = [{**row, "split": "test" if number < 2 else "train"} for number, row in enumerate(labelled_states(5))]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = ("judge", "evaluate", "rows.jsonl", "--tier", "lexical", "--json")
    everything, held = clew(tmp_path, *command), clew(tmp_path, *command, "--split", "test")
    assert (json.loads(everything.stdout)["states"]["rows"], json.loads(held.stdout)["states"]["rows"]) == (5, 2)
    assert "--split test" in everything.stderr


def test_precision_at_the_true_share_is_unknown_without_memorable_rows(tmp_path: Path) -> None:
    idle = [row for row in labelled_states(6) if not row["labels"]["should_save"]]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in idle), encoding="utf-8")
    done = clew(tmp_path, "judge", "evaluate", "rows.jsonl", "--tier", "lexical", "--json")
    assert json.loads(done.stdout)["states"]["true_precision"] is None
