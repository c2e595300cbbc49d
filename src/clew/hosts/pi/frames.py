"""Frames on a byte stream: one JSON object per line.

A line ends at LF and nowhere else, so that U+2028 or a bare CR inside a text never cuts a frame. Whatever the peer
sends, reading costs at most `limit` bytes of memory and the stream goes on behind the damage.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, NoReturn

from clew.core.errors import ProtocolError
from clew.hosts.pi.protocol import MAX_FRAME_BYTES

PARSE_ERROR = -32700
INVALID_REQUEST = -32600

_SKIP_BYTES = 64 * 1024
# JSON may escape half a surrogate pair; such a string cannot be written as UTF-8 later on.
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class BadFrame(ProtocolError):
    """A frame that cannot be used; `code` is the JSON-RPC error code and `request_id` its id, where one was legible."""

    def __init__(self, code: int, what: str, next_step: str = "", *, request_id: int | str | None = None) -> None:
        super().__init__(what, next_step)
        self.code = code
        self.request_id = request_id


def read_frames(stream: BinaryIO, *, limit: int = MAX_FRAME_BYTES) -> Iterator[dict[str, Any] | BadFrame]:
    """Yield each frame as a JSON object, or as the BadFrame that describes why it is none, until the stream ends.

    Args:
        stream: anything with `readline(size)`.
        limit: longest frame in bytes, without its LF.
    """
    while line := stream.readline(limit + 1):
        if line.endswith(b"\n"):
            frame = line[:-1]
        elif len(line) > limit:
            _skip_line(stream)
            yield BadFrame(INVALID_REQUEST, f"The frame is longer than {limit} bytes.", "Send less at once.")
            continue
        else:
            yield BadFrame(PARSE_ERROR, f"The stream ended in the middle of a frame, after {len(line)} bytes.")
            return
        if frame.strip():
            yield _parse_or_describe(frame)


def encode_frame(message: dict[str, Any], *, limit: int = MAX_FRAME_BYTES) -> bytes:
    """The message as one line of ASCII JSON. Raises ProtocolError when it is too long or not JSON."""
    try:
        frame = json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise ProtocolError(f"The message cannot be written as JSON ({type(error).__name__}).") from None
    if len(frame) > limit:
        raise ProtocolError(f"The message is {len(frame)} bytes long; at most {limit} fit into a frame.")
    return frame + b"\n"


def _skip_line(stream: BinaryIO) -> None:
    while (piece := stream.readline(_SKIP_BYTES)) and not piece.endswith(b"\n"):
        pass


def _parse_or_describe(frame: bytes) -> dict[str, Any] | BadFrame:
    try:
        return _parse(frame)
    except BadFrame as error:
        return error


def _parse(frame: bytes) -> dict[str, Any]:
    try:
        text = frame.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadFrame(PARSE_ERROR, f"The frame is not valid UTF-8 (byte {error.start}).") from None
    try:
        message = json.loads(text, parse_constant=_refuse_constant)
        if _ESCAPED_SURROGATE.search(text):
            message = _without_surrogates(message)
    except (ValueError, RecursionError) as error:
        place = f" at character {error.pos}" if isinstance(error, json.JSONDecodeError) else ""
        raise BadFrame(PARSE_ERROR, f"The frame is not valid JSON{place}.") from None
    if isinstance(message, list):
        raise BadFrame(INVALID_REQUEST, "Batches are not part of this protocol.", "Send one object per line.")
    if not isinstance(message, dict):
        raise BadFrame(INVALID_REQUEST, f"The frame is not a JSON object but {type(message).__name__}.")
    return message


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _without_surrogates(value: Any) -> Any:
    """The value with each lone surrogate in a string replaced by U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value
