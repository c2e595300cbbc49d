"""What a person gets with `pip install`: everything that is needed to run, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ALLOWED = re.compile(
    r"clew/(?:[\w/]+/)?\w+\.py"
    r"|clew/py\.typed"
    r"|clew/decide/(?:gate|consolidate|consolidate-pair)-questions\.json"
    r"|clew/decide/(?:MODEL_CARD\.md|lexical/(?:lexicons\.json|weights\.npz))"
    r"|clew/decide/server/wordings\.json"
    r"|clew/decide/server/pages/(?:docs\.html|docs\.js|playground\.html|playground\.js|style\.css)"
    r"|clew/models/files/(?:(?:embedder|judge)\.onnx|words\.bin|vocabulary\.txt\.xz|characters\.json|manifest\.json)"
    r"|clew/models/files/(?:LICENSE|README\.md)"
    r"|clew/hosts/pi/extension/[\w.]+\.ts"
    r"|clew-[\w.]+\.dist-info/.+"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=100)
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_only_files_of_known_kinds(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert [name for name in archive.namelist() if not ALLOWED.fullmatch(name)] == []


def test_the_wheel_works_from_an_unpacked_copy_alone(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path / "site")!r})
import clew
assert clew.__file__.startswith({str(tmp_path)!r}), clew.__file__
from clew.decide.builtin import BuiltinJudge
from clew.decide.questionnaire import load_questionnaire
from clew.core.records import State
from clew.decide.server.matching import load_heads
from clew.decide.server.routes import ROUTES
from clew.hosts.pi.install import SOURCE
assert len(load_heads()) == 10
assert all(route.respond(None, b"").data for route in ROUTES if route.gives.startswith("text/"))
from clew.store.embedder import BuiltinEmbedder
BuiltinJudge().decide(State(user="I prefer tabs."), load_questionnaire(None))
assert (SOURCE / "index.ts").exists()
BuiltinEmbedder().embed("hello")
with clew.Memory.open({str(tmp_path / "memories.db")!r}) as memory:
    memory.add("The staging database runs on port 5544")
    print(memory.search("port of the staging database")[0].text)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=100, cwd=tmp_path
    )
    assert (done.stdout.strip(), done.stderr) == ("The staging database runs on port 5544", "")
