"""What the server makes of a state: exchanges, pairs and entries in the shapes in which people send them."""

from __future__ import annotations

from typing import Any

import pytest

from clew.core.records import DatedEntry, EntryPair, State
from clew.decide.server.states import read_entry, read_exchange, read_pair

TURN = State(user="Use tabs.", assistant="Done.", previous_assistant="Tabs or blanks?")
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Format it."},
    {"role": "assistant", "content": "Tabs or blanks?"},
    {"role": "user", "content": [{"type": "text", "text": "Use tabs."}, {"type": "image"}]},
    {"role": "assistant", "content": "Done."},
]
TRANSCRIPT = "User: Format it.\nAssistant: Tabs or blanks?\nuser: Use tabs.\nASSISTANT: Done.\n"


@pytest.mark.parametrize(
    "raw",
    [
        {"user": "Use tabs.", "assistant": "Done.", "previous_assistant": "Tabs or blanks?", "x": 1},
        {"messages": MESSAGES},
        MESSAGES,
        {"exchange": {"messages": MESSAGES}},
        TRANSCRIPT,
        TRANSCRIPT.replace("User:", "**User:**").replace("Assistant:", "**Assistant**:"),
        {"text": TRANSCRIPT},
        {"exchange": TRANSCRIPT},
    ],
)
def test_an_exchange_is_read_in_every_shape(raw: Any) -> None:
    assert read_exchange(raw) == TURN


@pytest.mark.parametrize(
    "raw",
    ["Use tabs.", {"text": "Use tabs."}, {"message": "Use tabs."}, {"user": "Use tabs."}, {"content": "Use tabs."}],
)
def test_a_text_alone_is_the_users_message(raw: Any) -> None:
    assert read_exchange(raw) == State(user="Use tabs.")


@pytest.mark.parametrize(
    "text",
    ["Fix this:\nUser: x\nAssistant: y", "The user: role is missing", "Assistant: I did it.", "User agent: curl"],
)
def test_a_text_that_only_holds_a_transcript_is_left_whole(text: str) -> None:
    assert read_exchange(text) == State(user=text)


@pytest.mark.parametrize(
    "raw",
    [None, 5, [], {}, ["x"], {"ticket": "x"}, {"user": 5}, {"user": "x", "assistant": ["y"]}, {"messages": []},
     {"messages": [{"role": "assistant", "content": "x"}]}, {"text": {"text": {"text": {"text": "x"}}}}],
)  # fmt: skip
def test_what_is_no_exchange_is_not_judged_as_one(raw: Any) -> None:
    assert read_exchange(raw) is None


@pytest.mark.parametrize(
    "raw",
    [
        {"a": "Tabs.", "b": "Blanks."},
        {"a": {"content": "Tabs.", "created_at": 5}, "b": {"text": "Blanks."}},
        {"memory_a": "Tabs.", "memory_b": {"entry": "Blanks."}},
        {"first": "Tabs.", "second": "Blanks."},
        {"left": "Tabs.", "right": "Blanks."},
        {"entry_a": "Tabs.", "entry_b": "Blanks."},
        ["Tabs.", "Blanks."],
        {"memories": [{"memory": "Tabs."}, {"text": "Blanks."}]},
        "a: Tabs.\nb: Blanks.",
        "A: Tabs.\n\nB: Blanks.\n",
        "Memory a: Tabs. Memory b: Blanks.",
        "Entry 1: Tabs.\nEntry 2: Blanks.",
        {"text": "Memory A: Tabs.\nMemory B: Blanks."},
    ],
)
def test_a_pair_is_read_in_every_shape(raw: Any) -> None:
    assert read_pair(raw) == EntryPair(a="Tabs.", b="Blanks.")


@pytest.mark.parametrize(
    "raw",
    ["Tabs.", "a: Tabs.", "b: x\na: y", ["Tabs."], ["a", "b", "c"], [1, 2], {"a": "Tabs."}, {"a": "x", "b": None}, 7],
)
def test_what_is_no_pair_is_not_judged_as_one(raw: Any) -> None:
    assert read_pair(raw) is None


@pytest.mark.parametrize(
    ("raw", "written"),
    [
        ("We use tabs.", None),
        ({"entry": "We use tabs."}, None),
        ({"entry": "We use tabs.", "written": "2026-03-01"}, "2026-03-01"),
        ({"memory": "We use tabs.", "date": "2026-03-01T23:30:00Z"}, "2026-03-01"),
        ({"content": "We use tabs.", "created_at": 1772323200000}, "2026-03-01"),
        ({"text": "We use tabs.", "created_at": 1772323200}, "2026-03-01"),
        ({"memory": {"content": "We use tabs.", "created_at": "2026-03-01"}}, "2026-03-01"),
        ({"memory": {"content": "We use tabs."}, "written": "2026-03-01"}, "2026-03-01"),
        ({"user": "We use tabs.", "written": "2026-03-01"}, "2026-03-01"),
        ({"entry": "We use tabs.", "written": "last week"}, None),
        ({"entry": "We use tabs.", "written": 1e300}, None),
        ({"entry": "We use tabs.", "written": True}, None),
    ],
)
def test_an_entry_is_read_with_its_day(raw: Any, written: str | None) -> None:
    assert read_entry(raw) == DatedEntry(entry="We use tabs.", written=written)


@pytest.mark.parametrize("raw", [None, 5, [], ["x", "y"], {}, {"entry": 5}, {"memory": {"content": 5}}])
def test_what_is_no_entry_is_not_judged_as_one(raw: Any) -> None:
    assert read_entry(raw) is None


def test_an_entry_in_ever_deeper_objects_is_not_looked_for_without_end() -> None:
    raw: Any = "Use tabs."
    for _ in range(5_000):
        raw = {"entry": raw}
    assert read_entry(raw) is None
    assert read_entry({"entry": {"entry": "Use tabs."}}) == DatedEntry(entry="Use tabs.")
