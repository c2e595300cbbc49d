"""Reading Pi's session files: what was said on the branch, and what happens with files that are broken."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from clew.core.errors import InvalidInput
from clew.hosts.pi import session_file
from clew.hosts.pi.session_file import branch_messages, find_sessions, read_session

HEADER = {
    "type": "session",
    "version": 3,
    "id": "0190-abcd",
    "timestamp": "2026-11-30T10:00:00.000Z",
    "cwd": "/home/user/shop",
}


def message(entry_id, parent, role, content, **more):
    inner = {"role": role, "content": content, "timestamp": 1_796_000_000_000, **more}
    return {"type": "message", "id": entry_id, "parentId": parent, "timestamp": HEADER["timestamp"], "message": inner}


def text(value):
    return [{"type": "text", "text": value}]


@pytest.fixture
def write(tmp_path):
    def write_lines(*lines, name="session.jsonl"):
        path = tmp_path / name
        raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
        path.write_bytes(b"\n".join(raw) + b"\n")
        return path

    return write_lines


def said(path):
    return [(m.role, m.text) for m in branch_messages(read_session(path))]


def test_the_header_tells_session_version_and_folder(write):
    header = read_session(write({**HEADER, "parentSession": "/older.jsonl"})).header
    assert (header.id, header.version, header.cwd) == ("0190-abcd", 3, "/home/user/shop")
    assert header.parent_session == "/older.jsonl"
    assert header.timestamp_ms == 1_796_032_800_000


def test_messages_come_from_the_root_to_the_last_entry_of_the_file(write):
    path = write(
        HEADER,
        message("a", None, "user", "first"),
        message("b", "a", "assistant", text("an answer"), stopReason="stop"),
        message("c", "b", "user", text("left behind")),
        message("d", "b", "user", text("went on here")),
    )
    assert said(path) == [("user", "first"), ("assistant", "an answer"), ("user", "went on here")]


def test_a_message_keeps_its_entry_id_time_and_stop_reason(write):
    path = write(HEADER, message("a", None, "assistant", text("cut"), stopReason="aborted"))
    (only,) = branch_messages(read_session(path))
    assert (only.entry_id, only.timestamp_ms, only.stop_reason) == ("a", 1_796_000_000_000, "aborted")


def test_only_typed_and_answered_text_is_kept(write):
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "one"},
        {"type": "toolCall", "id": "t", "name": "bash", "arguments": {}},
        {"type": "image", "data": "…", "mimeType": "image/png"},
        {"type": "text", "text": "two"},
    ]
    path = write(
        HEADER,
        message("a", None, "system", "prompt"),
        message("b", "a", "user", "run it"),
        message("c", "b", "assistant", blocks),
        message("d", "c", "toolResult", text("output")),
        message("e", "d", "bashExecution", "ls"),
        message("f", "e", "custom", "injected by an extension"),
        message("g", "f", "hookMessage", "injected by an old extension"),
        {"type": "custom_message", "id": "h", "parentId": "g", "customType": "clew", "content": "injected memory"},
        {"type": "compaction", "id": "i", "parentId": "h", "summary": "so far"},
    )
    assert said(path) == [("user", "run it"), ("assistant", "one\ntwo")]


def test_failed_attempts_are_left_out(write):
    path = write(
        HEADER,
        message("a", None, "user", "hello"),
        message("b", "a", "assistant", text("half an ans"), stopReason="error"),
        {"type": "context_edit", "id": "c", "parentId": "b", "targetId": "b", "replacement": None},
        message("d", "c", "assistant", text("whole answer"), stopReason="stop"),
    )
    assert said(path) == [("user", "hello"), ("assistant", "whole answer")]


def test_a_message_that_was_reworded_for_the_model_is_given_as_it_was_said(write):
    edit = {"type": "context_edit", "id": "b", "parentId": "a", "targetId": "a", "replacement": {"content": "shorter"}}
    assert said(write(HEADER, message("a", None, "user", "as said"), edit)) == [("user", "as said")]


def test_a_message_that_was_edited_away_is_left_out(write):
    edit = {"type": "context_edit", "id": "b", "parentId": "a", "targetId": "a", "replacement": None}
    assert said(write(HEADER, message("a", None, "user", "taken back"), edit)) == []


def test_a_picture_without_words_still_stands_between_two_replies(write):
    path = write(
        HEADER,
        message("a", None, "user", "first"),
        message("b", "a", "assistant", text("one")),
        message("c", "b", "user", [{"type": "image", "data": "…"}]),
        message("d", "c", "assistant", text("about the picture")),
    )
    assert said(path) == [("user", "first"), ("assistant", "one"), ("user", ""), ("assistant", "about the picture")]


def test_a_file_of_version_1_is_a_line_of_entries_without_ids(write):
    header = {k: v for k, v in HEADER.items() if k != "version"}
    entries = [message(None, None, role, text(role)) for role in ("user", "assistant", "user")]
    for entry in entries:
        del entry["id"], entry["parentId"]
    path = write(header, *entries)
    assert read_session(path).header.version == 1
    assert said(path) == [("user", "user"), ("assistant", "assistant"), ("user", "user")]
    ids = [m.entry_id for m in branch_messages(read_session(path))]
    assert len(set(ids)) == 3


def test_broken_lines_are_skipped_and_reported_by_number(write):
    path = write(
        HEADER,
        message("a", None, "user", "before"),
        b'{"type": "message", "id": "b", "parent',
        b"\xff\xfe",
        b"[1, 2]",
        b"[" * 100_000,
        b"",
        message("c", "b", "user", "after"),
    )
    session = read_session(path)
    assert [(line.line, line.reason) for line in session.broken] == [
        (3, "is not JSON"),
        (4, "is not UTF-8"),
        (5, "is not a JSON object"),
        (6, "is not JSON"),
    ]
    assert said(path) == [("user", "before"), ("user", "after")]


def test_a_line_that_is_too_long_is_skipped_and_reported(write, monkeypatch):
    monkeypatch.setattr(session_file, "MAX_LINE_BYTES", 2**20)
    path = write(
        HEADER,
        message("a", None, "user", "x" * 2**21),
        message("b", "a", "user", "y" * 1000),
    )
    session = read_session(path)
    assert [(line.line, line.reason) for line in session.broken] == [(2, "is longer than 1 MB")]
    assert [len(m.text) for m in branch_messages(session)] == [1000]


def test_unknown_entry_types_are_kept_and_passed_over(write):
    path = write(
        HEADER,
        message("a", None, "user", "before"),
        {"type": "hologram", "id": "b", "parentId": "a"},
        {"id": "c", "parentId": "b"},
        message("d", "c", "user", "after"),
        {"type": "message", "id": "e", "parentId": "d", "message": "not an object"},
    )
    assert [e.type for e in read_session(path).entries] == ["message", "hologram", "", "message", "message"]
    assert said(path) == [("user", "before"), ("user", "after")]


def test_parents_that_run_in_a_circle_come_to_an_end(write):
    path = write(HEADER, message("a", "b", "user", "one"), message("b", "a", "user", "two"))
    assert said(path) == [("user", "one"), ("user", "two")]


def test_half_a_surrogate_pair_does_not_reach_the_store(write):
    path = write(HEADER, message("a", None, "user", "an emoji \ud83d cut in two"))
    assert said(path) == [("user", "an emoji ? cut in two")]


@pytest.mark.parametrize("timestamp", [None, "yesterday", -5, 10**40, float("nan"), [], True])
def test_a_time_that_makes_no_sense_is_no_error(write, timestamp):
    path = write({**HEADER, "timestamp": timestamp}, message("a", None, "user", "hi", timestamp=timestamp))
    assert said(path) == [("user", "hi")]


def test_a_byte_order_mark_and_windows_line_ends_are_no_hindrance(tmp_path):
    path = tmp_path / "s.jsonl"
    lines = [json.dumps(HEADER), json.dumps(message("a", None, "user", "hi"))]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    assert said(path) == [("user", "hi")]


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (b"", 1, "empty"),
        (b"hello\n", 1, "not JSON"),
        (b'\n\n{"type": "message"}\n', 3, "type"),
        (b'{"type": "session"}\n', 1, "id"),
        (b'{"type": "session", "id": "x", "version": 99}\n', 1, "version"),
        (b"\x00\x01\x02\xff", 1, "not"),
    ],
)
def test_a_file_that_is_no_session_is_refused_with_file_and_line(tmp_path, content, line, reason):
    path = tmp_path / "notes.jsonl"
    path.write_bytes(content)
    with pytest.raises(InvalidInput) as caught:
        read_session(path)
    assert f"{path}, line {line}:" in str(caught.value)
    assert reason in str(caught.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path in (tmp_path / "missing.jsonl", tmp_path):
        with pytest.raises(InvalidInput, match=str(path)):
            read_session(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_refused_without_waiting_for_a_writer(tmp_path):
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    with pytest.raises(InvalidInput, match="is not a file"):
        read_session(pipe)


def test_sessions_below_folders_are_found_sorted_and_once(write, tmp_path):
    (tmp_path / "deep").mkdir()
    paths = [write(HEADER, name=name) for name in ("b.jsonl", "a.jsonl", "deep/c.jsonl")]
    other = write({"no": "session"}, name="other.jsonl")
    (tmp_path / "readme.md").write_text("not looked at")
    found = find_sessions([tmp_path, paths[0]])
    assert [p.name for p in found.paths] == ["a.jsonl", "b.jsonl", "c.jsonl"]
    assert len(found.problems) == 1
    assert str(other) in found.problems[0]


def test_a_named_file_is_looked_at_whatever_its_ending(write):
    path = write(HEADER, name="copy.txt")
    assert find_sessions([path]).paths == (path,)


def test_a_path_that_does_not_exist_is_an_error():
    with pytest.raises(InvalidInput, match="does not exist"):
        find_sessions([Path("no/such/session.jsonl")])
