"""Secrets made of several words or codes: seed phrases, recovery codes, TOTP seeds, AWS key pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SEED_KEYWORD = re.compile(
    r"seed ?phrase|seed words|recovery (?:phrase|words)|secret phrase|mnemonic|wallet words|frase (?:seme|semilla|semente|di recupero"
    r"|de recuperación|de recuperação)|phrase (?:de récupération|secrète|mnémonique)|wiederherstellungs(?:phrase|wörter)"
    r"|助记词|助記詞|シードフレーズ|リカバリーフレーズ|\bseed\s?[:=]",
    re.IGNORECASE,
)
_SEED_WORDS = re.compile(r"(?:(?:\d{1,2}[.)]?\s{0,2})?(?<![A-Za-z])[a-z]{3,8}(?![A-Za-z])[\s,;]{0,3}){12,24}+")
_CODES_KEYWORD = re.compile(
    r"(?:recovery|backup|rescue|scratch|emergency|one[- ]time)[ -](?:codes?|keys?)|codici (?:di recupero|di backup)"
    r"|códigos de (?:recuperación|recuperação|respaldo|backup)|codes de (?:récupération|secours)|wiederherstellungscodes?"
    r"|wiederherstellungsschlüssel|backup-?codes?|恢复码|备份码|恢復碼|リカバリーコード|バックアップコード|回復コード",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"(?<![A-Za-z0-9-])(?=[A-Za-z-]{0,40}\d)(?:[A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{4,8}){1,8}|[A-Za-z0-9]{8,16}|\d{6,10})(?![A-Za-z0-9-])"
)
_TOTP_KEYWORD = re.compile(
    r"(?:totp|2fa|otp|mfa|authenticator|two[- ]factor)[ _-]?(?:app )?(?:seed|secret|key|setup key|code)?", re.IGNORECASE
)
_BASE32 = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z2-7]{16,64}+|[A-Z2-7]{4}(?: [A-Z2-7]{4}){3,15}+)(?![A-Za-z0-9])")
_AWS = re.compile(r"(?i:aws)|A[KS]IA[A-Z0-9]{16}")
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_NEAR_CHARS = 300


def serial_secrets(text: str) -> Iterator[tuple[str, int, int]]:
    """`(kind, start, end)` of secrets that are known by the words before them."""
    for match in _SEED_KEYWORD.finditer(text):
        phrase = _SEED_WORDS.search(text, match.end(), match.end() + _NEAR_CHARS)
        if phrase is not None and phrase.start() - match.end() <= 80:
            yield "seed-phrase", phrase.start(), phrase.start() + len(phrase.group().rstrip())
    for match in _CODES_KEYWORD.finditer(text):
        yield from _codes(text, match.end())
    for match in _TOTP_KEYWORD.finditer(text):
        seed = _BASE32.search(text, match.end(), match.end() + 80)
        if seed is not None and any(char.isdigit() for char in seed.group()):
            yield "totp-seed", *seed.span()
    last = -1
    for match in _AWS.finditer(text):
        for key in _AWS_SECRET.finditer(text, max(match.end(), last), match.end() + _NEAR_CHARS):
            last = key.end()
            if _is_mixed(key.group()):
                yield "aws-secret-access-key", *key.span()


def _codes(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    position = start
    for code in _CODE.finditer(text, start, start + 2 * _NEAR_CHARS):
        if code.start() - position > 60:
            return
        position = code.end()
        yield "recovery-code", *code.span()


def _is_mixed(value: str) -> bool:
    return (
        any(char.islower() for char in value) and any(char.isupper() for char in value) and any(map(str.isdigit, value))
    )
