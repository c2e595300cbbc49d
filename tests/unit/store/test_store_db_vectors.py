"""Vectors: checked on every write, filled in later, never the reason that a search fails."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from clew.core.errors import EmbedderUnavailable, InvalidInput
from clew.core.records import NewMemory, Provenance, Visibility
from clew.store.embedder import BuiltinEmbedder
from clew.store.store import Store
from clew.store.vectors import encode_vector

EVERYWHERE = Visibility(everywhere=True)


class ScriptedEmbedder:
    """An embedder whose vectors and readiness the test decides."""

    signature = "scripted-4"
    width = 4
    problem = ""

    def __init__(self, make: Callable[[str], np.ndarray], *, is_ready: bool = True) -> None:
        self.make, self.is_ready = make, is_ready
        self.texts: list[str] = []

    def warm_up(self) -> None:
        pass

    def ready(self, timeout_s: float = 0) -> bool:
        return self.is_ready

    def embed(self, text: str) -> np.ndarray:
        self.texts.append(text)
        return self.make(text)


def spread(text: str) -> np.ndarray:
    vector = np.array([len(text), text.count("a") + 1, text.count("e") + 1, 1], np.float32)
    return vector / np.linalg.norm(vector)


def new(text: str) -> NewMemory:
    return NewMemory(text=text, provenance=Provenance(origin="gate"))


def stored(store: Store) -> list[tuple]:
    with store._database.read() as reader:
        return reader.rows("SELECT text, embedding, embedding_model FROM memories ORDER BY row")


def test_a_vector_is_stored_as_little_endian_float32_of_unit_length() -> None:
    given = np.array([0.6, 0.8], np.float64)
    assert encode_vector(given, width=2) == np.array([0.6, 0.8], "<f4").tobytes()
    assert np.allclose(np.frombuffer(encode_vector(given * 7, width=2), "<f4"), given)


@pytest.mark.parametrize(
    "vector",
    [np.zeros(2), np.array([np.nan, 1]), np.array([np.inf, 1]), np.ones(3), np.ones((1, 2)), np.array([])],
    ids=["zero", "nan", "infinite", "wide", "two-dimensional", "empty"],
)
def test_an_unusable_vector_is_refused(vector: np.ndarray) -> None:
    with pytest.raises(InvalidInput):
        encode_vector(vector, width=2)


def test_a_memory_gets_its_vector_at_once_when_the_embedder_is_ready(tmp_path: Path) -> None:
    with Store.open(tmp_path / "x.db", embedder=ScriptedEmbedder(spread)) as store:
        assert store.add(new("a fact")).memory.has_vector
        assert stored(store) == [("a fact", encode_vector(spread("a fact"), width=4), "scripted-4")]


def test_vectors_left_out_are_filled_in_later_and_only_once(tmp_path: Path) -> None:
    embedder = ScriptedEmbedder(spread, is_ready=False)
    with Store.open(tmp_path / "x.db", embedder=embedder) as store:
        for number in range(70):
            assert not store.add(new(f"fact {number}")).memory.has_vector
        assert store.embed_missing(deadline=time.monotonic() + 60) == 0, "not ready: no waiting"
        embedder.is_ready = True
        assert store.embed_missing(limit=40) == 40
        assert store.embed_missing(deadline=time.monotonic() + 60) == 30
        assert store.embed_missing() == 0
        assert len(embedder.texts) == 70
        assert all(model == "scripted-4" for _, _, model in stored(store))


def test_a_deadline_stops_the_filling_between_two_texts(tmp_path: Path) -> None:
    embedder = ScriptedEmbedder(spread, is_ready=False)
    with Store.open(tmp_path / "x.db", embedder=embedder) as store:
        for number in range(5):
            store.add(new(f"fact {number}"))
        embedder.is_ready = True
        assert store.embed_missing(deadline=time.monotonic() - 1) == 0


def test_a_search_fills_in_some_vectors_and_says_how_many_are_left(tmp_path: Path) -> None:
    embedder = ScriptedEmbedder(spread, is_ready=False)
    with Store.open(tmp_path / "x.db", embedder=embedder) as store:
        for number in range(450):
            store.add(new(f"fact {number}"))
        embedder.is_ready = True
        first = store.search("fact 440", EVERYWHERE, limit=3)
        assert len(embedder.texts) <= 201
        assert (first.mode, first.hits[0].text) == ("hybrid", "fact 440")
        assert first.reason.startswith(f"{450 - len(embedder.texts) + 1} memories have no vector")
        store.embed_missing()
        assert store.search("fact 440", EVERYWHERE).reason == ""


def test_nothing_is_locked_while_embedding(tmp_path: Path) -> None:
    with Store.open(tmp_path / "x.db") as other:

        def write_meanwhile(text: str) -> np.ndarray:
            other.mark_retrieved(["x"])
            return spread(text)

        embedder = ScriptedEmbedder(write_meanwhile)
        with Store.open(tmp_path / "x.db", embedder=embedder, lock_timeout_s=0.05) as store:
            store.add(new("a fact"))
            other.add(new("another fact"))
            assert store.embed_missing() == 1


def test_a_text_edited_while_it_was_embedded_gets_no_stale_vector(tmp_path: Path) -> None:
    with Store.open(tmp_path / "x.db") as other:
        memory_id = other.add(new("old text")).memory.id

        def edit_meanwhile(text: str) -> np.ndarray:
            other.update(memory_id, text="new text")
            return spread(text)

        with Store.open(tmp_path / "x.db", embedder=ScriptedEmbedder(edit_meanwhile)) as store:
            assert store.embed_missing() == 0
            assert stored(store) == [("new text", None, None)]


@pytest.mark.parametrize("make", [lambda text: np.zeros(4), lambda text: np.ones(9)], ids=["zero", "wide"])
def test_a_bad_embedder_costs_the_vector_and_not_the_memory(tmp_path: Path, make) -> None:
    embedder = ScriptedEmbedder(make)
    with Store.open(tmp_path / "x.db", embedder=embedder) as store:
        assert store.add(new("a fact")).outcome == "saved"
        assert store.embed_missing() == 0
        assert stored(store) == [("a fact", None, None)]


def test_an_embedder_that_fails_leaves_full_text(tmp_path: Path) -> None:
    def fail(text: str) -> np.ndarray:
        raise EmbedderUnavailable("No model.")

    with Store.open(tmp_path / "x.db", embedder=ScriptedEmbedder(fail)) as store:
        store.add(new("rabbits are kept in the cellar"))
        result = store.search("rabbits", EVERYWHERE)
        assert ([hit.text for hit in result.hits], result.mode) == (["rabbits are kept in the cellar"], "lexical")
        assert result.reason


def test_planted_bad_vectors_are_passed_over_and_counted(tmp_path: Path) -> None:
    embedder = BuiltinEmbedder()
    with Store.open(tmp_path / "x.db", embedder=embedder) as store:
        for number in range(4):
            store.add(new(f"rabbit number {number} lives in the cellar"))
        store.embed_missing()
        planted = [b"", b"\x00" * 1536, np.full(384, np.nan, "<f4").tobytes(), b"\x00\x00\x80\x3f" * 7]
        with store._database.write() as writer:
            for row, blob in enumerate(planted, start=1):
                writer.rows("UPDATE memories SET embedding = ? WHERE row = ?", (blob, row))
        store.add(new("the rabbits eat hay"))
        result = store.search("rabbits", EVERYWHERE)
        assert len(result.hits) == 5
        assert store.bad_vectors() == 4


@pytest.mark.parametrize("value", ["text", 7, b"abc"])
def test_the_table_refuses_what_is_no_vector_at_all(tmp_path: Path, value: object) -> None:
    with Store.open(tmp_path / "x.db") as store:
        store.add(new("a fact"))
        with pytest.raises(Exception, match="Constraint"), store._database.write() as writer:
            writer.rows("UPDATE memories SET embedding = ?", (value,))
