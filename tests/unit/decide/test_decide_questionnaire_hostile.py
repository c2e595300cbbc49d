"""Questionnaire files and native replies full of anything: read or refused, never a traceback or an odd number."""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from clew.core.decisions import NoulAnswer, Question
from clew.core.errors import SettingsError
from clew.decide import native
from clew.decide.questionnaire import load_questionnaire
from clew.decide.wire import BadReply

WORDS = st.sampled_from(
    ["type", "noul", "choice", "score", "instructions", "criteria", "questions", "version", "id", "true", "false", "none",
     "answers", "probabilities", "option_logits", "temperature", "boolean", "o0", "o1", "0", "1", "q", "", "\ud800", "\x00"]
)  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers(-(10**12), 10**400) | st.floats() | WORDS
ANYTHING = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=5), max_leaves=20
)
BODY = st.fixed_dictionaries(
    {"type": WORDS}, optional={"instructions": LEAVES, "criteria": ANYTHING, "id": LEAVES, "extra": LEAVES}
)
FILE = st.dictionaries(WORDS, BODY, max_size=3) | st.lists(BODY, max_size=3) | ANYTHING

NOUL = Question(id="q", type="noul", instructions="Is it so?")
OPTIONS = st.fixed_dictionaries({"false": LEAVES, "true": LEAVES})
REPLY = st.fixed_dictionaries(
    {"type": st.just("boolean"), "probabilities": OPTIONS, "option_logits": OPTIONS}, optional={"temperature": LEAVES}
)


def check_loading(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "questions.json"
        path.write_bytes(content)
        loaded = load_or_error(path)
        if isinstance(loaded, SettingsError):
            assert str(path) in loaded.what
            assert loaded.what.isprintable()
            assert loaded.next_step
        else:
            assert loaded
            assert all(question.id == id_ for id_, question in loaded.items())


def load_or_error(path: Path) -> dict[str, Question] | SettingsError:
    try:
        return load_questionnaire(path)
    except SettingsError as error:
        return error


@given(FILE)
def test_any_json_is_a_questionnaire_or_refused_with_its_place(content: Any) -> None:
    check_loading(json.dumps(content).encode())


@given(st.binary(max_size=100))
def test_any_bytes_are_refused_with_their_place(content: bytes) -> None:
    check_loading(content)


def decode(reply: Any) -> None:
    try:
        answered = native.decode_reply(json.dumps(reply).encode(), {"q": NOUL})
    except BadReply:
        return
    answer = answered.answers["q"]
    assert isinstance(answer, NoulAnswer)
    assert 0.0 <= answer.probability <= 1.0
    assert all(map(math.isfinite, answered.logits["q"]))


@given(ANYTHING | st.fixed_dictionaries({"answers": st.fixed_dictionaries({"q": ANYTHING | REPLY})}))
def test_any_native_reply_is_read_or_refused(reply: Any) -> None:
    decode(reply)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(0.05, 20))
def test_a_native_reply_that_is_consistent_is_read(no: float, yes: float, temperature: float) -> None:
    highest = max(no, yes)
    powers = [math.exp((logit - highest) / temperature) for logit in (no, yes)]
    shares = [power / sum(powers) for power in powers]
    answer = {
        "type": "boolean", "temperature": temperature,
        "option_logits": {"true": yes, "false": no}, "probabilities": {"true": shares[1], "false": shares[0]},
    }  # fmt: skip
    answered = native.decode_reply(json.dumps({"answers": {"q": answer}}).encode(), {"q": NOUL})
    assert answered.answers["q"] == NoulAnswer(probability=shares[1] / (shares[0] + shares[1]))
    assert answered.logits["q"] == (no, yes)
