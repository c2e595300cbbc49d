"""One normal form, one idea of a word and of a sentence, in any script."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from clew.core.text import display_text, lower_in_place, normalise, sentences, shorten, text_key, words


@pytest.mark.parametrize(
    ("raw", "normal"),
    [
        ("  a\n\tb  ", "a b"),
        ("a\x00b", "a b"),
        ("a\u200bb\ufeff", "ab"),
        ("e\u0301", "é"),
        ("a\ud800b", "a\ufffdb"),
        ("x\u202ey\u2066z", "xyz"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क्\u200dष", "क्\u200dष"),
        ("pass\u200dword", "password"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("\U000e0068\U000e0069hi", "hi"),
        ("a\u2028b\u00a0c", "a b c"),
    ],
)
def test_normal_form(raw, normal):
    assert normalise(raw) == normal


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Node 22.1 and v1.2.3", ["node", "22.1", "and", "v1.2.3"]),
        ("don't l'API memory_gate", ["don", "t", "l", "api", "memory", "gate"]),
        ("数据库迁移", ["数据", "据库", "库迁", "迁移"]),
        ("用 Go 写", ["用", "go", "写"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("مُحَمَّد", ["مُحَمَّد"]),
        ("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"]),
        ("Привет, мир", ["привет", "мир"]),
        ("データベース", ["デー", "ータ", "タベ", "ベー", "ース"]),
        ("데이터베이스", ["데이", "이터", "터베", "베이", "이스"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("!!! …", []),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


def test_thai_and_khmer_vowel_signs_stay_with_their_consonant():
    assert words("ที่นี่") == ["ที่นี่"]
    assert all(unicodedata.category(pair[0])[0] != "M" for pair in words("ភ្នំពេញ"))


def test_no_combining_mark_cuts_a_word():
    letters = {0x0900: "क", 0x0600: "ا", 0x0590: "א"}
    for start, letter in letters.items():
        for point in range(start, start + 0x70):
            if unicodedata.category(chr(point)) == "Mn":
                assert len(words(f"{letter}{chr(point)}{letter}")) == 1, hex(point)


def test_no_punctuation_counts_as_part_of_a_word():
    joined = [
        hex(point)
        for point in range(0x80, sys.maxunicode)
        if unicodedata.category(chr(point)) in {"Po", "Pd", "Ps", "Pe", "Zs"} and len(words(f"a{chr(point)}b")) == 1
    ]
    assert joined == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("We run Node 22.1 everywhere. Not 20.", ["We run Node 22.1 everywhere.", "Not 20."]),
        ("See example.org for v1.2.3 notes", ["See example.org for v1.2.3 notes"]),
        ("Use tabs, e.g. in Go. Done.", ["Use tabs, e.g. in Go.", "Done."]),
        ("我们用pnpm。不用npm！", ["我们用pnpm。", "不用npm！"]),
        ("a\nb\n\nc", ["a", "b", "c"]),
        ("", []),
        ("...", ["..."]),
    ],
)
def test_sentences(text, expected):
    assert sentences(text) == expected


def test_text_key_ignores_case_space_and_final_punctuation():
    assert text_key("We use  PNPM.") == text_key("we use pnpm") == text_key("we use pnpm!\n")
    assert text_key("we use npm") != text_key("we use pnpm")
    assert len(text_key("")) == 64


def test_display_text_fits_and_cuts_at_a_word():
    assert display_text("short", 10) == "short"
    assert display_text("the quick brown fox", 12) == "the quick…"
    assert display_text("abcdefghijkl", 5) == "abcd…"
    assert display_text("abc", 0) == ""
    assert "\x1b" not in display_text("a\x1b[31mred", 20)


def test_shorten_keeps_head_and_tail_and_says_what_is_missing():
    text = "a" * 300 + "b" * 300
    short = shorten(text, 200)
    assert len(short) <= 200
    assert short.startswith("a" * 100)
    assert short.endswith("b" * 30)
    assert "left out" in short
    assert shorten("abc", 3) == "abc"
    assert len(shorten(text, 5)) == 5


def test_lowering_keeps_every_place():
    assert lower_in_place("İSTANBUL Ça") == "İstanbul ça"
