"""Clew in each of Pi's modes."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest
from phrases import LESSON, PROJECT_FACT
from pi_modes import TerminalSession
from processes import engines_of, processes_of, wait_until
from scripted_model import Reply, ToolCall, in_turn

needs_tmux = pytest.mark.skipif(not TerminalSession.is_available(), reason="tmux is not installed")

#: The bounds are promises: two seconds, and one second. What is measured is the time between two events (without Clew, Pi
#: exits some 30 ms after its answer); the second summand is room for a machine that is too busy to schedule two processes.
PRINT_EXIT_LIMIT_S = 2.0 + 1.0
ENGINE_END_LIMIT_S = 1.0 + 1.0


def test_print_mode_prints_the_answer_alone_and_exits_soon_after_it(pi, model):
    done = pi.print("hello")

    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")
    assert done.ended_at - model.requests[-1].answered_at < PRINT_EXIT_LIMIT_S


def test_print_mode_says_on_stderr_when_memories_wait(pi, stored):
    pi.write_gate_config(reviewMode="confirm")
    done = pi.print(LESSON)
    stored.wait_for_judged(1)

    assert done.stdout == "ok\n"
    assert stored.inbox_texts() == [LESSON]


def test_json_mode_captures_and_keeps_its_output_pure(pi, stored):
    events = pi.json(PROJECT_FACT)
    stored.wait_for_judged(1)

    assert events[0]["type"] == "session"
    assert events[-1]["type"] == "agent_settled"
    assert stored.texts() == [PROJECT_FACT]


def test_commands_answer_on_stderr_in_print_mode(pi):
    done = pi.print("/gate-status")

    assert done.returncode == 0
    assert "clew-judge-encoder" in done.stderr


def test_commands_answer_with_a_notice_in_rpc_mode(pi):
    with pi.rpc() as session:
        commands = {command["name"] for command in session.send("get_commands")["data"]["commands"]}
        assert {"gate-status", "memory-review", "noodle"} <= commands
        session.prompt("/gate-status")
        session.prompt("/noodle remember Prices are stored in integer cents.")
        session.prompt("/memory-review")
        notices = session.notices()

    assert any("clew-judge-encoder" in notice for notice in notices)
    assert any("integer cents" in notice for notice in notices)
    assert any("No memories wait" in notice for notice in notices)


def test_the_agent_can_add_and_search_memories(pi, model, stored):
    add = ToolCall(name="memory_add", arguments={"text": "The staging database runs on port 5544."})
    search = ToolCall(name="memory_search", arguments={"query": "staging port"})
    model.answer = in_turn([Reply(tool_calls=(add,)), Reply(tool_calls=(search,)), "Done."])
    pi.print("hello")

    offered = {tool["function"]["name"] for tool in model.requests[0].body["tools"]}
    kinds = ("add", "search", "list", "get", "update", "delete")
    assert {f"memory_{kind}" for kind in kinds} <= offered
    assert stored.texts() == ["The staging database runs on port 5544."]
    results = [m["content"] for m in model.requests[-1].messages if m["role"] == "tool"]
    assert "port 5544" in json.dumps(results[-1])


def test_one_engine_serves_a_session_and_ends_with_it(pi):
    session = pi.rpc()
    session.prompt("hello")
    assert len(engines_of(pi.home)) == 1
    assert session.close() == 0
    wait_until(lambda: not engines_of(pi.home), "the end of the engine")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_engine_outlives_a_pi_that_is_killed(pi, number):
    session = pi.rpc()
    session.prompt("hello")
    assert engines_of(pi.home)
    killed_at = time.monotonic()
    os.kill(session.process.pid, number)
    wait_until(lambda: not processes_of(pi.home), "the end of the engine")
    ended_after_s = time.monotonic() - killed_at
    session.kill()

    assert ended_after_s < ENGINE_END_LIMIT_S


@needs_tmux
def test_the_terminal_shows_status_and_reviews_with_the_keyboard(pi, stored):
    pi.write_gate_config(reviewMode="confirm")
    with pi.terminal() as terminal:
        terminal.wait_for("scripted")
        terminal.submit("/gate-status")
        terminal.wait_for("clew-judge-encoder")
        terminal.submit(LESSON)
        stored.wait_for_judged(1)
        assert stored.inbox_texts() == [LESSON]
        terminal.submit("/memory-review")
        screen = terminal.wait_for("Save to memory?")
        assert "Reject" in screen
        terminal.press("Enter")
        terminal.wait_for("1 saved")

    assert stored.texts() == [LESSON]


@needs_tmux
def test_reload_in_the_terminal_judges_nothing_twice(pi, stored):
    with pi.terminal() as terminal:
        terminal.wait_for("scripted")
        terminal.submit(PROJECT_FACT)
        stored.wait_for_judged(1)
        terminal.submit("/reload")
        terminal.wait_for("Reloaded")
        terminal.submit("and hello")
        stored.wait_for_judged(2)

    assert stored.texts() == [PROJECT_FACT]
    assert stored.saved_once() == 1
    assert len(stored.judged_entries()) == 2
