"""Learns from a person's answers, and lets nothing in that is not better on answers it has not seen.

Each head is learned and judged for itself, in time order, on the last fifth of its answers, block by block: a block is
predicted by what was learned from everything before it (prequential log-loss). There are up to 20 blocks; so with up
to 100 answers a block is one answer.
"""

from __future__ import annotations

from collections.abc import Sequence
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
#: How many standard errors the mean gain over held-out answers must exceed: see `is_better`.
MARGIN = 1.28


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadAnswers:
    """What a person said to one head, oldest first; the texts stay behind.

    Attributes:
        logits: the shipped judge's, [answers].
        features: hand features, [answers, features].
        truth: [answers].
    """

    logits: Singles
    features: Singles
    truth: Bools

    def __len__(self) -> int:
        return len(self.truth)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """How much lower the log-loss of one judge is than that of another, on the same answers."""

    mean: float
    standard_error: float

    @property
    def is_better(self) -> bool:
        """Whether the gain stands out from its noise.

        The margin is lenient on purpose. For a person with whom the shipped judge is right already, about one run in
        four passes, which costs some .005 nats, because the prior keeps near the shipped judge whatever passes. For a
        person whose log-odds are 2 lower, a third (of 20 answers) to three quarters (of 200) pass and gain .07 to .17.
        At 1.64 standard errors the former are hardly fewer and the latter a third fewer (simulation, docs/calibration.md).
        """
        return self.mean > MARGIN * self.standard_error and self.mean > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How one stage did on the held-out answers.

    Attributes:
        loss: mean log-loss (nats) of an answer.
        over_shipped: gain over the shipped head.
        over_present: gain over the personal head in force; None without one.
    """

    stage: Stage
    loss: float
    over_shipped: Gain
    over_present: Gain | None

    @property
    def is_accepted(self) -> bool:
        """Better than the shipped head and than the one in force."""
        return self.over_shipped.is_better and (self.over_present is None or self.over_present.is_better)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadLesson:
    """What came of learning one head.

    Attributes:
        no, yes: how many answers there are.
        held_out: number of answers that the trials were judged on; 0 if there are not enough to learn from.
        shipped_loss, present_loss: log-loss of the heads in force before; None if not measured.
        adjustment: refitted on all answers; None if no trial was accepted.
    """

    head: str
    no: int
    yes: int
    held_out: int = 0
    shipped_loss: float | None = None
    present_loss: float | None = None
    trials: tuple[Trial, ...] = ()
    accepted: Trial | None = None
    adjustment: HeadAdjustment | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What came of learning.

    Attributes:
        heads: one for each of LEARNED_HEADS.
        adjustment: what is to be in force: accepted heads anew, the others as before; None if none was accepted.
    """

    heads: tuple[HeadLesson, ...]
    adjustment: Adjustment | None


def count_answers(states: Sequence[AnsweredState]) -> dict[str, tuple[int, int]]:
    """Head → number of (no, yes) answers."""
    found = {head: [one.answers[head] for one in states if head in one.answers] for head in LEARNED_HEADS}
    return {head: (len(answers) - sum(answers), sum(answers)) for head, answers in found.items()}


def is_ready(no: int, yes: int) -> bool:
    """Whether a head has enough answers to be learned."""
    return no + yes >= MIN_ANSWERS and min(no, yes) >= MIN_OF_EACH


def learn(states: Sequence[AnsweredState], base_fingerprint: str, present: Adjustment | None) -> Lesson:
    """Try all stages of all heads, and refit the best that is accepted on all answers. Deterministic; changes nothing.

    Args:
        states: oldest first.
        present: the adjustment in force.
    """
    counts = count_answers(states)
    ready = [head for head in LEARNED_HEADS if is_ready(*counts[head])]
    answers = _score_answers(states, ready)
    in_force = dict(present.heads) if present else {}
    heads = tuple(
        learn_head(head, answers[head], in_force.get(head))
        if head in answers
        else HeadLesson(head=head, no=counts[head][0], yes=counts[head][1])
        for head in LEARNED_HEADS
    )
    accepted = {one.head: one.adjustment for one in heads if one.adjustment}
    adjustment = Adjustment(base_fingerprint=base_fingerprint, heads=in_force | accepted) if accepted else None
    return Lesson(heads=heads, adjustment=adjustment)


def _score_answers(states: Sequence[AnsweredState], heads: Sequence[str]) -> dict[str, HeadAnswers]:
    """Score the states with the shipped judge (some ms each), if they answer one of the heads at all."""
    import numpy as np

    from clew.decide.lexical.model import COLUMN
    from clew.decide.personal.scoring import score_state

    useful = [one for one in states if any(head in one.answers for head in heads)]
    scored = [(one.answers, *score_state(one.state)) for one in useful]
    found = {}
    for head in heads:
        own = [
            (answers[head], logits[COLUMN[head]], features) for answers, logits, features in scored if head in answers
        ]
        found[head] = HeadAnswers(
            logits=np.array([logit for _, logit, _ in own], np.float32),
            features=np.array([features for _, _, features in own], np.float32),
            truth=np.array([answer for answer, _, _ in own], bool),
        )
    return found


def learn_head(head: str, answers: HeadAnswers, present: HeadAdjustment | None) -> HeadLesson:
    """Try the stages of one head.

    Args:
        present: the adjustment of the head that is in force.
    """
    first = int(len(answers) * (1 - HELD_OUT_SHARE))
    logits, features, truth = answers.logits[first:], answers.features[first:], answers.truth[first:]
    shipped = _losses(logits, truth)
    in_force = _losses(present.apply(logits, features), truth) if present else None
    stages = [stage for stage in STAGES if stage == "scale" or len(answers) >= MIN_FOR_WEIGHTS]
    trials = tuple(_try(stage, answers, first, shipped, in_force) for stage in stages)
    accepted = min((one for one in trials if one.is_accepted), key=lambda one: one.loss, default=None)
    yes = int(answers.truth.sum())
    return HeadLesson(
        head=head,
        no=len(answers) - yes,
        yes=yes,
        held_out=len(truth),
        shipped_loss=float(shipped.mean()),
        present_loss=None if in_force is None else float(in_force.mean()),
        trials=trials,
        accepted=accepted,
        adjustment=_fit(accepted.stage, answers, len(answers)) if accepted else None,
    )


def _try(stage: Stage, answers: HeadAnswers, first: int, shipped: Floats, in_force: Floats | None) -> Trial:
    losses = _losses(_predict_forward(stage, answers, first), answers.truth[first:])
    return Trial(
        stage=stage,
        loss=float(losses.mean()),
        over_shipped=measure_gain(shipped - losses),
        over_present=None if in_force is None else measure_gain(in_force - losses),
    )


def _predict_forward(stage: Stage, answers: HeadAnswers, first: int) -> Singles:
    """Logits of the held-out answers, each by what the answers before its block teach."""
    import numpy as np

    held_out = np.arange(first, len(answers))
    blocks = np.array_split(held_out, min(MAX_BLOCKS, len(held_out)))
    return np.concatenate(
        [_fit(stage, answers, int(block[0])).apply(answers.logits[block], answers.features[block]) for block in blocks]
    )


def _fit(stage: Stage, answers: HeadAnswers, count: int) -> HeadAdjustment:
    """What the first so many answers teach."""
    import numpy as np

    from clew.decide.personal.fitting import fit_scale, fit_weights

    logits, truth = answers.logits[:count].astype(np.float64), answers.truth[:count]
    if stage == "scale":
        return fit_scale(logits, truth)
    return fit_weights(logits, answers.features[:count].astype(np.float64), truth)


def _losses(logits: Singles, truth: Bools) -> Floats:
    import numpy as np

    from clew.decide.personal.fitting import log_losses

    return log_losses(logits.astype(np.float64), truth)


def measure_gain(differences: Floats) -> Gain:
    """Mean and standard error of paired differences."""
    import numpy as np

    count = len(differences)
    error = float(differences.std(ddof=1) / np.sqrt(count)) if count > 1 else float("inf")
    return Gain(mean=float(differences.mean()), standard_error=error)
