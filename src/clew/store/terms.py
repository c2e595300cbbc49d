"""Words of a text as full-text search needs them: what is indexed, what a query asks for.

The index (SQLite FTS5, `porter unicode61 remove_diacritics 2`) splits at blanks and punctuation, which leaves a Chinese
or Thai sentence as one word. So such runs are cut into overlapping pairs of characters before they are indexed and before
they are asked for. A query is a set of quoted words joined by OR: nothing in it can be read as query syntax, and one
wrong word does not hide a memory.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from clew.core.text import normalise, words

#: More words than this do not sharpen a query. Head and tail are kept: a prompt asks at its start or at its end.
_HEAD_TERMS, _TAIL_TERMS = 40, 24
_LATIN_SHARE = 0.8

# Scripts written without blanks, and Hangul, whose endings stick to the word. `words` cuts such runs into pairs.
_DENSE_RUN = re.compile(
    r"[\u0e01-\u0e4e\u0e81-\u0ecd\u1000-\u109d\u1100-\u11ff\u1780-\u17d3\u3005-\u3007\u3041-\u309a\u30a1-\u30ff"
    r"\u3105-\u318e\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f"
    r"\U00020000-\U0003134f]+"
)
# Letters whose case-folded form is longer (ß → ss): the index folds letter by letter and would never match it.
_UNFOLDED = re.compile(r"[ßẞŉǰΐΰևẖẗẘẙẚﬀ-ﬆﬓ-ﬗ]")

_STOP_EN = """a about above after again against all also am an and any are aren as at be because been before being below
between both but by can cannot could couldn d did didn do does doesn doing don down during each few for from further had
hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself let ll m me
more most my myself no nor not of off on once only or other ought our ours ourselves out over own please re s same she
should shouldn so some such t than that the their theirs them themselves then there these they this those through to too
under until up ve very was wasn we were weren what when where which while who whom why will with won would wouldn you your
yours yourself yourselves"""
# What people say to an agent between tasks.
_SMALL_TALK = """fine go going good great hello hey hi let lets looks nice now ok okay sure thank thanks well works yeah yep yes"""
# Of the other languages only words that are no English word, command or abbreviation (war, die, come, ci, vi, os).
_STOP_IT = """che con del della delle dei degli di da dal dalla il lo la le gli un una uno non si sono anche nel
nella al alla ed questo questa quello quella ho hai ha abbiamo mi ti più ma tra è e o"""
_STOP_ES = """el los las una unos unas que con del por para como más pero sus este esta esto ese esa está están no
se al lo le les nos mi me tu te ya muy en de y o la un """
_STOP_FR = """le la les un une des de et ou que qui dans en sur avec ce cet cette ces est sont été mais pas ne
nous vous je tu il elle ils elles mon ma mes sa ses au aux se à l qu n c j"""
_STOP_DE = """der das den dem des ein eine einen einem einer und oder nicht mit von zu am ist sind auch auf für
an ich du er sie wir ihr sich als wie bei nach aus dass wenn aber noch nur bitte"""
_STOP_PT = """o uma uns umas que com do da dos das para como mais mas seu sua este esta isto é são foi não se
no na nos nas ao à em de e ou meu minha me te já muito"""
# Words that say what kind of answer is wanted, not what it is about.
_ASKING = """many much kind type types kinds often long ever far name names currently describe described mention mentioned
say said tell told happen happened quando quanto quanta quale quali perché cosa cuándo cuánto cuál dónde qué
quién quand combien quel quelle où pourquoi quoi wann wieviel welche welcher welches wo warum was wer quanto qual """


def _folded(*lists: str) -> frozenset[str]:
    return frozenset(word for listed in lists for word in words(listed))


_ENGLISH = _folded(_STOP_EN)
_OTHER = _folded(_STOP_IT, _STOP_ES, _STOP_FR, _STOP_DE, _STOP_PT)
_SKIPPED = _folded(_STOP_EN, _SMALL_TALK, _STOP_IT, _STOP_ES, _STOP_FR, _STOP_DE, _STOP_PT, _ASKING)


def lexical_form(text: str) -> str:
    """What full text indexes in place of a text; "" when that is the text itself.

    Runs of scripts without blanks become overlapping pairs of characters, followed by the last character alone, so that
    a query of one character finds it anywhere.
    """
    form = _UNFOLDED.sub(lambda match: match.group().casefold(), text)
    form = _DENSE_RUN.sub(lambda match: _spelled_out(match.group()), form)
    return "" if form == text else form


def _spelled_out(run: str) -> str:
    pairs = words(run)
    tail = [run[-1]] if len(run) > 1 else []
    return f" {' '.join(pairs + tail)} "


def query_terms(text: str, *, without: Collection[str] = ()) -> tuple[str, ...]:
    """The distinct words that a query is about, in order: no stop words, no asking words, none of `without`.

    Args:
        without: words to leave out, as `words` spells them (names of the people whose memories are searched).
    """
    distinct = tuple(
        dict.fromkeys(
            word for word in words(text) if word not in _SKIPPED and word not in without and word.strip("\u200c\u200d")
        )
    )
    if len(distinct) <= _HEAD_TERMS + _TAIL_TERMS:
        return distinct
    return distinct[:_HEAD_TERMS] + distinct[-_TAIL_TERMS:]


def reads_english(text: str) -> bool:
    """Whether a text is probably English (or nothing but names and code), judged by its script and its small words."""
    found = words(text)
    latin = sum(word[0] < "\u0250" for word in found)
    english = sum(word in _ENGLISH and word not in _OTHER for word in found)
    other = sum(word in _OTHER and word not in _ENGLISH for word in found)
    return latin >= _LATIN_SHARE * len(found) and (not other or english > other)


def match_phrase(term: str) -> str:
    """One word as an FTS5 query, safe whatever it holds."""
    quoted = '"' + term.replace("\x00", " ").replace('"', '""') + '"'
    # One Chinese or Thai character stands in the index as the first half of a pair.
    return quoted + "*" if len(term) == 1 and _DENSE_RUN.fullmatch(term) else quoted


def match_any(terms: Iterable[str]) -> str:
    """Words joined by OR as an FTS5 query."""
    return " OR ".join(match_phrase(term) for term in terms)


def fts_query(text: str) -> str | None:
    """An FTS5 query that finds what a text is about; None when it is about nothing."""
    return match_any(query_terms(normalise(text))) or None
