from __future__ import annotations

import pytest
from memory_bench import PROJECT, Placing, ScriptedUi, candidate, new_memory

from clew.core.records import GATE_CATEGORIES, Provenance, Visibility
from clew.memory.filters import is_auto_saved
from clew.memory.inbox import Inbox
from clew.memory.review import EDIT, REJECT, SAVE, SAVE_AS, SKIP, STOP, _category_options, describe, review_inbox

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
TEXTS = ("I prefer tabs over spaces.", "The tests need Docker.", "Ada reviews every Friday.")


@pytest.fixture
def inbox(store):
    inbox = Inbox(store, store)
    place = Placing(store, inbox)
    for text in TEXTS:
        place(text)
    return inbox


def saved(store):
    return sorted(memory.text for memory in store.list(Visibility(everywhere=True)))


def test_each_candidate_is_shown_with_its_place_category_scores_and_text(store, inbox):
    ui = ScriptedUi([SAVE, REJECT, SKIP])
    counts = review_inbox(ui, inbox)
    title, options = ui.shown[0]
    assert title == (
        "Save to memory? (1/3) [user] everywhere\nlasting 0.93 · importance 2.4 of 4\nI prefer tabs over spaces."
    )
    assert options == (SAVE, SAVE_AS, EDIT, REJECT, SKIP, STOP)
    assert (counts.saved, counts.rejected, counts.left) == (1, 1, 1)
    assert ui.notices == ["Review: 1 saved, 1 rejected, 1 left for later."]
    assert saved(store) == [TEXTS[0]]
    assert [waiting.text for waiting in inbox.waiting()] == [TEXTS[2]]


@pytest.mark.parametrize("answer", [STOP, None])
def test_stopping_or_leaving_keeps_the_rest(store, inbox, answer):
    counts = review_inbox(ScriptedUi([SAVE, answer]), inbox)
    assert (counts.saved, counts.left) == (1, 2)
    assert [waiting.text for waiting in inbox.waiting()] == list(TEXTS[1:])


def test_an_edited_candidate_is_saved_as_the_person_wrote_it(store, inbox):
    review_inbox(ScriptedUi([EDIT, "I prefer tabs, except in YAML.", STOP]), inbox)
    assert saved(store) == ["I prefer tabs, except in YAML."]


def test_leaving_the_editor_comes_back_to_the_candidate(store, inbox):
    ui = ScriptedUi([EDIT, None, SAVE, STOP])
    review_inbox(ui, inbox)
    assert ui.is_done
    assert saved(store) == [TEXTS[0]]


def test_an_edit_that_the_guard_refuses_is_explained_and_asked_again(store, inbox):
    ui = ScriptedUi([EDIT, f"my token is {TOKEN}", SKIP, STOP])
    review_inbox(ui, inbox)
    assert ui.is_done
    assert "secret" in ui.notices[0]
    assert TOKEN not in "".join(ui.notices)
    assert saved(store) == []


def test_save_as_explains_the_categories_marks_the_proposed_one_and_still_shows_the_text(store, inbox):
    ui = ScriptedUi([SAVE_AS, "memory – machine and tools", SAVE_AS, None, STOP])
    review_inbox(ui, inbox)
    (memory,) = store.list(Visibility(everywhere=True))
    assert memory.category == "memory"
    title, options = ui.shown[1]
    assert TEXTS[0] in title
    assert options == (
        "user – you and how to work with you (proposed)",
        "project – this repository",
        "memory – machine and tools",
        "failure – a lesson",
    )


def test_the_four_categories_of_the_gate_can_be_chosen():
    assert {option.split(" ")[0] for option in _category_options(candidate("x"))} == set(GATE_CATEGORIES)


def test_scores_are_told_in_words():
    shown = describe(candidate("x", scores={"is_durable": 0.987, "importance": 2.75, "is_failure": 0.0}))
    assert shown.splitlines()[0] == "lasting 0.99 · importance 2.8 of 4 · lesson 0.00"


def test_what_was_approved_carries_the_mark_of_the_review(store, inbox):
    review_inbox(ScriptedUi([SAVE, STOP]), inbox)
    (memory,) = store.list(Visibility(everywhere=True))
    assert memory.metadata == {"reviewed_action": "saved_from_review", "auto_saved": False}
    assert not is_auto_saved(memory)


def test_approving_what_the_agent_had_saved_already_marks_that_memory(store, inbox):
    known = store.add(new_memory(TEXTS[0], provenance=Provenance(origin="tool"), metadata={"a": 1})).memory
    assert is_auto_saved(known)
    added = inbox.approve(inbox.waiting()[0].id)
    assert (added.outcome, added.memory.id) == ("duplicate", known.id)
    assert store.get(known.id) == added.memory
    assert added.memory.metadata["a"] == 1
    assert not is_auto_saved(added.memory)


def test_hosts_that_can_only_confirm_ask_before_they_reject(store, inbox):
    ui = ScriptedUi([True, False, True, False, False], capabilities=("confirm",))
    counts = review_inbox(ui, inbox)
    assert (counts.saved, counts.rejected, counts.left) == (1, 1, 1)
    assert [waiting.text for waiting in inbox.waiting()] == [TEXTS[2]]


def test_hosts_without_dialogs_list_what_waits_and_say_how_to_answer(store, inbox):
    ui = ScriptedUi(capabilities=("notify",))
    assert review_inbox(ui, inbox).left == 3
    (notice,) = ui.notices
    assert notice.startswith("3 memories wait for review:")
    assert all(text in notice for text in TEXTS)
    assert "/memory-review" in notice


@pytest.mark.parametrize(("mode", "word"), [("confirm", "No memories wait"), ("auto", "auto"), ("off", "off")])
def test_an_empty_inbox_is_a_notice_that_names_an_unusual_mode(store, mode, word):
    ui = ScriptedUi()
    review_inbox(ui, Inbox(store, store, mode=mode))
    assert word in ui.notices[0]


def test_a_candidate_that_another_session_answered_is_passed_over(store, inbox):
    first = inbox.waiting()[0]

    class Racing(ScriptedUi):
        def select(self, title, options):
            if not self.shown:
                inbox.reject(first.id)
            return super().select(title, options)

    ui = Racing([SAVE, SAVE, STOP])
    assert review_inbox(ui, inbox).saved == 1
    assert saved(store) == [TEXTS[1]]


def test_what_is_shown_holds_no_invisible_or_control_characters():
    shown = describe(candidate("safe\u200b\u202e text\x1b[31m here"), similar="old\u200b text")
    assert "safe text" in shown
    assert not set(shown) & set("\u200b\u202e\x1b")


def test_a_candidate_of_another_project_is_shown_with_the_project_it_belongs_to(store):
    inbox = Inbox(store, store)
    Placing(store, inbox)("We test with vitest.", "project", scope="project", project_key=PROJECT)
    shown = {}
    for current in (PROJECT, "example.org/bob/other", None):
        ui = ScriptedUi([SKIP])
        review_inbox(ui, inbox, project_key=current)
        shown[current] = ui.shown[0][0].splitlines()[0].removeprefix("Save to memory? (1/1) ")
    assert shown == {
        PROJECT: f"[project] this project ({PROJECT})",
        "example.org/bob/other": f"[project] project {PROJECT}",
        None: f"[project] project {PROJECT}",
    }
    listed = ScriptedUi(capabilities=("notify",))
    review_inbox(listed, inbox, project_key="example.org/bob/other")
    assert f"[project] (project {PROJECT}) We test with vitest." in listed.notices[0]


def test_a_similar_memory_is_shown_beside_the_candidate(store):
    inbox = Inbox(store, store)
    store.add(new_memory("PocketBase runs on port 8090"))
    Placing(store, inbox)("PocketBase backend at localhost:8090")
    ui = ScriptedUi([SKIP])
    review_inbox(ui, inbox)
    assert "Similar to a saved memory: PocketBase runs on port 8090" in ui.shown[0][0]
