"""From what was said to what is kept, with the store, the built-in judge and the inbox that ship."""

from __future__ import annotations

import pytest
from gate_fakes import agent, user

from clew.core.records import Visibility
from clew.decide.builtin import BuiltinJudge
from clew.decide.questionnaire import load_questionnaire
from clew.gate.evaluation import Gate, SessionInfo
from clew.memory.inbox import Inbox
from clew.store.store import Store

ALL = Visibility(everywhere=True)
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "memories.db") as opened:
        yield opened


def open_gate(store, mode="confirm"):
    return Gate(
        captures=store,
        model=BuiltinJudge(),
        questions=load_questionnaire(None),
        outlet=Inbox(store, store, mode=mode),
        session=SessionInfo(session_id="s1", project_key="example.org/ada/shop", project_name="shop", owner=1),
    )


def judge(gate, *texts):
    for number, text in enumerate(texts):
        gate.capture([user(f"u{number}", text, number), agent(f"a{number}", "Noted.")], settled=True)
    return [judgement.outcome for judgement in gate.judge_ready()]


PREFERENCE = "I always want tabs instead of spaces in Makefiles and in Go code, in every project."


def test_a_lasting_preference_waits_and_chatter_does_not(store):
    gate = open_gate(store)
    assert judge(gate, PREFERENCE, "thanks, that looks good") == ["queued", "filtered"]
    (waiting,) = store.inbox()
    assert (waiting.text, waiting.category) == (PREFERENCE, "user")


def test_an_ask_is_saved_and_a_secret_and_a_temporary_wish_are_vetoed(store):
    gate = open_gate(store)
    outcomes = judge(
        gate,
        "Please remember that the staging database runs on port 5544.",
        f"The deploy token is {TOKEN}, use it.",
        "Remember, just for this session: use the large model.",
    )
    assert outcomes == ["saved", "vetoed", "vetoed"]
    assert [memory.text for memory in store.list(ALL)] == ["the staging database runs on port 5544"]


@pytest.mark.parametrize(
    "ask",
    [
        "Remember that hK8mQ2vL9x is the wifi password",
        "Recuerda que el código de la alarma es 4821",
        "Remember that my 2FA code is 739104",
    ],
)
def test_a_secret_that_has_no_known_form_is_not_saved_on_request(store, ask):
    assert judge(open_gate(store), ask) == ["vetoed"]
    assert store.count(ALL) == 0


def test_in_auto_mode_the_same_preference_said_twice_is_one_memory(store):
    gate = open_gate(store, "auto")
    assert judge(gate, PREFERENCE, PREFERENCE.upper()) == ["saved", "filtered"]
    assert store.count(ALL) == 1


def test_what_was_forgotten_comes_back_only_when_the_person_asks(store):
    gate = open_gate(store, "auto")
    judge(gate, PREFERENCE)
    (memory,) = store.list(ALL)
    store.forget(memory.id)
    gate.capture([user("again", PREFERENCE, 98), agent("reply", "ok")], settled=True)
    (judgement,) = gate.judge_ready()
    assert (judgement.outcome, store.count(ALL)) == ("filtered", 0)
    gate.capture([user("ask", f"Remember that {PREFERENCE}", 99), agent("reply2", "ok")], settled=True)
    (judgement,) = gate.judge_ready()
    assert (judgement.outcome, store.count(ALL)) == ("saved", 1)


def test_two_engines_on_one_store_judge_each_state_once(store, tmp_path):
    with Store.open(tmp_path / "memories.db") as other:
        gate, second = open_gate(store), open_gate(other)
        messages = [user("u1", PREFERENCE, 1), agent("a1", "Noted.")]
        gate.capture(messages, settled=True)
        second.capture(messages, settled=True)
        assert len(gate.judge_ready()) + len(second.judge_ready()) == 1
    assert len(store.inbox()) == 1
