"""The house's own rules: sizes, documentation, names, light start-up, and files that must stay in step."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "clew").rglob("*.py"))
MAX_FILE_LINES = 450
MAX_FUNCTION_LINES = 60


def functions(tree: ast.AST) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def test_no_file_is_longer_than_a_reader_can_hold() -> None:
    extension = (ROOT / "src/clew/hosts/pi/extension").glob("*.ts")
    hand_written = [path for path in [*SOURCES, *extension] if not path.name.endswith(".gen.ts")]
    sizes = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in hand_written}
    assert {name: size for name, size in sizes.items() if size > MAX_FILE_LINES} == {}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_functions_are_short_and_public_names_documented(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    assert ast.get_docstring(tree), "a module says what it is for"
    long = {
        f.name: f.end_lineno - f.lineno
        for f in functions(tree)
        if f.end_lineno and f.end_lineno - f.lineno > MAX_FUNCTION_LINES
    }
    assert long == {}
    top = [
        node
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")
    ]
    assert [node.name for node in top if not ast.get_docstring(node)] == []


def test_names_avoid_words_that_say_nothing() -> None:
    bad = re.compile(r"manager|helper|util", re.IGNORECASE)
    named = [str(path.relative_to(ROOT)) for path in SOURCES if bad.search(path.name)]
    for path in SOURCES:
        tree = ast.parse(path.read_text("utf-8"))
        named += [
            node.name
            for node in ast.walk(tree)
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and bad.search(node.name)
        ]
    assert named == []


@pytest.mark.parametrize("module", ["clew.cli", "clew.hosts.pi.bridge"])
def test_starting_up_loads_nothing_heavy(module: str) -> None:
    heavy = ["numpy", "onnxruntime", "apsw", "rich", "http.client", "urllib.request", "sqlite3", "asyncio"]
    code = f"import sys, {module}; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_public_names_are_complete_sorted_and_importable() -> None:
    import clew

    assert clew.__all__ == sorted(clew.__all__, key=lambda name: (not name.isupper(), name))
    for name in clew.__all__:
        assert getattr(clew, name) is not None


def test_every_runtime_dependency_is_pinned_and_explained() -> None:
    wanted = re.findall(r'^    "([a-z]+)>=', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    pinned = (ROOT / "requirements.txt").read_text("utf-8")
    explained = (ROOT / "docs/architecture.md").read_text("utf-8")
    assert wanted
    for name in wanted:
        assert re.search(rf"^{name}==", pinned, re.MULTILINE)
        assert f"`{name}`" in explained


def test_no_file_names_a_registry_or_a_download_address() -> None:
    tracked = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=False
    ).stdout
    names = [
        name
        for name in tracked.split("\0")
        if name.endswith((".txt", ".json", ".toml", ".cfg", "run", "Makefile", ".npmrc"))
    ]
    bad = re.compile(r'"resolved":\s*"https?:|--(extra-)?index-url|^\s*registry\s*=', re.MULTILINE)
    assert [name for name in names if (ROOT / name).exists() and bad.search((ROOT / name).read_text("utf-8"))] == []
