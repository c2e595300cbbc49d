"""Networks and tokenizer open from wherever a package may lie, or fail with one typed error."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from clew.core.errors import ModelUnavailable
from clew.models.manifest import FOLDER
from clew.models.runtime import open_session, open_tokenizer


def test_a_network_runs_on_one_thread_so_that_the_agent_keeps_its_cores() -> None:
    options = open_session(FOLDER / "embedder.onnx").get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)


def test_a_network_finds_its_table_in_a_folder_of_any_name(tmp_path: Path) -> None:
    folder = shutil.copytree(FOLDER, tmp_path / "mémoire 我 of mine")
    assert open_session(folder / "embedder.onnx").get_inputs()


@pytest.mark.skipif(sys.platform == "win32", reason="making links needs a privilege there")
def test_a_network_finds_its_table_when_each_file_is_a_link_into_an_installers_cache(tmp_path: Path) -> None:
    cache, package = tmp_path / "cache", tmp_path / "package"
    package.mkdir()
    cache.mkdir()
    for number, name in enumerate(("embedder.onnx", "words.bin")):
        shutil.copy(FOLDER / name, cache / str(number))
        (package / name).symlink_to(cache / str(number))
    assert open_session(package / "embedder.onnx").get_inputs()


def test_a_network_without_its_table_raises_the_typed_error(tmp_path: Path) -> None:
    shutil.copy(FOLDER / "embedder.onnx", tmp_path)
    with pytest.raises(ModelUnavailable, match="embedder did not load"):
        open_session(tmp_path / "embedder.onnx")


@pytest.mark.parametrize("content", [b"", b"nonsense", None])
def test_a_file_that_is_no_network_raises_the_typed_error(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "judge.onnx").write_bytes(content)
    with pytest.raises(ModelUnavailable, match=r"judge did not load .*Reinstall Clew"):
        open_session(tmp_path / "judge.onnx")


def test_without_onnxruntime_the_error_says_what_to_install() -> None:
    code = """
import sys
sys.modules["onnxruntime"] = None
from clew.core.errors import ModelUnavailable
from clew.models.manifest import FOLDER
from clew.models.runtime import open_session
try:
    open_session(FOLDER / "embedder.onnx")
except ModelUnavailable as error:
    print(error.next_step)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("Install it (pip install onnxruntime).", "")


def test_the_tokenizer_cuts_at_the_window_it_is_opened_with() -> None:
    assert open_tokenizer(FOLDER, max_tokens=256).encode("hello world") == [101, 7592, 2088, 102]
    assert open_tokenizer(FOLDER, max_tokens=3).encode("hello world") == [101, 7592, 102]


def test_importing_the_room_loads_nothing_heavy() -> None:
    code = """
import sys
import clew.models.manifest, clew.models.runtime
clew.models.manifest.load_manifest()
print({"numpy", "onnxruntime", "lzma"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "set()"
