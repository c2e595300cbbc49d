"""`clew judge learn` as a process: learn, look, take back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clew.core.decisions import Decision
from clew.core.records import State
from clew.decide.builtin import BuiltinJudge
from clew.decide.calibration.log import log_row
from clew.decide.personal.scoring import read_base_fingerprint
from clew.decide.personal.versions import read_adjustment
from clew.decide.questionnaire import load_questionnaire

LIMIT_S = 60
GATE = Path(".pi/agent/memory-gate")
WANTED = ("we keep the {} in its own package, that was decided for good", "I prefer short names in the {}")
UNWANTED = ("from now on always run the {} check before you commit", "can you fix the {} please, it is red again")


def clew(home: Path, *args: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "clew", "judge", "learn", *map(str, args)],
        env={"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
        cwd=home, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LIMIT_S, check=False,
    )  # fmt: skip


def write_log(home: Path, count: int, fingerprint: str | None = None) -> Path:
    """A person who wants facts and never a rule."""
    questions = load_questionnaire(None)
    decision = Decision(
        answers={},
        model="m",
        logits={"is_durable": (0.0, 1.0)},
        logits_source="native",
        fingerprint=fingerprint or read_base_fingerprint(),
    )
    lines = []
    for number in range(count):
        is_wanted = number % 4 < 2
        text = (WANTED if is_wanted else UNWANTED)[number % 2].format(f"module{number}")
        lines.append(
            log_row(
                decision=decision, questions=questions, state=State(user=text), reason="", timestamp_ms=number,
                outcome="approved" if is_wanted else "discarded", session_id="s", entry_id=str(number), scores={},
                thresholds={}, label={"target": "project" if is_wanted else "none"}, label_source="confirm",
            )
        )  # fmt: skip
    path = home / GATE / "calibration.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines))
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_log(tmp_path, 160)
    return tmp_path


def loaded(home: Path) -> tuple[Any, str | None]:
    return read_adjustment(home / GATE / "judge-personal.json", read_base_fingerprint())


def test_learn_look_and_take_back(home: Path) -> None:
    learned = clew(home)
    assert (learned.returncode, learned.stderr) == (0, "")
    assert "Learned: save" in learned.stdout
    adjustment, problem = loaded(home)
    assert problem is None
    assert tuple(adjustment.heads) == ("save",)
    status = clew(home, "--status").stdout
    assert adjustment.fingerprint[:12] in status
    assert "Before: the judge as shipped" in status
    assert clew(home, "--undo").stdout == "In force now: the judge as shipped\n"
    assert loaded(home) == (None, None)
    twice = clew(home, "--undo")
    assert (twice.returncode, twice.stdout) == (1, "")
    assert "nothing to take back" in twice.stderr


def test_a_dry_run_measures_and_writes_nothing(home: Path) -> None:
    before = sorted(path.name for path in (home / GATE).iterdir())
    found = json.loads(clew(home, "--dry-run", "--json").stdout)
    assert {one["head"]: one["accepted"] for one in found["heads"] if one["accepted"]}.keys() == {"save"}
    assert found["is_written"] is False
    assert sorted(path.name for path in (home / GATE).iterdir()) == before


def test_the_file_holds_no_word_of_what_was_said(home: Path) -> None:
    clew(home)
    content = (home / GATE / "judge-personal.json").read_text()
    assert "module" not in content
    assert "package" not in content


def test_rows_that_the_personal_judge_decided_are_learned_from(home: Path) -> None:
    clew(home)
    judge = BuiltinJudge(adjustment=loaded(home)[0])
    assert judge.fingerprint != judge.base_fingerprint
    write_log(home, 30, judge.fingerprint)
    assert json.loads(clew(home, "--status", "--json").stdout)["answers"]["save"] == {"no": 14, "yes": 16}
    clew(home, "--undo")
    assert json.loads(clew(home, "--status", "--json").stdout)["answers"]["save"] == {"no": 14, "yes": 16}


def test_too_few_answers_say_how_many_are_missing(tmp_path: Path) -> None:
    write_log(tmp_path, 12)
    found = clew(tmp_path)
    assert found.returncode == 0
    assert "20 are needed" in found.stdout
    assert "Nothing was learned" in found.stdout
    assert loaded(tmp_path) == (None, None)


def test_without_a_log_there_is_a_status_and_nothing_to_learn(tmp_path: Path) -> None:
    assert "In force: the judge as shipped" in clew(tmp_path, "--status").stdout
    learned = clew(tmp_path)
    assert learned.returncode == 1
    assert learned.stderr.startswith("clew: There is no calibration log yet")


def test_a_broken_file_is_named_and_kept(home: Path) -> None:
    (home / GATE / "judge-personal.json").write_text("{")
    found = clew(home)
    assert found.returncode == 0
    assert "is ignored" in found.stderr
    assert loaded(home)[0] is not None
    assert (home / GATE / "judge-personal.json.bak").read_text() == "{"


def test_a_broken_line_is_named_in_one_line(home: Path) -> None:
    path = home / GATE / "calibration.jsonl"
    path.write_text("[]\n" + path.read_text())
    found = clew(home)
    assert (found.returncode, found.stdout) == (1, "")
    assert "line 1" in found.stderr
    assert found.stderr.count("\n") == 1
