"""Secrets that people tell in a sentence: "the wifi password is …", "la contraseña es …", "密码是…"."""

# ruff: noqa: RUF001 - words and marks of many scripts

from __future__ import annotations

import re
from collections.abc import Iterator

from clew.core.secrets.harmless import is_placeholder, is_plain_word, is_reference

_WINDOW_CHARS = 240
_MAX_TOKENS = 10

_SPOKEN = (
    r"passwords?|passwd|passphrase|pass ?word|passcode|pwd|parola d['’]ordine|contraseña|mot de passe|mdp|passwort"
    r"|kennwort|senha|palavra-passe|пароль"
)
_DIGITS = (
    r"pin(?:[ -]?(?:code|number|nummer))?|(?:door|gate|alarm|access|unlock|entry) code|codice (?:di accesso|pin|d['’]accesso)"
    r"|código (?:de acceso|de acesso|pin)|code (?:pin|d['’]accès)|zugangscode|türcode"
)
_CODED = (
    r"(?:api|access|secret|auth|client|license|encryption|signing|account)[ _-]?(?:key|secret|token)|tokens?|secret"
    r"|credentials?|chiave (?:api|segreta|d['’]accesso)|clave(?: (?:api|secreta|de acceso))?|clé (?:api|secrète|d['’]accès)"
    r"|jeton|(?:api|zugriffs|geheim)-?schlüssel|chave (?:de )?(?:api|secreta|acesso)|segreto|secreto|segredo|geheimnis"
)
_KEYWORD = re.compile(
    rf"(?<![^\W_])(?:(?P<password>{_SPOKEN})|(?P<pin>{_DIGITS})|(?P<token>{_CODED}))(?![^\W_])['’]?s?", re.IGNORECASE
)
_DENSE = re.compile(
    r"(?:(?P<password>密码|密碼|口令|パスワード|合言葉|비밀번호)|(?P<pin>暗証番号|PIN码|PINコード|验证码|門禁碼|门禁码)"
    r"|(?P<token>密钥|密鑰|令牌|トークン|APIキー|秘密鍵|アクセスキー))"
    r"[^\x21-\x7e\n。！？]{0,16}?(?:是|为|為|设为|：|は|が|を|に|「|『|“|\s|(?=[:=\"'`])|(?<=码)|(?<=ド))[:=\s\"'`「『“]{0,4}"
    r"(?P<value>[\x21-\x7e]{4,200}+)"
)
_CREDENTIALS = re.compile(
    r"\b(?:credentials?|log ?in|sign in|logged in|username|user)\b(?:\s[^\s/:]{1,30}){0,4}?\s{0,2}:?\s"
    r"[\w.@+-]{2,60}\s?[/:]\s?(?P<value>\S{5,100})",
    re.IGNORECASE,
)
_LINKS = frozenset(
    [
        "is",
        "was",
        "be",
        "are",
        "to",
        "as",
        "=",
        ":",
        ":=",
        "->",
        "=>",
        "→",
        "è",
        "sarà",
        "era",
        "es",
        "será",
        "fue",
        "est",
        "sera",
        "était",
        "ist",
        "lautet",
        "war",
        "wird",
        "heißt",
        "heisst",
        "é",
        "foi",
        "eh",
        "equals",
        "это",
    ]
)
# Behind these stands the place where a secret is kept, not the secret.
_PLACES = frozenset(
    [
        "in",
        "at",
        "on",
        "inside",
        "under",
        "from",
        "via",
        "with",
        "by",
        "of",
        "into",
        "through",
        "for",
        "nel",
        "nella",
        "nei",
        "su",
        "con",
        "da",
        "dal",
        "en",
        "dentro",
        "sur",
        "dans",
        "chez",
        "avec",
        "im",
        "bei",
        "mit",
        "auf",
        "aus",
        "von",
        "unter",
        "em",
        "na",
        "no",
        "com",
    ]
)
_TOKENS = re.compile(r"\S+")
# Anything else, such as an equals sign, makes it an assignment.
_BEHIND_KEYWORD = frozenset([*" \t:)\"'`*,", "\n"])
_EDGE = "\"'`“”„«»‚‘’「」『』()[]{}<>*"
_SHAPES_OF_OTHER_THINGS = re.compile(
    r"v?\d+(?:[.,]\d+)+[a-z]?$|\d{4}-\d\d(?:-\d\d)?|\d{1,2}[:.h]\d\d|[\w.+-]{1,64}@[\w-]{1,63}\.[\w.]{2,63}$"
    r"|\d+[- ]?(?:char|character|digit|day|hour|minute|min|week|month|year|byte|bit|word|letter|time|step|sec|ms|kb|mb|gb|k|m|h|s|d|x|px|%)s?(?:[-/].*)?$"
    r"|[^\W\d]+['’][^\W\d]+$|[^\W\d]+(?:/[^\W\d]+)+$|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|\d+(?:st|nd|rd|th)$|\."
    r"|[\w./-]{1,100}\.(?:env|ya?ml|json|toml|txt|md|py|[jt]sx?|kdbx|ini|cfg|conf|sh|go|rs|rb|pem|key|gpg|local)$",
    re.IGNORECASE,
)


def told_secrets(text: str) -> Iterator[tuple[str, int, int]]:
    """`(kind, start, end)` of every value that stands a few words behind a word for a secret."""
    for match in _KEYWORD.finditer(text):
        span = _walk(text, match)
        if span is not None:
            yield _kind(match), *span
    for match in _DENSE.finditer(text):
        start, end = _trim(text, *match.span("value"))
        value = text[start:end]
        if _is_strong(value, kind=_kind(match)) or (match["password"] and len(value) >= 6 and not _is_harmless(value)):
            yield _kind(match), start, end
    for match in _CREDENTIALS.finditer(text):
        start, end = _trim(text, *match.span("value"))
        if _is_strong(text[start:end], kind="password"):
            yield "password", start, end


def _walk(text: str, match: re.Match[str]) -> tuple[int, int] | None:
    kind = _kind(match)
    if text[match.end() : match.end() + 1] not in _BEHIND_KEYWORD:
        return None
    linked = adjacent = False
    last_end = match.end()
    window_end = min(len(text), match.end() + _WINDOW_CHARS)
    for count, token in enumerate(_TOKENS.finditer(text, match.end(), window_end)):
        if count >= _MAX_TOKENS or (count and "\n" in text[last_end : token.start()] and not adjacent):
            return None
        last_end = token.end()
        word = token.group().strip(_EDGE + ".,;!?").casefold()
        if word in _LINKS or token.group() in {":", "="}:
            linked = adjacent = True
            continue
        if word.endswith((":", "=")):
            linked = adjacent = True
            continue
        if linked and word in _PLACES:
            return None
        start, end = _trim(text, token.start(), token.end())
        if _accepts(
            text[start:end], kind=kind, linked=linked, adjacent=adjacent, count=count, rest=text[end : end + 3]
        ):
            return start, end
        if token.group()[-1] in ".!?;" and linked:
            return None
        adjacent = False
    return None


def _accepts(value: str, *, kind: str, linked: bool, adjacent: bool, count: int, rest: str) -> bool:
    if kind == "pin":
        return (adjacent or count == 0) and value.isdecimal() and 4 <= len(value) <= 8
    if not linked:
        return count == 0 and _is_strong(value, kind=kind) and not value.isdecimal() and len(value) >= 6
    if _is_strong(value, kind=kind):
        return adjacent or (len(value) >= 6 and not value.isdecimal())
    is_final = not rest or rest[0] in "\n\r" or rest.strip(_EDGE + " .,;!?") == "" or rest[0] in ".,;!?" + _EDGE
    return (
        kind == "password" and adjacent and is_final and len(value) >= 6 and value.isalpha() and not _is_harmless(value)
    )


def _is_harmless(value: str) -> bool:
    return (
        is_placeholder(value)
        or is_reference(value)
        or is_plain_word(value)
        or _SHAPES_OF_OTHER_THINGS.match(value) is not None
    )


def _is_strong(value: str, *, kind: str) -> bool:
    if _is_harmless(value):
        return False
    has_digit = any(char.isdigit() for char in value)
    has_letter = any(char.isalpha() for char in value)
    if kind == "pin":
        return value.isdecimal() and 4 <= len(value) <= 8
    if kind == "token":
        return has_digit and has_letter and len(value) >= 8
    has_symbol = any(not char.isalnum() and char not in "-_./'’" for char in value)
    return len(value) >= 4 and (has_digit or (has_letter and has_symbol))


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in _EDGE:
        start += 1
    while end > start and text[end - 1] in _EDGE + ".,;:?":
        end -= 1
    return start, end


def _kind(match: re.Match[str]) -> str:
    return match.lastgroup if match.lastgroup in {"password", "pin", "token"} else _first_kind(match)


def _first_kind(match: re.Match[str]) -> str:
    return next(kind for kind in ("password", "pin", "token") if match[kind] is not None)
