"""`judge-personal.json`: the personal versions of the judge, the newest in force, each replaceable by the one before.

It holds numbers only. Whatever is in the file, reading it never raises: what cannot be used is ignored with a reason.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from clew.core.errors import InvalidInput
from clew.decide.calibration.fit import short
from clew.decide.personal.adjustment import Adjustment, parse_heads

FILE_NAME = "judge-personal.json"
FORMAT = 1
#: Older versions are forgotten; their fingerprints are not, because rows of the log name them.
MAX_VERSIONS, MAX_FINGERPRINTS = 10, 1_000
MAX_FILE_BYTES = 4_000_000
FACTS = ("learned_at_ms", "states")


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One adjustment, and what is known about its making.

    Attributes:
        facts: those of FACTS that are known: when it was learned, and from how many states. They are shown, and
            decide nothing.
    """

    adjustment: Adjustment
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalFile:
    """The file as it was read.

    Attributes:
        versions: oldest first; the last is in force.
        fingerprints: of all judges that these versions, and those taken back or forgotten, ever made.
        problem: why the file is ignored; None if it is used, or there is none.
        content: its bytes, b"" if there is none; tells whether somebody wrote meanwhile.
    """

    path: Path
    base_fingerprint: str
    versions: tuple[Version, ...] = ()
    fingerprints: tuple[str, ...] = ()
    problem: str | None = None
    content: bytes = field(default=b"", repr=False)

    @property
    def present(self) -> Version | None:
        """The version in force; None for the shipped judge."""
        return self.versions[-1] if self.versions else None


def read_adjustment(path: Path, base_fingerprint: str) -> tuple[Adjustment | None, str | None]:
    """The adjustment in force, and why the file is ignored if it is. Never raises.

    Args:
        base_fingerprint: of the judge that is to be adjusted.

    Returns:
        The adjustment, or None for the shipped judge; and a sentence for the person, or None.
    """
    file = read_versions(path, base_fingerprint)
    return (file.present.adjustment if file.present else None), file.problem


def read_versions(path: Path, base_fingerprint: str) -> PersonalFile:
    """The whole file. Never raises."""
    content = b""
    try:
        content = _read_bytes(path)
        versions, fingerprints = _parse(_decode(content), base_fingerprint)
    except FileNotFoundError:
        return PersonalFile(path=path, base_fingerprint=base_fingerprint)
    except OSError as error:
        problem = f"it cannot be read ({error.strerror})"
    except ValueError as error:
        problem = str(error)
    else:
        return PersonalFile(
            path=path,
            base_fingerprint=base_fingerprint,
            versions=versions,
            fingerprints=fingerprints,
            content=content,
        )
    text = f"{path} is ignored, the judge answers as shipped: {problem}."
    return PersonalFile(path=path, base_fingerprint=base_fingerprint, problem=text, content=content)


def _read_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        _refuse("it is larger than 4 MB")
    return content


def _decode(content: bytes) -> Any:
    try:
        return json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError):
        _refuse("it is not valid JSON")


def _refuse(what: str) -> NoReturn:
    raise ValueError(what)


def _parse(raw: Any, base_fingerprint: str) -> tuple[tuple[Version, ...], tuple[str, ...]]:
    """Raises ValueError that says what is wrong."""
    if not isinstance(raw, dict) or raw.get("v") != FORMAT or isinstance(raw["v"], bool):
        _refuse(f"it is no file of personal versions, format {FORMAT}")
    base, versions, fingerprints = raw.get("base_fingerprint"), raw.get("versions"), raw.get("fingerprints")
    if not isinstance(base, str):
        _refuse("its base_fingerprint is not a text")
    if base != base_fingerprint:
        _refuse(f"it was learned for judge {short(base)}, and this one is {short(base_fingerprint)}")
    if not isinstance(versions, list) or len(versions) > MAX_VERSIONS:
        _refuse(f"its versions are not a list of at most {MAX_VERSIONS}")
    if not isinstance(fingerprints, list) or not all(isinstance(one, str) for one in fingerprints):
        _refuse("its fingerprints are not a list of texts")
    return tuple(_parse_version(one, base_fingerprint) for one in versions), tuple(fingerprints)


def _parse_version(raw: Any, base_fingerprint: str) -> Version:
    if not isinstance(raw, dict) or not isinstance(raw.get("facts"), dict):
        _refuse("a version is not an object with facts and heads")
    return Version(
        adjustment=Adjustment(base_fingerprint=base_fingerprint, heads=parse_heads(raw.get("heads"))),
        facts={name: fact for name, fact in raw["facts"].items() if name in FACTS and _is_plain(fact)},
    )


def _is_plain(fact: Any) -> bool:
    """Whether a fact can be shown and written again. JSON knows numbers that are too large for it, such as 1e999."""
    return isinstance(fact, str | int | None) or (isinstance(fact, float) and math.isfinite(fact))


def add_version(file: PersonalFile, version: Version, fingerprint: str) -> None:
    """Put a version in force. What a file that was ignored held is kept beside it, with `.bak` at its end
    (`.2.bak`, … if there is one already).

    Args:
        fingerprint: of the judge that answers with this version.

    Raises:
        InvalidInput: the file changed since it was read, or cannot be written.
    """
    _replace(file, [*file.versions, version][-MAX_VERSIONS:], [*file.fingerprints, fingerprint])


def remove_version(file: PersonalFile) -> Version | None:
    """Take back the version in force. Returns the one that is in force now; None for the shipped judge.

    Raises:
        InvalidInput: there is none, the file changed since it was read, or cannot be written.
    """
    if file.problem:
        raise InvalidInput(file.problem, "Nothing of it is in force, so there is nothing to take back.")
    if not file.versions:
        raise InvalidInput("There is nothing to take back: the judge answers as shipped.")
    _replace(file, file.versions[:-1], file.fingerprints)
    return file.versions[-2] if len(file.versions) > 1 else None


def _replace(file: PersonalFile, versions: Sequence[Version], fingerprints: Sequence[str]) -> None:
    content = {
        "v": FORMAT,
        "base_fingerprint": file.base_fingerprint,
        "versions": [{"facts": dict(one.facts), "heads": one.adjustment.heads_json()} for one in versions],
        "fingerprints": list(dict.fromkeys(fingerprints))[-MAX_FINGERPRINTS:],
    }
    data = json.dumps(content, separators=(",", ":"), allow_nan=False).encode()
    try:
        file.path.parent.mkdir(parents=True, exist_ok=True)
        with _lock(file.path):
            _require_unchanged(file)
            if file.problem:
                file.path.replace(_free_backup(file.path))
            _write(Path(os.path.realpath(file.path)), data)  # a link stays one
    except OSError as error:
        raise InvalidInput(
            f"{file.path} cannot be written ({error.strerror}).", "Check the folder's rights."
        ) from error


def _free_backup(path: Path) -> Path:
    """Where a file can be put aside without overwriting what was put aside before."""
    backup, number = path.with_name(f"{path.name}.bak"), 1
    while os.path.lexists(backup):
        number += 1
        backup = path.with_name(f"{path.name}.{number}.bak")
    return backup


def _require_unchanged(file: PersonalFile) -> None:
    present = b""
    with suppress(FileNotFoundError, ValueError):
        present = _read_bytes(file.path)
    if present != file.content:
        raise InvalidInput(
            f"{file.path} was changed by somebody else meanwhile, so nothing was written.", "Run it once more."
        )


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Keep other writers out for the moment between looking and writing. Where there are no such locks (Windows) two
    writers in the same millisecond leave the file of the last."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _write(path: Path, data: bytes) -> None:
    """Write the whole file or leave the old one; only its owner may read it."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)  # has mode 0600
    try:
        with os.fdopen(descriptor, "wb") as temporary:
            temporary.write(data)
            temporary.flush()
            os.fsync(temporary.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
