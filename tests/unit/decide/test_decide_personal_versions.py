"""The personal file: what is written is read back, and what is broken, foreign or hostile is ignored with a reason."""

from __future__ import annotations

import json
import multiprocessing
import stat
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clew.core.errors import InvalidInput
from clew.decide.lexical.features import FEATURE_NAMES
from clew.decide.lexical.model import COLUMN, HEADS
from clew.decide.personal.adjustment import Adjustment, HeadAdjustment
from clew.decide.personal.versions import (
    MAX_VERSIONS,
    Version,
    add_version,
    read_adjustment,
    read_versions,
    remove_version,
)

BASE = "b" * 64
WEIGHTS = tuple(round(0.01 * (index % 7 - 3), 6) for index in range(len(FEATURE_NAMES)))


def adjustment(bias: float = -0.5, weights: tuple[float, ...] = ()) -> Adjustment:
    return Adjustment(base_fingerprint=BASE, heads={"save": HeadAdjustment(slope=0.8, bias=bias, weights=weights)})


def version(bias: float = -0.5) -> Version:
    return Version(adjustment=adjustment(bias, WEIGHTS), facts={"stage": "weights", "states": 60})


def put(path: Path, bias: float = -0.5) -> None:
    add_version(read_versions(path, BASE), version(bias), f"judge {bias:.2f}")


def test_an_adjustment_moves_its_heads_and_no_other() -> None:
    logits = np.arange(len(HEADS), dtype=np.float32)
    features = np.linspace(-1, 1, len(FEATURE_NAMES), dtype=np.float32)
    found = adjustment(weights=WEIGHTS).apply(logits, features)
    expected = logits.copy()
    expected[COLUMN["save"]] = 0.8 * logits[COLUMN["save"]] - 0.5 + features @ np.array(WEIGHTS, np.float32)
    assert found.dtype == np.float32
    assert found == pytest.approx(expected, abs=1e-5)
    assert logits[COLUMN["save"]] == COLUMN["save"]


def test_many_states_are_adjusted_as_each_alone() -> None:
    chance = np.random.default_rng(1)
    logits = chance.normal(size=(5, len(HEADS))).astype(np.float32)
    features = chance.normal(size=(5, len(FEATURE_NAMES))).astype(np.float32)
    one = adjustment(weights=WEIGHTS)
    alone = [one.apply(*pair) for pair in zip(logits, features, strict=True)]
    assert one.apply(logits, features) == pytest.approx(np.array(alone), abs=1e-5)


def test_a_fingerprint_names_the_base_and_every_number() -> None:
    other_base = Adjustment(base_fingerprint="c" * 64, heads=adjustment().heads)
    names = {one.fingerprint for one in (adjustment(), adjustment(-0.500001), adjustment(weights=WEIGHTS), other_base)}
    assert len(names) == 4
    assert all(len(name) == 64 for name in names)
    assert adjustment().fingerprint == adjustment().fingerprint


def test_without_a_file_the_judge_is_as_shipped(tmp_path: Path) -> None:
    assert read_adjustment(tmp_path / "p.json", BASE) == (None, None)


def test_what_is_written_is_read_back_to_the_last_digit(tmp_path: Path) -> None:
    put(tmp_path / "deep" / "p.json")
    found, problem = read_adjustment(tmp_path / "deep" / "p.json", BASE)
    assert problem is None
    assert found is not None
    assert found.fingerprint == version().adjustment.fingerprint


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such rights")
def test_only_its_owner_may_read_it_and_no_half_written_file_stays(tmp_path: Path) -> None:
    put(tmp_path / "p.json")
    put(tmp_path / "p.json", 0.1)
    assert {path.name for path in tmp_path.iterdir()} == {"p.json", "p.json.lock"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


def test_undo_goes_back_step_by_step_to_the_shipped_judge(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    put(path, 0.1)
    put(path, 0.2)
    back = remove_version(read_versions(path, BASE))
    assert back is not None
    assert back.adjustment.heads["save"].bias == 0.1
    assert remove_version(read_versions(path, BASE)) is None
    assert read_adjustment(path, BASE) == (None, None)
    with pytest.raises(InvalidInput, match="nothing to take back"):
        remove_version(read_versions(path, BASE))


def test_rows_of_a_version_that_was_taken_back_are_still_known(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    put(path)
    remove_version(read_versions(path, BASE))
    assert read_versions(path, BASE).fingerprints == ("judge -0.50",)


def test_old_versions_are_forgotten_and_their_fingerprints_kept(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    for step in range(MAX_VERSIONS + 3):
        put(path, step / 100)
    file = read_versions(path, BASE)
    assert (len(file.versions), len(file.fingerprints)) == (MAX_VERSIONS, MAX_VERSIONS + 3)
    assert file.present is not None
    assert file.present.adjustment.heads["save"].bias == (MAX_VERSIONS + 2) / 100


def test_the_file_of_another_judge_is_ignored_and_kept_aside(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    put(path)
    before = path.read_bytes()
    found, problem = read_adjustment(path, "e" * 64)
    assert found is None
    assert "learned for judge bbbbbbbbbbbb" in (problem or "")
    theirs = Adjustment(base_fingerprint="e" * 64, heads=adjustment().heads)
    add_version(read_versions(path, "e" * 64), Version(adjustment=theirs, facts={}), "theirs")
    assert read_adjustment(path, "e" * 64)[0] == theirs
    assert (tmp_path / "p.json.bak").read_bytes() == before


def test_what_was_put_aside_before_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    for content in ("first", "second", "third"):
        path.write_text(content)
        put(path)
    kept = [path.with_name(f"p.json{ending}") for ending in (".bak", ".2.bak", ".3.bak")]
    assert [one.read_text() for one in kept] == ["first", "second", "third"]


def test_a_file_that_lies_elsewhere_is_written_there(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    path, real = tmp_path / "p.json", tmp_path / "elsewhere" / "real.json"
    path.symlink_to(real)
    put(path)
    put(path, 0.25)
    assert path.is_symlink()
    assert len(read_versions(real, BASE).versions) == 2


HEAD: dict[str, Any] = {"slope": 1.0, "bias": 0.0, "weights": []}


def file_with(**heads: Any) -> dict[str, Any]:
    return {"v": 1, "base_fingerprint": BASE, "versions": [{"facts": {}, "heads": heads}], "fingerprints": []}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b"1" * 10_000,
        b"null",
        b" " * 4_000_001,
        {"v": 2},
        {"v": True, "base_fingerprint": BASE, "versions": [], "fingerprints": []},
        {"v": 1, "base_fingerprint": 3, "versions": [], "fingerprints": []},
        {"v": 1, "base_fingerprint": BASE, "versions": {}, "fingerprints": []},
        {"v": 1, "base_fingerprint": BASE, "versions": [], "fingerprints": [1]},
        {"v": 1, "base_fingerprint": BASE, "versions": [{}] * (MAX_VERSIONS + 1), "fingerprints": []},
        {"v": 1, "base_fingerprint": BASE, "versions": [None], "fingerprints": []},
        file_with(),
        file_with(has_secret=HEAD),
        file_with(save=[]),
        file_with(save=HEAD | {"slope": -1.0}),
        file_with(save=HEAD | {"slope": "1"}),
        file_with(save=HEAD | {"bias": True}),
        file_with(save=HEAD | {"bias": float("nan")}),
        file_with(save=HEAD | {"bias": 10**400}),
        file_with(save=HEAD | {"weights": [0.0]}),
        file_with(save=HEAD | {"weights": [0.0] * (len(FEATURE_NAMES) - 1) + [float("inf")]}),
        file_with(save=HEAD | {"weights": [0.0] * (len(FEATURE_NAMES) - 1) + [1e9]}),
        file_with(save=HEAD | {"more": 1}),
    ],
    ids=lambda content: str(content)[:40],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_ignored_with_a_reason(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    found, problem = read_adjustment(path, BASE)
    assert found is None
    assert problem is not None
    assert str(path) in problem
    assert "\n" not in problem
    with pytest.raises(InvalidInput, match="nothing to take back"):
        remove_version(read_versions(path, BASE))
    put(path)
    assert read_adjustment(path, BASE)[1] is None


def test_a_folder_in_its_place_is_a_reason_too(tmp_path: Path) -> None:
    (tmp_path / "p.json").mkdir()
    assert "cannot be read" in (read_adjustment(tmp_path / "p.json", BASE)[1] or "")


def test_facts_that_are_no_facts_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    raw = file_with(save=HEAD)
    raw["versions"][0]["facts"] = {"states": 12, "stage": {"a": 1}, "log_loss": 1e308, "text": "what was said"}
    path.write_text(json.dumps(raw).replace("1e+308", "1e999"))
    file = read_versions(path, BASE)
    assert file.present is not None
    assert file.present.facts == {"states": 12}
    add_version(file, version(), "judge")


def test_who_writes_second_on_an_old_view_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    first, second = read_versions(path, BASE), read_versions(path, BASE)
    add_version(first, version(0.1), "first")
    with pytest.raises(InvalidInput, match="changed by somebody else"):
        add_version(second, version(0.2), "second")
    found, _ = read_adjustment(path, BASE)
    assert found is not None
    assert found.heads["save"].bias == 0.1


def add_often(path: Path, first: int, count: int) -> None:
    done = 0
    while done < count:
        try:
            put(path, (first + done) / 100)
        except InvalidInput:
            continue
        done += 1


def test_two_writers_at_once_lose_no_version(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=add_often, args=(path, first, 4)) for first in (0, 50)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0]
    found = sorted(one.adjustment.heads["save"].bias for one in read_versions(path, BASE).versions)
    assert found == [0.0, 0.01, 0.02, 0.03, 0.5, 0.51, 0.52, 0.53]
