"""Explicit requests to remember something."""

from __future__ import annotations

from dataclasses import dataclass

from clew.core.records import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """placeholder"""

    text: str
    category: str
    scope: Scope
    is_temporary: bool


def find_ask(text: str) -> Ask | None:
    return None
