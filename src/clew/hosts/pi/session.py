"""One Pi session inside the engine: captures at once, judges in the background, recalls within the deadline."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Event
from typing import cast

from clew.core.errors import ClewError, InvalidInput, StoreBusy, StoreUnavailable
from clew.core.ports import MemoryStore
from clew.core.records import Judgement, Visibility
from clew.core.text import display_text
from clew.gate.evaluation import DECIDED_BY_ASK, DECIDED_BY_SCAN, Gate, SessionInfo
from clew.gate.settings import GateSettings
from clew.hosts.pi.background import Background
from clew.hosts.pi.captures import Captures
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
)
from clew.hosts.pi.status import StatusFacts, footer, render_noodle, render_status
from clew.hosts.pi.tools import Tools, error_result
from clew.hosts.pi.ui import Ui
from clew.memory.inbox import Inbox, ReviewMode
from clew.memory.recall import Recall
from clew.memory.said import RecentlySaid

__all__ = ["EngineSession", "EngineStore", "SessionParts"]

_REOPEN_AFTER_S = 30.0
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
        self._opening = threading.Lock()
        self._captures = Captures(parts.clock_ms)
        self._changing = threading.Lock()  # of what stands in the conversation
        self._injected = _versions(params.injected)
        # Text by entry id of what surely stands in the prompt: said in this process, and no change of branch and no
        # compaction since.
        self._said = RecentlySaid()
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
        self._captures.resume(self._params.messages, settled=self._params.is_idle)
        rooms = self._open()
        if rooms is not None:
            threading.Thread(target=self._prepare, args=(rooms.store,), name="prepare", daemon=True).start()
            with suppress(ClewError):  # told, and tried again
                self._flush(rooms)
        self._background.wake()

    def sync(self, params: SyncParams) -> None:
        """Another branch is current, or a compaction has cut the conversation."""
        with self._changing:
            self._injected = _versions(params.injected)
            self._said.clear()
        self._captures.sync(params.messages)
        self._background.wake()

    def capture(self, params: CaptureParams) -> CaptureResult:
        """Journal new messages; they are judged later, on the background thread.

        Raises:
            ClewError: they are not on disk; what could not be written is kept and tried again.
            InvalidInput: some have no usable id; all others are on disk.
        """
        self._said.add((m.entry_id, m.text) for m in params.messages if m.role == "user")
        left_out = self._captures.add(params.messages, settled=params.settled)
        try:
            rooms = self._rooms or self._open()
            if rooms is None:
                raise self._why_closed()
            count = self._flush(rooms)
        finally:
            self._background.wake()
        if left_out:
            raise InvalidInput(f"The ids of {left_out} messages are none.", "See the log; all others were kept.")
        return CaptureResult(journalled=count)

    def recall(self, params: RecallParams) -> RecallResult:
        """The memories that apply to a prompt, or nothing when there are none, in time."""
        rooms, noodle = self._rooms, self._parts.config.noodle
        if rooms is None or not noodle.recall_enabled or noodle.recall_max_tokens < 1:
            return _NO_RECALL
        deadline = time.monotonic() + params.deadline_ms / 1000
        with self._changing:
            injected, said = dict(self._injected), self._said.snapshot()
        try:
            recalled = rooms.recall.recall(params.prompt, injected=injected, said=said, deadline=deadline)
        except Exception as error:  # noqa: BLE001 - a prompt goes out without memories rather than not at all
            self._note_problem("recall", error)
            return _NO_RECALL
        # Too late: the extension has stopped waiting, so that nothing will stand in the conversation.
        if recalled.content is None or time.monotonic() > deadline:
            return RecallResult(content=None, injected=[], mode=recalled.mode)
        versions = {memory.id: memory.updated_at_ms for memory in recalled.memories}
        with self._changing:
            # Added to what stands there now: another branch may have become current during the search.
            self._injected.update(versions)
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
        if self._captures.is_waiting:
            self._background.wake()
        is_quiet = self._background.finish(params.budget_ms / 1000)
        if self._captures.is_waiting:
            self._ui.notify("Clew could not write down all that was said; resume this session to try again.", "warning")
        rooms = self._rooms
        if rooms is None or not is_quiet:
            return  # a pass that hangs still uses the store; the process ends in a moment
        if self._has_queued and not self._params.has_ui and self._footer:
            self._ui.notify(f"{self._footer} in an interactive session of Pi.")
        self._rooms = None
        rooms.store.close()

    # -- opening ---------------------------------------------------------------------------------------------

    def _open(self) -> _Rooms | None:
        """Open the store and what stands on it. A store that was busy is tried again later; others stay closed."""
        with self._opening:
            if self._rooms is not None or time.monotonic() < self._reopen_at:
                return self._rooms
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

    def _flush(self, rooms: _Rooms) -> int:
        """Journal what waits. Raises ClewError when it could not all be written; the person is told of each cause once."""
        try:
            return self._captures.flush(rooms.gate)
        except Exception as error:
            if self._note_problem("capture", error):
                self._ui.notify(f"Clew could not write down what was said. {_describe(error)}", "warning")
            raise _describe(error) from error

    def _work_off(self, stop: Event) -> None:
        """One pass: judge, show, count what was injected, make missing vectors. Never raises."""
        rooms = self._rooms or self._open()
        if rooms is None:
            return
        for step in (self._write, self._judge, self._show_waiting, self._mark_retrieved, self._embed):
            if stop.is_set():
                return
            try:
                step(rooms, stop)
            except Exception as error:  # noqa: BLE001 - the thread must live on for the next turn
                self._note_problem(step.__name__.strip("_"), error)

    def _write(self, rooms: _Rooms, _stop: Event) -> None:
        if self._captures.is_waiting:
            self._flush(rooms)

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
        retrieved = list(self._retrieved)
        if retrieved:
            rooms.store.mark_retrieved(retrieved)
            del self._retrieved[: len(retrieved)]  # a recall may have added more meanwhile

    def _embed(self, rooms: _Rooms, _stop: Event) -> None:
        # Not at the end of a session: what lacks a vector is found by its words, and gets one in the next session.
        while not self._is_closing:
            deadline = time.monotonic() + _EMBED_LIMIT_S
            if not rooms.store.embed_missing(limit=_EMBED_BATCH, deadline=deadline):
                return

    def _note_problem(self, where: str, error: Exception) -> bool:
        """One line in the log for each problem, however often it comes back. Returns whether it is a new one."""
        key = str(error) if isinstance(error, ClewError) else f"{where}: {type(error).__name__}"
        if key in self._logged:
            return False
        self._logged.add(key)
        if isinstance(error, ClewError):
            log(key)
        else:
            log_failure(where, error)
        return True

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


def _describe(error: Exception) -> ClewError:
    """The error for the person and the wire. The text of an unforeseen one stays out: it may quote a message."""
    if isinstance(error, ClewError):
        return error
    return ClewError(f"A turn could not be kept ({type(error).__name__}).", "Please report this.")


def _versions(injected: Sequence[Injected]) -> dict[str, int]:
    return {memory.id: memory.updated_at_ms for memory in injected}
