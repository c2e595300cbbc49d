"""The main promise: what is worth keeping is known to later sessions, and nothing else is."""

from __future__ import annotations

from phrases import (
    CHATTER,
    FENCE_END,
    FENCE_START,
    LESSON,
    PREFERENCE,
    PROJECT_FACT,
    QUESTION_ABOUT_FACT,
    SECRET,
    TEMPORARY,
    WITH_SECRET,
)


def test_a_later_session_knows_what_an_earlier_one_was_told(pi, model, stored):
    pi.print(PREFERENCE, PROJECT_FACT)
    stored.wait_for_judged(2)

    pi.print(QUESTION_ABOUT_FACT)

    request = model.requests[-1]
    assert request.all_text.count("never npm") == 1
    fenced = [text for text in request.user_texts if FENCE_START in text]
    assert len(fenced) == 1
    assert fenced[0].startswith(FENCE_START)
    assert fenced[0].endswith(FENCE_END)
    assert "never npm" in fenced[0]
    assert request.user_texts.index(QUESTION_ABOUT_FACT) + 1 == request.user_texts.index(fenced[0])


def test_a_memory_is_injected_once_into_a_session(pi, model, stored):
    pi.print(PROJECT_FACT)
    stored.wait_for_judged(1)

    with pi.rpc() as session:
        session.prompt(QUESTION_ABOUT_FACT)
        session.prompt(QUESTION_ABOUT_FACT + " Say it once more.")

    assert model.requests[-1].all_text.count("never npm") == 1


def test_what_was_recalled_is_not_captured_again(pi, stored):
    pi.print(PROJECT_FACT)
    stored.wait_for_judged(1)
    pi.print(QUESTION_ABOUT_FACT)
    stored.wait_for_judged(2)

    assert stored.texts() == [PROJECT_FACT]
    assert stored.saved_once() == 1


def test_nothing_is_injected_when_nothing_applies(pi, model, stored):
    pi.print(PROJECT_FACT)
    stored.wait_for_judged(1)

    pi.print("Which moons does Jupiter have?")

    assert FENCE_START not in model.requests[-1].all_text


def test_a_project_fact_stays_in_its_project_and_a_preference_does_not(pi, model, stored, tmp_path):
    pi.print(PROJECT_FACT, PREFERENCE)
    stored.wait_for_judged(2)
    other = tmp_path / "other-project"
    other.mkdir()

    pi.print(QUESTION_ABOUT_FACT, "Do I prefer short answers, or with a summary?", cwd=other)

    assert "never npm" not in model.requests[-1].all_text
    assert "short answers, never write a summary" in model.requests[-1].all_text


def test_a_secret_is_nowhere_on_disk(pi, stored):
    pi.print(WITH_SECRET, PREFERENCE)
    stored.wait_for_judged(2)

    assert SECRET in pi.session_files()[-1].read_text(encoding="utf-8")
    assert stored.files_with(PREFERENCE) != [], "the search finds what is stored"
    assert stored.files_with(SECRET) == []
    assert stored.texts() == [PREFERENCE]


def test_a_secret_stays_off_the_disk_when_it_was_asked_to_be_remembered(pi, stored):
    pi.print(f"Remember that the staging password = {SECRET}")
    stored.wait_for_judged(1)

    assert stored.files_with(SECRET) == []
    assert stored.texts() == []


def test_temporary_instructions_and_chatter_are_not_stored(pi, stored):
    pi.print(TEMPORARY, CHATTER)
    stored.wait_for_judged(2)

    assert stored.texts() == []
    assert stored.inbox_texts() == []


def test_an_explicit_ask_is_saved_without_review(pi, stored):
    pi.write_gate_config(reviewMode="confirm")
    pi.print(
        "Remember that prices are stored in integer cents.", "Ricorda che il deploy si fa solo dal branch release."
    )
    stored.wait_for_judged(2)

    assert len(stored.texts()) == 2
    assert "integer cents" in stored.texts()[0]
    assert "branch release" in stored.texts()[1]


def test_a_candidate_is_stored_after_its_approval_in_a_dialog(pi, stored):
    pi.write_gate_config(reviewMode="confirm")
    with pi.rpc(answers={"select": "Save", "confirm": True}) as session:
        session.prompt(LESSON)
        stored.wait_for_judged(1)
        assert stored.texts() == []
        assert stored.inbox_texts() == [LESSON]

        session.prompt("/memory-review")

    assert stored.texts() == [LESSON]
    assert stored.inbox_texts() == []


def test_a_rejected_candidate_is_not_proposed_again(pi, stored):
    pi.write_gate_config(reviewMode="confirm")
    with pi.rpc(answers={"select": "Reject"}) as session:
        session.prompt(LESSON)
        stored.wait_for_judged(1)
        session.prompt("/memory-review")
        session.prompt(LESSON)
        stored.wait_for_judged(2)

    assert stored.texts() == []
    assert stored.inbox_texts() == []


def test_leaving_the_review_loses_nothing(pi, stored):
    pi.write_gate_config(reviewMode="confirm")
    with pi.rpc() as session:
        session.prompt(LESSON)
        stored.wait_for_judged(1)
        session.prompt("/memory-review")

    assert stored.inbox_texts() == [LESSON]
