"""What Clew has on disk for one Pi installation, read from outside."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import apsw
from pi_driver import Pi
from processes import engines_of, wait_until

Row = tuple[Any, ...]


class Stored:
    """Reads the database (never writes) and searches the files."""

    def __init__(self, pi: Pi) -> None:
        self._pi = pi

    def rows(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[Row]:
        """Rows of a query; none while there is no database or it is being set up."""
        if not self._pi.database.exists():
            return []
        connection = apsw.Connection(str(self._pi.database), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_timeout(5000)
            return list(connection.execute(sql, parameters))
        except apsw.SQLError as error:
            if "no such table" in str(error):
                return []
            raise
        finally:
            connection.close()

    def texts(self) -> list[str]:
        """Texts of the memories, oldest first."""
        return [text for (text,) in self.rows("SELECT text FROM memories WHERE state = 'active' ORDER BY row")]

    def saved_once(self) -> int:
        """How many memories come from a state that was judged once.

        A second judgement would find the memory known, and either write that down in place of `saved` or raise its
        `seen_count`.
        """
        sql = "SELECT count(*) FROM judged JOIN memories ON memories.id = memory_id WHERE outcome = 'saved' AND seen_count = 1"
        counts = self.rows(sql)
        return int(counts[0][0]) if counts else 0

    def inbox_texts(self) -> list[str]:
        """Texts that wait for review."""
        return [text for (text,) in self.rows("SELECT text FROM inbox")]

    def judged_entries(self) -> list[str]:
        """Entry ids of the judged states, one per judgement."""
        return [entry for (entry,) in self.rows("SELECT entry_id FROM judged")]

    def unjudged(self) -> int:
        """How many states wait in the journal."""
        counts = self.rows("SELECT count(*) FROM journal")
        return int(counts[0][0]) if counts else 0

    def wait_for_judged(self, count: int) -> None:
        """Wait until so many states are judged and none waits.

        A Pi that ends right after its turn may leave states to its successor; that one is then started.
        """
        with self._successor() if self.unjudged() else nullcontext():
            try:
                wait_until(lambda: self._has_judged(count), f"judging {count} states")
            except TimeoutError as error:
                found = f"{len(self.judged_entries())} are judged, {self.unjudged()} wait in the journal"
                raise TimeoutError(f"{error}; {found}") from None

    def _has_judged(self, count: int) -> bool:
        return len(self.judged_entries()) >= count and not self.unjudged()

    def _successor(self) -> AbstractContextManager[object]:
        return nullcontext() if engines_of(self._pi.home) else self._pi.rpc()

    def files_with(self, text: str) -> list[Path]:
        """Files of this installation that hold the text, Pi's own session files aside."""
        sessions = self._pi.agent_dir / "sessions"
        files = [p for p in self._pi.root.rglob("*") if p.is_file() and sessions not in p.parents]
        needles = [text.encode(encoding) for encoding in ("utf-8", "utf-16-le")]
        return [path for path in files if any(needle in path.read_bytes() for needle in needles)]
