"""Secrets that their name gives away: `PASSWORD=…`, `"token": "…"`, `apiKey: …`, `--password …`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clew.core.secrets.harmless import is_placeholder, is_plain_word, is_reference

_STRICT_NAMES = (
    r"password|passwd|passphrase|passcode|pwd|(?<=[_-])pass|(?<![a-z])pass(?=[\"']?\s?[=:])|contraseña|senha|passwort"
    r"|kennwort|mot_?de_?passe|mdp"
)
_LONG_NAMES = (
    r"api[_-]?(?:key|secret|token)|apikey|(?:access|auth|secret|private|encryption|signing|master|account|license|deploy"
    r"|service|app|application|session)[_-]?key|client[_-]?secret|secret|token|credentials?|authorization|x-api-key"
)
# Lower case: the name is looked for in lowered text, what follows it in the original.
_NAME = re.compile(rf"(?P<password>{_STRICT_NAMES})|(?P<token>{_LONG_NAMES})")
_OPERATOR = re.compile(
    r"(?P<suffix>s?\d{0,3}(?:[_-][A-Za-z0-9_-]{1,24}|[A-Z][A-Za-z0-9]{0,24})?)"
    r"(?:[\"'\]]{0,2}[ \t]{0,4}(?P<sign>:=|=>|={1,2}|:|=)[ \t]{0,4}|(?P<flag>[ \t]{1,2}))"
)
# The name of something about the secret: its hash, its file, its length.
_ABOUT = re.compile(
    r"hash|field|file|path|name|count|type|ur[il]|ids?$|len|policy|reset|budget|limit|expir|ttl|max|min|size|hint|label"
    r"|prompt|input|column|regex|pattern|valid|strength|provider|manager|store|ref$|arn|version|algo|header|param|usage"
    r"|rate|plan|class|error|message|title|placeholder|window|bucket|ring",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"((?:[^\"\\\n]|\\.){1,2000}+)\"|'((?:[^'\\\n]|\\.){1,2000}+)'|`([^`\n]{1,2000}+)`")
# A value is judged by its first characters: a long run without blanks is not read once per name in it. Only when it
# turns out to be a value is the rest of the run taken as well.
_JUDGED_CHARS = 300
_BARE = re.compile(rf"(?:(?![,&;]\w{{1,40}}=)[^\s\"'`<>;)}}\]]){{1,{_JUDGED_CHARS}}}")
_ENVIRONMENT = re.compile(rf"[^\s\"'`]{{1,{_JUDGED_CHARS}}}")
_REST = re.compile(r"[^\s\"'`]+")


def assigned_secrets(text: str, lowered: str) -> Iterator[tuple[str, int, int]]:
    """`(kind, start, end)` of every value that is assigned to a name such as `password` or `api_key`."""
    done = 0
    for name in _NAME.finditer(lowered):
        if name.start() < done:
            continue
        operator = _OPERATOR.match(text, name.end())
        if operator is None or _is_about(text, name.end(), operator["suffix"]):
            continue
        if operator["flag"] and not _is_flag(text, name.start()):
            continue
        span = _value_span(text, name.start(), operator)
        if span is None:
            continue
        start, end, is_quoted = span
        may_be_word = is_quoted or text[end : end + 2].strip(" .,;\"'") == "" or text[end] in "\n\r"
        if _is_value(text[start:end], is_password=name["password"] is not None, may_be_word=may_be_word):
            done = end if end - start < _JUDGED_CHARS else _end_of_run(text, end)
            yield _kind(name), start, done


def _is_about(text: str, end: int, suffix: str) -> bool:
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


def _is_value(value: str, *, is_password: bool, may_be_word: bool) -> bool:
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


def _kind(match: re.Match[str]) -> str:
    if match["password"] is not None:
        return "password"
    name = match["token"]
    if "key" in name:
        return "api-key" if "api" in name else "secret-key"
    return "token" if "token" in name or "authorization" in name else "secret"
