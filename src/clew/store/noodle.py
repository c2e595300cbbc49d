"""Taking over a database of pi-noodle: same rows, same ids, same vectors, under Clew's tables.

Its table has a text primary key and no row number, so it is copied into ours and dropped. What does not fit ours
(metadata that is no JSON, a vector that is no whole float32 list) is kept readable where that is possible, and as it
was in the backup in any case. Vectors stay: they only do not match our embedder, so full text finds these memories
until they are embedded anew.
"""

from __future__ import annotations

import json

from clew.store.adapter import Connection
from clew.store.columns import as_text

_OLD = "noodle_memories"
#: Our column → how it is made from the old one (`{}`), and what stands for a column that an old version lacks.
_COLUMNS: dict[str, tuple[str, str]] = {
    "id": ("coalesce({}, lower(hex(randomblob(16))))", "lower(hex(randomblob(16)))"),
    "text": ("coalesce(CAST({} AS TEXT), '')", "''"),
    "embedding": ("CASE WHEN typeof({0}) = 'blob' AND length({0}) % 4 = 0 THEN {0} END", "NULL"),
    "category": ("coalesce({}, 'memory')", "'memory'"),
    "categories": ("CASE WHEN json_valid({0}) THEN {0} WHEN {0} IS NULL THEN '[]' ELSE json_array({0}) END", "'[]'"),
    "user_id": ("{}", "NULL"),
    "assistant_id": ("{}", "NULL"),
    "session_id": ("{}", "NULL"),
    "metadata": (
        "CASE WHEN json_valid({0}) THEN {0} WHEN {0} IS NULL THEN '{{}}' ELSE json_object('unreadable', {0}) END",
        "'{}'",
    ),
    "created_at": ("coalesce(CAST({} AS INTEGER), 0)", "0"),
    "last_retrieved": ("CAST({} AS INTEGER)", "NULL"),
    "retrieval_count": ("coalesce(CAST({} AS INTEGER), 0)", "0"),
}


def is_noodle(connection: Connection) -> bool:
    """Whether the file holds pi-noodle's table of memories."""
    columns = _columns(connection, "memories")
    return {"id", "text"} <= columns and "row" not in columns


def set_aside(connection: Connection) -> None:
    """Give the name `memories` free."""
    connection.rows(f"ALTER TABLE memories RENAME TO {_OLD}")


def take_over(connection: Connection) -> None:
    """Copy the memories that were set aside into our table, oldest first, and drop the old table."""
    present = _columns(connection, _OLD)
    values = [made.format(name) if name in present else absent for name, (made, absent) in _COLUMNS.items()]
    oldest_first = "ORDER BY created_at, rowid" if "created_at" in present else "ORDER BY rowid"
    names = ", ".join(_COLUMNS)
    connection.rows(
        f"INSERT INTO memories({names}) SELECT {', '.join(values)} FROM {_OLD} {oldest_first}"  # noqa: S608
    )
    connection.rows(
        "UPDATE memories SET embedding_model = ? WHERE embedding IS NOT NULL", (_embedding_signature(connection),)
    )
    connection.rows("UPDATE memories SET updated_at = created_at")
    connection.rows(
        "UPDATE memories SET scope = 'project', project_key = metadata ->> '$.project_key' "
        "WHERE category = 'project' AND json_type(metadata, '$.project_key') = 'text'"
    )
    connection.rows(f"DROP TABLE {_OLD}")


def _embedding_signature(connection: Connection) -> str:
    """Names the embedder of the old vectors; never equal to the signature of one of ours."""
    found: list[tuple[str]] = []
    if _columns(connection, "noodle_meta"):
        found = connection.rows("SELECT value FROM noodle_meta WHERE key = 'embedding_signature'")
    return "pi-noodle " + (as_text(found[0][0]) if found else json.dumps({"provider": "unknown"}))


def _columns(connection: Connection, table: str) -> set[str]:
    return {name for (name,) in connection.rows("SELECT name FROM pragma_table_info(?)", (table,))}
