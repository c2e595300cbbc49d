"""The body of a request, off the wire: plain or chunked, bare or zstd, and never more than the limit."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from email.errors import FirstHeaderLineIsContinuationDefect, MissingHeaderBodySeparatorDefect
from email.message import Message
from types import ModuleType
from typing import BinaryIO

from clew.decide.server.refusals import BrokenBody, TooLarge, UnknownEncoding

MAX_BODY_BYTES = 1 << 20
#: How much of an oversized body is read and thrown away, so that the client gets to read the refusal.
MAX_DISCARDED_BYTES = 16 << 20
_MAX_LINE_BYTES = 1024
_MAX_TRAILERS = 64
_MAX_FRAMES = 64
_STEP_BYTES = 1 << 16
_NOT_A_HEADER = (MissingHeaderBodySeparatorDefect, FirstHeaderLineIsContinuationDefect)
#: Headers that say how to read the body. Two of a kind could be read in two ways.
_ONCE = ("Content-Length", "Transfer-Encoding", "Content-Encoding")
#: In the standard library from Python 3.14; its backport has the same interface.
_ZSTD_MODULES = ("compression.zstd", "backports.zstd")


def check_head(headers: Message) -> None:
    """Refuse a head after which nobody can tell where the body ends. Raises BrokenBody."""
    if any(isinstance(defect, _NOT_A_HEADER) for defect in headers.defects):  # what stands after it was not read
        raise BrokenBody("A line of the head is not a header.")
    for name in _ONCE:
        if len(headers.get_all(name) or []) > 1:
            raise BrokenBody(f"{name} stands twice.")


def read_body(stream: BinaryIO, headers: Mapping[str, str]) -> bytes:
    """The body as the sender wrote it, decompressed.

    Raises:
        BrokenBody: it ends early or its framing is wrong.
        TooLarge: it is over the limit, on the wire or decompressed.
        UnknownEncoding: its compression is not known here.
    """
    raw = _read_chunks(stream) if _is_chunked(headers) else _read_exactly(stream, _announced_bytes(headers))
    return _decompress(raw, headers.get("Content-Encoding") or "identity")


def _is_chunked(headers: Mapping[str, str]) -> bool:
    coding = (headers.get("Transfer-Encoding") or "").strip().lower()
    if coding and (coding != "chunked" or headers.get("Content-Length")):
        raise BrokenBody("Send a Content-Length, or Transfer-Encoding: chunked, and not both.")
    return bool(coding)


def _announced_bytes(headers: Mapping[str, str]) -> int:
    announced = (headers.get("Content-Length") or "0").strip()
    if not (announced.isascii() and announced.isdigit()):
        raise BrokenBody("Content-Length is not a whole number.")
    return int(announced) if len(announced) <= 18 else MAX_DISCARDED_BYTES + 1


def _read_exactly(stream: BinaryIO, size: int) -> bytes:
    if size > MAX_BODY_BYTES:
        _discard(stream, min(size, MAX_DISCARDED_BYTES))
        raise TooLarge(f"The body is larger than {MAX_BODY_BYTES} bytes.")
    body = stream.read(size)
    if len(body) < size:
        raise BrokenBody("The body ends before the length that was announced.")
    return body


def _discard(stream: BinaryIO, size: int) -> None:
    while size > 0 and (step := stream.read(min(size, _STEP_BYTES))):
        size -= len(step)


def _read_chunks(stream: BinaryIO) -> bytes:
    body = bytearray()
    discarded = 0
    while size := _chunk_size(stream):
        if len(body) + size > MAX_BODY_BYTES:
            _discard(stream, min(size, MAX_DISCARDED_BYTES - discarded))
            discarded += size
            if discarded >= MAX_DISCARDED_BYTES:
                break
        else:
            body += _read_exactly(stream, size)
        if _line(stream):
            raise BrokenBody("A chunk is longer than it says.")
    if discarded:
        raise TooLarge(f"The body is larger than {MAX_BODY_BYTES} bytes.")
    _skip_trailers(stream)
    return bytes(body)


def _chunk_size(stream: BinaryIO) -> int:
    digits = _line(stream).split(b";")[0].strip()
    if not 1 <= len(digits) <= 15 or digits.strip(b"0123456789abcdefABCDEF"):
        raise BrokenBody("A chunk does not begin with its size.")
    return int(digits, 16)


def _skip_trailers(stream: BinaryIO) -> None:
    for _ in range(_MAX_TRAILERS):
        if not _line(stream):
            return
    raise BrokenBody("The body has too many trailers.")


def _line(stream: BinaryIO) -> bytes:
    line = stream.readline(_MAX_LINE_BYTES)
    if not line.endswith(b"\n"):
        raise BrokenBody("The body ends early, or a line of its framing is too long.")
    return line.rstrip(b"\r\n")


def _decompress(raw: bytes, encoding: str) -> bytes:
    encoding = encoding.strip().lower()
    if encoding == "identity":
        return raw
    zstd = load_zstd()
    if encoding != "zstd" or zstd is None:
        raise UnknownEncoding("zstd" if zstd else "identity")
    body = bytearray()
    for frame in _frames(raw, zstd):
        body += frame
        if len(body) > MAX_BODY_BYTES:
            raise TooLarge(f"The body is larger than {MAX_BODY_BYTES} bytes when decompressed.")
    return bytes(body)


def _frames(raw: bytes, zstd: ModuleType) -> Iterator[bytes]:
    """The content of each zstd frame, one byte over the limit at most: a body may be made of several (RFC 8878)."""
    for _ in range(_MAX_FRAMES):
        decompressor = zstd.ZstdDecompressor()
        try:
            yield decompressor.decompress(raw, max_length=MAX_BODY_BYTES + 1)
        except zstd.ZstdError as error:
            raise BrokenBody("The body is not zstd, as its header says.") from error
        if not decompressor.eof:
            raise BrokenBody("The compressed body ends early.")
        raw = decompressor.unused_data
        if not raw:
            return
    raise BrokenBody(f"The compressed body has more than {_MAX_FRAMES} frames.")


def load_zstd() -> ModuleType | None:
    """The module that decodes zstd; None if this Python has none."""
    for name in _ZSTD_MODULES:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None
