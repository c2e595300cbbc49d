from __future__ import annotations

import pytest
from gate_fakes import agent, user

from clew.core.fences import render_fence
from clew.gate.statement import typed_part
from clew.gate.states import MAX_TEXT_CHARS, build_states, keep_tail


def states_of(messages, *, settled=True, window=20):
    return build_states(
        messages,
        session_id="s1",
        project_key="example.org/ada/shop",
        project_name="shop",
        settled=settled,
        owner=7,
        window=window,
    )


def test_each_message_of_the_person_becomes_one_state_with_what_stands_around_it():
    first, second = states_of(
        [user("u1", "I use pnpm.", 10), agent("a1", "Noted."), user("u2", "And tabs.", 20), agent("a2", "Fine.")]
    )
    assert (first.key, second.key) == ("u1:10", "u2:20")
    assert (first.state.user, first.state.assistant, first.state.previous_assistant) == ("I use pnpm.", "Noted.", None)
    assert (second.state.user, second.state.assistant, second.state.previous_assistant) == (
        "And tabs.",
        "Fine.",
        "Noted.",
    )
    assert (second.entry_id, second.session_id, second.project_key) == ("u2", "s1", "example.org/ada/shop")
    assert (second.state.project, second.timestamp_ms, second.owner, second.is_open) == ("shop", 20, 7, False)


def test_replies_of_a_tool_loop_are_one_reply():
    (state,) = states_of(
        [user("u1", "Fix it"), agent("a1", "Looking.", "toolUse"), agent("a2", "", "toolUse"), agent("a3", "Done.")]
    )
    assert state.state.assistant == "Looking.\n\nDone."


@pytest.mark.parametrize("stop_reason", ["error", "aborted"])
def test_an_attempt_that_was_made_again_is_left_out(stop_reason):
    (state,) = states_of([user("u1", "Fix it"), agent("a1", "Fixed it by", stop_reason), agent("a2", "Fixed it.")])
    assert state.state.assistant == "Fixed it."


def test_of_an_aborted_turn_stands_what_was_said():
    (state,) = states_of([user("u1", "Fix it"), agent("a1", "First I", "aborted")])
    assert (state.state.assistant, state.is_open) == ("First I", False)


def test_a_message_without_any_reply_is_judged_alone():
    (state,) = states_of([user("u1", "Never use Java.")])
    assert state.state.assistant is None


@pytest.mark.parametrize(
    ("last", "settled", "is_open"),
    [
        (agent("a2", "Done."), True, False),
        (agent("a2", "Done."), False, True),
        (agent("a2", "Reading", "toolUse"), True, True),
        (agent("a2", "Cut", "aborted"), True, False),
    ],
)
def test_only_the_last_state_is_open_and_only_while_its_reply_may_grow(last, settled, is_open):
    first, second = states_of(
        [user("u1", "One thing"), agent("a1", "ok", "toolUse"), user("u2", "Another"), last], settled=settled
    )
    assert (first.is_open, second.is_open) == (False, is_open)


@pytest.mark.parametrize(
    "text", ["", "  \n", "/compact", "/skill:brave search this", "<private>my salary is 1</private>", "<private>open"]
)
def test_messages_without_words_of_the_persons_own_are_left_out(text):
    assert states_of([user("u1", text), agent("a1", "ok")]) == []


@pytest.mark.parametrize("text", ["/var is full of old logs", "/home/ada/notes.md holds the plan", "a / b"])
def test_a_message_that_begins_with_a_path_is_no_command(text):
    (state,) = states_of([user("u1", text)])
    assert state.state.user == text


def test_the_reply_to_a_command_still_stands_before_the_next_message():
    (state,) = states_of([user("u1", "/plan"), agent("a1", "I would use make."), user("u2", "No, just.")])
    assert state.state.previous_assistant == "I would use make."


def test_recalled_memories_and_private_blocks_are_taken_out_of_all_texts():
    fence = render_fence(["[user, 2026-01-01] Prefers tabs"])
    (state,) = states_of(
        [
            agent("a0", f"{fence}\nhello"),
            user("u1", f"{fence}\nUse <private>hunter</private>pnpm here"),
            agent("a1", f"ok {fence}"),
        ]
    )
    assert (state.state.user, state.state.assistant, state.state.previous_assistant) == ("Use pnpm here", "ok", "hello")


def test_a_secret_is_replaced_by_its_kind_before_anything_is_kept():
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (state,) = states_of([user("u1", f"my token is {token}"), agent("a1", f"I will use {token}")])
    assert state.secret_kinds
    assert token not in repr(state)
    assert "[redacted:" in state.state.user


def test_a_secret_is_found_even_where_the_text_is_cut():
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    padding = "word " * 600
    (state,) = states_of([user("u1", padding[: MAX_TEXT_CHARS * 3 // 4 - 60] + f"\n{token}\n" + padding * 3)])
    assert state.secret_kinds
    assert token[:12] not in state.state.user


def test_a_long_reply_keeps_its_head_and_its_tail():
    (state,) = states_of([user("u1", "Go on"), agent("a1", "begin " + "x " * 9_000 + "end")])
    assert len(state.state.assistant) <= MAX_TEXT_CHARS
    assert (state.state.assistant[:5], state.state.assistant[-3:]) == ("begin", "end")


def test_of_a_long_message_the_pastes_are_left_out_and_what_was_typed_is_kept():
    typed = "We went on and on about it.\n" * 200
    paste = "```\n" + "x = 1\n" * 900 + "```"
    (state,) = states_of([user("u1", f"Look:\n{paste}\n{typed}")])
    marker = f"> [… {len(paste)} characters of pasted text left out …]"
    assert state.state.user == f"Look:\n{marker}\n{typed.strip()}"


def test_what_nobody_can_have_typed_is_kept_as_a_paste_with_its_head_and_its_tail():
    (state,) = states_of([user("u1", "begin\n" + "We went on and on about it.\n" * 2_000 + "end")])
    assert len(state.state.user) <= MAX_TEXT_CHARS + 200 * len("> ")
    assert (state.state.user[:7], state.state.user[-3:]) == ("> begin", "end")
    assert typed_part(state.state.user) == ""


def test_only_the_last_messages_of_the_window_are_looked_at():
    messages = [m for n in range(6) for m in (user(f"u{n}", f"message {n}", n), agent(f"a{n}", "ok"))]
    assert [state.entry_id for state in states_of(messages, window=4)] == ["u4", "u5"]
    assert [state.entry_id for state in states_of(messages, window=3)] == ["u5"]
    assert [state.entry_id for state in states_of(messages, window=1)] == ["u5"]


def test_a_long_tool_loop_does_not_push_its_own_message_out_of_the_window():
    loop = [agent(f"a{n}", f"step {n}", "toolUse") for n in range(50)]
    (state,) = states_of([user("u1", "Migrate everything"), *loop, agent("a", "Done.")], window=4)
    assert state.entry_id == "u1"


def test_the_tail_that_is_kept_gives_the_same_states():
    messages = [m for n in range(9) for m in (user(f"u{n}", f"message {n}", n), agent(f"a{n}", f"reply {n}"))]
    tail = keep_tail(messages, window=4)
    assert len(tail) < len(messages)
    assert states_of(tail, window=4) == states_of(messages, window=4)
