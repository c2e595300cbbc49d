"""`clew judge train` on a small part of the data: it runs, it is deterministic, and what it writes is a judge."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from clew.core.records import DatedEntry, EntryPair, State
from clew.decide.builtin import BuiltinJudge
from clew.decide.questionnaire import CONSOLIDATION, PAIRS, find_in_force, load_questionnaire

DATA = Path(__file__).parents[3] / "data" / "judge"

pytest.importorskip("sklearn", reason="training needs scikit-learn, a build tool")


def train(files: list[Path], out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "clew.cli", "judge", "train", *map(str, files), "--out", str(out), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def small_data(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("data")
    paths = []
    for name in ("natural", "pairs", "relevance"):
        lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        path = folder / f"{name}.jsonl"
        path.write_text("\n".join(lines[:140]) + "\n", encoding="utf-8")
        paths.append(path)
    return paths


@pytest.fixture(scope="module")
def trained(small_data, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("out") / "judge"
    done = train(small_data, out, "--tier", "lexical")
    assert done.returncode == 0, done.stderr
    return out


def test_the_weights_answer_all_ten_questions(trained) -> None:
    judge = BuiltinJudge(tier="lexical", weights_path=trained / "weights.npz")
    gate = judge.decide(State(user="always use tabs"), load_questionnaire(None))
    pair = judge.decide(EntryPair(a="tabs", b="spaces"), find_in_force(PAIRS, None).questions)
    entry = judge.decide(DatedEntry(entry="tabs"), find_in_force(CONSOLIDATION, None).questions)
    assert (len(gate.answers), len(pair.answers), len(entry.answers)) == (6, 3, 1)
    assert gate.abstained == pair.abstained == entry.abstained == ()


def test_equal_data_gives_equal_weights(trained, small_data, tmp_path) -> None:
    train(small_data, tmp_path / "again", "--tier", "lexical")
    assert (tmp_path / "again" / "weights.npz").read_bytes() == (trained / "weights.npz").read_bytes()


def test_card_and_figures_are_of_the_files_beside_them(trained) -> None:
    metrics = json.loads((trained / "metrics.json").read_text(encoding="utf-8"))
    card = (trained / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert metrics["files_sha256"]["weights.npz"] in card
    assert set(metrics["tiers"]) == {"lexical"}
    assert metrics["tiers"]["lexical"]["states"]["rows"] > 10
    assert (trained / "reliability.svg").read_text(encoding="utf-8").startswith("<svg")


def test_nothing_is_left_of_the_halves_that_were_measured_with(trained) -> None:
    assert sorted(path.name for path in trained.iterdir()) == [
        "MODEL_CARD.md",
        "metrics.json",
        "reliability.svg",
        "weights.npz",
    ]


def test_a_folder_that_holds_something_is_not_written_to(small_data, tmp_path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = train(small_data, tmp_path, "--tier", "lexical")
    assert done.returncode == 1
    assert "is not empty" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_kind_of_rows_that_is_missing_is_named(small_data, tmp_path) -> None:
    done = train(small_data[:1], tmp_path / "out", "--tier", "lexical")
    assert done.returncode == 1
    assert "0 rows of pairs are too few" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_encoder_asks_for_the_weights_that_it_starts_from(small_data, tmp_path) -> None:
    done = train(small_data, tmp_path / "out", "--tier", "encoder")
    assert done.returncode == 1
    assert "--base" in done.stderr
    wrong = train(small_data, tmp_path / "out", "--base", str(small_data[0]))
    assert wrong.returncode == 1
    assert "is not the wheel" in wrong.stderr
    assert "Traceback" not in done.stderr + wrong.stderr
