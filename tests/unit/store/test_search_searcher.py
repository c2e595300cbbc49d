"""Search over a real database, with the real embedder where meaning matters and a scripted one where timing does."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clew.core.errors import EmbedderUnavailable
from clew.core.records import Visibility
from clew.store.adapter import Database
from clew.store.embedder import BuiltinEmbedder
from clew.store.fusion import RELEVANCE_FLOOR, Matches
from clew.store.lexical import WordMatches
from clew.store.migrations import migrate
from clew.store.searcher import Found, Searcher
from clew.store.terms import lexical_form

EVERYTHING = Visibility(everywhere=True)
DAY_MS = 86_400_000


class Shelf:
    """A database, a searcher over it, and the few statements that these tests need."""

    def __init__(self, database: Database, embedder: Any) -> None:
        self.database, self.embedder = database, embedder
        self.searcher = Searcher(embedder)
        self._count = 0

    def put(self, text: str, **columns: Any) -> int:
        self._count += 1
        vector = self.embedder.embed(text).astype("<f4").tobytes() if self.embedder else None
        values = {
            "id": f"m{self._count}",
            "text": text,
            "lexical": lexical_form(text),
            "created_at": self._count,
            "embedding": vector,
            "embedding_model": self.embedder.signature if self.embedder else None,
        } | columns
        marks = ", ".join("?" * len(values))
        sql = f"INSERT INTO memories({', '.join(values)}) VALUES ({marks}) RETURNING row"  # noqa: S608
        with self.database.write() as writer:
            return int(writer.rows(sql, tuple(values.values()))[0][0])

    def change(self, sql: str, *values: Any) -> None:
        with self.database.write() as writer:
            writer.rows(sql, values)

    def search(self, query: str, visible: Visibility = EVERYTHING, **options: Any) -> Found:
        options = {"limit": 10, "min_relevance": 0.0, "deadline": None} | options
        with self.database.read() as reader:
            return self.searcher.search(reader, query, visible, **options)

    def rows(self, query: str, visible: Visibility = EVERYTHING, **options: Any) -> list[int]:
        return [one.row for one in self.search(query, visible, **options).rows]


class LoadingEmbedder:
    """Never becomes ready; embedding with it would be a mistake."""

    signature, width, problem = "loading", 384, ""

    def warm_up(self) -> None: ...

    def ready(self, timeout_s: float = 0) -> bool:
        return False

    def embed(self, text: str) -> np.ndarray:
        raise AssertionError


class BrokenEmbedder(LoadingEmbedder):
    signature, problem = "broken", "The model is damaged. Reinstall Clew."

    def embed(self, text: str) -> np.ndarray:
        raise EmbedderUnavailable(self.problem)


@pytest.fixture(scope="module")
def embedder() -> BuiltinEmbedder:
    return BuiltinEmbedder()


@pytest.fixture
def open_shelf(tmp_path: Path) -> Iterator[Callable[..., Shelf]]:
    with closing(Database(tmp_path / "memories.db")) as database:
        database.open(migrate)
        yield lambda embedder=None: Shelf(database, embedder)


@pytest.fixture
def shelf(open_shelf: Callable[..., Shelf], embedder: BuiltinEmbedder) -> Shelf:
    return open_shelf(embedder)


@pytest.fixture
def wordy(open_shelf: Callable[..., Shelf]) -> Shelf:
    return open_shelf(None)


def test_a_memory_is_found_by_meaning_without_a_common_word(shelf: Shelf) -> None:
    wanted = shelf.put("The automobile is parked beside the house")
    shelf.put("I prefer tabs over spaces")
    found = shelf.search("where did I leave my car?")
    assert found.rows[0].row == wanted
    assert (found.mode, found.reason) == ("hybrid", "")


def test_a_memory_beyond_the_embedders_window_is_found_by_a_word_at_its_end(shelf: Shelf) -> None:
    wanted = shelf.put("nothing of note here " * 400 + "The password store is called zebrafish.")
    shelf.put("Something else entirely")
    assert shelf.rows("zebrafish")[0] == wanted


def test_a_single_memory_is_relevant_to_its_own_words(wordy: Shelf) -> None:
    wordy.put("The staging database listens on port 5433")
    (only,) = wordy.search("which port does the staging database use?").rows
    assert only.relevance >= RELEVANCE_FLOOR


def test_an_unrelated_prompt_finds_nothing_above_the_floor(shelf: Shelf) -> None:
    for text in ("I prefer tabs over spaces", "Use pnpm, never npm", "Money is stored as integer cents"):
        shelf.put(text)
    for prompt in ("thanks, that works", "why is the sky blue?", "raccontami una barzelletta", "今天天气怎么样？"):
        assert shelf.rows(prompt, min_relevance=RELEVANCE_FLOOR) == []


def test_by_words_alone_a_larger_store_asks_for_a_better_match() -> None:
    def relevance(total: int, cosine: float | None = None) -> float:
        words = WordMatches(strengths={1: 0.3}, counts={1: 2}, terms=4, total=total)
        return Matches(words=words, meaning=None if cosine is None else {1: cosine}).relevance_of(1)

    assert relevance(10) == relevance(100) > relevance(1000) > relevance(10_000)
    assert relevance(10, 0.4) == relevance(10_000, 0.4)


def test_relevance_needs_no_neighbour_and_the_score_may_use_it(shelf: Shelf) -> None:
    alone = shelf.put("The answer is forty-two", created_at=1)
    told = shelf.put("The answer is forty-two", session_id="s", created_at=3)
    shelf.put("What is the number of lighthouses in Wales?", session_id="s", created_at=2)
    by_row = {one.row: one for one in shelf.search("number of lighthouses in Wales").rows}
    assert by_row[told].score > by_row[alone].score
    assert by_row[told].relevance == pytest.approx(by_row[alone].relevance, abs=1e-6)


def test_a_hits_signals_add_up_to_its_score(shelf: Shelf) -> None:
    shelf.put("When the build broke last week I fixed the cache", speaker="Ada", session_id="s")
    shelf.put("Which build was it?", speaker="Grace", session_id="s")
    for one in shelf.search("When did Ada fix the build cache?").rows:
        assert one.score == pytest.approx(sum(one.signals.values()))


def test_the_speaker_that_a_question_names_comes_first(shelf: Shelf) -> None:
    shelf.put("I like chess and painting", speaker="Grace")
    wanted = shelf.put("I like chess and pottery", speaker="Ada")
    assert shelf.rows("What does Ada like besides chess?")[0] == wanted


def test_the_date_that_a_question_names_comes_first(shelf: Shelf) -> None:
    shelf.put("We went to the lake", created_at=1_600_000_000_000)
    wanted = shelf.put("We went to the lake", created_at=1_683_460_800_000)
    assert shelf.rows("Where did we go on 7 May 2023?")[0] == wanted


def test_a_reader_sees_user_memories_and_those_of_its_project_only(shelf: Shelf) -> None:
    mine = shelf.put("The parser uses tabs")
    here = shelf.put("The parser uses spaces here", scope="project", project_key="a")
    there = shelf.put("The parser uses spaces there", scope="project", project_key="b")
    for query in ("parser spaces", "indentation of the syntax reader"):
        assert set(shelf.rows(query, Visibility(project_key="a"))) == {mine, here}
        assert set(shelf.rows(query, Visibility())) == {mine}
        assert set(shelf.rows(query)) == {mine, here, there}


@pytest.mark.parametrize(
    "narrow", [{"user_id": "u"}, {"assistant_id": "p"}, {"session_id": "s"}, {"categories": ("c",)}]
)
def test_a_reader_may_narrow_to_a_user_an_assistant_a_session_or_categories(
    shelf: Shelf, narrow: dict[str, Any]
) -> None:
    wanted = shelf.put("The parser uses tabs", user_id="u", assistant_id="p", session_id="s", category="c")
    shelf.put("The parser uses tabs too", user_id="x", assistant_id="x", session_id="x", category="x")
    shelf.put("The parser uses tabs as well")
    assert shelf.rows("parser tabs", Visibility(everywhere=True, **narrow)) == [wanted]
    assert shelf.rows("parser tabs", Visibility(everywhere=True, session_id="nowhere")) == []


def test_a_hidden_neighbour_lends_nothing_and_does_not_show(shelf: Shelf) -> None:
    shelf.put("Tabs or spaces in the parser?", session_id="s", scope="project", project_key="b")
    seen = shelf.put("Spaces", session_id="s")
    found = shelf.search("tabs or spaces in the parser", Visibility(project_key="a")).rows
    assert [one.row for one in found] == [seen]
    assert "words_before" not in found[0].signals


def test_visible_memories_are_found_behind_many_invisible_ones(wordy: Shelf) -> None:
    for _ in range(230):
        wordy.put("parser parser parser", scope="project", project_key="b")
    wanted = wordy.put("the parser is a long story with many other words in it", scope="project", project_key="a")
    assert wordy.rows("parser", Visibility(project_key="a")) == [wanted]


def test_superseded_memories_are_not_found(shelf: Shelf) -> None:
    old = shelf.put("The parser uses tabs")
    new = shelf.put("The parser uses spaces")
    assert set(shelf.rows("parser")) == {old, new}
    shelf.change("UPDATE memories SET state = 'superseded' WHERE row = ?", old)
    assert shelf.rows("parser") == [new]


def test_an_edit_is_found_by_its_new_words_and_not_by_the_old(shelf: Shelf) -> None:
    row = shelf.put("The automobile is red")
    shelf.put("I prefer tabs over spaces")
    before = {one.row: one for one in shelf.search("car").rows}[row].relevance
    text = "Invoices are sent on Mondays"
    vector = shelf.embedder.embed(text).astype("<f4").tobytes()
    shelf.change("UPDATE memories SET text = ?, lexical = '', embedding = ? WHERE row = ?", text, vector, row)
    assert {one.row: one for one in shelf.search("car").rows}[row].relevance < before
    assert shelf.rows("invoices")[0] == row
    assert "words" not in {one.row: one for one in shelf.search("automobile").rows}[row].signals


def test_a_deleted_memory_is_gone_at_once(shelf: Shelf) -> None:
    row = shelf.put("The automobile is red")
    assert shelf.rows("car") == [row]
    shelf.change("DELETE FROM memories WHERE row = ?", row)
    assert shelf.rows("car") == []


def test_a_trimmed_log_makes_the_index_read_everything_again(shelf: Shelf) -> None:
    first = shelf.put("The automobile is red")
    assert shelf.rows("car") == [first]
    second = shelf.put("My vehicle is blue")
    shelf.change("DELETE FROM memory_log")
    third = shelf.put("The truck is green")
    shelf.change("DELETE FROM memory_log WHERE seq < (SELECT max(seq) FROM memory_log)")
    assert set(shelf.rows("car")) == {first, second, third}


def test_an_emptied_log_makes_the_index_read_everything_again(shelf: Shelf) -> None:
    first = shelf.put("The automobile is red")
    assert shelf.rows("car") == [first]
    second = shelf.put("My vehicle is blue")
    shelf.change("DELETE FROM memory_log")
    assert set(shelf.rows("car")) == {first, second}


@pytest.mark.parametrize(
    "blob",
    [
        np.zeros(384, "<f4").tobytes(),
        np.full(384, np.nan, "<f4").tobytes(),
        np.full(384, np.inf, "<f4").tobytes(),
        np.ones(383, "<f4").tobytes(),
        b"",
    ],
)
def test_a_planted_bad_vector_is_counted_and_hides_no_memory(shelf: Shelf, blob: bytes) -> None:
    good = shelf.put("The automobile is red")
    bad = shelf.put("The parser is blue", embedding=blob)
    assert shelf.rows("car")[0] == good
    assert shelf.rows("blue parser")[0] == bad
    assert shelf.searcher.bad_vectors == 1
    shelf.change("UPDATE memories SET embedding = NULL WHERE row = ?", bad)
    shelf.rows("car")
    assert shelf.searcher.bad_vectors == 0


def test_vectors_of_another_embedder_are_not_compared(shelf: Shelf) -> None:
    wanted = shelf.put("The automobile is red")
    shelf.put("My car is a car", embedding_model="other")
    assert shelf.rows("vehicle") == [wanted]


def test_the_length_of_stored_vectors_changes_nothing(shelf: Shelf) -> None:
    texts = ("The automobile is red", "My vehicle is blue", "I prefer tabs", "A bicycle needs air")
    rows = [shelf.put(text) for text in texts]
    before = shelf.search("car").rows
    for row, text in zip(rows, texts, strict=True):
        longer = (shelf.embedder.embed(text) * 7).astype("<f4").tobytes()
        shelf.change("UPDATE memories SET embedding = ? WHERE row = ?", longer, row)
    after = shelf.search("car").rows
    assert [one.row for one in after] == [one.row for one in before]
    assert [one.score for one in after] == pytest.approx([one.score for one in before], abs=1e-5)


def test_a_memory_without_a_vector_keeps_its_place_by_words(shelf: Shelf) -> None:
    wanted = shelf.put("The zebrafish cluster is in Oslo", embedding=None, embedding_model=None)
    shelf.put("The cluster of grapes is ripe")
    assert shelf.rows("where is the zebrafish cluster?")[0] == wanted


def test_while_the_embedder_loads_full_text_answers_and_says_why(open_shelf: Callable[..., Shelf]) -> None:
    row = open_shelf(None).put("The parser uses tabs")
    found = open_shelf(LoadingEmbedder()).search("parser", deadline=time.monotonic())
    assert [one.row for one in found.rows] == [row]
    assert (found.mode, found.reason) == ("lexical", "The embedder is still loading.")


@pytest.mark.parametrize("deadline", [None, 0.0])
def test_with_a_damaged_embedder_full_text_answers_and_says_what_to_do(
    open_shelf: Callable[..., Shelf], deadline: float | None
) -> None:
    row = open_shelf(None).put("The parser uses tabs")
    found = open_shelf(BrokenEmbedder()).search("parser", deadline=deadline)
    assert [one.row for one in found.rows] == [row]
    assert (found.mode, found.reason) == ("lexical", BrokenEmbedder.problem)


def test_without_an_embedder_full_text_answers(wordy: Shelf) -> None:
    row = wordy.put("The parser uses tabs")
    found = wordy.search("parser")
    assert [one.row for one in found.rows] == [row]
    assert (found.mode, found.reason) == ("lexical", "No embedder is configured.")


@pytest.mark.parametrize("query", ["", "   ", "\n", "what is the", "\x00", '"', "a" * 100_000])
def test_an_empty_or_odd_query_finds_nothing_and_raises_nothing(wordy: Shelf, query: str) -> None:
    wordy.put("The parser uses tabs")
    assert wordy.rows(query) == []


def test_an_empty_store_answers(shelf: Shelf) -> None:
    assert shelf.search("parser").rows == ()


def test_a_limit_is_kept_and_the_best_come_first(shelf: Shelf) -> None:
    for number in range(30):
        shelf.put(f"The parser has {number} tokens")
    scores = [one.score for one in shelf.search("parser tokens", limit=7).rows]
    assert len(scores) == 7
    assert scores == sorted(scores, reverse=True)


def test_several_threads_search_while_one_writes(shelf: Shelf) -> None:
    first = shelf.put("The automobile is red")

    def look(_: int) -> bool:
        return first in shelf.rows("car", limit=100)

    with ThreadPoolExecutor(4) as threads:
        looks = threads.map(look, range(40))
        written = [shelf.put(f"My vehicle number {number} is blue") for number in range(20)]
        assert all(looks)
    assert set(shelf.rows("car", limit=100)) == {first, *written}


def test_the_lexical_path_imports_nothing_heavy(wordy: Shelf) -> None:
    wordy.put("The parser uses tabs")
    code = f"""
import sys
from pathlib import Path
from clew.core.records import Visibility
from clew.store.adapter import Database
from clew.store.searcher import Searcher
database = Database(Path({str(wordy.database.path)!r}))
database.open(lambda _: None)
with database.read() as reader:
    found = Searcher(None).search(
        reader, "parser", Visibility(everywhere=True), limit=5, min_relevance=0, deadline=None)
database.close()
print(len(found.rows), {{"numpy", "onnxruntime", "numkong"}} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["1", "set()"]
