"""What the encoder reads of a message, of two memories and of one."""

from __future__ import annotations

import pytest

from clew.core.records import DatedEntry, EntryPair, State
from clew.decide.encoder.inputs import (
    CLS,
    MAX_PREVIOUS_TOKENS,
    MAX_REPLY_TOKENS,
    MAX_TOKENS,
    MAX_USER_TOKENS,
    SEP,
    encode_entry,
    encode_pair,
    encode_state,
)
from clew.decide.encoder.tier import TOKENIZER_WINDOW
from clew.decide.lexical.reading import read_state
from clew.models.manifest import FOLDER
from clew.models.runtime import open_tokenizer


@pytest.fixture(scope="module")
def tokenizer():
    return open_tokenizer(FOLDER, max_tokens=TOKENIZER_WINDOW)


def words(tokenizer, text: str) -> list[int]:
    return tokenizer.encode(text)[1:-1]


def encoded(tokenizer, user: str, assistant: str | None = None, previous: str | None = None, ranks=None):
    reading = read_state(State(user=user, assistant=assistant))
    return encode_state(tokenizer, reading, ranks or [0.0] * len(reading.sentences), previous)


def test_message_and_reply_stand_in_their_own_parts(tokenizer) -> None:
    tokens = encoded(tokenizer, "use spaces", "done")
    assert tokens.ids == [CLS, *words(tokenizer, "use spaces"), SEP, *words(tokenizer, "done"), SEP]
    assert tokens.types == [0, 0, 0, 0, 1, 1]


def test_of_a_long_message_the_foremost_sentences_are_read_in_their_order(tokenizer) -> None:
    filler = [f"This is the idle sentence number {number} of a long message." for number in range(30)]
    sentences = [*filler[:10], "Photos live in the bucket.", *filler[10:20], "Never merge on Fridays.", *filler[20:]]
    ranks = [1.0 if "bucket" in one or "Fridays" in one else 0.0 for one in sentences]
    ids = encoded(tokenizer, " ".join(sentences), ranks=ranks).ids
    bucket, fridays = words(tokenizer, "bucket")[0], words(tokenizer, "fridays")[0]
    assert ids.index(bucket) < ids.index(fridays)
    assert ids.index(SEP) - 1 == MAX_USER_TOKENS


def test_what_stood_before_is_read_with_a_short_message_only(tokenizer) -> None:
    previous = "Shall I run the linter before each commit?"
    assert words(tokenizer, "linter")[0] in encoded(tokenizer, "yes, always", "ok", previous).ids
    assert words(tokenizer, "linter")[0] not in encoded(tokenizer, "word " * 60, "ok", previous).ids


def test_no_input_is_longer_than_the_network_takes(tokenizer) -> None:
    long = "word " * 5_000
    for tokens in (
        encoded(tokenizer, long, long, long),
        encoded(tokenizer, "short", long, long),
        encode_pair(tokenizer, EntryPair(a=long, b=long)),
        encode_entry(tokenizer, DatedEntry(entry=long)),
    ):
        assert len(tokens.ids) == len(tokens.types) <= MAX_TOKENS
    assert 1 + MAX_USER_TOKENS + 1 + MAX_REPLY_TOKENS + 1 <= MAX_TOKENS
    assert MAX_PREVIOUS_TOKENS < MAX_USER_TOKENS


@pytest.mark.parametrize("text", ["", "\x00", "\ud83d", "```\ncode only\n```"])
def test_an_empty_or_odd_message_still_gives_an_input(tokenizer, text) -> None:
    tokens = encoded(tokenizer, text)
    assert tokens.ids[0] == CLS
    assert tokens.ids[-1] == SEP


def test_the_earlier_entry_comes_first(tokenizer) -> None:
    tokens = encode_pair(tokenizer, EntryPair(a="tabs", b="spaces"))
    assert tokens.ids == [CLS, *words(tokenizer, "tabs"), SEP, *words(tokenizer, "spaces"), SEP]
