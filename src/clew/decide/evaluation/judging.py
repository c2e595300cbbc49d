"""Puts labelled rows to a decision model, and measures the answers to yes/no questions."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.core.decisions import Answer, Decision, NoulAnswer, Question
from clew.core.errors import DecisionModelDown, DecisionModelError
from clew.core.ports import DecisionModel
from clew.decide.evaluation.labelled import LabelledRow
from clew.decide.evaluation.metrics import (
    Interval,
    ReliabilityBin,
    auc,
    auc_interval,
    brier,
    expected_calibration_error,
    f1,
    reliability,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: How many rows are judged by now, and of how many.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRow:
    """A row and what the model made of it."""

    row: LabelledRow
    decision: Decision

    def answer(self, question: str) -> Answer | None:
        """The answer to a question; None where the model was not asked or abstains."""
        return None if question in self.decision.abstained else self.decision.answers.get(question)

    def probability(self, question: str) -> float | None:
        """The probability of yes; None where there is none."""
        answer = self.answer(question)
        return answer.probability if isinstance(answer, NoulAnswer) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """All answers to one set of rows.

    Attributes:
        problems: what the model said instead of an answer → for how many rows.
        median_ms, p95_ms: time of one decision; None if there was none.
    """

    judged: tuple[JudgedRow, ...]
    problems: Mapping[str, int]
    model: str
    fingerprint: str | None
    median_ms: float | None
    p95_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionQuality:
    """How well a yes/no question is answered. None = cannot be told from these rows.

    Attributes:
        rows, yes: answered rows, and how many of them are truly yes.
        abstained: rows on which the model abstained; they are not measured.
        threshold: at which `f1` holds.
        bins: what `ece` is made of.
    """

    id: str
    rows: int
    yes: int
    abstained: int
    auc: float | None
    auc_interval: Interval | None
    threshold: float
    f1: float | None
    brier: float | None
    ece: float | None
    bins: tuple[ReliabilityBin, ...]


def judge_rows(
    model: DecisionModel, rows: Sequence[LabelledRow], questions: Mapping[str, Question], progress: Progress
) -> Judging:
    """Ask the model about each row.

    Raises:
        DecisionModelDown: it cannot be reached, so that nothing can be measured.
    """
    judged: list[JudgedRow] = []
    problems: dict[str, int] = {}
    durations_ms: list[float] = []
    for index, row in enumerate(rows):
        progress(index, len(rows))
        start = time.perf_counter()
        try:
            decision = model.decide(row.judged, questions)
        except DecisionModelDown:
            raise
        except DecisionModelError as error:
            problems[str(error)] = problems.get(str(error), 0) + 1
            continue
        durations_ms.append((time.perf_counter() - start) * 1000)
        judged.append(JudgedRow(row=row, decision=decision))
    progress(len(rows), len(rows))
    return Judging(
        judged=tuple(judged),
        problems=problems,
        model=judged[-1].decision.model if judged else model.name,
        fingerprint=judged[-1].decision.fingerprint if judged else None,
        median_ms=_percentile(durations_ms, 50),
        p95_ms=_percentile(durations_ms, 95),
    )


def _percentile(values: Sequence[float], percent: int) -> float | None:
    import numpy as np

    return float(np.percentile(values, percent)) if values else None


def measure_question(judged: Sequence[JudgedRow], id_: str, threshold: float) -> QuestionQuality:
    """AUC with its interval, F1 at the threshold, Brier score and calibration error of one yes/no question."""
    import numpy as np

    answered = [(one, found) for one in judged if (found := one.probability(id_)) is not None]
    truth = np.array([one.row.yes[id_] for one, _ in answered], dtype=bool)
    stated: NDArray[np.float64] = np.array([probability for _, probability in answered], dtype=np.float64)
    return QuestionQuality(
        id=id_,
        rows=len(answered),
        yes=int(truth.sum()),
        abstained=len(judged) - len(answered),
        auc=auc(stated, truth),
        auc_interval=auc_interval(stated, truth, [one.row.topic for one, _ in answered]),
        threshold=threshold,
        f1=f1(stated >= threshold, truth),
        brier=brier(stated, truth),
        ece=expected_calibration_error(stated, truth),
        bins=reliability(stated, truth),
    )
