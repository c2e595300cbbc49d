"""Replays Pi's session files through the gate: turn by turn, as the engine would have captured and judged them live."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from clew.core.fences import strip_fences
from clew.core.records import Judgement, Message, Outcome
from clew.core.secrets import redact
from clew.core.text import display_text
from clew.gate.evaluation import MAX_TRIES, Gate
from clew.gate.states import Exchange, split_exchanges
from clew.hosts.pi.session_file import BrokenLine, SessionFile, branch_messages, read_session

#: Makes the gate of one session; what it saves and queues goes to the store that the caller chose.
OpenGate = Callable[[SessionFile], Gate]

_EXCERPT_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedState:
    """What became of one message of the person.

    Attributes:
        turn: number of the message among the person's messages of the session, from 1; 0 for a state that waited in the
            store from somewhere else.
        turns: how many messages of the person the session holds.
        excerpt: the message's first words, without secrets.
        verdict: the category that the gate gave it, `none` when there was nothing to keep.
        ms: milliseconds that the decision model took; 0 when none was needed.
    """

    path: Path
    turn: int
    turns: int
    entry_id: str
    excerpt: str
    verdict: str
    outcome: Outcome
    reason: str
    scores: Mapping[str, float]
    ms: float

    def as_json(self) -> dict[str, Any]:
        """The row that `clew replay --json` prints."""
        return {
            "entry_id": self.entry_id,
            "outcome": self.outcome,
            "reason": self.reason,
            "scores": {name: round(value, 4) for name, value in self.scores.items()},
            "ms": round(self.ms, 2),
        }


class Replay:
    """A replay of session files; iterating it does the work. `totals` and `broken_lines` are complete afterwards.

    Raises (while iterating):
        InvalidInput: a file is not a Pi session.
        StoreError: the store did not take a state; everything before it is settled.
    """

    def __init__(self, paths: Sequence[Path], open_gate: OpenGate) -> None:
        self.broken_lines: list[tuple[Path, BrokenLine]] = []
        self.problem: str | None = None
        self._paths = paths
        self._open_gate = open_gate
        self._outcomes: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._times_ms: list[float] = []

    def __iter__(self) -> Iterator[ReplayedState]:
        for path in self._paths:
            session = read_session(path)
            self.broken_lines += [(path, line) for line in session.broken]
            self._counts["sessions"] += 1
            yield from self._replay_session(session)

    def totals(self) -> dict[str, Any]:
        """Counts of what became of the states so far.

        `passed_over` are messages that the store had judged before or that hold no words of the person (slash commands),
        `waiting` those that the decision model did not answer.
        """
        judged = sum(self._outcomes.values())
        return {
            "sessions": self._counts["sessions"],
            "judged": judged,
            **{outcome: self._outcomes[outcome] for outcome in ("saved", "queued", "filtered", "vetoed")},
            "passed_over": self._counts["passed_over"],
            "waiting": max(0, self._counts["journalled"] - judged),
            "broken_lines": len(self.broken_lines),
            "ms_p50": round(median(self._times_ms), 2) if self._times_ms else 0.0,
        }

    def _replay_session(self, session: SessionFile) -> Iterator[ReplayedState]:
        exchanges = split_exchanges(branch_messages(session))
        turns = {
            e.user.entry_id: (number, e.user.text) for number, e in enumerate(_spoken(exchanges), start=1) if e.user
        }
        gate = self._open_gate(session)
        for exchange in exchanges:
            journalled = gate.capture(_finished(exchange), settled=True)
            self._counts["journalled"] += journalled
            self._counts["passed_over"] += exchange.user is not None and journalled == 0
            yield from self._judge(gate, session.path, turns)
        # A state that the decision model could not answer is tried as often as the live engine would.
        for _ in range(MAX_TRIES - 1):
            yield from self._judge(gate, session.path, turns)
        self.problem = gate.problem

    def _judge(self, gate: Gate, path: Path, turns: Mapping[str, tuple[int, str]]) -> Iterator[ReplayedState]:
        for judgement in gate.judge_ready():
            turn, text = turns.get(judgement.entry_id, (0, ""))
            self._outcomes[judgement.outcome] += 1
            if judgement.duration_ms:
                self._times_ms.append(judgement.duration_ms)
            yield _replayed(judgement, path=path, turn=turn, turns=len(turns), text=text)


def _spoken(exchanges: Sequence[Exchange]) -> list[Exchange]:
    return [exchange for exchange in exchanges if exchange.user]


def _finished(exchange: Exchange) -> Sequence[Message]:
    """The messages of an exchange. It is all there is, even where the session breaks off in a tool loop."""
    if exchange.is_finished:
        return exchange.messages
    return [*exchange.messages[:-1], replace(exchange.messages[-1], stop_reason="aborted")]


def _replayed(judgement: Judgement, *, path: Path, turn: int, turns: int, text: str) -> ReplayedState:
    return ReplayedState(
        path=path,
        turn=turn,
        turns=turns,
        entry_id=judgement.entry_id,
        excerpt=display_text(redact(strip_fences(text)).text, _EXCERPT_CHARS),
        verdict=judgement.target,
        outcome=judgement.outcome,
        reason=judgement.reason,
        scores=judgement.scores,
        ms=judgement.duration_ms,
    )
