"""What a decision model is worth for consolidation: pairs of memories, and whether one still holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from clew.decide.evaluation.judging import JudgedRow, QuestionQuality, measure_question

PAIR_QUESTIONS = ("same_fact", "replaces", "adds_detail")
RELEVANCE_QUESTION = "still_relevant"
DEFAULT_HARD_DROP = 0.7
#: At and above this probability of `adds_detail`, both of a pair hold something of their own.
_COMPLEMENTARY = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAccuracy:
    """Rows of one language, file or kind.

    Attributes:
        right: question → share of the rows on the right side of its threshold; None where the model abstains
            throughout.
    """

    group: str
    name: str
    rows: int
    right: Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsQuality:
    """All that is measured on labelled pairs. Shares are None where they cannot be told.

    Attributes:
        hard_drop: at this probability of `same_fact` one of a pair is dropped without a merge.
        complementary_dropped: share of the pairs in which each adds something, dropped by `same_fact` alone.
        complementary_dropped_checked: the same when a pair that the model sees as complementary is spared.
        duplicates_dropped: share of the pairs that state the same fact and add nothing, dropped by `same_fact` alone.
    """

    questions: tuple[QuestionQuality, ...]
    hard_drop: float
    complementary_dropped: float | None
    complementary_dropped_checked: float | None
    duplicates_dropped: float | None
    groups: tuple[GroupAccuracy, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceQuality:
    """All that is measured on dated memories."""

    question: QuestionQuality
    groups: tuple[GroupAccuracy, ...]


def measure_pairs(
    judged: Sequence[JudgedRow], *, thresholds: Mapping[str, float], hard_drop: float = DEFAULT_HARD_DROP
) -> PairsQuality:
    """Measure answers about labelled pairs. `thresholds`: question → threshold."""

    def is_dropped(one: JudgedRow) -> bool:
        return (one.probability("same_fact") or 0.0) >= hard_drop

    def is_spared(one: JudgedRow) -> bool:
        return (one.probability("adds_detail") or 0.0) >= _COMPLEMENTARY

    asked = [one for one in judged if one.probability("same_fact") is not None]
    complementary = [one for one in asked if one.row.yes["adds_detail"]]
    duplicates = [one for one in asked if one.row.yes["same_fact"] and not one.row.yes["adds_detail"]]
    return PairsQuality(
        questions=tuple(measure_question(judged, id_, thresholds.get(id_, 0.5)) for id_ in PAIR_QUESTIONS),
        hard_drop=hard_drop,
        complementary_dropped=_share(complementary, is_dropped),
        complementary_dropped_checked=_share(complementary, lambda one: is_dropped(one) and not is_spared(one)),
        duplicates_dropped=_share(duplicates, is_dropped),
        groups=tuple(_measure_groups(judged, PAIR_QUESTIONS, thresholds)),
    )


def measure_relevance(judged: Sequence[JudgedRow], *, thresholds: Mapping[str, float]) -> RelevanceQuality:
    """Measure answers about dated memories. `thresholds`: question → threshold."""
    return RelevanceQuality(
        question=measure_question(judged, RELEVANCE_QUESTION, thresholds.get(RELEVANCE_QUESTION, 0.5)),
        groups=tuple(_measure_groups(judged, (RELEVANCE_QUESTION,), thresholds)),
    )


def _measure_groups(
    judged: Sequence[JudgedRow], questions: Sequence[str], thresholds: Mapping[str, float]
) -> Iterator[GroupAccuracy]:
    members: dict[tuple[str, str], list[JudgedRow]] = {}
    for one in judged:
        for key in _groups_of(one):
            members.setdefault(key, []).append(one)
    for (group, name), own in sorted(members.items()):
        if len(own) == len(judged):
            continue
        right = {question: _accuracy(own, question, thresholds.get(question, 0.5)) for question in questions}
        yield GroupAccuracy(group=group, name=name, rows=len(own), right=right)


def _groups_of(one: JudgedRow) -> Iterator[tuple[str, str]]:
    yield "language", one.row.lang
    yield "file", one.row.source
    if one.row.subkind:
        yield "kind", one.row.subkind
    if one.row.is_test:
        yield "slice", "test split"


def _accuracy(judged: Sequence[JudgedRow], question: str, threshold: float) -> float | None:
    answered = [(one, stated) for one in judged if (stated := one.probability(question)) is not None]
    right = sum((stated >= threshold) == one.row.yes[question] for one, stated in answered)
    return right / len(answered) if answered else None


def _share(judged: Sequence[JudgedRow], holds: Callable[[JudgedRow], bool]) -> float | None:
    return sum(map(holds, judged)) / len(judged) if judged else None
