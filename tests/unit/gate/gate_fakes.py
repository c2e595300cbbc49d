"""In-memory stand-ins for the gate's ports, for tests that need to see or steer every call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from clew.core.decisions import ChoiceAnswer, Decision, NoulAnswer, Question, ScoreAnswer
from clew.core.errors import DecisionModelError
from clew.core.records import Candidate, CapturedState, Judgement, Message, NewMemory, State


def user(entry_id: str, text: str, timestamp_ms: int = 1_000) -> Message:
    return Message(entry_id=entry_id, role="user", text=text, timestamp_ms=timestamp_ms)


def agent(entry_id: str, text: str, stop_reason: str = "stop", timestamp_ms: int = 2_000) -> Message:
    return Message(entry_id=entry_id, role="assistant", text=text, timestamp_ms=timestamp_ms, stop_reason=stop_reason)


def decision(
    *,
    secret: float = 0.0,
    session: float = 0.0,
    failure: float = 0.0,
    durable: float = 0.0,
    importance: float = 0.0,
    target: str = "user",
    highlights: tuple[str, ...] = (),
) -> Decision:
    return Decision(
        answers={
            "has_secret": NoulAnswer(probability=secret),
            "is_session_scoped": NoulAnswer(probability=session),
            "is_failure": NoulAnswer(probability=failure),
            "is_durable": NoulAnswer(probability=durable),
            "importance": ScoreAnswer(score=importance, probabilities={}),
            "target": ChoiceAnswer(choice=target, probabilities={target: 0.9}),
        },
        model="fake-model",
        highlights=highlights,
    )


DURABLE = decision(durable=0.9, importance=2.0)


class FakeModel:
    """Answers with what it was given: one decision for all states, or an error to raise."""

    name = "fake-model"

    def __init__(self, answer: Decision | DecisionModelError = DURABLE) -> None:
        self.answer = answer
        self.asked: list[State] = []

    def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        self.asked.append(state)
        if isinstance(self.answer, DecisionModelError):
            raise self.answer
        return self.answer


class FakeCaptures:
    """The journal and the judged states as dictionaries."""

    def __init__(self) -> None:
        self.open: dict[str, CapturedState] = {}
        self.judged: dict[str, Judgement] = {}
        self.saved: list[NewMemory] = []

    def journal(self, states: Sequence[CapturedState]) -> int:
        count = 0
        for state in states:
            known = self.open.get(state.key)
            if state.key in self.judged or known == state or (known and not known.is_open):
                continue
            self.open[state.key] = state
            count += 1
        return count

    def unjudged(self, *, limit: int = 50) -> Sequence[CapturedState]:
        return [state for state in self.open.values() if not state.is_open][:limit]

    def settle(
        self,
        judgement: Judgement,
        *,
        save: NewMemory | None = None,
        queue: Candidate | None = None,
        max_queue: int = 20,
    ) -> Judgement | None:
        if judgement.key not in self.open:
            return None
        del self.open[judgement.key]
        if save is not None:
            self.saved.append(save)
            judgement = replace(judgement, memory_id=f"m{len(self.saved)}")
        self.judged[judgement.key] = judgement
        return judgement


class FakeOutlet:
    """Queues every candidate."""

    def __init__(self, captures: FakeCaptures) -> None:
        self.placed: list[Candidate] = []
        self._captures = captures

    def place(self, candidate: Candidate, judgement: Judgement) -> Judgement | None:
        self.placed.append(candidate)
        return self._captures.settle(replace(judgement, outcome="queued"))
