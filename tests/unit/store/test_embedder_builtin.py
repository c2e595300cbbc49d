"""The embedder that ships inside Clew."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from clew.core.errors import EmbedderUnavailable
from clew.models.manifest import FOLDER, add_model, load_manifest
from clew.store.embedder import BuiltinEmbedder

#: Every 48th number of the vectors that databases out there hold.
STORED_VECTORS = {
    "The staging database runs on port 5544.": [
        0.031305, 0.000953, 0.044538, 0.008815, 0.100006, 0.040449, 0.021192, 0.018255,
    ],
    "I prefer tabs over spaces.": [
        -0.038313, 0.089686, 0.020187, -0.048185, -0.040626, -0.033822, -0.002, -0.042206,
    ],
    "Ünïcödé façade 我喜欢喝咖啡 👍🏽": [
        0.022288, -0.000845, -0.047647, 0.026483, -0.053158, 0.078814, -0.014186, -0.043725,
    ],
    "": [-0.143059, 0.062099, 0.037517, 0.007286, -0.082472, 0.066955, -0.012109, -0.12059],
    "long text about the parser " * 100: [
        0.0163, -0.047675, -0.085268, -0.00566, 0.025449, 0.053954, 0.096886, -0.036288,
    ],
}  # fmt: skip
NEEDED = ("embedder.onnx", "words.bin", "vocabulary.txt.xz", "characters.json")


@pytest.fixture(scope="module")
def embedder() -> BuiltinEmbedder:
    return BuiltinEmbedder()


@pytest.fixture
def copied_model(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "models"))


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)


def test_like_sentences_are_nearer_than_unlike_ones(embedder: BuiltinEmbedder) -> None:
    happy = embedder.embed("That is a happy person")
    assert happy @ embedder.embed("That is a very happy person") > 0.9
    assert happy @ embedder.embed("Today is a sunny day") < 0.4


def test_stored_vectors_stay_comparable_under_the_signature_they_carry(embedder: BuiltinEmbedder) -> None:
    assert embedder.signature == "all-MiniLM-L6-v2/int8/2d3757f950bb"
    for text, numbers in STORED_VECTORS.items():
        # Releases of onnxruntime round a little differently; the same weights quantised otherwise differ by 0.01 and more.
        assert embedder.embed(text)[::48] == pytest.approx(numbers, abs=5e-3)


def test_a_vector_has_unit_length_and_the_promised_width(embedder: BuiltinEmbedder) -> None:
    for text in ("hello", "", "\x00", "ü" * 5000, "long " * 4000):
        vector = embedder.embed(text)
        assert vector.shape == (embedder.width,)
        assert vector.dtype == np.float32
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_the_same_text_gives_the_same_vector_from_any_thread(embedder: BuiltinEmbedder) -> None:
    texts = [f"memory number {number} about the parser" for number in range(12)]
    alone = [embedder.embed(text) for text in texts]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(embedder.embed, texts * 3))
    assert all(np.array_equal(one, alone[place % 12]) for place, one in enumerate(together))


def test_the_vector_of_a_long_text_stands_for_its_head(embedder: BuiltinEmbedder) -> None:
    head = "the parser reads tokens " * 100
    assert np.array_equal(embedder.embed(head + "and one thing more"), embedder.embed(head + "something else"))


def test_it_is_ready_after_warming_up_and_not_before() -> None:
    embedder = BuiltinEmbedder()
    assert not embedder.ready(timeout_s=5)
    embedder.warm_up()
    embedder.warm_up()
    assert embedder.ready(timeout_s=60)
    assert not embedder.problem


def test_embedding_without_warming_up_loads_first() -> None:
    embedder = BuiltinEmbedder()
    embedder.embed("hello")
    assert embedder.ready()


@pytest.mark.parametrize("name", [*NEEDED, "manifest.json"])
def test_a_missing_file_is_named_with_a_next_step(copied_model: Path, name: str) -> None:
    (copied_model / name).unlink()
    embedder = BuiltinEmbedder(copied_model)
    with pytest.raises(EmbedderUnavailable, match="Reinstall Clew to restore vector search; full-text search works"):
        embedder.embed("hello")
    assert name.split(".", maxsplit=1)[0] in embedder.problem
    assert not embedder.ready(timeout_s=5)


@pytest.mark.parametrize("name", NEEDED)
def test_a_damaged_file_is_found_by_its_digest(copied_model: Path, name: str) -> None:
    content = bytearray((copied_model / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copied_model / name).write_bytes(content)
    with pytest.raises(EmbedderUnavailable, match=f"{name} is damaged"):
        BuiltinEmbedder(copied_model).embed("hello")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"signature": 1}', "\x00"])
def test_a_damaged_manifest_does_not_raise_before_a_vector_is_wanted(copied_model: Path, content: str) -> None:
    (copied_model / "manifest.json").write_text(content, encoding="utf-8")
    embedder = BuiltinEmbedder(copied_model)
    assert embedder.signature
    assert embedder.width == 384
    with pytest.raises(EmbedderUnavailable):
        embedder.embed("hello")


def test_a_model_that_is_no_model_raises_the_typed_error(copied_model: Path) -> None:
    (copied_model / "embedder.onnx").write_bytes(b"nonsense")
    add_model(copied_model, "embedder", {"signature": "x", "width": 384, "max_tokens": 256}, NEEDED)
    with pytest.raises(EmbedderUnavailable, match="did not load"):
        BuiltinEmbedder(copied_model).embed("hello")


def test_without_onnxruntime_the_error_says_what_to_install() -> None:
    code = """
import sys
sys.modules["onnxruntime"] = None
from clew.core.errors import EmbedderUnavailable
from clew.store.embedder import BuiltinEmbedder
embedder = BuiltinEmbedder()
embedder.warm_up()
assert not embedder.ready(30)
try:
    embedder.embed("hello")
except EmbedderUnavailable as error:
    print(error)
"""
    assert "pip install onnxruntime" in run_python(code).stdout


def test_importing_and_opening_it_loads_nothing_heavy() -> None:
    code = """
import sys
from clew.store.embedder import BuiltinEmbedder
BuiltinEmbedder().signature
print({"numpy", "onnxruntime", "lzma"} & set(sys.modules))
"""
    assert run_python(code).stdout.strip() == "set()"


def test_loading_the_model_reports_nothing_to_anyone_and_leaves_no_file_in_the_home(tmp_path: Path) -> None:
    # onnxruntime's own reporting keeps a device id and a cache in the home folder; it holds still under CI by itself.
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    code = (
        "import time\nfrom clew.store.embedder import BuiltinEmbedder\nBuiltinEmbedder().embed('hello')\ntime.sleep(1)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [str(path) for path in tmp_path.rglob("*")] == []


def test_a_process_may_end_while_the_model_loads() -> None:
    ended = run_python("from clew.store.embedder import BuiltinEmbedder\nBuiltinEmbedder().warm_up()\n")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_it_does_without_the_files_of_other_models(copied_model: Path) -> None:
    for file in copied_model.iterdir():
        if file.name not in {*NEEDED, "manifest.json"}:
            file.unlink()
    assert set(load_manifest(copied_model).require("embedder").files) == set(NEEDED)
    BuiltinEmbedder(copied_model).embed("hello")
