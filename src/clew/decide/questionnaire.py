"""Questionnaires: the files that say what a decision model is asked.

A file holds the `questions` map of a System One request: bare, or wrapped as `{"version": 1, "questions": …}`, or as a
list of questions that carry their `id`. Whatever cannot be asked is refused with the file, the question and the mend.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, cast

from clew.core.decisions import Question, QuestionType
from clew.core.errors import SettingsError

#: The limits of the smallest known servers: a questionnaire within them can be sent anywhere. A choice may be wider,
#: because the client splits it where it must.
MAX_QUESTIONS = 64
MAX_ID_CHARS = 128
MAX_TEXT_CHARS = 8_000
MAX_FILE_BYTES = 1_000_000
OPTION_LIMITS: Mapping[str, tuple[int, int]] = {"choice": (2, 255), "score": (2, 10)}

#: What the gate's rule reads: question id → type.
GATE_QUESTIONS: Mapping[str, QuestionType] = {
    "has_secret": "noul",
    "is_session_scoped": "noul",
    "is_failure": "noul",
    "is_durable": "noul",
    "importance": "score",
    "target": "choice",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionnaireKind:
    """What one questionnaire is for.

    Attributes:
        setting: the setting that names a file to use instead of the bundled one.
        needed: what its reader looks for: question id → type.
    """

    name: str
    setting: str
    bundled: Path
    needed: Mapping[str, QuestionType]


GATE = QuestionnaireKind(
    name="gate",
    setting="questionsPath",
    bundled=Path(__file__).with_name("gate-questions.json"),
    needed=GATE_QUESTIONS,
)
CONSOLIDATION = QuestionnaireKind(
    name="consolidation",
    setting="consolidateQuestionsPath",
    bundled=Path(__file__).with_name("consolidate-questions.json"),
    needed={"still_relevant": "noul"},
)
PAIRS = QuestionnaireKind(
    name="pairs",
    setting="pairQuestionsPath",
    bundled=Path(__file__).with_name("consolidate-pair-questions.json"),
    needed={"same_fact": "noul", "replaces": "noul", "adds_detail": "noul"},
)


def load_questionnaire(path: Path | None, kind: QuestionnaireKind = GATE) -> dict[str, Question]:
    """Read a questionnaire, in the file's order; None reads the one of this kind that comes with Clew.

    Raises:
        SettingsError: the file cannot be read or holds something that cannot be asked.
    """
    source = path or kind.bundled
    raw = _read_json(source, kind.setting)
    named = dict(_name_questions(source, raw))
    if not 1 <= len(named) <= MAX_QUESTIONS:
        _refuse(source, None, f"it holds {len(named)} questions.", f"Write 1 to {MAX_QUESTIONS} of them.")
    return {id_: _read_question(source, id_, body) for id_, body in named.items()}


def load_consolidation_questionnaire(path: Path | None) -> dict[str, Question]:
    """The question asked of one memory: is it still relevant? Raises SettingsError as `load_questionnaire`."""
    return load_questionnaire(path, CONSOLIDATION)


def load_pair_questionnaire(path: Path | None) -> dict[str, Question]:
    """The questions asked of two memories, `a` and the later `b`. Raises SettingsError as `load_questionnaire`."""
    return load_questionnaire(path, PAIRS)


def find_gaps(questions: Mapping[str, Question], kind: QuestionnaireKind = GATE) -> tuple[str, ...]:
    """One sentence for each question that the reader of this kind needs and cannot use; empty when all is well."""
    gaps = []
    for id_, type_ in kind.needed.items():
        question = questions.get(id_)
        if question is None:
            gaps.append(f'The questionnaire lacks "{id_}": the rule that needs it is off.')
        elif question.type != type_:
            gaps.append(f'"{id_}" is a {question.type} and should be a {type_}: the rule that needs it is off.')
    target = questions.get("target") if kind is GATE else None
    if target and target.type == "choice" and "none" not in target.criteria:
        gaps.append('"target" has no option "none": nothing can be filtered by it.')
    return tuple(gaps)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsInForce:
    """The questions that are asked, the file they come from, and what the person should know about it."""

    kind: QuestionnaireKind
    source: Path
    questions: Mapping[str, Question]
    warnings: tuple[str, ...]


def find_in_force(kind: QuestionnaireKind, path: Path | None) -> QuestionsInForce:
    """The person's questionnaire, or the bundled one with a warning when theirs cannot be used."""
    try:
        questions = load_questionnaire(path, kind)
    except SettingsError as error:
        warning = f"{error} The bundled questions are used."
        questions = load_questionnaire(None, kind)
        return QuestionsInForce(kind=kind, source=kind.bundled, questions=questions, warnings=(warning,))
    return QuestionsInForce(
        kind=kind, source=path or kind.bundled, questions=questions, warnings=find_gaps(questions, kind)
    )


def _read_json(source: Path, setting: str) -> Any:
    try:
        with source.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            _refuse(source, None, "it is larger than 1 MB.", f"Point {setting} at a questionnaire.")
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_without_repeats)
    except OSError as error:
        raise SettingsError(
            f"The questionnaire {source} cannot be read ({error.strerror}).",
            f"Check {setting} and the file's rights.",
        ) from error
    except (ValueError, RecursionError) as error:
        _refuse(source, None, f"it is not valid JSON ({_shown(str(error), 120)}).", "Mend it there.")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON lets a name stand twice, and Python would silently keep the last one."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f'the name "{_shown(repeated)}" stands twice in one object')
    return found


def _name_questions(source: Path, raw: Any) -> Iterator[tuple[str, Any]]:
    """Undo the wrapper: yield each question's id and body."""
    if isinstance(raw, dict) and isinstance(raw.get("questions"), dict | list) and "type" not in raw["questions"]:
        raw = raw["questions"]
    if isinstance(raw, dict):
        yield from raw.items()
    elif isinstance(raw, list):
        yield from _name_listed(source, raw)
    else:
        _refuse(source, None, "it is neither an object nor a list.", 'Write {"version": 1, "questions": {…}}.')


def _name_listed(source: Path, listed: list[Any]) -> Iterator[tuple[str, Any]]:
    seen: set[str] = set()
    for number, body in enumerate(listed, start=1):
        id_ = body.get("id") if isinstance(body, dict) else None
        if not isinstance(id_, str):
            _refuse(
                source, f"number {number}", "it has no id.", 'Give it one: {"id": "is_durable", "type": "noul", …}.'
            )
        if id_ in seen:
            _refuse(source, id_, "the id stands twice.", "Rename or remove one of them.")
        seen.add(id_)
        yield id_, body


def _read_question(source: Path, id_: str, body: Any) -> Question:
    if not id_.strip() or len(id_) > MAX_ID_CHARS:
        _refuse(source, id_, "the id is blank or too long.", f"Use 1 to {MAX_ID_CHARS} characters.")
    if not isinstance(body, dict):
        _refuse(source, id_, "it is not an object.", 'Write {"type": "noul", "instructions": "…"}.')
    type_ = body.get("type")
    if type_ not in ("noul", "choice", "score"):
        _refuse(source, id_, f"its type is {_shown(json.dumps(type_))}.", 'Use "noul", "choice" or "score".')
    instructions = _read_text(source, id_, "instructions", body.get("instructions"))
    criteria = _read_criteria(source, id_, type_, body.get("criteria"))
    if type_ == "noul" and not (instructions or any(criteria.values())):
        _refuse(source, id_, "it asks nothing.", 'Write "instructions", or "criteria" for "true" or "false".')
    return Question(id=id_, type=cast("QuestionType", type_), instructions=instructions, criteria=criteria)


def _read_criteria(source: Path, id_: str, type_: str, raw: Any) -> dict[str, str | None]:
    if type_ == "score":
        if not isinstance(raw, list):
            _refuse(source, id_, "a score needs a list of levels.", 'Write "criteria": ["lowest", …, "highest"].')
        if not all(isinstance(level, str) and level.strip() for level in raw):
            _refuse(source, id_, "each level of a score needs a text.", "Describe every level in words.")
        options: dict[str, Any] = {str(level): text for level, text in enumerate(raw)}
    else:
        options = _read_named_options(source, id_, type_, raw)
    least, most = OPTION_LIMITS.get(type_, (0, 2))
    if not least <= len(options) <= most:
        _refuse(source, id_, f"it has {len(options)} options.", f"A {type_} takes {least} to {most} of them.")
    return {name: _read_text(source, id_, f"criteria.{name}", text) for name, text in options.items()}


def _read_named_options(source: Path, id_: str, type_: str, raw: Any) -> dict[str, Any]:
    if raw is None and type_ == "noul":
        return {}
    if not isinstance(raw, dict):
        _refuse(source, id_, f"the criteria of a {type_} are an object.", 'Write "criteria": {"option": "meaning", …}.')
    if type_ == "noul" and not set(raw) <= {"true", "false"}:
        _refuse(source, id_, "a noul knows two outcomes.", 'Use only "true" and "false" in its criteria.')
    if not all(name.strip() for name in raw):
        _refuse(source, id_, "an option has no name.", "Name every option.")
    return raw


def _read_text(source: Path, id_: str, field: str, raw: Any) -> str | None:
    if raw is None:
        return None
    if not isinstance(raw, str) or len(raw) > MAX_TEXT_CHARS:
        what = "is too long" if isinstance(raw, str) else "is not a text"
        _refuse(source, id_, f"{_shown(field)} {what}.", f"Write a string of up to {MAX_TEXT_CHARS} characters.")
    return raw.strip() or None


def _refuse(source: Path, question: str | None, what: str, mend: str) -> NoReturn:
    place = f"The questionnaire {source}" + (f', question "{_shown(question)}"' if question is not None else "")
    raise SettingsError(f"{place}: {what}", mend)


def _shown(text: str, max_chars: int = 60) -> str:
    """Text from the file as it may stand in a one-line message."""
    line = "".join(char if char.isprintable() else "?" for char in text)
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"
