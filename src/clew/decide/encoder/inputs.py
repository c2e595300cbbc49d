"""What the encoder reads: token numbers of a state, a pair of memories or one memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from clew.core.records import DatedEntry, EntryPair
from clew.decide.lexical.reading import Reading

if TYPE_CHECKING:
    from clew.models.tokenizer import WordPiece

MAX_USER_TOKENS = 128
MAX_REPLY_TOKENS = 28
#: What stood before matters only to a short message ("yes, always do it like that").
MAX_PREVIOUS_TOKENS = 24
_SHORT_USER_TOKENS = 40
MAX_ENTRY_TOKENS = 62
#: The longest input: every part, [CLS], and [SEP] after each part.
MAX_TOKENS = 160
CLS, SEP, MASK = 101, 102, 103


class Tokens(NamedTuple):
    """Token numbers, and for each whether it belongs to the first part (0) or to a later one (1)."""

    ids: list[int]
    types: list[int]


def encode_state(tokenizer: WordPiece, reading: Reading, ranks: Sequence[float], previous: str | None) -> Tokens:
    """The typed sentences, then the reply, then for a short message the end of the reply before it.

    Args:
        ranks: how much each sentence matters; of a long message only the foremost are read, in their own order.
    """
    user = _choose_sentences(tokenizer, reading.sentences, ranks)
    parts = [user, _pieces(tokenizer, reading.reply)[:MAX_REPLY_TOKENS]]
    if previous and len(user) <= _SHORT_USER_TOKENS:
        parts.append(_pieces(tokenizer, previous[-400:])[-MAX_PREVIOUS_TOKENS:])
    return _join(parts)


def encode_pair(tokenizer: WordPiece, pair: EntryPair) -> Tokens:
    """The two entries, the earlier one first."""
    return _join([_pieces(tokenizer, text)[:MAX_ENTRY_TOKENS] for text in (pair.a, pair.b)])


def encode_entry(tokenizer: WordPiece, entry: DatedEntry) -> Tokens:
    """The entry's text."""
    return _join([_pieces(tokenizer, entry.entry)[:MAX_USER_TOKENS]])


def _choose_sentences(tokenizer: WordPiece, sentences: Sequence[str], ranks: Sequence[float]) -> list[int]:
    """The foremost sentences that fit, in the order in which they were typed."""
    chosen: dict[int, list[int]] = {}
    left = MAX_USER_TOKENS
    for index in sorted(range(len(sentences)), key=lambda place: (-ranks[place], place)):
        chosen[index] = _pieces(tokenizer, sentences[index])[:left]
        left -= len(chosen[index])
        if left <= 0:
            break
    return [number for index in sorted(chosen) for number in chosen[index]]


def _pieces(tokenizer: WordPiece, text: str) -> list[int]:
    return tokenizer.encode(text)[1:-1] if text else []


def _join(parts: Sequence[list[int]]) -> Tokens:
    ids, types = [CLS], [0]
    for place, part in enumerate(parts):
        if not part and place:
            continue
        ids += [*part, SEP]
        types += [min(place, 1)] * (len(part) + 1)
    return Tokens(ids, types)
