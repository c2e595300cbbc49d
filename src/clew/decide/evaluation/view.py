"""An evaluation as a person or a program reads it, and as a diagram."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from clew.decide.evaluation.diagram import Panel, draw_reliability
from clew.decide.evaluation.entries import GroupAccuracy, PairsQuality, RelevanceQuality
from clew.decide.evaluation.json_lines import shown
from clew.decide.evaluation.judging import Judging, QuestionQuality
from clew.decide.evaluation.labelled import RowsKind
from clew.decide.evaluation.metrics import Interval
from clew.decide.evaluation.states import SavingQuality, StatesQuality
from clew.decide.evaluation.table import render_table, show_number

Quality = StatesQuality | PairsQuality | RelevanceQuality
_NOUNS: dict[RowsKind, str] = {"states": "states", "pairs": "pairs of memories", "relevance": "dated memories"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What was measured on the rows of one kind. `address`: where the model answered; empty for the built-in judge."""

    kind: RowsKind
    judging: Judging
    quality: Quality
    address: str = ""

    @property
    def model(self) -> str:
        """Which model answered, and where."""
        return shown(self.judging.model) + (f" at {self.address}" if self.address else "")

    @property
    def questions(self) -> tuple[QuestionQuality, ...]:
        """The yes/no questions."""
        return (self.quality.question,) if isinstance(self.quality, RelevanceQuality) else self.quality.questions


def render_sections(sections: Sequence[Section]) -> str:
    """All sections as text."""
    return "\n\n".join("\n".join(_render(section)) for section in sections)


def sections_json(sections: Sequence[Section]) -> dict[str, Any]:
    """Kind of rows → what was measured; null where it cannot be told."""
    return {
        section.kind: {
            "model": section.judging.model,
            "address": section.address or None,
            "fingerprint": section.judging.fingerprint,
            "rows": len(section.judging.judged),
            "problems": dict(section.judging.problems),
            "median_ms": section.judging.median_ms,
            "p95_ms": section.judging.p95_ms,
            **asdict(section.quality),
        }
        for section in sections
    }


def draw_sections(sections: Sequence[Section]) -> str:
    """The reliability diagram: a panel for each yes/no question that was answered."""
    panels = [
        Panel(name=one.id, bins=one.bins, remark=f"{one.rows} rows, ECE {show_number(one.ece, 3)}")
        for section in sections
        for one in section.questions
        if one.rows
    ]
    return draw_reliability(f"Reliability of {sections[0].model}" if sections else "Reliability", panels)


def _render(section: Section) -> Iterator[str]:
    judging = section.judging
    yield f"{section.model}: {len(judging.judged)} {_NOUNS[section.kind]}{_speed(judging)}"
    yield ""
    yield from render_table(
        ("question", "rows", "yes", "AUC", "95 %", "F1", "at", "Brier", "ECE"),
        [_question_cells(question) for question in section.questions],
    )
    yield from (
        f"{one.id}: the model abstains on {one.abstained} rows, which are not measured."
        for one in section.questions
        if one.abstained
    )
    if isinstance(section.quality, StatesQuality):
        yield from _render_states(section.quality)
    elif isinstance(section.quality, PairsQuality):
        yield from _render_pairs(section.quality)
    else:
        yield from _render_groups(section.quality.groups)


def _speed(judging: Judging) -> str:
    if judging.median_ms is None or judging.p95_ms is None:
        return ""
    return f"; a decision takes {judging.median_ms:.1f} ms (median), {judging.p95_ms:.1f} ms (95 %)"


def _question_cells(question: QuestionQuality) -> tuple[str, ...]:
    return (
        question.id,
        str(question.rows),
        str(question.yes),
        show_number(question.auc, 3),
        _span(question.auc_interval, 3),
        show_number(question.f1),
        f"{question.threshold:g}",
        show_number(question.brier, 3),
        show_number(question.ece, 3),
    )


def _render_states(quality: StatesQuality) -> Iterator[str]:
    yield f"importance: mean error {show_number(quality.importance_mae)} levels"
    yield (
        f"target: right {show_number(quality.target_accuracy)};"
        f" category of what is worth saving {show_number(quality.category_accuracy)}"
    )
    yield ""
    yield from render_table(
        ("saving rule", "rows", "worth it", "proposed", "P", "R", "false", "secrets"),
        [_saving_cells(one) for one in (quality.saving, *quality.groups)],
    )
    yield ""
    yield f"95 %: precision {_span(quality.precision_interval)}, recall {_span(quality.recall_interval)}"
    yield (
        f"where {quality.true_share:.0%} of messages are worth saving: precision {show_number(quality.true_precision)}"
        f" (95 %: {_span(quality.true_precision_interval)}), recall {show_number(quality.saving.recall)},"
        f" false proposals {show_number(quality.saving.false_share, 3)} of the others"
    )


def _saving_cells(one: SavingQuality) -> tuple[str, ...]:
    return (
        one.name if one.group == "all" else f"{one.group}: {one.name}",
        str(one.rows),
        str(one.memorable),
        str(one.proposed),
        show_number(one.precision),
        show_number(one.recall),
        show_number(one.false_share, 3),
        str(one.secrets_proposed),
    )


def _render_pairs(quality: PairsQuality) -> Iterator[str]:
    yield (
        f"dropped without a merge (same_fact ≥ {quality.hard_drop:g}): complementary pairs"
        f" {show_number(quality.complementary_dropped, 3)}, with a look at adds_detail"
        f" {show_number(quality.complementary_dropped_checked, 3)}; duplicates {show_number(quality.duplicates_dropped)}"
    )
    yield from _render_groups(quality.groups)


def _render_groups(groups: Sequence[GroupAccuracy]) -> Iterator[str]:
    told = [one for one in groups if any(share is not None for share in one.right.values())]
    if told:
        yield ""
        yield from render_table(
            ("on the right side of the threshold", "rows", *told[0].right),
            [(f"{one.group}: {one.name}", str(one.rows), *map(show_number, one.right.values())) for one in told],
        )


def _span(interval: Interval | None, digits: int = 2) -> str:
    return "?" if interval is None else f"{interval[0]:.{digits}f}-{interval[1]:.{digits}f}"
