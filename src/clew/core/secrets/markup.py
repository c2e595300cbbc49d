"""Secrets in fields that markup names: `<password>…</password>`, `name="token" value="…"`, `| password | … |`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clew.core.patterns import LazyPattern
from clew.core.secrets.assignments import is_about, is_value, kind_of_name

_REACH_CHARS = 60
_NAME_END = r"(?P<suffix>[\w.-]{0,24})"
_IN_TAG = LazyPattern(r"<[\w:.-]{0,40}$")
_ELEMENT = LazyPattern(
    rf"{_NAME_END}(?:\s[^<>\n]{{0,200}})?>\s{{0,4}}"
    r"(?:</key>\s{0,20}<string>|<!\[cdata\[)?(?P<v>[^<>\n]{1,200}+)(?:</|\]\])"
)
_KEY = LazyPattern(
    rf"{_NAME_END}\s{{0,2}}</(?:key|name|th|td|dt|b|strong)>\s{{0,20}}<(?:string|value|td|dd|code)>\s{{0,4}}(?P<v>[^<>\n]{{1,200}}+)</"
)
_BEHIND_TAG = LazyPattern(r"<(?:key|name|th|td|dt|b|strong)>\s{0,4}[^<>\n]{0,40}$")
_AS_NAME = LazyPattern(r"(?:^|[^\w-])(?:name|key|id|type|property|field|variable)[\"']?\s?[=:]\s?[\"']?[\w.\[-]{0,40}$")
_VALUE = LazyPattern(
    rf"{_NAME_END}\]?[\"']?(?:[^<>{{}}\n]{{0,120}}?[\s,;])??\s{{0,12}}(?:value|content)[\"']?\s?[=:]\s?"
    r"(?:[\"'](?P<v>[^\"'\n]{1,200})[\"']|(?P<w>[^\s\"'<>,{}]{1,200}))"
)
_IN_CELL = LazyPattern(r"(?:^|\n)[ \t>]{0,8}\|[^|\n]{0,40}$")
_CELL = LazyPattern(r"(?P<suffix>[^|\n]{0,40})\|[ \t*`\"]{0,20}(?P<v>[^\s|`*\"]{1,200})[ \t*`\"]{0,20}(?:\||$|\n)")
_SEPARATOR = LazyPattern(r"\s{0,8}\|?[\s:|-]{3,400}$")
_MAX_ROWS = 200


def framed_secrets(text: str, lowered: str, names: Sequence[re.Match[str]]) -> Iterator[tuple[str, int, int]]:
    """`(kind, start, end)` of the values that stand in a field named like a secret. `names`: matches of NAMES."""
    done = 0
    for name in names:
        if name.start() < done:
            continue
        for match in _fields(lowered, name):
            start, end = match.span(match.lastgroup or 0)
            if not is_about(text, name.end(), match["suffix"]) and _is_value(text[start:end], name):
                done = end
                yield kind_of_name(name), start, end
                break
    yield from _columns(text, lowered, names)


def _fields(lowered: str, name: re.Match[str]) -> Iterator[re.Match[str]]:
    floor = max(0, name.start() - _REACH_CHARS)
    before = lowered[floor : name.start()]
    frames = (
        ("<", _IN_TAG, _ELEMENT),
        (">", _BEHIND_TAG, _KEY),
        ("|", _IN_CELL, _CELL),
        ("", _AS_NAME, _VALUE),
    )
    for mark, context, field in frames:
        if mark in before and context.search(before):
            match = field.match(lowered, name.end())
            if match is not None:
                yield match


def _is_value(value: str, name: re.Match[str]) -> bool:
    return is_value(value.strip(), is_password=name["password"] is not None, may_be_word=False) and " " not in value


def _columns(text: str, lowered: str, names: Sequence[re.Match[str]]) -> Iterator[tuple[str, int, int]]:
    """The cells below a heading: `| user | password |`."""
    header_end = -1
    for name in names:
        if (
            name.start() < header_end
            or "|" not in lowered[max(0, name.start() - _REACH_CHARS) : name.end() + _REACH_CHARS]
        ):
            continue
        start = lowered.rfind("\n", max(0, name.start() - 1_000), name.start()) + 1
        end = lowered.find("\n", name.end(), name.end() + 1_000)
        rule_end = lowered.find("\n", end + 1, end + 500)
        if end < 0 or rule_end < 0 or not _SEPARATOR.match(lowered[end + 1 : rule_end]):
            continue
        column = lowered.count("|", start, name.start())
        heading_end = lowered.find("|", name.end(), end)
        suffix = lowered[name.end() : heading_end if heading_end >= 0 else end].strip()
        if suffix.isalpha():
            continue
        header_end = rule_end
        for cell_start, cell_end in _cells(lowered, rule_end + 1, column):
            if _is_value(text[cell_start:cell_end], name):
                yield kind_of_name(name), cell_start, cell_end


def _cells(text: str, start: int, column: int) -> Iterator[tuple[int, int]]:
    """Where the cells of one column stand, row by row, as long as the table goes on."""
    for _ in range(_MAX_ROWS):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        row = text[start:end]
        if "|" not in row:
            return
        cells = row.split("|")
        if column < len(cells):
            at = start + sum(len(cell) + 1 for cell in cells[:column])
            cell = cells[column]
            bare = cell.strip(' \t`*"')
            if bare:
                at += cell.index(bare)
                yield at, at + len(bare)
        start = end + 1
