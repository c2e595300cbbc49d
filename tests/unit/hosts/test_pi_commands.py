from __future__ import annotations

import pytest
from pi_person import ScriptedUi

from clew.core.records import Candidate, CapturedState, Judgement, NewMemory, Provenance, State, Visibility
from clew.hosts.pi.commands import NOODLE_USAGE, Commands
from clew.hosts.pi.protocol import COMMANDS, CommandParams
from clew.memory.filters import REVIEWED_MARK, is_auto_saved
from clew.memory.inbox import Inbox
from clew.memory.lines import short_id
from clew.store.store import Store

PROJECT = "example.org/ada/shop"
NOW_MS = 1_800_000_000_000
DAY_MS = 86_400_000
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
        clock_ms=lambda: NOW_MS,
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


@pytest.mark.parametrize("verb", ["remember", "forget", "edit", "search"])
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
    assert changed.metadata == {"a": 1, "source": "manual_edit", **REVIEWED_MARK}


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


def test_list_shows_the_newest_with_short_id_category_and_age(store):
    old = add(store, "I like green tea.", category="user", created_at_ms=NOW_MS - 3 * DAY_MS)
    new = add(store, "The shop\nis blue.", created_at_ms=NOW_MS - 5_000)
    add(store, "Not here.", category="project", scope="project", project_key="example.org/bob/shop")
    (text,) = run(store, "noodle list").texts
    assert text.splitlines() == [
        "2 memories, newest first:",
        f"  {new.id[-8:]}  [memory]  now  The shop is blue.",
        f"  {old.id[-8:]}  [user]  3 d  I like green tea.",
    ]


def test_list_shows_twenty_rows_and_says_how_many_more_there_are(store):
    for number in range(23):
        add(store, f"Rule number {number} of the house.")
    lines = run(store, "noodle list").texts[0].splitlines()
    assert len(lines) == 22
    assert lines[0] == "23 memories, newest first:"
    assert "3 more" in lines[-1]


def test_list_and_search_of_nothing_say_so(store):
    assert run(store, "noodle list").texts == ["Nothing is remembered here yet."]
    assert run(store, "noodle search unicorns").texts == ["No memory matches 'unicorns'."]


def test_search_shows_what_matches_and_changes_nothing(store):
    tea = add(store, "I like green tea.", created_at_ms=NOW_MS - 7_200_000)
    add(store, "The shop is blue.")
    before = store.list(ALL)
    assert run(store, "noodle search GREEN tea").texts == [
        f"Memories that match 'GREEN tea':\n  {tea.id[-8:]}  [memory]  2 h  I like green tea."
    ]
    assert store.list(ALL) == before


def test_search_shows_at_most_twenty_rows(store):
    for number in range(23):
        add(store, f"Rule number {number} of the house.")
    lines = run(store, "noodle search of the house").texts[0].splitlines()
    assert len(lines) == 22
    assert lines[-1].strip().startswith("… and more")


def test_the_short_id_of_a_list_finds_its_memory(store):
    memory = add(store, "I like green tea.")
    add(store, "The shop is blue.")
    assert "green tea" in run(store, f"noodle search {short_id(memory)}").texts[0]
    run(store, f"noodle forget {short_id(memory)}", capabilities=("notify",))
    assert saved(store) == ["The shop is blue."]


def test_review_goes_through_what_was_saved_without_asking(store):
    add(store, "I like green tea.", origin="gate", created_at_ms=1_000)
    add(store, "The shop is blue.", metadata={"auto_saved": True}, created_at_ms=3_000)
    add(store, "Written by the agent.", origin="tool", created_at_ms=2_000)
    add(store, "Asked for.", origin="command")
    ui = run(store, "noodle review", [0, "Delete", True, 0, "Keep", "Done"])
    assert len(ui.shown[0][1]) == 4
    assert saved(store) == ["Asked for.", "I like green tea.", "Written by the agent."]
    assert ui.texts == ["Forgotten: [memory] The shop is blue.\nKept: [memory] Written by the agent."]
    again = run(store, "noodle review", ["Done"])
    assert again.shown[0][1] == ("1. [memory] I like green tea. (saved automatically)", "Done")


def test_review_does_not_list_what_was_approved_in_the_memory_review(store):
    queue(store, "I prefer tabs.")
    run(store, "memory-review", ["Save"])
    assert "nothing waits" in run(store, "noodle review").texts[0]


def test_remembering_what_the_agent_saved_gives_it_the_persons_word(store):
    memory = add(store, "I like green tea.", origin="tool")
    run(store, "noodle remember I like green tea.")
    assert not is_auto_saved(store.get(memory.id))


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
