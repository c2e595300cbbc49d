"""The Python library: `from clew import Memory`.

with Memory.open("memories.db") as memory:
    memory.add("The staging database runs on port 5544", category="project", project="example.org/ada/shop")
    for hit in memory.search("which port does staging use?"):
        print(hit.score, hit.text)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from clew.core.errors import InvalidInput
from clew.core.records import Hit, MemoryRecord, NewMemory, Provenance, Scope, Visibility

if TYPE_CHECKING:
    from clew.store.store import Store

Moment = datetime | date | str | int


class Memory:
    """A store of memories: one database file, hybrid search, everything on this machine.

    Use it as a context manager, or call `close`. One object may be used from several threads, and several processes
    may open the same file.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @classmethod
    def open(cls, path: str | Path | None = None) -> Self:
        """Open (and create, if need be) a database.

        Args:
            path: the database file; None opens the one that Pi's sessions use, as configured.

        Raises:
            StoreError: the file cannot be used; the message says why and what to do.
        """
        from clew.app import open_store

        return cls(open_store(None if path is None else Path(path)))

    def close(self) -> None:
        """Close the database. Further calls fail; closing twice does no harm."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add(
        self,
        text: str,
        *,
        category: str = "memory",
        scope: Scope | None = None,
        project: str | None = None,
        created_at: Moment | None = None,
        session: str | None = None,
        speaker: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        """Store a statement and return its id.

        An equal statement that is already stored (same scope and, for turns of a transcript, same session and
        speaker) is not stored twice: its id is returned.

        Args:
            text: 1 to 20,000 characters.
            scope: `user` (recalled everywhere) or `project`; default: `project` when `project` is given.
            project: key of the project, `host/owner/repo`.
            created_at: when it was said: datetime, date, ISO 8601 text or Unix milliseconds; without a zone it
                counts as UTC. Default: now.
            session: conversation it was said in; statements of one session lend each other context in search.
            speaker: who said it.

        Raises:
            RefusedText: the text holds a secret's value or an instruction planted for an agent.
            InvalidInput: an argument cannot be used.
        """
        scope = scope or ("project" if project else "user")
        added = self._store.add(
            NewMemory(
                text=text,
                category=category,
                scope=scope,
                project_key=project,
                created_at_ms=None if created_at is None else to_unix_ms(created_at),
                session_id=session,
                speaker=speaker,
                metadata=dict(metadata or {}),
                provenance=Provenance(origin="library", session_id=session),
            )
        )
        return added.memory.id

    def search(
        self, query: str, limit: int = 10, *, project: str | None = None, min_relevance: float = 0.0
    ) -> Sequence[Hit]:
        """Find memories by words and meaning, best first.

        Args:
            project: only what a session in this project would see (its memories and user-wide ones); default: all.
            min_relevance: leave out hits whose `relevance` is lower; `clew.RELEVANCE_FLOOR` is what recall uses.
        """
        return list(self._store.search(query, _visible(project), limit=limit, min_relevance=min_relevance).hits)

    def get(self, memory_id: str) -> MemoryRecord | None:
        """The memory with this id, or None."""
        return self._store.get(memory_id)

    def list(self, limit: int = 100, offset: int = 0, *, project: str | None = None) -> Sequence[MemoryRecord]:
        """Memories, newest first."""
        return self._store.list(_visible(project), limit=limit, offset=offset)

    def update(
        self,
        memory_id: str,
        *,
        text: str | None = None,
        category: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> MemoryRecord:
        """Change a memory; its former text stays in its history. Raises NotFound, RefusedText, InvalidInput."""
        return self._store.update(memory_id, text=text, category=category, metadata=metadata)

    def forget(self, memory_id: str) -> None:
        """Delete a memory for good. Raises NotFound."""
        self._store.forget(memory_id)

    def count(self) -> int:
        """How many memories there are."""
        return self._store.count(_visible(None))


def _visible(project: str | None) -> Visibility:
    return Visibility(everywhere=project is None, project_key=project)


def to_unix_ms(moment: Moment) -> int:
    """Unix milliseconds of a moment; without a zone it counts as UTC. Raises InvalidInput."""
    if isinstance(moment, int):
        return moment
    try:
        value = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    except ValueError as error:
        raise InvalidInput(
            f"created_at {moment!r} is not an ISO 8601 time.", "Write it like 2026-11-30T09:15:00Z."
        ) from error
    if not isinstance(value, datetime):
        value = datetime.combine(value, time())
    return round((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp() * 1000)
