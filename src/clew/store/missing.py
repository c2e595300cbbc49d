"""Filling in vectors that were left out because the embedder was not ready when a memory was saved."""

from __future__ import annotations

import time

from clew.core.errors import EmbedderUnavailable, InvalidInput
from clew.store.adapter import Database, Reader
from clew.store.columns import as_text
from clew.store.embedder import Embedder
from clew.store.vectors import StoredVector, embed_text, wait_until_ready

_BATCH = 32


def fill_missing(database: Database, embedder: Embedder, *, limit: int | None, deadline: float | None) -> int:
    """Embed memories without a vector, in batches; nothing is locked while embedding.

    A memory whose vector is unusable keeps none and is found by full text. Returns how many were filled.

    Raises:
        StoreError: the vectors could not be written.
    """
    filled, last_row = 0, 0
    while limit is None or filled < limit:
        batch = _without_vector(database, last_row, _BATCH if limit is None else min(_BATCH, limit - filled))
        if not batch or not wait_until_ready(embedder, deadline):
            break
        vectors, is_finished = _embed(embedder, batch, deadline)
        filled += _store(database, vectors)
        if not is_finished:
            break
        last_row = batch[-1][0]
    return filled


def count_missing(reader: Reader) -> int:
    """How many memories have no vector yet."""
    ((missing,),) = reader.rows("SELECT count(*) FROM memories WHERE embedding IS NULL AND state = 'active'")
    return int(missing)


def _without_vector(database: Database, after_row: int, limit: int) -> list[tuple[int, str]]:
    with database.read() as reader:
        found = reader.rows(
            "SELECT row, text FROM memories WHERE embedding IS NULL AND row > ? ORDER BY row LIMIT ?",
            (after_row, limit),
        )
    return [(row, as_text(text)) for row, text in found]


def _embed(
    embedder: Embedder, batch: list[tuple[int, str]], deadline: float | None
) -> tuple[list[tuple[int, str, StoredVector]], bool]:
    """Vectors of the batch, and whether it was gone through to its end."""
    made: list[tuple[int, str, StoredVector]] = []
    for row, text in batch:
        if deadline is not None and time.monotonic() >= deadline:
            return made, False
        try:
            made.append((row, text, embed_text(embedder, text)))
        except EmbedderUnavailable:
            return made, False
        except InvalidInput:
            continue
    return made, True


def _store(database: Database, vectors: list[tuple[int, str, StoredVector]]) -> int:
    """Write vectors to rows that still have that text and no vector. Returns how many."""
    if not vectors:
        return 0
    written = 0
    with database.write() as writer:
        for row, text, vector in vectors:
            written += len(
                writer.rows(
                    "UPDATE memories SET embedding = ?, embedding_model = ? "
                    "WHERE row = ? AND text = ? AND embedding IS NULL RETURNING row",
                    (vector.blob, vector.model, row, text),
                )
            )
    return written
