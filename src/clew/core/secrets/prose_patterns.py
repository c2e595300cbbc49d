"""The small words and the shapes that `prose` looks for; all but the last see lowered text."""

# ruff: noqa: RUF001 - words and marks of many scripts

from __future__ import annotations

import re

from clew.core.patterns import LazyPattern

_LINKS_WORDS = """
    is was be are to as = : := -> => → is: è sarà era es será fue est sera était ist lautet war wird heißt heisst é
    foi eh equals c'est c’est это есть jest brzmi to: är är: là هي هو luidt olarak — –
"""
#: Between the word and its value.
LINKS = frozenset(_LINKS_WORDS.split())
# "The pin of the test phone 8021": the owner stands between the word and the digits.
_OWNERS_WORDS = "of for del della dell di de du des pour vom von für do da dos das van voor för för от для do dla"
OWNERS = frozenset(_OWNERS_WORDS.split())
# Behind these stands the place where a secret is kept, not the secret.
_PLACES_WORDS = """
    in at on inside under from via with by of into through for nel nella nei su con da dal en dentro sur dans
    chez avec im bei mit auf aus von unter em na no com w op bij i på trong ở в у на
"""
PLACES = frozenset(_PLACES_WORDS.split())
# Program text, not a value: a call, the end of one string and the beginning of the next.
CODE = LazyPattern(r"\w\(|[\"']\s?[:,]|[{};]|\]\s?[*,)]|\)[.,]")
WORDS_OF_TEXT = LazyPattern(r"\S+")
# Anything else, such as an equals sign, makes it an assignment.
BEHIND_KEYWORD = frozenset([*" \t:\"'`*", "\n"])
EDGE = "\"'`“”„«»‚‘’「」『』()[]{}<>*"
#: "The one-time code is 6000 ms late" has a number, and no code.
UNIT = LazyPattern(
    r"[ -]?(?:ms|sec\w*|min\w*|hours?|days?|digits?|chars?|characters?|bytes?|bits?|times|requests?|users?|attempts?|tries"
    r"|entries|rows|tests?|px|percent|%|cifre|dígitos|chiffres|stellen|ziffern|位|桁|문자|자리)(?![^\W_])"
)
SHAPES_OF_OTHER_THINGS = LazyPattern(
    r"v?\d+(?:[.,]\d+)+[a-z]?$|\d{4}-\d\d(?:-\d\d)?|[\w.-]{1,80}:\d[\d.]{0,12}$|\d{1,2}[:.h]\d\d|[\w.+-]{1,64}@[\w-]{1,63}\.[\w.]{2,63}$"
    r"|\d+[- ]?(?:char|character|digit|day|hour|minute|min|week|month|year|byte|bit|word|letter|time|step|sec|ms|kb|mb|gb|k|m|h|s|d|x|px|%)s?(?:[-/].*)?$"
    r"|[^\W\d]+['’][^\W\d]+$|[^\W\d]+(?:/[^\W\d]+)+$|(?-i:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$)|\d+(?:st|nd|rd|th)$|\."
    r"|[\w./-]{1,100}\.(?:env|ya?ml|json|toml|txt|md|py|[jt]sx?|kdbx|ini|cfg|conf|sh|go|rs|rb|pem|key|gpg|local)$",
    re.IGNORECASE,
)
