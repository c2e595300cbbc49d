"""Hand-made features of a reading: kinds of wording and shape, per sentence and for the state as a whole."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from clew.decide.lexical.folding import (
    CLOSING_MARKS,
    COLONS,
    EXCLAMATION_MARKS,
    QUESTION_MARKS,
    fold,
    fold_digits,
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
# Each word carries its own boundaries, behind its letters: then the engine skips to where one of them can begin.
_FIRST_PERSON = re.compile(
    "|".join(rf"{word}(?<!\w{word})\b" for word in ("i", "my", "me", "mi", "ich", "je", "eu", "yo", "io"))
)
# Without these no _NAME stands in a sentence; most have none, and are told so several times quicker.
_MAY_BE_NAME = re.compile(r"[`_A-Z-](?:(?<=[`_])|(?<=[a-z][A-Z])|(?<=--))")
_DIGIT = re.compile(r"\d")

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
_PAIR_COLUMNS = tuple([_INDEX[name] for name in side] for side in zip(*_PAIRS, strict=True))
_TASK_BIT, _QUESTION_BIT = (1 << KINDS.index(kind) for kind in ("task", "question"))
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
    folded = [fold_letters(sentence) for sentence in reading.sentences]
    rows = _sentence_rows(reading.sentences, folded, lexicon)
    reply = fold(reading.reply)
    reply_bits = lexicon.find(reply, tokens(reply)) if reply else 0
    reply_row = _as_row(reply_bits)
    asks = float(rows[:, _INDEX["ends_question"]].max() or rows[0, _INDEX["opens_question"]])
    shared = np.array(
        [*secret_signs(reading.scanned), *reply_row, *_pair_with_reply(reply_row, asks)], dtype=np.float32
    )
    lengths = [len(sentence) for sentence in reading.sentences]
    questions = rows[:, _INDEX["ends_question"]]
    state_row = _state_row(reading, len(rows), sum(lengths), float(questions.mean()))
    whole = np.concatenate([rows.max(axis=0), rows.mean(axis=0), np.array(state_row, np.float32), shared])
    state_rows = np.array(
        [
            _state_row(reading, 1, length, question)
            for length, question in zip(lengths, questions.tolist(), strict=True)
        ],
        dtype=np.float32,
    )
    by_sentence = np.concatenate([rows, rows, state_rows, np.tile(shared, (len(rows), 1))], axis=1)
    return Features(
        sentences=tuple(map(fold_digits, folded)),
        reply=reply,
        whole=whole,
        by_sentence=by_sentence,
        language=language,
    )


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


def _sentence_rows(sentences: Sequence[str], folded: Sequence[str], lexicon: Lexicon) -> Matrix:
    """Hand features of each sentence, [sentences, len(SENTENCE_NAMES)]; `folded` by `fold_letters`."""
    import numpy as np

    words = [tokens(text) for text in folded]
    kinds = np.array([lexicon.find(*pair) for pair in zip(folded, words, strict=True)], dtype=np.uint32)
    shapes = [_shape_row(*parts, lexicon) for parts in zip(sentences, folded, words, strict=True)]
    bits = kinds[:, None] >> np.arange(len(KINDS), dtype=np.uint32) & 1
    own = np.concatenate([bits, shapes], axis=1, dtype=np.float32)
    left, right = _PAIR_COLUMNS
    return np.concatenate([own, own[:, left] * own[:, right]], axis=1)


def _shape_row(sentence: str, folded: str, words: list[str], lexicon: Lexicon) -> tuple[float, ...]:
    """Values of _SHAPE; those that are true or false count as 1 and 0."""
    ending = sentence.rstrip(CLOSING_MARKS)[-1:]
    asks = ending in QUESTION_MARKS
    opening = lexicon.opens_with(folded, words)
    opens_task, opens_question = opening & _TASK_BIT != 0, opening & _QUESTION_BIT != 0
    length = len(folded)
    return (
        asks,
        ending in EXCLAMATION_MARKS,
        opens_task,
        opens_question,
        _has_path(sentence),
        _MAY_BE_NAME.search(sentence) is not None and _NAME.search(sentence) is not None,
        _has_number(folded),
        _QUOTED.search(sentence) is not None,
        length < 12,
        length < 30,
        math.log1p(len(words)) / 4,
        any(colon in sentence for colon in COLONS),
        _FIRST_PERSON.search(folded) is not None,
        not (asks or opens_task or opens_question),
    )


def _has_path(sentence: str) -> bool:
    # the quick look first: a full stop at the end is none of a file's name
    may_be_path = "/" in sentence or "\\" in sentence or "." in sentence[:-2]
    return may_be_path and _PATH.search(sentence) is not None


def _has_number(folded: str) -> bool:
    # \d leaves out a few digits beyond ASCII, such as circled ones
    return _DIGIT.search(folded) is not None or (not folded.isascii() and any(map(str.isdigit, folded)))


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
