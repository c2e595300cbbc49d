"""Fixtures: a scripted model, Pi in a home of its own with Clew installed, and what Clew stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pi_driver import Pi
from processes import processes_of, wait_until
from scripted_model import ScriptedModel
from stored import Stored


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs real Pi."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.e2e)


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    """The model that Pi talks to; it answers `ok` unless a test scripts it."""
    with ScriptedModel() as scripted:
        yield scripted
    assert scripted.errors == []


@pytest.fixture
def bare_pi(tmp_path: Path, model: ScriptedModel) -> Iterator[Pi]:
    """Pi without Clew. When the test is over, nothing of it may run any more."""
    pi = Pi(tmp_path, model.base_url)
    yield pi
    wait_until(lambda: not processes_of(pi.home), "the end of every process of this test")


@pytest.fixture
def pi(bare_pi: Pi) -> Pi:
    """Pi with Clew installed as a person would install it. What passes the gate is saved at once."""
    bare_pi.install_clew()
    bare_pi.write_gate_config(reviewMode="auto")
    return bare_pi


@pytest.fixture
def stored(bare_pi: Pi) -> Stored:
    """What Clew stored."""
    return Stored(bare_pi)
