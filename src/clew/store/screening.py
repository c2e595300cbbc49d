"""What must be true of a memory before it is stored. Every write path of the store goes through here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, get_args

from clew.core.errors import InvalidInput, SecretFound
from clew.core.guard import screen
from clew.core.records import NewMemory, Scope
from clew.core.secrets import find_secrets
from clew.core.text import normalise

MAX_METADATA_CHARS = 100_000
MAX_METADATA_DEPTH = 32
MAX_METADATA_VALUES = 5_000
MAX_NAME_CHARS = 500
#: One word: a category stands in the prompt beside the memory, so it must have no room for a sentence. Marks of Indic
#: and other scripts belong to their letters although `\\w` leaves them out.
_CATEGORY = re.compile(r"\w[\w\u0300-\u036f\u0900-\u0dff\u0e31-\u0e4e-]{0,31}")
#: The range of a JavaScript date: what any reader of the database can show.
_MAX_TIME_MS = 8_640_000_000_000_000


def screen_memory(memory: NewMemory) -> NewMemory:
    """The memory as it may be stored: text in normal form, names trimmed, no project key on a user-scoped one.

    Raises:
        RefusedText: text, metadata or a name holds a secret, or the text gives orders.
        InvalidInput: a field has a wrong type, size or value.
    """
    if memory.scope not in get_args(Scope):
        raise InvalidInput("The scope of a memory must be user or project.", "Give one of the two.")
    if memory.scope == "project" and not memory.project_key:
        raise InvalidInput("A memory of project scope needs a project key.", "Give project_key, or use scope user.")
    _check_time(memory.created_at_ms)
    encode_metadata(memory.metadata)
    names = (memory.project_key, memory.user_id, memory.assistant_id, memory.session_id, memory.speaker)
    for name in names:
        _check_name(name)
    return replace(
        memory,
        text=screen_text(memory.text),
        category=screen_category(memory.category),
        categories=tuple(dict.fromkeys(screen_category(category) for category in memory.categories)),
        project_key=memory.project_key if memory.scope == "project" else None,
    )


def screen_text(text: str) -> str:
    """The text in its normal form. Raises RefusedText or InvalidInput."""
    if not isinstance(text, str):
        raise InvalidInput(f"A memory must be text, not {type(text).__name__}.", "Give a string.")
    return screen(text)


def screen_category(category: str) -> str:
    """The category, trimmed. Raises InvalidInput when it is not one word."""
    _check_name(category)
    clean = normalise(category)
    if not is_category(clean):
        raise InvalidInput(
            "The category of a memory must be one word of at most 32 letters, digits, _ and -.",
            "Give a name such as memory or coding_pref.",
        )
    return clean


def is_category(value: object) -> bool:
    """Whether a value may stand in a prompt as the category of a memory."""
    return isinstance(value, str) and _CATEGORY.fullmatch(value) is not None


def encode_metadata(metadata: Mapping[str, Any]) -> str:
    """The metadata as JSON. Raises InvalidInput when it is no JSON object, too deep or too long, SecretFound."""
    if not is_shallow(metadata):
        raise InvalidInput(
            f"The metadata of a memory has more than {MAX_METADATA_DEPTH} levels or {MAX_METADATA_VALUES:,} values.",
            "Keep large data elsewhere and its place here.",
        )
    try:
        encoded = json.dumps(dict(metadata), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput("The metadata of a memory must be a JSON object.", "Use only JSON values.") from error
    if len(encoded) > MAX_METADATA_CHARS:
        raise InvalidInput(
            f"The metadata of a memory has {len(encoded):,} characters; at most {MAX_METADATA_CHARS:,} are kept.",
            "Keep large data elsewhere and its place here.",
        )
    for text in _texts(metadata, ()):
        _refuse_secrets(text)
    return encoded


def is_shallow(value: object) -> bool:
    """Whether JSON is so small in depth and number of values that every program can read it.

    Looks no further than its limits, so that data which holds itself ends too.
    """
    seen, waiting = 0, [(value, 1)]
    while waiting:
        item, depth = waiting.pop()
        inner = list(item.values()) if isinstance(item, Mapping) else item
        if not isinstance(inner, (list, tuple)):
            continue
        seen += len(inner)
        if depth > MAX_METADATA_DEPTH or seen > MAX_METADATA_VALUES:
            return False
        waiting.extend((one, depth + 1) for one in inner)
    return True


def _texts(value: Any, names: tuple[str, ...]) -> Iterator[str]:
    """Every name and value of JSON, each value also behind the names above it: in `{"password": ["…"]}` neither half
    looks like a secret, and a PIN is a number."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item, (*names, str(key)))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item, names)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield str(value)
        if names:
            yield f"{names[-1]}: {value}"
            yield f"{' '.join(names)}: {value}"


def _check_name(name: str | None) -> None:
    if name is None:
        return
    if not isinstance(name, str):
        raise InvalidInput(f"A name of a memory must be text, not {type(name).__name__}.", "Give a string.")
    if len(name) > MAX_NAME_CHARS:
        raise InvalidInput(f"A name of a memory has more than {MAX_NAME_CHARS} characters.", "Give a shorter one.")
    _refuse_secrets(name)


def _refuse_secrets(text: str) -> None:
    kinds = tuple(dict.fromkeys(span.kind for span in find_secrets(text)))
    if kinds:
        raise SecretFound(kinds)


def _check_time(created_at_ms: int | None) -> None:
    if created_at_ms is None:
        return
    if not isinstance(created_at_ms, int) or abs(created_at_ms) > _MAX_TIME_MS:
        raise InvalidInput("The time of a memory must be whole milliseconds since 1970.", "Give an int.")
