"""The manifest of the models that ship: which files each one needs, and the digest each file must have.

Models may share files, so digests are kept by file and each model lists the files it needs:

    {"models": {"embedder": {"signature": ..., "width": ..., "max_tokens": ..., "files": [name, ...], ...}},
     "files": {name: {"bytes": ..., "sha256": ...}}}
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew.core.errors import InvalidInput, ModelUnavailable

#: Where the models lie inside the package.
FOLDER = Path(__file__).parent / "files"
MANIFEST_NAME = "manifest.json"
#: Next step of every error about a file that came with the package.
REINSTALL = "Reinstall Clew."


@dataclass(frozen=True, kw_only=True)
class ModelEntry:
    """What the manifest says about one model."""

    signature: str
    """Names model and weights."""
    width: int
    """How many numbers the network gives for a text."""
    max_tokens: int
    """Length of its window, control tokens included."""
    files: tuple[str, ...]
    """Names of the files it needs."""
    details: Mapping[str, Any]
    """Everything else that its entry holds."""


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The models of one folder. Made by `load_manifest`."""

    folder: Path
    models: Mapping[str, ModelEntry]
    digests: Mapping[str, str]
    """sha256 in hex, by file name."""

    def entry(self, model_name: str) -> ModelEntry:
        """What is written about a model; looks at no file. Raises ModelUnavailable if it is not listed."""
        try:
            return self.models[model_name]
        except KeyError:
            raise ModelUnavailable(f"The manifest lists no model named {model_name}.", REINSTALL) from None

    def require(self, model_name: str) -> ModelEntry:
        """Check the files that one model needs, and no others.

        A file is hashed once per process, also when several models need it, until its size or time of change differs.

        Raises:
            ModelUnavailable: the model is not listed, or one of its files is missing or damaged.
        """
        entry = self.entry(model_name)
        for name in entry.files:
            try:
                digest = _sha256_of(self.folder / name)
            except OSError as error:
                raise ModelUnavailable(
                    f"The {model_name}'s file {name} cannot be read ({type(error).__name__}).", REINSTALL
                ) from error
            if digest != self.digests[name]:
                raise ModelUnavailable(
                    f"The {model_name}'s file {name} is damaged: its sha256 is not the one expected.", REINSTALL
                )
        return entry


def load_manifest(folder: Path = FOLDER) -> Manifest:
    """Read the manifest of a folder; looks at no model file. Raises ModelUnavailable if it is missing or unusable."""
    try:
        return _parse(folder, json.loads((folder / MANIFEST_NAME).read_text(encoding="utf-8")))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ModelUnavailable(
            f"The manifest of the models cannot be read ({type(error).__name__}).", REINSTALL
        ) from error


def add_model(folder: Path, name: str, description: Mapping[str, Any], files: Sequence[str]) -> None:
    """Enter a model that was just built, in place of an earlier one of that name. Used by the build scripts.

    Args:
        folder: where its files lie already; a manifest that is missing is begun.
        name: what `Manifest.require` is to be asked for.
        description: its `signature`, `width` and `max_tokens`, and whatever else a reader should know.
        files: names of all files it needs, those it shares with other models too.

    Raises:
        InvalidInput: the description lacks a field, or a file that another model needs is no longer the one it knew.
        OSError: a file cannot be read, or the manifest not written.
    """
    path = folder / MANIFEST_NAME
    content = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"models": {}, "files": {}}
    models = {other: entry for other, entry in content["models"].items() if other != name}
    # A file that only the replaced model needed leaves with it.
    known = {file: content["files"][file] for entry in models.values() for file in entry["files"]}
    for file in files:
        stamp = {"bytes": (folder / file).stat().st_size, "sha256": _sha256_of(folder / file)}
        if known.setdefault(file, stamp) != stamp:
            raise InvalidInput(
                f"{file} has changed, and another model needs it as it was.",
                f"Take the models that share it out of {MANIFEST_NAME}, then build each of them again.",
            )
    models[name] = {**description, "files": list(files)}
    renewed = {"models": dict(sorted(models.items())), "files": dict(sorted(known.items()))}
    try:
        _parse(folder, renewed)
    except (LookupError, TypeError, ValueError) as error:
        raise InvalidInput(f"The description of {name} lacks a field or has a wrong one ({error}).") from error
    path.write_text(json.dumps(renewed, indent=2) + "\n", encoding="utf-8", newline="\n")


def _parse(folder: Path, content: Mapping[str, Any]) -> Manifest:
    digests = {str(name): str(stamp["sha256"]) for name, stamp in content["files"].items()}
    models = {str(name): _parse_entry(entry, digests) for name, entry in content["models"].items()}
    return Manifest(folder=folder, models=models, digests=digests)


def _parse_entry(entry: Mapping[str, Any], digests: Mapping[str, str]) -> ModelEntry:
    own = {"signature", "width", "max_tokens", "files"}
    files = tuple(str(name) for name in entry["files"])
    if unknown := set(files) - set(digests):
        raise LookupError(f"no digest of {', '.join(sorted(unknown))}")
    return ModelEntry(
        signature=str(entry["signature"]),
        width=int(entry["width"]),
        max_tokens=int(entry["max_tokens"]),
        files=files,
        details={name: value for name, value in entry.items() if name not in own},
    )


_digests: dict[tuple[str, int, int], str] = {}
_hashing = threading.Lock()


def _sha256_of(path: Path) -> str:
    """The digest of a file in hex, remembered by path, size and time of change. Raises OSError."""
    with _hashing, path.open("rb") as file:  # two models that load at once must not both hash the file they share
        stat = os.fstat(file.fileno())
        key = (str(path), stat.st_size, stat.st_mtime_ns)
        if key not in _digests:
            _digests[key] = hashlib.file_digest(file, "sha256").hexdigest()
        return _digests[key]
