from __future__ import annotations

import pytest

from clew.gate.statement import MAX_STATEMENT_CHARS, make_statement, typed_part

LONG = (
    "We spent the whole morning on this and I am tired. "
    "The staging database runs on port 5544. "
    + "It was quite a ride with many turns and I will spare you the details of it all. " * 4
    + "Always run the migrations before the tests."
)


def test_a_short_message_is_taken_whole_as_one_line():
    assert make_statement("I prefer tabs.\nAlways.", ()) == "I prefer tabs. Always."


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("ok, we deploy with fly", "we deploy with fly"),
        ("btw the API is versioned", "the API is versioned"),
        ("By the way, npm is banned", "npm is banned"),
        ("So the tests need Docker", "So the tests need Docker"),
        ("okay", "okay"),
        ("Hi, hey, I am Ada", "I am Ada"),
    ],
)
def test_openers_that_say_nothing_go(text, statement):
    assert make_statement(text, ()) == statement


def test_of_a_long_message_the_deciding_sentences_stay_in_their_order():
    highlights = ("Always run the migrations before the tests.", "The staging database runs on port 5544.")
    assert make_statement(LONG, highlights) == (
        "The staging database runs on port 5544. Always run the migrations before the tests."
    )


def test_highlights_that_do_not_fit_or_were_not_typed_are_left_out():
    highlights = ("z" * (MAX_STATEMENT_CHARS + 1), "Something from a paste.", "The staging database runs on port 5544.")
    assert make_statement(LONG, highlights) == "The staging database runs on port 5544."


def test_half_a_sentence_is_no_highlight():
    highlights = ("run the migrations before the tests.", "The staging database runs on port 5544.")
    assert make_statement(LONG, highlights) == "The staging database runs on port 5544."


def test_a_long_message_without_highlights_is_cut():
    statement = make_statement(LONG, ())
    assert len(statement) <= MAX_STATEMENT_CHARS
    assert statement.startswith("We spent the whole morning")


def test_pasted_text_is_no_statement_of_the_person():
    typed = typed_part("Why does this fail?\n```\nALWAYS_USE = 'Java'\n```")
    assert typed == "Why does this fail?"
