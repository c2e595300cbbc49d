"""Which project a folder belongs to, found from the files of git alone: no process is started.

The key is `host/owner/repo` of the remote `origin`, so that clones, worktrees and subfolders of one repository share
their memories; without a remote it is `cwd:` and the real path of the repository (or of the folder, outside git).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_SECTION = re.compile(r'^\s*\[remote\s+"origin"\]\s*$', re.IGNORECASE)
_URL = re.compile(r"^\s*url\s*=\s*(.+?)\s*$")
_SCP_LIKE = re.compile(r"^(?:[^@/]+@)?(?P<host>[^:/]+):(?!//)(?P<path>.+)$")
_WITH_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://(?:[^@/]*@)?(?P<host>[^/:]+)(?::\d+)?/(?P<path>.+)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project: its key in the store, a name to show, and its root folder."""

    key: str
    name: str
    root: Path


def identify_project(folder: Path) -> Project:
    """The project of a folder. Never raises: an unreadable git folder counts as none."""
    real = folder.resolve()
    for root in (real, *real.parents):
        git = root / ".git"
        if git.exists():
            return _from_git(root, git)
    return Project(key=f"cwd:{real}", name=real.name or str(real), root=real)


def _from_git(root: Path, git: Path) -> Project:
    common = _common_folder(git)
    remote = _remote_key(common / "config")
    if remote:
        return Project(key=remote, name=remote.rsplit("/", 1)[-1], root=root)
    # A worktree's common folder is <main checkout>/.git: all worktrees share the main checkout's key.
    home = common.parent if common.name == ".git" else root
    return Project(key=f"cwd:{home}", name=home.name, root=root)


def _common_folder(git: Path) -> Path:
    try:
        if git.is_dir():
            return git.resolve()
        pointer = git.read_text(encoding="utf-8").strip().removeprefix("gitdir:").strip()
        folder = (git.parent / pointer).resolve()
        common = folder / "commondir"
        return (folder / common.read_text(encoding="utf-8").strip()).resolve() if common.exists() else folder
    except (OSError, ValueError):
        return git


def _remote_key(config: Path) -> str | None:
    try:
        lines = config.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    in_origin = False
    for line in lines:
        if line.lstrip().startswith("["):
            in_origin = bool(_SECTION.match(line))
        elif in_origin and (match := _URL.match(line)):
            return normalise_remote(match.group(1))
    return None


def normalise_remote(url: str) -> str | None:
    """`host/owner/repo` of a remote address in https or ssh form; None for a local path. Credentials are dropped."""
    match = _WITH_SCHEME.match(url) or _SCP_LIKE.match(url)
    # "C:\repo" looks like scp's host:path; a one-letter host is a Windows drive.
    if not match or len(match["host"]) == 1 or url.lower().startswith("file:"):
        return None
    path = match["path"].strip("/").removesuffix(".git")
    return f"{match['host'].lower()}/{path}" if path else None
