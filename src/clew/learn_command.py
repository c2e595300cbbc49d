"""The command `clew judge learn`: the built-in judge learns from the person's own answers, and unlearns."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.core.errors import NotFound

if TYPE_CHECKING:
    from clew.decide.personal.answers import Answers
    from clew.decide.personal.versions import PersonalFile

_HELP = "let the built-in judge learn from your answers, if that makes it better"


def add_learn(actions: Any) -> None:
    """Add the command to the actions of `clew judge`."""
    parser: argparse.ArgumentParser = actions.add_parser("learn", help=_HELP, description=_HELP)
    parser.add_argument("logs", nargs="*", type=Path, metavar="LOG", help="calibration logs (default: the gate's log)")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--dry-run", action="store_true", help="learn and measure, and write nothing")
    mode.add_argument("--undo", action="store_true", help="back to the version before, at last to the shipped judge")
    mode.add_argument("--status", action="store_true", help="show what is in force and how many answers there are")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from clew.config.load import load_config
    from clew.decide.personal.scoring import read_base_fingerprint
    from clew.decide.personal.versions import FILE_NAME, read_versions

    config = load_config()
    _warn(config.warnings)
    folder = config.gate.memory_dir
    file = read_versions(folder / FILE_NAME, read_base_fingerprint())
    if arguments.undo:
        return _undo(file, as_json=arguments.json)
    _warn([file.problem] if file.problem else [])
    logs = arguments.logs or _find_log(folder, must_exist=not arguments.status)
    answers = _read(logs, file)
    if arguments.status:
        return _show_status(file, answers, as_json=arguments.json)
    return _learn(file, answers, arguments)


def _find_log(folder: Path, *, must_exist: bool) -> list[Path]:
    from clew.decide.calibration.log import LOG_NAME

    log = folder / LOG_NAME
    if log.exists():
        return [log]
    if must_exist:
        raise NotFound(
            f"There is no calibration log yet ({log}).",
            "This version of Clew does not write one yet; name a log that you have.",
        )
    return []


def _read(logs: Iterable[Path], file: PersonalFile) -> Answers:
    from clew.decide.calibration.view import render_left_out
    from clew.decide.personal.answers import read_answers

    answers = read_answers(logs, {file.base_fingerprint, *file.fingerprints})
    _warn(render_left_out(answers.left_out))
    return answers


def _learn(file: PersonalFile, answers: Answers, arguments: argparse.Namespace) -> int:
    import time

    from clew.decide.personal.learning import learn
    from clew.decide.personal.scoring import read_fingerprint
    from clew.decide.personal.versions import Version, add_version
    from clew.decide.personal.view import lesson_json, render_lesson

    lesson = learn(answers.states, file.base_fingerprint, file.present.adjustment if file.present else None)
    is_written = lesson.adjustment is not None and not arguments.dry_run
    if lesson.adjustment and is_written:
        facts = {"learned_at_ms": time.time_ns() // 1_000_000, "states": len(answers.states)}
        version = Version(adjustment=lesson.adjustment, facts=facts)
        add_version(file, version, read_fingerprint(lesson.adjustment))
    if arguments.json:
        _print_json(lesson_json(lesson, answers.left_out, is_written=is_written))
    else:
        print(render_lesson(lesson, is_written=is_written))
    return 0


def _undo(file: PersonalFile, *, as_json: bool) -> int:
    from clew.decide.personal.versions import remove_version
    from clew.decide.personal.view import describe_version

    present = remove_version(file)
    if as_json:
        _print_json({"fingerprint": present.adjustment.fingerprint if present else file.base_fingerprint})
    else:
        print(f"In force now: {describe_version(present)}")
    return 0


def _show_status(file: PersonalFile, answers: Answers, *, as_json: bool) -> int:
    from clew.decide.personal.learning import count_answers
    from clew.decide.personal.view import file_json, render_answers, render_file

    counts = count_answers(answers.states)
    if as_json:
        _print_json(file_json(file, counts))
    else:
        print("\n".join([*render_file(file), "", *render_answers(counts)]))
    return 0


def _print_json(value: Any) -> None:
    import json

    print(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _warn(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stderr.write(f"clew: {line}\n")
