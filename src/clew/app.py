"""Builds the real objects, once, from the settings: store, embedder, decision model, gate, session.

Nothing heavy is imported before it is needed, so that a command pays only for what it uses.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from clew.config.load import Config, load_config
from clew.config.project import Project, identify_project
from clew.core.errors import ClewError, DecisionModelError
from clew.core.records import Visibility

if TYPE_CHECKING:
    from clew.core.decisions import Question
    from clew.core.ports import DecisionModel
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


def open_store(path: Path | None = None, *, data_dir: Path | None = None, config: Config | None = None) -> Store:
    """Open a database: the file named, `memories.db` of the folder named, or the configured one. Raises StoreError."""
    from clew.store.embedder import BuiltinEmbedder
    from clew.store.store import Store

    return Store.open(path or database_path(data_dir, config), embedder=BuiltinEmbedder())


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


def open_model(config: Config) -> DecisionModel:
    """The decision model that the settings ask for; see `decide.choose`."""
    from clew.decide.choose import open_decision_model

    return open_decision_model(
        url=config.gate.decision_model_url,
        url_is_explicit="decisionModelUrl" in config.explicit,
        model_id=config.gate.decision_model_id,
        api_key=config.gate.decision_model_key,
    )


def check_model(config: Config) -> ModelReport:
    """Which decision model answers now, and whether it is healthy."""
    from clew.decide.system_one import SystemOneClient
    from clew.hosts.pi.status import ModelReport

    try:
        model = open_model(config)
        if not isinstance(model, SystemOneClient):
            return ModelReport(name=model.name, where="built in")
        health = model.probe()
    except DecisionModelError as error:
        return ModelReport(name=config.gate.decision_model_id, where=config.gate.decision_model_url, problem=str(error))
    problem = "" if health.is_ready else health.detail
    return ModelReport(name=model.name, where=model.address, problem=problem or model.warning or "")


def load_questions(config: Config) -> Mapping[str, Question]:
    """The gate's questionnaire. Raises SettingsError."""
    from clew.decide.questionnaire import load_questionnaire

    return load_questionnaire(config.gate.questions_path)


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
    embedder = BuiltinEmbedder()
    parts = SessionParts(
        config=config,
        project=identify_project(Path(params.cwd)),
        load_questions=lambda: load_questions(config),
        open_store=lambda: Store.open(config.noodle.db_path, embedder=embedder),
        open_model=lambda: open_model(config),
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

    config = load_config()
    found = find_sessions(paths)
    for problem in found.problems:
        sys.stderr.write(f"clew: {problem}\n")
    with ExitStack() as stack:
        folder = data_dir or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="clew-replay-")))
        store = stack.enter_context(open_store(data_dir=folder))
        model = open_model(config)
        mode = review_mode or config.gate.review_mode
        replay = Replay(found.paths, lambda session: _gate_of(session, store, model, config, mode))
        if as_json:
            replay_view.show_json(replay)
        else:
            replay_view.show_table(replay, found.paths)
            replay_view.show_kept(store, questions)
    return 1 if found.problems or replay.problem else 0


def _gate_of(session: SessionFile, store: Store, model: DecisionModel, config: Config, mode: str) -> Gate:
    from typing import cast

    from clew.gate.evaluation import Gate, SessionInfo
    from clew.gate.settings import GateSettings
    from clew.memory.inbox import Inbox

    project = identify_project(Path(session.header.cwd)) if session.header.cwd else None
    return Gate(
        captures=store,
        model=model,
        questions=load_questions(config),
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
    from dataclasses import replace

    from clew.hosts.pi.status import StatusFacts
    from clew.store.embedder import BuiltinEmbedder

    config = load_config()
    if data_dir:
        config = replace(config, noodle=replace(config.noodle, db_path=database_path(data_dir)))
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
        with open_store(config=config) as store:
            everywhere = store.count(Visibility())
            return replace(
                facts,
                counts=store.counts(),
                user_memories=everywhere,
                project_memories=store.count(Visibility(project_key=facts.project.key)) - everywhere,
            )
    except ClewError as error:
        return replace(facts, store_problem=str(error))
