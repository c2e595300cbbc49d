"""Where a memory of a category belongs."""

from __future__ import annotations

from clew.core.records import Scope

_PROJECT_CATEGORIES = frozenset({"project", "failure"})


def scope_of(category: str, project_key: str | None) -> Scope:
    """Scope of a memory by its category: lessons and project facts stay with a known project, the rest with the person."""
    return "project" if project_key and category in _PROJECT_CATEGORIES else "user"
