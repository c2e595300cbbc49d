"""The training script on a tiny set: it runs, it is deterministic, and what it writes can be loaded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from clew.core.records import State
from clew.decide.builtin import BuiltinJudge
from clew.decide.questionnaire import load_questionnaire

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "scripts" / "train_judge.py"

pytest.importorskip("sklearn", reason="training needs scikit-learn, a build tool")


def train(data: Path, out: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), str(data), "--out", str(out), "--folds", "2"],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def small_data(tmp_path_factory) -> Path:
    lines = (ROOT / "data" / "judge" / "natural.jsonl").read_text(encoding="utf-8").splitlines()
    path = tmp_path_factory.mktemp("data") / "natural.jsonl"
    path.write_text("\n".join(lines[::2]) + "\n", encoding="utf-8")
    return path


@pytest.mark.slow
def test_equal_data_gives_equal_weights_that_can_be_loaded(small_data, tmp_path) -> None:
    first, second = train(small_data, tmp_path / "a"), train(small_data, tmp_path / "b")
    assert first.returncode == 0, first.stderr
    assert (tmp_path / "a" / "weights.npz").read_bytes() == (tmp_path / "b" / "weights.npz").read_bytes()
    assert first.stdout == second.stdout
    metrics = json.loads((tmp_path / "a" / "metrics.json").read_text())
    assert set(metrics["held_out_folds"]["questions"]) == {
        "has_secret",
        "is_session_scoped",
        "is_failure",
        "is_durable",
    }
    assert metrics["test"]["saving"]["rows"] > 0
    assert metrics["weights_sha256"] in (tmp_path / "a" / "MODEL_CARD.md").read_text()
    decision = BuiltinJudge(tmp_path / "a" / "weights.npz").decide(State(user="hello"), load_questionnaire(None))
    assert decision.fingerprint == metrics["weights_sha256"]


def test_too_few_rows_are_refused_with_a_reason(small_data, tmp_path) -> None:
    few = tmp_path / "few.jsonl"
    few.write_text("\n".join(small_data.read_text(encoding="utf-8").splitlines()[:5]), encoding="utf-8")
    result = train(few, tmp_path / "out")
    assert result.returncode == 1
    assert "too few" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_natural_data_are_sound() -> None:
    files = sorted((ROOT / "data" / "judge").glob("natural*.jsonl"))
    rows = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(rows) > 500
    assert len({row["id"] for row in rows}) == len({row["user"] for row in rows}) == len(rows)
    wrong = []
    for row in rows:
        labels = row["labels"]
        is_kept = labels["is_durable"] and not labels["has_secret"] and not labels["is_session_scoped"]
        if labels["should_save"] != (is_kept and labels["target"] != "none"):
            wrong.append(row["id"])
        if labels["target"] not in {"user", "project", "memory", "failure", "none"} or labels[
            "importance"
        ] not in range(5):
            wrong.append(row["id"])
    assert wrong == []
    assert sum(not row["labels"]["should_save"] for row in rows) >= 0.6 * len(rows)


def test_rows_of_one_topic_stand_on_one_side_of_the_split() -> None:
    sides: dict[str, set[str]] = {}
    for file in sorted((ROOT / "data" / "judge").glob("natural*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            sides.setdefault(f"{file.stem}:{row['topic']}", set()).add(row["split"])
    assert {topic: split for topic, split in sides.items() if len(split) > 1} == {}
