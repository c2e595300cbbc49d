"""Learns from a person's answers, and lets nothing in that is not better on answers it has not seen.

Judged in time order on the last fifth of the states, block by block: each block is predicted by what was learned from
everything before it (prequential log-loss). Up to 20 blocks; so with up to 100 states a block is one state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from clew.decide.personal.adjustment import LEARNED_HEADS, Adjustment, HeadAdjustment
from clew.decide.personal.answers import AnsweredState

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Singles = NDArray[np.float32]
    Bools = NDArray[np.bool_]

Stage = Literal["scale", "weights"]
STAGES: tuple[Stage, ...] = ("scale", "weights")
#: A head is scaled from so many answers, of each kind at least so many, and gets weights from so many.
MIN_ANSWERS, MIN_OF_EACH, MIN_FOR_WEIGHTS = 20, 3, 50
HELD_OUT_SHARE = 0.2
MAX_BLOCKS = 20
#: How many standard errors the mean gain over held-out states must exceed: see `is_better`.
MARGIN = 1.28


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTable:
    """Answered states in numbers, oldest first; the texts stay behind.

    Attributes:
        logits: the shipped judge's, [states, heads].
        features: hand features, [states, features].
        truth: right answers, [states, LEARNED_HEADS]; meaningless where not known.
        is_known: [states, LEARNED_HEADS].
    """

    logits: Singles
    features: Singles
    truth: Bools
    is_known: Bools

    def __len__(self) -> int:
        return len(self.logits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """How much lower the log-loss of one judge is than that of another, on the same states."""

    mean: float
    standard_error: float

    @property
    def is_better(self) -> bool:
        """Whether the gain is more than noise would give: one time in ten a head that gained nothing passes.

        That is lenient on purpose. The prior keeps whatever passes near the shipped judge, it can be undone, and the
        next answers are asked again; a stricter margin would refuse real gains until there are hundreds of answers.
        """
        return self.mean > MARGIN * self.standard_error and self.mean > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How one stage did on the held-out states.

    Attributes:
        loss: mean log-loss (nats) of a state: the mean over its answers.
        over_shipped: gain over the shipped judge.
        over_present: gain over the personal judge in force; None without one.
    """

    stage: Stage
    loss: float
    over_shipped: Gain
    over_present: Gain | None

    @property
    def is_accepted(self) -> bool:
        """Better than the shipped judge and than the one in force."""
        return self.over_shipped.is_better and (self.over_present is None or self.over_present.is_better)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What came of learning.

    Attributes:
        answers: head → how many (no, yes) answers there are.
        heads: those with enough answers; the others keep the shipped logit.
        held_out: number of states that the trials were judged on; 0 if no head has enough answers.
        shipped_loss, present_loss: log-loss of the judges in force before; None if not measured.
        adjustment: refitted on all states; None if no trial was accepted.
    """

    answers: Mapping[str, tuple[int, int]]
    heads: tuple[str, ...] = ()
    held_out: int = 0
    shipped_loss: float | None = None
    present_loss: float | None = None
    trials: tuple[Trial, ...] = ()
    accepted: Trial | None = None
    adjustment: Adjustment | None = None


def score_states(states: Sequence[AnsweredState]) -> AnswerTable:
    """Score all states with the shipped judge (a few ms each)."""
    import numpy as np

    from clew.decide.personal.scoring import score_state

    scored = [score_state(one.state) for one in states]
    answers = [[one.answers.get(head) for head in LEARNED_HEADS] for one in states]
    return AnswerTable(
        logits=np.array([logits for logits, _ in scored], np.float32),
        features=np.array([features for _, features in scored], np.float32),
        truth=np.array([[bool(answer) for answer in row] for row in answers], bool),
        is_known=np.array([[answer is not None for answer in row] for row in answers], bool),
    )


def count_answers(states: Sequence[AnsweredState]) -> dict[str, tuple[int, int]]:
    """Head → number of (no, yes) answers."""
    found = {head: [one.answers[head] for one in states if head in one.answers] for head in LEARNED_HEADS}
    return {head: (len(answers) - sum(answers), sum(answers)) for head, answers in found.items()}


def is_ready(no: int, yes: int) -> bool:
    """Whether a head has enough answers to be learned."""
    return no + yes >= MIN_ANSWERS and min(no, yes) >= MIN_OF_EACH


def learn(states: Sequence[AnsweredState], base_fingerprint: str, present: Adjustment | None) -> Lesson:
    """Try all stages, and refit the best that is accepted on all states. Deterministic; changes nothing.

    Args:
        states: oldest first.
        present: the adjustment in force.
    """
    answers = count_answers(states)
    ready = tuple(head for head, (no, yes) in answers.items() if is_ready(no, yes))
    if not ready:
        return Lesson(answers=answers)
    return _Trials(score_states(states), answers, ready, base_fingerprint).run(present)


class _Trials:
    def __init__(
        self, table: AnswerTable, answers: Mapping[str, tuple[int, int]], heads: tuple[str, ...], base_fingerprint: str
    ) -> None:
        import numpy as np

        self._answers, self._heads, self._base_fingerprint = answers, heads, base_fingerprint
        columns = [LEARNED_HEADS.index(head) for head in heads]
        has_answer: Bools = np.asarray(table.is_known[:, columns].any(axis=1))
        self._table = _choose(table, has_answer)
        self._first = int(len(self._table) * (1 - HELD_OUT_SHARE))

    def run(self, present: Adjustment | None) -> Lesson:
        shipped = self._losses(self._table.logits[self._first :])
        present_losses = self._losses(self._adjusted(present)) if present else None
        trials = tuple(self._try(stage, shipped, present_losses) for stage in STAGES if self._is_open(stage))
        accepted = min((one for one in trials if one.is_accepted), key=lambda one: one.loss, default=None)
        return Lesson(
            answers=self._answers,
            heads=self._heads,
            held_out=len(shipped),
            shipped_loss=float(shipped.mean()),
            present_loss=None if present_losses is None else float(present_losses.mean()),
            trials=trials,
            accepted=accepted,
            adjustment=self._fit(accepted.stage, len(self._table)) if accepted else None,
        )

    def _is_open(self, stage: Stage) -> bool:
        return stage == "scale" or any(self._has_weights(head) for head in self._heads)

    def _has_weights(self, head: str) -> bool:
        return sum(self._answers[head]) >= MIN_FOR_WEIGHTS

    def _try(self, stage: Stage, shipped: Floats, present: Floats | None) -> Trial:
        losses = self._losses(self._predict_forward(stage))
        return Trial(
            stage=stage,
            loss=float(losses.mean()),
            over_shipped=measure_gain(shipped - losses),
            over_present=None if present is None else measure_gain(present - losses),
        )

    def _predict_forward(self, stage: Stage) -> Singles:
        """Logits of the held-out states, each by what the states before its block teach."""
        import numpy as np

        held_out = np.arange(self._first, len(self._table))
        blocks = np.array_split(held_out, min(MAX_BLOCKS, len(held_out)))
        return np.concatenate(
            [
                self._fit(stage, int(block[0])).apply(self._table.logits[block], self._table.features[block])
                for block in blocks
            ]
        )

    def _adjusted(self, adjustment: Adjustment) -> Singles:
        return adjustment.apply(self._table.logits[self._first :], self._table.features[self._first :])

    def _fit(self, stage: Stage, count: int) -> Adjustment:
        """What the first so many states teach."""
        heads = {head: self._fit_head(head, stage, count) for head in self._heads}
        return Adjustment(base_fingerprint=self._base_fingerprint, heads=heads)

    def _fit_head(self, head: str, stage: Stage, count: int) -> HeadAdjustment:
        import numpy as np

        from clew.decide.lexical.model import COLUMN
        from clew.decide.personal.fitting import fit_scale, fit_weights

        index = LEARNED_HEADS.index(head)
        rows = self._table.is_known[:count, index]
        logits = self._table.logits[:count][rows, COLUMN[head]].astype(np.float64)
        truth = self._table.truth[:count, index][rows]
        if stage == "weights" and self._has_weights(head):
            return fit_weights(logits, self._table.features[:count][rows].astype(np.float64), truth)
        return fit_scale(logits, truth)

    def _losses(self, logits: Singles) -> Floats:
        """Log-loss of each held-out state: the mean over its answers."""
        import numpy as np

        from clew.decide.lexical.model import COLUMN
        from clew.decide.personal.fitting import log_losses

        learned = [LEARNED_HEADS.index(head) for head in self._heads]
        truth, is_known = self._table.truth[self._first :, learned], self._table.is_known[self._first :, learned]
        losses = log_losses(logits[:, [COLUMN[head] for head in self._heads]].astype(np.float64), truth)
        means: Floats = np.where(is_known, losses, 0.0).sum(axis=1) / is_known.sum(axis=1)
        return means


def _choose(table: AnswerTable, rows: Bools) -> AnswerTable:
    return AnswerTable(
        logits=table.logits[rows],
        features=table.features[rows],
        truth=table.truth[rows],
        is_known=table.is_known[rows],
    )


def measure_gain(differences: Floats) -> Gain:
    """Mean and standard error of paired differences, [states]."""
    import numpy as np

    count = len(differences)
    error = float(differences.std(ddof=1) / np.sqrt(count)) if count > 1 else float("inf")
    return Gain(mean=float(differences.mean()), standard_error=error)
