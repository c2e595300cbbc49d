"""Slash commands: /gate-status, /memory-review, /noodle."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence

from clew.core.asks import classify_statement
from clew.core.errors import ClewError
from clew.core.ports import MemoryStore
from clew.core.records import MemoryRecord, NewMemory, Provenance, Visibility
from clew.core.text import display_text
from clew.hosts.pi.protocol import CommandParams
from clew.hosts.pi.ui import Ui
from clew.memory.filters import REVIEWED_MARK
from clew.memory.inbox import Inbox, mark_reviewed
from clew.memory.lines import render_line, render_listed, short_id
from clew.memory.review import list_waiting, review_inbox
from clew.memory.saved_review import find_unreviewed, list_unreviewed, may_forget, review_saved

_FOUND_LIMIT = 8
_LISTED = 20
_PAGE = 500
_SHORT_ID = re.compile(r"[0-9a-f]{8}")

NOODLE_USAGE = """\
/noodle                  show the settings in force
/noodle list             show the newest memories
/noodle search <query>   show the memories that match
/noodle remember <text>  save a memory
/noodle forget <query>   find a memory and delete it for good
/noodle edit <query>     find a memory and change it
/noodle review           look through what was saved without asking, and what waits"""


class Commands:
    """Carries out slash commands of one session. Nothing raises for what a person typed."""

    def __init__(
        self,
        ui: Ui,
        memories: MemoryStore,
        inbox: Inbox,
        *,
        session_id: str,
        project_key: str | None,
        gate_status: Callable[[], str],
        noodle_status: Callable[[], str],
        clock_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._ui = ui
        self._memories = memories
        self._inbox = inbox
        self._session_id = session_id
        self._project_key = project_key
        self._visible = Visibility(project_key=project_key)
        self._noodle_status = noodle_status
        self._clock_ms = clock_ms
        self._commands: dict[str, Callable[[str], None]] = {
            "gate-status": lambda _: ui.notify(gate_status()),
            "memory-review": lambda _: self._review_inbox(),
            "noodle": self._noodle,
        }
        self._noodle_commands: dict[str, Callable[[str], None]] = {
            "list": lambda _: self._list(),
            "search": self._search,
            "remember": self._remember,
            "forget": self._forget,
            "edit": self._edit,
            "review": lambda _: self._review(),
        }

    def run(self, params: CommandParams) -> None:
        """Carry out a command; what goes wrong is shown."""
        command = self._commands.get(params.name)
        if command is None:
            self._ui.notify(f"Clew has no command /{params.name}.", "warning")
            return
        try:
            command(params.args.strip())
        except ClewError as error:
            self._ui.notify(str(error), "warning")

    def _review_inbox(self) -> None:
        review_inbox(self._ui, self._inbox, project_key=self._project_key)

    def _noodle(self, args: str) -> None:
        name, _, rest = args.partition(" ")
        if not name:
            self._ui.notify(self._noodle_status())
        elif name in self._noodle_commands:
            self._noodle_commands[name](rest.strip())
        else:
            self._ui.notify(f"Unknown: /noodle {display_text(name, 40)}\n{NOODLE_USAGE}", "warning")

    def _list(self) -> None:
        count = self._memories.count(self._visible)
        if not count:
            self._ui.notify("Nothing is remembered here yet.")
            return
        more = f"… and {count - _LISTED} more: /noodle search <query>" if count > _LISTED else ""
        head = f"{count} {'memory' if count == 1 else 'memories'}, newest first:"
        self._show(head, self._memories.list(self._visible, limit=_LISTED), more)

    def _search(self, query: str) -> None:
        if not query:
            self._ui.notify("Usage: /noodle search <query>")
            return
        found = self._find(query, limit=_LISTED + 1)
        asked = repr(display_text(query, 40))
        if not found:
            self._ui.notify(f"No memory matches {asked}.")
            return
        more = "… and more: use words that fewer memories hold" if len(found) > _LISTED else ""
        self._show(f"Memories that match {asked}:", found[:_LISTED], more)

    def _show(self, head: str, memories: Sequence[MemoryRecord], more: str) -> None:
        rows = [f"  {render_listed(memory, self._clock_ms())}" for memory in memories]
        self._ui.notify("\n".join([head, *rows, *([f"  {more}"] if more else [])]))

    def _find(self, query: str, *, limit: int) -> Sequence[MemoryRecord]:
        """Memories that the person means by words, an id, or the short id that lists show."""
        found = self._by_short_id(query) if _SHORT_ID.fullmatch(query) else []
        return found or self._memories.find(query, self._visible, limit=limit)

    def _by_short_id(self, wanted: str) -> list[MemoryRecord]:
        found: list[MemoryRecord] = []
        offset = 0
        while page := self._memories.list(self._visible, limit=_PAGE, offset=offset):
            found += [memory for memory in page if short_id(memory) == wanted]
            offset += len(page)
        return found

    def _remember(self, text: str) -> None:
        if not text:
            self._ui.notify("Usage: /noodle remember <text>")
            return
        place = classify_statement(text)
        scope = place.scope if self._project_key else "user"
        added = self._memories.add(
            NewMemory(
                text=text,
                category=place.category,
                scope=scope,
                project_key=self._project_key if scope == "project" else None,
                metadata={"source": "manual_command", "auto_saved": False},
                provenance=Provenance(origin="command", session_id=self._session_id),
            )
        )
        # What the agent had saved has the person's word now.
        memory = mark_reviewed(self._memories, added.memory)
        known = " (known already)" if added.outcome == "duplicate" else ""
        self._ui.notify(f"Remembered{known}: {render_line(memory)}")

    def _forget(self, query: str) -> None:
        memory = self._pick("forget", query)
        if memory is None or not may_forget(self._ui, memory):
            return
        self._memories.forget(memory.id)
        self._ui.notify(f"Forgotten: {render_line(memory)}")

    def _edit(self, query: str) -> None:
        if "editor" not in self._ui.capabilities:
            self._ui.notify("/noodle edit needs an interactive session of Pi.", "warning")
            return
        memory = self._pick("edit", query)
        if memory is None:
            return
        text = self._ui.editor("Edit the memory", memory.text)
        if text is None or not text.strip() or text.strip() == memory.text:
            self._ui.notify("Nothing changed.")
            return
        metadata = {**memory.metadata, "source": "manual_edit", **REVIEWED_MARK}
        changed = self._memories.update(memory.id, text=text, metadata=metadata)
        self._ui.notify(f"Changed: {render_line(changed)}")

    def _pick(self, verb: str, query: str) -> MemoryRecord | None:
        """The memory that the person means; None after they were told why there is none."""
        if not query:
            self._ui.notify(f"Usage: /noodle {verb} <query>")
            return None
        found = self._find(query, limit=_FOUND_LIMIT)
        if not found:
            self._ui.notify(f"No memory matches {display_text(query, 40)!r}.")
            return None
        if "select" in self._ui.capabilities:
            return self._choose(f"Which memory to {verb}?", found)
        # Hits by meaning alone are good enough to choose from, not to act on.
        named = [memory for memory in found if _is_named(memory, query)]
        if len(named) == 1:
            return named[0]
        listed = "\n".join(f"  {render_line(memory)}" for memory in found)
        self._ui.notify(f"Which one? Use words that stand in only one of these:\n{listed}", "warning")
        return None

    def _choose(self, title: str, memories: Sequence[MemoryRecord]) -> MemoryRecord | None:
        by_label = _labelled(memories)
        choice = self._ui.select(title, list(by_label))
        return by_label.get(choice) if choice is not None else None

    def _review(self) -> None:
        """What was saved without asking, one choice at a time, then what waits."""
        saved = find_unreviewed(self._memories, self._visible)
        waiting = self._inbox.waiting()
        if not saved and not waiting:
            self._ui.notify("Nothing was saved without asking you, and nothing waits.")
        elif "select" not in self._ui.capabilities:
            parts = [list_unreviewed(saved)] if saved else []
            parts += [list_waiting(waiting, project_key=self._project_key)] if waiting else []
            self._ui.notify("\n".join(parts))
        else:
            review_saved(self._ui, self._memories, saved)
            if waiting:
                self._review_inbox()


def _is_named(memory: MemoryRecord, query: str) -> bool:
    return query in {memory.id, short_id(memory)} or query.casefold() in memory.text.casefold()


def _labelled(memories: Sequence[MemoryRecord]) -> dict[str, MemoryRecord]:
    """Memories by the line that stands for them in a dialog; numbered, since two may read alike."""
    return {f"{number}. {render_line(memory)}": memory for number, memory in enumerate(memories, start=1)}
