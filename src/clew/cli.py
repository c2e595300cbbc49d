"""The `clew` command. Thin: each sub-command parses, calls one function of a room, and prints what it returns.

Exit codes: 0 done, 1 it could not be done (the reason is on stderr), 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clew import __version__
from clew.core.errors import ClewError
from clew.core.records import Candidate, Hit, MemoryRecord
from clew.decide_commands import add_decide_commands


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    if sys.stderr is None:  # closed by whoever started us: nobody hears the warnings, and that is no reason to fail
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open until the process ends
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that does not know a character is no reason to fail
    arguments = build_parser().parse_args(argv)
    try:
        code = int(arguments.run(arguments))
        if sys.stdout is not None:
            sys.stdout.flush()
    except ClewError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        _fail("interrupted")
        return 130
    except BrokenPipeError:
        _drop_output()  # the reader (head, less) has seen enough
        return 0
    except OSError as error:
        _drop_output()
        place = f" ({error.filename})" if error.filename else ""
        return _fail(f"{error.strerror or error}{place}")
    return code


def _fail(message: str) -> int:
    sys.stderr.write(f"clew: {message}\n")
    return 1


def _drop_output() -> None:
    """Keep Python from writing what is left in its buffer, and from complaining about it, at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def build_parser() -> argparse.ArgumentParser:
    """The whole command line; the docs are checked against it."""
    parser = argparse.ArgumentParser(prog="clew", description="Long-term memory for the Pi coding agent.")
    parser.add_argument("--version", action="version", version=f"clew {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_replay(commands)
    _add_search(commands)
    _add_remember(commands)
    _add_forget(commands)
    _add_list(commands)
    _add_status(commands)
    _add_questions(commands)
    _add_pi(commands)
    _add_serve(commands)
    add_decide_commands(commands)
    engine = commands.add_parser(
        "engine", help="speak with the Pi extension over stdin and stdout (Pi starts this itself)"
    )
    engine.set_defaults(run=_run_engine)
    return parser


def _command(commands: Any, name: str, help_: str, run: Any, *, has_data: bool = True) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=help_, description=help_)
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    if has_data:
        parser.add_argument(
            "--data-dir", type=Path, metavar="DIR", help="use DIR/memories.db instead of the configured database"
        )
    parser.set_defaults(run=run)
    return parser


# -- replay ---------------------------------------------------------------------------------------------------------


def _add_replay(commands: Any) -> None:
    parser = _command(commands, "replay", "judge Pi session files turn by turn, as the gate would", _run_replay)
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="FILE|FOLDER", help="Pi session files (JSONL) or folders of them"
    )
    parser.add_argument(
        "--review", choices=("confirm", "auto", "off"), help="review mode, instead of the configured one"
    )
    parser.add_argument(
        "--ask", action="append", default=[], metavar="QUESTION", help="ask this of what was kept (repeatable)"
    )


def _run_replay(arguments: argparse.Namespace) -> int:
    from clew.app import replay_sessions

    return replay_sessions(
        arguments.paths,
        data_dir=arguments.data_dir,
        as_json=arguments.json,
        review_mode=arguments.review,
        questions=arguments.ask,
    )


# -- memories -------------------------------------------------------------------------------------------------------


def _add_place(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--here", action="store_true", help=text)


def _add_search(commands: Any) -> None:
    parser = _command(commands, "search", "find memories by words and meaning", _run_search)
    parser.add_argument("query", nargs="+", help="what to look for")
    parser.add_argument("--limit", type=_count, default=10, metavar="N", help="most hits (default 10)")
    _add_place(parser, "only what a Pi session in this folder would see")


def _run_search(arguments: argparse.Namespace) -> int:
    from clew.app import open_store, visibility

    with open_store(data_dir=arguments.data_dir, is_reading=True) as store:
        result = store.search(" ".join(arguments.query), visibility(here=arguments.here), limit=arguments.limit)
    if arguments.json:
        _print_json({"mode": result.mode, "reason": result.reason, "hits": [_hit_row(hit) for hit in result.hits]})
        return 0
    for hit in result.hits:
        print(f"{hit.relevance:4.2f}  {_memory_line(hit.memory)}")
    if not result.hits:
        print("Nothing found.")
    if result.reason:
        how = "full text alone" if result.mode == "lexical" else "note"
        print(f"({how}: {result.reason})", file=sys.stderr)
    return 0


def _add_remember(commands: Any) -> None:
    parser = _command(commands, "remember", "save a memory", _run_remember)
    parser.add_argument("text", nargs="+", help="the statement to keep")
    parser.add_argument(
        "--category", default="memory", help="memory, user, project, failure or a word of yours (default memory)"
    )
    _add_place(parser, "for this folder's project only (default: everywhere)")


def _run_remember(arguments: argparse.Namespace) -> int:
    from clew.app import current_project, open_store
    from clew.core.records import NewMemory, Provenance

    project = current_project() if arguments.here else None
    with open_store(data_dir=arguments.data_dir) as store:
        added = store.add(
            NewMemory(
                text=" ".join(arguments.text),
                category=arguments.category,
                scope="project" if project else "user",
                project_key=project.key if project else None,
                provenance=Provenance(origin="cli"),
            )
        )
    if arguments.json:
        _print_json({"id": added.memory.id, "outcome": added.outcome})
    else:
        print(f"{'Saved' if added.outcome == 'saved' else 'Already known'}: {_memory_line(added.memory)}")
    return 0


def _add_forget(commands: Any) -> None:
    parser = _command(commands, "forget", "delete a memory for good", _run_forget)
    parser.add_argument("query", nargs="+", help="id of the memory, or words that only it matches")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _run_forget(arguments: argparse.Namespace) -> int:
    from clew.app import open_store
    from clew.core.records import Visibility

    query = " ".join(arguments.query)
    with open_store(data_dir=arguments.data_dir, is_reading=True) as store:
        exact = store.get(query)
        found = [exact] if exact else list(store.find(query, Visibility(everywhere=True)))
        if len(found) != 1:
            if arguments.json:
                _print_json({"forgotten": None, "matches": [_memory_row(memory) for memory in found]})
            else:
                print("Nothing matches." if not found else "Several match; forget one by its id:", file=sys.stderr)
                for memory in found:
                    print(f"{memory.id}  {_memory_line(memory)}")
            return 1
        if not arguments.yes and not _confirm(f"Forget for good: {_memory_line(found[0])}"):
            print("Kept.", file=sys.stderr)
            return 1
        store.forget(found[0].id)
    _print_json({"forgotten": found[0].id}) if arguments.json else print(f"Forgotten: {found[0].id}")
    return 0


def _confirm(question: str) -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        raise ClewError("There is no terminal to ask for confirmation.", "Add --yes.")
    return input(f"{question}\n[y/N] ").strip().lower() in {"y", "yes"}


def _add_list(commands: Any) -> None:
    parser = _command(commands, "list", "list memories, newest first", _run_list)
    parser.add_argument("--limit", type=_count, default=50, metavar="N", help="most rows (default 50)")
    parser.add_argument("--inbox", action="store_true", help="list what waits for review instead")
    _add_place(parser, "only what a Pi session in this folder would see")


def _run_list(arguments: argparse.Namespace) -> int:
    from clew.app import open_store, visibility

    with open_store(data_dir=arguments.data_dir, is_reading=True) as store:
        if arguments.inbox:
            rows = [_candidate_row(candidate) for candidate in store.inbox()][: arguments.limit]
            lines = [f"[{row['category']}] {row['text']}  ({row['reason']})" for row in rows]
        else:
            memories = store.list(visibility(here=arguments.here), limit=arguments.limit)
            rows = [_memory_row(memory) for memory in memories]
            lines = [f"{memory.id}  {_day(memory.created_at_ms)}  {_memory_line(memory)}" for memory in memories]
    if arguments.json:
        _print_json(rows)
    else:
        print("\n".join(lines) or "Nothing yet.")
    return 0


# -- status and Pi --------------------------------------------------------------------------------------------------


def _add_status(commands: Any) -> None:
    _command(commands, "status", "show what judges, what is stored, and which settings are in force", _run_status)


def _run_status(arguments: argparse.Namespace) -> int:
    from clew.app import gather_status
    from clew.hosts.pi.status import render_status, status_json

    facts = gather_status(data_dir=arguments.data_dir)
    if arguments.json:
        _print_json(status_json(facts))
    else:
        print(render_status(facts))
    return 1 if facts.store_problem else 0


def _add_questions(commands: Any) -> None:
    help_ = "print the questions that the decision model is asked, and the files they come from"
    _command(commands, "questions", help_, _run_questions, has_data=False)


def _run_questions(arguments: argparse.Namespace) -> int:
    from clew.config.load import load_config
    from clew.decide.questionnaire import CONSOLIDATION, GATE, PAIRS, find_in_force
    from clew.decide.questions_view import questions_json, render_questions

    config = load_config()
    for warning in config.warnings:
        print(f"clew: {warning}", file=sys.stderr)
    gate = config.gate
    in_force = [
        find_in_force(GATE, gate.questions_path),
        find_in_force(CONSOLIDATION, gate.consolidate_questions_path),
        find_in_force(PAIRS, gate.pair_questions_path),
    ]
    if arguments.json:
        _print_json(questions_json(in_force))
    else:
        print(render_questions(in_force))
    return 0


def _add_pi(commands: Any) -> None:
    pi = commands.add_parser(
        "pi", help="put Clew into Pi, or take it out", description="Put Clew into Pi, or take it out."
    )
    actions = pi.add_subparsers(title="actions", metavar="ACTION", required=True)
    for name, help_ in (
        ("install", "copy the extension into Pi's agent directory"),
        ("uninstall", "remove it from there"),
        ("status", "show whether and how Pi will load it"),
        ("path", "print where the extension lies, for `pi --extension`"),
    ):
        parser = _command(actions, name, help_, _run_pi, has_data=False)
        parser.add_argument(
            "--agent-dir",
            type=Path,
            metavar="DIR",
            help="Pi's agent directory (default: $PI_CODING_AGENT_DIR or ~/.pi/agent)",
        )
        parser.set_defaults(action=name)


def _run_pi(arguments: argparse.Namespace) -> int:
    from clew.config.load import load_config
    from clew.hosts.pi.install_view import run_action

    report = run_action(arguments.action, (arguments.agent_dir or load_config().agent_dir).absolute())
    if arguments.json:
        _print_json(report.json)
    else:
        print("\n".join(report.lines))
    return 0 if report.is_fine else 1


def _add_serve(commands: Any) -> None:
    help_ = "answer System One requests over HTTP with the built-in judge"
    parser = commands.add_parser("serve", help=help_, description=help_)
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="listen here (default 127.0.0.1)")
    parser.add_argument("--port", type=_port, default=8017, metavar="N", help="default 8017; 0 takes a free one")
    parser.add_argument(
        "--tier", choices=("auto", "lexical", "encoder"), default="auto", help="of the judge (default auto)"
    )
    parser.add_argument("--key-env", metavar="NAME", help="ask clients for the key that this variable holds")
    parser.add_argument(
        "--calibration", type=Path, metavar="FILE", help="apply the temperatures of this fit (see `clew calibrate`)"
    )
    parser.set_defaults(run=_run_serve)


def _run_serve(arguments: argparse.Namespace) -> int:
    from clew.app import serve_decisions

    return serve_decisions(
        arguments.host,
        arguments.port,
        tier=arguments.tier,
        key_variable=arguments.key_env,
        calibration=arguments.calibration,
    )


def _run_engine(_: argparse.Namespace) -> int:
    from clew.app import run_engine

    if sys.stdin is None or sys.stdout is None:
        raise ClewError("The engine speaks over stdin and stdout, and one of them is closed.", "Pi starts it itself.")
    return run_engine()


# -- output ---------------------------------------------------------------------------------------------------------


def _count(text: str) -> int:
    value = int(text) if text.isdecimal() else 0
    if not 1 <= value <= 10_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to 10000")
    return value


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) <= 65_535):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return int(text)


def _print_json(value: Any) -> None:
    import json

    print(json.dumps(value, ensure_ascii=False))


def _memory_line(memory: MemoryRecord) -> str:
    from clew.core.text import display_text

    place = f" @{memory.project_key}" if memory.scope == "project" else ""
    return f"[{memory.category}{place}] {display_text(memory.text, 300)}"


def _day(moment_ms: int) -> str:
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(moment_ms / 1000, tz=UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return "no date   "  # written by something else


def _memory_row(memory: MemoryRecord) -> dict[str, Any]:
    names = ("id", "text", "category", "scope", "project_key", "session_id", "speaker", "state", "pinned", "seen_count",
             "created_at_ms", "updated_at_ms", "retrieval_count")  # fmt: skip
    return {name: getattr(memory, name) for name in names}


def _hit_row(hit: Hit) -> dict[str, Any]:
    return {**_memory_row(hit.memory), "score": round(hit.score, 4), "relevance": round(hit.relevance, 4)}


def _candidate_row(candidate: Candidate) -> dict[str, Any]:
    names = ("id", "text", "category", "scope", "project_key", "reason", "queued_at_ms", "seen_count")
    return {**{name: getattr(candidate, name) for name in names}, "scores": dict(candidate.scores)}


if __name__ == "__main__":
    sys.exit(main())
