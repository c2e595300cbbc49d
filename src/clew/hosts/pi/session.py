"""One Pi session inside the engine: captures at once, judges in the background, recalls within the deadline."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import cast

from clew.core.errors import ClewError, StoreBusy, StoreUnavailable
from clew.core.ports import MemoryStore
from clew.core.records import Judgement, Message, Visibility
from clew.core.text import display_text
from clew.gate.evaluation import DECIDED_BY_ASK, DECIDED_BY_SCAN, Gate, SessionInfo
from clew.gate.settings import GateSettings
from clew.hosts.pi.background import Background
from clew.hosts.pi.commands import Commands
from clew.hosts.pi.deferred import DeferredModel
from clew.hosts.pi.parts import EngineStore, SessionParts
from clew.hosts.pi.process import log, log_failure
from clew.hosts.pi.protocol import (
    CaptureParams,
    CaptureResult,
    CommandParams,
    InitializeParams,
    Injected,
    RecallParams,
    RecallResult,
    ShutdownParams,
    SyncParams,
    ToolParams,
    ToolResult,
    WireMessage,
)
from clew.hosts.pi.status import StatusFacts, footer, render_noodle, render_status
from clew.hosts.pi.tools import Tools, error_result
from clew.hosts.pi.ui import Ui
from clew.memory.inbox import Inbox, ReviewMode
from clew.memory.recall import Recall

__all__ = ["EngineSession", "EngineStore", "SessionParts"]

_REOPEN_AFTER_S = 30.0
_MAX_UNSENT = 200
_EMBED_BATCH = 32
_EMBED_LIMIT_S = 1.0
_NOTICE_CHARS = 100
_NO_RECALL = RecallResult(content=None, injected=[], mode="none")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rooms:
    """What works once the store is open."""

    store: EngineStore
    gate: Gate
    inbox: Inbox
    recall: Recall
    tools: Tools
    commands: Commands


class EngineSession:
    """See `clew.hosts.pi.bridge.PiSession`. Whatever fails in here, Pi goes on; the person is told once."""

    def __init__(self, parts: SessionParts, params: InitializeParams, ui: Ui) -> None:
        self._parts = parts
        self._params = params
        self._ui = ui
        self._rooms: _Rooms | None = None
        self._store_error: ClewError | None = None
        self._reopen_at = float("-inf")
        self._unsent = list(params.messages)
        self._injected = _versions(params.injected)
        # Text by entry id of what surely stands in the prompt: said in this process, and no change of branch and no
        # compaction since.
        self._said: dict[str, str] = {}
        self._retrieved: list[str] = []
        self._footer: str | None = None
        self._has_queued = False
        self._is_closing = False
        self._logged: set[str] = set()
        self._model = DeferredModel(parts.open_model)
        self._background = Background(self._work_off)

    # -- PiSession -------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Open the store, journal what the resumed conversation holds, and judge in the background."""
        if self._parts.config.warnings:
            self._ui.notify("\n".join(self._parts.config.warnings), "warning")
        rooms = self._open()
        if rooms is None:
            return
        threading.Thread(target=self._prepare, args=(rooms.store,), name="prepare", daemon=True).start()
        self._journal(rooms, [], settled=True)
        self._background.wake()

    def sync(self, params: SyncParams) -> None:
        """Another branch is current, or a compaction has cut the conversation."""
        self._injected = _versions(params.injected)
        self._said.clear()
        if self._rooms is not None:
            self._rooms.gate.sync(_messages(params.messages))

    def capture(self, params: CaptureParams) -> CaptureResult:
        """Journal new messages; they are judged later, on the background thread."""
        self._said.update((m.entry_id, m.text) for m in params.messages if m.role == "user")
        rooms = self._rooms or self._open()
        if rooms is None:
            # Kept for a store that was only busy.
            self._unsent = [*self._unsent, *params.messages][-_MAX_UNSENT:]
            return CaptureResult(journalled=0)
        count = self._journal(rooms, params.messages, settled=params.settled)
        self._background.wake()
        return CaptureResult(journalled=count)

    def recall(self, params: RecallParams) -> RecallResult:
        """The memories that apply to a prompt, or nothing when there are none, in time."""
        rooms, noodle = self._rooms, self._parts.config.noodle
        if rooms is None or not noodle.recall_enabled or noodle.recall_max_tokens < 1:
            return _NO_RECALL
        deadline = time.monotonic() + params.deadline_ms / 1000
        injected = self._injected
        try:
            recalled = rooms.recall.recall(params.prompt, injected=injected, said=dict(self._said), deadline=deadline)
        except Exception as error:  # noqa: BLE001 - a prompt goes out without memories rather than not at all
            self._note_problem("recall", error)
            return _NO_RECALL
        # Too late: the extension has stopped waiting, so that nothing will stand in the conversation.
        if recalled.content is None or time.monotonic() > deadline:
            return RecallResult(content=None, injected=[], mode=recalled.mode)
        versions = {memory.id: memory.updated_at_ms for memory in recalled.memories}
        self._injected = {**injected, **versions}
        self._retrieved.extend(versions)
        self._background.wake()
        return RecallResult(
            content=recalled.content,
            injected=[Injected(id=id_, updated_at_ms=moment_ms) for id_, moment_ms in versions.items()],
            mode=recalled.mode,
        )

    def run_command(self, params: CommandParams) -> None:
        """Carry out a slash command. Without a store, only the two status commands work."""
        rooms = self._rooms
        if rooms is not None:
            rooms.commands.run(params)
            self._background.wake()
        elif params.name == "gate-status":
            self._ui.notify(self._describe_gate())
        elif params.name == "noodle" and not params.args.strip():
            self._ui.notify(render_noodle(self._parts.config))
        else:
            self._ui.notify(str(self._why_closed()), "warning")

    def run_tool(self, params: ToolParams) -> ToolResult:
        """Carry out a tool call of the agent."""
        rooms = self._rooms
        return error_result(self._why_closed()) if rooms is None else rooms.tools.run(params)

    def shutdown(self, params: ShutdownParams) -> None:
        """Work off what fits into the budget and close the store; the rest waits in the journal."""
        self._is_closing = True
        is_quiet = self._background.finish(params.budget_ms / 1000)
        rooms = self._rooms
        if rooms is None or not is_quiet:
            return  # a pass that hangs still uses the store; the process ends in a moment
        if self._has_queued and not self._params.has_ui and self._footer:
            self._ui.notify(f"{self._footer}. Run /memory-review in an interactive session of Pi.")
        self._rooms = None
        rooms.store.close()

    # -- opening ---------------------------------------------------------------------------------------------

    def _open(self) -> _Rooms | None:
        """Open the store and what stands on it. A store that was busy is tried again later; others stay closed."""
        if time.monotonic() < self._reopen_at:
            return None
        try:
            self._rooms = self._build(self._parts.open_store())
        except ClewError as error:
            if self._store_error is None:
                self._ui.notify(f"Clew remembers nothing for now. {error}", "warning")
            self._store_error = error
            may_pass = isinstance(error, (StoreBusy, StoreUnavailable))
            self._reopen_at = time.monotonic() + _REOPEN_AFTER_S if may_pass else float("inf")
        return self._rooms

    def _build(self, store: EngineStore) -> _Rooms:
        config, project_key = self._parts.config, self._parts.project.key
        session_id = self._params.session_id
        mode = cast("ReviewMode", config.gate.review_mode)
        inbox = Inbox(store, store, mode=mode, max_queue=config.gate.max_queue)
        return _Rooms(
            store=store,
            inbox=inbox,
            gate=Gate(
                captures=store,
                model=self._model,
                questions=self._parts.questions,
                outlet=inbox,
                session=SessionInfo(
                    session_id=session_id,
                    project_key=project_key,
                    project_name=self._parts.project.name,
                    owner=os.getpid(),
                ),
                settings=GateSettings.from_config(config.gate),
            ),
            recall=Recall(
                store,
                project_key=project_key,
                relevance_floor=self._parts.relevance_floor,
                max_tokens=config.noodle.recall_max_tokens,
            ),
            tools=Tools(store, session_id=session_id, project_key=project_key),
            commands=Commands(
                self._ui,
                store,
                inbox,
                session_id=session_id,
                project_key=project_key,
                gate_status=self._describe_gate,
                noodle_status=lambda: render_noodle(config),
            ),
        )

    def _prepare(self, store: EngineStore) -> None:
        """Load what the first recall and the first judgement need, in this order, while the person still types."""
        for what, prepare in (("vectors", store.prepare), ("decision model", self._model.prepare)):
            try:
                prepare()
            except Exception as error:  # noqa: BLE001 - its first use will meet the same problem, and say so
                self._note_problem(f"loading the {what}", error)

    def _why_closed(self) -> ClewError:
        return self._store_error or ClewError("Clew's session has ended.")

    # -- background ------------------------------------------------------------------------------------------

    def _journal(self, rooms: _Rooms, messages: Sequence[WireMessage], *, settled: bool) -> int:
        unsent, self._unsent = self._unsent, []
        try:
            return rooms.gate.capture(_messages([*unsent, *messages]), settled=settled)
        except Exception as error:  # noqa: BLE001 - a turn that cannot be kept is no reason to fail the next one
            self._note_problem("capture", error)
            return 0

    def _work_off(self, stop: Event) -> None:
        """One pass: judge, show, count what was injected, make missing vectors. Never raises."""
        rooms = self._rooms
        if rooms is None:
            return
        for step in (self._judge, self._show_waiting, self._mark_retrieved, self._embed):
            if stop.is_set():
                return
            try:
                step(rooms, stop)
            except Exception as error:  # noqa: BLE001 - the thread must live on for the next turn
                self._note_problem(step.__name__.strip("_"), error)

    def _judge(self, rooms: _Rooms, stop: Event) -> None:
        judgements = rooms.gate.judge_ready(stop)
        self._has_queued = self._has_queued or any(judgement.outcome == "queued" for judgement in judgements)
        notices = [notice for judgement in judgements if (notice := _notice(rooms.store, judgement))]
        if notices and self._parts.config.gate.tui_log != "off":
            # One text of several lines: Pi shows only the last of notices that follow each other.
            self._ui.notify("\n".join(notices))

    def _show_waiting(self, rooms: _Rooms, _stop: Event) -> None:
        text = footer(rooms.store.counts(), self._parts.clock_ms())
        if text != self._footer:
            self._footer = text
            self._ui.set_status(text)

    def _mark_retrieved(self, rooms: _Rooms, _stop: Event) -> None:
        retrieved, self._retrieved = self._retrieved, []
        if retrieved:
            rooms.store.mark_retrieved(retrieved)

    def _embed(self, rooms: _Rooms, _stop: Event) -> None:
        # Not at the end of a session: what lacks a vector is found by its words, and gets one in the next session.
        while not self._is_closing:
            deadline = time.monotonic() + _EMBED_LIMIT_S
            if not rooms.store.embed_missing(limit=_EMBED_BATCH, deadline=deadline):
                return

    def _note_problem(self, where: str, error: Exception) -> None:
        """One line in the log for each problem, however often it comes back."""
        key = str(error) if isinstance(error, ClewError) else f"{where}: {type(error).__name__}"
        if key in self._logged:
            return
        self._logged.add(key)
        if isinstance(error, ClewError):
            log(key)
        else:
            log_failure(where, error)

    # -- status ----------------------------------------------------------------------------------------------

    def _describe_gate(self) -> str:
        return render_status(self._gather_facts())

    def _gather_facts(self) -> StatusFacts:
        config, project, rooms = self._parts.config, self._parts.project, self._rooms
        model, search = self._parts.check_model(), self._parts.describe_search()
        if rooms is not None and rooms.gate.problem and not model.problem:
            model = replace(model, problem=rooms.gate.problem)
        common = {"config": config, "project": project, "model": model, "search": search}
        if rooms is None:
            return StatusFacts(**common, counts=None, store_problem=str(self._why_closed()))  # type: ignore[arg-type]
        everywhere = rooms.store.count(Visibility())
        return StatusFacts(
            **common,  # type: ignore[arg-type]
            counts=rooms.store.counts(),
            user_memories=everywhere,
            project_memories=rooms.store.count(Visibility(project_key=project.key)) - everywhere,
            now_ms=self._parts.clock_ms(),
        )


def _notice(store: MemoryStore, judgement: Judgement) -> str | None:
    """What the person is told of a judgement: what was saved, and what could not be although it was asked for."""
    if judgement.outcome == "saved" and judgement.memory_id:
        memory = store.get(judgement.memory_id)
        return f"Remembered: {display_text(memory.text, _NOTICE_CHARS)}" if memory else None
    is_hard = judgement.decision_model in {DECIDED_BY_ASK, DECIDED_BY_SCAN}
    return f"Not remembered: {judgement.reason}" if judgement.outcome == "vetoed" and is_hard else None


def _messages(messages: Sequence[WireMessage]) -> list[Message]:
    return [
        Message(
            entry_id=message.entry_id,
            role=message.role,
            text=message.text,
            timestamp_ms=message.timestamp_ms,
            stop_reason=message.stop_reason,
        )
        for message in messages
    ]


def _versions(injected: Sequence[Injected]) -> dict[str, int]:
    return {memory.id: memory.updated_at_ms for memory in injected}
