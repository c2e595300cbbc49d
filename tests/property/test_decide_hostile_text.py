"""The built-in judge under hostile input: it answers, with probabilities, in linear time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.decisions import NoulAnswer
from clew.core.records import State
from clew.decide.builtin import BuiltinJudge
from clew.decide.lexical.folding import fold
from clew.decide.lexical.grams import BUCKET_COUNT, iter_grams
from clew.decide.questionnaire import load_questionnaire
from clew.decide.wire import BadReply, decode_reply

QUESTIONS = load_questionnaire(None)
JUDGE = BuiltinJudge()
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=300)


@given(user=ANY_TEXT, assistant=st.none() | ANY_TEXT)
def test_any_text_is_judged_with_probabilities(user, assistant) -> None:
    decision = JUDGE.decide(State(user=user, assistant=assistant), QUESTIONS)
    for answer in decision.answers.values():
        shares = [answer.probability] if isinstance(answer, NoulAnswer) else answer.probabilities.values()
        assert all(0.0 <= share <= 1.0 for share in shares)


@given(ANY_TEXT)
def test_folding_is_stable(text) -> None:
    assert fold(fold(text)) == fold(text)


@given(ANY_TEXT)
def test_every_gram_has_a_bucket(text) -> None:
    for size, buckets in enumerate(iter_grams(text, 7), start=1):
        assert len(buckets) == len(text) + 3 - size
        assert all(0 <= bucket < BUCKET_COUNT for bucket in buckets)


@given(st.binary(max_size=200))
def test_any_reply_is_read_or_refused(body) -> None:
    with pytest.raises(BadReply):
        decode_reply(body, QUESTIONS)


@pytest.mark.parametrize(
    "unit", ["a", " ", "\n", "ab1!", "password: ", "> ", "```\n", "。", ". ", "A1b2C3d4", "<a>", "never "]
)
def test_a_megabyte_of_anything_is_judged(unit) -> None:
    text = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
    assert JUDGE.decide(State(user=text, assistant=text), QUESTIONS).answers.keys() == QUESTIONS.keys()


def test_the_judges_own_work_is_bounded() -> None:
    from clew.decide.lexical.reading import MAX_SENTENCES, MAX_TYPED_CHARS, read_state

    reading = read_state(State(user="ok then. " * 120_000))
    assert len(reading.sentences) <= MAX_SENTENCES
    assert sum(map(len, reading.sentences)) <= MAX_TYPED_CHARS
