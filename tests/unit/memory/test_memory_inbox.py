from __future__ import annotations

import pytest
from memory_bench import PROJECT, Placing, candidate, new_memory

from clew.core.errors import InvalidInput, NotFound, SecretFound
from clew.core.records import Visibility
from clew.memory.inbox import Inbox

ALL = Visibility(everywhere=True)
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def open_inbox(store, mode="confirm", max_queue=20):
    inbox = Inbox(store, store, mode=mode, max_queue=max_queue)
    return inbox, Placing(store, inbox)


def test_in_confirm_mode_a_candidate_waits_and_nothing_is_saved(store):
    inbox, place = open_inbox(store)
    judgement = place("I prefer tabs over spaces.")
    assert (judgement.outcome, judgement.reason) == ("queued", "durable 0.93, importance 2.4")
    (waiting,) = inbox.waiting()
    assert (waiting.id, waiting.text) == (judgement.candidate_id, "I prefer tabs over spaces.")
    assert store.count(ALL) == 0


def test_in_auto_mode_a_candidate_is_saved_at_once_with_its_provenance(store):
    inbox, place = open_inbox(store, "auto")
    judgement = place("I prefer tabs over spaces.")
    assert judgement.outcome == "saved"
    memory = store.get(judgement.memory_id)
    assert (memory.text, memory.category, memory.scope) == ("I prefer tabs over spaces.", "user", "user")
    assert memory.provenance.origin == "gate"
    assert memory.provenance.decision_model == "fake-model"
    assert inbox.waiting() == []


def test_in_off_mode_only_the_judgement_is_recorded(store):
    inbox, place = open_inbox(store, "off")
    judgement = place("I prefer tabs over spaces.")
    assert judgement.outcome == "filtered"
    assert judgement.reason.endswith("review mode is off")
    assert (store.count(ALL), list(inbox.waiting()), store.counts().judged) == (0, [], 1)


def test_what_is_remembered_already_is_not_proposed(store):
    inbox, place = open_inbox(store)
    store.add(new_memory("I prefer tabs over spaces."))
    judgement = place("i prefer TABS over spaces")
    assert (judgement.outcome, judgement.reason) == ("filtered", "already remembered")
    assert inbox.waiting() == []


def test_a_fact_of_another_project_does_not_stand_in_the_way(store):
    _, place = open_inbox(store)
    store.add(new_memory("Deploys happen on Tuesday.", scope="project", project_key="example.org/bob/other"))
    judgement = place("Deploys happen on Tuesday.", "project", scope="project", project_key=PROJECT)
    assert judgement.outcome == "queued"


def test_a_hundred_near_duplicates_wait_as_one(store):
    inbox, place = open_inbox(store)
    for number in range(100):
        place("I always prefer tabs over spaces in Makefiles" + "!" * (number % 3))
    (waiting,) = inbox.waiting()
    assert waiting.seen_count == 100


def test_what_was_rejected_is_not_proposed_again(store):
    inbox, place = open_inbox(store)
    inbox.reject(place("I prefer tabs over spaces.").candidate_id)
    judgement = place("I prefer tabs over spaces!")
    assert (judgement.outcome, judgement.reason) == ("filtered", "you rejected this before")
    assert inbox.waiting() == []


def test_the_oldest_candidate_falls_off_a_full_inbox(store):
    inbox, place = open_inbox(store, max_queue=2)
    for text in ("The API uses port 1.", "Tests need Docker.", "Ada reviews on Friday."):
        place(text)
    assert [waiting.text for waiting in inbox.waiting()] == ["Tests need Docker.", "Ada reviews on Friday."]


def test_a_second_wording_of_a_stored_fact_waits_even_in_auto_mode(store):
    inbox, place = open_inbox(store, "auto")
    store.add(new_memory("PocketBase runs on port 8090"))
    judgement = place("PocketBase backend at localhost:8090")
    assert judgement.outcome == "queued"
    (waiting,) = inbox.waiting()
    assert inbox.similar(waiting).text == "PocketBase runs on port 8090"


@pytest.mark.parametrize("mode", ["confirm", "auto"])
def test_a_secret_is_neither_queued_nor_saved(store, mode):
    inbox, place = open_inbox(store, mode)
    assert place(f"The token is {TOKEN}").outcome == "vetoed"
    assert inbox.waiting() == []
    assert store.count(ALL) == 0


def test_approving_saves_the_candidate_and_takes_it_out(store):
    inbox, place = open_inbox(store)
    added = inbox.approve(place("I prefer tabs over spaces.").candidate_id)
    assert (added.memory.text, added.memory.category) == ("I prefer tabs over spaces.", "user")
    assert inbox.waiting() == []


def test_the_person_may_change_text_and_category_when_approving(store):
    inbox, place = open_inbox(store)
    text = "Deploys happen on Tuesday."
    waiting = place(text, "project", scope="project", project_key=PROJECT)
    added = inbox.approve(waiting.candidate_id, text="Deploys happen on Friday.", category="memory")
    assert (added.memory.text, added.memory.category, added.memory.scope) == (
        "Deploys happen on Friday.",
        "memory",
        "user",
    )
    assert added.memory.project_key is None


@pytest.mark.parametrize(("text", "error"), [(f"token {TOKEN}", SecretFound), ("  ", InvalidInput)])
def test_an_edit_passes_the_guard_again_and_a_refused_one_keeps_waiting(store, text, error):
    inbox, place = open_inbox(store)
    judgement = place("I prefer tabs over spaces.")
    with pytest.raises(error):
        inbox.approve(judgement.candidate_id, text=text)
    assert [waiting.id for waiting in inbox.waiting()] == [judgement.candidate_id]


def test_answers_to_a_candidate_that_is_gone_say_so(store):
    inbox, _ = open_inbox(store)
    with pytest.raises(NotFound):
        inbox.approve("gone")
    with pytest.raises(NotFound):
        inbox.reject("gone")


def test_a_candidate_without_likeness_has_no_similar_memory(store):
    inbox, _ = open_inbox(store)
    store.add(new_memory("PocketBase runs on port 8090"))
    assert inbox.similar(candidate("I prefer tabs over spaces.")) is None
