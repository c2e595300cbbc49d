"""A forgotten text is gone in every spelling in which a conversation may have held it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from clew.core.records import Candidate, CapturedState, Judgement, NewMemory, Provenance, State
from clew.store.store import Store

WORD = "Zanzibarkoala"
TEXT = f"The {WORD} service runs on port 7002"


def files_with(folder: Path, word: str) -> list[str]:
    forms = {form.encode() for form in (word, word.lower(), word.upper())}
    return [path.name for path in folder.rglob("*") if path.is_file() and any(f in path.read_bytes() for f in forms)]


def captured(key: str, user: str, assistant: str | None = None) -> CapturedState:
    state = State(user=user, assistant=assistant)
    return CapturedState(key=key, entry_id=key, session_id="s", project_key=None, state=state, timestamp_ms=1)


def judged(key: str, outcome: str = "queued", reason: str = "durable") -> Judgement:
    return Judgement(
        key=key, entry_id=key, outcome=outcome, reason=reason, scores={}, target="user", duration_ms=1,
        decision_model="m",
    )  # fmt: skip


def candidate(text: str) -> Candidate:
    return Candidate(
        text=text, category="user", scope="user", project_key=None, session_id=None, entry_id=None, scores={},
        reason="durable",
    )  # fmt: skip


def remember(store: Store, text: str) -> str:
    return store.add(NewMemory(text=text, provenance=Provenance(origin="ask"))).memory.id


@pytest.mark.parametrize(
    "said",
    [
        f"FYI: the {WORD}  service\nruns on port 7002.",
        f"the {WORD.upper()} SERVICE runs on port 7002!",
        f"The **{WORD}** service runs on `port 7002`",
        f"The \u200b{WORD} service\u00a0runs on port 7002",
        f"The {WORD} service, runs on port 7002 — always",
        f"> The {WORD} service\n> runs on port 7002",
        f"The {WORD} service now runs on port 7002",
    ],
)
@pytest.mark.parametrize("place", ["user", "assistant"])
def test_no_spelling_of_it_stays_in_the_journal(tmp_path: Path, said: str, place: str) -> None:
    with Store.open(tmp_path / "x.db") as store:
        memory_id = remember(store, TEXT + ".")
        state = captured("k", said) if place == "user" else captured("k", "hello", said)
        store.journal([state, captured("other", "I use Go")])
        store.forget(memory_id)
        assert files_with(tmp_path, WORD) == []
        assert "I use Go" in [left.state.user for left in store.unjudged()]


def test_a_state_that_cannot_be_cut_cleanly_counts_as_judged(tmp_path: Path) -> None:
    with Store.open(tmp_path / "x.db") as store:
        memory_id = remember(store, TEXT)
        store.journal([captured("k", f"The **{WORD}** service runs on port 7002")])
        store.forget(memory_id)
        assert (store.unjudged(), store.judged_keys(["k"])) == ([], {"k"})
        assert store.journal([captured("k", f"The **{WORD}** service runs on port 7002")]) == 0
        with store._database.read() as reader:
            assert reader.rows("SELECT outcome, reason FROM judged") == [("filtered", "forgotten")]


def test_what_it_was_called_before_an_edit_goes_too(tmp_path: Path) -> None:
    with Store.open(tmp_path / "x.db") as store:
        memory_id = remember(store, f"The {WORD} service runs on port 7001")
        store.update(memory_id, text="The service was renamed to Heron last week")
        store.journal([captured("k", f"as said, the {WORD}\nservice runs on port 7001, ok")])
        store.forget(memory_id)
        assert files_with(tmp_path, WORD) == []


def test_a_state_that_says_something_else_stays_whole(tmp_path: Path) -> None:
    others = [
        f"The {WORD} service runs on port 7003", "The service runs", "Forget what I said on port 7002", "I use tabs",
    ]  # fmt: skip
    with Store.open(tmp_path / "x.db") as store:
        memory_id, tabs_id = remember(store, TEXT), remember(store, "tabs")
        store.journal([captured(str(number), text) for number, text in enumerate(others)])
        store.forget(memory_id)
        store.forget(tabs_id)
        assert [left.state.user for left in store.unjudged()] == others


def test_candidates_and_rejections_that_hold_it_go_too(tmp_path: Path) -> None:
    with Store.open(tmp_path / "x.db") as store:
        memory_id = remember(store, TEXT)
        texts = [f"FYI: {TEXT}, always", f"Once more: {TEXT} for all", "I use Go"]
        store.journal([captured(str(number), "x") for number in range(3)])
        settled = [store.settle(judged(str(number)), queue=candidate(text)) for number, text in enumerate(texts)]
        store.reject(settled[0].candidate_id, "wrong")
        store.forget(memory_id)
        assert ([waiting.text for waiting in store.inbox()], store.rejected_texts()) == (["I use Go"], [])
        assert files_with(tmp_path, WORD) == []


def test_a_backup_forgets_it_in_all_its_tables(tmp_path: Path) -> None:
    database = tmp_path / "x.db"
    with Store.open(database) as store:
        memory_id = remember(store, TEXT)
        store.journal(
            [captured(key, "x") for key in "abcd"] + [captured("e", f"the {WORD}  service runs on port 7002")]
        )
        store.settle(judged("a"), queue=candidate(f"FYI: {TEXT}, always"))
        store.reject(store.settle(judged("b"), queue=candidate(f"Again: {TEXT}, always")).candidate_id, "wrong")
        store.settle(judged("c", "filtered", f"known: {TEXT}"))
        store.update(memory_id, text="The service was renamed to Heron last week")
    backup = tmp_path / "x.db.backup-v1"
    shutil.copy(database, backup)
    with Store.open(database) as store:
        store.forget(memory_id)
        assert files_with(tmp_path, WORD) == []
        assert files_with(tmp_path, "Heron") == []
    with Store.open(backup) as store:
        assert store.unjudged() != []
