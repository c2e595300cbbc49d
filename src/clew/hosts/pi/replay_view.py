"""Shows a replay: a table per session for a person, or JSON lines for a program. Progress goes to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from clew.core.ports import MemoryStore
from clew.core.records import MemoryRecord, Outcome, Visibility
from clew.hosts.pi.replay import Replay, ReplayedState

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_STYLES: Mapping[Outcome, str] = {"saved": "green", "queued": "cyan", "vetoed": "red", "filtered": "dim"}
#: Narrower screens than this get a table without the columns for verdict and time.
_WIDE_COLUMNS = 84
#: Width for output that goes to a file or a pipe.
_PIPE_COLUMNS = 120
_MOST_SHOWN = 200
_MOST_HITS = 3


def show_json(replay: Replay, out: TextIO | None = None) -> None:
    """One line per judged state as soon as it is judged, and a last one with the totals."""
    out = out or sys.stdout
    for state in replay:
        print(json.dumps(state.as_json(), ensure_ascii=False), file=out, flush=True)
    print(json.dumps({"totals": replay.totals()}), file=out, flush=True)


def show_table(replay: Replay, paths: Sequence[Path], out: TextIO | None = None) -> None:
    """A table per session, then the totals and what could not be read.

    Args:
        paths: the session files of the replay, for the progress bar.
    """
    console = _open_console(out or sys.stdout)
    for path, states in groupby(_with_progress(replay, paths), key=lambda state: state.path):
        console.print(build_table(path, states, is_wide=console.width >= _WIDE_COLUMNS))
    for line in _closing_lines(replay):
        console.print(line, markup=False, highlight=False, soft_wrap=not console.is_terminal)


def show_kept(store: MemoryStore, questions: Sequence[str], out: TextIO | None = None) -> None:
    """What the store holds after the replay, and the best hits for each question."""
    console = _open_console(out or sys.stdout)
    memories = store.list(Visibility(everywhere=True), limit=_MOST_SHOWN)
    lines = [f"\nSaved: {len(memories)}", *(f"  {_describe(memory)}" for memory in reversed(memories))]
    for question in questions:
        hits = store.search(question, Visibility(everywhere=True), limit=_MOST_HITS).hits
        lines += [f"\n? {question}", *(f"  {hit.score:4.2f}  {_describe(hit.memory)}" for hit in hits)]
        lines += [] if hits else ["  nothing"]
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=not console.is_terminal)


def _describe(memory: MemoryRecord) -> str:
    from clew.core.text import display_text

    return f"[{memory.category}] {display_text(memory.text, 300)}"


def build_table(path: Path, states: Iterable[ReplayedState], *, is_wide: bool) -> Table:
    """The table of one session, a row per judged state."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(path.name), title_justify="left", expand=True)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("what you said", ratio=5)
    if is_wide:
        table.add_column("verdict", no_wrap=True)
    table.add_column("outcome", no_wrap=True)
    table.add_column("why", ratio=3)
    if is_wide:
        table.add_column("ms", justify="right", no_wrap=True)
    for state in states:
        verdict, time_ms = ([state.verdict], [f"{state.ms:.1f}"]) if is_wide else ([], [])
        cells = [str(state.turn or "-"), _first_words(state.excerpt), *verdict, state.outcome, state.reason, *time_ms]
        table.add_row(*map(Text, cells), style=_STYLES[state.outcome])
    return table


def _open_console(out: TextIO) -> Console:
    from rich.console import Console

    console = Console(file=out)
    return console if console.is_terminal else Console(file=out, width=_PIPE_COLUMNS)


def _first_words(excerpt: str) -> str:
    from clew.core.text import display_text

    return display_text(excerpt, 90)


def _closing_lines(replay: Replay) -> Iterator[str]:
    totals = replay.totals()
    outcomes = " · ".join(f"{totals[name]} {name}" for name in _STYLES)
    yield f"{totals['judged']} judged: {outcomes}   ({totals['ms_p50']} ms each)"
    if totals["passed_over"]:
        yield f"{totals['passed_over']} passed over: judged before, or without words of yours."
    if replay.problem or totals["waiting"]:
        yield f"{totals['waiting']} wait unjudged. {replay.problem or ''}".rstrip()
    for path, line in replay.broken_lines:
        yield f"{path}, line {line.line}: skipped, it {line.reason}."


def _with_progress(replay: Replay, paths: Sequence[Path]) -> Iterator[ReplayedState]:
    """The states of the replay, with a bar on stderr that counts how much of the files is done, by size."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    console = Console(stderr=True)
    sizes = {path: max(1, path.stat().st_size) for path in paths}
    columns: tuple[Any, ...] = (
        TextColumn("Judging"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task("", total=sum(sizes.values()))
        finished, current = 0, None
        for state in replay:
            if state.path != current:
                finished += sizes.get(current, 0) if current else 0
                current = state.path
            share = state.turn / max(1, state.turns)
            done = finished + sizes.get(state.path, 0) * share
            progress.update(task, completed=done, description=f"turn {state.turn} of {state.turns}")
            yield state
