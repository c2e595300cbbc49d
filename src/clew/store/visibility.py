"""Who may see which memory: one rule, as SQL for rows and as a predicate for the vector index."""

from __future__ import annotations

from typing import Any, NamedTuple

from clew.core.records import Visibility


class Audience(NamedTuple):
    """The columns of a memory that the rule looks at, except its session."""

    scope: str
    project_key: str | None
    category: str
    user_id: str | None
    assistant_id: str | None


def visible_sql(visible: Visibility, table: str = "memories") -> tuple[str, tuple[Any, ...]]:
    """A condition on active memories of a table or its alias, with its parameters."""
    clauses, values = [f"{table}.state = 'active'"], []
    if not visible.everywhere:
        clauses.append(f"({table}.scope <> 'project' OR {table}.project_key = ?)")
        values.append(visible.project_key)
    if visible.categories:
        clauses.append(f"{table}.category IN ({', '.join('?' * len(visible.categories))})")
        values.extend(visible.categories)
    for column in ("user_id", "assistant_id", "session_id"):
        wanted = getattr(visible, column)
        if wanted is not None:
            clauses.append(f"{table}.{column} = ?")
            values.append(wanted)
    return " AND ".join(clauses), tuple(values)


def may_see(visible: Visibility, audience: Audience) -> bool:
    """The same rule for one memory; its session is checked by the caller."""
    if (
        not visible.everywhere
        and audience.scope == "project"
        and (visible.project_key is None or audience.project_key != visible.project_key)
    ):
        return False
    if visible.categories and audience.category not in visible.categories:
        return False
    if visible.user_id is not None and audience.user_id != visible.user_id:
        return False
    return visible.assistant_id is None or audience.assistant_id == visible.assistant_id
