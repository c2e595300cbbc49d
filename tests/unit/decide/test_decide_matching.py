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
        "¿Merece la pena recordar esto en futuras sesiones?",
        "Faut-il s'en souvenir plus tard?",
        "Faut-il s'en souvenir dans les sessions suivantes ?",
        "Soll das langfristig gespeichert werden?",
        "Does the user share a preference that should be remembered?",
        "Is there any information in this turn that would still be true and helpful in a future session?",
        "Would remembering this help in later conversations?",
        "Is this something to remember for next time?",
        "Does this turn contain a lasting fact about the project, the machine or the user?",
        "Is this piece of information durable enough to store?",
        "Is what the user says likely to matter again later?",
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
        "Does this exchange include an actual credential (API key, password, token, private key)?",
        "Is there a leaked secret in the message?",
        "Does it contain login credentials or tokens?",
        "Are secrets present in plain text?",
    ],
    "is_session_scoped": [
        "Is this only valid for the current session?",
        "Does this hold only for this session?",
        "Is it a short-lived instruction, limited to today?",
        "Is the request explicitly limited to this session, task or moment?",
        "Is this temporary rather than lasting?",
        "Vale solo per questa sessione?",
        "Is this instruction valid for this session only?",
        "Is this just for today?",
        "Is the user's instruction scoped to the current task only?",
    ],
    "is_failure": [
        "Is a lesson learned here?",
        "Does the exchange contain a lesson: something went wrong and the right way is known?",
        "Is there a mistake to avoid in the future?",
        "Does it explain why something failed, so it can be avoided next time?",
        "Does the exchange report a failed approach and why it failed?",
        "Is there a lesson about a tool quirk or a mistake?",
        "Does the exchange teach something about what to avoid?",
        "Is this a failure with a named cause?",
    ],
    "importance": [
        "How important is this to remember?",
        "How important is it for future sessions?",
        "Rate how important this memory is.",
        "How important is it to keep this?",
        "How important is the information for future work?",
        "On a scale from 0 to 4, how important is it to remember this?",
    ],
    "target": [
        "What category should this memory be filed under?",
        "Which memory category fits best?",
        "Category of the memory",
        "Which type of memory is this?",
        "To which category does this memory belong?",
        "Choose the category for this memory.",
    ],
    "same_fact": [
        "Do these two memories state the same fact?",
        "Are these duplicates of each other?",
        "Are the two statements equivalent?",
        "Are memory a and memory b duplicates?",
        "Do these two memories mean the same thing?",
        "Do both memories convey the same information?",
    ],
    "replaces": [
        "Does memory b make memory a obsolete?",
        "Does b update a, so that a no longer holds?",
        "Does entry b correct or replace entry a?",
        "Does memory b override memory a?",
        "Does the newer entry replace the older one?",
        "Has a been superseded by b?",
        "Is the first entry replaced by the second?",
        "Does the second entry replace the first?",
        "La seconda voce sostituisce la prima?",
        "¿La segunda entrada reemplaza a la primera?",
        "La seconde entrée remplace-t-elle la première ?",
        "Ersetzt der zweite Eintrag den ersten?",
    ],
    "adds_detail": [
        "Does each memory hold something the other lacks?",
        "Does b add new information to a?",
        "Are the two entries complementary?",
        "Does memory b add detail to memory a?",
        "Do the memories each contain unique details?",
        "Is there information in one memory that the other lacks?",
    ],
    "still_relevant": [
        "Is this entry still useful today?",
        "Is the memory still worth keeping?",
        "Should we keep this memory?",
        "Is the memory still valid?",
        "Is this memory entry still worth keeping?",
        "Does this memory still apply?",
        "Would a future session still benefit from this memory?",
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
    "Does the session end soon?",
    "Is this task important?",
    "Is the request important?",
    "Is it the same model?",
    "Is this the second model?",
    "Are both models the same?",
    "Is a password needed to log in?",
    "Does the user need a new API key?",
    "Does the assistant ask for a password?",
    "Is the user's login broken?",
    "Does the report contain an error?",
    "Is a reason given?",
    "Is the cause known?",
    "Does the user want to learn Python?",
    "Is this a tutorial to learn from?",
    "Does the user work on several projects?",
    "Is the information relevant?",
    "Will it rain later?",
    "Does the user plan to continue later?",
    "Is the task to be continued in a later session?",
    "Is this useful?",
    "Is the answer useful?",
    "Is it valid?",
    "Is this a preference?",
    "Does the user state a fact?",
    "Is this a decision?",
    "Is the rule right?",
    "Is there a task in this message?",
    "Does the request still stand?",
    "Is the feature still needed?",
    "Should the file be kept?",
    "Is it safe to store passwords here?",
    "Does the agent forget things?",
    "Did the user forget the password?",
    "Are the secrets stored in a vault?",
    "Is the secret rotation done?",
    "Is today a holiday?",
    "Is the deadline today?",
    "Is this conversation over?",
    "Is the memory of the machine full?",
    "Does the machine have enough memory?",
    "Does memory usage matter?",
    "Is the user's job permanent?",
    "Does the user remember the command?",
    "Is this a duplicate ticket?",
    "Is the bug fixed?",
    "Is the fix temporary?",
    "Is the first better than the second?",
    "Does b depend on a?",
    "Is b longer than a?",
    "Is b true?",
    "Is a true?",
    "Does a mention a date?",
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


@pytest.mark.parametrize(
    "text",
    [
        "Does a replace b?",
        "Does memory a supersede memory b?",
        "Does the first entry make the second obsolete?",
        "Does the older memory replace the newer one?",
        "Is b no longer true if a is?",
        "If a is true, is b no longer true?",
        "Is memory b outdated because of memory a?",
        "Has b been superseded by a?",
        "La prima voce sostituisce la seconda?",
        "¿La primera entrada reemplaza a la segunda?",
        "Le premier souvenir remplace-t-il le second ?",
        "Ersetzt Eintrag a den Eintrag b?",
        "Ist b durch a überholt?",
    ],
)
def test_which_entry_replaces_the_other_is_not_turned_round(text: str) -> None:
    assert find_match(Question(id="q", type="noul", instructions=text, criteria={})) is None
