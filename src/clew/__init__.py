"""Clew: long-term memory for the Pi coding agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clew.api import Memory as Memory
    from clew.core.records import Hit as Hit
    from clew.core.records import MemoryRecord as MemoryRecord
    from clew.store.fusion import RELEVANCE_FLOOR as RELEVANCE_FLOOR

__version__ = "0.1.0"
__all__ = ["RELEVANCE_FLOOR", "Hit", "Memory", "MemoryRecord", "__version__"]

_HOME_OF = {
    "Hit": "clew.core.records",
    "Memory": "clew.api",
    "MemoryRecord": "clew.core.records",
    "RELEVANCE_FLOOR": "clew.store.fusion",
}


def __getattr__(name: str) -> Any:
    # Loaded on first use, so that `import clew` (and `clew --help`) costs nothing.
    if name not in _HOME_OF:
        raise AttributeError(f"module 'clew' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME_OF[name]), name)
