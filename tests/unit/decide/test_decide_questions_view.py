"""What `clew questions` says about questions that the built-in judge cannot read."""

from __future__ import annotations

import json

from clew.decide.questionnaire import GATE, find_in_force
from clew.decide.questions_view import render_questions


def shown(tmp_path, questions: dict) -> list[str]:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"questions": questions}), encoding="utf-8")
    return render_questions([find_in_force(GATE, path)]).splitlines()


def note_after(lines: list[str], id_: str) -> str:
    place = next(at for at, line in enumerate(lines) if line.startswith(f"  {id_} "))
    return lines[place + 1] if place + 1 < len(lines) else ""


def test_a_reworded_question_is_marked_as_read_by_other_models_only(tmp_path) -> None:
    lines = shown(tmp_path, {"is_durable": {"type": "noul", "instructions": "Worth keeping?"}})
    assert "this wording counts for other models only" in note_after(lines, "is_durable")


def test_a_question_without_a_head_is_marked_as_abstained(tmp_path) -> None:
    lines = shown(tmp_path, {"mood": {"type": "noul", "instructions": "Is the person angry?"}})
    assert "has no head for this" in note_after(lines, "mood")


def test_the_bundled_questions_carry_no_mark() -> None:
    assert "built-in judge" not in render_questions([find_in_force(GATE, None)])


def test_names_of_a_questionnaire_give_a_terminal_no_orders(tmp_path) -> None:
    options = {"\x1b[31mred\nforged": "x", "none": None}
    lines = shown(tmp_path, {"\x1b[2Jid\nforged": {"type": "choice", "criteria": options}})
    assert not any("\x1b" in line or line.startswith("forged") for line in lines)
