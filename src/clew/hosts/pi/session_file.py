"""Reads Pi's session files: JSON lines that form a tree, versions 1 to 3.

Source of the format: Pi 1.6's `docs/session-format.md`. A file is read as tolerantly as possible, since sessions are cut off
by crashes and edited by hand: unknown entry types are kept, broken lines are skipped and reported by number.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from clew.core.errors import InvalidInput
from clew.core.records import Message

#: Longer lines (images pasted in bulk) are skipped and reported; they would need more memory than they are worth.
MAX_LINE_BYTES = 64 * 1024 * 1024
_LATEST_VERSION = 3
_MAX_TIMESTAMP_MS = 253_402_300_799_999  # the end of the year 9999
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHeader:
    """First line of a session file. `cwd` is the folder that Pi worked in, empty when the file does not say."""

    id: str
    version: int
    cwd: str
    timestamp_ms: int
    parent_session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEntry:
    """One entry of the tree. `data` is the whole JSON object."""

    id: str
    parent_id: str | None
    type: str
    timestamp_ms: int
    line: int
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenLine:
    """A line that could not be used; `line` counts from 1."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFile:
    """A session: its header, its entries in the order of the file, and the lines that were skipped."""

    path: Path
    header: SessionHeader
    entries: tuple[SessionEntry, ...]
    broken: tuple[BrokenLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSessions:
    """Session files, sorted, and for each file that is none the reason why."""

    paths: tuple[Path, ...]
    problems: tuple[str, ...]


def find_sessions(paths: Sequence[Path]) -> FoundSessions:
    """Session files among the given files and below the given folders, each once.

    Raises:
        InvalidInput: a path does not exist.
    """
    found: dict[Path, None] = {}
    problems: list[str] = []
    for path in paths:
        if not path.exists():
            raise InvalidInput(f"{path} does not exist.", "Name a session file of Pi or a folder that holds some.")
        for candidate in sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]:
            try:
                _read_header(candidate)
            except InvalidInput as error:
                problems.append(str(error))
            else:
                found[candidate] = None
    return FoundSessions(paths=tuple(found), problems=tuple(problems))


def read_session(path: Path) -> SessionFile:
    """Read a session file.

    Raises:
        InvalidInput: the file cannot be read, or its first line is not the header of a Pi session.
    """
    header = _read_header(path)
    entries: list[SessionEntry] = []
    broken: list[BrokenLine] = []
    has_tree = header.version > 1
    for line, content in _read_lines(path):
        if isinstance(content, str):
            broken.append(BrokenLine(line=line, reason=content))
        elif content.get("type") != "session":
            entries.append(_read_entry(content, line, entries[-1].id if entries else None, has_tree=has_tree))
    return SessionFile(path=path, header=header, entries=tuple(entries), broken=tuple(broken))


def branch_messages(session: SessionFile) -> list[Message]:
    """What the person and the agent said on the current branch, oldest first.

    The branch runs from the root to the last entry of the file. Left out: other branches, tool calls and results,
    thinking, images, messages that an extension injected, failed attempts, and what a context edit omitted. A message
    that a context edit reworded is given as it was said. The extension picks the same messages from a live session.
    """
    branch = _branch(session.entries)
    omitted = {edit.data.get("targetId") for edit in branch if _omits(edit)}
    messages = (_read_message(entry) for entry in branch if entry.id not in omitted)
    return [message for message in messages if message]


def _omits(entry: SessionEntry) -> bool:
    """Whether an entry takes another one out of the conversation, as Pi does with attempts that it makes again."""
    return entry.type == "context_edit" and entry.data.get("replacement") is None


def _read_header(path: Path) -> SessionHeader:
    for line, content in _read_lines(path):
        if isinstance(content, str):
            raise _not_a_session(path, line, f"it {content}")
        if content.get("type") != "session" or not isinstance(content.get("id"), str):
            raise _not_a_session(path, line, 'it has no "type": "session" and "id"')
        version = content.get("version", 1)
        if not isinstance(version, int) or not 1 <= version <= _LATEST_VERSION:
            raise _not_a_session(
                path, line, f"its version is {str(version)[:20]}, and 1 to {_LATEST_VERSION} are known"
            )
        cwd, parent = content.get("cwd"), content.get("parentSession")
        return SessionHeader(
            id=content["id"],
            version=version,
            cwd=cwd if isinstance(cwd, str) else "",
            timestamp_ms=_milliseconds(content.get("timestamp")),
            parent_session=parent if isinstance(parent, str) else None,
        )
    raise _not_a_session(path, 1, "it is empty")


def _not_a_session(path: Path, line: int, reason: str) -> InvalidInput:
    return InvalidInput(
        f"{path}, line {line}: not the header of a Pi session: {reason}.",
        "Pi keeps its sessions below ~/.pi/agent/sessions.",
    )


def _read_lines(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Number and object of each line that is not blank; in place of the object the reason why there is none."""
    if path.exists() and not path.is_file():  # a pipe would never end
        raise InvalidInput(f"{path} is not a file.", "Name a session file of Pi.")
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(_raw_lines(file), start=1):
                if raw is None:
                    yield number, f"is longer than {MAX_LINE_BYTES // 2**20} MB"
                elif raw.strip():
                    yield number, _parse_line(raw)
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read: {error.strerror}.", "Check the path and its permissions."
        ) from error


def _raw_lines(file: BinaryIO) -> Iterator[bytes | None]:
    """Lines of a file, None for one that is too long. No more than one line is held in memory."""
    first = True
    while raw := file.readline(MAX_LINE_BYTES):
        is_cut = len(raw) == MAX_LINE_BYTES and not raw.endswith(b"\n")
        if is_cut:
            while (rest := file.readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
                pass
        yield None if is_cut else raw.removeprefix(_BYTE_ORDER_MARK) if first else raw
        first = False


def _parse_line(raw: bytes) -> dict[str, Any] | str:
    try:
        content = json.loads(raw)
    except UnicodeDecodeError:
        return "is not UTF-8"
    except (ValueError, RecursionError):
        return "is not JSON"
    return content if isinstance(content, dict) else "is not a JSON object"


def _read_entry(content: dict[str, Any], line: int, previous: str | None, *, has_tree: bool) -> SessionEntry:
    """An entry; where the file gives no id or parent (version 1), its line number and the entry before it."""
    entry_id, parent = content.get("id"), content.get("parentId")
    is_linked = has_tree and isinstance(entry_id, str) and "parentId" in content
    kind = content.get("type")
    return SessionEntry(
        id=str(entry_id) if is_linked else f"line-{line}",
        parent_id=(parent if isinstance(parent, str) else None) if is_linked else previous,
        type=kind if isinstance(kind, str) else "",
        timestamp_ms=_milliseconds(content.get("timestamp")),
        line=line,
        data=content,
    )


def _branch(entries: Sequence[SessionEntry]) -> list[SessionEntry]:
    """Entries from the root to the last one. A parent that was lost with a broken line is the entry before in the file."""
    position = {entry.id: index for index, entry in enumerate(entries)}
    branch: list[SessionEntry] = []
    index = len(entries) - 1
    while index >= 0:
        entry = entries[index]
        branch.append(entry)
        if entry.parent_id is None:
            break
        # Never forwards: a file whose parents run in a circle still comes to an end.
        index = min(position.get(entry.parent_id, index - 1), index - 1)
    return branch[::-1]


def _read_message(entry: SessionEntry) -> Message | None:
    """The message, or None when it is not a person's or agent's, or is a failed attempt.

    An agent's message without text (a tool call) is None too; a person's is still the one that was answered next.
    """
    content = entry.data.get("message") if entry.type == "message" else None
    if not isinstance(content, Mapping):
        return None
    role, stop_reason = content.get("role"), content.get("stopReason")
    text = _join_text(content.get("content"))
    if role not in {"user", "assistant"} or stop_reason == "error" or (role == "assistant" and not text):
        return None
    return Message(
        entry_id=entry.id,
        role="user" if role == "user" else "assistant",
        text=text,
        timestamp_ms=_milliseconds(content.get("timestamp")) or entry.timestamp_ms,
        stop_reason=stop_reason if isinstance(stop_reason, str) else None,
    )


def _join_text(content: Any) -> str:
    """Text of a content (a string or blocks), with half surrogate pairs replaced, which cannot be stored."""
    if isinstance(content, str):
        text = content
    elif isinstance(content, list):
        text = "\n".join(_block_texts(content))
    else:
        text = ""
    return text.encode("utf-8", "replace").decode("utf-8")


def _block_texts(blocks: Iterable[Any]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str):
            yield block["text"]


def _milliseconds(timestamp: Any) -> int:
    """Unix milliseconds of an ISO time or of a number that already is one; 0 when it is neither."""
    if isinstance(timestamp, int | float):
        return round(timestamp) if 0 <= timestamp <= _MAX_TIMESTAMP_MS else 0
    try:
        return max(0, int(datetime.fromisoformat(timestamp).timestamp() * 1000))
    except (TypeError, ValueError, OverflowError):
        return 0
