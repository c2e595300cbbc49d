"""Forgetting is final: no unjudged message, candidate, rejection or reason goes on saying a forgotten text.

A text is recognised by its words, so that white space, case, punctuation and markup in between do not hide it. What
cannot be cut out of a message cleanly takes the message with it: losing an unjudged state is the smaller harm.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from clew.core.records import CapturedState, Judgement, State
from clew.core.similarity import is_near_duplicate
from clew.core.text import normalise, sentences, words
from clew.store import capture
from clew.store.adapter import Reader
from clew.store.columns import as_text
from clew.store.rows import STATE_COLUMNS, encode, state_from_row

#: A text of fewer words is part of messages that are about something else.
_FEWEST_WORDS = 3
_MARK = "[forgotten]"
_REASON = "forgotten"
_TRAILING_MARKS = re.compile(r"[\W_]+$")


class ForgottenTexts:
    """All forms of a forgotten memory, to be recognised in other texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        parts = dict.fromkeys([*texts, *(part for text in texts for part in sentences(text))])
        self._runs = [run for part in parts if len(run := words(part)) >= _FEWEST_WORDS]
        self._whole = [words(text) for text in texts]
        self._spelled = [_spelling(part) for part in parts if len(words(part)) >= _FEWEST_WORDS]

    def are_in(self, value: str | None) -> bool:
        """Whether a text says one of them: in the same words in a row, or nearly so in one of its sentences."""
        said = words(value or "")
        if not value or not said:
            return False
        joined = f" {' '.join(said)} "
        if said in self._whole or any(f" {' '.join(run)} " in joined for run in self._runs):
            return True
        return any(is_near_duplicate(part, text) for text in self._texts for part in sentences(value))

    def cut_from(self, value: str | None) -> str | None:
        """The text with a mark in place of what can be cut out exactly, white space and case aside."""
        for spelling in self._spelled if value else ():
            value = spelling.sub(_MARK, value or "")
        return value


def erase_mentions(writer: Reader, texts: Sequence[str], *, now_ms: int, tables: Collection[str] | None = None) -> int:
    """Take forgotten texts out of everything but the memories. Returns how many rows changed.

    Args:
        texts: all forms that the memory had.
        tables: those that the database has, when it may be older than this version; None = all.
    """
    forgotten = ForgottenTexts(texts)
    changed = 0
    if tables is None or {"journal", "judged"} <= set(tables):
        changed += _erase_from_journal(writer, forgotten, now_ms)
        changed += _erase_from_reasons(writer, forgotten)
    if tables is None or {"inbox", "judged"} <= set(tables):
        changed += _erase_from_inbox(writer, forgotten)
    if tables is None or "rejected" in tables:
        changed += _erase_from_rejected(writer, forgotten)
    return changed


def _erase_from_journal(writer: Reader, forgotten: ForgottenTexts, now_ms: int) -> int:
    changed = 0
    for row in writer.rows(f"SELECT {STATE_COLUMNS} FROM journal"):  # noqa: S608
        captured = state_from_row(row)
        if not any(map(forgotten.are_in, _texts(captured.state))):
            continue
        changed += 1
        state = _without(captured.state, forgotten)
        if any(map(forgotten.are_in, _texts(state))):
            _drop(writer, captured, now_ms)
        else:
            writer.rows("UPDATE journal SET state = ? WHERE key = ?", (encode(state.as_json()), captured.key))
    return changed


def _drop(writer: Reader, captured: CapturedState, now_ms: int) -> None:
    """Let the state count as judged, so that it is not journalled again."""
    capture.claim(writer, captured.key)
    judgement = Judgement(
        key=captured.key,
        entry_id=captured.entry_id,
        outcome="filtered",
        reason=_REASON,
        scores={},
        target="",
        duration_ms=0.0,
        decision_model="",
    )
    capture.record(writer, judgement, now_ms=now_ms)


def _erase_from_inbox(writer: Reader, forgotten: ForgottenTexts) -> int:
    found = [
        candidate_id
        for candidate_id, text, reason in writer.rows("SELECT id, text, reason FROM inbox")
        if forgotten.are_in(as_text(text)) or forgotten.are_in(as_text(reason))
    ]
    for candidate_id in found:
        capture.take_out(writer, candidate_id)
        capture.amend(writer, candidate_id, "filtered", _REASON)
    return len(found)


def _erase_from_rejected(writer: Reader, forgotten: ForgottenTexts) -> int:
    found = [
        seq
        for seq, text, reason in writer.rows("SELECT seq, text, reason FROM rejected")
        if forgotten.are_in(as_text(text)) or forgotten.are_in(as_text(reason))
    ]
    for seq in found:
        writer.rows("DELETE FROM rejected WHERE seq = ?", (seq,))
    return len(found)


def _erase_from_reasons(writer: Reader, forgotten: ForgottenTexts) -> int:
    reasons = [reason for (reason,) in writer.rows("SELECT DISTINCT reason FROM judged")]
    found = [reason for reason in reasons if forgotten.are_in(as_text(reason))]
    for reason in found:
        writer.rows("UPDATE judged SET reason = ? WHERE reason = ?", (_REASON, reason))
    return len(found)


def _texts(state: State) -> tuple[str | None, ...]:
    return state.user, state.assistant, state.previous_assistant


def _without(state: State, forgotten: ForgottenTexts) -> State:
    return replace(
        state,
        user=forgotten.cut_from(state.user) or "",
        assistant=forgotten.cut_from(state.assistant),
        previous_assistant=forgotten.cut_from(state.previous_assistant),
    )


def _spelling(text: str) -> re.Pattern[str]:
    bare = _TRAILING_MARKS.sub("", normalise(text))
    return re.compile(r"\s+".join(map(re.escape, bare.split())), re.IGNORECASE)
