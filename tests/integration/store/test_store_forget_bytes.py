"""After forgetting, the words are nowhere in the data folder. Each test reads bytes only after the store is closed
or as its last act: reading a database file closes a descriptor, and with it SQLite's locks on the file."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from clew.core.records import Candidate, CapturedState, Judgement, NewMemory, Provenance, State, Visibility
from clew.store.adapter import Connection
from clew.store.embedder import BuiltinEmbedder
from clew.store.store import Store

EVERYWHERE = Visibility(everywhere=True)
WORDS = ["Quxwhiskers", "Zanzibarkoala", "Vontrapezoid"]


def new(text: str, **fields) -> NewMemory:
    return NewMemory(text=text, provenance=Provenance(origin="ask"), **fields)


def files_with(folder: Path, word: str) -> list[str]:
    forms = {form.encode(code) for form in (word, word.lower()) for code in ("utf-8", "utf-16-le")}
    return [path.name for path in folder.rglob("*") if path.is_file() and any(f in path.read_bytes() for f in forms)]


def captured(key: str, user: str) -> CapturedState:
    return CapturedState(
        key=key, entry_id=key, session_id="s", project_key=None, state=State(user=user), timestamp_ms=1
    )


def judged(key: str, outcome: str) -> Judgement:
    return Judgement(
        key=key,
        entry_id=key,
        outcome=outcome,
        reason="r",
        scores={},
        target="user",
        duration_ms=1,
        decision_model="m",
    )


@pytest.mark.parametrize("text_chars", [40, 15_000])
def test_a_forgotten_memory_leaves_no_byte_while_the_store_is_open(tmp_path: Path, text_chars: int) -> None:
    rng = random.Random(5)
    vocabulary = ["".join(rng.choices("abcdefghijklmnop", k=7)) for _ in range(500)]
    with Store.open(tmp_path / "clew.db", embedder=BuiltinEmbedder()) as store:
        for number in range(60):
            store.add(new(f"{number} " + " ".join(rng.choices(vocabulary, k=30))))
        filler = " ".join(rng.choices(vocabulary, k=text_chars // 8))
        memory_id = store.add(new(f"{filler} {WORDS[0]}", metadata={"note": WORDS[1]})).memory.id
        store.embed_missing()
        vector = _vector(store, memory_id)
        store.update(memory_id, text=f"{WORDS[2]} {filler}", metadata={"note": "x"})
        store.search(WORDS[2], EVERYWHERE)
        store.forget(memory_id)
        assert [word for word in WORDS if files_with(tmp_path, word)] == []
        assert not any(vector in path.read_bytes() for path in tmp_path.iterdir())


def _vector(store: Store, memory_id: str) -> bytes:
    with store._database.read() as reader:
        return reader.rows("SELECT substr(embedding, 1, 64) FROM memories WHERE id = ?", (memory_id,))[0][0]


def test_a_forgotten_memory_is_gone_from_the_backup_of_a_takeover_too(tmp_path: Path) -> None:
    database = tmp_path / "noodle.db"
    database.touch()
    connection = Connection(database)
    connection.rows("CREATE TABLE memories(id TEXT PRIMARY KEY, text TEXT NOT NULL, created_at INTEGER)")
    rows = [("m1", f"my cat is {WORDS[0]}"), ("m2", f"my dog is {WORDS[1]}")]
    for memory_id, text in rows:
        connection.rows("INSERT INTO memories VALUES(?, ?, 1)", (memory_id, text))
    connection.close()
    with Store.open(database) as store:
        store.forget("m1")
    assert files_with(tmp_path, WORDS[0]) == []
    assert sorted(files_with(tmp_path, WORDS[1])) == ["noodle.db", "noodle.db.backup-v0"]


def test_a_vetoed_state_leaves_no_byte(tmp_path: Path) -> None:
    with Store.open(tmp_path / "clew.db") as store:
        store.journal([captured("k", f"for today only, call me {WORDS[0]}")])
        store.settle(judged("k", "vetoed"))
        assert files_with(tmp_path, WORDS[0]) == []


def test_a_candidate_rejected_as_secret_leaves_no_byte(tmp_path: Path) -> None:
    with Store.open(tmp_path / "clew.db") as store:
        store.journal([captured("k", "x")])
        candidate = Candidate(
            text=f"the alarm word is {WORDS[0]}",
            category="user",
            scope="user",
            project_key=None,
            session_id=None,
            entry_id=None,
            scores={},
            reason="durable",
        )
        settled = store.settle(judged("k", "queued"), queue=candidate)
        store.reject(settled.candidate_id, "secret")
        assert files_with(tmp_path, WORDS[0]) == []


def test_a_refused_secret_never_reaches_the_disk(tmp_path: Path) -> None:
    secret = "AKIA" + "QZ7T3WJX5KLMNB2D"
    with Store.open(tmp_path / "clew.db") as store:
        store.journal([captured("k", "x"), captured("l", "y")])
        store.settle(judged("k", "saved"), save=new(f"key {secret}"))
        memory_id = store.add(new("a fact")).memory.id
        for attempt in (
            lambda: store.add(new(f"key {secret}")),
            lambda: store.update(memory_id, text=f"key {secret}"),
            lambda: store.update(memory_id, metadata={"k": secret}),
        ):
            with pytest.raises(Exception, match="secret"):
                attempt()
    assert files_with(tmp_path, secret) == []
