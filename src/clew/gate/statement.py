"""The text of a candidate: the person's own words, short enough to be a memory. No model writes anything here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from clew.core.text import normalise, sentences, set_aside_pastes, shorten

#: A typed message up to this length is taken whole; of a longer one the sentences that carried the decision.
MAX_STATEMENT_CHARS = 300

# Openers that say nothing; only in front, and only when a comma or blank sets them off from a statement.
_FILLER = re.compile(
    r"(?:(?:ok(?:ay)?|btw|by the way|fyi|also|so|well|yeah|yep|hey|hi|oh|ah|hmm+|and|allora|comunque|ciao|por cierto|au fait"
    r"|übrigens|a propósito|ah sì|tra l'altro)\s*[,:;.!…-]+\s*|(?:btw|by the way|fyi|tra l'altro|por cierto)\s+)+",
    re.IGNORECASE,
)


def typed_part(text: str) -> str:
    """What the person typed, without pasted code, logs and quotes."""
    return set_aside_pastes(text)[0].strip()


def make_statement(typed: str, highlights: Sequence[str]) -> str:
    """One line of at most MAX_STATEMENT_CHARS that says what is worth keeping.

    Args:
        typed: the typed part of the message.
        highlights: sentences that carried the decision, best first; they are taken as long as there is room and put
            back into the order of the message. Sentences that the person did not type are ignored.
    """
    whole = _trim(typed)
    if len(whole) <= MAX_STATEMENT_CHARS:
        return whole
    chosen = _fit(map(normalise, highlights), [normalise(sentence) for sentence in sentences(typed)])
    return _trim(" ".join(chosen)) or normalise(shorten(whole, MAX_STATEMENT_CHARS))


def _fit(highlights: Iterable[str], said: Sequence[str]) -> list[str]:
    chosen: list[str] = []
    room = MAX_STATEMENT_CHARS
    for sentence in dict.fromkeys(highlights):
        # Whole sentences only: half of "never do it" is "do it".
        if sentence in said and len(sentence) <= room:
            chosen.append(sentence)
            room -= len(sentence) + 1
    return sorted(chosen, key=said.index)


def _trim(text: str) -> str:
    line = normalise(text)
    opener = _FILLER.match(line)
    return line[opener.end() :] if opener else line
