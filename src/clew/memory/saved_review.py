"""The review of what was saved without the person's word: they keep it or delete it. What they keep is not asked again."""

from __future__ import annotations

from collections.abc import Sequence

from clew.core.errors import InvalidInput, NotFound, RefusedText
from clew.core.ports import MemoryStore
from clew.core.records import MemoryRecord, Visibility
from clew.memory.filters import is_auto_saved
from clew.memory.inbox import mark_reviewed
from clew.memory.lines import describe_origin, render_line
from clew.memory.review import Dialogs

DONE, KEEP, DELETE = "Done", "Keep", "Delete"
_SHOWN = 10
_PAGE = 500
_PREVIEW_CHARS = 600


def find_unreviewed(memories: MemoryStore, visible: Visibility) -> list[MemoryRecord]:
    """What was saved without the person's word and not approved since, newest first."""
    found: list[MemoryRecord] = []
    offset = 0
    while page := memories.list(visible, limit=_PAGE, offset=offset):
        found += [memory for memory in page if is_auto_saved(memory)]
        offset += len(page)
    return found


def list_unreviewed(saved: Sequence[MemoryRecord]) -> str:
    """The newest of them as text, for hosts without dialogs."""
    rest = [f"  … and {len(saved) - _SHOWN} more"] if len(saved) > _SHOWN else []
    return "\n".join([_title(len(saved)), *(f"  {label}" for label in _labelled(saved[:_SHOWN])), *rest])


def review_saved(dialogs: Dialogs, memories: MemoryStore, saved: Sequence[MemoryRecord]) -> None:
    """Let the person go through them, one choice at a time; ends with one notice of what was done."""
    done: list[str] = []
    left = list(saved)
    try:
        while left:
            by_label = _labelled(left[:_SHOWN])
            choice = dialogs.select(_title(len(left)), [*by_label, DONE])
            memory = by_label.get(choice) if choice is not None else None
            if memory is None:
                break
            if outcome := _decide(dialogs, memories, memory):
                done.append(outcome)
                left.remove(memory)
    finally:
        if done:
            dialogs.notify("\n".join(done))


def _decide(dialogs: Dialogs, memories: MemoryStore, memory: MemoryRecord) -> str | None:
    """What was done with a memory, in words; None when the person left the question."""
    question = f"Keep it? ({describe_origin(memory)})\n{render_line(memory, _PREVIEW_CHARS)}"
    answer = dialogs.select(question, [KEEP, DELETE])
    try:
        if answer == KEEP:
            return f"Kept: {render_line(mark_reviewed(memories, memory))}"
        if answer == DELETE and may_forget(dialogs, memory):
            memories.forget(memory.id)
            return f"Forgotten: {render_line(memory)}"
    except (NotFound, RefusedText, InvalidInput) as error:
        return str(error)
    return None


def may_forget(dialogs: Dialogs, memory: MemoryRecord) -> bool:
    """Whether the person confirms that a memory is deleted for good; hosts that cannot ask have been told enough."""
    return "confirm" not in dialogs.capabilities or dialogs.confirm("Forget this for good?", render_line(memory))


def _title(count: int) -> str:
    return f"Saved without asking you ({count}), newest first:"


def _labelled(saved: Sequence[MemoryRecord]) -> dict[str, MemoryRecord]:
    """By the line that stands for each in a dialog; numbered, since two may read alike."""
    return {
        f"{number}. {render_line(memory)} ({describe_origin(memory)})": memory
        for number, memory in enumerate(saved, start=1)
    }
