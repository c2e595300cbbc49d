"""JSON lines that somebody else wrote: read one by one with bounded memory, refused with file, line and mend.

Files that Clew makes here are created, never overwritten.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from clew.core.errors import InvalidInput

#: Longest line that is read. The longest state has a fraction of that.
MAX_LINE_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line that is not blank. `is_ended` is false for a last line without its line break."""

    path: Path
    number: int
    data: bytes
    is_ended: bool


class NotJson(ValueError):
    """A line is not one JSON object; `is_cut` when it begins as one and breaks off."""

    def __init__(self, what: str, *, is_cut: bool = False) -> None:
        super().__init__(what)
        self.is_cut = is_cut


def read_lines(path: Path) -> Iterator[Line]:
    """The lines of a file that are not blank, numbered from 1.

    Raises:
        InvalidInput: the file cannot be read, or a line is longer than MAX_LINE_BYTES.
    """
    try:
        with path.open("rb") as file:
            number = 0
            while data := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                line = Line(path=path, number=number, data=data.strip(), is_ended=data.endswith(b"\n"))
                if len(data) > MAX_LINE_BYTES:
                    refuse(line, "it is longer than 1 MB.", "This is not a file of JSON rows; name another.")
                if line.data:
                    yield line
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror}).", "Check the path and its rights.") from error


def parse_object(line: Line) -> dict[str, Any]:
    """The JSON object on a line: UTF-8, no NaN, no Infinity. Raises NotJson."""
    data = line.data.removeprefix(b"\xef\xbb\xbf") if line.number == 1 else line.data
    try:
        found = json.loads(data.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise NotJson("it is not UTF-8.", is_cut=_breaks_off(line)) from error
    except (ValueError, RecursionError) as error:
        raise NotJson("it is not valid JSON.", is_cut=_breaks_off(line)) from error
    if not isinstance(found, dict):
        raise NotJson("it is not a JSON object.")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _breaks_off(line: Line) -> bool:
    """Whether its writer was stopped: a row ends with a brace, and the last one with a line break."""
    return not line.is_ended or (line.data.startswith(b"{") and not line.data.endswith(b"}"))


def require_object(line: Line) -> dict[str, Any]:
    """As `parse_object`. Raises InvalidInput with the place."""
    try:
        return parse_object(line)
    except NotJson as error:
        refuse(line, str(error), "Write one JSON object a line.", cause=error)


def refuse(line: Line, what: str, mend: str, *, cause: Exception | None = None) -> NoReturn:
    """Raise InvalidInput that names the file, the line, what is wrong and the mend."""
    raise InvalidInput(f"{line.path}, line {line.number}: {what}", mend) from cause


def require_absent(path: Path) -> None:
    """Say before long work that its result could not be written. Raises InvalidInput."""
    if path.exists() or path.is_symlink():
        raise InvalidInput(f"{path} exists already.", "Nothing is overwritten: name a new file.")
    if not path.parent.is_dir():
        raise InvalidInput(f"{path} cannot be written (there is no such folder).", "Choose another place.")


def create_file(path: Path, text: str) -> None:
    """Write a new file; one that exists is left as it is, and a half-written one is taken away.

    Raises:
        InvalidInput: it exists already, or cannot be written.
    """
    try:
        with path.open("xb") as file:
            try:
                file.write(text.encode("utf-8"))
                file.flush()
            except BaseException:
                with suppress(OSError):
                    path.unlink()
                raise
    except FileExistsError:
        require_absent(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written ({error.strerror}).", "Choose another place.") from error


def shown(value: Any, max_chars: int = 60) -> str:
    """A name from a file as it may stand in a one-line message."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    line = "".join(char if char.isprintable() else "?" for char in text[: max_chars + 1])
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"
