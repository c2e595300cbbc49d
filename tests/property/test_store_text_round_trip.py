"""Any text that the guard lets through comes back as it was, in one search of its own, and leaves no row behind."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.core.errors import ClewError
from clew.core.guard import screen
from clew.core.records import CapturedState, NewMemory, Provenance, State, Visibility
from clew.store.store import Store

EVERYWHERE = Visibility(everywhere=True)
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=200)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "clew.db") as opened:
        yield opened


@settings(max_examples=150, deadline=None)
@given(text=ANY_TEXT)
def test_any_text_comes_back_in_its_normal_form_or_is_refused(store: Store, text: str) -> None:
    before = store.count(EVERYWHERE)
    try:
        record = store.add(NewMemory(text=text, provenance=Provenance(origin="ask"))).memory
    except ClewError:
        assert store.count(EVERYWHERE) == before
        return
    assert record.text == screen(text)
    assert store.get(record.id) == record
    assert record.id in {found.id for found in store.find(record.text, EVERYWHERE)}
    store.forget(record.id)
    assert store.count(EVERYWHERE) == before
    assert store.search(record.text, EVERYWHERE).hits == ()


@settings(max_examples=60, deadline=None)
@given(metadata=st.dictionaries(st.text(max_size=8), JSON, max_size=4))
def test_any_json_object_comes_back_as_metadata(store: Store, metadata: dict) -> None:
    try:
        record = store.add(NewMemory(text="some fact", provenance=Provenance(origin="ask"), metadata=metadata)).memory
    except ClewError:
        return
    assert store.get(record.id).metadata == metadata
    store.forget(record.id)


@settings(max_examples=60, deadline=None)
@given(text=st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=200))
def test_any_state_comes_back_from_the_journal(store: Store, text: str) -> None:
    state = CapturedState(
        key=text.replace("\0", ""),
        entry_id="e",
        session_id="s",
        project_key=None,
        state=State(user=text, assistant=text),
        timestamp_ms=1,
        owner=0,
        is_open=True,
    )
    store.journal([state])
    found = {one.key: one for one in store.unjudged(limit=10_000)}
    assert found[state.key].state == state.state
