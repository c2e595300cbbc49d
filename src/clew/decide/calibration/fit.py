"""A fit: one temperature for each type of question, bound to the model it was made for; the file is Rizzo Flow's."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, cast

from clew.core.decisions import QuestionType
from clew.core.errors import SettingsError
from clew.decide.calibration.rows import KINDS, RowKind
from clew.decide.evaluation.json_lines import create_file, shown

VERSION = 1
STATUS = "fitted_requires_held_out_validation"
MAX_FILE_BYTES = 1_000_000
_FIELDS = ("version", "fingerprint", "dataset_sha256", "temperatures", "fit_metrics", "status")
_SHORT_CHARS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Temperatures, and what they were made of.

    Attributes:
        fingerprint: the model whose logits were fitted; they mean nothing for another.
        dataset_sha256: of the rows.
        temperatures: type → number above 0; a type that had no rows is missing.
        fit_metrics: type → `rows`, `fit_nll_before`, `fit_nll_after`, on the rows of the fit themselves.
    """

    fingerprint: str
    dataset_sha256: str
    temperatures: Mapping[RowKind, float]
    fit_metrics: Mapping[str, Any]

    def temperature(self, type_: RowKind | QuestionType) -> float:
        """What logits of this type are divided by; 1 for a type that was not fitted. A noul is a boolean."""
        return self.temperatures.get("boolean" if type_ == "noul" else type_, 1.0)

    def as_json(self) -> dict[str, Any]:
        """The file's content."""
        return {
            "version": VERSION,
            "fingerprint": self.fingerprint,
            "dataset_sha256": self.dataset_sha256,
            "temperatures": dict(self.temperatures),
            "fit_metrics": dict(self.fit_metrics),
            "status": STATUS,
        }


def write_fit(path: Path, fit: Fit) -> None:
    """Write a new file. Raises InvalidInput when there is one already, or it cannot be written."""
    create_file(path, json.dumps(fit.as_json(), indent=2, allow_nan=False) + "\n")


def require_fingerprint(fit: Fit, fingerprint: str | None) -> None:
    """Refuse a fit that was made for another model.

    Args:
        fingerprint: of the model that answers; None if it is not known.

    Raises:
        SettingsError: they differ.
    """
    if fit.fingerprint != fingerprint:
        raise SettingsError(
            f"The calibration is of model {short(fit.fingerprint)}, but the one that answers is"
            f" {short(fingerprint) if fingerprint else 'unknown'}.",
            "Fit it anew with `clew calibrate fit`, or leave the calibration out.",
        )


def short(fingerprint: str) -> str:
    """The beginning of a fingerprint, as it is shown."""
    return shown(fingerprint if len(fingerprint) <= _SHORT_CHARS else fingerprint[:_SHORT_CHARS] + "…")


def read_fit(path: Path) -> Fit:
    """Read a fit that `write_fit` or Rizzo Flow wrote.

    Raises:
        SettingsError: it cannot be read or is not one; the message names the file, the field and the mend.
    """
    raw = _read_json(path)
    if not isinstance(raw, dict):
        _refuse(path, "it is not a JSON object.")
    odd = sorted(set(raw) ^ set(_FIELDS))
    if odd:
        _refuse(path, f'"{shown(odd[0])}" is {"not a field of a fit" if odd[0] in raw else "missing"}.')
    if raw["version"] != VERSION or isinstance(raw["version"], bool):
        _refuse(path, f"its version is {shown(raw['version'])}, and this Clew reads version {VERSION}.")
    if raw["status"] != STATUS:
        _refuse(path, f'its status is {shown(raw["status"])} and not "{STATUS}".')
    if not isinstance(raw["fit_metrics"], dict):
        _refuse(path, "fit_metrics is not an object.")
    if not _can_be_shown(raw["fit_metrics"]):
        _refuse(path, "fit_metrics holds a number that is too large.")
    return Fit(
        fingerprint=_read_text(path, raw, "fingerprint"),
        dataset_sha256=_read_text(path, raw, "dataset_sha256"),
        temperatures=_read_temperatures(path, raw["temperatures"]),
        fit_metrics=raw["fit_metrics"],
    )


def _read_json(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            _refuse(path, "it is larger than 1 MB.")
        return json.loads(data.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except OSError as error:
        raise SettingsError(
            f"The calibration {path} cannot be read ({error.strerror}).", "Check the path and its rights."
        ) from error
    except (ValueError, RecursionError):
        _refuse(path, "it is not valid JSON.")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _read_text(path: Path, raw: Mapping[str, Any], field: str) -> str:
    text = raw[field]
    if not isinstance(text, str) or not text.strip():
        _refuse(path, f"its {field} is not a text.")
    return text


def _read_temperatures(path: Path, raw: Any) -> dict[RowKind, float]:
    if not isinstance(raw, dict) or not raw:
        _refuse(path, "its temperatures are not an object with at least one type.")
    for type_, value in raw.items():
        if type_ not in KINDS:
            _refuse(path, f'"{shown(type_)}" is no type of question ({", ".join(KINDS)}).')
        if not _is_temperature(value):
            _refuse(path, f"the temperature of {type_} is {shown(value)} and not a number above 0.")
    return {cast("RowKind", type_): float(value) for type_, value in raw.items()}


def _can_be_shown(metrics: Mapping[str, Any]) -> bool:
    """Whether a server can answer with them. JSON knows numbers that are too large for it, such as 1e999."""
    try:
        json.dumps(metrics, allow_nan=False)
    except ValueError:
        return False
    return True


def _is_temperature(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1e6 and math.isfinite(value)


def _refuse(path: Path, what: str) -> NoReturn:
    raise SettingsError(f"The calibration {path}: {what}", "Make a new one with `clew calibrate fit`.")
