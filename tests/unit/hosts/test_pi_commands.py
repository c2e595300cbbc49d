from __future__ import annotations

import pytest
from pi_person import ScriptedUi

from clew.core.records import Candidate, CapturedState, Judgement, NewMemory, Provenance, State, Visibility
from clew.hosts.pi.commands import NOODLE_USAGE, Commands
from clew.hosts.pi.protocol import COMMANDS, CommandParams
from clew.memory.inbox import Inbox
from clew.store.store import Store

PROJECT = "example.org/ada/shop"
ALL = Visibility(everywhere=True)
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "memories.db") as opened:
        yield opened


def run(store, line, answers=(), **more):
    ui = ScriptedUi(answers, **more)
    commands = Commands(
        ui,
        store,
        Inbox(store, store),
        session_id="s1",
        project_key=PROJECT,
        gate_status=lambda: "gate status",
        noodle_status=lambda: "noodle status",
    )
    name, _, args = line.partition(" ")
    commands.run(CommandParams(name=name, args=args))
    assert ui.answers == []
    return ui


def add(store, text, origin="library", **more):
    return store.add(NewMemory(text=text, provenance=Provenance(origin=origin), **more)).memory


def queue(store, text):
    store.journal(
        [
            CapturedState(
                key="e1:1", entry_id="e1", session_id="s1", project_key=None, state=State(user=text), timestamp_ms=1
            )
        ]
    )
    store.settle(
        Judgement(
            key="e1:1",
            entry_id="e1",
            outcome="queued",
            reason="r",
            scores={},
            target="user",
            duration_ms=1.0,
            decision_model="m",
        ),
        queue=Candidate(
            text=text,
            category="user",
            scope="user",
            project_key=None,
            session_id="s1",
            entry_id="e1",
            scores={},
            reason="r",
        ),
    )


def saved(store):
    return sorted(memory.text for memory in store.list(ALL))


def test_every_declared_command_is_carried_out(store):
    for command in COMMANDS:
        assert not any("no command" in text for text in run(store, command.name).texts)


def test_every_completion_of_noodle_is_a_sub_command(store):
    (noodle,) = [command for command in COMMANDS if command.name == "noodle"]
    for name in noodle.completions:
        assert not any("Unknown" in text for text in run(store, f"noodle {name}").texts)


def test_status_commands_show_their_text(store):
    assert run(store, "gate-status").texts == ["gate status"]
    assert run(store, "noodle").texts == ["noodle status"]


def test_an_unknown_sub_command_shows_the_usage(store):
    ((text, level),) = run(store, "noodle frobnicate now").notices
    assert NOODLE_USAGE in text
    assert level == "warning"


def test_remember_saves_and_says_what(store):
    ui = run(store, "noodle remember The staging database runs on port 5544")
    (memory,) = store.list(ALL)
    assert memory.text == "The staging database runs on port 5544"
    assert memory.provenance.origin == "command"
    assert (memory.metadata["source"], memory.metadata["auto_saved"]) == ("manual_command", False)
    assert ui.texts[0].startswith("Remembered: [")
    assert run(store, "noodle remember The staging database runs on port 5544").texts[0].startswith("Remembered (known")
    assert store.count(ALL) == 1


def test_remember_keeps_the_whole_text_with_its_full_stops(store):
    run(store, "noodle remember We use Node 22.1. Never 20.")
    assert saved(store) == ["We use Node 22.1. Never 20."]


def test_remember_refuses_a_secret_without_repeating_it(store):
    ((text, level),) = run(store, f"noodle remember my token is {TOKEN}").notices
    assert "secret" in text
    assert TOKEN not in text
    assert level == "warning"
    assert saved(store) == []


def test_remember_brings_back_what_was_forgotten(store):
    store.forget(add(store, "I like tea.").id)
    run(store, "noodle remember I like tea.")
    assert saved(store) == ["I like tea."]


@pytest.mark.parametrize("verb", ["remember", "forget", "edit"])
def test_without_words_the_usage_is_shown(store, verb):
    assert run(store, f"noodle {verb}").texts[0].startswith(f"Usage: /noodle {verb}")


def test_forget_lets_the_person_choose_and_confirm(store):
    add(store, "I like green tea.")
    add(store, "I like black tea.")
    ui = run(store, "noodle forget tea", [0, True])
    assert len(ui.shown[0][1]) == 2
    assert "for good" in ui.shown[1][0]
    assert len(saved(store)) == 1


@pytest.mark.parametrize("answers", [[None], [0, False]])
def test_forget_changes_nothing_when_the_person_leaves(store, answers):
    add(store, "I like green tea.")
    run(store, "noodle forget tea", answers)
    assert saved(store) == ["I like green tea."]


def test_forget_without_dialogs_needs_exactly_one_match(store):
    green, black = add(store, "I like green tea."), add(store, "I like black tea.")
    ((text, level),) = run(store, "noodle forget like", capabilities=("notify",)).notices
    assert text.startswith("Which one?")
    assert green.text in text
    assert black.text in text
    assert level == "warning"
    assert len(saved(store)) == 2
    assert run(store, "noodle forget GREEN tea", capabilities=("notify",)).texts == [
        "Forgotten: [memory] I like green tea."
    ]
    run(store, f"noodle forget {black.id}", capabilities=("notify",))
    assert saved(store) == []


def test_forget_without_dialogs_does_not_act_on_a_likeness(store):
    add(store, "I like green tea.")
    assert run(store, "noodle forget tea that is green", capabilities=("notify",)).texts[0].startswith("Which one?")
    assert len(saved(store)) == 1


def test_forget_says_when_nothing_matches(store):
    assert run(store, "noodle forget unicorns").texts == ["No memory matches 'unicorns'."]


def test_edit_saves_what_the_person_wrote(store):
    memory = add(store, "I like green tea.", metadata={"a": 1})
    run(store, "noodle edit tea", [0, "I like black tea."])
    changed = store.get(memory.id)
    assert changed.text == "I like black tea."
    assert changed.metadata == {"a": 1, "source": "manual_edit", "auto_saved": False}


@pytest.mark.parametrize("text", [None, "", "I like green tea."])
def test_edit_without_a_change_leaves_the_memory_alone(store, text):
    memory = add(store, "I like green tea.")
    assert run(store, "noodle edit tea", [0, text]).texts == ["Nothing changed."]
    assert store.get(memory.id) == memory


def test_edit_refuses_a_secret(store):
    add(store, "I like green tea.")
    ui = run(store, "noodle edit tea", [0, f"my token is {TOKEN}"])
    assert "secret" in ui.texts[0]
    assert saved(store) == ["I like green tea."]


def test_edit_needs_an_editor(store):
    add(store, "I like green tea.")
    assert "interactive" in run(store, "noodle edit tea", capabilities=("notify",)).texts[0]


def test_review_goes_through_what_was_saved_without_asking(store):
    add(store, "I like green tea.", origin="gate")
    add(store, "The shop is blue.", metadata={"auto_saved": True})
    add(store, "Asked for.", origin="command")
    ui = run(store, "noodle review", [0, "Delete", 0, "Keep"])
    assert len(ui.shown[0][1]) == 3
    assert len(saved(store)) == 2
    assert "Asked for." in saved(store)
    assert ui.texts == ["1 deleted."]


def test_review_ends_with_what_waits(store):
    queue(store, "I prefer tabs.")
    ui = run(store, "noodle review", ["Save"])
    assert saved(store) == ["I prefer tabs."]
    assert ui.texts == ["Review: 1 saved, 0 rejected, 0 left for later."]


def test_review_without_dialogs_lists(store):
    add(store, "I like green tea.", origin="gate")
    queue(store, "I prefer tabs.")
    (text,) = run(store, "noodle review", capabilities=("notify",)).texts
    assert "green tea" in text
    assert "I prefer tabs." in text


def test_review_with_nothing_to_look_at_says_so(store):
    assert "nothing waits" in run(store, "noodle review").texts[0]


def test_memory_review_reviews_the_inbox(store):
    queue(store, "I prefer tabs.")
    run(store, "memory-review", ["Save"])
    assert saved(store) == ["I prefer tabs."]


def test_a_store_that_fails_is_a_notice(store):
    store.close()
    ((text, level),) = run(store, "noodle remember I like tea.").notices
    assert text
    assert level == "warning"
