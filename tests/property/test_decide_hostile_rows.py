"""Whatever stands in a file of rows or in a fit, Clew reads it or says in one line why not."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.core.errors import ClewError
from clew.decide.calibration.fit import read_fit
from clew.decide.calibration.fitting import split_by_state
from clew.decide.calibration.report import report_calibration
from clew.decide.calibration.sources import gather_rows
from clew.decide.evaluation.labelled import read_labelled

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=8,
)
names = st.sampled_from([
    "type", "logits", "label_index", "v", "label", "questions", "state_sha256", "fingerprint", "logits_source", "user",
    "a", "b", "text", "written", "labels", "id", "version", "temperatures", "status", "dataset_sha256", "fit_metrics",
])  # fmt: skip
objects = st.dictionaries(names, values, max_size=8)
logged = st.fixed_dictionaries({
    "v": st.just(1),
    "logits_source": st.just("native"),
    "fingerprint": st.just("f"),
    "state_sha256": st.text(min_size=1, max_size=2),
    "label": st.dictionaries(st.sampled_from("qr"), scalars, max_size=2),
    "questions": st.dictionaries(
        st.sampled_from("qr"),
        st.fixed_dictionaries({
            "type": st.sampled_from(["boolean", "choice", "score"]),
            "order": st.sampled_from([["false", "true"], ["a", "b"], ["0", "1", "2"]]),
            "logits": st.lists(st.floats(width=32), min_size=2, max_size=3),
        }),
        max_size=2,
    ),
})  # fmt: skip
lines = st.binary(max_size=60) | (objects | logged).map(lambda value: json.dumps(value).encode())


def in_file(content: bytes, read: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        path.write_bytes(content)
        return read(path)


@settings(max_examples=150, deadline=None)
@given(st.lists(lines, max_size=4))
def test_rows_are_read_or_refused(written: list[bytes]) -> None:
    content = b"\n".join(written)
    with suppress(ClewError):
        rows = in_file(content, lambda path: gather_rows([path])).rows
        assert sum(map(len, split_by_state(rows))) == len(rows)
        report_calibration(rows)
    with suppress(ClewError):
        in_file(content, read_labelled)


@settings(max_examples=80, deadline=None)
@given(lines)
def test_fits_are_read_or_refused(content: bytes) -> None:
    with suppress(ClewError):
        assert in_file(content, read_fit).temperature("noul") > 0


@pytest.mark.parametrize("depth", [1_000, 200_000])
def test_deep_nesting_is_refused(depth: int) -> None:
    for read in (read_fit, read_labelled, lambda path: gather_rows([path])):
        with pytest.raises(ClewError):
            in_file(b'{"a":' * depth + b"\n{}\n", read)
