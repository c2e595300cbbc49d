"""What `clew pi install | uninstall | status | path` say, for a person and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew.hosts.pi.install import SOURCE, InstallStatus, install, read_status, uninstall


@dataclass(frozen=True, slots=True, kw_only=True)
class PiReport:
    """Result of one action: lines for a person, an object for programs, and whether Pi will load Clew as meant."""

    lines: tuple[str, ...]
    json: dict[str, Any]
    is_fine: bool = True


def run_action(action: str, agent_dir: Path) -> PiReport:
    """Carry out an action on one of Pi's agent directories. Raises InstallFailed, InvalidInput, NotFound."""
    actions = {"install": _install, "uninstall": _uninstall, "status": _status, "path": _path}
    return actions[action](agent_dir)


def _install(agent_dir: Path) -> PiReport:
    done = install(agent_dir)
    double = read_status(agent_dir).package_sources
    lines = [
        f"Installed Clew {done.version} in {done.folder}",
        f"Pi will start it with {done.python}",
        *([f"It replaces {done.replaced_version}."] if done.replaced_version else []),
        *(_double_warning(source) for source in double),
        "Start pi (or /reload in a running one).",
    ]
    row = {
        "folder": str(done.folder),
        "python": done.python,
        "version": done.version,
        "replaced_version": done.replaced_version,
    }
    return PiReport(lines=tuple(lines), json=row)


def _uninstall(agent_dir: Path) -> PiReport:
    done = uninstall(agent_dir)
    kept = [f"Left in place, since Clew did not write it: {name}" for name in done.left_behind]
    return PiReport(
        lines=(f"Removed Clew from {done.folder}. Your memories are untouched.", *kept),
        json={"folder": str(done.folder), "left_behind": list(done.left_behind)},
    )


def _status(agent_dir: Path) -> PiReport:
    status = read_status(agent_dir)
    row = {
        "folder": str(status.folder), "state": status.state, "version": status.version, "python": status.python,
        "is_current": status.is_current, "python_exists": status.python_exists, "package_sources": list(status.package_sources),
    }  # fmt: skip
    problems = _problems(status)
    lines = [f"{status.folder}: {status.state}" + (f", Clew {status.version}" if status.version else "")]
    lines += [f"Python: {status.python}"] if status.python else []
    lines += [f"Also a Pi package: {source}" for source in status.package_sources]
    return PiReport(lines=(*lines, *problems), json=row, is_fine=not problems)


def _problems(status: InstallStatus) -> list[str]:
    is_package = bool(status.package_sources)
    if status.state == "absent":
        return [] if is_package else ["Not installed. Run: clew pi install"]
    if status.state == "foreign":
        return [f"{status.folder} is not Clew's. Move it away, then run: clew pi install"]
    if status.state == "damaged":
        return ["Files are missing. Run: clew pi install"]
    problems = (
        [] if status.python_exists else ["That Python is gone. Run clew pi install from the Python that has Clew."]
    )
    problems += [] if status.is_current else ["The copy is of another version. Run: clew pi install"]
    return problems + [_double_warning(source) for source in status.package_sources]


def _double_warning(source: str) -> str:
    return f"Clew is also installed as the Pi package {source}; only one of the two is loaded. Remove one: pi remove {source}"


def _path(_: Path) -> PiReport:
    entry = SOURCE / "index.ts"
    return PiReport(lines=(str(entry),), json={"path": str(entry)})
