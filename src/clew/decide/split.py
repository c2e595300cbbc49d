"""Choices with more options than a server takes: asked in groups, and the winners of the groups once more. Pure.

Two rounds give what one would, as long as an option is weighed by itself: inside a group, and among the winners, the
ratio of two probabilities is the ratio they would have among all options. Position in the list may still move numbers a
little, therefore `Decision.split` names such answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from clew.core.decisions import Answer, ChoiceAnswer, Question

#: What the smallest known servers take in one choice.
MAX_OPTIONS = 26
_GROUP_OPTIONS = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedChoice:
    """A wide choice and the questions that stand in for it."""

    question: Question
    groups: tuple[Question, ...]


def is_wide(question: Question) -> bool:
    """Whether some servers refuse this question for its number of options."""
    return question.type == "choice" and len(question.criteria) > MAX_OPTIONS


def group_choice(question: Question) -> GroupedChoice:
    """Deal the options, in order, into groups of nearly equal size."""
    names = list(question.criteria)
    count = -(-len(names) // _GROUP_OPTIONS)
    bounds = [len(names) * index // count for index in range(count + 1)]
    groups = (
        _narrow(question, names[start:end], f"group_{index}") for index, (start, end) in enumerate(pairwise(bounds))
    )
    return GroupedChoice(question=question, groups=tuple(groups))


def final_of(grouped: GroupedChoice, answers: Sequence[Answer]) -> Question:
    """The choice among the winners of the groups."""
    return _narrow(grouped.question, [_as_choice(answer).choice for answer in answers], "final")


def join_rounds(grouped: GroupedChoice, answers: Sequence[Answer], final: Answer) -> ChoiceAnswer:
    """The distribution over all options: each group is scaled so that its winner has its share of the final."""
    decided = _as_choice(final)
    weights: dict[str, float] = {}
    for answer in map(_as_choice, answers):
        scale = decided.probabilities[answer.choice] / answer.probabilities[answer.choice]
        weights |= {name: share * scale for name, share in answer.probabilities.items()}
    total = sum(weights.values())
    shares = {name: weights[name] / total for name in grouped.question.criteria}
    return ChoiceAnswer(choice=decided.choice, probabilities=shares)


def _narrow(question: Question, names: Sequence[str], id_: str) -> Question:
    # Short and plain, for servers that are particular about ids.
    return replace(
        question, id=f"{question.id[:100]}_{id_}", criteria={name: question.criteria[name] for name in names}
    )


def _as_choice(answer: Answer) -> ChoiceAnswer:
    if not isinstance(answer, ChoiceAnswer):  # the reader of replies has made sure of the type
        raise TypeError("a choice is answered with a choice")
    return answer
