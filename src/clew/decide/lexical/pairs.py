"""Hand-made features of two memory entries: what they share, where they clash, and whether the later one tells a change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clew.core.records import EntryPair
from clew.core.similarity import token_set
from clew.decide.lexical.folding import fold_letters, has_cjk

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PAIR_HEADS: tuple[str, ...] = ("same_fact", "replaces", "adds_detail")
PAIR_FEATURES: tuple[str, ...] = (
    "jaccard", "containment", "b in a", "a in b", "grams jaccard", "grams containment", "first word", "length ratio",
    "shorter length", "numbers shared", "numbers only a", "numbers only b", "number clash", "names shared",
    "names only a", "names only b", "name clash", "negation only a", "negation only b", "change in a", "change in b",
    "condition only a", "condition only b", "few words differ", "cjk", "one script",
)  # fmt: skip

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"[\w-]+(?:[./_@:-]+[\w-]+)+|\b[A-Z][a-z]*[A-Z]\w*|\b[A-Z]{2,}\w*|`[^`]+`|~?/[\w./-]+")
_GRAM_CHARS = 4
_MAX_CHARS = 2_000

# Words of the eight languages, folded.
_NEGATIONS = frozenset(
    [
        "not",
        "no",
        "never",
        "don't",
        "doesn't",
        "isn't",
        "won't",
        "cannot",
        "can't",
        "without",
        "non",
        "mai",
        "senza",
        "sin",
        "nunca",
        "jamas",
        "pas",
        "jamais",
        "sans",
        "nicht",
        "kein",
        "keine",
        "keinen",
        "nie",
        "ohne",
        "nao",
        "sem",
    ]
) | {"不", "没", "无", "ない", "ません", "しない", "禁"}
_CHANGES = re.compile(
    r"\b(?:now|no longer|any ?more|instead|moved|moves|switched|switch(?:es)?|changed|replaced|replaces|migrated|since|"
    r"used to|dropped|gone|retired|renamed|turned out|correction|actually|from now on|as of|not .{1,20} but|went back|"
    r"ora|adesso|non piu|invece|passat[oaie]|cambiat[oaie]|spostat[oaie]|ahora|ya no|en lugar|cambiad[oa]|movid[oa]|"
    r"pasamos|maintenant|desormais|ne .{1,15} plus|au lieu|remplace|passe a|jetzt|nicht mehr|statt|stattdessen|"
    r"umgestellt|gewechselt|inzwischen|agora|nao .{1,15} mais|em vez|mudou|mudamos|trocou|migramos)\b"
    r"|现在|已经|改为|改成|改用|不再|换成|迁移|今は|変更|ではなく|になった|廃止|移行|もう"
)
_CONDITIONS = re.compile(
    r"\b(?:only|except|unless|when|if|for|in|on|because|after|before|until|solo|quando|se|per|perche|tranne|cuando|si|"
    r"para|porque|salvo|seulement|quand|pour|parce|sauf|nur|wenn|fur|weil|ausser|apenas|quando|porque|exceto)\b"
    r"|只|除了|如果|因为|だけ|場合|なら|ため|以外"
)


def extract_pair_features(pair: EntryPair) -> NDArray[np.float32]:
    """The features of a pair, [len(PAIR_FEATURES)] float32, most of them in [0, 1]."""
    import numpy as np

    a, b = fold_letters(pair.a[:_MAX_CHARS]), fold_letters(pair.b[:_MAX_CHARS])
    words_a, words_b = token_set(a), token_set(b)
    grams_a, grams_b = _grams(a), _grams(b)
    numbers = _compare(set(_NUMBER.findall(a)), set(_NUMBER.findall(b)))
    names = _compare(_names(pair.a), _names(pair.b))
    differing = len(words_a ^ words_b)
    return np.array(
        [
            _share(words_a & words_b, words_a | words_b),
            _share(words_a & words_b, min(words_a, words_b, key=len)),
            _share(words_a & words_b, words_b),
            _share(words_a & words_b, words_a),
            _share(grams_a & grams_b, grams_a | grams_b),
            _share(grams_a & grams_b, min(grams_a, grams_b, key=len)),
            float(a.split(" ", 1)[0] == b.split(" ", 1)[0]),
            min(len(a), len(b)) / max(1, len(a), len(b)),
            min(1.0, min(len(a), len(b)) / 200),
            *numbers,
            *names,
            *_only(words_a & _NEGATIONS, words_b & _NEGATIONS),
            float(_CHANGES.search(a) is not None),
            float(_CHANGES.search(b) is not None),
            *_only(_CONDITIONS.search(a), _CONDITIONS.search(b)),
            float(0 < differing <= 4),
            float(has_cjk(a) and has_cjk(b)),
            float(has_cjk(a) == has_cjk(b)),
        ],
        dtype=np.float32,
    )


def _grams(text: str) -> frozenset[str]:
    size = 2 if has_cjk(text) else _GRAM_CHARS
    return frozenset(text[start : start + size] for start in range(max(1, len(text) - size + 1)))


def _names(text: str) -> set[str]:
    return {name.strip("`").lower() for name in _NAME.findall(text[:_MAX_CHARS])}


def _compare(a: set[str], b: set[str]) -> tuple[float, float, float, float]:
    """Whether some are shared, stand only in a, only in b, and whether both have some that the other lacks."""
    return float(bool(a & b)), float(bool(a - b)), float(bool(b - a)), float(bool(a - b) and bool(b - a))


def _only(in_a: object, in_b: object) -> tuple[float, float]:
    """Whether something was found in the first alone, and in the second alone."""
    return float(bool(in_a) and not in_b), float(bool(in_b) and not in_a)


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    return len(part) / len(whole) if whole else 0.0
