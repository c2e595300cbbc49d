"""Which way round a question about two entries is asked: "does b replace a?" and "does a replace b?" share their words.

Entries are named by letter or by age. Who is named first acts on who is named last, unless a word between them turns
that round ("is a outdated because of b?"). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from clew.decide.lexical.folding import fold_letters, tokens
from clew.decide.server.vocabulary import load_vocabulary, load_wordings

_CLAUSE_END = re.compile(r"[.?!;:\n]")
_ACTION = "replaces"


def is_turned_round(text: str) -> bool:
    """Whether a clause says that the earlier entry acts on the later one. False where that cannot be told."""
    return any(_acts_backwards(clause) for clause in _CLAUSE_END.split(text))


def _acts_backwards(clause: str) -> bool:
    if _ACTION not in load_vocabulary().read(clause).terms:
        return False
    earlier, later, turning = _words_of_order()
    words = [part for token in tokens(fold_letters(clause)) for part in re.split(r"['-]", token)]
    named = [at for at, word in enumerate(words) if word in earlier | later]
    if not named:
        return False
    first, last = named[0], named[-1]
    is_turned = not turning.isdisjoint(words[first:last])
    actor, other = (last, first) if is_turned else (first, last)
    return words[actor] in earlier and words[other] in later


@lru_cache(maxsize=1)
def _words_of_order() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Names of the earlier entry, names of the later one, and what turns their roles round; folded."""
    raw = load_wordings()["order"]
    earlier, later, turning = (_fold(raw[name]) for name in ("earlier", "later", "turning"))
    return earlier, later, turning


def _fold(lines: Sequence[str]) -> frozenset[str]:
    return frozenset(fold_letters(word.strip()) for line in lines for word in line.split(","))
