"""Signals besides words and meaning."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from clew.store import signals
from clew.store.signals import DateWindow


def ms(year: int, month: int, day: int) -> int:
    return int(datetime(year, month, day, 12, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("query", "window"),
    [
        ("what happened on 7 May 2023?", DateWindow(2023, 5, 7)),
        ("on May 7th, 2023", DateWindow(2023, 5, 7)),
        ("on the 3rd of June", DateWindow(None, 6, 3)),
        ("since 2024-02-29", DateWindow(2024, 2, 29)),
        ("in December 2022", DateWindow(2022, 12)),
        ("in July", DateWindow(None, 7)),
        ("before 2021", DateWindow(2021)),
        ("may I delete it", None),
        ("May I delete it", None),
        ("march on with the dec file", None),
        ("port 5433", None),
        ("", None),
    ],
)
def test_the_time_a_query_names_is_read(query: str, window: DateWindow | None) -> None:
    assert signals.date_window(query) == window


def test_a_date_inside_the_window_is_closest_and_later_days_are_nearer_than_earlier_ones() -> None:
    window = DateWindow(2023, 5, 7)
    inside, after, before, far = (signals.date_closeness(window, ms(2023, 5, day)) for day in (7, 10, 4, 28))
    assert inside == 1
    assert inside > after > before >= far == 0


def test_a_month_without_a_year_fits_every_year() -> None:
    window = DateWindow(None, 12)
    assert signals.date_closeness(window, ms(2020, 12, 24)) == signals.date_closeness(window, ms(2024, 12, 1)) == 1
    assert signals.date_closeness(window, ms(2024, 1, 3)) > 0


@pytest.mark.parametrize("created", [0, -1, 10**30, -(10**30)])
def test_an_impossible_date_is_far_from_everything(created: int) -> None:
    assert signals.date_closeness(DateWindow(2023, 2, 31), created) == 0
    assert signals.date_closeness(DateWindow(2023, 2), created) == 0


def test_speakers_are_named_by_full_or_first_name() -> None:
    speakers = ("Ada Lovelace", "Grace", "李雷", "")
    assert signals.speakers_named("What did Ada's brother say?", speakers) == {"Ada Lovelace"}
    assert signals.speakers_named("grace and ada", speakers) == {"Ada Lovelace", "Grace"}
    assert not signals.speakers_named("adamant graceful", speakers)


def test_names_go_from_what_is_embedded_unless_nothing_else_is_left() -> None:
    assert signals.without_names("What does Ada's cat eat, Ada?", ["Ada"]) == "What does cat eat,?"
    assert signals.without_names("Ada", ["Ada"]) == "Ada"
    assert signals.without_names("what (a) name", ["(a"]) == "what (a) name"


@pytest.mark.parametrize("query", ["When did it break?", "how long is it", "quando si fa?", "Wann läuft es"])
def test_a_question_for_a_time_is_recognised(query: str) -> None:
    assert signals.asks_when(query)
    assert not signals.asks_when(f"tell me {query}")


def test_kinds_of_text_are_recognised() -> None:
    assert signals.is_question("Really? [shares a photo] ")
    assert signals.is_question("真的吗？")
    assert not signals.is_question("Really. [is it?]")
    assert signals.has_time_word("we moved last week")
    assert not signals.has_time_word("we moved the lasting weekender")


def test_length_grows_from_nothing_to_its_limit() -> None:
    assert signals.length_signal("too short") == 0
    assert signals.length_signal("word " * 59 + "word") == pytest.approx(1)
    assert signals.length_signal("word " * 10_000) == 1.2
