"""Filters on stored memories, as Noodle's search tool takes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from clew.core.errors import InvalidInput
from clew.core.records import MemoryRecord, Origin

Filter = Callable[[MemoryRecord], bool]

#: Origins in which a memory was saved without the person's word. What the gate proposed has it once it was reviewed.
UNASKED_ORIGINS: frozenset[Origin] = frozenset({"gate", "tool", "extraction", "import", "merge", "compaction"})
#: Noodle's metadata of a memory that the person has seen and approved.
REVIEWED_MARK: Mapping[str, Any] = {"reviewed_action": "saved_from_review", "auto_saved": False}
#: Metadata of a memory that the agent has reworded since the person last saw it.
REWORDED_MARK: Mapping[str, Any] = {"reworded_by": "tool"}
#: Metadata that speaks of the person's word; what an agent sends under these names does not count.
PERSONAL_MARKS: frozenset[str] = frozenset({*REVIEWED_MARK, *REWORDED_MARK})


def read_filters(raw: Mapping[str, Any]) -> Filter:
    """A test that a memory passes when it meets every filter. Times are Unix milliseconds.

    Raises:
        InvalidInput: a filter is not known (it would otherwise be taken for one that lets everything through), or
            its value has the wrong type.
    """
    tests: list[Filter] = []
    for name, value in raw.items():
        if name not in _FILTERS:
            raise InvalidInput(f"Unknown filter {name[:40]!r}.", f"Known filters: {', '.join(_FILTERS)}.")
        tests.append(_FILTERS[name](name, value))
    return lambda memory: all(test(memory) for test in tests)


def _source(name: str, value: Any) -> Filter:
    wanted = [value] if isinstance(value, str) else value
    if not isinstance(wanted, list) or not all(isinstance(item, str) for item in wanted):
        raise _wrong(name, "a text or a list of texts")
    return lambda memory: _source_of(memory) in wanted


def _source_of(memory: MemoryRecord) -> Any:
    """Noodle's own word for the origin, or Clew's."""
    noted = memory.metadata.get("source")
    return noted if noted is not None or memory.provenance is None else memory.provenance.origin


def _auto_saved(name: str, value: Any) -> Filter:
    if not isinstance(value, bool):
        raise _wrong(name, "true or false")
    return lambda memory: is_auto_saved(memory) is value


def is_auto_saved(memory: MemoryRecord) -> bool:
    """Whether the memory was saved without the person's word and they have not approved it since.

    Where Clew knows the origin, it decides: metadata that came with the memory may say anything.
    """
    if memory.metadata.get("reworded_by") == REWORDED_MARK["reworded_by"]:
        return True
    if memory.metadata.get("reviewed_action") == REVIEWED_MARK["reviewed_action"]:
        return False
    if memory.provenance is not None and memory.provenance.origin in UNASKED_ORIGINS:
        return True
    return memory.metadata.get("auto_saved") is True


def _metadata(name: str, value: Any) -> Filter:
    if not isinstance(value, Mapping):
        raise _wrong(name, "an object")
    return lambda memory: all(key in memory.metadata and memory.metadata[key] == item for key, item in value.items())


def _at_least(read: Callable[[MemoryRecord], Any]) -> Callable[[str, Any], Filter]:
    def build(name: str, value: Any) -> Filter:
        least = _number(name, value)
        return lambda memory: _is_number(read(memory)) and read(memory) >= least

    return build


def _at_most(read: Callable[[MemoryRecord], Any]) -> Callable[[str, Any], Filter]:
    def build(name: str, value: Any) -> Filter:
        most = _number(name, value)
        return lambda memory: _is_number(read(memory)) and read(memory) <= most

    return build


def _number(name: str, value: Any) -> float:
    if not _is_number(value):
        raise _wrong(name, "a number")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _wrong(name: str, allowed: str) -> InvalidInput:
    return InvalidInput(f"Filter {name} has the wrong type.", f"Give {allowed}.")


_FILTERS: dict[str, Callable[[str, Any], Filter]] = {
    "source": _source,
    "auto_saved": _auto_saved,
    "createdAfter": _at_least(lambda memory: memory.created_at_ms),
    "createdBefore": _at_most(lambda memory: memory.created_at_ms),
    "lastRetrievedAfter": _at_least(lambda memory: memory.last_retrieved_ms),
    "lastRetrievedBefore": _at_most(lambda memory: memory.last_retrieved_ms),
    "minRetrievalCount": _at_least(lambda memory: memory.retrieval_count),
    "maxRetrievalCount": _at_most(lambda memory: memory.retrieval_count),
    "minConfidence": _at_least(lambda memory: memory.metadata.get("confidence")),
    "metadata": _metadata,
}
