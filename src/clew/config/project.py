"""Which project a folder belongs to, found from the files of git alone: no process is started.

The key is `host/owner/repo` of the remote `origin`, so that clones, worktrees and subfolders of one repository share
their memories; without a remote it is `cwd:` and the real path of the repository (or of the folder, outside git).
Keys and names are written to the journal and shown, so no value of a secret gets into them.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from clew.core.secrets import redact

_SECTION = re.compile(r'^\s*\[remote\s+"origin"\]\s*$', re.IGNORECASE)
_URL = re.compile(r"^\s*url\s*=\s*(.+?)\s*$")
# What stands before the last "@" that is followed by a host: a name and password, which may hold "@" and "/" themselves.
_LOGIN = re.compile(r"^.*@(?=[^@/:]+\.[^@/:]+[/:])|^[^/]*@")
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SCP_LIKE = re.compile(r"^(?P<host>[^:/]+):(?!//)(?P<path>.+)$")
_BEHIND_SCHEME = re.compile(r"^(?P<host>\[[^\]]+\]|[^/:]+)(?::\d+)?/(?P<path>.+)$")
_QUERY = re.compile(r"[?#].*$", re.DOTALL)
_DIGEST_CHARS = 8


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
    return Project(key=_folder_key(real), name=_redact_name(real.name) or str(real), root=real)


def _from_git(root: Path, git: Path) -> Project:
    common = _common_folder(git)
    remote = _remote_key(common / "config")
    if remote:
        return Project(key=remote, name=remote.rsplit("/", 1)[-1], root=root)
    # A worktree's common folder is <main checkout>/.git: all worktrees share the main checkout's key.
    home = common.parent if common.name == ".git" else root
    return Project(key=_folder_key(home), name=_redact_name(home.name), root=root)


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
    """`host/owner/repo` of a remote address in https or ssh form; None for a local path.

    Login, query and fragment are dropped, and whatever else in it looks like a secret is redacted.
    """
    scheme = _SCHEME.match(url)
    if scheme and scheme.group().lower() == "file://":
        return None
    address = _LOGIN.sub("", _QUERY.sub("", url[scheme.end() :] if scheme else url))
    match = (_BEHIND_SCHEME if scheme else _SCP_LIKE).match(address)
    # "C:\repo" looks like scp's host:path; a one-letter host is a Windows drive.
    if not match or len(match["host"]) == 1:
        return None
    path = match["path"].strip("/").removesuffix(".git")
    return _hide_secrets(f"{match['host'].lower()}/{path}") if path else None


def _folder_key(folder: Path) -> str:
    return f"cwd:{_hide_secrets(str(folder))}"


def _hide_secrets(place: str) -> str:
    """The place without the values of secrets. What is left names it alone: two hidden ones must not share memories."""
    redacted = _redact_name(place)
    if redacted == place:
        return place
    return f"{redacted}#{hashlib.sha256(place.encode(errors='surrogateescape')).hexdigest()[:_DIGEST_CHARS]}"


def _redact_name(name: str) -> str:
    # As a whole first, since a key may hold dashes itself; then by the words that dashes part.
    return "-".join(redact(word).text for word in redact(name).text.split("-"))
