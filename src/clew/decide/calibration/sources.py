"""Gathers calibration rows out of files: Clew's log and rows of Rizzo Flow, told apart line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from clew.core.errors import InvalidInput
from clew.decide.calibration.log import LoggedState, read_log_row
from clew.decide.calibration.rows import CalibrationRow, is_rizzo_row, read_rizzo_row
from clew.decide.evaluation.json_lines import Line, NotJson, parse_object, read_lines, refuse, shown

TORN = "the line is torn (its writer was stopped)"
OTHER_FINGERPRINT = "another model judged"


@dataclass(frozen=True, slots=True, kw_only=True)
class GatheredRows:
    """Rows of one model.

    Attributes:
        fingerprint: the model; None when only rows of Rizzo Flow were read, which do not tell.
        left_out: why lines or labels of the files are not among the rows → how many.
    """

    rows: tuple[CalibrationRow, ...]
    fingerprint: str | None
    left_out: Mapping[str, int]


def gather_rows(paths: Iterable[Path], *, fingerprint: str | None = None) -> GatheredRows:
    """Read all rows of one model.

    Args:
        fingerprint: whose rows; the beginning is enough if the log holds only one that begins so. None takes the only
            one in the log. Rows of Rizzo Flow carry none and are always taken.

    Raises:
        InvalidInput: a file or a line cannot be used, or the log is of several models and none was named.
    """
    unbound: list[CalibrationRow] = []
    logged: list[LoggedState] = []
    left_out: Counter[str] = Counter()
    for path in paths:
        for line in read_lines(path):
            found = _read(line)
            if found is None:
                left_out[TORN] += 1
            elif isinstance(found, LoggedState):
                logged.append(found)
                left_out.update(found.unusable)
            else:
                unbound.append(found)
    usable = [state for state in logged if state.rows]
    chosen = _choose(usable, fingerprint)
    left_out[OTHER_FINGERPRINT] += sum(state.fingerprint != chosen for state in usable)
    own = [row for state in usable if state.fingerprint == chosen for row in state.rows]
    return GatheredRows(rows=(*unbound, *own), fingerprint=chosen, left_out=dict(+left_out))


def _read(line: Line) -> CalibrationRow | LoggedState | None:
    """What stands on a line; None if it is torn."""
    try:
        raw = parse_object(line)
    except NotJson as error:
        if error.is_cut:
            return None
        refuse(line, str(error), "Mend or remove the line.", cause=error)
    return read_rizzo_row(line, raw) if is_rizzo_row(raw) else read_log_row(line, raw)


def _choose(states: Sequence[LoggedState], wanted: str | None) -> str | None:
    counts = Counter(state.fingerprint for state in states if state.fingerprint)
    if wanted is None:
        if len(counts) > 1:
            raise InvalidInput(
                f"The log holds rows of {len(counts)} models: {_listed(counts)}.",
                "Say whose with --fingerprint; its first characters are enough.",
            )
        return next(iter(counts), None)
    matching = [name for name in counts if name.startswith(wanted)]
    if wanted in counts or not counts:
        return wanted
    if len(matching) != 1:
        found = f"{len(matching)} models" if matching else "no model"
        raise InvalidInput(
            f'"{shown(wanted)}" names {found} of the log, which holds {_listed(counts)}.', "Name one of them."
        )
    return matching[0]


def _listed(counts: Mapping[str, int]) -> str:
    names = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rest = f", and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(f"{shown(name, 64)} ({count} states)" for name, count in names[:5]) + rest
