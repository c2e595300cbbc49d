"""What was said lately is kept within bounds."""

from __future__ import annotations

from clew.memory.said import MAX_MESSAGES, MAX_TEXT_CHARS, RecentlySaid


def test_only_the_newest_messages_are_kept():
    said = RecentlySaid()
    said.add((f"u{number}", "text") for number in range(MAX_MESSAGES + 50))
    said.add([("u60", "said again")])
    said.add([("new", "text")])
    kept = list(said.snapshot())
    assert len(kept) == MAX_MESSAGES
    assert (kept[0], kept[-2:]) == ("u51", ["u60", "new"])
    assert said.snapshot()["u60"] == "said again"


def test_of_a_long_message_the_beginning_is_kept():
    said = RecentlySaid()
    said.add([("u1", "x" * 1_000_000)])
    assert said.snapshot() == {"u1": "x" * MAX_TEXT_CHARS}


def test_a_snapshot_does_not_change_with_what_is_said_later():
    said = RecentlySaid()
    said.add([("u1", "one")])
    before = said.snapshot()
    said.clear()
    assert (before, said.snapshot()) == ({"u1": "one"}, {})
