"""What a decision model is worth for the gate: its questions, and the saving rule end to end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from clew.core.decisions import ChoiceAnswer, Decision, ScoreAnswer
from clew.core.injections import find_injections
from clew.core.records import State
from clew.core.text import set_aside_pastes
from clew.decide.evaluation.judging import JudgedRow, QuestionQuality, measure_question
from clew.decide.evaluation.metrics import (
    Interval,
    bootstrap_interval,
    measure_proposals,
    weigh_to_share,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]

#: Whether the gate would propose what a decision is about.
SavingRule = Callable[[Decision], bool]
QUESTIONS = ("is_durable", "has_secret", "is_session_scoped", "is_failure")
#: Share of messages worth saving in real conversations, as a pilot found it: 3 to 11 in a hundred.
TRUE_SHARE = 0.07
#: Upper ends of the length bands of what the user wrote, in characters.
_BAND_ENDS = (80, 300, 1_000)
_BAND_NAMES = ("under 80 chars", "80 to 299", "300 to 999", "1000 and more")


@dataclass(frozen=True, slots=True, kw_only=True)
class SavingQuality:
    """What the saving rule makes of a group of states. Shares are None where they cannot be told.

    Attributes:
        group, name: what the rows have in common: `language` `it`, `file` `natural`, `length` `80 to 299`, ….
        memorable: rows worth saving; `proposed`: rows that the rule proposes.
        false_share: share of the rows not worth saving that are proposed.
        secrets_proposed: rows with a secret that are proposed.
    """

    group: str
    name: str
    rows: int
    memorable: int
    proposed: int
    precision: float | None
    recall: float | None
    false_share: float | None
    secrets_proposed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StatesQuality:
    """All that is measured on labelled states.

    Attributes:
        importance_mae: mean distance of the expected level from the labelled one.
        target_accuracy: over all rows, `none` among them; `category_accuracy`: the likeliest category but `none`,
            over the rows worth saving.
        true_share: share of memorable messages that `true_precision` is computed for; its recall is that of `saving`.
    """

    questions: tuple[QuestionQuality, ...]
    importance_mae: float | None
    target_accuracy: float | None
    category_accuracy: float | None
    saving: SavingQuality
    precision_interval: Interval | None
    recall_interval: Interval | None
    true_share: float
    true_precision: float | None
    true_precision_interval: Interval | None
    groups: tuple[SavingQuality, ...]


def measure_states(
    judged: Sequence[JudgedRow], *, rule: SavingRule, thresholds: Mapping[str, float], true_share: float = TRUE_SHARE
) -> StatesQuality:
    """Measure answers about labelled states.

    Args:
        rule: the gate's saving rule.
        thresholds: question → the gate's threshold.
        true_share: share of messages worth saving that rows are weighed to; between 0 and 1, both excluded.
    """
    import numpy as np

    truth = np.array([one.row.yes["should_save"] for one in judged], dtype=bool)
    proposed = np.array([rule(one.decision) for one in judged], dtype=bool)
    topics = [one.row.topic for one in judged]
    weights = weigh_to_share(truth, true_share)
    # with rows of one kind alone there is nothing to weigh
    found = 0 < int(truth.sum()) < len(truth)
    return StatesQuality(
        questions=tuple(measure_question(judged, id_, thresholds.get(id_, 0.5)) for id_ in QUESTIONS),
        importance_mae=_importance_mae(judged),
        target_accuracy=_target_accuracy(judged),
        category_accuracy=_category_accuracy(judged),
        saving=_measure_saving("all", "all", judged, proposed),
        precision_interval=bootstrap_interval(
            lambda drawn: measure_proposals(proposed, truth, drawn).precision, topics
        ),
        recall_interval=bootstrap_interval(lambda drawn: measure_proposals(proposed, truth, drawn).recall, topics),
        true_share=true_share,
        true_precision=measure_proposals(proposed, truth, weights).precision if found else None,
        true_precision_interval=bootstrap_interval(
            lambda drawn: measure_proposals(proposed, truth, drawn * weights).precision, topics
        )
        if found
        else None,
        groups=tuple(_measure_groups(judged, proposed)),
    )


def _measure_saving(group: str, name: str, judged: Sequence[JudgedRow], proposed: Bools) -> SavingQuality:
    import numpy as np

    truth = np.array([one.row.yes["should_save"] for one in judged], dtype=bool)
    secrets = np.array([one.row.yes["has_secret"] for one in judged], dtype=bool)
    found = measure_proposals(proposed, truth)
    return SavingQuality(
        group=group,
        name=name,
        rows=len(judged),
        memorable=int(truth.sum()),
        proposed=int(proposed.sum()),
        precision=found.precision,
        recall=found.recall,
        false_share=found.false_share,
        secrets_proposed=int((proposed & secrets).sum()),
    )


def _measure_groups(judged: Sequence[JudgedRow], proposed: Bools) -> Iterator[SavingQuality]:
    """The same numbers by language, file and slice; a group of all rows would say nothing new and is left out."""
    members: dict[tuple[str, str], list[int]] = {}
    for index, one in enumerate(judged):
        for key in _groups_of(one):
            members.setdefault(key, []).append(index)
    order = ("language", "file", "length", "slice")
    keys = sorted(members, key=lambda key: (order.index(key[0]), _rank(key[1]), key[1]))
    for group, grouped in groupby(keys, key=lambda key: key[0]):
        for key in grouped:
            indexes = members[key]
            if len(indexes) < len(judged) or group == "slice":
                yield _measure_saving(*key, [judged[index] for index in indexes], proposed[indexes])


def _rank(name: str) -> int:
    return _BAND_NAMES.index(name) if name in _BAND_NAMES else 0


def _groups_of(one: JudgedRow) -> Iterator[tuple[str, str]]:
    row = one.row
    yield "language", row.lang
    yield "file", row.source
    if isinstance(row.judged, State):
        yield "length", _band(row.judged.user)
        if set_aside_pastes(row.judged.user)[1].strip():
            yield "slice", "with a paste"
        if find_injections(row.judged.user):
            yield "slice", "with a planted order"
    if row.yes["has_secret"]:
        yield "slice", "with a secret"
    if row.yes["is_session_scoped"]:
        yield "slice", "temporary"
    if row.is_test:
        yield "slice", "test split"


def _band(text: str) -> str:
    return _BAND_NAMES[sum(len(text) >= end for end in _BAND_ENDS)]


def _importance_mae(judged: Sequence[JudgedRow]) -> float | None:
    answers = [(one.answer("importance"), one.row.importance) for one in judged]
    return _mean([abs(answer.score - level) for answer, level in answers if isinstance(answer, ScoreAnswer)])


def _target_accuracy(judged: Sequence[JudgedRow]) -> float | None:
    answers = [(one.answer("target"), one.row.target) for one in judged]
    return _mean([float(answer.choice == target) for answer, target in answers if isinstance(answer, ChoiceAnswer)])


def _category_accuracy(judged: Sequence[JudgedRow]) -> float | None:
    answers = [(one.answer("target"), one.row.target) for one in judged if one.row.yes["should_save"]]
    return _mean([float(_category(answer) == target) for answer, target in answers if isinstance(answer, ChoiceAnswer)])


def _category(answer: ChoiceAnswer) -> str:
    """The likeliest option but `none`."""
    shares = {name: share for name, share in answer.probabilities.items() if name != "none"}
    return max(shares, key=lambda name: shares[name]) if shares else "none"


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
