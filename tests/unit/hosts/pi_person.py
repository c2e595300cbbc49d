"""A person in front of Pi who answers dialogs by a script, and what they were shown."""

from __future__ import annotations

from collections.abc import Sequence

ALL_DIALOGS = ("notify", "status", "confirm", "select", "input", "editor")


class ScriptedUi:
    """Answers dialogs in order: a text, a bool, the number of an option, or None for leaving."""

    def __init__(self, answers: Sequence[object] = (), capabilities: Sequence[str] = ALL_DIALOGS) -> None:
        self.capabilities = frozenset(capabilities)
        self.notices: list[tuple[str, str]] = []
        self.footers: list[str | None] = []
        self.shown: list[tuple[str, tuple[str, ...]]] = []
        self.answers = list(answers)

    @property
    def texts(self) -> list[str]:
        return [message for message, _ in self.notices]

    def notify(self, message, level="info"):
        self.notices.append((message, level))

    def set_status(self, text):
        self.footers.append(text)

    def confirm(self, title, message):
        self.shown.append((f"{title}\n{message}", ()))
        return bool(self.answers.pop(0))

    def select(self, title, options):
        self.shown.append((title, tuple(options)))
        answer = self.answers.pop(0)
        return options[answer] if isinstance(answer, int) else answer

    def editor(self, title, prefill):
        self.shown.append((f"{title}\n{prefill}", ()))
        return self.answers.pop(0)

    def input(self, title, placeholder=""):
        self.shown.append((title, ()))
        return self.answers.pop(0)
