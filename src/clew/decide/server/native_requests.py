"""A request to the native decisions API: stricter than System One, with candidates that can say "cannot tell". Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from clew.core.decisions import Question
from clew.decide.server.refusals import InvalidRequest, Problem
from clew.decide.server.requests import Loc, Reader, parse_body

MAX_QUESTIONS = 64
#: One capital letter each, specials included.
MAX_CANDIDATES = 26
MAX_TEXT_CHARS = 8_000
MAX_ID_CHARS = 128
MAX_UNIT_CHARS = 64
MAX_MAGNITUDE = 1e100
INSUFFICIENT = "__insufficient__"
BELOW, ABOVE = "__below_range__", "__above_range__"
SPECIALS = {
    BELOW: "The value is below the range.",
    ABOVE: "The value is above the range.",
    INSUFFICIENT: "The evidence does not say.",
}

_OPTION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_FIELDS = {
    "boolean": {"true_description", "false_description"},
    "choice": {"options"},
    "score": {"levels"},
    "numeric": {"unit", "anchors"},
}
_DEFAULT_OUTCOMES = {"false": "No.", "true": "Yes."}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """When the primary value is held back."""

    allow_abstain: bool = True
    max_unavailable_probability: float = 0.5
    min_top_probability: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeQuestion:
    """One question.

    Attributes:
        legend: candidate id → description, in candidate order, without specials.
        specials: ids of the candidates that mean "no value".
        asked: the same question in the shape of System One; None if it has none.
        values: of score levels and numeric anchors.
    """

    type: str
    legend: Mapping[str, str]
    specials: tuple[str, ...]
    policy: Policy
    asked: Question | None
    values: tuple[float, ...] = ()
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeRequest:
    """A request that can be answered; see SystemOneRequest."""

    state: Any
    state_text: str
    questions: Mapping[str, NativeQuestion]
    raw_questions: Mapping[str, Any] = field(default_factory=dict)
    mode: str = "shared"


def parse_native(body: bytes) -> NativeRequest:
    """Read the body of a POST /v1/decisions; unknown fields are refused. Raises InvalidRequest."""
    return parse_body(body, _read_request)


def _read_request(raw: Any) -> NativeRequest:
    if not isinstance(raw, dict):
        raise InvalidRequest([Problem(loc=(), msg="The body should be an object.", type="dict_type")])
    reader = _NativeReader()
    reader.refuse_others((), raw, {"state", "questions", "mode"})
    state_text = reader.state(raw)
    mode = raw.get("mode", "shared")
    if mode not in ("shared", "direct"):
        reader.note(("mode",), "The mode should be shared or direct.", "literal_error")
    named = reader.named_questions(raw, MAX_QUESTIONS)
    read = {id_: reader.native(id_, body) for id_, body in named.items()}
    if reader.problems:
        raise InvalidRequest(reader.problems)
    questions = {id_: question for id_, question in read.items() if question}
    return NativeRequest(state=raw["state"], state_text=state_text, questions=questions, raw_questions=named, mode=mode)


class _NativeReader(Reader):
    def refuse_others(self, loc: Loc, raw: Mapping[str, Any], known: set[str]) -> None:
        for name in sorted(set(raw) - known):
            self.note((*loc, name), "There is no such field.", "extra_forbidden")

    def native(self, id_: str, raw: Any) -> NativeQuestion | None:
        loc: Loc = ("questions", id_)
        if not id_.strip() or len(id_) > MAX_ID_CHARS:
            self.note(loc, f"An id has 1 to {MAX_ID_CHARS} characters.", "string_type")
        if not isinstance(raw, dict):
            self.note(loc, "A question should be an object.", "dict_type")
            return None
        type_ = raw.get("type")
        if not isinstance(type_, str) or type_ not in _FIELDS:
            kind = "union_tag_invalid" if "type" in raw else "union_tag_not_found"
            self.note(loc, f"The type should be one of {', '.join(_FIELDS)}.", kind)
            return None
        loc = (*loc, type_)
        self.refuse_others(loc, raw, {"type", "instructions", "policy"} | _FIELDS[type_])
        instructions = self.required_text((*loc, "instructions"), raw.get("instructions"))
        policy = self.policy((*loc, "policy"), raw.get("policy"))
        question = {
            "boolean": self.boolean, "choice": self.choice, "score": self.score, "numeric": self.numeric
        }[type_](loc, raw, instructions, policy)  # fmt: skip
        if len(question.legend) + len(question.specials) > MAX_CANDIDATES:
            self.note(loc, f"Options and special ones are more than {MAX_CANDIDATES}.", "too_long")
        return question

    def required_text(self, loc: Loc, raw: Any) -> str:
        text = raw.strip() if isinstance(raw, str) else ""
        if not 1 <= len(text) <= MAX_TEXT_CHARS:
            kind = "missing" if raw is None else "string_type"
            self.note(loc, f"Should be a string of 1 to {MAX_TEXT_CHARS} characters.", kind)
        return text

    def policy(self, loc: Loc, raw: Any) -> Policy:
        if raw is None:
            return Policy()
        if not isinstance(raw, dict):
            self.note(loc, "The policy should be an object.", "dict_type")
            return Policy()
        self.refuse_others(loc, raw, set(Policy.__dataclass_fields__))
        policy = Policy(**{name: raw[name] for name in Policy.__dataclass_fields__ if name in raw})
        if not isinstance(policy.allow_abstain, bool):
            self.note((*loc, "allow_abstain"), "Should be true or false.", "bool_type")
        for name in ("max_unavailable_probability", "min_top_probability"):
            value = getattr(policy, name)
            if not _is_number(value) or not 0 <= value <= 1 or (value == 0 and name.startswith("max")):
                self.note((*loc, name), "Should be a probability.", "float_type")
        return policy

    def boolean(self, loc: Loc, raw: Mapping[str, Any], instructions: str, policy: Policy) -> NativeQuestion:
        legend: dict[str, str] = {}
        criteria: dict[str, str | None] = {}
        for outcome, default in _DEFAULT_OUTCOMES.items():
            text = raw.get(f"{outcome}_description")
            legend[outcome] = default if text is None else self.required_text((*loc, f"{outcome}_description"), text)
            criteria[outcome] = legend[outcome].removeprefix(default).strip() or None
        asked = Question(id="", type="noul", instructions=instructions, criteria=criteria)
        return _question("boolean", legend, policy, asked)

    def choice(self, loc: Loc, raw: Mapping[str, Any], instructions: str, policy: Policy) -> NativeQuestion:
        legend: dict[str, str] = {}
        for at, option in self.entries((*loc, "options"), raw.get("options"), {"id", "description"}):
            id_ = option.get("id")
            if not isinstance(id_, str) or not _OPTION_ID.fullmatch(id_) or id_ in legend:
                self.note((*at, "id"), "Should be an id of its own: letters, digits, _ and -.", "string_type")
                continue
            legend[id_] = self.required_text((*at, "description"), option.get("description"))
        described = [text.partition(": ") for text in legend.values()]
        criteria = {name: text or None for name, _, text in described}
        whole = len(criteria) == len(legend)
        asked = Question(id="", type="choice", instructions=instructions, criteria=criteria) if whole else None
        return _question("choice", legend, policy, asked)

    def score(self, loc: Loc, raw: Mapping[str, Any], instructions: str, policy: Policy) -> NativeQuestion:
        loc = (*loc, "levels")
        levels = raw.get("levels")
        texts = [self.required_text((*loc, at), text) for at, text in enumerate(self.listed(loc, levels))]
        if len(set(texts)) < len(texts):
            self.note(loc, "The levels should differ.", "value_error")
        legend = {str(level): text for level, text in enumerate(texts)}
        asked = Question(id="", type="score", instructions=instructions, criteria=dict(legend))
        return _question("score", legend, policy, asked, values=tuple(map(float, range(len(texts)))))

    def numeric(self, loc: Loc, raw: Mapping[str, Any], _: str, policy: Policy) -> NativeQuestion:
        unit = raw.get("unit")
        if not isinstance(unit, str) or len(unit) > MAX_UNIT_CHARS:
            self.note((*loc, "unit"), f"Should be a string of up to {MAX_UNIT_CHARS} characters.", "string_type")
        legend: dict[str, str] = {}
        values: list[float] = []
        for at, anchor in self.entries((*loc, "anchors"), raw.get("anchors"), {"value", "description"}):
            value = anchor.get("value")
            if not _is_number(value) or (values and value <= values[-1]):
                self.note((*at, "value"), "Should be a finite number above the one before.", "float_type")
                continue
            legend[str(len(values))] = self.required_text((*at, "description"), anchor.get("description"))
            values.append(float(value))
        return _question("numeric", legend, policy, None, values=tuple(values), unit=str(unit))

    def entries(self, loc: Loc, raw: Any, known: set[str]) -> list[tuple[Loc, Mapping[str, Any]]]:
        """The objects of a list, each with its place."""
        found: list[tuple[Loc, Mapping[str, Any]]] = []
        for at, entry in enumerate(self.listed(loc, raw)):
            if isinstance(entry, dict):
                self.refuse_others((*loc, at), entry, known)
                found.append(((*loc, at), entry))
            else:
                self.note((*loc, at), "Should be an object.", "dict_type")
        return found

    def listed(self, loc: Loc, raw: Any) -> list[Any]:
        if not isinstance(raw, list):
            self.note(loc, "Should be a list.", "missing" if raw is None else "list_type")
            return []
        if len(raw) < 2:
            self.note(loc, "Should have at least 2 entries.", "too_short")
        return raw[: MAX_CANDIDATES + 1]


def _question(
    type_: str,
    legend: Mapping[str, str],
    policy: Policy,
    asked: Question | None,
    *,
    values: tuple[float, ...] = (),
    unit: str = "",
) -> NativeQuestion:
    specials = ((BELOW, ABOVE) if type_ == "numeric" else ()) + ((INSUFFICIENT,) if policy.allow_abstain else ())
    return NativeQuestion(
        type=type_, legend=legend, specials=specials, policy=policy, asked=asked, values=values, unit=unit
    )


def _is_number(value: Any) -> TypeGuard[float]:
    """A finite number that can be reckoned with, whole or not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MAX_MAGNITUDE
