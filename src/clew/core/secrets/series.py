"""Secrets made of several words or codes: seed phrases, recovery codes, TOTP seeds, AWS key pairs."""

from __future__ import annotations

from collections.abc import Iterator

from clew.core.patterns import LazyPattern, LoweredText, Vocabulary

_SEED_KEYWORD = Vocabulary(
    {
        "seed": (
            "seed ?phrase", "seed words", r"seed\s?[:=]", "recovery phrase", "recovery words", "backup phrase", "backup words",
            "secret phrase", "mnemonic", "wallet words", "frase (?:seme|semilla|semente|di recupero|de recuperación|de recuperação)",
            "phrase (?:de récupération|secrète|mnémonique)", "wiederherstellungs(?:phrase|wörter)", "助记词", "助記詞",
            "シードフレーズ", "リカバリーフレーズ",
        )
    },
    at_word_start=True,
)  # fmt: skip
_SEED_WORDS = LazyPattern(r"(?:(?:\d{1,2}[.)]?\s{0,2})?(?<![A-Za-z])[a-z]{3,8}(?![A-Za-z])[\s,;]{0,3}){12,24}+")
_CODES_KEYWORD = Vocabulary(
    {
        "codes": (
            *(rf"{what}[ -](?:codes?|keys?)" for what in ("recovery", "backup", "rescue", "scratch", "emergency", "one[- ]time")),
            "codici (?:di recupero|di backup)", "códigos de (?:recuperación|recuperação|respaldo|backup)",
            "codes de (?:récupération|secours)", "wiederherstellungscodes?", "wiederherstellungsschlüssel", "backup-?codes?",
            "恢复码", "备份码", "恢復碼", "リカバリーコード", "バックアップコード", "回復コード",
        )
    },
    at_word_start=True,
)  # fmt: skip
_CODE = LazyPattern(
    r"(?<![A-Za-z0-9-])(?=[A-Za-z-]{0,40}\d)(?:[A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{4,8}){1,8}|[A-Za-z0-9]{8,16}|\d{6,10})(?![A-Za-z0-9-])"
)
_TOTP_KEYWORD = Vocabulary(
    {"totp": ("totp", "2fa", "otp", "mfa", "authenticator", "two[- ]factor")},
    after="[ _-]?(?:app )?(?:seed|secret|key|setup key|code)?",
    at_word_start=True,
)
_BASE32 = LazyPattern(r"(?<![A-Za-z0-9])(?:[A-Z2-7]{16,64}+|[A-Z2-7]{4}(?: [A-Z2-7]{4}){3,15}+)(?![A-Za-z0-9])")
_AWS_KEYWORD = Vocabulary({"aws": ("aws", "akia[a-z0-9]{16}", "asia[a-z0-9]{16}")})
_AWS_SECRET = LazyPattern(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_NEAR_CHARS = 300
_GAP_CHARS = 60


def serial_secrets(text: str, lowered: LoweredText) -> Iterator[tuple[str, int, int]]:
    """`(kind, start, end)` of secrets that are known by the words before them."""
    yield from _seed_phrases(text, lowered)
    yield from _recovery_codes(text, lowered)
    yield from _totp_seeds(text, lowered)
    yield from _aws_keys(text, lowered)


def _behind(keyword: Vocabulary, lowered: LoweredText, reach_chars: int) -> Iterator[tuple[int, int]]:
    """The stretches of text behind a keyword, so that no character is in two of them."""
    done = 0
    for match in keyword.finditer(lowered):
        start, end = max(match.end(), done), match.end() + reach_chars
        done = end
        yield start, end


def _seed_phrases(text: str, lowered: LoweredText) -> Iterator[tuple[str, int, int]]:
    for start, end in _behind(_SEED_KEYWORD, lowered, _NEAR_CHARS):
        phrase = _SEED_WORDS.search(text, start, end)
        if phrase is not None:
            yield "seed-phrase", phrase.start(), phrase.start() + len(phrase.group().rstrip())


def _recovery_codes(text: str, lowered: LoweredText) -> Iterator[tuple[str, int, int]]:
    for start, end in _behind(_CODES_KEYWORD, lowered, 2 * _NEAR_CHARS):
        position = start
        for code in _CODE.finditer(text, start, end):
            if code.start() - position > _GAP_CHARS:
                break
            position = code.end()
            yield "recovery-code", *code.span()


def _totp_seeds(text: str, lowered: LoweredText) -> Iterator[tuple[str, int, int]]:
    for start, end in _behind(_TOTP_KEYWORD, lowered, _NEAR_CHARS):
        seed = _BASE32.search(text, start, end)
        if seed is not None and any(map(str.isdigit, seed.group())):
            yield "totp-seed", *seed.span()


def _aws_keys(text: str, lowered: LoweredText) -> Iterator[tuple[str, int, int]]:
    for start, end in _behind(_AWS_KEYWORD, lowered, _NEAR_CHARS):
        for key in _AWS_SECRET.finditer(text, start, end):
            if _is_mixed(key.group()):
                yield "aws-secret-access-key", *key.span()


def _is_mixed(value: str) -> bool:
    return (
        any(char.islower() for char in value) and any(char.isupper() for char in value) and any(map(str.isdigit, value))
    )
