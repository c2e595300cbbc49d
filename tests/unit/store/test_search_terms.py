"""What full text indexes, and what a query asks of it."""

from __future__ import annotations

import sqlite3

import pytest

from clew.store.terms import fts_query, lexical_form, query_terms, reads_english

TOKENIZER = "porter unicode61 remove_diacritics 2"


def matches(stored: str, asked: str) -> bool:
    """Whether a query finds a text in an index made as the store makes it."""
    database = sqlite3.connect(":memory:")
    try:
        database.execute(f"CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='{TOKENIZER}')")
        database.execute("INSERT INTO texts VALUES (?)", (lexical_form(stored) or stored,))
        query = fts_query(asked)
        return query is not None and bool(
            database.execute("SELECT 1 FROM texts WHERE texts MATCH ?", (query,)).fetchall()
        )
    finally:
        database.close()


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("我每天早上喜欢喝咖啡", "咖啡"),
        ("我每天早上喜欢喝咖啡", "早上喝什么"),
        ("我每天早上喜欢喝咖啡", "啡"),
        ("生产数据库在上海机房。", "上海"),
        ("単体テストは必ずモックなしで書く", "モック"),
        ("데이터베이스는 매주 백업합니다", "백업"),
        ("ฉันชอบกินข้าวกับไข่", "กินข้าว"),
        ("Документация хранится в папке docs", "документация"),
        ("הגיבויים נעשים בכל יום ראשון", "הגיבויים"),
        ("النسخ الاحتياطي كل يوم أحد", "الاحتياطي"),
        ("मुझे हिन्दी में उत्तर चाहिए", "हिन्दी"),
        ("Die Straße ist gesperrt", "strasse"),
        ("Die Strasse ist gesperrt", "Straße"),
        ("perché la città è così", "citta"),
        ("Run the tests with make", "running a test"),
        ("the port is 5433", "which port 5433"),
        ("uses snake_case names", "snake_case"),
        ("it’s in C:\\Users\\me", "users"),
    ],
)
def test_a_text_is_found_by_words_of_its_script(stored: str, asked: str) -> None:
    assert matches(stored, asked)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Коты любят тёплое молоко", "коты обожают молоко"),
        ("I prefer tabs over spaces", "tabs xyzzy spaces"),
        ("生产数据库在上海机房", "上海 xyzzy 机房"),
    ],
)
def test_one_wrong_word_among_three_still_finds(stored: str, asked: str) -> None:
    assert matches(stored, asked)


def test_words_that_a_text_does_not_hold_do_not_find_it() -> None:
    assert not matches("我每天早上喜欢喝咖啡", "晚上睡觉")
    assert not matches("I prefer tabs", "spaces")


@pytest.mark.parametrize("asked", ["", "   ", "what is the", "?!", "\x00", "ok thanks", "che cosa è"])
def test_a_query_about_nothing_asks_nothing(asked: str) -> None:
    assert fts_query(asked) is None


@pytest.mark.parametrize("word", ["war", "die", "come", "ci", "vi", "os", "su", "AI", "es", "go1"])
def test_words_that_are_small_only_elsewhere_are_kept(word: str) -> None:
    assert query_terms(word)


def test_latin_text_is_indexed_as_it_is() -> None:
    assert not lexical_form("Run `make test`, café, привет, שלום")


def test_a_query_keeps_head_and_tail_of_a_long_prompt() -> None:
    terms = query_terms(" ".join(f"word{number}" for number in range(500)))
    assert len(terms) == 64
    assert terms[0] == "word0"
    assert terms[-1] == "word499"


def test_names_are_left_out_on_demand() -> None:
    assert query_terms("Does Ada like chess", without={"ada"}) == ("like", "chess")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("how do I run the tests", True),
        ("git rebase --onto main", True),
        ("", True),
        ("come devo chiamare le variabili?", False),
        ("wie werden die Passwörter gehasht", False),
        ("今天天气怎么样", False),
        ("расскажи анекдот", False),
    ],
)
def test_english_is_told_from_other_languages(text: str, expected: bool) -> None:
    assert reads_english(text) is expected
