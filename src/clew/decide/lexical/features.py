"""Hand-made features of a reading: kinds of wording and shape, per sentence and for the state as a whole."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from clew.decide.lexical.folding import (
    CLOSING_MARKS,
    COLONS,
    EXCLAMATION_MARKS,
    QUESTION_MARKS,
    fold,
    fold_letters,
    tokens,
)
from clew.decide.lexical.lexicon import KINDS, Lexicon, guess_language, lexicon_for
from clew.decide.lexical.reading import Reading
from clew.decide.lexical.secret_signs import SIGN_NAMES, secret_signs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

_PATH = re.compile(
    r"(?:^|\s)(?:~|\.{1,2})?/[\w.-]+|[A-Z]:\\|\b[\w-]{1,40}/[\w./-]{1,80}\.\w{1,5}\b|\b[\w-]{1,40}\.\w{2,4}\b"
)
_NAME = re.compile(r"`[^`]+`|\b[a-z]+_[a-z_]+\b|\b[a-z]+[A-Z]\w+\b|--[a-z]")
_QUOTED = re.compile(r'"[^"]{6,}"|“[^”]{6,}”|«[^»]{6,}»|「[^」]{4,}」')
_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mi|ich|je|eu|yo|io)\b")

_SHAPE = (
    "ends_question", "ends_exclaim", "opens_task", "opens_question", "has_path", "has_name", "has_number", "has_quote",
    "is_tiny", "is_short", "word_count", "has_colon", "first_person", "is_statement",
)  # fmt: skip
_PAIRS = (
    ("standing", "is_statement"), ("rule", "is_statement"), ("self", "is_statement"), ("lesson", "is_statement"),
    ("machine", "is_statement"), ("project", "rule"), ("self", "standing"), ("rule", "negation"),
    ("standing", "negation"), ("standing", "temporary"), ("rule", "temporary"), ("trouble", "lesson"),
    ("secret_word", "pointer"), ("untrusted", "ask"), ("hypothetical", "rule"), ("ask", "is_statement"), ("henceforth", "temporary"), ("henceforth", "untrusted"),
    ("fact", "is_statement"), ("manner", "standing"), ("manner", "opens_task"), ("manner", "is_statement"),
    ("deictic", "opens_task"), ("deictic", "standing"), ("fact", "rule"), ("fact", "project"), ("fact", "machine"),
)  # fmt: skip
_REPLY_PAIRS = ("lesson", "rule", "fact", "machine", "project", "standing", "done", "pledge")
_STATE = ("sentence_count", "char_count", "pasted_share", "has_paste", "has_reply", "reply_length", "question_share")

SENTENCE_NAMES: tuple[str, ...] = (*KINDS, *_SHAPE, *(f"{left}*{right}" for left, right in _PAIRS))
_INDEX = {name: position for position, name in enumerate(SENTENCE_NAMES)}
_PAIR_INDEX = tuple((_INDEX[left], _INDEX[right]) for left, right in _PAIRS)
FEATURE_NAMES: tuple[str, ...] = (
    *(f"max {name}" for name in SENTENCE_NAMES),
    *(f"mean {name}" for name in SENTENCE_NAMES),
    *_STATE,
    *SIGN_NAMES,
    *(f"reply {kind}" for kind in KINDS),
    *(f"question, reply {kind}" for kind in _REPLY_PAIRS),
    *(f"statement, reply {kind}" for kind in _REPLY_PAIRS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """Everything that the heads see of a state.

    Attributes:
        sentences: folded, in order.
        reply: folded.
        whole: hand features of the state, [len(FEATURE_NAMES)] float32.
        by_sentence: hand features of each sentence as if it were the whole message, [sentences, len(FEATURE_NAMES)].
        language: of the eight that the word lists know; empty if none fits.
    """

    sentences: tuple[str, ...]
    reply: str
    whole: Matrix
    by_sentence: Matrix
    language: str


def extract_features(reading: Reading) -> Features:
    """Fold the texts of a reading and describe them in numbers."""
    import numpy as np

    language = _guess_language(reading)
    lexicon = lexicon_for(language)
    rows = np.array([_sentence_row(sentence, lexicon) for sentence in reading.sentences], dtype=np.float32)
    reply = fold(reading.reply)
    reply_bits = lexicon.find(reply, tokens(reply)) if reply else 0
    reply_row = _as_row(reply_bits)
    asks = float(rows[:, _INDEX["ends_question"]].max() or rows[0, _INDEX["opens_question"]])
    shared = np.array(
        [*secret_signs(reading.scanned), *reply_row, *_pair_with_reply(reply_row, asks)], dtype=np.float32
    )
    lengths = [len(sentence) for sentence in reading.sentences]
    state_row = _state_row(reading, len(rows), sum(lengths), float(rows[:, _INDEX["ends_question"]].mean()))
    whole = np.concatenate([rows.max(axis=0), rows.mean(axis=0), np.array(state_row, np.float32), shared])
    state_rows = np.array(
        [
            _state_row(reading, 1, length, float(row[_INDEX["ends_question"]]))
            for length, row in zip(lengths, rows, strict=True)
        ],
        dtype=np.float32,
    )
    by_sentence = np.concatenate([rows, rows, state_rows, np.tile(shared, (len(rows), 1))], axis=1)
    folded = tuple(fold(sentence) for sentence in reading.sentences)
    return Features(sentences=folded, reply=reply, whole=whole, by_sentence=by_sentence, language=language)


def _guess_language(reading: Reading) -> str:
    typed = fold_letters(" ".join(reading.sentences)[:600])
    language = guess_language(typed, tokens(typed))
    if not language:
        reply = fold_letters(reading.reply[:600])
        language = guess_language(reply, tokens(reply))
    return language


def _pair_with_reply(reply_row: tuple[float, ...], asks: float) -> list[float]:
    """A reply that teaches something counts when it answers a question; one that promises, when something was told."""
    chosen = [reply_row[_INDEX[kind]] for kind in _REPLY_PAIRS]
    return [value * asks for value in chosen] + [value * (1.0 - asks) for value in chosen]


@lru_cache(maxsize=4096)
def _as_row(bits: int) -> tuple[float, ...]:
    return tuple(float(bits >> position & 1) for position in range(len(KINDS)))


def _sentence_row(sentence: str, lexicon: Lexicon) -> list[float]:
    folded = fold_letters(sentence)
    words = tokens(folded)
    row = list(_as_row(lexicon.find(folded, words)))
    opening = _as_row(lexicon.opens_with(folded, words))
    row += _shape_row(sentence, folded, words, opening)
    row += [row[left] * row[right] for left, right in _PAIR_INDEX]
    return row


def _shape_row(sentence: str, folded: str, words: list[str], opening: tuple[float, ...]) -> list[float]:
    ending = sentence.rstrip(CLOSING_MARKS)[-1:]
    asks = float(ending in QUESTION_MARKS)
    opens_task, opens_question = opening[_INDEX["task"]], opening[_INDEX["question"]]
    length = len(folded)
    return [
        asks,
        float(ending in EXCLAMATION_MARKS),
        opens_task,
        opens_question,
        float(_PATH.search(sentence) is not None),
        float(_NAME.search(sentence) is not None),
        float(any(map(str.isdigit, folded))),
        float(_QUOTED.search(sentence) is not None),
        float(length < 12),
        float(length < 30),
        math.log1p(len(words)) / 4,
        float(any(colon in sentence for colon in COLONS)),
        float(_FIRST_PERSON.search(folded) is not None),
        float(not (asks or opens_task or opens_question)),
    ]


def _state_row(reading: Reading, sentence_count: int, char_count: int, question_share: float) -> list[float]:
    return [
        math.log(sentence_count),
        math.log1p(char_count) / 6,
        reading.pasted_share,
        float(reading.pasted_share > 0),
        float(bool(reading.reply)),
        math.log1p(len(reading.reply)) / 6,
        question_share,
    ]
