"""The review: one dialog per waiting candidate. Leaving a dialog never loses anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from clew.core.errors import InvalidInput, NotFound, RefusedText
from clew.core.records import Candidate
from clew.core.text import display_text
from clew.memory.inbox import Inbox

SAVE, SAVE_AS, EDIT, REJECT, SKIP, STOP = "Save", "Save as…", "Edit", "Reject", "Skip", "Stop"
#: What each category is for, in the order in which they are offered.
_CATEGORY_WORDS = {
    "user": "you and how to work with you",
    "project": "this repository",
    "memory": "machine and tools",
    "failure": "a lesson",
}
_PREVIEW_CHARS = 600
_LINE_CHARS = 90
_MAX_LISTED = 20

_Answer = Literal["saved", "rejected", "skipped", "stopped", "again"]


class Dialogs(Protocol):
    """What the review needs of a host's user interface. `capabilities` names the dialogs that it has."""

    @property
    def capabilities(self) -> frozenset[str]:
        """Any of `notify`, `confirm`, `select`, `editor`."""
        ...

    def notify(self, message: str, level: Literal["info", "warning", "error"] = "info") -> None:
        """Show a message; never waits."""
        ...

    def confirm(self, title: str, message: str) -> bool:
        """Ask yes or no; False also when the person left the dialog."""
        ...

    def select(self, title: str, options: list[str]) -> str | None:
        """Let the person choose; None when they left the dialog."""
        ...

    def editor(self, title: str, prefill: str) -> str | None:
        """Let the person edit a text; None when they left the dialog."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewCounts:
    """What a review came to; `left` still waits."""

    saved: int = 0
    rejected: int = 0
    left: int = 0


def review_inbox(dialogs: Dialogs, inbox: Inbox, *, project_key: str | None = None) -> ReviewCounts:
    """Show each waiting candidate, oldest first, and carry out the answers; ends with the counts.

    Hosts that can only confirm ask twice, since their "no" is not told from leaving the dialog. Hosts without
    dialogs list what waits and say how to review it.

    Args:
        project_key: the current project; candidates of others are shown with the project that they belong to.
    """
    waiting = inbox.waiting()
    if not waiting:
        dialogs.notify(_empty_notice(inbox))
        return ReviewCounts()
    if not dialogs.capabilities & {"select", "confirm"}:
        dialogs.notify(list_waiting(waiting, project_key=project_key))
        return ReviewCounts(left=len(waiting))
    counts = _Review(dialogs, inbox, project_key).run(waiting)
    dialogs.notify(f"Review: {counts.saved} saved, {counts.rejected} rejected, {counts.left} left for later.")
    return counts


def list_waiting(waiting: Sequence[Candidate], *, project_key: str | None = None) -> str:
    """What waits, as text for hosts without dialogs; of another project than `project_key` with its name."""
    head = f"{len(waiting)} {'memory waits' if len(waiting) == 1 else 'memories wait'} for review:"
    lines = [_list_line(item, project_key) for item in waiting[:_MAX_LISTED]]
    rest = [f"  … and {len(waiting) - _MAX_LISTED} more"] if len(waiting) > _MAX_LISTED else []
    return "\n".join([head, *lines, *rest, "Run /memory-review in an interactive session of Pi to answer."])


def _list_line(candidate: Candidate, project_key: str | None) -> str:
    is_foreign = candidate.scope == "project" and candidate.project_key != project_key
    place = f" ({_place(candidate, project_key)})" if is_foreign else ""
    return f"  [{candidate.category}]{place} {display_text(candidate.text, _LINE_CHARS)}"


def _place(candidate: Candidate, project_key: str | None) -> str:
    if candidate.scope == "user":
        return "everywhere"
    if candidate.project_key == project_key:
        return f"this project ({display_text(project_key or 'unknown', _LINE_CHARS)})"
    return f"project {display_text(candidate.project_key or 'unknown', _LINE_CHARS)}"


def describe(candidate: Candidate, similar: str | None = None) -> str:
    """What the person sees of a candidate: why it was proposed, and its text made safe to show.

    Args:
        similar: text of a stored memory that may tell the same fact.
    """
    seen = f" · seen {candidate.seen_count} times" if candidate.seen_count > 1 else ""
    lines = [f"{_scores(candidate)}{seen}", display_text(candidate.text, _PREVIEW_CHARS)]
    if similar is not None:
        lines.append(f"Similar to a saved memory: {display_text(similar, _LINE_CHARS)}")
    return "\n".join(lines)


def _scores(candidate: Candidate) -> str:
    shown = (
        ("is_durable", "lasting {:.2f}"),
        ("importance", "importance {:.1f} of 4"),
        ("is_failure", "lesson {:.2f}"),
    )
    parts = [words.format(candidate.scores[key]) for key, words in shown if key in candidate.scores]
    return " · ".join(parts) or candidate.reason


def _category_options(candidate: Candidate) -> dict[str, str]:
    """The categories by the line that explains each; the proposed one is marked."""
    marks = {candidate.category: " (proposed)"}
    return {f"{name} \u2013 {words}{marks.get(name, '')}": name for name, words in _CATEGORY_WORDS.items()}


def _empty_notice(inbox: Inbox) -> str:
    notes = {"auto": " Review mode is auto: what passes is saved at once.", "off": " Review mode is off."}
    return "No memories wait for review." + notes.get(inbox.mode, "")


class _Review:
    def __init__(self, dialogs: Dialogs, inbox: Inbox, project_key: str | None) -> None:
        self._dialogs = dialogs
        self._inbox = inbox
        self._project_key = project_key

    def run(self, waiting: Sequence[Candidate]) -> ReviewCounts:
        answers: list[_Answer] = []
        for position, candidate in enumerate(waiting, start=1):
            answer = self._ask(candidate, f"({position}/{len(waiting)})")
            if answer == "stopped":
                break
            answers.append(answer)
        saved, rejected = answers.count("saved"), answers.count("rejected")
        return ReviewCounts(saved=saved, rejected=rejected, left=len(waiting) - saved - rejected)

    def _ask(self, candidate: Candidate, position: str) -> _Answer:
        similar = self._inbox.similar(candidate)
        body = describe(candidate, similar.text if similar else None)
        place = f"{position} [{candidate.category}] {_place(candidate, self._project_key)}"
        ask_once = self._choose if "select" in self._dialogs.capabilities else self._confirm
        answer: _Answer = "again"
        while answer == "again":
            answer = ask_once(candidate, place, body)
        return answer

    def _choose(self, candidate: Candidate, place: str, body: str) -> _Answer:
        options = [SAVE, SAVE_AS, *([EDIT] if "editor" in self._dialogs.capabilities else []), REJECT, SKIP, STOP]
        choice = self._dialogs.select(f"Save to memory? {place}\n{body}", options)
        if choice == SAVE:
            return self._approve(candidate)
        if choice == SAVE_AS:
            return self._save_as(candidate, body)
        if choice == EDIT:
            text = self._dialogs.editor("Edit the memory", candidate.text)
            return self._approve(candidate, text=text) if text and text.strip() else "again"
        if choice == REJECT:
            return self._reject(candidate)
        return "skipped" if choice == SKIP else "stopped"

    def _save_as(self, candidate: Candidate, body: str) -> _Answer:
        by_option = _category_options(candidate)
        choice = self._dialogs.select(f"Save as which category?\n{body}", list(by_option))
        return self._approve(candidate, category=by_option[choice]) if choice in by_option else "again"

    def _confirm(self, candidate: Candidate, place: str, body: str) -> _Answer:
        if self._dialogs.confirm(f"Save to memory? {place}", body):
            return self._approve(candidate)
        if self._dialogs.confirm(f"Reject it for good? {place}", "No keeps it for a later review.\n" + body):
            return self._reject(candidate)
        return "skipped"

    def _approve(self, candidate: Candidate, *, text: str | None = None, category: str | None = None) -> _Answer:
        try:
            self._inbox.approve(candidate.id, text=text, category=category)
        except (RefusedText, InvalidInput) as error:
            self._dialogs.notify(str(error), "warning")
            # With one way to answer, asking again would go round in circles.
            return "again" if "select" in self._dialogs.capabilities else "skipped"
        except NotFound as error:
            self._dialogs.notify(str(error), "warning")
            return "skipped"
        return "saved"

    def _reject(self, candidate: Candidate) -> _Answer:
        try:
            self._inbox.reject(candidate.id)
        except NotFound as error:
            self._dialogs.notify(str(error), "warning")
            return "skipped"
        return "rejected"
