"""Slash commands: /gate-status, /memory-review, /noodle."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clew.core.asks import find_ask
from clew.core.errors import ClewError
from clew.core.ports import MemoryStore
from clew.core.records import MemoryRecord, NewMemory, Provenance, Visibility
from clew.core.text import display_text
from clew.hosts.pi.protocol import CommandParams
from clew.hosts.pi.ui import Ui
from clew.memory.filters import is_auto_saved
from clew.memory.inbox import Inbox
from clew.memory.review import list_waiting, review_inbox

_LINE_CHARS = 90
_FOUND_LIMIT = 8
_LISTED_SAVED = 10
_LOOK_BACK = 200
_DONE, _KEEP, _DELETE = "Done", "Keep", "Delete"

NOODLE_USAGE = """\
/noodle                  show the settings in force
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
    ) -> None:
        self._ui = ui
        self._memories = memories
        self._inbox = inbox
        self._session_id = session_id
        self._project_key = project_key
        self._visible = Visibility(project_key=project_key)
        self._noodle_status = noodle_status
        self._commands: dict[str, Callable[[str], None]] = {
            "gate-status": lambda _: ui.notify(gate_status()),
            "memory-review": lambda _: self._review_inbox(),
            "noodle": self._noodle,
        }
        self._noodle_commands: dict[str, Callable[[str], None]] = {
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

    def _remember(self, text: str) -> None:
        if not text:
            self._ui.notify("Usage: /noodle remember <text>")
            return
        # The same rules as for "remember that …" in a message say where it belongs.
        ask = find_ask(f"Remember that {text}")
        scope = ask.scope if ask and self._project_key else "user"
        added = self._memories.add(
            NewMemory(
                text=text,
                category=ask.category if ask else "memory",
                scope=scope,
                project_key=self._project_key if scope == "project" else None,
                metadata={"source": "manual_command", "auto_saved": False},
                provenance=Provenance(origin="command", session_id=self._session_id),
            )
        )
        known = " (known already)" if added.outcome == "duplicate" else ""
        self._ui.notify(f"Remembered{known}: {_line(added.memory)}")

    def _forget(self, query: str) -> None:
        memory = self._pick("forget", query)
        if memory is None:
            return
        if "confirm" in self._ui.capabilities and not self._ui.confirm("Forget this for good?", _line(memory)):
            return
        self._memories.forget(memory.id)
        self._ui.notify(f"Forgotten: {_line(memory)}")

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
        changed = self._memories.update(
            memory.id, text=text, metadata={**memory.metadata, "source": "manual_edit", "auto_saved": False}
        )
        self._ui.notify(f"Changed: {_line(changed)}")

    def _pick(self, verb: str, query: str) -> MemoryRecord | None:
        """The memory that the person means; None after they were told why there is none."""
        if not query:
            self._ui.notify(f"Usage: /noodle {verb} <query>")
            return None
        found = self._memories.find(query, self._visible, limit=_FOUND_LIMIT)
        if not found:
            self._ui.notify(f"No memory matches {display_text(query, 40)!r}.")
            return None
        if "select" in self._ui.capabilities:
            return self._choose(f"Which memory to {verb}?", found)
        # Hits by meaning alone are good enough to choose from, not to act on.
        named = [memory for memory in found if query == memory.id or query.casefold() in memory.text.casefold()]
        if len(named) == 1:
            return named[0]
        listed = "\n".join(f"  {_line(memory)}" for memory in found)
        self._ui.notify(f"Which one? Use words that stand in only one of these:\n{listed}", "warning")
        return None

    def _choose(self, title: str, memories: Sequence[MemoryRecord]) -> MemoryRecord | None:
        by_label = _labelled(memories)
        choice = self._ui.select(title, list(by_label))
        return by_label.get(choice) if choice is not None else None

    def _review(self) -> None:
        """What was saved without asking, one choice at a time, then what waits."""
        saved = [memory for memory in self._memories.list(self._visible, limit=_LOOK_BACK) if is_auto_saved(memory)]
        saved = saved[:_LISTED_SAVED]
        waiting = self._inbox.waiting()
        if not saved and not waiting:
            self._ui.notify("Nothing was saved without asking, and nothing waits.")
        elif "select" not in self._ui.capabilities:
            listed = [f"  {label}" for label in _labelled(saved)]
            parts = ["Saved without asking:", *listed] if listed else []
            parts += [list_waiting(waiting, project_key=self._project_key)] if waiting else []
            self._ui.notify("\n".join(parts))
        else:
            self._review_saved(saved)
            if waiting:
                self._review_inbox()

    def _review_saved(self, saved: list[MemoryRecord]) -> None:
        deleted = 0
        while saved:
            by_label = _labelled(saved)
            choice = self._ui.select("Saved without asking", [*by_label, _DONE])
            if choice is None or choice == _DONE:
                break
            memory = by_label[choice]
            answer = self._ui.select(f"{_line(memory)}", [_KEEP, _DELETE])
            if answer is None:
                continue
            if answer == _DELETE:
                self._memories.forget(memory.id)
                deleted += 1
            saved = [other for other in saved if other.id != memory.id]
        if deleted:
            self._ui.notify(f"{deleted} deleted.")


def _labelled(memories: Sequence[MemoryRecord]) -> dict[str, MemoryRecord]:
    """Memories by the line that stands for them in a dialog; numbered, since two may read alike."""
    return {f"{number}. {_line(memory)}": memory for number, memory in enumerate(memories, start=1)}


def _line(memory: MemoryRecord) -> str:
    return f"[{display_text(memory.category, 20)}] {display_text(memory.text, _LINE_CHARS)}"
