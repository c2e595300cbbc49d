"""Public ids: UUID version 7 (RFC 9562), so that ids sort by the time they were made."""

from __future__ import annotations

import os
import uuid

_RANDOM_BITS_HIGH = 12
_RANDOM_BITS_LOW = 62


def new_id(now_ms: int) -> str:
    """A new id as text: 48 bits of milliseconds, then version, variant and 74 random bits."""
    random = int.from_bytes(os.urandom(10), "big")
    high = random & ((1 << _RANDOM_BITS_HIGH) - 1)
    low = (random >> _RANDOM_BITS_HIGH) & ((1 << _RANDOM_BITS_LOW) - 1)
    milliseconds = max(now_ms, 0) & ((1 << 48) - 1)
    return str(uuid.UUID(int=milliseconds << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low))
