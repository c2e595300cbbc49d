"""A scripted OpenAI-compatible chat model on loopback, which keeps every request it was sent.

    with ScriptedModel(lambda request: Reply(text="ok")) as model:
        ...  # model.base_url goes into Pi's models.json
    model.requests[-1].messages

Only what Pi sends and needs is here: streaming completions with text and tool calls, HTTP errors, and streams that break off.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

_CHARS_PER_CHUNK = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool that the model wants to be run."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the model answers.

    Attributes:
        status: an HTTP status of 400 or more answers with an error instead.
        breaks_off: the stream ends in the middle, as when a connection is lost.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    status: int = 200
    breaks_off: bool = False


@dataclass(slots=True, kw_only=True)
class Request:
    """One request as it came over the wire; `answered_at` is the `time.monotonic()` second of the last byte of the reply."""

    index: int
    raw: bytes
    body: dict[str, Any] = field(default_factory=dict)
    answered_at: float | None = None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages, as the model sees them."""
        messages: list[dict[str, Any]] = self.body["messages"]
        return messages

    @property
    def raw_messages(self) -> bytes:
        """The bytes of the list of messages: what a provider's prefix cache compares."""
        start = self.raw.index(b'"messages":') + len(b'"messages":')
        text = self.raw[start:].decode()
        _, end = json.JSONDecoder().raw_decode(text)
        return text[:end].encode()

    @property
    def user_texts(self) -> list[str]:
        """Texts of the messages with the role of the user, oldest first."""
        return [content_text(m.get("content")) for m in self.messages if m["role"] == "user"]

    @property
    def all_text(self) -> str:
        """All texts of the request, for searching."""
        return "\n".join(content_text(m.get("content")) for m in self.messages)


Answer = Callable[[Request], Reply]


def content_text(content: Any) -> str:
    """Text of a message's content, be it a string or a list of blocks."""
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content or [])


def in_turn(replies: Iterable[Reply | str], *, then: str = "ok") -> Answer:
    """Answers with the replies one after another, then for ever with `then`."""
    waiting = iter([Reply(text=r) if isinstance(r, str) else r for r in replies])
    lock = threading.Lock()

    def answer(_: Request) -> Reply:
        with lock:
            return next(waiting, Reply(text=then))

    return answer


class ScriptedModel:
    """The server. Use it as a context manager; it listens on 127.0.0.1 at a free port."""

    def __init__(self, answer: Answer | None = None) -> None:
        self.answer: Answer = answer or in_turn([])
        self.requests: list[Request] = []
        self.errors: list[Exception] = []
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"model": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def base_url(self) -> str:
        """Base address for an OpenAI-compatible client."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def record(self, raw: bytes) -> Request:
        """Keep a request."""
        with self._lock:
            request = Request(index=len(self.requests), raw=raw, body=json.loads(raw))
            self.requests.append(request)
            return request

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False


class _Handler(BaseHTTPRequestHandler):
    model: ScriptedModel
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer a completion request."""
        request = self.model.record(self.rfile.read(int(self.headers["content-length"])))
        try:
            reply = self.model.answer(request)
            if reply.status >= 400:
                self._send_error(reply)
            else:
                self._stream(request, reply)
        except ConnectionError:
            self.close_connection = True
        except Exception as error:  # a mistake in a script has to fail the test, not vanish in a thread
            self.model.errors.append(error)
            raise
        request.answered_at = time.monotonic()

    def _send_error(self, reply: Reply) -> None:
        body = json.dumps({"error": {"message": f"scripted error {reply.status}", "code": reply.status}}).encode()
        self.send_response(reply.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, request: Request, reply: Reply) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        head = {"id": f"chat-{request.index}", "created": 0, "model": request.body["model"]}
        for event in _events(reply):
            self._send({**head, "object": "chat.completion.chunk", **event})
        if not reply.breaks_off:
            self._send({**head, "object": "chat.completion.chunk", "choices": [], "usage": _usage(request, reply)})
            self.wfile.write(b"data: [DONE]\n\n")

    def _send(self, event: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
        self.wfile.flush()


def _events(reply: Reply) -> Iterator[dict[str, Any]]:
    """The stream of a reply, piece by piece."""
    yield _choice({"role": "assistant", "content": ""})
    for start in range(0, len(reply.text), _CHARS_PER_CHUNK):
        yield _choice({"content": reply.text[start : start + _CHARS_PER_CHUNK]})
    if reply.breaks_off:
        return
    for index, call in enumerate(reply.tool_calls):
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        yield _choice(
            {"tool_calls": [{"index": index, "id": f"call_{index}", "type": "function", "function": function}]}
        )
    yield _choice({}, finish_reason="tool_calls" if reply.tool_calls else "stop")


def _choice(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}


def _usage(request: Request, reply: Reply) -> dict[str, int]:
    prompt, completion = len(request.raw) // 4, max(1, len(reply.text) // 4)
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
