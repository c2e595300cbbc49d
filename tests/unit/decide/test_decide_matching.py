"""Which head a question gets: tables of wordings that must find theirs, and of strangers that must find none."""

from __future__ import annotations

from typing import Any

import pytest

from clew.core.decisions import Question
from clew.decide.questionnaire import CONSOLIDATION, GATE, PAIRS, load_questionnaire
from clew.decide.server.matching import Match, find_match

BUNDLED = {id_: q for kind in (GATE, PAIRS, CONSOLIDATION) for id_, q in load_questionnaire(None, kind).items()}
TARGETS = dict.fromkeys(("none", "user", "project", "memory", "failure"))
LEVELS = {str(level): text for level, text in enumerate(("nothing", "little", "some", "much", "critical"))}
OPTIONS: dict[str, dict[str, Any]] = {"noul": {}, "choice": TARGETS, "score": LEVELS}

# None of these stands in wordings.json.
KNOWN = {
    "is_durable": [
        "Is there a durable fact in this exchange?",
        "Is this a fact worth remembering long-term?",
        "Would a colleague want to remember this next month?",
        "Does the user state a lasting preference?",
        "Should the assistant remember this in future conversations?",
        "Will this information still be useful in a month?",
        "Is the information durable, i.e. true beyond the current session?",
        "Would this still be true and useful in a later session on another day?",
        "Does this contain a standing rule or preference worth keeping?",
        "Is this memorable?",
        "Should we store this as a memory?",
        "Is this permanent rather than temporary?",
        "Is it durable, not just for this session?",
        "Dovrei ricordarmelo in futuro?",
        "Questo messaggio contiene qualcosa da ricordare a lungo termine?",
        "¿Deberíamos recordar esto?",
        "Faut-il s'en souvenir plus tard?",
        "Soll das langfristig gespeichert werden?",
    ],
    "has_secret": [
        "Does this contain a password or API key?",
        "Does the user's message include credentials?",
        "Is a secret value revealed?",
        "Does the text leak a secret such as a password, token or private key?",
        "Does this text contain an actual secret value (not just a pointer to where it is stored)?",
        "Is the secret itself present in the text?",
        "Contiene una password?",
        "Contient-il des identifiants secrets?",
    ],
    "is_session_scoped": [
        "Is this only valid for the current session?",
        "Does this hold only for this session?",
        "Is it a short-lived instruction, limited to today?",
        "Is the request explicitly limited to this session, task or moment?",
        "Is this temporary rather than lasting?",
        "Vale solo per questa sessione?",
    ],
    "is_failure": [
        "Is a lesson learned here?",
        "Does the exchange contain a lesson: something went wrong and the right way is known?",
        "Is there a mistake to avoid in the future?",
        "Does it explain why something failed, so it can be avoided next time?",
    ],
    "importance": [
        "How important is this to remember?",
        "How important is it for future sessions?",
        "Rate how important this memory is.",
    ],
    "target": [
        "What category should this memory be filed under?",
        "Which memory category fits best?",
        "Category of the memory",
    ],
    "same_fact": [
        "Do these two memories state the same fact?",
        "Are these duplicates of each other?",
        "Are the two statements equivalent?",
    ],
    "replaces": [
        "Does memory b make memory a obsolete?",
        "Does b update a, so that a no longer holds?",
        "Does entry b correct or replace entry a?",
    ],
    "adds_detail": [
        "Does each memory hold something the other lacks?",
        "Does b add new information to a?",
        "Are the two entries complementary?",
    ],
    "still_relevant": [
        "Is this entry still useful today?",
        "Is the memory still worth keeping?",
        "Should we keep this memory?",
    ],
}

STRANGERS = [
    "Is the customer angry?",
    "Is this exchange about billing?",
    "Does this contain a phone number?",
    "Does this contain an email address?",
    "Does the user ask how to rotate an API key?",
    "Does the user ask where the password is stored?",
    "Is the API key valid?",
    "Is the customer's password reset request urgent?",
    "Is this a key decision?",
    "Is the battery durable?",
    "Is this a temporary file?",
    "Is the failure caused by a timeout?",
    "Is there an error in the code?",
    "Is it a lesson plan?",
    "Does the user want to save money?",
    "Is the file stored in memory?",
    "Is the user a memory expert?",
    "Is the session over?",
    "Is the statement true?",
    "Are both tests green?",
    "Is memory b about the same project as memory a?",
    "Are the two memories unrelated?",
    "Do a and b contradict each other?",
    "Is the product still available?",
    "Contiene un numero di telefono?",
    "Ist der Kunde verärgert?",
    "이 문의는 어떤 유형인가요?",
    "?",
    "Is it worth " + "remembering " * 1000,
]

OPPOSITES = [
    "Is this NOT durable?",
    "Is this not worth remembering?",
    "Isn't this temporary?",
    "Is there no secret in this text?",
    "Is the text free of secrets?",
    "Should this be forgotten?",
    "Is this durable or temporary?",
    "Is this unimportant?",
    "Are a and b different?",
    "Can b be dropped?",
    "Can one of the two be dropped without losing information?",
    "Is this memory outdated?",
    "Non vale la pena ricordarlo?",
    "Enthält die Nachricht kein Passwort?",
]


def ask(head: str, instructions: str | None, criteria: dict[str, Any] | None = None) -> Match | None:
    """What a question of the head's type, under an id that says nothing, gets."""
    type_ = BUNDLED[head].type
    return find_match(
        Question(
            id="q", type=type_, instructions=instructions, criteria=OPTIONS[type_] if criteria is None else criteria
        )
    )


@pytest.mark.parametrize("head", BUNDLED)
def test_the_bundled_wording_finds_its_head(head: str) -> None:
    bundled = BUNDLED[head]
    match = Match(head=head, by="wording")
    assert ask(head, bundled.instructions, dict(bundled.criteria)) == match
    assert ask(head, bundled.instructions) == match
    if bundled.type == "noul":
        assert ask(head, None, dict(bundled.criteria)) == match


@pytest.mark.parametrize(("head", "wording"), [(head, wording) for head in KNOWN for wording in KNOWN[head]])
def test_other_words_for_the_same_find_the_same_head(head: str, wording: str) -> None:
    assert ask(head, wording) == Match(head=head, by="wording")


@pytest.mark.parametrize("wording", STRANGERS)
def test_another_question_finds_no_head(wording: str) -> None:
    assert ask("is_durable", wording) is None


@pytest.mark.parametrize("wording", OPPOSITES)
def test_the_opposite_of_a_known_question_finds_no_head(wording: str) -> None:
    assert ask("is_durable", wording) is None


@pytest.mark.parametrize(
    "wording", ["How angry is the customer?", "How much does it cost?", "How useful is the reply?"]
)
def test_another_scale_finds_no_head(wording: str) -> None:
    assert ask("importance", wording) is None


@pytest.mark.parametrize("wording", ["Which team should handle this ticket?", "What caused the failure?"])
def test_another_choice_between_the_same_names_finds_no_head(wording: str) -> None:
    assert ask("target", wording) is None


def test_outcomes_in_other_words_are_no_hindrance_and_swapped_ones_are() -> None:
    lasting, passing = "A lasting fact to remember", "Only temporary, or nothing to remember"
    wording = "Is this worth remembering?"
    assert ask("is_durable", wording, {"true": lasting, "false": passing})
    assert ask("is_durable", wording, {"true": "Yes", "false": "No"})
    assert ask("is_durable", wording, {"true": passing, "false": lasting}) is None


def test_levels_must_rise() -> None:
    wording = "How important is this to remember?"
    for levels in (["not important", "slightly", "rather", "very", "essential"], ["0", "1", "2", "3", "4"]):
        assert ask("importance", wording, {str(level): text for level, text in enumerate(levels)})
    falling = ["essential", "very", "rather", "slightly", "not important"]
    assert ask("importance", wording, {str(level): text for level, text in enumerate(falling)}) is None


def test_a_scale_of_another_length_and_other_options_find_no_head_even_by_id() -> None:
    scale = Question(
        id="importance", type="score", instructions=BUNDLED["importance"].instructions, criteria={"0": "a", "1": "b"}
    )
    choice = Question(
        id="target", type="choice", instructions="Which category?", criteria={"user": None, "none": None, "x": None}
    )
    without_none = Question(
        id="target", type="choice", instructions="Which category?", criteria={"user": None, "project": None}
    )
    assert [find_match(question) for question in (scale, choice, without_none)] == [None] * 3


def test_descriptions_under_other_names_find_no_head() -> None:
    known = BUNDLED["target"].criteria
    swapped = {**known, "user": known["project"], "project": known["user"]}
    assert ask("target", "Which category does this belong to?", dict(known))
    assert ask("target", "Which category does this belong to?", swapped) is None


def test_the_id_counts_only_when_the_wording_is_unknown() -> None:
    unknown = Question(id="is_durable", type="noul", instructions="Is it raining?")
    known = Question(id="is_durable", type="noul", instructions="Does this contain a secret?")
    other_type = Question(id="is_durable", type="score", instructions="Is it raining?", criteria=LEVELS)
    other_id = Question(id="Is_durable", type="noul", instructions="Is it raining?")
    assert find_match(unknown) == Match(head="is_durable", by="id")
    assert find_match(known) == Match(head="has_secret", by="wording")
    assert find_match(other_type) is None
    assert find_match(other_id) is None
