"""Ways to put Clew into Pi, and out of it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from phrases import PROJECT_FACT
from pi_driver import REPOSITORY


def offers_tools(request):
    """Whether the model was offered Clew's tools."""
    return "memory_search" in {tool["function"]["name"] for tool in request.body.get("tools", [])}


def test_install_and_uninstall(bare_pi, model):
    bare_pi.print("before")
    bare_pi.clew("pi", "install")
    assert bare_pi.clew("pi", "status", "--json").returncode == 0
    bare_pi.print("with")
    bare_pi.clew("pi", "uninstall")
    bare_pi.print("after")

    assert [offers_tools(request) for request in model.requests] == [False, True, False]


def test_installing_twice_loads_it_once(pi, model):
    pi.install_clew()
    done = pi.print("hello")

    assert done.stderr == ""
    assert offers_tools(model.requests[0])


def test_the_path_works_for_one_run(bare_pi, model, stored):
    bare_pi.extension = Path(json.loads(bare_pi.clew("pi", "path", "--json").stdout)["path"])
    bare_pi.env["CLEW_PYTHON"] = bare_pi.python
    bare_pi.print(PROJECT_FACT)
    stored.wait_for_judged(1)

    assert offers_tools(model.requests[0])


def test_two_copies_judge_once_and_say_so(pi, stored):
    pi.env["CLEW_PYTHON"] = pi.python
    pi.extension = Path(json.loads(pi.clew("pi", "path", "--json").stdout)["path"])
    done = pi.print(PROJECT_FACT)
    stored.wait_for_judged(1)

    assert done.stdout == "ok\n"
    assert done.stderr.count("loaded twice") == 1
    assert stored.saved_once() == 1


def test_the_repository_is_a_pi_package(bare_pi, model, stored):
    bare_pi.env["CLEW_PYTHON"] = bare_pi.python
    installed = bare_pi.run("install", str(REPOSITORY))
    assert installed.returncode == 0, installed.stderr
    done = bare_pi.print(PROJECT_FACT)
    assert (done.returncode, done.stdout) == (0, "ok\n")
    assert offers_tools(model.requests[0])
    stored.wait_for_judged(1)


def test_a_package_without_its_python_side_says_how_to_get_it(bare_pi, tmp_path):
    clone = tmp_path / "clone"
    shutil.copytree(REPOSITORY / "src", clone / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("package.json", "pyproject.toml"):
        shutil.copy(REPOSITORY / name, clone)
    nowhere = tmp_path / "bin"
    nowhere.mkdir()
    (nowhere / "python3").write_text("#!/bin/sh\nexit 127\n")
    (nowhere / "python3").chmod(0o755)
    bare_pi.env["PATH"] = os.pathsep.join([str(nowhere), bare_pi.env["PATH"]])

    assert bare_pi.run("install", str(clone)).returncode == 0
    done = bare_pi.print("hello")

    assert (done.returncode, done.stdout) == (0, "ok\n")
    assert "-m venv" in done.stderr
    assert "-m pip install" in done.stderr
    assert str(clone) in done.stderr
