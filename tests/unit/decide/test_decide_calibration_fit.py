"""The fit, its file, the split and the report."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clew.core.errors import InvalidInput, SettingsError
from clew.decide.calibration.fit import Fit, read_fit, require_fingerprint, write_fit
from clew.decide.calibration.fitting import find_temperature, fit_temperatures, split_by_state
from clew.decide.calibration.report import MIN_ANSWERS, measure_honesty, report_calibration
from clew.decide.calibration.rows import CalibrationRow


def row(logits: tuple[float, ...], label: int, *, key: str | None = None, kind: Any = "choice", question: str = "q"):
    return CalibrationRow(kind=kind, logits=logits, label_index=label, state_key=key, question=question)


def drawn_rows(temperature: float, count: int, *, kind: Any = "choice", options: int = 3) -> list[CalibrationRow]:
    """Labels drawn from softmax(logits / temperature): then that temperature is the true one."""
    chance = random.Random(7)
    rows = []
    for number in range(count):
        logits = tuple(chance.gauss(0, 3) for _ in range(options))
        shares = [math.exp(logit / temperature) for logit in logits]
        label = chance.choices(range(options), weights=shares)[0]
        rows.append(row(logits, label, key=f"state {number}", kind=kind))
    return rows


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.5])
def test_the_fit_recovers_the_temperature_that_labels_were_drawn_with(temperature: float) -> None:
    assert find_temperature(drawn_rows(temperature, 4_000)) == pytest.approx(temperature, rel=0.08)


def test_the_best_point_of_the_grid_is_taken_and_ends_are_its_bounds() -> None:
    # logits [0, 4], right 13 times in 16: the optimum is 4 / ln(13/3) = 2.728, the nearest grid point 2.7144
    rows = [row((0.0, 4.0), 1)] * 13 + [row((0.0, 4.0), 0)] * 3
    assert find_temperature(rows) == pytest.approx(0.05 * 400 ** (160 / 240))
    assert find_temperature([row((0.0, 0.5), 1)] * 12) == pytest.approx(0.05)
    assert find_temperature([row((0.0, 8.0), 1), row((0.0, 8.0), 0)] * 6) == pytest.approx(20)


def test_rows_that_say_nothing_keep_temperature_one() -> None:
    assert find_temperature([row((3.0, 3.0), 0)] * 10) == 1.0


def test_a_calibrated_model_keeps_temperature_one() -> None:
    rows = [row((0.0, math.log(3)), 1)] * 30 + [row((0.0, math.log(3)), 0)] * 10
    fit = fit_temperatures(rows, "f")
    assert fit.temperatures == {"choice": 1.0}
    assert fit.fit_metrics["choice"]["rows"] == 40
    assert fit.fit_metrics["choice"]["fit_nll_before"] == pytest.approx(
        -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    )


def test_rows_with_different_numbers_of_options_are_fitted_together() -> None:
    rows = drawn_rows(2.0, 2_000) + drawn_rows(2.0, 2_000, options=5)
    assert find_temperature(rows) == pytest.approx(2.0, rel=0.1)


def test_logits_of_any_size_make_no_warning_and_no_nan() -> None:
    rows = [row((-9e8, 9e8), number % 2, key=str(number), kind="boolean") for number in range(40)]
    assert all(map(math.isfinite, fit_temperatures(rows, "f").fit_metrics["boolean"].values()))
    assert math.isfinite(measure_honesty(rows, 0.05).nll)


def test_a_type_with_fewer_than_ten_rows_is_named() -> None:
    rows = [row((0.0, 1.0), 0)] * 10 + [row((0.0, 1.0), 0, kind="boolean")] * 9
    with pytest.raises(InvalidInput, match="9 labelled rows of type boolean"):
        fit_temperatures(rows, "f")
    with pytest.raises(InvalidInput, match="no labelled rows"):
        fit_temperatures([], "f")


def test_the_hash_of_the_rows_is_the_one_that_rizzo_flow_computes() -> None:
    rows = [row((0.0, 1.0), number % 2) for number in range(10)]
    expected = "1f5f05a9a412e521fe4ae1b407d1b8cc3369e10327e62f51e76e447bfe2019e0"
    assert fit_temperatures(rows, "f").dataset_sha256 == expected


def test_no_state_stands_on_both_sides_and_sides_do_not_change_as_the_log_grows() -> None:
    rows = [row((0.0, 1.0), 0, key=f"state {number // 3}") for number in range(900)]
    to_fit, held_out = split_by_state(rows)
    sides = [{one.state_key for one in side} for side in (to_fit, held_out)]
    assert not sides[0] & sides[1]
    assert len(to_fit) + len(held_out) == len(rows)
    assert 0.24 < len(held_out) / len(rows) < 0.36
    early_fit, early_held_out = split_by_state(rows[:300])
    assert {one.state_key for one in early_fit} <= sides[0]
    assert {one.state_key for one in early_held_out} <= sides[1]


def test_equal_rows_without_a_key_stand_on_one_side() -> None:
    rows = [row((0.0, float(number % 50)), 0) for number in range(200)]
    to_fit, held_out = ({one.logits for one in side} for side in split_by_state(rows))
    assert to_fit
    assert held_out
    assert not to_fit & held_out


# -- the file -------------------------------------------------------------------------------------------------------

FIT = Fit(fingerprint="modèle-" + "a" * 40, dataset_sha256="d" * 64, temperatures={"boolean": 1.5}, fit_metrics={})


def test_a_fit_survives_its_file_and_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    write_fit(path, FIT)
    assert read_fit(path) == FIT
    with pytest.raises(InvalidInput, match="exists already"):
        write_fit(path, FIT)


def test_a_fingerprint_of_any_characters_survives_the_file(tmp_path: Path) -> None:
    odd = replace(FIT, fingerprint="\ud800\x1b")
    write_fit(tmp_path / "fit.json", odd)
    assert read_fit(tmp_path / "fit.json") == odd


def test_a_number_that_no_answer_could_show_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    path.write_text(json.dumps({**FIT.as_json(), "fit_metrics": {"rows": 7}}).replace("7}", "1e999}"))
    with pytest.raises(SettingsError, match="fit_metrics"):
        read_fit(path)


def test_a_type_that_was_not_fitted_has_temperature_one_and_a_noul_is_a_boolean() -> None:
    assert [FIT.temperature(type_) for type_ in ("boolean", "noul", "choice", "score")] == [1.5, 1.5, 1.0, 1.0]


def test_a_fit_of_another_model_is_refused_with_both_names() -> None:
    require_fingerprint(FIT, FIT.fingerprint)
    with pytest.raises(SettingsError) as caught:
        require_fingerprint(FIT, "b" * 64)
    assert "modèle-aaaaa" in caught.value.what
    assert "bbbbbbbbbbbb" in caught.value.what
    assert "clew calibrate fit" in caught.value.next_step
    with pytest.raises(SettingsError, match="unknown"):
        require_fingerprint(FIT, None)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"version": 2}, "version"),
        ({"version": True}, "version"),
        ({"status": "validated"}, "status"),
        ({"extra": 1}, "extra"),
        ({"fingerprint": 3}, "fingerprint"),
        ({"fingerprint": " "}, "fingerprint"),
        ({"dataset_sha256": None}, "dataset_sha256"),
        ({"fit_metrics": []}, "fit_metrics"),
        ({"temperatures": {}}, "temperatures"),
        ({"temperatures": {"noul": 1}}, "noul"),
        *[({"temperatures": {"choice": bad}}, "choice") for bad in (0, -1, "hot", True, None, 10**400, [])],
    ],
)
def test_a_file_that_is_no_fit_is_refused_with_the_field(tmp_path: Path, change: dict[str, Any], what: str) -> None:
    path = tmp_path / "fit.json"
    path.write_text(json.dumps({**FIT.as_json(), **change}))
    with pytest.raises(SettingsError, match=r"fit\.json") as caught:
        read_fit(path)
    assert what in caught.value.what
    assert "clew calibrate fit" in caught.value.next_step


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe\x00", b"[]", b"null", b"[" * 100_000, b'{"version": 1}', b'{"a": NaN}', b" " * 1_000_001 + b"{}"],
)
def test_hostile_content_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "fit.json"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=r"fit\.json"):
        read_fit(path)


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    for field in FIT.as_json():
        path.write_text(json.dumps({name: value for name, value in FIT.as_json().items() if name != field}))
        with pytest.raises(SettingsError, match=f'"{field}" is missing'):
            read_fit(path)


# -- the report -----------------------------------------------------------------------------------------------------


def test_honesty_of_a_boolean_is_computed_as_by_hand() -> None:
    even, sure = (0.0, 0.0), (0.0, math.log(4))  # P(true) .5 and .8
    rows = [row(even, 0, kind="boolean"), row(even, 1, kind="boolean"), row(sure, 1, kind="boolean")]
    found = measure_honesty(rows, 1.0)
    assert found.nll == pytest.approx(-(2 * math.log(0.5) + math.log(0.8)) / 3)
    assert found.brier == pytest.approx((0.25 + 0.25 + 0.04) / 3)
    assert found.ece == pytest.approx(0.2 / 3)


def test_honesty_of_a_choice_looks_at_the_likeliest_option() -> None:
    rows = [row((math.log(0.5), math.log(0.3), math.log(0.2)), 1)]
    found = measure_honesty(rows, 1.0)
    assert found.nll == pytest.approx(-math.log(0.3))
    assert found.brier == pytest.approx(0.25 + 0.49 + 0.04)
    assert found.ece == pytest.approx(0.5)


def test_a_temperature_makes_an_overconfident_model_more_honest_on_rows_it_has_not_seen() -> None:
    report = report_calibration(drawn_rows(3.0, 1_500, kind="boolean", options=2))
    (group,) = report.questions
    assert group.before
    assert group.after
    assert group.after.nll < group.before.nll
    assert group.after.ece < group.before.ece / 2
    assert group.held_out_rows + group.fit_rows == 1_500


def test_a_suggested_threshold_reaches_the_wished_precision() -> None:
    (group,) = report_calibration(drawn_rows(1.0, 3_000, kind="boolean", options=2), precision=0.95).questions
    assert group.suggested
    assert group.current
    assert group.suggested.precision == pytest.approx(0.95, abs=0.03)
    assert group.suggested.threshold > group.current.threshold
    assert (group.current.recall or 0) > (group.suggested.recall or 1)


def test_with_few_rows_precision_recall_and_thresholds_are_unknown() -> None:
    rows = [row((0.0, 2.0), 1, key=f"state {number}", kind="boolean") for number in range(MIN_ANSWERS - 1)]
    report = report_calibration(rows)
    (group,) = report.questions
    assert report.unfitted == ("boolean",)
    assert (group.temperature, group.suggested) == (1.0, None)
    assert group.current
    assert (group.current.precision, group.current.recall) == (None, None)


def test_thresholds_are_only_told_for_yes_no_questions() -> None:
    (group,) = report_calibration(drawn_rows(1.0, 50)).questions
    assert (group.current, group.suggested) == (None, None)


def test_a_report_can_judge_a_given_fit() -> None:
    fit = Fit(fingerprint="f", dataset_sha256="d", temperatures={"boolean": 2.0}, fit_metrics={})
    report = report_calibration(drawn_rows(2.0, 300, kind="boolean", options=2), fit=fit)
    assert (report.source, report.types[0].temperature) == ("fit", 2.0)
    with pytest.raises(InvalidInput, match="no labelled rows"):
        report_calibration([])


def suggested_for(rows: list[CalibrationRow]) -> Any:
    return report_calibration(rows, precision=0.9).questions[0].suggested


def test_a_threshold_is_not_drawn_through_a_tie() -> None:
    # All rows are equally probable: the true ones, which come first, cannot be told from the others.
    rows = [row((0.0, 1.0), int(number < 60), key=f"state {number}", kind="boolean") for number in range(100)]
    assert suggested_for(rows) is None


def test_a_threshold_is_not_suggested_on_a_handful_of_rows() -> None:
    rows = [row((0.0, 1.0), number % 2, key=f"state {number}", kind="boolean") for number in range(100)]
    few = [row((0.0, 3.0), 1, key=f"few {number}", kind="boolean") for number in range(MIN_ANSWERS - 1)]
    many = [row((0.0, 3.0), 1, key=f"many {number}", kind="boolean") for number in range(5 * MIN_ANSWERS)]
    assert suggested_for(rows + few) is None
    assert suggested_for(rows + many) is not None
