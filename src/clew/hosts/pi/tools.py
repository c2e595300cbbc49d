"""The agent's tools: memory_add, memory_search, memory_list, memory_get, memory_update, memory_delete.

None of them sees or approves what waits for review. Shapes of the results are Noodle's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from clew.core.asks import classify_statement
from clew.core.errors import ClewError, InvalidInput, NotFound
from clew.core.ports import MemoryStore
from clew.core.records import MemoryRecord, NewMemory, Provenance, Visibility
from clew.core.scopes import scope_of
from clew.hosts.pi.protocol import ToolParams, ToolResult
from clew.hosts.pi.rows import MAX_METADATA_DEPTH, render_row
from clew.memory.filters import PERSONAL_MARKS, REWORDED_MARK, read_filters

DEFAULT_SEARCH_LIMIT = 5
MAX_SEARCH_LIMIT = 50
DEFAULT_LIST_LIMIT = 50
MAX_LIST_LIMIT = 200
_MAX_CATEGORY_CHARS = 64
_MAX_METADATA_CHARS = 20_000
_SCOPE_FIELDS = ("userId", "assistantId", "sessionId")


class Tools:
    """Carries out tool calls of one session."""

    def __init__(self, memories: MemoryStore, *, session_id: str, project_key: str | None) -> None:
        self._memories = memories
        self._session_id = session_id
        self._project_key = project_key
        self._tools: dict[str, Callable[[_Arguments], Any]] = {
            "memory_add": self._add,
            "memory_search": self._search,
            "memory_list": self._list,
            "memory_get": self._get,
            "memory_update": self._update,
            "memory_delete": self._delete,
        }

    def run(self, params: ToolParams) -> ToolResult:
        """Carry out a call. What was wrong with it comes back as an error result that the agent can act on."""
        tool = self._tools.get(params.name)
        if tool is None:
            return error_result(
                NotFound(f"There is no tool {params.name[:40]!r}.", f"Tools: {', '.join(self._tools)}.")
            )
        try:
            details = tool(_Arguments(params.arguments))
        except ClewError as error:
            return error_result(error)
        return ToolResult(text=json.dumps(details, ensure_ascii=False), details=details, is_error=False)

    def _add(self, arguments: _Arguments) -> dict[str, Any]:
        statement = arguments.statement()
        named = arguments.text("category", max_chars=_MAX_CATEGORY_CHARS)
        place = classify_statement(statement)
        category = named or place.category
        scope = scope_of(named, self._project_key) if named else place.scope if self._project_key else "user"
        narrowed = arguments.scope()
        added = self._memories.add(
            NewMemory(
                text=statement,
                category=category,
                categories=arguments.texts("categories"),
                scope=scope,
                project_key=self._project_key if scope == "project" else None,
                metadata=_without_marks(arguments.json_object("metadata")),
                provenance=Provenance(origin="tool", session_id=self._session_id),
                user_id=narrowed.get("userId"),
                assistant_id=narrowed.get("assistantId", "pi"),
                session_id=narrowed.get("sessionId"),
            )
        )
        return {"queued": False, "saved": True, "id": added.memory.id}

    def _search(self, arguments: _Arguments) -> list[dict[str, Any]]:
        query = arguments.required_text("query")
        limit = arguments.whole_number("limit", default=DEFAULT_SEARCH_LIMIT, most=MAX_SEARCH_LIMIT)
        threshold = arguments.number("threshold")
        matches = read_filters(arguments.json_object("filters"))
        # More than asked for, since filters drop some afterwards.
        found = self._memories.search(query, self._visible(arguments), limit=max(5 * limit, 25))
        hits = [hit for hit in found.hits if hit.score >= threshold and matches(hit.memory)][:limit]
        return [{**render_row(hit.memory), "score": round(hit.score, 4)} for hit in hits]

    def _list(self, arguments: _Arguments) -> list[dict[str, Any]]:
        limit = arguments.whole_number("limit", default=DEFAULT_LIST_LIMIT, most=MAX_LIST_LIMIT)
        return [render_row(memory) for memory in self._memories.list(self._visible(arguments), limit=limit)]

    def _get(self, arguments: _Arguments) -> dict[str, Any] | None:
        memory = self._memories.get(arguments.required_text("id"))
        return render_row(memory) if memory is not None and self._may_see(memory) else None

    def _update(self, arguments: _Arguments) -> dict[str, Any]:
        memory = self._existing(arguments)
        text = arguments.text("text")
        if text is None and "metadata" not in arguments:
            raise InvalidInput("Nothing to update.", "Give `text` or `metadata`.")
        metadata = arguments.json_object("metadata") if "metadata" in arguments else memory.metadata
        self._memories.update(
            memory.id, text=text, metadata=_keep_marks(memory, metadata, is_reworded=text is not None)
        )
        return {"updated": True, "id": memory.id}

    def _delete(self, arguments: _Arguments) -> dict[str, Any]:
        memory = self._existing(arguments)
        self._memories.forget(memory.id)
        return {"deleted": True, "id": memory.id}

    def _existing(self, arguments: _Arguments) -> MemoryRecord:
        memory_id = arguments.required_text("id")
        memory = self._memories.get(memory_id)
        if memory is None or not self._may_see(memory):
            raise NotFound(f"There is no memory {memory_id[:60]!r} here.", "Find its id with memory_search.")
        return memory

    def _visible(self, arguments: _Arguments) -> Visibility:
        narrowed = arguments.scope()
        return Visibility(
            project_key=self._project_key,
            categories=arguments.texts("categories"),
            user_id=narrowed.get("userId"),
            assistant_id=narrowed.get("assistantId"),
            session_id=narrowed.get("sessionId"),
        )

    def _may_see(self, memory: MemoryRecord) -> bool:
        return memory.scope == "user" or memory.project_key == self._project_key


def error_result(error: ClewError) -> ToolResult:
    """A failed call, as the agent sees it."""
    return ToolResult(text=str(error), details={"error": error.what, "nextStep": error.next_step}, is_error=True)


def _without_marks(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What the agent may say about a memory: not that the person has approved it."""
    return {name: value for name, value in metadata.items() if name not in PERSONAL_MARKS}


def _keep_marks(memory: MemoryRecord, metadata: Mapping[str, Any], *, is_reworded: bool) -> dict[str, Any]:
    """New metadata under which the person's marks stand as they were; a new text is one that they have not seen."""
    marks = {name: value for name, value in memory.metadata.items() if name in PERSONAL_MARKS}
    return {**_without_marks(metadata), **(REWORDED_MARK if is_reworded else marks)}


class _Arguments:
    """Arguments of a call, which the agent may get wrong in any way. Readers raise InvalidInput."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        # A null stands for an argument that was left out.
        self._raw = {name: value for name, value in raw.items() if value is not None}

    def __contains__(self, name: str) -> bool:
        return name in self._raw

    def text(self, name: str, *, max_chars: int | None = None) -> str | None:
        value = self._raw.get(name)
        if value is not None and not isinstance(value, str):
            raise _wrong(name, "a text")
        if value is not None and max_chars is not None and len(value) > max_chars:
            raise _wrong(name, f"at most {max_chars} characters")
        return value

    def required_text(self, name: str) -> str:
        value = self.text(name)
        if value is None or not value.strip():
            raise InvalidInput(f"`{name}` is missing.", f"Give `{name}` as a text.")
        return value.strip()

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._raw.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise _wrong(name, "a list of texts")
        return tuple(value)

    def number(self, name: str) -> float:
        value = self._raw.get(name, 0.0)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise _wrong(name, "a number")
        return float(value)

    def whole_number(self, name: str, *, default: int, most: int) -> int:
        value = self._raw.get(name, default)
        # JSON has one kind of number, and agents write 5.0.
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or value != value // 1
            or not 1 <= value <= most
        ):
            raise _wrong(name, f"a whole number from 1 to {most}")
        return int(value)

    def json_object(self, name: str) -> dict[str, Any]:
        value = self._raw.get(name, {})
        if not isinstance(value, dict):
            raise _wrong(name, "an object")
        if _is_deeper(value, MAX_METADATA_DEPTH):
            raise _wrong(name, f"nested at most {MAX_METADATA_DEPTH} deep")
        if len(json.dumps(value)) > _MAX_METADATA_CHARS:
            raise _wrong(name, f"at most {_MAX_METADATA_CHARS} characters of JSON")
        return value

    def scope(self) -> dict[str, str]:
        """Noodle's scope columns, as far as they were given."""
        scope = self.json_object("scope")
        unknown = [name for name in scope if name not in _SCOPE_FIELDS]
        if unknown or not all(isinstance(value, str) for value in scope.values()):
            raise _wrong("scope", f"an object with the texts {', '.join(_SCOPE_FIELDS)}")
        return scope

    def statement(self) -> str:
        """`text`, or what the messages say."""
        if "text" in self._raw:
            return self.required_text("text")
        messages = self._raw.get("messages", [])
        if not isinstance(messages, list) or not all(_is_message(message) for message in messages):
            raise _wrong("messages", "a list of {role, content}")
        if not messages:
            raise InvalidInput("Nothing to remember.", "Give `text`.")
        return "\n".join(f"{message['role']}: {message['content']}" for message in messages)


def _is_message(message: Any) -> bool:
    return isinstance(message, dict) and all(isinstance(message.get(name), str) for name in ("role", "content"))


def _is_deeper(value: Any, depth: int) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    items = value.values() if isinstance(value, dict) else value
    return depth == 0 or any(_is_deeper(item, depth - 1) for item in items)


def _wrong(name: str, allowed: str) -> InvalidInput:
    return InvalidInput(f"`{name}` cannot be used.", f"It must be {allowed}.")
