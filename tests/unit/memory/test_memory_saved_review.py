from __future__ import annotations

import pytest
from memory_bench import Placing, ScriptedUi, new_memory

from clew.core.records import Provenance, Visibility
from clew.memory.filters import REVIEWED_MARK, is_auto_saved
from clew.memory.inbox import Inbox
from clew.memory.saved_review import DELETE, DONE, KEEP, find_unreviewed, list_unreviewed, review_saved

ALL = Visibility(everywhere=True)
UNASKED = ("gate", "tool", "extraction", "import", "merge", "compaction")
ASKED = ("ask", "command", "cli", "library")


def add(store, text, origin, **more):
    return store.add(new_memory(text, provenance=Provenance(origin=origin), **more)).memory


def review(store, answers, **more):
    ui = ScriptedUi(answers, **more)
    review_saved(ui, store, find_unreviewed(store, ALL))
    assert ui.is_done
    return ui


def test_what_nobody_asked_for_is_found_newest_first(store):
    for number, origin in enumerate((*UNASKED, *ASKED)):
        add(store, f"Saved by way of {origin}.", origin, created_at_ms=1_000 + number)
    found = [memory.provenance.origin for memory in find_unreviewed(store, ALL)]
    assert found == list(reversed(UNASKED))


def test_what_the_agent_says_of_its_own_memories_does_not_hide_them(store):
    add(store, "The agent liked this.", "tool", metadata={"auto_saved": False, "source": "manual_command"})
    assert len(find_unreviewed(store, ALL)) == 1


def test_what_noodle_saved_by_itself_is_found_and_what_it_reviewed_is_not(store):
    add(store, "Saved by Noodle.", "library", metadata={"auto_saved": True})
    add(store, "Approved in Noodle.", "library", metadata={"auto_saved": True, "reviewed_action": "saved_from_review"})
    assert [memory.text for memory in find_unreviewed(store, ALL)] == ["Saved by Noodle."]


def test_auto_mode_is_found_and_approved_candidates_are_not(store):
    inbox = Inbox(store, store, mode="auto")
    place = Placing(store, inbox)
    place("I prefer tabs.")
    inbox.mode = "confirm"
    place("The tests need Docker.")
    for waiting in inbox.waiting():
        inbox.approve(waiting.id)
    assert [memory.text for memory in find_unreviewed(store, ALL)] == ["I prefer tabs."]


def test_each_is_shown_with_who_saved_it(store):
    for number, origin in enumerate(UNASKED):
        add(store, f"By {origin}.", origin, created_at_ms=1_000 + number)
    ((title, options),) = review(store, [DONE]).shown
    assert title == "Saved without asking you (6), newest first:"
    assert options == (
        "1. [memory] By compaction. (saved automatically)",
        "2. [memory] By merge. (merged from others)",
        "3. [memory] By import. (imported)",
        "4. [memory] By extraction. (saved automatically)",
        "5. [memory] By tool. (saved by the agent)",
        "6. [memory] By gate. (saved automatically)",
        DONE,
    )


def test_what_is_kept_is_marked_and_does_not_come_again(store):
    memory = add(store, "I prefer tabs.", "tool", metadata={"a": 1})
    ui = review(store, [0, KEEP])
    assert store.get(memory.id).metadata == {"a": 1, **REVIEWED_MARK}
    assert find_unreviewed(store, ALL) == []
    assert ui.notices == ["Kept: [memory] I prefer tabs."]


def test_deleting_asks_for_confirmation_and_says_what_was_done(store):
    add(store, "I prefer tabs.", "tool")
    ui = review(store, [0, DELETE, True])
    assert "Forget this for good?" in ui.shown[2][0]
    assert store.count(ALL) == 0
    assert ui.notices == ["Forgotten: [memory] I prefer tabs."]


def test_a_deletion_that_is_not_confirmed_comes_back_to_the_list(store):
    add(store, "I prefer tabs.", "tool")
    ui = review(store, [0, DELETE, False, None])
    assert store.count(ALL) == 1
    assert ui.notices == []


def test_leaving_the_question_comes_back_to_the_list(store):
    add(store, "I prefer tabs.", "tool")
    assert review(store, [0, None, DONE]).notices == []
    assert is_auto_saved(find_unreviewed(store, ALL)[0])


def test_beyond_ten_the_next_ones_move_up(store):
    for number in range(12):
        add(store, f"Rule number {number} of the house.", "tool", created_at_ms=1_000 + number)
    ui = review(store, [0, KEEP, DONE])
    assert [len(options) for _, options in ui.shown] == [11, 2, 11]
    assert "(12)" in ui.shown[0][0]
    assert "Rule number 1 of" in ui.shown[2][1][9]


def test_one_that_another_session_deleted_is_told_and_passed_over(store):
    memory = add(store, "I prefer tabs.", "tool")
    saved = find_unreviewed(store, ALL)
    store.forget(memory.id)
    ui = ScriptedUi([0, KEEP])
    review_saved(ui, store, saved)
    assert len(ui.notices) == 1
    assert store.count(ALL) == 0


@pytest.mark.parametrize(("count", "more"), [(10, None), (12, "  … and 2 more")])
def test_hosts_without_dialogs_get_a_list(store, count, more):
    for number in range(count):
        add(store, f"Rule number {number} of the house.", "tool", created_at_ms=1_000 + number)
    lines = list_unreviewed(find_unreviewed(store, ALL)).splitlines()
    assert lines[0] == f"Saved without asking you ({count}), newest first:"
    assert lines[11:] == ([more] if more else [])
