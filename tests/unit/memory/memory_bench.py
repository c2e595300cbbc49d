"""A real store in a temporary folder, and a person who answers dialogs by a script."""

from __future__ import annotations

from collections.abc import Sequence

from clew.core.records import Candidate, CapturedState, Judgement, NewMemory, Provenance, State

PROJECT = "example.org/ada/shop"


def new_memory(text: str, **more) -> NewMemory:
    return NewMemory(text=text, **{"provenance": Provenance(origin="library"), **more})


def candidate(text: str, category: str = "user", **more) -> Candidate:
    values = {
        "scope": "user",
        "project_key": None,
        "session_id": "s1",
        "entry_id": "e1",
        "scores": {"is_durable": 0.93, "importance": 2.4},
        "reason": "durable 0.93, importance 2.4",
        "decision_model": "fake-model",
    }
    return Candidate(text=text, category=category, **{**values, **more})


class Placing:
    """Brings candidates to an inbox the way the gate does: each with a state that waits in the journal."""

    def __init__(self, store, inbox) -> None:
        self._store = store
        self._inbox = inbox
        self._number = 0

    def __call__(self, text: str, category: str = "user", **more) -> Judgement:
        self._number += 1
        proposed = candidate(text, category, **more)
        key = f"e{self._number}:1"
        self._store.journal(
            [
                CapturedState(
                    key=key,
                    entry_id=f"e{self._number}",
                    session_id="s1",
                    project_key=None,
                    state=State(user=text),
                    timestamp_ms=self._number,
                )
            ]
        )
        judgement = Judgement(
            key=key,
            entry_id=f"e{self._number}",
            outcome="filtered",
            reason=proposed.reason,
            scores=proposed.scores,
            target=category,
            duration_ms=1.0,
            decision_model="fake-model",
        )
        settled = self._inbox.place(proposed, judgement)
        assert settled is not None
        return settled


class ScriptedUi:
    """Answers dialogs in order; `Leave` leaves one. Keeps all that was shown."""

    def __init__(self, answers: Sequence[object] = (), capabilities: Sequence[str] = ("select", "confirm", "editor")):
        self.capabilities = frozenset(capabilities)
        self.notices: list[str] = []
        self.shown: list[tuple[str, tuple[str, ...]]] = []
        self._answers = list(answers)

    def notify(self, message, level="info"):
        self.notices.append(message)

    def set_status(self, text):
        self.notices.append(f"status: {text}")

    def confirm(self, title, message):
        self.shown.append((f"{title}\n{message}", ()))
        return bool(self._answers.pop(0))

    def select(self, title, options):
        self.shown.append((title, tuple(options)))
        answer = self._answers.pop(0)
        if isinstance(answer, int):
            return options[answer]
        assert answer is None or answer in options
        return answer

    def editor(self, title, prefill):
        self.shown.append((f"{title}\n{prefill}", ()))
        return self._answers.pop(0)

    def input(self, title, placeholder=""):
        return self._answers.pop(0)

    @property
    def is_done(self) -> bool:
        return not self._answers
