"""The commands about decision models: `clew judge evaluate|learn` and `clew calibrate fit|report|export`.

Thin, as all commands: parse, call the rooms, print. This is where the gate's saving rule meets `decide`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from clew.core.errors import InvalidInput, NotFound
from clew.learn_command import add_learn
from clew.train_command import add_train

if TYPE_CHECKING:
    from clew.config.load import Config
    from clew.core.ports import DecisionModel
    from clew.decide.builtin import Tier
    from clew.decide.calibration.sources import GatheredRows
    from clew.decide.evaluation.judging import JudgedRow
    from clew.decide.evaluation.labelled import LabelledRow, RowsKind
    from clew.decide.evaluation.view import Quality, Section
    from clew.decide.questionnaire import QuestionnaireKind

_TIERS = ("auto", "lexical", "encoder")
_TRUE_SHARE = 0.07
_PRECISION = 0.9
_FINGERPRINT = re.compile(r"[0-9a-f]{64}")


def add_decide_commands(commands: Any) -> None:
    """Add both commands to the command line."""
    _add_judge(commands)
    _add_calibrate(commands)


def _action(actions: Any, name: str, help_: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=help_, description=help_)
    parser.set_defaults(run=run)
    return parser


def _actions(commands: Any, name: str, help_: str) -> Any:
    parser = commands.add_parser(name, help=help_, description=help_)
    return parser.add_subparsers(title="actions", metavar="ACTION", required=True)


# -- judge ----------------------------------------------------------------------------------------------------------


def _add_judge(commands: Any) -> None:
    actions = _actions(
        commands, "judge", "measure the built-in judge or another decision model, or teach the built-in one"
    )
    parser = _action(actions, "evaluate", "ask a decision model about labelled rows and measure its answers", _evaluate)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="labelled rows (JSON lines)")
    parser.add_argument(
        "--split", choices=("all", "test"), default="all", help="measure all rows, or those marked test (default all)"
    )
    judge = parser.add_mutually_exclusive_group()
    judge.add_argument("--url", metavar="URL", help="evaluate the System One server there, not the built-in judge")
    judge.add_argument("--tier", choices=_TIERS, default="auto", help="tier of the built-in judge (default auto)")
    parser.add_argument(
        "--share",
        type=_share,
        default=_TRUE_SHARE,
        metavar="S",
        help="true share of messages worth saving (default .07)",
    )
    parser.add_argument("--progress", action="store_true", help="show progress even if stderr is not a terminal")
    _add_output(parser)
    add_learn(actions)
    add_train(actions)


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.add_argument("--plot", type=Path, metavar="SVG", help="write a reliability diagram into a new file")


def _evaluate(arguments: argparse.Namespace) -> int:
    from clew.decide.evaluation.json_lines import create_file, require_absent
    from clew.decide.evaluation.labelled import read_labelled, select_rows
    from clew.decide.evaluation.view import draw_sections, render_sections, sections_json

    if arguments.plot:
        require_absent(arguments.plot)
    files = [read_labelled(path) for path in arguments.files]
    config = _load_settings()
    model = _open_model(config, arguments.url, arguments.tier)
    chosen = {kind: select_rows(files, kind) for kind in dict.fromkeys(file.kind for file in files)}
    if arguments.split == "test":
        chosen = {kind: [row for row in rows if row.is_test] for kind, rows in chosen.items()}
    elif arguments.url is None and any(row.is_test for rows in chosen.values() for row in rows):
        _warn(["the files mark test rows; the built-in judge may have learned from the others (see --split test)"])
    if not any(chosen.values()):
        raise InvalidInput("None of the rows is marked as a test row.", "Leave --split out to measure all of them.")
    sections = [_measure(model, kind, rows, config, arguments) for kind, rows in chosen.items() if rows]
    _print(sections_json(sections) if arguments.json else render_sections(sections))
    if arguments.plot:
        create_file(arguments.plot, draw_sections(sections))
    problems = [(text, count) for section in sections for text, count in section.judging.problems.items()]
    _warn(f"{count} rows were not answered: {text}" for text, count in problems)
    return 1 if problems else 0


def _open_model(config: Config, url: str | None, tier: Tier) -> DecisionModel:
    """The model to measure: the server named, or the built-in judge with its weights loaded."""
    if url is None:
        return open_judge(tier)
    from clew.decide.system_one import SystemOneClient

    gate = config.gate
    # The key in the settings is meant for the server in the settings, and for no other.
    is_configured = "decisionModelUrl" in config.explicit and url.rstrip("/") == gate.decision_model_url.rstrip("/")
    key = gate.decision_model_key if is_configured else None
    server = SystemOneClient(url, model_id=gate.decision_model_id, api_key=key)
    _warn([server.warning] if server.warning else [])
    return server


def open_judge(tier: Tier) -> DecisionModel:
    """The built-in judge. The one place that knows its class."""
    from clew.decide.builtin import BuiltinJudge

    judge = BuiltinJudge(tier=tier)
    judge.warm_up()
    return judge


def _measure(
    model: DecisionModel, kind: RowsKind, rows: Sequence[LabelledRow], config: Config, arguments: argparse.Namespace
) -> Section:
    from clew.decide.evaluation.judging import judge_rows
    from clew.decide.evaluation.view import Section
    from clew.decide.questionnaire import find_in_force

    in_force = find_in_force(*questionnaire_of(kind, config))
    _warn(in_force.warnings)
    with _Progress(is_wanted=arguments.progress) as progress:
        judging = judge_rows(model, rows, in_force.questions, progress.show)
    quality = measure_quality(kind, judging.judged, config, arguments.share)
    return Section(kind=kind, judging=judging, quality=quality, address=arguments.url or "")


def measure_quality(kind: RowsKind, judged: Sequence[JudgedRow], config: Config, true_share: float) -> Quality:
    """What answers to rows of one kind are worth at the thresholds in force."""
    from clew.decide.evaluation import entries, states
    from clew.gate.rule import select
    from clew.gate.settings import GateSettings

    thresholds = _thresholds(config)
    if kind == "pairs":
        return entries.measure_pairs(judged, thresholds=thresholds, hard_drop=config.gate.hard_drop_threshold)
    if kind == "relevance":
        return entries.measure_relevance(judged, thresholds=thresholds)
    gate = GateSettings.from_config(config.gate).thresholds
    return states.measure_states(
        judged,
        rule=lambda decision: select(decision, gate).outcome == "selected",
        thresholds=thresholds,
        true_share=true_share,
    )


def questionnaire_of(kind: RowsKind, config: Config) -> tuple[QuestionnaireKind, Path | None]:
    """Which questionnaire rows of a kind are asked, and the person's own file for it."""
    from clew.decide.questionnaire import CONSOLIDATION, GATE, PAIRS

    gate = config.gate
    if kind == "states":
        return GATE, gate.questions_path
    return (PAIRS, gate.pair_questions_path) if kind == "pairs" else (CONSOLIDATION, gate.consolidate_questions_path)


def _thresholds(config: Config) -> Mapping[str, float]:
    """Question → the threshold in force."""
    gate = config.gate
    return {
        "has_secret": gate.secret_threshold,
        "is_session_scoped": gate.session_threshold,
        "is_durable": gate.durable_threshold,
        "is_failure": gate.failure_threshold,
        "same_fact": gate.same_fact_threshold,
        "still_relevant": gate.relevant_threshold,
    }


class _Progress:
    """A line on stderr that counts up, and is gone at the end, also when the person interrupts."""

    def __init__(self, *, is_wanted: bool) -> None:
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._is_wanted = is_wanted or self._is_terminal
        self._shown_percent = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_terminal and self._is_wanted:
            sys.stderr.write("\r\x1b[K")

    def show(self, done: int, total: int) -> None:
        """Show each percent on a terminal, and each tenth in a log."""
        percent = 100 * done // max(1, total)
        step = 1 if self._is_terminal else 10
        if not self._is_wanted or percent // step == self._shown_percent // step:
            return
        self._shown_percent = percent
        line = f"judged {done} of {total}"
        sys.stderr.write(f"\r{line}\x1b[K" if self._is_terminal else f"{line}\n")
        sys.stderr.flush()


# -- calibrate ------------------------------------------------------------------------------------------------------


def _add_calibrate(commands: Any) -> None:
    actions = _actions(commands, "calibrate", "make a decision model's probabilities honest")
    fit = _action(actions, "fit", "find the temperature of each type of question", _fit)
    _add_logs(fit)
    fit.add_argument("--output", type=Path, required=True, metavar="FILE", help="new file for the fit")
    fit.add_argument("--json", action="store_true", help="print JSON instead of text")
    report = _action(actions, "report", "measure stated probabilities on rows that were held out", _report)
    _add_logs(report)
    report.add_argument(
        "--fit", type=Path, metavar="FILE", help="judge this fit; without it one is made for the report"
    )
    report.add_argument(
        "--precision",
        type=_share,
        default=_PRECISION,
        metavar="P",
        help="wished for the suggested thresholds (default .9)",
    )
    _add_output(report)
    export = _action(actions, "export", "write the labelled rows in Rizzo Flow's format", _export)
    _add_logs(export)
    export.add_argument("--output", type=Path, required=True, metavar="FILE", help="new file for the rows")
    export.add_argument("--json", action="store_true", help="print JSON instead of text")


def _add_logs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "logs",
        nargs="*",
        type=Path,
        metavar="LOG",
        help="calibration logs, or rows of Rizzo Flow (default: the gate's log)",
    )
    parser.add_argument(
        "--fingerprint",
        type=_fingerprint,
        metavar="F",
        help="whose rows, when the log is of several models; its beginning is enough",
    )


def _load_settings() -> Config:
    """The settings in force, after what is wrong with them."""
    from clew.config.load import load_config

    config = load_config()
    _warn(config.warnings)
    return config


def _gather(arguments: argparse.Namespace, config: Config | None = None) -> GatheredRows:
    from clew.decide.calibration.log import LOG_NAME
    from clew.decide.calibration.sources import gather_rows
    from clew.decide.calibration.view import render_left_out

    logs = arguments.logs
    if not logs:
        log = (config or _load_settings()).gate.memory_dir / LOG_NAME
        if not log.exists():
            raise NotFound(
                f"There is no calibration log yet ({log}).",
                "This version of Clew does not write one yet; name a log, or rows of Rizzo Flow.",
            )
        logs = [log]
    gathered = gather_rows(logs, fingerprint=arguments.fingerprint)
    _warn(render_left_out(gathered.left_out))
    return gathered


def _fit(arguments: argparse.Namespace) -> int:
    from clew.decide.calibration.fit import write_fit
    from clew.decide.calibration.fitting import fit_temperatures, split_by_state
    from clew.decide.calibration.view import render_fit
    from clew.decide.evaluation.json_lines import require_absent

    require_absent(arguments.output)
    gathered = _gather(arguments)
    if gathered.rows and gathered.fingerprint is None:
        raise InvalidInput(
            "Rows of Rizzo Flow do not tell which model they are of.",
            "Add --fingerprint with what the server's /health names.",
        )
    if gathered.rows and not _FINGERPRINT.fullmatch(gathered.fingerprint or ""):
        raise InvalidInput(
            f'"{gathered.fingerprint}" is not a whole fingerprint (64 hexadecimal digits), and a fit holds for one model.',
            "Give --fingerprint as the server's /health names it.",
        )
    fit = fit_temperatures(split_by_state(gathered.rows)[0], gathered.fingerprint or "")
    write_fit(arguments.output, fit)
    _print(fit.as_json() if arguments.json else render_fit(fit, gathered))
    _warn([f"wrote {arguments.output}; see what it is worth: clew calibrate report --fit {arguments.output}"])
    return 0


def _report(arguments: argparse.Namespace) -> int:
    from clew.decide.calibration.fit import read_fit, require_fingerprint
    from clew.decide.calibration.report import report_calibration
    from clew.decide.calibration.view import draw_report, render_report, report_json
    from clew.decide.evaluation.json_lines import create_file, require_absent

    if arguments.plot:
        require_absent(arguments.plot)
    fit = read_fit(arguments.fit) if arguments.fit else None
    config = _load_settings()
    gathered = _gather(arguments, config)
    if fit and gathered.fingerprint is not None:
        require_fingerprint(fit, gathered.fingerprint)
    report = report_calibration(gathered.rows, fit=fit, thresholds=_thresholds(config), precision=arguments.precision)
    _print(report_json(report, gathered) if arguments.json else render_report(report, gathered))
    if arguments.plot:
        create_file(arguments.plot, draw_report(report))
    return 0


def _export(arguments: argparse.Namespace) -> int:
    from clew.decide.calibration.rows import encode_rows
    from clew.decide.evaluation.json_lines import create_file, require_absent, shown

    require_absent(arguments.output)
    gathered = _gather(arguments)
    if not gathered.rows:
        raise InvalidInput("There are no labelled rows to export.", "Answer some of the gate's proposals first.")
    create_file(arguments.output, encode_rows(gathered.rows))
    result = {"rows": len(gathered.rows), "fingerprint": gathered.fingerprint, "output": str(arguments.output)}
    of_model = f" of model {shown(gathered.fingerprint, 64)}" if gathered.fingerprint else ""
    _print(result if arguments.json else f"Wrote {len(gathered.rows)} rows{of_model} to {arguments.output}")
    return 0


# -- output ---------------------------------------------------------------------------------------------------------


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 1")
    return value


def _fingerprint(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty; name a model")
    return text.strip()


def _print(value: Any) -> None:
    import json

    print(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False))


def _warn(lines: Any) -> None:
    for line in lines:
        sys.stderr.write(f"clew: {line}\n")
