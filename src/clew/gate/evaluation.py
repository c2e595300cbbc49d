"""End-of-turn evaluation: capture what was said, judge it in the background, route what is worth keeping."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import Protocol

from clew.core.asks import Ask, find_ask
from clew.core.decisions import Decision, Question
from clew.core.errors import DecisionModelError
from clew.core.injections import find_injections
from clew.core.opt_outs import asks_not_to_remember
from clew.core.ports import CaptureStore, DecisionModel
from clew.core.records import Candidate, CapturedState, Judgement, Message, NewMemory, Outcome, Provenance, State
from clew.core.scopes import scope_of
from clew.core.text import shorten
from clew.gate.inquiry import Inquiry
from clew.gate.rule import SECRET_QUESTION, Selection, select, veto_by_scan, veto_secret
from clew.gate.settings import GateSettings
from clew.gate.statement import make_statement, typed_part
from clew.gate.states import MAX_TEXT_CHARS, build_states, keep_tail, split_exchanges

#: `Judgement.decision_model` of a state that no model had to look at.
DECIDED_BY_ASK = "ask"
DECIDED_BY_SCAN = "scan"
REASON_ASKED = "you asked"
REASON_OPTED_OUT = "you asked not to remember it"

#: A state that a decision model cannot answer is set aside after this many tries.
MAX_TRIES = 3
_BATCH_STATES = 200


class Outlet(Protocol):
    """Where selected candidates go. `clew.memory.inbox.Inbox` is one."""

    def place(self, candidate: Candidate, judgement: Judgement) -> Judgement | None:
        """Save, queue or drop the candidate and settle its state in the same step.

        Args:
            judgement: what the rule found; its outcome and reason are completed here.

        Returns:
            The settled judgement, or None when another engine settled the state first.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """Which conversation is captured, for which project, by which engine (its process id)."""

    session_id: str
    project_key: str | None = None
    project_name: str | None = None
    owner: int = 0


class Gate:
    """Captures the turns of one session and judges what the journal holds.

    `capture` and `sync` belong to one thread, `judge_ready` to another (or the same).
    """

    def __init__(
        self,
        *,
        captures: CaptureStore,
        model: DecisionModel,
        questions: Mapping[str, Question],
        outlet: Outlet,
        session: SessionInfo,
        settings: GateSettings | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._captures = captures
        self._inquiry = Inquiry(model, monotonic=monotonic)
        self._questions = questions
        self._outlet = outlet
        self._session = session
        self._settings = settings or GateSettings()
        self._tail: list[Message] = []
        self._journalled: dict[str, CapturedState] = {}
        self._tries: dict[str, int] = {}

    @property
    def problem(self) -> str | None:
        """Why the decision model does not answer at the moment; None when it does or was not asked yet."""
        return self._inquiry.problem

    def sync(self, messages: Sequence[Message]) -> None:
        """Another branch (or a shortened one) is current now: take its tail as the conversation so far."""
        self._tail = list(messages)

    def capture(self, messages: Sequence[Message], *, settled: bool) -> int:
        """Take in new messages and journal their states.

        Args:
            messages: up to the current end of the branch, oldest first; they may begin with known ones.
            settled: the run has ended, so that the last reply is complete.

        Returns:
            How many states are new or changed; they are on disk by now.

        Raises:
            StoreError: nothing was journalled; the next capture tries the same states again.
        """
        self._tail = keep_tail(_continue(self._tail, messages), self._settings.window)
        states = build_states(
            self._tail,
            session_id=self._session.session_id,
            project_key=self._session.project_key,
            project_name=self._session.project_name,
            settled=settled,
            owner=self._session.owner,
            window=self._settings.window,
        )
        changed = [state for state in states if _is_news(state, self._journalled.get(state.key))]
        count = self._captures.journal(changed) if changed else 0
        self._journalled = {state.key: state for state in states[-2:]}
        # What is journalled needs no second look, except the last exchange, which may still grow, and the one before it.
        self._tail = [message for exchange in split_exchanges(self._tail)[-2:] for message in exchange.messages]
        return count

    def judge_ready(self, stop: Event | None = None, limit: int = _BATCH_STATES) -> list[Judgement]:
        """Judge states that are ready, oldest first, and route what is worth keeping.

        Explicit asks and hard vetoes need no model. While the model is down, other states wait in the journal.

        Args:
            stop: checked between states.
            limit: how many states are looked at.

        Returns:
            What became of this project's turns. What a session of another project left is settled as well, but it is
            not this person's business here and now.

        Raises:
            StoreError: judgements made before are settled; the rest waits.
        """
        judgements: list[Judgement] = []
        for captured in self._captures.unjudged(limit=limit):
            if stop is not None and stop.is_set():
                break
            judgement = self._judge(captured)
            if judgement is not None and captured.project_key == self._session.project_key:
                judgements.append(judgement)
        return judgements

    def _judge(self, captured: CapturedState) -> Judgement | None:
        if asks_not_to_remember(captured.state.user):
            opted_out = Selection(outcome="vetoed", reason=REASON_OPTED_OUT)
            return self._settle(captured, opted_out, decided_by=DECIDED_BY_ASK)
        typed = typed_part(captured.state.user)
        injections = find_injections(typed)
        # It parts the typed text once more: a page that was introduced as one stays a page behind a code block in it.
        ask = find_ask(typed)
        if ask is not None:
            return self._settle_ask(captured, typed, ask, injections)
        # One in the reply counts too: a turn that holds a credential is never proposed.
        veto = veto_by_scan(captured.secret_kinds, injections)
        if veto is not None:
            return self._settle(captured, veto, decided_by=DECIDED_BY_SCAN)
        return self._ask_model(captured, typed)

    def _settle_ask(self, captured: CapturedState, typed: str, ask: Ask, injections: Sequence[str]) -> Judgement | None:
        """An explicit ask is its own approval; only a secret, a planted order or a passing wish stops it."""
        refusal = _refuse_ask(captured, ask, injections) or self._suspect_secret(ask, typed)
        if refusal is not None:
            return self._settle(captured, refusal, decided_by=DECIDED_BY_ASK)
        scope = ask.scope if captured.project_key else "user"
        memory = NewMemory(
            text=ask.text,
            category=ask.category,
            scope=scope,
            project_key=captured.project_key if scope == "project" else None,
            created_at_ms=captured.timestamp_ms,
            provenance=Provenance(origin="ask", session_id=captured.session_id, entry_id=captured.entry_id),
        )
        saved = _judgement(captured, "saved", REASON_ASKED, target=ask.category, model=DECIDED_BY_ASK)
        return self._captures.settle(saved, save=memory)

    def _suspect_secret(self, ask: Ask, typed: str) -> Selection | None:
        """The model's veto of an ask, if it sees a secret where the scanner knew no form; what that knew is redacted.

        The message is judged as it was typed, because its words around a value tell what it is.
        """
        question = {name: asked for name, asked in self._questions.items() if name == SECRET_QUESTION}
        if not question:
            return None
        judged = typed if len(typed) <= MAX_TEXT_CHARS else shorten(ask.text, MAX_TEXT_CHARS)
        try:
            decision = self._inquiry.ask(State(user=judged), question)
        except DecisionModelError:
            decision = None
        # Without an answer the scanner's word stands: the person asked, and is not kept waiting for a model that is down.
        return veto_secret(decision, self._settings.thresholds) if decision else None

    def _ask_model(self, captured: CapturedState, typed: str) -> Judgement | None:
        start = time.perf_counter()
        state = replace(captured.state, user=shorten(captured.state.user, MAX_TEXT_CHARS))
        try:
            decision = self._inquiry.ask(state, self._questions)
        except DecisionModelError as error:
            return self._count_failure(captured, error)
        if decision is None:
            return None
        self._tries.pop(captured.key, None)
        duration_ms = (time.perf_counter() - start) * 1000
        selection = select(decision, self._settings.thresholds)
        if selection.outcome != "selected":
            return self._settle(captured, selection, decided_by=decision.model, duration_ms=duration_ms)
        return self._place(captured, typed, decision, selection, duration_ms)

    def _place(
        self, captured: CapturedState, typed: str, decision: Decision, selection: Selection, duration_ms: float
    ) -> Judgement | None:
        judgement = _judgement(
            captured,
            "filtered",
            selection.reason,
            target=selection.target,
            model=decision.model,
            scores=selection.scores,
            duration_ms=duration_ms,
        )
        statement = make_statement(typed, decision.highlights)
        if not statement:
            return self._captures.settle(replace(judgement, reason="only pasted text"))
        candidate = Candidate(
            text=statement,
            category=selection.target,
            scope=scope_of(selection.target, captured.project_key),
            project_key=captured.project_key,
            session_id=captured.session_id,
            entry_id=captured.entry_id,
            scores=selection.scores,
            reason=selection.reason,
            decision_model=decision.model,
        )
        return self._outlet.place(candidate, judgement)

    def _settle(
        self, captured: CapturedState, selection: Selection, *, decided_by: str, duration_ms: float = 0.0
    ) -> Judgement | None:
        outcome: Outcome = "vetoed" if selection.outcome == "vetoed" else "filtered"
        return self._captures.settle(
            _judgement(
                captured,
                outcome,
                selection.reason,
                target=selection.target,
                model=decided_by,
                scores=selection.scores,
                duration_ms=duration_ms,
            )
        )

    def _count_failure(self, captured: CapturedState, error: DecisionModelError) -> Judgement | None:
        """Leave the state for a later pass, or set it aside after MAX_TRIES."""
        self._tries[captured.key] = self._tries.get(captured.key, 0) + 1
        if self._tries[captured.key] < MAX_TRIES:
            return None
        del self._tries[captured.key]
        reason = f"not judged after {MAX_TRIES} tries: {error.what}"
        return self._captures.settle(_judgement(captured, "filtered", reason, target="none", model=self._inquiry.name))


def _continue(known: Sequence[Message], new: Sequence[Message]) -> list[Message]:
    """The conversation with new messages behind it. Where they begin with known ones, those are not doubled."""
    places = {message.entry_id: place for place, message in enumerate(known)}
    overlap = next((places[message.entry_id] for message in new if message.entry_id in places), len(known))
    return [*known[:overlap], *new]


def _is_news(state: CapturedState, journalled: CapturedState | None) -> bool:
    return journalled is None or (journalled.is_open and journalled != state)


def _secrets_in(captured: CapturedState, text: str) -> list[str]:
    """Kinds of the secrets that were redacted in this part of the message."""
    return [kind for kind in captured.secret_kinds if f"[redacted:{kind}]" in text]


def _refuse_ask(captured: CapturedState, ask: Ask, injections: Sequence[str]) -> Selection | None:
    # A secret elsewhere in the message (in a pasted log, say) does not stop what was asked for: it is not saved.
    veto = veto_by_scan(_secrets_in(captured, ask.text), injections)
    if veto is None and ask.is_temporary:
        return Selection(outcome="vetoed", reason="temporary: you asked for now only", target=ask.category)
    return veto


def _judgement(
    captured: CapturedState,
    outcome: Outcome,
    reason: str,
    *,
    target: str,
    model: str,
    scores: Mapping[str, float] | None = None,
    duration_ms: float = 0.0,
) -> Judgement:
    return Judgement(
        key=captured.key,
        entry_id=captured.entry_id,
        outcome=outcome,
        reason=reason,
        scores=scores or {},
        target=target,
        duration_ms=duration_ms,
        decision_model=model,
    )
