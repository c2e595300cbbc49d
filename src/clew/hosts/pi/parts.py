"""What the session is built from; `clew.app` hands it in."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from clew.config.load import Config
from clew.config.project import Project
from clew.core.decisions import Question
from clew.core.ports import CaptureStore, DecisionModel, MemoryStore
from clew.hosts.pi.status import ModelReport


class EngineStore(MemoryStore, CaptureStore, Protocol):
    """What a session needs of the database. Methods may be called from several threads."""

    def embed_missing(self, *, limit: int | None = None, deadline: float | None = None) -> int:
        """Make vectors for memories that were saved while the embedder was not ready. Returns how many."""
        ...

    def prepare(self) -> None:
        """Load the embedder and read the stored vectors, so that the first search need not. Raises StoreError."""
        ...

    def close(self) -> None:
        """Close the database."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionParts:
    """What `app` hands in. The openers do the heavy work; none is called before `EngineSession.start`.

    Attributes:
        open_store: opens the database; raises StoreError.
        open_model: chooses and loads the decision model; called on the background thread before the first judgement.
        check_model: looks at the decision model for `/gate-status`.
        describe_search: one line on the search mode and the embedder.
    """

    config: Config
    project: Project
    questions: Mapping[str, Question]
    open_store: Callable[[], EngineStore]
    open_model: Callable[[], DecisionModel]
    check_model: Callable[[], ModelReport]
    describe_search: Callable[[], str]
    relevance_floor: float
    clock_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
