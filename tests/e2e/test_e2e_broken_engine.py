"""Whatever is wrong with the engine, Pi answers as it would without Clew, and the person is told once."""

from __future__ import annotations

import os
import re
import signal

import pytest
from phrases import CHATTER, PROJECT_FACT, QUESTION_ABOUT_FACT
from processes import engines_of, wait_until
from scripted_model import Reply

#: Two seconds are promised; the rest is room for a machine that is too busy to schedule two processes.
PRINT_EXIT_LIMIT_S = 2.0 + 1.0

#: Stand-ins for a Python that does not have Clew, or has a broken one.
BROKEN_ENGINES = {
    "crashing": "echo 'ModuleNotFoundError: no module named clew' >&2; exit 1",
    "chattering": "echo 'Welcome to Python'; echo '{\"jsonrpc\": 7}'; echo '[]'; cat > /dev/null",
    "closing": "exec > /dev/null; cat > /dev/null",
    "deaf": "exec sleep 600 < /dev/null",
    "silent": "cat > /dev/null",
}


@pytest.fixture
def broken(pi, tmp_path, request):
    """Pi whose Clew starts one of the broken engines in place of Python."""
    script = tmp_path / "python"
    script.write_text(f"#!/bin/sh\n{BROKEN_ENGINES[request.param]}\n", encoding="utf-8")
    script.chmod(0o755)
    pi.env["CLEW_PYTHON"] = str(script)
    return pi


def warnings_of(session):
    """Notices about Clew that the person saw."""
    return [notice for notice in session.notices() if "Clew" in notice]


def test_a_missing_python_is_told_once_with_what_to_do(pi):
    pi.env["CLEW_PYTHON"] = str(pi.root / "no" / "such" / "python")
    done = pi.print("hello", CHATTER)

    assert (done.returncode, done.stdout) == (0, "ok\n")
    assert done.stderr.count("Python side does not run") == 1
    assert "Run `" in done.stderr


@pytest.mark.parametrize("broken", BROKEN_ENGINES, indirect=True)
def test_print_mode_answers_with_a_broken_engine(broken, model):
    done = broken.print("hello")

    assert (done.returncode, done.stdout) == (0, "ok\n")
    assert len(re.findall(r"^Clew", done.stderr, re.MULTILINE)) <= 1
    assert done.ended_at - model.requests[-1].answered_at < PRINT_EXIT_LIMIT_S


@pytest.mark.parametrize("broken", ["crashing", "silent"], indirect=True)
def test_a_broken_engine_is_told_once_and_the_session_goes_on(broken, model):
    with broken.rpc() as session:
        session.prompt("hello")
        wait_until(lambda: warnings_of(session), "a notice about the engine")
        session.prompt(CHATTER)
        session.prompt(QUESTION_ABOUT_FACT)
        warnings = warnings_of(session)

    assert len(warnings) == 1
    assert len(model.requests) == 3
    assert model.requests[-1].user_texts == ["hello", CHATTER, QUESTION_ABOUT_FACT]


def test_an_engine_that_dies_in_the_middle_of_a_turn_is_started_again(pi, model, stored):
    def kill_engine_once(request):
        if request.index == 0:
            for pid in engines_of(pi.home):
                os.kill(pid, signal.SIGKILL)
        return Reply(text="ok")

    model.answer = kill_engine_once
    with pi.rpc() as session:
        session.prompt(PROJECT_FACT)
        stored.wait_for_judged(1)
        warnings = warnings_of(session)

    assert len(warnings) <= 1
    assert stored.texts() == [PROJECT_FACT]
    assert stored.saved_once() == 1


def test_an_engine_that_keeps_dying_is_given_up_with_one_notice(pi, model):
    def kill_engine(_):
        for pid in wait_until(lambda: engines_of(pi.home), "an engine", patience_s=2) if alive() else []:
            os.kill(pid, signal.SIGKILL)
        return Reply(text="ok")

    session = pi.rpc()

    def alive():
        return not warnings_of(session)

    model.answer = kill_engine
    for turn in range(6):
        session.prompt(f"hello {turn}")
    wait_until(lambda: warnings_of(session), "a notice about the engine")
    assert session.close() == 0

    assert len(warnings_of(session)) == 1
    assert len(model.requests) == 6


def test_a_stopped_engine_holds_no_prompt_up_for_long(pi, model, stored):
    with pi.rpc() as session:
        session.prompt(PROJECT_FACT)
        stored.wait_for_judged(1)
        (engine,) = engines_of(pi.home)
        os.kill(engine, signal.SIGSTOP)
        session.prompt(QUESTION_ABOUT_FACT)
        session.prompt(CHATTER)
        session.prompt("hello")

    assert len(model.requests) == 4
    assert not engines_of(pi.home), "an engine that hangs is ended with the session"


def test_a_database_that_is_damaged_is_told_and_left_as_it_is(pi, model):
    pi.database.parent.mkdir(parents=True)
    pi.database.write_bytes(b"not a database at all" * 1000)
    with pi.rpc() as session:
        session.prompt(PROJECT_FACT)
        wait_until(lambda: warnings_of(session), "a notice about the database")
        session.prompt(CHATTER)

    assert len(model.requests) == 2
    assert pi.database.read_bytes() == b"not a database at all" * 1000


def test_a_project_cannot_slip_its_own_code_into_the_engine(pi, stored):
    for name in ("clew", "apsw", "json"):
        (pi.project / f"{name}.py").write_text("raise SystemExit('from the project')\n")
    pi.print(PROJECT_FACT)
    stored.wait_for_judged(1)
