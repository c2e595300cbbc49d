"""Regular expressions that cost nothing until they are needed: compiled on first use, tried only where they can match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Generic, TypeVar

_LITERAL = re.compile(r"(?:[^\\()\[\]{}?*+|.^$](?![?*{]))+")
# Latin letters and digits are enough: phrases in other scripts are looked for as they are.
_WORD = re.compile(r"[a-z0-9]{3,}")
_HEAD_CHARS = 3
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
T = TypeVar("T")


class LazyPattern:
    """A pattern that is compiled when it is first used; afterwards as fast as a compiled one."""

    def __init__(self, source: str, flags: re.RegexFlag = re.NOFLAG) -> None:
        self.source = source
        self._flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern itself."""
        return re.compile(self.source, self._flags)

    @cached_property
    def match(self) -> Callable[..., re.Match[str] | None]:
        """`re.Pattern.match`."""
        return self.compiled.match

    @cached_property
    def search(self) -> Callable[..., re.Match[str] | None]:
        """`re.Pattern.search`."""
        return self.compiled.search

    @cached_property
    def finditer(self) -> Callable[..., Iterator[re.Match[str]]]:
        """`re.Pattern.finditer`."""
        return self.compiled.finditer

    @cached_property
    def findall(self) -> Callable[..., list[str]]:
        """`re.Pattern.findall`."""
        return self.compiled.findall

    @cached_property
    def sub(self) -> Callable[..., str]:
        """`re.Pattern.sub`."""
        return self.compiled.sub


def lower_in_place(text: str) -> str:
    """The text in lower case, each character at its old place; a character that would grow stays as it is.

    Patterns that ignore case run several times faster on lowered text than with `re.IGNORECASE`.
    """
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


class LoweredText:
    """A text in lower case and how its words begin, which rules out most phrases without reading the text again."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.ascii = as_ascii(text)
        #: The first three characters of every Latin word, and each character beyond ASCII.
        self.heads = {word[:_HEAD_CHARS] for word in _WORD.findall(self.ascii)}
        if not text.isascii():
            self.heads.update(_BEYOND_ASCII.findall(text))


def as_ascii(text: str) -> str:
    """The text with a question mark for everything beyond ASCII: looking for ASCII in it is several times faster."""
    return text if text.isascii() else text.encode("ascii", "replace").decode("ascii")


class ByHead(Generic[T]):
    """Things filed by a phrase that must stand in a text, at the beginning of a word, for them to matter."""

    def __init__(self, phrased: Iterable[tuple[str, T]]) -> None:
        self._filed: dict[str, list[T]] = {}
        self._always: list[T] = []
        for phrase, thing in phrased:
            beyond = _BEYOND_ASCII.search(phrase)
            head = beyond.group() if beyond else phrase[:_HEAD_CHARS]
            is_filed = beyond is not None or _WORD.fullmatch(head) is not None
            (self._filed.setdefault(head, []) if is_filed else self._always).append(thing)

    def of(self, lowered: LoweredText) -> Iterator[T]:
        """What the text may hold. A phrase too short to be filed is never ruled out."""
        yield from self._always
        for head in self._filed.keys() & lowered.heads:
            yield from self._filed[head]


class Vocabulary:
    """Many phrases as one pattern, each phrase in a named group.

    Every phrase begins with a few letters as they stand. Only where a text holds such a beginning is the pattern
    tried; searching for all of them everywhere costs ten times as much. With `at_word_start` no phrase begins inside a
    word, which saves most of the looking.
    """

    def __init__(
        self, groups: Mapping[str, Iterable[str]], *, before: str = "", after: str = "", at_word_start: bool = False
    ) -> None:
        lists = {name: tuple(phrases) for name, phrases in groups.items()}
        self.stems = _shortest(literal_start(phrase) for phrases in lists.values() for phrase in phrases)
        self._anywhere = tuple(stem for stem in self.stems if stem.isascii() and not at_word_start)
        self._by_head = ByHead((stem, stem) for stem in self.stems if stem not in self._anywhere)
        named = "|".join(f"(?P<{name}>{'|'.join(phrases)})" for name, phrases in lists.items())
        self.pattern = LazyPattern(f"{before}(?:{named}){after}")

    def finditer(self, lowered: LoweredText) -> Iterator[re.Match[str]]:
        """The phrases in a text, left to right, not overlapping."""
        done = 0
        for start in self._starts(lowered):
            match = self.pattern.match(lowered.text, start) if start >= done else None
            if match is not None:
                done = match.end()
                yield match

    def _starts(self, lowered: LoweredText) -> list[int]:
        starts: set[int] = set()
        for stem in (*self._anywhere, *self._by_head.of(lowered)):
            text = lowered.ascii if stem.isascii() else lowered.text
            position = text.find(stem)
            while position >= 0:
                starts.add(position)
                position = text.find(stem, position + 1)
        return sorted(starts)


def literal_start(phrase: str) -> str:
    """The characters that every match of a phrase begins with.

    Raises:
        ValueError: the phrase begins with anything but two letters as they stand.
    """
    literal = _LITERAL.match(phrase)
    if literal is None or len(literal.group()) < 2:
        raise ValueError(f"The phrase {phrase!r} does not begin with two plain letters.")
    return literal.group()


def _shortest(stems: Iterable[str]) -> tuple[str, ...]:
    """Without those that begin with another one."""
    kept: list[str] = []
    for stem in sorted(set(stems)):
        if not (kept and stem.startswith(kept[-1])):
            kept.append(stem)
    return tuple(kept)
