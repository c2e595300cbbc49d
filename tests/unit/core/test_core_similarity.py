"""Near duplicates are told from different facts, in any script."""

from __future__ import annotations

import pytest

from clew.core.similarity import containment, is_near_duplicate, jaccard, may_be_same_fact, token_set


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("We use pnpm", "we  use\npnpm"),
        ("The deploy script lives in tools/deploy.sh", "the deploy script lives in tools/deploy.sh."),
        ("Releases go out on Tuesdays after the standup", "Releases go out on Tuesdays after standup"),
        ("हम हर मंगलवार को रिलीज़ करते हैं", "हम हर मंगलवार को रिलीज़ करते हैं।"),
        ("نستخدم بوستجرس في الإنتاج", "نستخدم بوستجرس في الإنتاج."),
        ("我们用 pnpm 管理依赖", "我们用pnpm管理依赖。"),
        ("אנחנו משתמשים בפוסטגרס", "אנחנו משתמשים בפוסטגרס!"),
    ],
)
def test_the_same_in_nearly_the_same_words_is_a_duplicate(a, b):
    assert is_near_duplicate(a, b)
    assert is_near_duplicate(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("use Go", "use Google"),
        (
            "The staging service of the shop listens on port 8090 today",
            "The staging service of the shop listens on port 8091 today",
        ),
        ("Always run the whole test suite before you push", "Never run the whole test suite before you push"),
        ("We use pnpm", "We use yarn"),
        ("", "anything"),
        ("!!!", "???"),
    ],
)
def test_different_facts_are_not_duplicates(a, b):
    assert not is_near_duplicate(a, b)


def test_one_value_of_one_subject_is_worth_comparing():
    assert may_be_same_fact("PocketBase runs on port 8090", "PocketBase backend at localhost:8090")
    assert not may_be_same_fact("PocketBase runs on port 8090", "Redis runs on port 8090")
    assert not may_be_same_fact("PocketBase runs on port 8090", "PocketBase needs Go")


def test_overlap_measures():
    assert jaccard("a b c", "b c d") == pytest.approx(0.5)
    assert containment("a b", "a b c d") == pytest.approx(1.0)
    assert jaccard("", "a") == containment("a", "") == 0.0
    assert token_set("Go go GO") == {"go"}
