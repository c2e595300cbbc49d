"""Each message of the person is judged exactly once, whatever happens to Pi in between."""

from __future__ import annotations

import json
import os
import signal

import pytest
from phrases import CHATTER, LESSON, PREFERENCE, PROJECT_FACT
from processes import engines_of, wait_until
from scripted_model import Reply, ToolCall, in_turn


def user_entries(pi, index=-1):
    """Entry ids of the person's messages in a session file."""
    entries = pi.session_entries(index)
    return [e["id"] for e in entries if e["type"] == "message" and e["message"]["role"] == "user"]


@pytest.mark.parametrize("failure", [Reply(status=429), Reply(status=500), Reply(text="half", breaks_off=True)])
def test_an_answer_that_took_several_attempts(pi, model, stored, failure):
    model.answer = in_turn([failure, failure, "Noted."])
    pi.print(PROJECT_FACT)
    stored.wait_for_judged(1)

    assert len(model.requests) == 3
    assert stored.judged_entries() == user_entries(pi)
    assert stored.saved_once() == 1


def test_a_message_whose_answer_never_came(pi, model, stored):
    model.answer = lambda _: Reply(status=400)
    assert pi.print(LESSON).returncode == 1
    stored.wait_for_judged(1)

    assert stored.judged_entries() == user_entries(pi)


def test_a_session_that_is_continued_in_a_new_process(pi, stored):
    pi.print(PROJECT_FACT)
    pi.print(PREFERENCE, args=["--continue"])
    pi.print(CHATTER, args=["--continue"])
    stored.wait_for_judged(3)

    assert len(pi.session_files()) == 1
    assert sorted(stored.judged_entries()) == sorted(user_entries(pi))
    assert stored.saved_once() == 2


def test_a_session_that_is_forked(pi, stored):
    with pi.rpc() as session:
        session.prompt(PROJECT_FACT)
        session.prompt(CHATTER)
        stored.wait_for_judged(2)
        second = user_entries(pi)[1]
        assert session.send("fork", entryId=second)["success"]
        session.prompt(PREFERENCE)
        stored.wait_for_judged(3)

    first_session, fork = user_entries(pi, 0), user_entries(pi, 1)
    assert fork[0] == first_session[0], "the fork shares its first message"
    assert sorted(stored.judged_entries()) == sorted({*first_session, *fork})
    assert stored.saved_once() == 2


def test_a_new_session_in_the_same_process(pi, stored):
    with pi.rpc() as session:
        session.prompt(PROJECT_FACT)
        assert session.send("new_session")["success"]
        session.prompt(PREFERENCE)
        stored.wait_for_judged(2)

    assert sorted(stored.judged_entries()) == sorted(user_entries(pi, 0) + user_entries(pi, 1))
    assert stored.saved_once() == 2


def test_tool_loops_make_one_state(pi, model, stored):
    call = Reply(text="Let me look.", tool_calls=(ToolCall(name="bash", arguments={"command": "echo hi"}),))
    model.answer = in_turn([call, call, "Done."])
    pi.print(PROJECT_FACT)
    stored.wait_for_judged(1)

    assert len(model.requests) == 3
    assert stored.judged_entries() == user_entries(pi)


def kill_everything(pi, session):
    """A power cut: Pi and the engine end at once."""
    engines = engines_of(pi.home)
    assert engines
    for pid in engines:
        os.kill(pid, signal.SIGKILL)
    session.kill()


def test_a_power_cut_right_after_the_turn(pi, stored):
    session = pi.rpc()
    session.prompt(PROJECT_FACT)
    kill_everything(pi, session)

    pi.print(CHATTER, args=["--continue"])
    stored.wait_for_judged(2)

    assert sorted(stored.judged_entries()) == sorted(user_entries(pi))
    assert stored.texts() == [PROJECT_FACT]
    assert stored.saved_once() == 1


def test_a_power_cut_before_the_turn_could_be_judged(pi, stored):
    nobody_listens = {"DECISION_MODEL_URL": "http://127.0.0.1:9"}
    session = pi.rpc(env=nobody_listens)
    session.prompt(PROJECT_FACT)
    wait_until(lambda: stored.unjudged() == 1, "the state in the journal")
    kill_everything(pi, session)
    assert stored.judged_entries() == []

    pi.print("hello")
    stored.wait_for_judged(2)

    assert sorted(stored.judged_entries()) == sorted(user_entries(pi, 0) + user_entries(pi, 1))
    assert stored.texts() == [PROJECT_FACT]
    assert stored.saved_once() == 1


def test_two_sessions_at_the_same_time(pi, stored):
    with pi.rpc() as one, pi.rpc() as two:
        one.prompt(PROJECT_FACT)
        two.prompt(PREFERENCE)
        one.prompt(CHATTER)
        two.prompt(CHATTER)
        stored.wait_for_judged(4)

    assert sorted(stored.judged_entries()) == sorted(user_entries(pi, 0) + user_entries(pi, 1))
    assert stored.saved_once() == 2


def test_a_session_that_is_replayed_into_the_same_store(pi, stored):
    pi.print(PROJECT_FACT, CHATTER, PREFERENCE)
    stored.wait_for_judged(3)

    replayed = pi.clew("replay", str(pi.session_files()[0]), "--data-dir", str(pi.database.parent), "--json")

    assert json.loads(replayed.stdout.splitlines()[-1])["totals"]["judged"] == 0
    assert stored.saved_once() == 2
