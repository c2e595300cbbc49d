"""Token estimates lean high in every script, and a text can be cut to a number of them."""

from __future__ import annotations

import pytest

from clew.core.tokens import cut_to_tokens, estimate_tokens


@pytest.mark.parametrize(
    ("text", "chars_per_token"),
    [
        ("We always deploy on Tuesdays. ", 4),
        ("Мы всегда выкатываем по вторникам", 2),
        ("Εγκαθιστούμε πάντα κάθε Τρίτη", 2),
        ("دائما ننشر يوم الثلاثاء", 2),
        ("אנחנו תמיד פורסים בימי שלישי", 2),
        ("हम हमेशा मंगलवार को तैनात करते हैं", 2),
        ("我们总是在星期二部署", 1),
        ("私たちはいつも火曜日にデプロイします", 1),
        ("เราปรับใช้ทุกวันอังคารเสมอ", 1),
        ("우리는항상화요일에배포합니다", 1),
        ("🎉🚀", 1),
    ],
)
def test_a_token_is_at_most_as_many_characters_as_its_script_packs_into_one(text: str, chars_per_token: int) -> None:
    dense = text.replace(" ", "") if chars_per_token < 4 else text
    assert estimate_tokens(dense * 10) >= len(dense * 10) / chars_per_token


def test_an_estimate_rounds_up_and_nothing_costs_nothing() -> None:
    assert [estimate_tokens(text) for text in ("", "a", "abcd", "abcde", "é", "éé", "ééé")] == [0, 1, 1, 2, 1, 1, 2]


@pytest.mark.parametrize("text", ["word " * 300, "数据库" * 300, "слово " * 300, "a🎉é" * 200])
@pytest.mark.parametrize("max_tokens", [1, 2, 3, 50, 100])
def test_a_text_is_cut_behind_its_head_and_fills_its_tokens(text: str, max_tokens: int) -> None:
    cut = cut_to_tokens(text, max_tokens)
    assert max_tokens - 2 <= estimate_tokens(cut) <= max_tokens
    assert not cut or (cut.endswith("…") and text.startswith(cut[:-1]))


def test_a_text_that_fits_is_left_alone_and_no_room_leaves_nothing() -> None:
    assert cut_to_tokens("abcd", 1) == "abcd"
    assert cut_to_tokens("abcde", 0) == ""
    assert cut_to_tokens("", 0) == ""
