"""What a provider's prompt cache sees: a conversation only ever grows at its end."""

from __future__ import annotations

from itertools import pairwise

from phrases import CHATTER, FENCE_START, LESSON, PREFERENCE, PROJECT_FACT, QUESTION_ABOUT_FACT

TOPICS = [
    QUESTION_ABOUT_FACT,
    "Which port do migrations have to use, and why did the migration hang?",
    CHATTER,
    "Do I prefer short answers or a summary at the end?",
]
TURNS = 20


def test_twenty_turns_keep_their_prefix_byte_for_byte(pi, model, stored):
    pi.print(PROJECT_FACT, LESSON, PREFERENCE)
    stored.wait_for_judged(3)
    told = len(model.requests)

    with pi.rpc() as session:
        for turn in range(TURNS):
            session.prompt(f"{TOPICS[turn % len(TOPICS)]} ({turn})")

    requests = model.requests[told:]
    assert len(requests) == TURNS
    for before, after in pairwise(requests):
        grown = before.raw_messages.removesuffix(b"]")
        assert after.raw_messages.startswith(grown), f"request {after.index} rewrites what was sent before"
        assert after.body.get("tools") == before.body.get("tools")
    assert requests[-1].all_text.count(FENCE_START) >= 2, "several turns recalled something"
