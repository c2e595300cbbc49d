"""Replaying session files through the gate, into a real store."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from clew.core.decisions import ChoiceAnswer, Decision, NoulAnswer, ScoreAnswer
from clew.core.errors import DecisionModelDown, DecisionModelError, InvalidInput
from clew.core.records import Visibility
from clew.gate.evaluation import Gate, SessionInfo
from clew.hosts.pi.replay import Replay
from clew.hosts.pi.replay_view import show_json, show_kept, show_table
from clew.memory.inbox import Inbox
from clew.store.store import Store

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "webshop.jsonl"
SECRET = "copper7Lantern" + "-Drizzle42"


class KeepsWhatSaysAlways:
    """A decision model with one rule, so that these tests do not depend on how well the built-in judge is trained."""

    name = "one-rule"

    def __init__(self, failure=None):
        self.failure = failure
        self.states = []

    def decide(self, state, questions):
        if self.failure:
            raise self.failure
        self.states.append(state)
        keeps = "always" in state.user
        return Decision(
            model=self.name,
            answers={
                "is_durable": NoulAnswer(probability=0.9 if keeps else 0.1),
                "importance": ScoreAnswer(score=3.0 if keeps else 0.2, probabilities={}),
                "target": ChoiceAnswer(choice="user" if keeps else "none", probabilities={"user": 0.9, "none": 0.1}),
            },
        )


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "memories.db") as opened:
        yield opened


@pytest.fixture
def write(tmp_path):
    def write_session(*turns, name="session.jsonl", tail=()):
        lines = [{"type": "session", "version": 3, "id": name, "timestamp": "2026-11-30T10:00:00Z", "cwd": "/shop"}]
        for number, (user, assistant) in enumerate(turns):
            for role, said in (("user", user), ("assistant", assistant)):
                parent = lines[-1]["id"] if len(lines) > 1 else None
                inner = {"role": role, "content": [{"type": "text", "text": said}], "timestamp": 1_796_000_000_000}
                lines.append({"type": "message", "id": f"{role}-{number}", "parentId": parent, "message": inner})
        path = tmp_path / name
        path.write_text("\n".join([*map(json.dumps, lines), *tail]) + "\n", encoding="utf-8")
        return path

    return write_session


def replay(store, *paths, model=None, mode="auto"):
    model = model or KeepsWhatSaysAlways()

    def open_gate(session):
        info = SessionInfo(session_id=session.header.id, project_key="cwd:/shop", project_name="shop")
        return Gate(captures=store, model=model, questions={}, outlet=Inbox(store, store, mode=mode), session=info)

    return Replay(paths, open_gate)


def test_each_message_of_the_person_is_judged_in_order_with_the_replies_around_it(store, write):
    model = KeepsWhatSaysAlways()
    path = write(("hello", "hi"), ("always use tabs", "yes"), ("thanks", "welcome"))
    states = list(replay(store, path, model=model))

    assert [(s.turn, s.turns, s.entry_id, s.outcome) for s in states] == [
        (1, 3, "user-0", "filtered"),
        (2, 3, "user-1", "saved"),
        (3, 3, "user-2", "filtered"),
    ]
    assert (model.states[1].previous_assistant, model.states[1].assistant) == ("hi", "yes")
    assert [m.text for m in store.list(Visibility(everywhere=True))] == ["always use tabs"]


def test_what_passes_waits_in_the_inbox_when_the_person_reviews(store, write):
    states = list(replay(store, write(("always use tabs", "yes")), mode="confirm"))
    assert [s.outcome for s in states] == ["queued"]
    assert [candidate.text for candidate in store.inbox()] == ["always use tabs"]


def test_a_second_replay_passes_over_what_was_judged(store, write):
    path = write(("hello", "hi"), ("always use tabs", "yes"))
    list(replay(store, path))
    again = replay(store, path)

    assert list(again) == []
    assert again.totals()["passed_over"] == 2
    assert store.counts().judged == 2


def test_a_fork_that_repeats_its_parent_is_judged_once(store, write):
    parent = write(("always use tabs", "yes"), name="a.jsonl")
    fork = write(("always use tabs", "yes"), ("always be brief", "ok"), name="b.jsonl")
    states = list(replay(store, parent, fork))
    assert [(s.path.name, s.entry_id) for s in states] == [("a.jsonl", "user-0"), ("b.jsonl", "user-1")]


def test_totals_count_outcomes_sessions_and_broken_lines(store, write):
    paths = [
        write(("hello", "hi"), ("always use tabs", "yes"), name="a.jsonl", tail=["{broken"]),
        write((f"my password = {SECRET}", "oh"), ("/gate-status", ""), name="b.jsonl"),
    ]
    run = replay(store, *paths)
    # Ids of the second file are those of the first, which would make them known: give it other times.
    paths[1].write_text(paths[1].read_text().replace("1796000000000", "1796000000001"))
    list(run)
    totals = run.totals()

    assert {k: totals[k] for k in ("sessions", "judged", "saved", "queued", "filtered", "vetoed")} == {
        "sessions": 2,
        "judged": 3,
        "saved": 1,
        "queued": 0,
        "filtered": 1,
        "vetoed": 1,
    }
    assert totals["passed_over"] == 1
    assert totals["broken_lines"] == 1
    assert totals["waiting"] == 0
    assert [(path.name, line.line) for path, line in run.broken_lines] == [("a.jsonl", 6)]


def test_a_session_that_broke_off_in_a_tool_loop_is_judged_to_its_end(store, write):
    path = write(("always use tabs", "let me look"))
    path.write_text(path.read_text().replace('"role": "assistant"', '"role": "assistant", "stopReason": "toolUse"'))
    assert [s.outcome for s in replay(store, path)] == ["saved"]


def test_states_wait_when_the_decision_model_is_down(store, write):
    down = KeepsWhatSaysAlways(failure=DecisionModelDown("Nobody answers at 127.0.0.1:8017."))
    run = replay(store, write(("hello", "hi"), ("Remember that we deploy on Mondays.", "ok")), model=down)

    assert [s.outcome for s in run] == ["saved"], "an explicit ask needs no model"
    assert run.totals()["waiting"] == 1
    assert "Nobody answers" in run.problem
    assert store.counts().unjudged == 1


def test_a_state_that_cannot_be_judged_is_set_aside_within_the_replay(store, write):
    confused = KeepsWhatSaysAlways(failure=DecisionModelError("The answer is not JSON."))
    run = replay(store, write(("hello", "hi")), model=confused)

    (state,) = run
    assert state.outcome == "filtered"
    assert "not JSON" in state.reason
    assert run.totals()["waiting"] == 0


def test_a_secret_is_neither_shown_nor_stored(store, write, tmp_path):
    run = replay(store, write((f"my password = {SECRET}", "oh")))
    out = io.StringIO()
    show_json(run, out)
    (state,) = replay(Store.open(tmp_path / "other" / "m.db"), *run._paths)

    assert state.outcome == "vetoed"
    assert SECRET not in state.excerpt
    assert SECRET not in out.getvalue()
    assert not any(SECRET.encode() in p.read_bytes() for p in tmp_path.glob("*.db*"))


def test_json_has_one_line_per_state_and_the_totals_last(store, write):
    out = io.StringIO()
    show_json(replay(store, write(("hello", "hi"), ("always use tabs", "yes"))), out)
    rows = [json.loads(line) for line in out.getvalue().splitlines()]

    assert len(rows) == 3
    for row in rows[:2]:
        assert set(row) == {"entry_id", "outcome", "reason", "scores", "ms"}
    assert rows[1]["entry_id"] == "user-1"
    assert rows[1]["outcome"] == "saved"
    assert rows[1]["scores"]["is_durable"] == 0.9
    assert rows[2]["totals"]["judged"] == 2


@pytest.mark.parametrize("columns", [40, 79, 200])
def test_the_table_fits_into_a_screen_of_any_width(store, write, monkeypatch, columns):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    path = write(("hello " * 40, "hi"), ("always [bold]use[/bold] tabs", "yes"))
    out = Terminal()
    show_table(replay(store, path), [path], out)
    lines = re.sub(r"\x1b\[[\d;]*m", "", out.getvalue()).splitlines()

    assert max(map(len, lines)) <= columns
    text = " ".join(" ".join(lines).replace("│", " ").split())
    assert "saved" in text
    assert "[bold]" in text, "what a person wrote is not read as markup"
    assert "2 judged" in text


def test_the_table_goes_into_a_pipe_without_colours(store, write):
    path = write(("always use tabs", "yes"), tail=["{broken"])
    out = io.StringIO()
    show_table(replay(store, path), [path], out)

    assert "\x1b" not in out.getvalue()
    assert f"{path}, line 4: skipped, it is not JSON." in out.getvalue()


def test_what_was_kept_is_listed_and_asked_for(store, write):
    list(replay(store, write(("always use tabs", "yes"), ("hello", "hi"))))
    later = write(("ok", "ok"), ("thanks", "ok"), ("always answer in Italian", "sì"), name="b.jsonl")
    list(replay(store, later, mode="confirm"))
    out = io.StringIO()
    show_kept(store, ["should I use tabs?", "zebra"], waiting=store.inbox(), out=out)
    saved, waiting, first, second = out.getvalue().strip().split("\n\n")

    assert [line.strip() for line in saved.splitlines()] == ["Saved", "[user] always use tabs"]
    assert [line.strip() for line in waiting.splitlines()] == [
        "Waiting for your review",
        "[user] always answer in Italian",
    ]
    assert "always use tabs" in first
    assert [line.strip() for line in second.splitlines()] == ["? zebra", "nothing"]


def test_a_file_that_is_no_session_stops_the_replay_with_its_name(store, write, tmp_path):
    (tmp_path / "notes.jsonl").write_text("hello\n")
    with pytest.raises(InvalidInput, match=r"notes\.jsonl, line 1"):
        list(replay(store, tmp_path / "notes.jsonl"))


def test_the_example_session_is_judged_whole(store):
    run = replay(store, EXAMPLE)
    states = list(run)

    assert [s.turn for s in states] == list(range(1, 33))
    assert run.totals()["broken_lines"] == 0
    by_turn = {s.turn: s for s in states}
    assert (by_turn[12].outcome, by_turn[12].reason.split(":")[0]) == ("vetoed", "secret")
    assert by_turn[18].outcome == by_turn[19].outcome == "saved", "both explicit asks, in Italian and in English"
