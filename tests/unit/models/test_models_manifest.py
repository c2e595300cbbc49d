"""The manifest vouches for the files of each model, and for no more than those."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from clew.core.errors import InvalidInput, ModelUnavailable
from clew.models.manifest import FOLDER, add_model, load_manifest

MAX_BYTES = 40_000_000
DESCRIPTION = {"signature": "toy/1", "width": 3, "max_tokens": 8, "licence": "MIT"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two models, `left` and `right`, each with a file of its own and one that they share."""
    for name in ("left.onnx", "right.onnx", "shared.bin"):
        (tmp_path / name).write_bytes(name.encode())
    add_model(tmp_path, "left", DESCRIPTION, ["left.onnx", "shared.bin"])
    add_model(tmp_path, "right", DESCRIPTION, ["right.onnx", "shared.bin"])
    return tmp_path


def test_the_package_ships_exactly_the_files_that_its_models_need_within_the_budget() -> None:
    manifest = load_manifest()
    sizes = {file.name: file.stat().st_size for file in FOLDER.iterdir()}
    needed = {name for model in manifest.models for name in manifest.require(model).files}
    assert set(sizes) == needed | {"manifest.json", "LICENSE", "README.md"}
    assert set(manifest.digests) == needed
    assert sum(sizes.values()) < MAX_BYTES


def test_an_entry_holds_what_the_build_wrote(folder: Path) -> None:
    entry = load_manifest(folder).require("left")
    assert (entry.signature, entry.width, entry.max_tokens) == ("toy/1", 3, 8)
    assert entry.files == ("left.onnx", "shared.bin")
    assert entry.details == {"licence": "MIT"}


def test_a_missing_file_stops_only_the_model_that_needs_it(folder: Path) -> None:
    (folder / "left.onnx").unlink()
    manifest = load_manifest(folder)
    manifest.require("right")
    with pytest.raises(ModelUnavailable, match=r"The left's file left\.onnx cannot be read .*Reinstall Clew"):
        manifest.require("left")


@pytest.mark.parametrize("model", ["left", "right"])
def test_a_damaged_shared_file_stops_every_model_that_needs_it(folder: Path, model: str) -> None:
    (folder / "shared.bin").write_bytes(b"shared.bim")
    with pytest.raises(ModelUnavailable, match=r"shared\.bin is damaged"):
        load_manifest(folder).require(model)


def test_a_file_is_hashed_once_and_again_only_when_it_was_touched(folder: Path) -> None:
    shared = folder / "shared.bin"
    before = shared.stat()
    manifest = load_manifest(folder)
    manifest.require("left")
    shared.write_bytes(b"shared.bim")
    os.utime(shared, ns=(before.st_atime_ns, before.st_mtime_ns))
    load_manifest(folder).require("right")  # same size, same time: the digest of before still stands
    os.utime(shared, ns=(before.st_atime_ns, before.st_mtime_ns + 1_000_000_000))
    with pytest.raises(ModelUnavailable, match="damaged"):
        manifest.require("right")


def test_a_model_that_is_not_listed_is_named(folder: Path) -> None:
    with pytest.raises(ModelUnavailable, match="middle"):
        load_manifest(folder).require("middle")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        "null",
        "\x00",
        '{"models": [], "files": {}}',
        '{"models": {"left": {}}, "files": {}}',
        '{"models": {}, "files": {"left.onnx": {}}}',
        '{"models": {"left": {"signature": "x", "width": "y", "max_tokens": 1, "files": []}}, "files": {}}',
        '{"models": {"left": {"signature": "x", "width": 1, "max_tokens": 1, "files": ["a"]}}, "files": {}}',
    ],
)
def test_an_unusable_manifest_raises_the_typed_error(folder: Path, content: str) -> None:
    (folder / "manifest.json").write_text(content, encoding="utf-8")
    with pytest.raises(ModelUnavailable, match="manifest of the models cannot be read"):
        load_manifest(folder)


def test_a_missing_manifest_raises_the_typed_error(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="FileNotFoundError"):
        load_manifest(tmp_path)


def test_the_order_in_which_models_are_built_leaves_no_trace(folder: Path) -> None:
    written = (folder / "manifest.json").read_bytes()
    (folder / "manifest.json").unlink()
    add_model(folder, "right", DESCRIPTION, ["right.onnx", "shared.bin"])
    add_model(folder, "left", DESCRIPTION, ["left.onnx", "shared.bin"])
    assert (folder / "manifest.json").read_bytes() == written


def test_building_a_model_anew_replaces_its_entry_and_lets_go_of_its_old_files(folder: Path) -> None:
    (folder / "left2.onnx").write_bytes(b"new")
    add_model(folder, "left", {**DESCRIPTION, "signature": "toy/2"}, ["left2.onnx", "shared.bin"])
    manifest = load_manifest(folder)
    assert manifest.require("left").signature == "toy/2"
    assert set(manifest.digests) == {"left2.onnx", "right.onnx", "shared.bin"}
    manifest.require("right")


def test_a_build_may_not_change_a_file_under_another_model(folder: Path) -> None:
    written = (folder / "manifest.json").read_bytes()
    (folder / "shared.bin").write_bytes(b"another table")
    with pytest.raises(InvalidInput, match=r"shared\.bin has changed"):
        add_model(folder, "left", DESCRIPTION, ["left.onnx", "shared.bin"])
    assert (folder / "manifest.json").read_bytes() == written


@pytest.mark.parametrize("lacking", ["signature", "width", "max_tokens"])
def test_an_entry_without_a_needed_field_is_not_written(folder: Path, lacking: str) -> None:
    written = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    description = {name: value for name, value in DESCRIPTION.items() if name != lacking}
    with pytest.raises(InvalidInput, match=lacking):
        add_model(folder, "left", description, ["left.onnx"])
    assert json.loads((folder / "manifest.json").read_text(encoding="utf-8")) == written
