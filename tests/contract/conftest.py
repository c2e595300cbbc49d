"""Implementations of the store's ports, and what their tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clew.store.embedder import BuiltinEmbedder
from clew.store.store import Store

OpenStore = Callable[[Path, Callable[[], int], BuiltinEmbedder | None], Store]


def open_apsw(path: Path, clock_ms: Callable[[], int], embedder: BuiltinEmbedder | None) -> Store:
    return Store.open(path, clock_ms=clock_ms, embedder=embedder)


IMPLEMENTATIONS: dict[str, OpenStore] = {"apsw": open_apsw}


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now_ms = 1_790_000_000_000

    def __call__(self) -> int:
        return self.now_ms

    def pass_days(self, days: float) -> None:
        self.now_ms += round(days * 86_400_000)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def embedder() -> BuiltinEmbedder:
    return BuiltinEmbedder()


@pytest.fixture(params=IMPLEMENTATIONS)
def open_store(request: pytest.FixtureRequest) -> OpenStore:
    return IMPLEMENTATIONS[request.param]


@pytest.fixture
def store(open_store: OpenStore, tmp_path: Path, clock: Clock) -> Iterator[Store]:
    """A fresh store without an embedder: full text alone."""
    with open_store(tmp_path / "clew.db", clock, None) as opened:
        yield opened


@pytest.fixture
def hybrid_store(open_store: OpenStore, tmp_path: Path, clock: Clock, embedder: BuiltinEmbedder) -> Iterator[Store]:
    """A fresh store with the built-in embedder."""
    with open_store(tmp_path / "hybrid.db", clock, embedder) as opened:
        yield opened
