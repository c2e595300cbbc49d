"""However a conversation is cut into captures, the same states come out of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clew.core.records import Message
from clew.gate.evaluation import Gate, SessionInfo
from clew.gate.settings import GateSettings
from clew.gate.states import build_states

TEXTS = st.sampled_from(
    ["I prefer tabs.", "Fix it", "", "/plan now", "<private>x</private>", "thanks", "a\nb", "日本語で"]
)
STOPS = st.sampled_from(["stop", "toolUse", "error", "aborted", "length"])


@st.composite
def conversations(draw) -> list[Message]:
    roles = draw(st.lists(st.sampled_from(["user", "assistant"]), max_size=24))
    return [
        Message(
            entry_id=f"e{number}",
            role=role,
            text=draw(TEXTS),
            timestamp_ms=number,
            stop_reason=draw(STOPS) if role == "assistant" else None,
        )
        for number, role in enumerate(roles)
    ]


class Journal:
    """Keeps the last form of each open state and the first closed one, as the store does."""

    def __init__(self) -> None:
        self.states = {}

    def journal(self, states):
        changed = {s.key: s for s in states if s.key not in self.states or self.states[s.key].is_open}
        self.states.update(changed)
        return len(changed)


def new_gate(journal, window):
    return Gate(
        captures=journal,
        model=None,
        questions={},
        outlet=None,
        session=SessionInfo(session_id="s"),
        settings=GateSettings(window=window),
    )


def capture_in_parts(messages, cuts, window):
    journal = Journal()
    gate = new_gate(journal, window)
    bounds = sorted({cut for cut in cuts if cut < len(messages)} | {len(messages)})
    start = 0
    for end in bounds:
        gate.capture(messages[start:end], settled=end == len(messages))
        start = end
    return journal.states


@given(conversations())
def test_each_message_of_the_person_with_words_is_exactly_one_state(messages):
    states = build_states(
        messages, session_id="s", project_key=None, project_name=None, settled=True, owner=0, window=100
    )
    spoken = [m.entry_id for m in messages if m.role == "user" and m.text and m.text[0] not in "/<"]
    assert [state.entry_id for state in states] == spoken
    assert all(not state.is_open for state in states[:-1])


@given(conversations(), st.sets(st.integers(min_value=0, max_value=24)))
def test_captures_of_any_size_give_the_same_states(messages, cuts):
    whole = capture_in_parts(messages, set(), window=100)
    assert capture_in_parts(messages, cuts, window=100) == whole


@given(conversations(), st.lists(st.tuples(st.integers(0, 24), st.integers(0, 5)), max_size=8))
def test_messages_that_come_again_change_nothing(messages, parts):
    """Each part ends further on than the one before and reaches back over some known messages."""
    whole = capture_in_parts(messages, set(), window=100)
    journal = Journal()
    gate = new_gate(journal, 100)
    end = 0
    for upto, back in sorted(part for part in parts if part[0] < len(messages)):
        gate.capture(messages[max(min(end, upto) - back, 0) : upto], settled=False)
        end = max(end, upto)
    gate.capture(messages[max(end - 2, 0) :], settled=True)
    assert {key: _said(state) for key, state in journal.states.items()} == {
        key: _said(state) for key, state in whole.items()
    }


def _said(state):
    return state.state.user, state.state.assistant, state.is_open
