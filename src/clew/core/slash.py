"""Tells a slash command of the host from something that a person says."""

from __future__ import annotations

import re

# Not a message that begins with a path ("/tmp is wiped at boot", "/home/ada/notes.md").
_ROOT_FOLDERS = "bin|boot|dev|etc|home|lib|media|mnt|opt|proc|root|run|srv|sys|tmp|usr|var"
_SLASH_COMMAND = re.compile(rf"/(?!(?:{_ROOT_FOLDERS})\b)[\w:.-]+(?:\s|$)")


def is_slash_command(text: str) -> bool:
    """True for `/name` and `/name arguments`."""
    return _SLASH_COMMAND.match(text) is not None
