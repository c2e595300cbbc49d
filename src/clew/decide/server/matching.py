"""Which of the judge's trained heads a question asks for: by what it says, and only then by its id.

A head answers one question. It is known in the wording of the bundled questionnaires and in others of ours, in
several languages (`wordings.json`). A question gets the head whose known wording is nearest to its own, if

- the types agree, and so do options or levels,
- it says nothing else: most of what it says is part of how this head is asked,
- it is not the opposite: no negation, no descriptions and no entries changed round.

A question whose wording is not known gets a head by its id if it is one of the vocabulary's (`is_durable`, …), and is
marked so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any, Literal

from clew.core.decisions import Question, QuestionType
from clew.decide.questionnaire import CONSOLIDATION, GATE, PAIRS, load_questionnaire
from clew.decide.server.direction import is_turned_round
from clew.decide.server.vocabulary import Meaning, load_vocabulary, load_wordings

MatchedBy = Literal["wording", "id"]

#: Chosen by the tables in tests/unit/decide/test_decide_matching.py: wordings of others reach them, strangers do not.
NEAR_ENOUGH = 0.65
KNOWN_ENOUGH = 0.7
#: How much better descriptions must fit changed round before they count as the opposite question.
_CROSSED = 0.15
#: Nobody words a known question at such length.
_MAX_CHARS = 4_000
_LEVELS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A head and how it was found."""

    head: str
    by: MatchedBy


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """One trained head and how it may be asked.

    Attributes:
        question: the bundled one.
        needs: combinations of concepts, one of which a question must name.
        known: meanings of its wordings.
        terms: all that is said in them, and in the descriptions of what speaks for it.
        described: what an option means, where the descriptions of a question can be held against it.
        is_directed: whether it matters which of two entries is said to act on the other.
    """

    question: Question
    needs: tuple[frozenset[str], ...]
    known: tuple[Meaning, ...]
    terms: frozenset[str]
    described: Mapping[str, tuple[Meaning, ...]]
    is_directed: bool


def find_match(question: Question) -> Match | None:
    """The head that answers a question; None if there is none. The id counts only when the wording is not known."""
    criteria = tuple(question.criteria.items())
    size = len(question.instructions or "") + sum(len(name) + len(text or "") for name, text in criteria)
    if size <= _MAX_CHARS and (head := _match_wording(question.type, question.instructions, criteria)):
        return Match(head=head, by="wording")
    known = load_heads().get(question.id)
    if known and _could_answer(known, question):
        return Match(head=question.id, by="id")
    return None


@lru_cache(maxsize=1)
def load_heads() -> Mapping[str, Head]:
    """All heads by their ids, which are those of the bundled questions."""
    bundled = {id_: q for kind in (GATE, PAIRS, CONSOLIDATION) for id_, q in load_questionnaire(None, kind).items()}
    return {id_: _read_head(bundled[id_], raw) for id_, raw in load_wordings()["heads"].items()}


def _read_head(bundled: Question, raw: Mapping[str, Any]) -> Head:
    read = load_vocabulary().read
    known = [read(text) for text in (bundled.instructions or "", *raw["wordings"])]
    described = raw.get("ends") or bundled.criteria
    return Head(
        question=bundled,
        needs=tuple(frozenset(need.split()) for need in raw["needs"]),
        known=tuple(known),
        terms=_describe(bundled).terms.union(*(meaning.terms for meaning in known)),
        described={
            # what a noul asks is what its "true" means
            option: tuple(map(_words, [text or "", *(raw["wordings"] if option == "true" else ())]))
            for option, text in described.items()
        },
        is_directed=bool(raw.get("is_directed")),
    )


@lru_cache(maxsize=1024)
def _match_wording(
    type_: QuestionType, instructions: str | None, criteria: tuple[tuple[str, str | None], ...]
) -> str | None:
    question = Question(id="", type=type_, instructions=instructions, criteria=dict(criteria))
    near = {id_: _nearness(head, question) for id_, head in load_heads().items() if _could_answer(head, question)}
    best = max(near, key=lambda id_: near[id_], default=None)
    return best if best is not None and near[best] >= NEAR_ENOUGH else None


def _could_answer(head: Head, question: Question) -> bool:
    """Whether type and options are the head's, and none of the options is described as another one."""
    asked = head.question
    if asked.type != question.type:
        return False
    if asked.type == "score":
        return len(question.criteria) == _LEVELS
    if asked.type == "choice":
        names = set(question.criteria)
        return names <= set(asked.criteria) and "none" in names and len(names) > 1
    return True


def _nearness(head: Head, question: Question) -> float:
    """How near a question comes to one of the head's wordings, in [0, 1]; 0 if it says something else."""
    if _is_crossed(head, question) or (head.is_directed and _is_turned_round(question)):
        return 0.0
    read = load_vocabulary().read
    if question.instructions:
        asked = read(question.instructions)
        whole = asked | _describe(question)
        return max(_compare(head, asked), _compare(head, whole))
    return max(_compare(head, _describe(question)), _compare_descriptions(head.question, question))


def _compare_descriptions(bundled: Question, question: Question) -> float:
    """How near the descriptions come to the bundled ones, all in all."""
    pairs = [(text, question.criteria.get(name) or "") for name, text in bundled.criteria.items() if text]
    return sum(_cosine(_words(known), _words(said)) for known, said in pairs) / len(pairs)


def _describe(question: Question) -> Meaning:
    """What the descriptions say: of a noul, those of `true`; of the others, all."""
    texts = [text or "" for name, text in question.criteria.items() if name != "false"]
    return load_vocabulary().read(". ".join(texts))


def _compare(head: Head, asked: Meaning) -> float:
    if not any(need <= asked.terms for need in head.needs):
        return 0.0
    if len(asked.terms & head.terms) < KNOWN_ENOUGH * len(asked.terms):
        return 0.0
    return max((_cosine(asked, known) for known in head.known if known.is_negated == asked.is_negated), default=0.0)


def _cosine(one: Meaning, other: Meaning) -> float:
    if not one.terms or not other.terms:
        return 0.0
    return len(one.terms & other.terms) / math.sqrt(len(one.terms) * len(other.terms))


def _is_crossed(head: Head, question: Question) -> bool:
    """Whether two descriptions fit better changed round: then the answer would be the wrong way round."""
    said = {name: _words(text) for name, text in question.criteria.items() if text and name in head.described}

    def fit(name: str, option: str) -> float:
        return max(_cosine(said[name], known) for known in head.described[option])

    return any(
        fit(one, other) + fit(other, one) > fit(one, one) + fit(other, other) + _CROSSED
        for one, other in combinations(said, 2)
    )


def _is_turned_round(question: Question) -> bool:
    return any(is_turned_round(text) for text in (question.instructions, question.criteria.get("true")) if text)


@lru_cache(maxsize=1024)
def _words(text: str) -> Meaning:
    """Meaning with its negation as one of the terms."""
    meaning = load_vocabulary().read(text)
    return Meaning(terms=meaning.terms | ({"not"} if meaning.is_negated else set()), is_negated=False)
