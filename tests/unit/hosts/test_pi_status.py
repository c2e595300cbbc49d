from __future__ import annotations

import pytest

from clew.core.ports import CaptureCounts
from clew.hosts.pi.status import footer

DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("queued", "age_ms", "text"),
    [
        (0, None, None),
        (1, 1_000, "1 memory to review: /memory-review"),
        (3, 1_000, "3 memories to review: /memory-review"),
        (3, 2 * DAY_MS, "3 memories to review (oldest 2 d): /memory-review"),
    ],
)
def test_the_footer_names_the_command_that_reviews(queued, age_ms, text):
    oldest_ms = None if age_ms is None else 10 * DAY_MS - age_ms
    counts = CaptureCounts(unjudged=0, judged=0, queued=queued, oldest_queued_ms=oldest_ms)
    assert footer(counts, 10 * DAY_MS) == text
