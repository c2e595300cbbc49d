from __future__ import annotations

import pytest

from clew.store.store import Store


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "memories.db") as opened:
        yield opened
