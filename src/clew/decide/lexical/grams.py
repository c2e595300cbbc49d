"""Hashed character n-grams: where each one starts and which bucket of the weight table it falls into."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Buckets = NDArray[np.intp]

BUCKET_BITS = 16
BUCKET_COUNT = 1 << BUCKET_BITS
#: Character n-gram lengths. Single characters matter in Chinese and Japanese; elsewhere their weight is near zero.
SIZES = (1, 2, 3, 4, 5)

#: The same n-gram says other things in the user's text than in the reply.
USER_SEED = 0x9E3779B1
REPLY_SEED = 0x85EBCA77
_STEP = 0x01000193
_MIX = 0x2C1B3C6D


def iter_grams(folded: str, seed: int) -> Iterator[Buckets]:
    """For each n-gram length, the buckets of the n-grams in order of their start.

    Yields:
        An array of `len(folded) + 2 - (n - 1)` buckets: the text is padded with one blank on both sides.
    """
    import numpy as np

    # surrogatepass: a lone half of an emoji is odd text, not an error
    codes: NDArray[Any] = np.frombuffer(f" {folded} ".encode("utf-32-le", "surrogatepass"), dtype="<u4")
    step, mix = np.uint32(_STEP), np.uint32(_MIX)
    rolling = np.full(codes.size, np.uint32(seed), dtype=np.uint32)
    for size in SIZES:
        if codes.size < size:
            return
        rolling = rolling[: codes.size - size + 1] * step ^ codes[size - 1 :]
        mixed = (rolling ^ (rolling >> np.uint32(15))) * mix
        yield (mixed >> np.uint32(32 - BUCKET_BITS)).astype(np.intp)
