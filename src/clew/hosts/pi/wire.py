"""Protocol dataclasses from JSON and back, driven by their type hints alone."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any, Literal, NoReturn, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from clew.core.errors import InvalidInput

#: JSON that nests deeper is refused, long before the interpreter's own stack ends.
MAX_DEPTH = 100

_T = TypeVar("_T")
_NAMES: dict[object, str] = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    type(None): "null",
    list: "a list",
    dict: "an object",
}


def from_json(shape: type[_T], value: object) -> _T:
    """Build a protocol dataclass. Unknown fields are ignored; missing and wrong ones raise InvalidInput by name."""
    return cast("_T", _decode(shape, value, ""))


def to_json(value: Any) -> Any:
    """The value as plain JSON data; dataclasses become objects with the same field names.

    Raises:
        InvalidInput: it is nested more than MAX_DEPTH deep.
    """
    return _encode(value, MAX_DEPTH)


def _encode(value: Any, depth: int) -> Any:
    if depth < 0:
        raise InvalidInput(f"A value is nested more than {MAX_DEPTH} deep.", "Keep it flat.")
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _encode(getattr(value, field.name), depth - 1) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _encode(item, depth - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_encode(item, depth - 1) for item in value]
    return value


@cache
def field_types(shape: type) -> Mapping[str, Any]:
    """Type of each field of a dataclass, with the annotations evaluated."""
    return get_type_hints(shape)


def _decode(shape: Any, value: object, path: str) -> Any:
    if shape is Any:
        return value
    if is_dataclass(shape):
        return _decode_dataclass(cast("type", shape), value, path)
    decode = _GENERIC.get(get_origin(shape))
    if decode is not None:
        return decode(get_args(shape), value, path)
    if shape is float and type(value) is int:
        return value  # as it is: not every integer fits a float
    # Not isinstance: JSON's true is no integer here.
    if type(value) is not shape:
        _refuse(path, _NAMES[shape])
    return value


def _decode_dataclass(shape: type, value: object, path: str) -> Any:
    if not isinstance(value, dict):
        _refuse(path, "an object")
    types_by_name = field_types(shape)
    known = {}
    for field in fields(shape):
        where = f"{path}.{field.name}" if path else field.name
        if field.name in value:
            known[field.name] = _decode(types_by_name[field.name], value[field.name], where)
        elif not _has_default(field):
            raise InvalidInput(f"The field `{where}` is missing.")
    return shape(**known)


def _has_default(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _decode_union(options: tuple[Any, ...], value: object, path: str) -> Any:
    """Only `T | None` occurs in the protocol."""
    if value is None and type(None) in options:
        return None
    return _decode(next(option for option in options if option is not type(None)), value, path)


def _decode_literal(options: tuple[Any, ...], value: object, path: str) -> Any:
    if not isinstance(value, str) or value not in options:
        _refuse(path, f"one of {', '.join(options)}")
    return value


def _decode_list(item: tuple[Any, ...], value: object, path: str) -> list[Any]:
    if not isinstance(value, list):
        _refuse(path, "a list")
    return [_decode(item[0], entry, f"{path}[{index}]") for index, entry in enumerate(value)]


def _decode_dict(item: tuple[Any, ...], value: object, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        _refuse(path, "an object")
    return {key: _decode(item[1], entry, f"{path}.{key}") for key, entry in value.items()}


_GENERIC: Mapping[Any, Callable[[tuple[Any, ...], object, str], Any]] = {
    Union: _decode_union,
    types.UnionType: _decode_union,
    Literal: _decode_literal,
    list: _decode_list,
    dict: _decode_dict,
}


def _refuse(path: str, wanted: str) -> NoReturn:
    subject = f"The field `{path}` is" if path else "The parameters are"
    raise InvalidInput(f"{subject} not {wanted}.")
