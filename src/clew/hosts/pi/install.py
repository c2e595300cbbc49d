"""Put the extension into Pi's agent directory and take it out again: what `clew pi install | uninstall | status` do.

A copy is made in a folder beside its place and then renamed into it, so Pi never loads half an extension. The copy's
`engine.json` names the interpreter to start and the files that Clew wrote: nothing else is ever deleted.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import clew
from clew.core.errors import InstallFailed, InvalidInput, NotFound

#: The extension inside the Python package; `pi --extension <this>/index.ts` loads it without installing.
SOURCE = Path(__file__).parent / "extension"
MARKER = "engine.json"
#: Name of Clew's Pi package, in the package.json at the repository's root.
PI_PACKAGE_NAME = "pi-clew"

_FOLDER = Path("extensions") / "clew"
_MARKER_KIND = "clew-extension"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """Result of `install`. `replaced_version` is the version that lay there before, if any."""

    folder: Path
    python: str
    version: str
    replaced_version: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Uninstalled:
    """Result of `uninstall`. `left_behind` names files in the folder that Clew did not write."""

    folder: Path
    left_behind: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallStatus:
    """What lies in the agent directory.

    Attributes:
        state: `absent`; `foreign` = the folder is not Clew's; `damaged` = files are missing; `installed`.
        version, python: as the copy names them; None when there is none.
        is_current: the copy has this Clew's version.
        python_exists: the interpreter that the copy would start is there.
        package_sources: Clew as a Pi package in Pi's settings, which would load the extension a second time.
    """

    folder: Path
    state: Literal["absent", "foreign", "damaged", "installed"]
    version: str | None = None
    python: str | None = None
    is_current: bool = False
    python_exists: bool = False
    package_sources: tuple[str, ...] = ()


def extension_folder(agent_dir: Path) -> Path:
    """Where the extension is installed."""
    return agent_dir / _FOLDER


def install(agent_dir: Path, *, python: str = sys.executable) -> Installed:
    """Copy the extension into Pi's agent directory, or bring the copy there up to date.

    Args:
        agent_dir: Pi's agent directory; created when missing.
        python: interpreter that Pi is to start the engine with.

    Raises:
        InvalidInput: the place is taken by something that is not Clew's.
        InstallFailed: the directory cannot be written.
    """
    folder = extension_folder(agent_dir)
    marker = _read_marker(folder)
    if marker is None and (folder.exists() or folder.is_symlink()):
        raise InvalidInput(f"{folder} exists and was not made by `clew pi install`.", "Move it away and try again.")
    with _failures_named(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Not under extensions/: Pi would load it from there.
        with tempfile.TemporaryDirectory(prefix=".clew-install-", dir=agent_dir) as temporary:
            fresh = Path(temporary) / "new"
            _write_copy(fresh, python)
            _swap(fresh, folder, Path(temporary) / "old", marker)
    replaced = None if marker is None else str(marker.get("version"))
    return Installed(folder=folder, python=python, version=clew.__version__, replaced_version=replaced)


def uninstall(agent_dir: Path) -> Uninstalled:
    """Remove what `install` wrote; a folder that holds other files stays, with those.

    Raises:
        NotFound: there is no extension of Clew's.
        InstallFailed: the files cannot be removed.
    """
    folder = extension_folder(agent_dir)
    marker = _read_marker(folder)
    if marker is None:
        raise NotFound(f"There is no Clew extension in {folder}.", "Nothing was removed.")
    with _failures_named(folder):
        for name in _owned_files(marker):
            (folder / name).unlink(missing_ok=True)
        left = tuple(_list_files(folder))
        if not left:
            shutil.rmtree(folder)
    return Uninstalled(folder=folder, left_behind=left)


def read_status(agent_dir: Path) -> InstallStatus:
    """Look at what is installed. Never raises for what it finds."""
    folder = extension_folder(agent_dir)
    sources = tuple(_package_sources(agent_dir))
    marker = _read_marker(folder)
    if marker is None:
        state: Literal["foreign", "absent"] = "foreign" if folder.exists() else "absent"
        return InstallStatus(folder=folder, state=state, package_sources=sources)
    python = str(marker.get("python"))
    is_whole = all((folder / name).is_file() for name in _owned_files(marker))
    return InstallStatus(
        folder=folder,
        state="installed" if is_whole else "damaged",
        version=str(marker.get("version")),
        python=python,
        is_current=marker.get("version") == clew.__version__,
        python_exists=Path(python).is_file(),
        package_sources=sources,
    )


def _write_copy(folder: Path, python: str) -> None:
    folder.mkdir()
    for name in _list_files(SOURCE):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SOURCE / name, target)
    marker = {
        "kind": _MARKER_KIND,
        "version": clew.__version__,
        "python": python,
        "files": [*_list_files(folder), MARKER],
    }
    (folder / MARKER).write_text(json.dumps(marker, indent=2) + "\n", encoding="utf-8")


def _swap(fresh: Path, folder: Path, old: Path, marker: dict[str, Any] | None) -> None:
    """Rename the fresh copy into its place; files of others move along; a failure brings the old copy back."""
    if marker is None:
        fresh.rename(folder)
        return
    _carry_over(folder, fresh, owned=_owned_files(marker))
    folder.rename(old)
    try:
        fresh.rename(folder)
    except OSError:
        old.rename(folder)
        raise


def _carry_over(source: Path, target: Path, *, owned: Sequence[str]) -> None:
    for name in set(_list_files(source)) - set(owned):
        if not (target / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, target / name)


def _list_files(folder: Path) -> list[str]:
    """Relative paths of all files, with forward slashes, sorted. Links count as files and are not followed."""
    found = []
    for parent, _folders, names in os.walk(folder):
        found += [(Path(parent) / name).relative_to(folder).as_posix() for name in names]
    return sorted(found)


def _read_marker(folder: Path) -> dict[str, Any] | None:
    """What an installed copy says about itself; None when the folder is missing, a link, or not Clew's."""
    if folder.is_symlink():
        return None
    marker = _read_json_object(folder / MARKER)
    return marker if marker.get("kind") == _MARKER_KIND else None


def _owned_files(marker: dict[str, Any]) -> list[str]:
    """Files that the marker names; a path that would lead out of the folder is not believed."""
    names = marker.get("files")
    if not isinstance(names, list):
        return [MARKER]
    return [name for name in names if isinstance(name, str) and _stays_inside(name)]


def _stays_inside(name: str) -> bool:
    path = Path(name)
    return bool(name) and not path.is_absolute() and ".." not in path.parts


def _package_sources(agent_dir: Path) -> Iterator[str]:
    """Entries of Pi's own settings that load Clew as a Pi package, as `pi remove` takes them from any folder."""
    entries = _read_json_object(agent_dir / "settings.json").get("packages")
    for entry in entries if isinstance(entries, list) else []:
        source = entry.get("source") if isinstance(entry, dict) else entry
        if isinstance(source, str) and _is_clew(source, agent_dir):
            is_local = not source.startswith(("npm:", "git:")) and "://" not in source
            yield os.path.normpath(_package_folder(source, agent_dir)) if is_local else source


def _is_clew(source: str, agent_dir: Path) -> bool:
    if source.startswith("npm:"):
        return source.removeprefix("npm:").split("@")[0] == PI_PACKAGE_NAME
    return _read_json_object(_package_folder(source, agent_dir) / "package.json").get("name") == PI_PACKAGE_NAME


def _package_folder(source: str, agent_dir: Path) -> Path:
    """Where Pi keeps a package: git clones below the agent directory, local ones relative to its settings."""
    if source.startswith("git:") or "://" in source:
        location = source.removeprefix("git:").split("://")[-1].split("@")[0]
        return agent_dir / "git" / location.removesuffix(".git")
    return agent_dir / Path(source).expanduser()


def _read_json_object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


@contextlib.contextmanager
def _failures_named(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InstallFailed(
            f"{folder} cannot be changed: {error.strerror or type(error).__name__}.",
            "Check the permissions and the free space of Pi's agent directory.",
        ) from error
