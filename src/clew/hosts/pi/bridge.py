"""The engine's side of the pipe to the Pi extension: handshake, dispatch, and a prompt end.

The handshake is answered before anything heavy is built. Captures and their kin run one after another, in the order
they came; recall has a thread of its own; commands, which may wait for a person, have a wide lane, and the agent's
tools another, so that no open dialog holds them up.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from queue import SimpleQueue
from typing import Any, BinaryIO, Protocol

import clew
from clew.core.errors import ClewError
from clew.hosts.pi.ids import screen_id
from clew.hosts.pi.lanes import Lane
from clew.hosts.pi.process import claim_stdio, is_standard_stream, log_failure, on_termination
from clew.hosts.pi.protocol import (
    ENGINE_METHODS,
    HOST_CAPABILITIES,
    PROTOCOL_VERSION,
    RECALL_DEADLINE_MS,
    WARMUP_MS,
    CaptureParams,
    CaptureResult,
    CommandParams,
    Empty,
    InitializeParams,
    InitializeResult,
    RecallParams,
    RecallResult,
    ShutdownParams,
    SyncParams,
    ToolParams,
    ToolResult,
)
from clew.hosts.pi.rpc import NOT_INITIALIZED, REFUSED, WRONG_PROTOCOL, Peer, Route, RpcError
from clew.hosts.pi.ui import PeerUi, Ui
from clew.hosts.pi.wire import from_json

#: Between the end of stdin and the end of the process.
EXIT_LIMIT_S = 0.85
_EXIT_MARGIN_S = 0.1
#: What the last answers may take of that, when the extension does not read them.
_DRAIN_LIMIT_S = 0.4
_COMMAND_THREADS = 16
_TOOL_THREADS = 4
#: Longer limits of the extension's are cut to this.
_MAX_WAIT_MS = 60_000


class PiSession(Protocol):
    """What the engine does for one Pi session. Methods are called from several threads."""

    def start(self) -> None:
        """Called once after the handshake. Calls wait until it returns, so slow work belongs on other threads."""
        ...

    def sync(self, params: SyncParams) -> None:
        """The branch changed."""
        ...

    def capture(self, params: CaptureParams) -> CaptureResult:
        """Journal new messages; they are on disk when this returns."""
        ...

    def recall(self, params: RecallParams) -> RecallResult:
        """Find what belongs into the prompt, within the deadline."""
        ...

    def run_command(self, params: CommandParams) -> None:
        """Carry out a slash command."""
        ...

    def run_tool(self, params: ToolParams) -> ToolResult:
        """Carry out a tool call."""
        ...

    def shutdown(self, params: ShutdownParams) -> None:
        """Finish what fits into the budget and close. Called at most once, after all captures."""
        ...


Build = Callable[[InitializeParams, Ui], PiSession]


def serve(
    stdin: BinaryIO,
    stdout: BinaryIO,
    build: Build,
    *,
    recall_deadline_ms: int = RECALL_DEADLINE_MS,
    warmup_ms: int = WARMUP_MS,
) -> int:
    """Serve one Pi session until stdin ends or the process is told to terminate.

    With the process's own stdout this does not return: the process ends within a second, whatever still hangs.

    Args:
        build: makes the session, on a thread of its own, after the handshake was answered.
        recall_deadline_ms: how long Pi waits for a recall.
        warmup_ms: how long it waits, in all, while this process has not answered its first recall.

    Returns:
        The exit code, 0.
    """
    owns_process = is_standard_stream(stdout, 1)
    ended: SimpleQueue[str] = SimpleQueue()
    if owns_process:
        stdin, stdout = claim_stdio(stdin, stdout)
        on_termination(ended.put)
    bridge = _Bridge(Peer(stdin, stdout), build, recall_deadline_ms, warmup_ms)
    threading.Thread(target=bridge.read_until_end, args=(ended.put,), name="reader", daemon=True).start()
    bridge.close(ended.get())
    if owns_process:
        # Not sys.exit: threads of a library that hang would hold the interpreter.
        os._exit(0)
    return 0


class _PendingSession:
    """A session that is still being built."""

    def __init__(self) -> None:
        self._is_settled = threading.Event()
        self._session: PiSession | None = None
        self._error: RpcError | None = None

    def settle(self, session: PiSession | None, error: RpcError | None = None) -> None:
        self._session, self._error = session, error
        self._is_settled.set()

    def wait(self, timeout_s: float | None = None) -> PiSession | None:
        """The session, or None when it is not there in time. Raises RpcError when it could not be built."""
        self._is_settled.wait(timeout_s)
        if self._error is not None:
            raise self._error
        return self._session

    def get(self) -> PiSession:
        session = self.wait()
        if session is None:
            raise RpcError(REFUSED, "Clew has no session.")
        return session


class _Bridge:
    def __init__(self, peer: Peer, build: Build, recall_deadline_ms: int, warmup_ms: int) -> None:
        self._peer = peer
        self._build = build
        self._recall_deadline_ms = recall_deadline_ms
        self._warmup_ms = warmup_ms
        self._session = _PendingSession()
        self._params: InitializeParams | None = None
        self._is_shut_down = False
        self._in_order = Lane("in-order", 1)
        self._recalls = Lane("recall", 1)
        self._commands = Lane("command", _COMMAND_THREADS)
        self._tools = Lane("tool", _TOOL_THREADS)

    def read_until_end(self, ended: Callable[[str], None]) -> None:
        try:
            self._peer.run(self._routes(), self._admit)
        except BaseException as error:  # noqa: BLE001 - a reader that dies must end the process, not freeze it
            log_failure("reading", error)
        finally:
            ended("eof")

    def close(self, reason: str) -> None:
        """Shut the session down behind everything that came in before; give up after EXIT_LIMIT_S."""
        deadline = time.monotonic() + EXIT_LIMIT_S
        is_done = threading.Event()
        self._in_order.submit(partial(self._close_session, reason, deadline, is_done))
        is_done.wait(EXIT_LIMIT_S)
        left_s = deadline - time.monotonic()
        self._peer.drain(min(max(left_s, _EXIT_MARGIN_S / 2), _DRAIN_LIMIT_S))

    def _close_session(self, reason: str, deadline: float, is_done: threading.Event) -> None:
        try:
            if self._params is not None:
                left_s = max(deadline - _EXIT_MARGIN_S - time.monotonic(), 0)
                self._shut_down(ShutdownParams(reason=reason, budget_ms=int(left_s * 1000)))
        except Exception as error:  # noqa: BLE001 - the process ends in any case
            log_failure("shutdown", error)
        finally:
            is_done.set()

    # -- routes ----------------------------------------------------------------------------------------------

    def _routes(self) -> dict[str, Route]:
        methods = {method.name: method for method in ENGINE_METHODS}

        def route(name: str, handle: Callable[[Any], object], lane: Lane | None, **more: Any) -> tuple[str, Route]:
            return name, Route(method=methods[name], handle=handle, lane=lane, **more)

        return dict(
            [
                route("initialize", self._initialize, None, decode=_decode_handshake, after=self._start_building),
                route("session.sync", self._sync, self._in_order, can_be_skipped=False),
                route("turn.capture", self._capture, self._in_order, can_be_skipped=False),
                route("shutdown", self._shut_down, self._in_order, can_be_skipped=False),
                route("recall", self._recall, self._recalls),
                route("command.run", self._run_command, self._commands),
                route("tool.run", self._run_tool, self._tools),
                route("cancel", self._peer.cancel, None),
            ]
        )

    def _admit(self, method: str) -> None:
        if method == "initialize" and self._params is not None:
            raise RpcError(NOT_INITIALIZED, "`initialize` came a second time.", "Start one engine per session.")
        if method != "initialize" and self._params is None:
            raise RpcError(NOT_INITIALIZED, f"`{method[:80]}` came before `initialize`.", "Send `initialize` first.")

    def _initialize(self, params: InitializeParams) -> InitializeResult:
        self._params = params
        return InitializeResult(
            protocol=PROTOCOL_VERSION,
            engine_version=clew.__version__,
            recall_deadline_ms=self._recall_deadline_ms,
            warmup_ms=self._warmup_ms,
            capabilities=[method.name for method in ENGINE_METHODS],
        )

    def _start_building(self) -> None:
        if self._params is not None:
            ui = PeerUi(self._peer, frozenset(self._params.capabilities) & frozenset(HOST_CAPABILITIES))
            threading.Thread(target=self._build_session, args=(self._params, ui), name="build", daemon=True).start()

    def _build_session(self, params: InitializeParams, ui: Ui) -> None:
        try:
            session = self._build(params, ui)
            session.start()
        except Exception as error:  # noqa: BLE001 - calls that wait for the session must hear of it
            failure = _describe_failed_start(error)
            self._session.settle(None, failure)
            ui.notify(str(failure), "error")
        else:
            self._session.settle(session)

    def _sync(self, params: SyncParams) -> Empty:
        self._session.get().sync(params)
        return Empty()

    def _capture(self, params: CaptureParams) -> CaptureResult:
        return self._session.get().capture(params)

    def _recall(self, params: RecallParams) -> RecallResult:
        wait_s = _bounded_ms(params.deadline_ms) / 1000
        deadline = time.monotonic() + wait_s
        session = self._session.wait(wait_s)
        if session is None:
            return RecallResult(content=None, injected=[], mode="none")
        left_ms = max(int((deadline - time.monotonic()) * 1000), 0)
        return session.recall(replace(params, deadline_ms=left_ms))

    def _run_command(self, params: CommandParams) -> Empty:
        self._session.get().run_command(params)
        return Empty()

    def _run_tool(self, params: ToolParams) -> ToolResult:
        return self._session.get().run_tool(params)

    def _shut_down(self, params: ShutdownParams) -> Empty:
        params = replace(params, budget_ms=_bounded_ms(params.budget_ms))
        session = self._session.wait(params.budget_ms / 1000)
        if session is not None and not self._is_shut_down:
            self._is_shut_down = True
            session.shutdown(params)
        return Empty()


def _decode_handshake(params: dict[str, Any]) -> InitializeParams:
    """Look at the version first: with another one, the other fields may have changed too."""
    protocol = params.get("protocol")
    if type(protocol) is int and protocol != PROTOCOL_VERSION:
        mend = "Update Clew's Python package" if protocol > PROTOCOL_VERSION else "Run `clew pi install`"
        raise RpcError(
            WRONG_PROTOCOL,
            f"The extension speaks protocol {protocol}, Clew {clew.__version__} speaks {PROTOCOL_VERSION}.",
            f"{mend}, then /reload in Pi.",
        )
    decoded = from_json(InitializeParams, params)
    return replace(decoded, session_id=screen_id(decoded.session_id, "session_id"))


def _bounded_ms(limit_ms: int) -> int:
    return min(max(limit_ms, 0), _MAX_WAIT_MS)


def _describe_failed_start(error: Exception) -> RpcError:
    if isinstance(error, ClewError):
        return RpcError(REFUSED, f"Clew could not start: {error.what}", error.next_step)
    log_failure("start", error)
    return RpcError(
        REFUSED, f"Clew could not start ({type(error).__name__}). Pi works without it.", "Run `clew status` to see why."
    )
