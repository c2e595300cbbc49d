"""Secrets made of several words or codes: seed phrases, recovery codes, TOTP seeds, AWS key pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SEED_KEYWORD = re.compile(
    r"seed ?phrase|seed words|(?:recovery|backup) (?:phrase|words)|secret phrase|mnemonic|wallet words|frase (?:seme|semilla|semente|di recupero"
    r"|de recuperación|de recuperação)|phrase (?:de récupération|secrète|mnémonique)|wiederherstellungs(?:phrase|wörter)"
    r"|助记词|助記詞|シードフレーズ|リカバリーフレーズ|\bseed\s?[:=]"
)
_SEED_WORDS = re.compile(r"(?:(?:\d{1,2}[.)]?\s{0,2})?(?<![A-Za-z])[a-z]{3,8}(?![A-Za-z])[\s,;]{0,3}){12,24}+")
_CODES_KEYWORD = re.compile(
    r"(?:recovery|backup|rescue|scratch|emergency|one[- ]time)[ -](?:codes?|keys?)|codici (?:di recupero|di backup)"
    r"|códigos de (?:recuperación|recuperação|respaldo|backup)|codes de (?:récupération|secours)|wiederherstellungscodes?"
    r"|wiederherstellungsschlüssel|backup-?codes?|恢复码|备份码|恢復碼|リカバリーコード|バックアップコード|回復コード"
)
_CODE = re.compile(
    r"(?<![A-Za-z0-9-])(?=[A-Za-z-]{0,40}\d)(?:[A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{4,8}){1,8}|[A-Za-z0-9]{8,16}|\d{6,10})(?![A-Za-z0-9-])"
)
_TOTP_KEYWORD = re.compile(
    r"(?:totp|2fa|otp|mfa|authenticator|two[- ]factor)[ _-]?(?:app )?(?:seed|secret|key|setup key|code)?"
)
_BASE32 = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z2-7]{16,64}+|[A-Z2-7]{4}(?: [A-Z2-7]{4}){3,15}+)(?![A-Za-z0-9])")
_AWS = re.compile(r"[Aa][Ww][Ss]|A[KS]IA[A-Z0-9]{16}")
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_SEED_HINTS = ("seed", "phrase", "frase", "words", "mnemonic", "wiederherst", "词", "詞", "フレーズ")
_CODES_HINTS = ("code", "key", "codic", "códig", "schlüssel", "码", "碼", "コード")
_TOTP_HINTS = ("otp", "2fa", "mfa", "authenticator", "factor")
_NEAR_CHARS = 300
_GAP_CHARS = 60


def serial_secrets(text: str, lowered: str) -> Iterator[tuple[str, int, int]]:
    """`(kind, start, end)` of secrets that are known by the words before them."""
    yield from _seed_phrases(text, lowered)
    yield from _recovery_codes(text, lowered)
    yield from _totp_seeds(text, lowered)
    yield from _aws_keys(text)


def _behind(
    keyword: re.Pattern[str], hints: tuple[str, ...], lowered: str, reach_chars: int
) -> Iterator[tuple[int, int]]:
    """The stretches of text behind a keyword, so that no character is in two of them."""
    if not any(hint in lowered for hint in hints):
        return
    done = 0
    for match in keyword.finditer(lowered):
        start, end = max(match.end(), done), match.end() + reach_chars
        done = end
        yield start, end


def _seed_phrases(text: str, lowered: str) -> Iterator[tuple[str, int, int]]:
    for start, end in _behind(_SEED_KEYWORD, _SEED_HINTS, lowered, _NEAR_CHARS):
        phrase = _SEED_WORDS.search(text, start, end)
        if phrase is not None:
            yield "seed-phrase", phrase.start(), phrase.start() + len(phrase.group().rstrip())


def _recovery_codes(text: str, lowered: str) -> Iterator[tuple[str, int, int]]:
    for start, end in _behind(_CODES_KEYWORD, _CODES_HINTS, lowered, 2 * _NEAR_CHARS):
        position = start
        for code in _CODE.finditer(text, start, end):
            if code.start() - position > _GAP_CHARS:
                break
            position = code.end()
            yield "recovery-code", *code.span()


def _totp_seeds(text: str, lowered: str) -> Iterator[tuple[str, int, int]]:
    for start, end in _behind(_TOTP_KEYWORD, _TOTP_HINTS, lowered, _NEAR_CHARS):
        seed = _BASE32.search(text, start, end)
        if seed is not None and any(map(str.isdigit, seed.group())):
            yield "totp-seed", *seed.span()


def _aws_keys(text: str) -> Iterator[tuple[str, int, int]]:
    for start, end in _behind(_AWS, ("aws", "AWS", "AKIA", "ASIA"), text, _NEAR_CHARS):
        for key in _AWS_SECRET.finditer(text, start, end):
            if _is_mixed(key.group()):
                yield "aws-secret-access-key", *key.span()


def _is_mixed(value: str) -> bool:
    return (
        any(char.islower() for char in value) and any(char.isupper() for char in value) and any(map(str.isdigit, value))
    )
