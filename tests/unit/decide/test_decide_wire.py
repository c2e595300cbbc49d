"""Numbers on the wire."""

from __future__ import annotations

import json

import pytest

from clew.core.decisions import ChoiceAnswer, NoulAnswer, Question
from clew.core.records import State
from clew.decide.wire import confidence, decode_reply, encode_request

CHOICE = Question(id="c", type="choice", instructions="Which?", criteria={"b": "two", "a": None})


def decode(shares: dict[str, float], choice: str):
    body = json.dumps({"answers": {"c": {"type": "choice", "choice": choice, "probabilities": shares}}}).encode()
    return decode_reply(body, {"c": CHOICE}).answers["c"]


def test_probabilities_off_by_rounding_are_scaled_to_one() -> None:
    answer = decode({"a": 0.33, "b": 0.65}, "b")
    assert isinstance(answer, ChoiceAnswer)
    assert sum(answer.probabilities.values()) == pytest.approx(1, abs=1e-12)
    assert list(answer.probabilities) == ["b", "a"]


def test_a_probability_a_hair_outside_is_clamped() -> None:
    body = b'{"answers": {"q": {"type": "noul", "noul": 1.0000001}}}'
    question = Question(id="q", type="noul", instructions="?")
    assert decode_reply(body, {"q": question}).answers["q"] == NoulAnswer(probability=1.0)


def test_options_keep_their_order_and_names() -> None:
    sent = json.loads(encode_request(State(user="u"), {"c": CHOICE}, "m"))
    assert list(sent["questions"]["c"]["criteria"].items()) == [("b", "two"), ("a", None)]


@pytest.mark.parametrize(
    ("shares", "expected"),
    [([0.5, 0.5], 0.0), ([1.0, 0.0], 1.0), ([0.75, 0.25], 0.5), ([1.0], 1.0), ([0.4, 0.3, 0.3], 0.1)],
)
def test_confidence_is_the_lead_over_an_even_split(shares, expected) -> None:
    assert confidence(shares) == pytest.approx(expected)
