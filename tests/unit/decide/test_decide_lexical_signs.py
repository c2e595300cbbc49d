"""What the lexical tier sees in a sentence and in a text that may hold a secret."""

from __future__ import annotations

import pytest

from clew.core.records import State
from clew.decide.lexical.features import FEATURE_NAMES, extract_features
from clew.decide.lexical.lexicon import lexicon_for
from clew.decide.lexical.reading import read_state
from clew.decide.lexical.secret_signs import SIGN_NAMES, secret_signs


def _sees(name: str, text: str) -> bool:
    whole = extract_features(read_state(State(user=text))).whole
    return bool(whole[FEATURE_NAMES.index(f"max {name}")])


def _sign(name: str, text: str) -> float:
    return secret_signs(text)[SIGN_NAMES.index(name)]


@pytest.mark.parametrize("text", ["look at src/cart.py", "it is in /etc/hosts", r"on C:\data", "open main.rs"])
def test_a_path_or_a_file_name_is_seen(text: str) -> None:
    assert _sees("has_path", text)


@pytest.mark.parametrize("text", ["That is all.", "wait...", "yes. no", ""])
def test_a_full_stop_makes_no_path(text: str) -> None:
    assert not _sees("has_path", text)


@pytest.mark.parametrize("text", ["call loadCart first", "use user_id here", "run `make all` now", "pass --fast"])
def test_a_name_of_the_code_is_seen(text: str) -> None:
    assert _sees("has_name", text)


@pytest.mark.parametrize("text", ["Ask Anna", "a well-known API", "HTTP - really", "snake_ case"])
def test_ordinary_words_are_no_name_of_the_code(text: str) -> None:
    assert not _sees("has_name", text)


@pytest.mark.parametrize(
    ("text", "is_seen"), [("I'd rather not", True), ("so am i", True), ("a wiki page", False), ("use _i_ here", False)]
)
def test_the_first_person_is_a_word_of_its_own(text: str, is_seen: bool) -> None:
    assert _sees("first_person", text) is is_seen


@pytest.mark.parametrize("text", ["in 3 steps", "step \u2462 first", "\u0663 days"])
def test_a_number_is_seen_in_any_script(text: str) -> None:
    assert _sees("has_number", text)


def test_a_phrase_of_several_words_is_found_only_when_all_of_them_follow_each_other() -> None:
    lexicon = lexicon_for("en")
    whole = ["from", "now", "on"]
    assert lexicon.find("from now on", whole) & ~lexicon.find("from on now", ["from", "on", "now"])


@pytest.mark.parametrize("text", ["<your token>", "key: xxxxxxxx", "$API_KEY", "YOUR_KEY", "process.env.KEY", "****"])
def test_a_placeholder_is_seen_in_any_case(text: str) -> None:
    assert _sign("placeholder", text) == 1.0


@pytest.mark.parametrize("text", ["axxxxx", "xxxx1", "a < b", "$5", "your key"])
def test_what_only_begins_like_a_placeholder_is_none(text: str) -> None:
    assert _sign("placeholder", text) == 0.0


@pytest.mark.parametrize("text", ["Tr0ub4dor", "password: Tr0ub4dor", "(the password is Tr0ub4dor)"])
def test_a_value_counts_where_a_word_for_a_secret_announces_it(text: str) -> None:
    assert _sign("value_near_word", text) == float("password" in text)


def test_only_the_first_values_of_a_text_are_looked_at() -> None:
    assert _sign("only_hash", "deadbeef1 " + "a.bc " * 80) == 1.0
    assert _sign("only_hash", "a.bc " * 80 + "deadbeef1") == 0.0


def test_a_run_without_an_end_is_read_in_pieces() -> None:
    assert _sign("only_hash", "x-" * 100 + "deadbeef1") == 1.0
