"""Clew's store: memories, journal and inbox in one SQLite file. Implements the ports MemoryStore and CaptureStore.

Embedding happens before the write lock is taken, so a slow model never makes another process wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from clew.core.errors import InvalidInput
from clew.core.ports import Added, CaptureCounts
from clew.core.records import (
    Candidate,
    CapturedState,
    Hit,
    Judgement,
    MemoryRecord,
    NewMemory,
    SearchResult,
    Visibility,
)
from clew.store import capture, forgetting, memories, settlement
from clew.store.adapter import DEFAULT_LOCK_TIMEOUT_S, Connection, Database
from clew.store.backups import forget_in_backups
from clew.store.embedder import Embedder
from clew.store.migrations import migrate
from clew.store.missing import count_missing, fill_missing
from clew.store.screening import encode_metadata, screen_category, screen_memory, screen_text
from clew.store.searcher import Searcher
from clew.store.vectors import LOAD_LIMIT_S, embed_if_ready, embed_now

_FIND_DEADLINE_S = 1.0
#: A search without a deadline fills in so many missing vectors, for so long, before it answers.
_FILL_LIMIT, _FILL_S = 200, 1.0
#: Unrelated memories reach a relevance of about 0.07; a person who searches in order to choose need not see them.
_FIND_MIN_RELEVANCE = 0.1


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class Store:
    """See `MemoryStore` and `CaptureStore` in `clew.core.ports` for what each method means and raises.

    May be used from several threads, and by several processes at once on the same file. Every method may raise the
    StoreError of its kind.
    """

    def __init__(self, database: Database, embedder: Embedder | None, clock_ms: Callable[[], int]) -> None:
        self._database = database
        self._embedder = embedder
        self._clock_ms = clock_ms
        self._searcher = Searcher(embedder)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        embedder: Embedder | None = None,
        clock_ms: Callable[[], int] = _now_ms,
        lock_timeout_s: float = DEFAULT_LOCK_TIMEOUT_S,
        must_exist: bool = False,
    ) -> Self:
        """Open the database, creating or migrating it.

        Args:
            path: the file; a missing folder is created. A database of pi-noodle is taken over after a backup.
            embedder: makes vectors; None = full text alone.
            clock_ms: milliseconds since 1970, UTC.
            lock_timeout_s: how long a write waits for other processes before StoreBusy.
            must_exist: create nothing; a missing file is StoreUnavailable.

        Raises:
            StoreUnavailable: no folder, no permission, no room, or missing although it must exist.
            StoreCorrupt: not a database, damaged, or of another program.
            StoreTooNew: a newer Clew wrote it.
            StoreBusy: another process held the lock too long.
        """
        database = Database(path, lock_timeout_s=lock_timeout_s)
        database.open(_bring_up_to_date, must_exist=must_exist)
        return cls(database, embedder, clock_ms)

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- memories ------------------------------------------------------------------------------------------------

    def add(self, memory: NewMemory) -> Added:
        """Store a memory, or raise `seen_count` of the one that says the same.

        Waits for the embedder to load, so that what is added in bulk has its vectors before the first search.
        """
        memory = screen_memory(memory)
        vector = embed_now(self._embedder, memory.text)
        may_revive = settlement.is_direct(memory)
        with self._database.write() as writer:
            return memories.save(writer, memory, vector, now_ms=self._clock_ms(), may_revive=may_revive)

    def get(self, memory_id: str) -> MemoryRecord | None:
        """The memory with this public id, or None."""
        with self._database.read() as reader:
            return memories.fetch(reader, memory_id)

    def list(self, visible: Visibility, *, limit: int = 100, offset: int = 0) -> Sequence[MemoryRecord]:
        """Active memories, newest first."""
        with self._database.read() as reader:
            return memories.newest(reader, visible, limit=_positive(limit), offset=max(offset, 0))

    def count(self, visible: Visibility) -> int:
        """How many active memories there are."""
        with self._database.read() as reader:
            return memories.count(reader, visible)

    def search(
        self,
        query: str,
        visible: Visibility,
        *,
        limit: int = 10,
        min_relevance: float = 0.0,
        deadline: float | None = None,
    ) -> SearchResult:
        """Hybrid search, best first.

        Without a deadline, some missing vectors are filled in first; `reason` says how many are left to
        `embed_missing`. Full text finds those memories meanwhile.
        """
        if deadline is None and self._embedder is not None:
            self._embedder.warm_up()
            self._embedder.ready(LOAD_LIMIT_S)
            self.embed_missing(limit=_FILL_LIMIT, deadline=time.monotonic() + _FILL_S)
        with self._database.read() as reader:
            found = self._searcher.search(
                reader, query, visible, limit=_positive(limit), min_relevance=min_relevance, deadline=deadline
            )
            records = memories.fetch_many(reader, [scored.row for scored in found.rows])
            missing = count_missing(reader) if found.mode == "hybrid" else 0
        hits = tuple(
            Hit(memory=records[one.row], score=one.score, relevance=one.relevance, signals=one.signals)
            for one in found.rows
            if one.row in records
        )
        left_out = f"{missing:,} memories have no vector yet and are found by their words alone." if missing else ""
        return SearchResult(hits=hits, mode=found.mode, reason=found.reason or left_out)

    def find(self, query: str, visible: Visibility, *, limit: int = 8) -> Sequence[MemoryRecord]:
        """Memories a person means by a few words or an id: those that contain them; if none does, search hits."""
        with self._database.read() as reader:
            rows = memories.containing(reader, query, visible, limit=_positive(limit))
            found = memories.fetch_many(reader, rows)
        if rows:
            return [found[row] for row in rows]
        deadline = time.monotonic() + _FIND_DEADLINE_S
        result = self.search(query, visible, limit=limit, min_relevance=_FIND_MIN_RELEVANCE, deadline=deadline)
        return [hit.memory for hit in result.hits]

    def update(
        self,
        memory_id: str,
        *,
        text: str | None = None,
        category: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> MemoryRecord:
        """Change a memory; the old form goes to its history."""
        if text is None and category is None and metadata is None:
            raise InvalidInput("An update changes nothing.", "Give a text, a category or metadata.")
        if metadata is not None:
            encode_metadata(metadata)
        text = None if text is None else screen_text(text)
        vector = None if text is None else embed_if_ready(self._embedder, text)
        with self._database.write() as writer:
            return memories.revise(
                writer,
                memory_id,
                text=text,
                category=None if category is None else screen_category(category),
                metadata=metadata,
                vector=vector,
                now_ms=self._clock_ms(),
            )

    def forget(self, memory_id: str) -> MemoryRecord:
        """Delete a memory for good, also from backups; a tombstone stays.

        When this returns, no byte of its text is left in the database or its log, unless another program holds an old
        state open for reading: then the log is emptied by a later write, the next open or the last close.
        """
        with self._database.write() as writer:
            record, forms = memories.forget(writer, memory_id, now_ms=self._clock_ms())
            forgetting.erase_mentions(writer, forms, now_ms=self._clock_ms())
        self._database.erase_log()
        forget_in_backups(self._database.path, memory_id, forms, now_ms=self._clock_ms())
        return record

    def mark_retrieved(self, memory_ids: Sequence[str]) -> None:
        """Count that these memories went into a prompt."""
        if memory_ids:
            with self._database.write() as writer:
                memories.mark_retrieved(writer, memory_ids, now_ms=self._clock_ms())

    def embed_missing(self, *, limit: int | None = None, deadline: float | None = None) -> int:
        """Fill in vectors left out because the embedder was not ready. Nothing is locked while embedding.

        Args:
            limit: fill at most this many; None = all.
            deadline: `time.monotonic()` second at which to stop; None = wait for the embedder to load.

        Returns:
            How many were filled. Without a working embedder 0: full text goes on.
        """
        if self._embedder is None:
            return 0
        return fill_missing(self._database, self._embedder, limit=limit, deadline=deadline)

    def prepare(self) -> None:
        """Start loading the embedder and read the stored vectors, so that the first search need not."""
        if self._embedder is not None:
            self._embedder.warm_up()
        with self._database.read() as reader:
            self._searcher.prepare(reader)

    def bad_vectors(self) -> int:
        """How many stored vectors are unusable and passed over; known after `prepare` or a search."""
        return self._searcher.bad_vectors

    def repaired_texts(self) -> int:
        """How many texts of other programs were no UTF-8, so that bytes in them were replaced, since the beginning."""
        with self._database.read() as reader:
            return memories.repaired_texts(reader)

    # -- capture -------------------------------------------------------------------------------------------------

    def journal(self, states: Sequence[CapturedState]) -> int:
        """Keep states until they are judged. Returns how many are new or changed."""
        if not states:
            return 0
        with self._database.write() as writer:
            return sum(capture.keep_state(writer, state, now_ms=self._clock_ms()) for state in states)

    def judged_keys(self, keys: Sequence[str]) -> frozenset[str]:
        """Those of the keys that have been judged."""
        with self._database.read() as reader:
            return capture.judged_among(reader, keys)

    def unjudged(self, *, limit: int = 50) -> Sequence[CapturedState]:
        """States ready to be judged, oldest first: closed ones, and open ones whose engine is gone."""
        with self._database.read() as reader:
            return capture.ready_states(reader, limit=_positive(limit), now_ms=self._clock_ms())

    def settle(
        self,
        judgement: Judgement,
        *,
        save: NewMemory | None = None,
        queue: Candidate | None = None,
        max_queue: int = 20,
    ) -> Judgement | None:
        """Record what became of a state and carry it out, in one transaction.

        A text that the guard refuses, that was forgotten or is stored already does not raise: the judgement that
        comes back says `vetoed` or `filtered`, and why.
        """
        screened = settlement.screen_settlement(judgement, save, queue)
        vector = embed_if_ready(self._embedder, screened.save.text) if screened.save else None
        with self._database.write() as writer:
            settled = settlement.settle(writer, screened, vector, max_queue=max_queue, now_ms=self._clock_ms())
        if settled is not None and settled.outcome == "vetoed":
            self._database.erase_log()
        return settled

    def inbox(self) -> Sequence[Candidate]:
        """Candidates waiting for review, oldest first."""
        with self._database.read() as reader:
            return capture.waiting_candidates(reader)

    def approve(self, candidate_id: str, memory: NewMemory) -> Added:
        """Save the memory and take the candidate out of the inbox. The person decides, so a forgotten text revives."""
        memory = screen_memory(memory)
        vector = embed_if_ready(self._embedder, memory.text)
        with self._database.write() as writer:
            capture.take_out(writer, candidate_id)
            added = memories.save(writer, memory, vector, now_ms=self._clock_ms(), may_revive=True)
            capture.note_approval(writer, candidate_id, added.memory.id)
        return added

    def reject(self, candidate_id: str, reason: str) -> None:
        """Take the candidate out of the inbox and remember not to propose it again; the reason `secret` erases it."""
        with self._database.write() as writer:
            candidate = capture.take_out(writer, candidate_id)
            capture.note_rejection(writer, candidate, reason, now_ms=self._clock_ms())
        if reason == "secret":
            self._database.erase_log()

    def rejected_texts(self) -> Sequence[str]:
        """Texts rejected in the last 30 days, newest first."""
        with self._database.read() as reader:
            return capture.recent_rejections(reader, now_ms=self._clock_ms())

    def counts(self) -> CaptureCounts:
        """Numbers for status lines."""
        with self._database.read() as reader:
            return capture.count_all(reader)


def _bring_up_to_date(connection: Connection) -> None:
    migrate(connection)
    with connection.transaction("IMMEDIATE"):
        memories.note_repaired(connection, memories.prepare_foreign(connection))
        memories.trim_change_log(connection)


def _positive(limit: int) -> int:
    if limit < 1:
        raise InvalidInput(f"A limit of {limit} finds nothing.", "Give 1 or more.")
    return limit
