"""Secrets that stand before the word for them: "… is the wifi password", "use … as the password", "…是密码"."""

# ruff: noqa: RUF001 - words and marks of many scripts

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clew.core.patterns import LazyPattern
from clew.core.secrets.values import is_identifier_with_number, is_strong, kind_of, trim

_REACH_CHARS = 140
_VERBS = r"(?:is|was|will be|è|era|es|será|est|ist|war|é|foi|jest|är|là|это|as|als|come|como|comme|jako|som|olarak|как)"
# No word that begins a clause or turns the sentence: "… is the user without a password".
_BETWEEN = (
    r"(?:(?!(?:a|an|not|no|never|where|who|which|that|how|why|when|with|without|of|from|in|the (?:name|hash|length)|un|una|une"
    r"|ein|eine|um|uma|weak|bad|strong|poor|terrible|common|typical|example|sample|invalid|valid|only|just|part)\s)"
    r"[^\s.,;:!?()]{1,20}\s{1,2}){0,4}"
)
_BEFORE = LazyPattern(rf"(?:^|[\s(])(?P<value>[^\s]{{6,80}})\s{{1,2}}{_VERBS}\s{{1,2}}(?:(?<=é )a\s)?{_BETWEEN}$")
_BEFORE_DENSE = LazyPattern(
    r"(?P<value>[\x21-\x7e]{6,80})[」』”]?\s?(?:就是|是|作为|作為|当作|当|设为|設為|が|を)\s?[^\n。！？\x21-\x7e]{0,8}(?:[\x21-\x7e]{1,12})?\s?$"
)
# Behind the word the clause ends or says what the secret is for; another noun would be something else ("password hash").
_END_OF_CLAUSE = LazyPattern(
    r"\s{0,2}(?:$|[.,;:!?)\n\"'`»”’]|(?:for|of|on|to|in|at|and|now|there|here|everywhere|today|per|del|della|dei|di|su|para|de|do"
    r"|da|en|pour|du|sur|für|fürs|vom|von|am|im|und|y|e|et|voor|van|för|till|på|для|от)(?![^\W_]))"
)
_END_DENSE = LazyPattern(r"\s?(?:$|[。，、！,.!\n)）]|です|だ|に|哦|了|吧)")


def told_before(text: str, lowered: str, keywords: Sequence[re.Match[str]]) -> Iterator[tuple[str, int, int]]:
    """`(kind, start, end)` of every value that a word for a secret follows and closes."""
    for keyword in keywords:
        if keyword["pin"] is None and _END_OF_CLAUSE.match(lowered, keyword.end()):
            yield from _value_before(_BEFORE, text, lowered, keyword)


def told_before_dense(text: str, lowered: str, keywords: Sequence[re.Match[str]]) -> Iterator[tuple[str, int, int]]:
    """The same for scripts without blanks."""
    for keyword in keywords:
        if keyword["pin"] is None and _END_DENSE.match(lowered, keyword.end()):
            yield from _value_before(_BEFORE_DENSE, text, lowered, keyword)


def _value_before(
    pattern: LazyPattern, text: str, lowered: str, keyword: re.Match[str]
) -> Iterator[tuple[str, int, int]]:
    floor = max(0, keyword.start() - _REACH_CHARS, text.rfind("\n", 0, keyword.start()) + 1)
    match = pattern.search(lowered[floor : keyword.start()])
    if match is None:
        return
    start, end = trim(text, floor + match.start("value"), floor + match.end("value"))
    value, kind = text[start:end], kind_of(keyword)
    if len(value) >= 6 and not is_identifier_with_number(value) and is_strong(value, kind):
        yield kind, start, end
