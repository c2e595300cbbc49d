"""Shows a replay: a table per session for a person, or JSON lines for a program. Progress goes to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from clew.core.ports import MemoryStore
from clew.core.records import Candidate, Outcome, Visibility
from clew.hosts.pi.replay import Replay, ReplayedState

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_STYLES: Mapping[Outcome, str] = {"saved": "green", "queued": "cyan", "vetoed": "red", "filtered": "dim"}
#: Narrower screens than this get a table without the columns for verdict and time.
_WIDE_COLUMNS = 84
#: Width for output that goes to a file or a pipe.
_PIPE_COLUMNS = 120
_EVERYWHERE = Visibility(everywhere=True)
_MAX_KEPT = 40
_MAX_HITS = 3
_MEMORY_CHARS = 300


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


def show_kept(
    memories: MemoryStore,
    questions: Sequence[str] = (),
    *,
    waiting: Sequence[Candidate] = (),
    min_relevance: float = 0.0,
    out: TextIO | None = None,
) -> None:
    """What the store holds after a replay, newest last, and what it finds for the questions.

    Args:
        waiting: candidates that wait for review.
        min_relevance: hits below are not shown, as recall would not take them.
    """
    console = _open_console(out or sys.stdout)
    kept = memories.list(_EVERYWHERE, limit=_MAX_KEPT)[::-1]
    more = memories.count(_EVERYWHERE) - len(kept)
    lines = [_memory_line(memory.category, memory.text) for memory in kept]
    _show_block(console, "Saved", [*lines, *([f"… and {more} more"] if more else [])])
    if waiting:
        shown = [_memory_line(item.category, item.text) for item in waiting[:_MAX_KEPT]]
        _show_block(console, "Waiting for your review", shown)
    for question in questions:
        hits = memories.search(question, _EVERYWHERE, limit=_MAX_HITS, min_relevance=min_relevance).hits
        found = [f"{hit.relevance:.2f}  {_memory_line(hit.memory.category, hit.text)}" for hit in hits]
        _show_block(console, f"? {question}", found)


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


def _show_block(console: Console, title: str, lines: Sequence[str]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    console.print()
    console.print(Text(title, style="bold"))
    for line in lines or ["nothing"]:
        console.print(Padding(Text(line), (0, 0, 0, 2), expand=False))


def _memory_line(category: str, text: str) -> str:
    from clew.core.text import display_text

    return f"[{category}] {display_text(text, _MEMORY_CHARS)}"


def _open_console(out: TextIO) -> Console:
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would end the process with an error

    console = Screen(file=out)
    return console if console.is_terminal else Screen(file=out, width=_PIPE_COLUMNS)


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
