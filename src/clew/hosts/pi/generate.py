"""Write the TypeScript side of the protocol: `python -m clew.hosts.pi.generate [--check]`.

`protocol.py` is the source. `--check` writes nothing and fails when the file in the extension is stale.
"""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import clew
from clew.hosts.pi import protocol
from clew.hosts.pi.protocol import ENGINE_METHODS, HOST_METHODS, Method
from clew.hosts.pi.wire import field_types, to_json

TARGET = Path(__file__).parent / "extension" / "protocol.gen.ts"

_HEADER = "// Generated from protocol.py by `python -m clew.hosts.pi.generate`. Do not edit."
_CONSTANTS = (
    "PROTOCOL_VERSION",
    "MAX_FRAME_BYTES",
    "MAX_TEXT_CHARS",
    "RECALL_DEADLINE_MS",
    "WARMUP_MS",
    "HOST_CAPABILITIES",
)
_SCALARS: dict[object, str] = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
    Any: "unknown",
}


def render() -> str:
    """The whole TypeScript file."""
    blocks = [
        _HEADER,
        "\n".join(_render_constants()),
        *(_render_interface(shape) for shape in _shapes()),
        _render_methods("EngineMethods", "Answered by the engine.", ENGINE_METHODS),
        _render_methods("HostMethods", "Carried out by the extension.", HOST_METHODS),
        _render_table("COMMANDS", "Command", protocol.COMMANDS),
        _render_table("TOOLS", "Tool", protocol.TOOLS),
    ]
    return "\n\n".join(blocks) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Write the file, or with `--check` compare it. Returns the exit code."""
    wanted = render()
    if "--check" not in arguments:
        TARGET.write_text(wanted, encoding="utf-8", newline="\n")
        return 0
    if TARGET.is_file() and TARGET.read_text(encoding="utf-8") == wanted:
        return 0
    sys.stderr.write(f"{TARGET.name} is stale. Run `python -m clew.hosts.pi.generate`.\n")
    return 1


def _render_constants() -> Iterator[str]:
    yield f"export const EXTENSION_VERSION = {json.dumps(clew.__version__)};"
    for name in _CONSTANTS:
        value = getattr(protocol, name)
        suffix = " as const" if isinstance(value, tuple) else ""
        yield f"export const {name} = {json.dumps(value)}{suffix};"


def _shapes() -> list[type]:
    """All dataclasses of the protocol page, in its order, but for the description of a method itself."""
    return [
        value
        for value in vars(protocol).values()
        if isinstance(value, type) and is_dataclass(value) and value is not Method
    ]


def _render_interface(shape: type) -> str:
    types_by_name = field_types(shape)
    rows = [f"\t{field.name}: {_render_type(types_by_name[field.name])};" for field in fields(shape)]
    body = "\n".join(["{", *rows, "}"]) if rows else "{}"
    keyword = f"export interface {shape.__name__} " if rows else f"export type {shape.__name__} = "
    return f"{_render_comment(shape.__doc__)}\n{keyword}{body if rows else 'Record<string, never>;'}"


def _render_comment(text: str | None) -> str:
    return f"/** {' '.join((text or '').split())} */"


def _render_type(shape: Any) -> str:
    if shape in _SCALARS:
        return _SCALARS[shape]
    if isinstance(shape, type) and is_dataclass(shape):
        return shape.__name__
    origin, arguments = get_origin(shape), get_args(shape)
    if origin is Literal:
        return " | ".join(json.dumps(argument) for argument in arguments)
    if origin in {Union, types.UnionType}:
        return " | ".join(_render_type(argument) for argument in arguments)
    if origin in {list, tuple}:
        return f"readonly {_bracket(_render_type(arguments[0]))}[]"
    return f"Record<string, {_render_type(arguments[1])}>"


def _bracket(text: str) -> str:
    return f"({text})" if " " in text else text


def _render_methods(name: str, comment: str, methods: Iterable[Method]) -> str:
    rows = []
    for method in methods:
        result = "null" if method.result is None else method.result.__name__
        rows.append(f"\t{json.dumps(method.name)}: {{ params: {method.params.__name__}; result: {result} }};")
    return "\n".join(
        [f"/** {comment} `result: null` marks a notification. */", f"export interface {name} {{", *rows, "}"]
    )


def _render_table(name: str, shape: str, rows: Iterable[object]) -> str:
    text = json.dumps([to_json(row) for row in rows], indent="\t", ensure_ascii=False)
    return f"export const {name}: readonly {shape}[] = {text};"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
