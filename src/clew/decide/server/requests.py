"""A System One request: bytes to questions, or the problems found in them. Pure.

Texts may be strings, objects or arrays; what is not a string is rendered as canonical JSON, so that all that follows
sees strings.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from clew.core.decisions import Question, QuestionType
from clew.decide.server.refusals import InvalidRequest, Problem

MAX_STATE_BYTES = 256_000
MAX_QUESTIONS = 256
MAX_OPTIONS = 255
MAX_LEVELS = 10
#: More are not listed: a body of 1 MiB can hold 100,000 of them.
MAX_PROBLEMS = 100

_QUESTION_FIELDS = {"type", "instructions", "criteria"}
Loc = tuple[str | int, ...]
_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemOneRequest:
    """A request that can be answered.

    Attributes:
        state: as it was sent: string, object or array.
        state_text: the same as text.
        questions: in the order of the request; options and levels too.
    """

    model: str
    state: Any
    state_text: str
    questions: Mapping[str, Question]


def parse_request(body: bytes) -> SystemOneRequest:
    """Read the body of a POST /v1/systemone. Unknown top-level fields are passed over.

    Raises:
        InvalidRequest: with the problems found, MAX_PROBLEMS at most.
    """
    return parse_body(body, _read_request)


def parse_body(body: bytes, read: Callable[[Any], _Read]) -> _Read:
    """Decode a body as strict JSON and hand it to `read`. Raises InvalidRequest."""
    try:
        return read(json.loads(body.decode("utf-8"), parse_constant=_refuse_constant))
    except json.JSONDecodeError as error:
        raise InvalidRequest([Problem(loc=(error.pos,), msg="The body is not JSON.", type="json_invalid")]) from error
    except (ValueError, RecursionError) as error:
        problem = Problem(loc=(), msg="The body is not JSON in UTF-8, or is nested too deeply.", type="json_invalid")
        raise InvalidRequest([problem]) from error


def render_text(value: Any) -> str:
    """A string as it is, anything else as canonical JSON: sorted keys, compact, non-ASCII kept."""
    if isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _read_request(raw: Any) -> SystemOneRequest:
    if not isinstance(raw, dict):
        raise InvalidRequest([Problem(loc=(), msg="The body should be an object.", type="dict_type")])
    reader = Reader()
    model = reader.model(raw)
    state_text = reader.state(raw)
    questions = reader.questions(raw)
    if raw.get("assets"):
        reader.note(("assets",), "This server judges text only.", "extra_forbidden")
    if reader.problems:
        raise InvalidRequest(reader.problems)
    return SystemOneRequest(model=model, state=raw["state"], state_text=state_text, questions=questions)


class Reader:
    """Collects problems while it reads, so that the sender hears of them at once."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def note(self, loc: Loc, msg: str, type_: str) -> None:
        """Keep a problem, as long as there are not too many to read."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(loc=loc, msg=msg, type=type_))

    def model(self, raw: Mapping[str, Any]) -> str:
        """The model's name."""
        model = raw.get("model")
        if "model" not in raw:
            self.note(("model",), "A model is required.", "missing")
        elif not isinstance(model, str):
            self.note(("model",), "The model should be a string.", "string_type")
        return str(model)

    def state(self, raw: Mapping[str, Any]) -> str:
        """The state as text."""
        if "state" not in raw:
            self.note(("state",), "A state is required.", "missing")
        elif raw["state"] is None:
            self.note(("state",), "The state should be a string, an object or an array.", "union_type")
        text = self.text(("state",), raw.get("state"))
        if len((text or "").encode("utf-8", "replace")) > MAX_STATE_BYTES:
            self.note(("state",), f"The state is larger than {MAX_STATE_BYTES} bytes.", "too_long")
        return text or ""

    def text(self, loc: Loc, value: Any) -> str | None:
        """Text or null."""
        if value is None:
            return None
        if isinstance(value, str | dict | list):
            return render_text(value)
        self.note(loc, "Should be a string, an object or an array.", "union_type")
        return None

    def questions(self, raw: Mapping[str, Any]) -> dict[str, Question]:
        """The questions that could be read."""
        read = ((id_, self.question(id_, body)) for id_, body in self.named_questions(raw, MAX_QUESTIONS).items())
        return {id_: question for id_, question in read if question}

    def named_questions(self, raw: Mapping[str, Any], most: int) -> Mapping[str, Any]:
        """The questions as they were sent; empty if there are none, or too many to read."""
        loc = ("questions",)
        named = raw.get("questions")
        if "questions" not in raw:
            self.note(loc, "Questions are required.", "missing")
        elif not isinstance(named, dict):
            self.note(loc, "The questions should be an object.", "dict_type")
        elif self.count(loc, len(named), most):
            return named
        return {}

    def count(self, loc: Loc, size: int, most: int) -> bool:
        """Whether there are 1 to `most` entries."""
        if 1 <= size <= most:
            return True
        self.note(loc, f"Should have 1 to {most} entries, not {size}.", "too_long" if size else "too_short")
        return False

    def question(self, id_: str, raw: Any) -> Question | None:
        """One question; None if not even its type can be told."""
        loc: Loc = ("questions", id_)
        if not id_:
            self.note(loc, "A question needs an id.", "too_short")
        if not isinstance(raw, dict):
            self.note(loc, "A question should be an object.", "dict_type")
            return None
        type_ = raw.get("type")
        if type_ not in ("noul", "choice", "score"):
            missing = "type" not in raw
            self.note(
                loc, "The type should be noul, choice or score.", f"union_tag_{'not_found' if missing else 'invalid'}"
            )
            return None
        loc = (*loc, type_)
        for field in sorted(set(raw) - _QUESTION_FIELDS):
            self.note((*loc, field), "A question has no such field.", "extra_forbidden")
        instructions = self.text((*loc, "instructions"), raw.get("instructions"))
        criteria = self.criteria(loc, type_, raw.get("criteria"))
        if type_ == "noul" and instructions is None and not any(criteria.values()):
            self.note((*loc, "instructions"), "Ask something, or describe an outcome in the criteria.", "missing")
        return Question(id=id_, type=cast("QuestionType", type_), instructions=instructions, criteria=criteria)

    def criteria(self, loc: Loc, type_: str, raw: Any) -> dict[str, str | None]:
        """What the question's type takes as criteria, as option → text."""
        loc = (*loc, "criteria")
        if type_ == "score":
            return self.levels(loc, raw)
        if type_ == "noul":
            return self.outcomes(loc, raw)
        return self.options(loc, raw)

    def outcomes(self, loc: Loc, raw: Any) -> dict[str, str | None]:
        """Of a noul: true, false, both or none."""
        if raw is None:
            return {}
        if not isinstance(raw, dict) or not set(raw) <= {"true", "false"}:
            self.note(loc, 'Should be an object with "true" and/or "false".', "model_type")
            return {}
        return {name: self.text((*loc, name), text) for name, text in raw.items()}

    def options(self, loc: Loc, raw: Any) -> dict[str, str | None]:
        """Of a choice."""
        if not isinstance(raw, dict):
            self.note(loc, "A choice needs an object of options.", "missing" if raw is None else "dict_type")
            return {}
        if not self.count(loc, len(raw), MAX_OPTIONS):
            return {}
        for name in raw:
            if not name.strip():
                self.note((*loc, name), "An option needs a name.", "too_short")
        return {name: self.text((*loc, name), text) for name, text in raw.items()}

    def levels(self, loc: Loc, raw: Any) -> dict[str, str | None]:
        """Of a score, under their numbers."""
        if not isinstance(raw, list):
            self.note(loc, "A score needs a list of levels.", "missing" if raw is None else "list_type")
            return {}
        if not self.count(loc, len(raw), MAX_LEVELS):
            return {}
        for position, text in enumerate(raw):
            if text is None:
                self.note((*loc, position), "A level needs a text.", "string_type")
        return {str(position): self.text((*loc, position), text) for position, text in enumerate(raw)}
