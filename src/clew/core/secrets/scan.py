"""The scanner: runs the detectors, drops what is harmless, merges what overlaps, redacts what is left.

Not covered: a password broken over several lines (a token is followed to the next line), base64 of anything but the
best-known tokens, a passphrase of two or three plain words without quotation, a seed phrase that nothing announces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from clew.core.patterns import LazyPattern, LoweredText
from clew.core.secrets.assignments import assigned_secrets
from clew.core.secrets.commands import commanded_secrets
from clew.core.secrets.harmless import is_placeholder, is_plain_word, is_reference
from clew.core.secrets.kinds import shaped_secrets
from clew.core.secrets.lookalikes import fold_lookalikes
from clew.core.secrets.markup import framed_secrets
from clew.core.secrets.prose import told_secrets
from clew.core.secrets.series import serial_secrets
from clew.core.secrets.vocabulary import NAMES
from clew.core.text import INVISIBLE_CLASS, lower_in_place

_INVISIBLE = LazyPattern(f"[{INVISIBLE_CLASS}]+")
_MARKER = LazyPattern(r"\[redacted:[a-z0-9-]{1,40}\]")
_WRAPPED = LazyPattern(
    r"\\?\r?\n[ \t]{0,8}(?P<rest>(?=[A-Za-z]{0,80}\d)(?=\d{0,80}[A-Za-z])[A-Za-z0-9_+/=-]{8,200})"
    r"(?=[\"'`,;.)]{0,3}[ \t]{0,8}(?:[\r\n]|$))"
)
_MAX_ROUNDS = 8
_MAX_REPEATED_VALUES = 64
_MIN_REPEATED_CHARS = 6
#: Kinds whose shape alone proves little: their value is checked for words and references as well.
_WEAK_SHAPES = frozenset({"bearer-token", "basic-auth", "url-password", "netrc-password", "pgpass-password", "cookie"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretSpan:
    """Where the value of a secret stands: `text[start:end]`."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """A text without secrets, and the kinds that were taken out, in order of appearance."""

    text: str
    kinds: tuple[str, ...]


def find_secrets(text: str) -> tuple[SecretSpan, ...]:
    """The values of secrets in a text, left to right, not overlapping; also where a found value is repeated.

    Invisible characters inside a value do not hide it, and belong to its span. Placeholders, references, hashes,
    public keys and words about secrets are not found.
    """
    visible, origins = _visible(text)
    found = list(_candidates(fold_lookalikes(visible)))
    if not found:
        return ()
    markers = [match.span() for match in _MARKER.finditer(visible)]
    spans = _merge(_outside(markers, found))
    spans = _merge([*spans, *_outside(markers, list(_repeats(visible, spans)))])
    return tuple(
        SecretSpan(kind=kind, start=_origin(origins, start), end=_origin(origins, end - 1) + 1)
        for kind, start, end in spans
    )


def redact(text: str) -> Redacted:
    """The text with each secret value replaced by `[redacted:<kind>]` and everything else byte for byte.

    Redacting a redacted text changes nothing.
    """
    kinds: dict[str, None] = {}
    for _ in range(_MAX_ROUNDS):
        spans = find_secrets(text)
        if not spans:
            break
        pieces: list[str] = []
        position = 0
        for span in spans:
            pieces += [text[position : span.start], f"[redacted:{span.kind}]"]
            position = span.end
            kinds[span.kind] = None
        text = "".join([*pieces, text[position:]])
    return Redacted(text=text, kinds=tuple(kinds))


_Span = tuple[str, int, int]


def _candidates(text: str) -> Iterator[_Span]:
    lowered = LoweredText(lower_in_place(text))
    for kind, start, end in shaped_secrets(text, lowered):
        value = text[start:end]
        if not value or (is_placeholder(value) and kind not in {"private-key", "putty-private-key"}):
            continue
        if kind in _WEAK_SHAPES and (is_reference(value) or is_plain_word(value)):
            continue
        yield kind, start, _end_of_wrapped(text, end)
    names = list(NAMES.finditer(lowered))
    yield from serial_secrets(text, lowered)
    yield from assigned_secrets(text, names)
    yield from framed_secrets(text, lowered.text, names)
    yield from commanded_secrets(text, lowered)
    yield from told_secrets(text, lowered)


def _end_of_wrapped(text: str, end: int) -> int:
    """The end of a token that a line break cuts: the next line is one more run of letters and digits."""
    rest = _WRAPPED.match(text, end)
    return end if rest is None or not any(map(str.isdigit, rest["rest"])) else rest.end()


def _visible(text: str) -> tuple[str, list[int] | None]:
    """The text without invisible characters, and for each of its characters the place in the original (None: same)."""
    if text.isascii() or _INVISIBLE.search(text) is None:
        return text, None
    origins: list[int] = []
    pieces: list[str] = []
    position = 0
    for match in _INVISIBLE.finditer(text):
        pieces.append(text[position : match.start()])
        origins.extend(range(position, match.start()))
        position = match.end()
    pieces.append(text[position:])
    origins.extend(range(position, len(text)))
    return "".join(pieces), origins


def _origin(origins: list[int] | None, position: int) -> int:
    return position if origins is None else origins[position]


def _outside(markers: list[tuple[int, int]], spans: Iterable[_Span]) -> list[_Span]:
    """The parts of spans that stand outside earlier redaction marks."""
    if not markers:
        return list(spans)
    kept: list[_Span] = []
    index = 0
    for kind, start, end in sorted(spans, key=lambda span: span[1]):
        while index < len(markers) and markers[index][1] <= start:
            index += 1
        begin = start
        for mark_start, mark_end in markers[index:]:
            if mark_start >= end:
                break
            if begin < mark_start:
                kept.append((kind, begin, mark_start))
            begin = max(begin, mark_end)
        if begin < end:
            kept.append((kind, begin, end))
    return kept


def _merge(spans: Iterable[_Span]) -> list[_Span]:
    """Overlapping spans as one; the kind of the one that begins first, of the longest among those."""
    merged: list[_Span] = []
    for kind, start, end in sorted(spans, key=lambda span: (span[1], -span[2])):
        if merged and start < merged[-1][2]:
            first_kind, first_start, first_end = merged[-1]
            merged[-1] = (first_kind, first_start, max(first_end, end))
        else:
            merged.append((kind, start, end))
    return merged


def _repeats(text: str, spans: list[_Span]) -> Iterator[_Span]:
    """The same values elsewhere in the text."""
    values = {text[start:end]: kind for kind, start, end in reversed(spans) if end - start >= _MIN_REPEATED_CHARS}
    for value, kind in list(values.items())[-_MAX_REPEATED_VALUES:]:
        position = text.find(value)
        while position >= 0:
            yield kind, position, position + len(value)
            position = text.find(value, position + len(value))
