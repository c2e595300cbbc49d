"""Builds the real objects, once, from the settings: store, embedder, decision model, gate, session.

Nothing heavy is imported before it is needed, so that a command pays only for what it uses.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from clew.config.load import Config, load_config
from clew.config.project import Project, identify_project
from clew.core.errors import ClewError, InvalidInput, SettingsError
from clew.core.records import Visibility

if TYPE_CHECKING:
    from clew.core.decisions import Question
    from clew.core.ports import DecisionModel
    from clew.decide.builtin import Tier
    from clew.decide.choose import OpenedModel
    from clew.gate.evaluation import Gate
    from clew.hosts.pi.bridge import PiSession
    from clew.hosts.pi.protocol import InitializeParams
    from clew.hosts.pi.session_file import SessionFile
    from clew.hosts.pi.status import ModelReport, StatusFacts
    from clew.hosts.pi.ui import Ui
    from clew.memory.inbox import ReviewMode
    from clew.store.embedder import Embedder
    from clew.store.store import Store

DATABASE_NAME = "memories.db"
_LOAD_LIMIT_S = 10


# -- the store ------------------------------------------------------------------------------------------------------


def open_store(
    path: Path | None = None, *, data_dir: Path | None = None, config: Config | None = None, is_reading: bool = False
) -> Store:
    """Open a database: the file named, `memories.db` of the folder named, or the configured one.

    Args:
        is_reading: nothing is to be written, so that a folder that was named and holds no database is a mistake.

    Raises:
        StoreError: the file cannot be used.
    """
    from clew.store.embedder import BuiltinEmbedder
    from clew.store.store import Store

    must_exist = is_reading and data_dir is not None
    return Store.open(path or database_path(data_dir, config), embedder=BuiltinEmbedder(), must_exist=must_exist)


def database_path(data_dir: Path | None = None, config: Config | None = None) -> Path:
    """Where the database lies."""
    return data_dir / DATABASE_NAME if data_dir else (config or load_config()).noodle.db_path


def current_project() -> Project:
    """The project of the folder that the command was started in."""
    return identify_project(Path.cwd())


def visibility(*, here: bool) -> Visibility:
    """What a command looks at: everything, or what a session in this folder would see."""
    return Visibility(project_key=current_project().key) if here else Visibility(everywhere=True)


def describe_search(embedder: Embedder) -> str:
    """One line on how memories are found now."""
    if embedder.ready():
        return f"words and meaning ({embedder.signature}, offline)"
    return f"words and meaning once {embedder.signature} is loaded" + (
        f"; {embedder.problem}" if embedder.problem else ""
    )


# -- the decision model ---------------------------------------------------------------------------------------------


def open_model(config: Config) -> OpenedModel:
    """The decision model that the settings ask for; see `decide.choose`."""
    from clew.decide.choose import open_decision_model
    from clew.decide.personal.versions import FILE_NAME

    return open_decision_model(
        url=config.gate.decision_model_url,
        url_is_explicit="decisionModelUrl" in config.explicit,
        model_id=config.gate.decision_model_id,
        api_key=config.gate.decision_model_key,
        personal_path=config.gate.memory_dir / FILE_NAME,
    )


def _open_ready_model(config: Config) -> OpenedModel:
    """The decision model with its weights loaded, when it is the built-in one."""
    from clew.decide.builtin import BuiltinJudge

    model = open_model(config)
    if isinstance(model, BuiltinJudge):
        model.warm_up()
    return model


def check_model(config: Config) -> ModelReport:
    """Which decision model answers now, and whether it is healthy."""
    from clew.decide.system_one import SystemOneClient
    from clew.hosts.pi.status import ModelReport

    try:
        model = open_model(config)
    except ClewError as error:
        return ModelReport(name=config.gate.decision_model_id, where=config.gate.decision_model_url, problem=str(error))
    problem = ""
    if isinstance(model, SystemOneClient):
        health = model.probe()
        problem = "" if health.is_ready else health.detail
    return ModelReport(name=model.name, where=model.address, problem=problem, warning=model.warning or "")


def serve_decisions(
    host: str, port: int, *, tier: Tier = "auto", key_variable: str | None = None, calibration: Path | None = None
) -> int:
    """Answer System One requests with the built-in judge, as it ships, until the process is told to stop.

    Args:
        tier: of the judge.
        key_variable: environment variable with the key that clients must send; None asks for no key.
        calibration: file with the fit to apply; None leaves the judge's numbers as they are.

    Raises:
        SettingsError: the variable holds no key, the fit cannot be used, or the address cannot.
    """
    import os

    from clew.decide.builtin import BuiltinJudge
    from clew.decide.calibration.fit import read_fit
    from clew.decide.server.listener import DecisionServer, serve

    fit = read_fit(calibration) if calibration else None
    key = None if key_variable is None else os.environ.get(key_variable, "").strip()
    if key == "":
        raise SettingsError(f'The variable "{key_variable}" holds no key.', "Set it, or leave --key-env out.")

    def announce(server: DecisionServer) -> None:
        if not server.access.is_loopback:
            guard = "" if key else " and no key is asked for (see --key-env)"
            sys.stderr.write(f"clew: other machines can reach this server{guard}; what they send is not encrypted.\n")
        if judge.warning:
            sys.stderr.write(f"clew: {judge.warning}\n")
        if sys.stdout is not None:  # closed by whoever started us
            sys.stdout.write(f"Serving on {server.url}\n")
            sys.stdout.flush()

    judge = BuiltinJudge(tier=tier)
    return serve(host, port, key=key, fit=fit, judge=judge, announce=announce)


@dataclass(frozen=True, slots=True, kw_only=True)
class Questionnaire:
    """The questions in force, and what the person should know about them and about who will read their turns."""

    questions: Mapping[str, Question]
    warnings: tuple[str, ...]


def read_questionnaire(config: Config) -> Questionnaire:
    """The gate's questionnaire; the bundled one, with a warning, when the person's cannot be used."""
    from clew.decide.questionnaire import find_gaps, load_questionnaire

    try:
        questions = load_questionnaire(config.gate.questions_path)
        return Questionnaire(questions=questions, warnings=find_gaps(questions))
    except SettingsError as error:
        return Questionnaire(questions=load_questionnaire(None), warnings=(f"{error} The bundled questions are used.",))


def warn_of_distance(config: Config) -> tuple[str, ...]:
    """A warning when the person's decision server is on another machine. Contacts nobody."""
    from clew.decide.system_one import SystemOneClient

    if "decisionModelUrl" not in config.explicit:
        return ()
    warning = SystemOneClient(config.gate.decision_model_url, model_id=config.gate.decision_model_id).warning
    return (warning,) if warning else ()


# -- the engine -----------------------------------------------------------------------------------------------------


def run_engine() -> int:
    """Serve one Pi session over stdin and stdout."""
    from clew.hosts.pi.bridge import serve

    noodle = load_config().noodle
    return serve(sys.stdin.buffer, sys.stdout.buffer, build_session, recall_deadline_ms=noodle.recall_deadline_ms)


def build_session(params: InitializeParams, ui: Ui) -> PiSession:
    """The session behind one engine. Opens nothing yet."""
    from clew.hosts.pi.session import EngineSession, SessionParts
    from clew.store.embedder import BuiltinEmbedder
    from clew.store.fusion import RELEVANCE_FLOOR
    from clew.store.store import Store

    config = load_config(agent_dir=Path(params.agent_dir))
    questionnaire = read_questionnaire(config)
    config = replace(config, warnings=(*config.warnings, *questionnaire.warnings, *warn_of_distance(config)))
    embedder = BuiltinEmbedder()
    parts = SessionParts(
        config=config,
        project=identify_project(Path(params.cwd)),
        questions=questionnaire.questions,
        open_store=lambda: Store.open(config.noodle.db_path, embedder=embedder),
        open_model=lambda: _open_ready_model(config),
        check_model=lambda: check_model(config),
        describe_search=lambda: describe_search(embedder),
        relevance_floor=RELEVANCE_FLOOR,
    )
    return EngineSession(parts, params, ui)


# -- replay ---------------------------------------------------------------------------------------------------------


def replay_sessions(
    paths: Sequence[Path],
    *,
    data_dir: Path | None = None,
    as_json: bool = False,
    review_mode: ReviewMode | None = None,
    questions: Sequence[str] = (),
) -> int:
    """Judge Pi session files turn by turn and show what became of them.

    Args:
        data_dir: store what is saved in DIR/memories.db; None uses a folder that is deleted at the end.
        review_mode: instead of the configured one.
        questions: asked of the store afterwards.

    Returns:
        Exit code: 0, or 1 when something could not be read or judged.
    """
    from clew.hosts.pi import replay_view
    from clew.hosts.pi.replay import Replay
    from clew.hosts.pi.session_file import find_sessions
    from clew.store.fusion import RELEVANCE_FLOOR

    config = load_config()
    questionnaire = read_questionnaire(config)
    found = find_sessions(paths)
    for problem in (*config.warnings, *questionnaire.warnings, *warn_of_distance(config), *found.problems):
        sys.stderr.write(f"clew: {problem}\n")
    if not found.paths:
        raise InvalidInput(
            "There is no session file of Pi in what you named.", "Pi keeps them in ~/.pi/agent/sessions."
        )
    with ExitStack() as stack:
        folder = data_dir or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="clew-replay-")))
        store = stack.enter_context(open_store(data_dir=folder))
        model = _open_ready_model(config)
        mode = review_mode or config.gate.review_mode
        open_gate = partial(
            _gate_of, store=store, model=model, config=config, questions=questionnaire.questions, mode=mode
        )
        replay = Replay(found.paths, open_gate)
        if as_json:
            replay_view.show_json(replay)
        else:
            replay_view.show_table(replay, found.paths)
            replay_view.show_kept(store, questions, waiting=store.inbox(), min_relevance=RELEVANCE_FLOOR)
    return 1 if found.problems or replay.problem else 0


def _gate_of(
    session: SessionFile,
    *,
    store: Store,
    model: DecisionModel,
    config: Config,
    questions: Mapping[str, Question],
    mode: str,
) -> Gate:
    from typing import cast

    from clew.gate.evaluation import Gate, SessionInfo
    from clew.gate.settings import GateSettings
    from clew.memory.inbox import Inbox

    project = identify_project(Path(session.header.cwd)) if session.header.cwd else None
    return Gate(
        captures=store,
        model=model,
        questions=questions,
        outlet=Inbox(store, store, mode=cast("ReviewMode", mode), max_queue=config.gate.max_queue),
        session=SessionInfo(
            session_id=session.header.id,
            project_key=project.key if project else None,
            project_name=project.name if project else None,
        ),
        settings=GateSettings.from_config(config.gate),
    )


# -- status ---------------------------------------------------------------------------------------------------------


def gather_status(*, data_dir: Path | None = None) -> StatusFacts:
    """What `clew status` shows. A store that cannot be opened is part of the answer, not an error."""
    import time

    from clew.hosts.pi.status import StatusFacts
    from clew.store.embedder import BuiltinEmbedder

    config = load_config()
    if data_dir:
        config = replace(config, noodle=replace(config.noodle, db_path=database_path(data_dir)))
    config = replace(config, warnings=(*config.warnings, *read_questionnaire(config).warnings))
    embedder = BuiltinEmbedder()
    embedder.warm_up()
    embedder.ready(timeout_s=_LOAD_LIMIT_S)
    facts = StatusFacts(
        config=config,
        project=current_project(),
        model=check_model(config),
        search=describe_search(embedder),
        counts=None,
        now_ms=time.time_ns() // 1_000_000,
    )
    try:
        with open_store(data_dir=data_dir, config=config, is_reading=True) as store:
            store.prepare()
            everywhere = store.count(Visibility())
            return replace(
                facts,
                counts=store.counts(),
                user_memories=everywhere,
                project_memories=store.count(Visibility(project_key=facts.project.key)) - everywhere,
                bad_vectors=store.bad_vectors(),
            )
    except ClewError as error:
        return replace(facts, store_problem=str(error))
