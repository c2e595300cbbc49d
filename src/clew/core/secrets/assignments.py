"""Secrets that their name gives away: `PASSWORD=…`, `"token": "…"`, `apiKey: …`, `--password …`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clew.core.patterns import LazyPattern
from clew.core.secrets.harmless import is_placeholder, is_plain_word, is_reference

_OPERATOR = LazyPattern(
    r"(?P<suffix>s?\d{0,3}(?:[_-][A-Za-z0-9_-]{1,24}|[A-Z][A-Za-z0-9]{0,24})?)"
    r"(?:[\"'\]]{0,2}[ \t]{0,4}(?P<sign>:=|=>|={1,2}|:|=)[ \t]{0,4}|(?P<flag>[ \t]{1,2}))"
)
# The name of something about the secret: its hash, its file, its length.
_ABOUT = LazyPattern(
    r"hash|field|file|path|name|count|type|ur[il]|ids?$|len|policy|reset|budget|limit|expir|ttl|max|min|size|hint|label"
    r"|prompt|input|column|regex|pattern|valid|strength|provider|manager|store|ref$|arn|version|algo|header|param|usage"
    r"|rate|plan|class|error|message|title|placeholder|window|bucket|ring",
    re.IGNORECASE,
)
_QUOTED = LazyPattern(r"\"((?:[^\"\\\n]|\\.){1,2000}+)\"|'((?:[^'\\\n]|\\.){1,2000}+)'|`([^`\n]{1,2000}+)`")
# A value is judged by its first characters: a long run without blanks is not read once per name in it. Only when it
# turns out to be a value is the rest of the run taken as well.
_JUDGED_CHARS = 300
_BARE = LazyPattern(rf"(?:(?![,&;]\w{{1,40}}=)[^\s\"'`<>;)}}\]]){{1,{_JUDGED_CHARS}}}")
_ENVIRONMENT = LazyPattern(rf"[^\s\"'`]{{1,{_JUDGED_CHARS}}}")
_REST = LazyPattern(r"[^\s\"'`]+")


def assigned_secrets(text: str, names: Sequence[re.Match[str]]) -> Iterator[tuple[str, int, int]]:
    """`(kind, start, end)` of every value that is assigned to a name such as `password` or `api_key`.

    `names`: matches of NAMES; they are looked for in lowered text, what follows them in the original.
    """
    done = 0
    for name in names:
        if name.start() < done:
            continue
        operator = _OPERATOR.match(text, name.end())
        if operator is None or is_about(text, name.end(), operator["suffix"]):
            continue
        if operator["flag"] and not _is_flag(text, name.start()):
            continue
        span = _value_span(text, name.start(), operator)
        if span is None:
            continue
        start, end, is_quoted = span
        may_be_word = is_quoted or text[end : end + 2].strip(" .,;\"'") == "" or text[end] in "\n\r"
        if is_value(text[start:end], is_password=name["password"] is not None, may_be_word=may_be_word):
            done = end if end - start < _JUDGED_CHARS else _end_of_run(text, end)
            yield kind_of_name(name), start, done


def is_about(text: str, end: int, suffix: str) -> bool:
    """True when the name goes on: something about the secret, or another word (`PASSTHROUGH`)."""
    is_other_word = suffix[:1].isupper() and text[end - 1].isupper()
    return is_other_word or _ABOUT.search(suffix) is not None


def _is_flag(text: str, start: int) -> bool:
    """True when the name belongs to a command-line option: `--password`, `--db-password`."""
    return "--" in text[max(0, start - 24) : start].rpartition(" ")[2]


def _value_span(text: str, start: int, operator: re.Match[str]) -> tuple[int, int, bool] | None:
    at = operator.end()
    quoted = _QUOTED.match(text, at)
    if quoted is not None:
        group = quoted.lastindex or 0
        return quoted.start(group), quoted.end(group), True
    is_environment = operator["sign"] == "=" and text[start:at].isupper() and text[at - 1] == "="
    bare = (_ENVIRONMENT if is_environment else _BARE).match(text, at)
    if bare is None:
        return None
    end = at + len(bare.group().rstrip(".,;:!?)"))
    return (at, end, False) if end > at else None


def _end_of_run(text: str, start: int) -> int:
    rest = _REST.match(text, start)
    return start if rest is None else rest.end()


def is_value(value: str, *, is_password: bool, may_be_word: bool) -> bool:
    """True for the value of a secret; a plain word only where `may_be_word` and the name is that of a password."""
    if is_placeholder(value) or is_reference(value) or is_plain_word(value) or value.startswith("[redacted"):
        return False
    if any(blank in value for blank in " \t"):
        return False
    has_digit = any(char.isdigit() for char in value)
    has_letter = any(char.isalpha() for char in value)
    if is_password:
        return len(value) >= 4 and (has_digit or not value.isalpha() or (may_be_word and len(value) >= 6))
    if len(value) < 8 or not has_letter:
        return False
    return has_digit or (len(value) >= 16 and value.lower() != value and value.upper() != value) or len(value) >= 24


def kind_of_name(match: re.Match[str]) -> str:
    """The kind of secret that a name promises."""
    if match["password"] is not None:
        return "password"
    name = match["token"]
    if "key" in name:
        return "api-key" if "api" in name else "secret-key"
    return "token" if "token" in name or "authorization" in name else "secret"
