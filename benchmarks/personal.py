"""What `clew judge learn` would do for a person: learn from the first n answers, measure on all later rows. JSON lines.

    python benchmarks/personal.py data/judge/natural_ops.jsonl [MORE.jsonl ...]

The person is the writer of the test rows (no weights were trained on them): each file one person, and all files
together another, in a fixed shuffled order. A person has a taste: `guide` keeps what the labels say, which is what the
judge was trained for, so there is nothing to learn and harm to avoid; `facts` never keeps preferences or lessons;
`strict` keeps only what matters a great deal. Answers are those to what the judge proposes (`log`: worth saving or
not, and of an approved one that it lasts and is not temporary), or to every row (`all`, as in a labelled history).
Where nothing was accepted, `shipped` and `learned` are equal.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clew.core.records import State
from clew.decide.builtin import BuiltinJudge
from clew.decide.evaluation.labelled import LabelledRow, read_labelled
from clew.decide.evaluation.metrics import measure_proposals
from clew.decide.lexical.model import COLUMN
from clew.decide.personal.adjustment import Adjustment
from clew.decide.personal.answers import AnsweredState
from clew.decide.personal.fitting import log_losses
from clew.decide.personal.learning import learn
from clew.decide.personal.scoring import read_base_fingerprint
from clew.decide.questionnaire import load_questionnaire
from clew.gate.rule import Thresholds, select

COUNTS = (20, 50, 100, 200)
MIN_LATER = 20
SEED = 11


TASTES: Mapping[str, Callable[[LabelledRow], bool]] = {
    "guide": lambda row: row.yes["should_save"],
    "facts": lambda row: row.yes["should_save"] and row.target in {"project", "memory"},
    "strict": lambda row: row.yes["should_save"] and row.importance >= 3,
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """A state, and whether this person would keep it."""

    labelled: LabelledRow
    state: State
    is_kept: bool


def read_rows(path: Path, taste: str) -> list[Row]:
    """Test rows of a file, without those that hold a secret: they are never learned from."""
    labelled = [one for one in read_labelled(path).rows if one.is_test and not one.yes["has_secret"]]
    return [
        Row(labelled=one, state=one.judged, is_kept=TASTES[taste](one))
        for one in labelled
        if isinstance(one.judged, State)
    ]


def answer(row: Row, kind: str) -> AnsweredState:
    """The row as the person would have answered it."""
    answers = {"save": row.is_kept}
    if kind == "all":
        answers |= {head: row.labelled.yes[head] for head in ("is_durable", "is_session_scoped", "is_failure")}
    elif row.is_kept:
        answers |= {"is_durable": True, "is_session_scoped": False}
    return AnsweredState(state=row.state, answers=answers, timestamp_ms=0, key=row.labelled.id)


def measure(rows: Sequence[Row], adjustment: Adjustment | None) -> dict[str, float | None]:
    """Log-loss of the save head, and precision and recall of the gate's rule."""
    judge, questions = BuiltinJudge(adjustment=adjustment), load_questionnaire(None)
    truth = np.array([row.is_kept for row in rows])
    logits = np.array([judge.score(row.state).logits[COLUMN["save"]] for row in rows], float)
    found = measure_proposals(np.array([is_proposed(judge, row.state, questions) for row in rows]), truth)
    loss = float(log_losses(logits, truth).mean())
    return {"save_log_loss": round(loss, 3), "precision": shorten(found.precision), "recall": shorten(found.recall)}


def shorten(share: float | None) -> float | None:
    """Three decimals."""
    return None if share is None else round(share, 3)


def is_proposed(judge: BuiltinJudge, state: State, questions: Any) -> bool:
    """Whether the gate would propose the state."""
    return select(judge.decide(state, questions), Thresholds()).outcome == "selected"


def learn_along(rows: Sequence[Row], kind: str) -> Iterator[dict[str, Any]]:
    """One line for each number of answers that leaves enough rows to measure on."""
    judge, questions = BuiltinJudge(), load_questionnaire(None)
    asked = [index for index, row in enumerate(rows) if kind == "all" or is_proposed(judge, row.state, questions)]
    for count in COUNTS:
        if count > len(asked) or len(rows) - asked[count - 1] - 1 < MIN_LATER:
            return
        later = rows[asked[count - 1] + 1 :]
        lesson = learn([answer(rows[index], kind) for index in asked[:count]], read_base_fingerprint(), None)
        yield {
            "answers": count,
            "later": len(later),
            "tried": [one.head for one in lesson.heads if one.trials],
            "accepted": {one.head: one.accepted.stage for one in lesson.heads if one.accepted},
            "shipped": measure(later, None),
            "learned": measure(later, lesson.adjustment),
        }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    files = parser.parse_args().files
    for taste in TASTES:
        people = {path.stem: read_rows(path, taste) for path in files}
        if len(people) > 1:
            people["all files"] = [row for rows in people.values() for row in rows]
        for name, rows in people.items():
            random.Random(SEED).shuffle(rows)
            for kind in ("log", "all"):
                for line in learn_along(rows, kind):
                    print(json.dumps({"person": name, "taste": taste, "labels": kind, **line}), flush=True)


if __name__ == "__main__":
    main()
