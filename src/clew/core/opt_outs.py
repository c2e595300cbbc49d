"""Wishes not to be remembered ("don't remember this", "forget what I just said"), in eight languages.

The rules:

- Only what the person typed counts: pasted, quoted and fenced text wishes nothing, nor does reported speech.
- The wish opens a clause, since with a subject before it the same words tell something: "I don't remember that".
- "Don't remember where I put it" is about the person's own memory, "don't save this file" about a file.
- "Don't forget …" is an ask to remember; see `clew.core.asks`. An ask that is taken back counts as a wish as well.

In doubt a message counts as a wish: what it said can be told again, but not be unsaid.
"""

from __future__ import annotations

from collections.abc import Iterator

from clew.core import opt_out_phrases as phrases
from clew.core.ask_phrases import REPORTED
from clew.core.asks import takes_back_ask
from clew.core.fences import strip_fences
from clew.core.text import lower_in_place, normalise, sentences, set_aside_pastes

_LOOK_BACK_CHARS = 200


def asks_not_to_remember(text: str) -> bool:
    """Whether the person wishes that this message is not remembered."""
    typed, _ = set_aside_pastes(strip_fences(text))
    return any(_opts_out(line) for line in typed.splitlines()) or takes_back_ask(typed)


def _opts_out(line: str) -> bool:
    said = phrases.QUOTED.sub("§", lower_in_place(normalise(line)).replace("\u2019", "'"))
    return any(_opens_with_wish(said, start) for start in _clause_starts(said))


def _clause_starts(said: str) -> Iterator[int]:
    yield 0
    for match in phrases.CLAUSE_START.finditer(said):
        yield match.end()


def _opens_with_wish(said: str, start: int) -> bool:
    before = said[max(0, start - _LOOK_BACK_CHARS) : start]
    if any(language.plain.match(said, start) for language in phrases.OPT_OUTS):
        return not _is_reported(before)
    if any(language.saving.match(said, start) for language in phrases.OPT_OUTS):
        return not _is_reported(before) and not phrases.CONDITION.search(sentences(before + "x")[-1])
    return False


def _is_reported(before: str) -> bool:
    return REPORTED.search(before.rstrip(" :,")) is not None and phrases.OWN_WORDS.search(before) is None
