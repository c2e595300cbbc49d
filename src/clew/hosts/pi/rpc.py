"""A symmetric JSON-RPC 2.0 peer over two byte streams: both sides ask, both sides answer.

One thread reads (`Peer.run`) and another writes, so that a full pipe never keeps the end of the stream from being
seen. Each request runs on the lane of its route, so a request that waits for a person holds up nothing but its own
kind. Every request is answered exactly once.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, BinaryIO

from clew.core.errors import ClewError, InvalidInput, ProtocolError
from clew.hosts.pi.frames import INVALID_REQUEST, BadFrame, encode_frame, read_frames
from clew.hosts.pi.lanes import Lane
from clew.hosts.pi.process import log, log_failure
from clew.hosts.pi.protocol import MAX_FRAME_BYTES, CancelParams, Method
from clew.hosts.pi.wire import from_json, to_json

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
#: A ClewError: its message says what happened and what to do.
REFUSED = -32000
#: The first request was not `initialize`, or came twice.
NOT_INITIALIZED = -32002
#: The two sides speak different protocols.
WRONG_PROTOCOL = -32003
CANCELLED = -32800

#: What may wait to be read by the other side; beyond it the connection is given up.
MAX_UNREAD_BYTES = 4 * MAX_FRAME_BYTES

RequestId = int | str


class RpcError(ProtocolError):
    """An error answer, given or received. `code` is one of the numbers above."""

    def __init__(self, code: int, what: str, next_step: str = "") -> None:
        super().__init__(what, next_step)
        self.code = code


class PeerGone(ProtocolError):
    """The other side is gone, or gave the request up; no answer will come."""

    def __init__(self) -> None:
        super().__init__("The other side no longer waits for this.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """How one method is answered.

    Attributes:
        handle: decoded parameters → result dataclass, or None for a notification.
        lane: where `handle` runs; None = on the reading thread, so it must be quick.
        decode: JSON parameters → parameters; raises InvalidInput or RpcError. None = by the method's dataclass.
        after: runs on the same thread once the answer has gone out.
        can_be_skipped: a request that was cancelled before it started need not run at all.
    """

    method: Method
    handle: Callable[[Any], object]
    lane: Lane | None = None
    decode: Callable[[dict[str, Any]], Any] | None = None
    after: Callable[[], None] | None = None
    can_be_skipped: bool = True

    def run(self, work: Callable[[], None]) -> None:
        """Run the work where requests of this route run."""
        if self.lane is None:
            work()
        else:
            self.lane.submit(work)


@dataclass(slots=True, kw_only=True, eq=False)
class _Request:
    """A request of the other side while it runs, and the calls that were made on its behalf."""

    id: RequestId | None
    route: Route
    params: Any
    is_cancelled: bool = False
    calls: set[int] = field(default_factory=set)


class Peer:
    """One end of the pipe."""

    def __init__(self, stdin: BinaryIO, stdout: BinaryIO) -> None:
        self._stdin = stdin
        self._stdout = stdout
        self._routes: Mapping[str, Route] = {}
        self._admit: Callable[[str], None] = lambda _method: None
        self._writer = Lane("writer", 1)
        self._unread_bytes = 0
        self._lock = threading.Lock()
        self._is_gone = False
        self._ids = itertools.count(1)
        self._calls: dict[int, SimpleQueue[object]] = {}
        self._requests: dict[RequestId, _Request] = {}
        self._running = threading.local()

    def run(self, routes: Mapping[str, Route], admit: Callable[[str], None]) -> None:
        """Answer requests until the stream ends.

        Args:
            admit: called with the method's name before anything else; raises RpcError to turn a request away.
        """
        self._routes = routes
        self._admit = admit
        try:
            for frame in read_frames(self._stdin):
                self._receive(frame)
                if self._is_gone:
                    break
        except (OSError, ValueError):
            log("the input stream broke")
        finally:
            self._hang_up()

    # -- asking ----------------------------------------------------------------------------------------------

    def notify(self, method: Method, params: object) -> None:
        """Tell the other side something. Nothing happens when it is gone."""
        self._send({"method": method.name, "params": to_json(params)})

    def call(self, method: Method, params: object, *, timeout_s: float | None = None) -> Any:
        """Ask the other side and wait for its answer, decoded as `method.result`.

        Raises:
            PeerGone: the stream ended, or the request this call was made for was cancelled.
            RpcError: the other side answered with an error, or not within `timeout_s`.
            ProtocolError: the answer has not the shape it should have.
        """
        call_id, answers = self._open_call()
        try:
            self._send({"id": call_id, "method": method.name, "params": to_json(params)})
            answer = answers.get(timeout=timeout_s)
        except Empty:
            self._send_cancel(call_id)
            raise RpcError(CANCELLED, f"{method.name} was not answered within {timeout_s} s.") from None
        finally:
            self._close_call(call_id)
        if isinstance(answer, ClewError):
            raise answer
        return _decode_result(method, answer)

    def _open_call(self) -> tuple[int, SimpleQueue[object]]:
        request: _Request | None = getattr(self._running, "request", None)
        call_id, answers = next(self._ids), SimpleQueue[object]()
        with self._lock:
            if self._is_gone or (request is not None and request.is_cancelled):
                raise PeerGone
            self._calls[call_id] = answers
            if request is not None:
                request.calls.add(call_id)
        return call_id, answers

    def _close_call(self, call_id: int) -> None:
        request: _Request | None = getattr(self._running, "request", None)
        with self._lock:
            self._calls.pop(call_id, None)
            if request is not None:
                request.calls.discard(call_id)

    def _send_cancel(self, call_id: int) -> None:
        self._send({"method": "cancel", "params": {"id": call_id}})

    # -- receiving -------------------------------------------------------------------------------------------

    def _receive(self, frame: dict[str, Any] | BadFrame) -> None:
        try:
            self._dispatch(frame)
        except BadFrame as error:
            log(f"bad frame: {error}")
            self._answer_error(error.request_id, error.code, error)

    def _dispatch(self, frame: dict[str, Any] | BadFrame) -> None:
        if isinstance(frame, BadFrame):
            raise frame
        request_id = _check_envelope(frame)
        if "method" in frame:
            self._receive_request(request_id, frame)
        else:
            self._receive_answer(request_id, frame)

    def _receive_answer(self, call_id: RequestId | None, frame: dict[str, Any]) -> None:
        with self._lock:
            answers = self._calls.get(call_id) if isinstance(call_id, int) else None
        if answers is None:
            log("an answer came that nobody waits for")
        elif "error" in frame:
            answers.put(_read_error(frame["error"]))
        else:
            answers.put(frame["result"])

    def _receive_request(self, request_id: RequestId | None, frame: dict[str, Any]) -> None:
        try:
            request = self._admit_request(request_id, frame)
        except InvalidInput as error:
            self._refuse(request_id, INVALID_PARAMS, error)
        except RpcError as error:
            self._refuse(request_id, error.code, error)
        else:
            request.route.run(partial(self._work, request))

    def _admit_request(self, request_id: RequestId | None, frame: dict[str, Any]) -> _Request:
        name = frame["method"]
        self._admit(name)
        route = self._routes.get(name)
        if route is None:
            raise RpcError(METHOD_NOT_FOUND, f"There is no method {name[:80]!r}.", "Update Clew on both sides.")
        if (request_id is None) != (route.method.result is None):
            raise RpcError(INVALID_REQUEST, f"`{name}` must {'not ' if request_id is not None else ''}have an id.")
        params = frame.get("params", {})
        if not isinstance(params, dict):
            raise InvalidInput("The parameters are not an object.")
        decoded = route.decode(params) if route.decode else from_json(route.method.params, params)
        return self._register(_Request(id=request_id, route=route, params=decoded))

    def _register(self, request: _Request) -> _Request:
        if request.id is not None:
            with self._lock:
                if request.id in self._requests:
                    raise RpcError(INVALID_REQUEST, "The id is already in use by a request that still runs.")
                self._requests[request.id] = request
        return request

    def _refuse(self, request_id: RequestId | None, code: int, error: ClewError) -> None:
        if request_id is None:  # JSON-RPC answers no notification
            log(f"notification refused: {error}")
        else:
            self._answer_error(request_id, code, error)

    def _work(self, request: _Request) -> None:
        self._running.request = request
        try:
            self._answer(request)
        except RpcError as error:
            self._refuse(request.id, error.code, error)
        except ClewError as error:
            self._refuse(request.id, REFUSED, error)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong, the other side gets its answer
            self._refuse(request.id, INTERNAL_ERROR, _describe(request, error))
        finally:
            self._finish(request)

    def _answer(self, request: _Request) -> None:
        if request.is_cancelled and request.route.can_be_skipped:
            raise RpcError(CANCELLED, "Cancelled before it started.")
        result = request.route.handle(request.params)
        if request.id is not None:
            self._send({"id": request.id, "result": to_json(result)})

    def _finish(self, request: _Request) -> None:
        self._running.request = None
        if request.id is not None:
            with self._lock:
                self._requests.pop(request.id, None)
        if request.route.after is not None:
            request.route.after()

    def cancel(self, params: CancelParams) -> None:
        """Give up a request of the other side: skip it if it waits, and end the calls that it waits for."""
        with self._lock:
            request = self._requests.get(params.id)
            if request is None:
                return
            request.is_cancelled = True
            calls = list(request.calls)
        for call_id in calls:
            self._send_cancel(call_id)
            self._end_call(call_id)

    # -- sending ---------------------------------------------------------------------------------------------

    def _answer_error(self, request_id: RequestId | None, code: int, error: ClewError) -> None:
        detail = {"what": error.what, "next_step": error.next_step, "kind": type(error).__name__}
        self._send({"id": request_id, "error": {"code": code, "message": str(error), "data": detail}})

    def _send(self, message: dict[str, Any]) -> None:
        frame = encode_frame({"jsonrpc": "2.0", **message})
        with self._lock:
            self._unread_bytes += len(frame)
            is_unread = self._unread_bytes > MAX_UNREAD_BYTES
        if not is_unread:
            self._writer.submit(partial(self._write, frame))
        elif not self._is_gone:
            log("the other side does not read what it is sent")
            self._hang_up()

    def _write(self, frame: bytes) -> None:
        try:
            self._stdout.write(frame)
            self._stdout.flush()
        except (OSError, ValueError):  # a broken pipe or a closed stream: the other side is gone
            self._hang_up()
        with self._lock:
            self._unread_bytes -= len(frame)

    def drain(self, timeout_s: float) -> None:
        """Wait until everything sent so far is written, at most `timeout_s`."""
        is_written = threading.Event()
        self._writer.submit(is_written.set)
        is_written.wait(timeout_s)

    def _hang_up(self) -> None:
        with self._lock:
            self._is_gone = True
            calls = list(self._calls)
        for call_id in calls:
            self._end_call(call_id)

    def _end_call(self, call_id: int) -> None:
        with self._lock:
            answers = self._calls.get(call_id)
        if answers is not None:
            answers.put(PeerGone())


def _check_envelope(frame: dict[str, Any]) -> RequestId | None:
    """The frame's id. Raises BadFrame when the frame is neither a request nor an answer of JSON-RPC 2.0."""
    request_id = frame.get("id")
    if type(request_id) not in {int, str, type(None)}:
        raise BadFrame(INVALID_REQUEST, "The field `id` is neither an integer nor a string.")
    if frame.get("jsonrpc") != "2.0":
        raise BadFrame(INVALID_REQUEST, 'The field `jsonrpc` is not "2.0".', request_id=request_id)
    if "method" in frame:
        if not isinstance(frame["method"], str):
            raise BadFrame(INVALID_REQUEST, "The field `method` is not a string.", request_id=request_id)
    elif ("result" in frame) == ("error" in frame):
        raise BadFrame(INVALID_REQUEST, "The frame is neither a request nor an answer.", request_id=request_id)
    return request_id


def _read_error(error: object) -> RpcError:
    if not isinstance(error, dict):
        return RpcError(INTERNAL_ERROR, "The other side answered with a malformed error.")
    code = error.get("code")
    return RpcError(code if isinstance(code, int) else INTERNAL_ERROR, str(error.get("message", "")))


def _decode_result(method: Method, answer: object) -> Any:
    if method.result is None:
        return None
    try:
        return from_json(method.result, answer)
    except InvalidInput as error:
        raise ProtocolError(f"The answer to {method.name} cannot be used: {error}") from None


def _describe(request: _Request, error: Exception) -> RpcError:
    """An unforeseen error for the wire. Its text stays out: it may quote a memory."""
    log_failure(request.route.method.name, error)
    return RpcError(
        INTERNAL_ERROR,
        f"{request.route.method.name} failed unexpectedly ({type(error).__name__}).",
        "Please report this.",
    )
