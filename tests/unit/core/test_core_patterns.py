"""Patterns that wait until they are needed find what the plain ones find."""

from __future__ import annotations

import re

import pytest

from clew.core.patterns import LazyPattern, LoweredText, Vocabulary, as_ascii, literal_start
from clew.core.secrets.vocabulary import DENSE, LOGINS, NAMES, SPOKEN

TEXTS = [
    "the root password, the wifi-schlüssel and my PIN of the door",
    "DB_PASSWORD=x, mdp, hasło to, пароль и пин-код, 密码是 abcd, mật khẩu",
    "log in with ada and bo; user: ada, \u201cpwd\u201d …",
    "passpasspass pinpin tokens_token",
    "",
]


@pytest.mark.parametrize("vocabulary", [SPOKEN, NAMES, DENSE, LOGINS], ids=["spoken", "names", "dense", "logins"])
@pytest.mark.parametrize("text", TEXTS)
def test_a_vocabulary_finds_what_its_pattern_finds(vocabulary, text):
    lowered = text.lower()
    plain = [match.span() for match in vocabulary.pattern.finditer(lowered)]
    assert [match.span() for match in vocabulary.finditer(LoweredText(lowered))] == plain


def test_a_phrase_must_begin_with_two_plain_letters():
    assert literal_start("pass ?code") == "pass"
    assert literal_start("wi-?fi") == "wi"
    for phrase in ("[ab]c", "a?bc", "(?:ab|cd)", ""):
        with pytest.raises(ValueError, match="plain letters"):
            literal_start(phrase)


def test_a_lazy_pattern_is_not_compiled_before_its_first_use():
    pattern = LazyPattern("(")
    with pytest.raises(re.error):
        pattern.match("x")


def test_groups_tell_which_list_a_phrase_is_from():
    vocabulary = Vocabulary({"fruit": ("apple", "pear"), "tree": ("oak", "pine(?!apple)")})
    found = vocabulary.finditer(LoweredText("an oak, a pineapple, a pear"))
    assert [match.lastgroup for match in found] == ["tree", "fruit", "fruit"]


def test_the_ascii_form_keeps_every_place():
    assert as_ascii("aé密😀\ud800b") == "a????b"
