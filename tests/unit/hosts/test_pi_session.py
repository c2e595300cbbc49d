from __future__ import annotations

import json
import shutil
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from pi_person import ScriptedUi

from clew.config.load import load_config
from clew.config.project import Project
from clew.core.decisions import ChoiceAnswer, Decision, NoulAnswer, ScoreAnswer
from clew.core.errors import (
    ClewError,
    DecisionModelDown,
    InvalidInput,
    SettingsError,
    StoreBusy,
    StoreCorrupt,
    StoreError,
)
from clew.core.records import NewMemory, Provenance, Visibility
from clew.hosts.pi import session as session_module
from clew.hosts.pi.background import Background
from clew.hosts.pi.protocol import (
    CaptureParams,
    CommandParams,
    InitializeParams,
    Injected,
    RecallParams,
    ShutdownParams,
    SyncParams,
    ToolParams,
    WireMessage,
)
from clew.hosts.pi.session import EngineSession, SessionParts
from clew.hosts.pi.status import ModelReport
from clew.store.file_lock import exclusive_file_lock
from clew.store.store import Store

LONG_MS = 30_000
ALL = Visibility(everywhere=True)
PROJECT = Project(key="example.org/ada/shop", name="shop", root=Path("shop"))
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class Model:
    """Finds every state durable, or is down."""

    name = "fake-model"

    def __init__(self, error=None):
        self.error = error
        self.asked = []

    def decide(self, state, questions):
        self.asked.append(state.user)
        if self.error:
            raise self.error
        return Decision(
            answers={
                "is_durable": NoulAnswer(probability=0.9),
                "importance": ScoreAnswer(score=2.0, probabilities={}),
                "target": ChoiceAnswer(choice="user", probabilities={"user": 1.0}),
            },
            model=self.name,
        )


class Pi:
    """One Pi session after another on the same data folder, each with an engine of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.model = Model()
        self.settings = {}
        self.open_store = lambda: Store.open(folder / "memories.db")
        self.open_model = lambda: self.model
        self.ui = ScriptedUi()
        self.session = None

    def start(self, *, messages=(), injected=(), has_ui=True, answers=(), is_idle=True):
        (self.folder / "memory-gate-config.json").write_text(json.dumps(self.settings), encoding="utf-8")
        environment = {"NOODLE_DB_PATH": str(self.folder / "memories.db")}
        self.ui = ScriptedUi(answers)
        parts = SessionParts(
            config=load_config(environment, home=self.folder, agent_dir=self.folder),
            project=PROJECT,
            questions={},
            open_store=self.open_store,
            open_model=self.open_model,
            check_model=lambda: ModelReport(name="fake-model", where="built in"),
            describe_search=lambda: "words alone",
            relevance_floor=0.0,
        )
        params = InitializeParams(
            protocol=1,
            extension_version="0",
            mode="tui" if has_ui else "print",
            has_ui=has_ui,
            capabilities=list(self.ui.capabilities),
            cwd="shop",
            agent_dir=str(self.folder),
            session_id="s1",
            session_file=None,
            project_trusted=True,
            reason="startup",
            is_idle=is_idle,
            messages=list(messages),
            injected=list(injected),
        )
        self.session = EngineSession(parts, params, self.ui)
        self.session.start()
        return self.session

    def end(self):
        self.session.shutdown(ShutdownParams(reason="quit", budget_ms=LONG_MS))

    def store(self):
        return Store.open(self.folder / "memories.db")


@pytest.fixture
def pi(tmp_path):
    return Pi(tmp_path)


def turn(text, number=1, reply="ok", stop_reason="stop"):
    return [
        WireMessage(entry_id=f"u{number}", role="user", text=text, timestamp_ms=number * 10),
        WireMessage(
            entry_id=f"a{number}", role="assistant", text=reply, timestamp_ms=number * 10 + 1, stop_reason=stop_reason
        ),
    ]


def capture(session, messages, *, settled=True):
    return session.capture(CaptureParams(messages=messages, settled=settled)).journalled


def recall(session, prompt):
    return session.recall(RecallParams(prompt=prompt, deadline_ms=LONG_MS))


def test_a_turn_is_journalled_at_once_judged_in_the_background_and_shown_in_the_footer(pi):
    session = pi.start()
    assert capture(session, turn("I prefer tabs.")) == 1
    pi.end()
    assert pi.model.asked == ["I prefer tabs."]
    assert pi.ui.footers[-1] == "1 memory to review: /memory-review"
    assert pi.ui.notices == []
    with pi.store() as store:
        assert [waiting.text for waiting in store.inbox()] == ["I prefer tabs."]


def test_what_one_engine_left_unjudged_the_next_one_judges_once(pi):
    pi.model.error = DecisionModelDown("Nobody answers.")
    capture(pi.start(), turn("I prefer tabs."))
    pi.end()
    pi.model.error = None
    pi.start()
    pi.end()
    pi.start()
    pi.end()
    with pi.store() as store:
        assert store.counts().queued == 1
        assert store.counts().unjudged == 0
    assert pi.model.asked == ["I prefer tabs."] * 2


def test_a_resumed_conversation_is_judged_once(pi):
    capture(pi.start(), turn("I prefer tabs."))
    pi.end()
    pi.start(messages=turn("I prefer tabs.") + turn("The tests need Docker.", 2))
    pi.end()
    assert pi.model.asked == ["I prefer tabs.", "The tests need Docker."]


def test_in_auto_mode_what_was_saved_is_told_in_one_notice(pi):
    pi.settings = {"reviewMode": "auto"}
    capture(pi.start(messages=turn("I prefer tabs.") + turn("The tests need Docker.", 2)), turn("Ada reviews.", 3))
    pi.end()
    told = "\n".join(pi.ui.texts)
    assert told.count("Remembered: ") == 3
    assert pi.ui.footers == []


def test_an_ask_is_saved_in_every_review_mode(pi):
    pi.settings = {"reviewMode": "off"}
    capture(pi.start(), turn("Remember that I deploy on Tuesdays."))
    pi.end()
    assert pi.ui.texts[0].startswith("Remembered: ")
    assert pi.model.asked == []
    with pi.store() as store:
        assert store.count(ALL) == 1


def test_a_secret_is_told_of_without_its_value_and_is_nowhere_on_disk(pi):
    capture(pi.start(), turn(f"the token is {TOKEN}", reply=f"I will use {TOKEN}"))
    pi.end()
    ((text, _),) = pi.ui.notices
    assert text.startswith("Not remembered: secret")
    assert TOKEN not in text
    assert all(TOKEN.encode() not in path.read_bytes() for path in pi.folder.rglob("*") if path.is_file())


def test_with_the_log_off_nothing_pops_up(pi):
    pi.settings = {"reviewMode": "auto", "tuiLog": "off"}
    capture(pi.start(), turn("I prefer tabs."))
    pi.end()
    assert pi.ui.notices == []


def test_without_a_ui_one_line_says_that_memories_wait(pi):
    capture(pi.start(has_ui=False), turn("I prefer tabs."))
    pi.end()
    (text,) = pi.ui.texts
    assert text.startswith("1 memory to review")
    assert "/memory-review" in text


def test_bad_settings_are_told_once_and_defaults_used(pi):
    pi.settings = {"reviewMode": "sometimes"}
    session = pi.start()
    ((text, level),) = pi.ui.notices
    assert "reviewMode" in text
    assert level == "warning"
    capture(session, turn("I prefer tabs."))
    pi.end()
    assert pi.ui.footers[-1] is not None


def remember(pi, text, **more):
    with pi.store() as store:
        return store.add(NewMemory(text=text, provenance=Provenance(origin="library"), **more)).memory


def test_a_later_session_recalls_what_applies_once(pi):
    memory = remember(pi, "I prefer tabs over spaces.")
    session = pi.start()
    first = recall(session, "tabs or spaces?")
    assert memory.text in first.content
    assert first.injected == [Injected(id=memory.id, updated_at_ms=memory.updated_at_ms)]
    again = recall(session, "tabs or spaces?")
    assert (again.content, again.injected) == (None, [])
    pi.end()
    with pi.store() as store:
        assert store.get(memory.id).retrieval_count == 1


def test_what_a_resumed_conversation_holds_is_not_injected_again_until_it_is_edited(pi):
    memory = remember(pi, "I prefer tabs over spaces.")
    known = [Injected(id=memory.id, updated_at_ms=memory.updated_at_ms)]
    session = pi.start(injected=known)
    assert recall(session, "tabs or spaces?").content is None
    with pi.store() as store:
        store.update(memory.id, text="I prefer spaces over tabs.")
    assert "updated" in recall(session, "tabs or spaces?").content
    session.sync(SyncParams(messages=[], injected=[]))
    assert recall(session, "tabs or spaces?").content is not None
    pi.end()


def test_a_recall_that_comes_too_late_counts_as_not_injected(pi):
    remember(pi, "I prefer tabs over spaces.")
    session = pi.start()
    late = session.recall(RecallParams(prompt="tabs or spaces?", deadline_ms=0))
    assert (late.content, late.injected) == (None, [])
    assert recall(session, "tabs or spaces?").content is not None
    pi.end()


def test_after_tree_navigation_the_reply_before_is_that_of_the_branch(pi):
    session = pi.start()
    capture(session, turn("Plan it", 1, "I would use make."))
    session.sync(SyncParams(messages=turn("Other branch", 5, "I would use just."), injected=[]))
    assert capture(session, turn("Fine, do so.", 6)) == 2
    pi.end()


@pytest.mark.parametrize("error", [StoreCorrupt("memories.db is damaged."), StoreBusy("memories.db is locked.")])
def test_without_a_store_one_notice_and_polite_answers(pi, error):
    def refuse():
        raise error

    pi.open_store = refuse
    session = pi.start()
    with pytest.raises(type(error)):
        capture(session, turn("I prefer tabs."))
    assert recall(session, "tabs?").content is None
    result = session.run_tool(ToolParams(name="memory_list", arguments={}))
    assert result.is_error
    assert error.what in result.text
    assert len(pi.ui.notices) == 1
    session.run_command(CommandParams(name="gate-status", args=""))
    session.run_command(CommandParams(name="noodle", args=""))
    session.run_command(CommandParams(name="noodle", args="remember tea"))
    session.sync(SyncParams(messages=[], injected=[]))
    assert f"cannot be used. {error.what}" in pi.ui.texts[1]
    assert "db.path" in pi.ui.texts[2]
    assert error.what in pi.ui.texts[3]
    pi.end()
    assert "resume this session" in pi.ui.texts[-1], "at the end it is said that something was not written"


def test_a_store_that_was_busy_is_opened_by_a_later_turn_and_nothing_is_lost(pi, monkeypatch):
    monkeypatch.setattr(session_module, "_REOPEN_AFTER_S", 0.0)
    open_store, pi.open_store = pi.open_store, None
    is_busy = True

    def open_or_fail():
        if is_busy:
            raise StoreBusy("memories.db is locked.")
        return open_store()

    pi.open_store = open_or_fail
    session = pi.start()
    with pytest.raises(StoreBusy):
        capture(session, turn("I prefer tabs."))
    is_busy = False
    capture(session, turn("The tests need Docker.", 2))
    pi.end()
    assert len(pi.ui.notices) == 1
    assert pi.model.asked == ["I prefer tabs.", "The tests need Docker."]


@pytest.mark.parametrize("error", [FileNotFoundError("weights"), SettingsError("The key is bad.")])
def test_a_model_that_cannot_be_loaded_keeps_turns_waiting_and_shows_in_the_status(pi, error):
    def refuse():
        raise error

    pi.open_model = refuse
    session = pi.start()
    capture(session, turn("I prefer tabs."))
    capture(session, turn("Remember that I deploy on Tuesdays.", 2))
    pi.session._background.finish(LONG_MS / 1000)
    session.run_command(CommandParams(name="gate-status", args=""))
    assert "healthy" not in pi.ui.texts[-1]
    pi.end()
    with pi.store() as store:
        assert (store.counts().unjudged, store.count(ALL)) == (1, 1)


def test_a_store_that_fails_in_the_middle_harms_nobody_and_is_logged_once(pi, capsys):
    session = pi.start()
    session._rooms.store.close()
    for number in range(1, 3):
        with pytest.raises(StoreError):
            capture(session, turn("I prefer tabs.", number))
        assert recall(session, "tabs or spaces?").content is None
        assert session.run_tool(ToolParams(name="memory_list", arguments={})).is_error
    pi.end()
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("clew engine:")]
    assert len(lines) == len(set(lines)) > 0


def test_an_unforeseen_error_is_logged_by_its_place_and_not_by_its_text(pi, capsys, monkeypatch):
    session = pi.start()
    said = "a conversation"  # the traceback quotes the line that raises, so it must not stand there

    def fail(*_, **__):
        raise ZeroDivisionError(said)

    monkeypatch.setattr(session._rooms.gate, "capture", fail)
    monkeypatch.setattr(session._rooms.gate, "judge_ready", fail)
    monkeypatch.setattr(session._rooms.recall, "recall", fail)
    for number in range(1, 3):
        with pytest.raises(ClewError, match="ZeroDivisionError"):
            capture(session, turn("I prefer tabs.", number))
        assert recall(session, "tabs or spaces?").content is None
    pi.end()
    log = capsys.readouterr().err
    assert [log.count(f"{where} failed: ZeroDivisionError") for where in ("capture", "recall", "judge")] == [1, 1, 1]
    assert said not in log


def test_gate_status_shows_model_modes_counts_places_and_changed_settings(pi):
    pi.settings = {"maxQueue": 5, "reviewMode": "perhaps"}
    remember(pi, "I prefer tabs.")
    remember(pi, "The shop deploys on Tuesday.", scope="project", project_key=PROJECT.key)
    session = pi.start()
    session.run_command(CommandParams(name="gate-status", args=""))
    lines = pi.ui.texts[-1].splitlines()
    assert "Decision model: fake-model (built in): healthy" in lines
    assert "Review mode: confirm · trigger: always" in lines
    assert "Memories: 1 everywhere, 1 in this project (shop)" in lines
    assert "Search: words alone" in lines
    assert f"Database: {pi.folder / 'memories.db'}" in lines
    assert "  maxQueue: asked 5, in force 5 (file)" in lines
    assert "  reviewMode: asked perhaps, in force confirm (default)" in lines
    assert any(line.startswith("  db.path: asked ") and "NOODLE_DB_PATH" in line for line in lines)
    pi.end()


def test_commands_and_tools_work_on_the_same_store(pi):
    session = pi.start(answers=["Save"])
    session.run_command(CommandParams(name="noodle", args="remember I like green tea"))
    (row,) = session.run_tool(ToolParams(name="memory_search", arguments={"query": "tea"})).details
    assert row["text"] == "I like green tea"
    pi.end()
    assert session.run_tool(ToolParams(name="memory_list", arguments={})).is_error


class Lock:
    """Another process that holds the write lock of the store."""

    def __init__(self, folder):
        self.held = ExitStack()
        self.held.enter_context(exclusive_file_lock(folder / "memories.db.lock", deadline=time.monotonic() + 10))

    def release(self):
        self.held.close()


@pytest.fixture
def impatient(pi):
    pi.open_store = lambda: Store.open(pi.folder / "memories.db", lock_timeout_s=0.01)
    return pi


def test_a_capture_that_the_store_could_not_take_is_an_error_and_is_written_later(impatient):
    session = impatient.start()
    capture(session, turn("Ada reviews."))
    session._background.finish(LONG_MS / 1000)
    lock = Lock(impatient.folder)
    for number in (2, 3):
        with pytest.raises(StoreBusy):
            capture(session, turn(f"Fact number {number}.", number))
    assert [text for text in impatient.ui.texts if "could not write" in text] == impatient.ui.texts
    assert len(impatient.ui.texts) == 1
    lock.release()
    session._background = Background(session._work_off)
    impatient.end()
    assert impatient.model.asked == ["Ada reviews.", "Fact number 2.", "Fact number 3."]


def test_more_turns_than_the_window_survive_a_store_that_is_busy(impatient):
    session = impatient.start()
    lock = Lock(impatient.folder)
    said = []
    for number in range(1, 31):
        said += turn(f"Fact number {number}.", number)
        with pytest.raises(StoreBusy):  # Pi's extension sends again what was not confirmed
            capture(session, said)
    lock.release()
    capture(session, turn("The last fact.", 31))
    impatient.end()
    assert impatient.model.asked == [*(f"Fact number {number}." for number in range(1, 31)), "The last fact."]


def test_what_waits_is_written_by_a_pass_in_the_background_too(impatient):
    session = impatient.start()
    session._background.finish(LONG_MS / 1000)
    lock = Lock(impatient.folder)
    with pytest.raises(StoreBusy):
        capture(session, turn("I prefer tabs."))
    lock.release()
    session._work_off(threading.Event())
    assert impatient.model.asked == ["I prefer tabs."]


def test_a_folder_that_was_deleted_is_told_and_nothing_is_confirmed_that_is_not_on_disk(pi, tmp_path_factory):
    session = pi.start()
    capture(session, turn("Ada reviews."))
    session._background.finish(LONG_MS / 1000)
    shutil.rmtree(pi.folder)
    with pytest.raises(ClewError):
        capture(session, turn("I prefer tabs.", 2))
    assert any("could not write" in text for text in pi.ui.texts)


def test_a_restart_in_the_middle_of_a_run_leaves_the_turn_open_for_its_reply(pi):
    question = turn("We deploy from the release branch, what is in .env?")[:1]
    session = pi.start(messages=question, is_idle=False)
    capture(session, turn("", reply=f"TOKEN={TOKEN}")[1:])
    pi.end()
    assert pi.model.asked == [], "the reply holds a secret, so the turn is not judged by the model"


@pytest.mark.parametrize("timestamp", [1e30, 10**400, None, -5, 0, float("inf")])
def test_a_timestamp_that_cannot_be_is_replaced_by_the_time_of_arrival(pi, timestamp):
    session = pi.start()
    odd, reply = turn("Remember that I deploy on Tuesdays.")
    before_ms = time.time_ns() // 1_000_000
    for _ in range(2):
        capture(session, [replace(odd, timestamp_ms=timestamp), reply])
    capture(session, turn("I prefer tabs.", 2))
    pi.end()
    with pi.store() as store:
        (memory,) = store.list(ALL)
        assert memory.created_at_ms >= before_ms
        assert (memory.seen_count, store.counts().judged) == (1, 2)


@pytest.mark.parametrize("entry_id", ["e" * 129, "a\nb", "a\0b"])
def test_a_message_whose_id_is_none_is_refused_and_all_others_are_kept(pi, entry_id, capsys):
    session = pi.start()
    odd, _ = turn("I prefer tabs.")
    with pytest.raises(InvalidInput, match="ids of 1"):
        capture(session, [replace(odd, entry_id=entry_id), *turn("The tests need Docker.", 2)])
    pi.end()
    assert pi.model.asked == ["The tests need Docker."]
    assert "entry_id" in capsys.readouterr().err


def test_a_secret_in_an_id_never_reaches_the_disk(pi):
    session = pi.start()
    capture(session, [replace(turn("I prefer tabs.")[0], entry_id=TOKEN)])
    pi.end()
    assert all(TOKEN.encode() not in path.read_bytes() for path in pi.folder.rglob("*") if path.is_file())


def test_an_exchange_that_breaks_the_gate_does_not_stop_the_next(pi, monkeypatch):
    session = pi.start()
    gate = session._rooms.gate
    take = gate.capture

    def fail_once(messages, **more):
        if messages[0].entry_id == "u1":
            raise ZeroDivisionError
        return take(messages, **more)

    monkeypatch.setattr(gate, "capture", fail_once)
    with pytest.raises(ClewError):
        capture(session, [*turn("I prefer tabs."), *turn("The tests need Docker.", 2)])
    pi.end()
    assert pi.model.asked == ["The tests need Docker."]


def test_a_branch_that_becomes_current_during_a_recall_stays_current(pi, monkeypatch):
    memory, other = remember(pi, "I prefer tabs over spaces."), Injected(id="other", updated_at_ms=1)
    session = pi.start(injected=[other])
    recaller = session._rooms.recall
    find = recaller.recall

    def find_while_the_branch_changes(*arguments, **more):
        session.sync(SyncParams(messages=[], injected=[]))
        return find(*arguments, **more)

    monkeypatch.setattr(recaller, "recall", find_while_the_branch_changes)
    recall(session, "tabs or spaces?")
    assert session._injected == {memory.id: memory.updated_at_ms}
    pi.end()


def test_recalls_are_counted_although_the_store_was_busy_at_first(impatient):
    memory = remember(impatient, "I prefer tabs over spaces.")
    session = impatient.start()
    session._background.finish(LONG_MS / 1000)
    recall(session, "tabs or spaces?")
    lock = Lock(impatient.folder)
    session._work_off(threading.Event())
    lock.release()
    for _ in range(2):
        session._work_off(threading.Event())
    with impatient.store() as store:
        assert store.get(memory.id).retrieval_count == 1
