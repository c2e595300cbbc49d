"""Vectors as the database keeps them: little-endian float32, unit length, checked on every write."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.core.errors import EmbedderUnavailable, InvalidInput

if TYPE_CHECKING:
    import numpy as np

    from clew.store.embedder import Embedder

_UNIT_TOLERANCE = 1e-3
#: A model that has not loaded by then will not.
LOAD_LIMIT_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVector:
    """A vector ready to be stored, and the signature of the embedder that made it."""

    blob: bytes
    model: str


def encode_vector(vector: np.ndarray, *, width: int) -> bytes:
    """The bytes of a vector of `width` numbers, brought to unit length if it is not.

    Raises:
        InvalidInput: wrong width, not finite, or all zero: such a vector would spoil every comparison.
    """
    import numpy as np

    values = np.asarray(vector, dtype=np.float64)
    if values.shape != (width,):
        raise InvalidInput(f"The embedder gave a vector of shape {values.shape}, not ({width},).", "Check its width.")
    length = float(np.linalg.norm(values))
    if not np.isfinite(length) or length == 0:
        raise InvalidInput("The embedder gave a vector that is zero or not finite.", "Use another embedder.")
    if abs(length - 1) > _UNIT_TOLERANCE:
        values = values / length
    return values.astype("<f4").tobytes()


def embed_text(embedder: Embedder, text: str) -> StoredVector:
    """The vector of a text, ready to be stored; loads the embedder if need be.

    Raises:
        EmbedderUnavailable: the embedder cannot be loaded.
        InvalidInput: what it gave is no usable vector.
    """
    return StoredVector(blob=encode_vector(embedder.embed(text), width=embedder.width), model=embedder.signature)


def embed_now(embedder: Embedder | None, text: str) -> StoredVector | None:
    """The vector of a text, after waiting for the embedder to load. None where `embed_if_ready` gives None."""
    if embedder is not None:
        embedder.warm_up()
        embedder.ready(LOAD_LIMIT_S)
    return embed_if_ready(embedder, text)


def embed_if_ready(embedder: Embedder | None, text: str) -> StoredVector | None:
    """The vector of a text if it costs no wait. None leaves it to `Store.embed_missing`; full text works meanwhile."""
    if embedder is None or not embedder.ready():
        return None
    try:
        return embed_text(embedder, text)
    except (EmbedderUnavailable, InvalidInput):
        return None


def wait_until_ready(embedder: Embedder, deadline: float | None) -> bool:
    """Whether vectors can be made now. Without a deadline the first `embed` may load the model itself."""
    if deadline is None:
        return True
    embedder.warm_up()
    return embedder.ready(max(0.0, deadline - time.monotonic()))
