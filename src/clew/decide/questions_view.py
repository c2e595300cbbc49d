"""Questionnaires in force as a person or a program reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from clew.core.decisions import Question
from clew.decide.questionnaire import QuestionsInForce, load_questionnaire
from clew.decide.wire import question_as_json


def render_questions(in_force: Sequence[QuestionsInForce]) -> str:
    """All questionnaires as text: kind, file, warnings, then each question with its options."""
    return "\n\n".join("\n".join(_render(one)) for one in in_force)


def questions_json(in_force: Sequence[QuestionsInForce]) -> dict[str, Any]:
    """Kind → `source`, `setting`, `warnings` and `questions`; the last can be saved as a questionnaire file."""
    return {
        one.kind.name: {
            "source": str(one.source),
            "setting": one.kind.setting,
            "warnings": list(one.warnings),
            "questions": {id_: question_as_json(question) for id_, question in one.questions.items()},
        }
        for one in in_force
    }


def _render(one: QuestionsInForce) -> Iterator[str]:
    origin = f"bundled; set {one.kind.setting} to use your own" if one.source == one.kind.bundled else one.kind.setting
    yield f"{one.kind.name}: {one.source} ({origin})"
    yield from (f"  ! {warning}" for warning in one.warnings)
    bundled = load_questionnaire(one.kind.bundled, one.kind)
    for question in one.questions.values():
        yield f"  {_one_line(question.id)} ({question.type}): {_one_line(question.instructions)}"
        yield from (f"    ! {note}" for note in _note(question, bundled.get(question.id)))
        yield from (f"    {_one_line(name)}: {_one_line(text)}" for name, text in question.criteria.items())


def _note(question: Question, bundled: Question | None) -> Iterator[str]:
    """What the built-in judge makes of a question that is not the bundled one: its heads are trained, and cannot read."""
    if question == bundled:
        return
    if bundled is None or question.type != bundled.type or not set(question.criteria) <= set(bundled.criteria):
        yield "the built-in judge has no head for this: it abstains, and its answer decides nothing"
    else:
        yield "the built-in judge answers by its trained head; this wording counts for other models only"


def _one_line(text: str | None) -> str:
    from clew.core.text import display_text

    return display_text(text, 1_000) if text else "-"
