"""What Clew says about itself: `/gate-status`, `/noodle` and the footer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import clew
from clew.config.load import Config, ReportLine
from clew.config.project import Project
from clew.core.ports import CaptureCounts

_MINUTE_MS = 60_000
_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (_MINUTE_MS, "min"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReport:
    """The decision model as it stands: which one, where it runs, and whether it answers.

    Attributes:
        where: an address, or "built in".
        problem: why it does not answer, with a next step; empty when it is healthy.
        warning: what the person should know about it (conversation text leaves the machine).
    """

    name: str
    where: str
    problem: str = ""
    warning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusFacts:
    """What `/gate-status` shows. `store_problem` replaces the numbers of a store that cannot be used."""

    config: Config
    project: Project
    model: ModelReport
    search: str
    counts: CaptureCounts | None
    user_memories: int = 0
    project_memories: int = 0
    bad_vectors: int = 0
    store_problem: str = ""
    now_ms: int = 0


def render_status(facts: StatusFacts) -> str:
    """The text of `/gate-status`."""
    gate, noodle = facts.config.gate, facts.config.noodle
    state = facts.model.problem or "healthy"
    lines = [
        f"Clew {clew.__version__}",
        f"Decision model: {facts.model.name} ({facts.model.where}): {state}",
        f"Review mode: {gate.review_mode} · trigger: {_trigger(gate.trigger)}",
        *_numbers(facts),
        f"Search: {facts.search}",
        *(
            [f"Vectors: {facts.bad_vectors} unusable, these memories are found by words alone"]
            if facts.bad_vectors
            else []
        ),
        f"Database: {noodle.db_path}",
        f"Data folder: {gate.memory_dir}",
        *_changed_settings(facts.config.report),
        *(f"Warning: {warning}" for warning in (facts.model.warning, *facts.config.warnings) if warning),
    ]
    return "\n".join(lines)


def status_json(facts: StatusFacts) -> dict[str, Any]:
    """The same as one JSON object, for `clew status --json`."""
    counts = facts.counts
    return {
        "version": clew.__version__,
        "decision_model": {
            "name": facts.model.name,
            "where": facts.model.where,
            "problem": facts.model.problem,
            "warning": facts.model.warning,
        },
        "search": facts.search,
        "bad_vectors": facts.bad_vectors,
        "database": str(facts.config.noodle.db_path),
        "data_folder": str(facts.config.gate.memory_dir),
        "store_problem": facts.store_problem,
        "project": {"key": facts.project.key, "name": facts.project.name},
        "memories": {"user": facts.user_memories, "project": facts.project_memories},
        "turns": {"judged": counts.judged, "unjudged": counts.unjudged} if counts else None,
        "inbox": {"waiting": counts.queued, "oldest_ms": counts.oldest_queued_ms} if counts else None,
        "settings": {
            line.setting.key: {"asked": line.asked, "effective": line.effective, "source": line.source}
            for line in facts.config.report
        },
        "warnings": list(facts.config.warnings),
    }


def render_noodle(config: Config) -> str:
    """The text of `/noodle`: the settings of the store and of recall, secrets masked."""
    lines = [
        f"{line.setting.key} = {line.effective}{_origin(line)}{_unused(line)}"
        for line in config.report
        if line.setting.file == "noodle"
    ]
    return "\n".join([f"Clew, long-term memory. Settings: {config.noodle_file}", *lines])


def footer(counts: CaptureCounts, now_ms: int) -> str | None:
    """The hint in Pi's footer; None when nothing waits."""
    if not counts.queued:
        return None
    noun = "memory" if counts.queued == 1 else "memories"
    return f"{counts.queued} {noun} to review{_oldest(counts, now_ms)}: /memory-review"


def _numbers(facts: StatusFacts) -> list[str]:
    if facts.counts is None:
        return [f"Store: cannot be used. {facts.store_problem}"]
    counts = facts.counts
    return [
        f"Turns: {counts.judged} judged, {counts.unjudged} unjudged",
        f"To review: {counts.queued}{_oldest(counts, facts.now_ms)}",
        f"Memories: {facts.user_memories} everywhere, {facts.project_memories} in this project ({facts.project.name})",
    ]


def _oldest(counts: CaptureCounts, now_ms: int) -> str:
    """How long the oldest candidate has waited; nothing within its first minute."""
    age_ms = 0 if counts.oldest_queued_ms is None else now_ms - counts.oldest_queued_ms
    unit = next(((unit_ms, name) for unit_ms, name in _UNITS if age_ms >= unit_ms), None)
    return f" (oldest {age_ms // unit[0]} {unit[1]})" if unit else ""


def _trigger(trigger: str) -> str:
    # The other triggers are known settings, but this version judges every turn.
    return trigger if trigger == "always" else f"{trigger} (not in this version: every turn is judged)"


def _changed_settings(report: Iterable[ReportLine]) -> list[str]:
    lines = [
        f"  {line.setting.key}: asked {line.asked}, in force {line.effective}{_origin(line)}{_unused(line)}"
        for line in report
        if line.source != "default" or line.asked is not None
    ]
    return ["Settings that were changed:", *lines] if lines else ["Settings: all at their defaults"]


def _origin(line: ReportLine) -> str:
    if line.source == "environment":
        return f" (environment, {line.setting.env})"
    return f" ({line.source})"


def _unused(line: ReportLine) -> str:
    return "" if line.setting.is_used or line.source == "default" else ", which this version does not act on yet"
