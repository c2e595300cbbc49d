"""Whatever is stored and whatever is asked, search answers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.text import words
from clew.store.signals import asks_when, date_closeness, date_window, length_signal, speakers_named, without_names
from clew.store.terms import fts_query, lexical_form, match_phrase, query_terms
from clew.store.vector_table import VectorTable, scan_with_numpy, unit_vectors

WIDTH = 16
ANY_TEXT = st.text(max_size=60)
SYNTAX = st.text(alphabet='"*^(){}:+-,.\x00 NEARANDORNOTtext猫ก\u0301', max_size=30)
DENSE = st.text(alphabet="猫犬我喜欢咖啡ねこイヌ한국어กขค", min_size=1, max_size=12)


@pytest.fixture(scope="module")
def index() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='porter unicode61 remove_diacritics 2')")
    connection.execute("INSERT INTO texts VALUES ('the parser uses tabs')")
    yield connection
    connection.close()


@given(ANY_TEXT | SYNTAX)
def test_no_query_is_a_syntax_error(index: sqlite3.Connection, text: str) -> None:
    query = fts_query(text)
    if query is not None:
        index.execute("SELECT rowid, rank FROM texts WHERE texts MATCH ?", (query,)).fetchall()


@given(ANY_TEXT | SYNTAX)
def test_no_word_is_a_syntax_error_even_unprepared(index: sqlite3.Connection, word: str) -> None:
    word = word.encode("utf-8", "replace").decode("utf-8")
    index.execute("SELECT rowid FROM texts WHERE texts MATCH ?", (match_phrase(word),)).fetchall()


@given(st.lists(ANY_TEXT, max_size=200))
def test_a_query_has_no_word_twice_and_not_too_many(texts: list[str]) -> None:
    terms = query_terms(" ".join(texts))
    assert len(terms) == len(set(terms)) <= 64


@given(before=DENSE, piece=DENSE, after=DENSE)
def test_any_piece_of_a_text_without_blanks_finds_it(
    index: sqlite3.Connection, before: str, piece: str, after: str
) -> None:
    text = before + piece + after
    query = fts_query(piece)
    if query is None:
        return
    index.execute("SAVEPOINT one")
    index.execute("INSERT INTO texts(rowid, text) VALUES (99, ?)", (lexical_form(text) or text,))
    found = index.execute("SELECT rowid FROM texts WHERE texts MATCH ?", (query,)).fetchall()
    index.execute("ROLLBACK TO one")
    assert (99,) in found


@given(ANY_TEXT)
def test_the_indexed_form_keeps_every_word(text: str) -> None:
    form = lexical_form(text) or text
    assert set(words(text)) <= set(words(form)) | {word for word in words(text) if not word.strip()}


@given(ANY_TEXT, st.lists(ANY_TEXT, max_size=3), st.integers(-(2**70), 2**70))
def test_signals_of_any_text_are_small_numbers(query: str, speakers: list[str], created: int) -> None:
    assert speakers_named(query, speakers) <= set(speakers)
    assert without_names(query, speakers) or not query
    assert 0 <= date_closeness(date_window(query), created) <= 1
    assert 0 <= length_signal(query) <= 1.2
    assert asks_when(query) in {True, False}


vectors = st.lists(st.floats(-1, 1, width=32), min_size=WIDTH, max_size=WIDTH).filter(lambda v: max(map(abs, v)) > 1e-3)


@given(st.lists(st.tuples(st.integers(0, 9), st.none() | vectors), max_size=40), vectors)
def test_the_table_holds_what_was_put_last(changes: list[tuple[int, list[float] | None]], asked: list[float]) -> None:
    table, expected = VectorTable(WIDTH), {}
    for row, vector in changes:
        if vector is None:
            table.drop(row)
            expected.pop(row, None)
            continue
        _, unit = unit_vectors([np.array(vector, "<f4").tobytes()], WIDTH)
        table.put(np.array([[row, row * 2, row * 3]]), unit)
        expected[row] = unit[0]
    query = np.array(asked) / np.linalg.norm(asked)
    found = dict(zip(table.rows.tolist(), table.cosines(query.astype(np.float32)).tolist(), strict=True))
    assert found.keys() == expected.keys()
    assert all(found[row] == pytest.approx(float(query @ vector), abs=0.02) for row, vector in expected.items())
    assert table.audiences.tolist() == [2 * row for row in table.rows.tolist()]
    assert table.sessions.tolist() == [3 * row for row in table.rows.tolist()]


@given(st.lists(st.binary(max_size=4 * WIDTH + 4), max_size=20))
def test_no_blob_makes_an_unusable_vector(blobs: list[bytes]) -> None:
    usable, units = unit_vectors(blobs, WIDTH)
    assert usable.sum() == len(units)
    assert np.isfinite(units).all()
    assert np.linalg.norm(units, axis=1) == pytest.approx(np.ones(len(units)), abs=1e-4)


def test_the_scan_without_numkong_gives_the_same_products() -> None:
    chance = np.random.default_rng(1)
    matrix = chance.integers(-127, 128, (20_000, 64), dtype=np.int8)
    vector = chance.integers(-127, 128, 64, dtype=np.int8)
    assert np.array_equal(scan_with_numpy(vector, matrix), matrix.astype(np.int64) @ vector.astype(np.int64))
