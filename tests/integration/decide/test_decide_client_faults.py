"""The client against the conformance tool's mock server, with each of its faults.

A fault that can be seen ends in an error with a next step; one that does not touch an answer changes nothing.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from jevcompat.mock import FAULTS, MockConfig, make_server

from clew.core.decisions import Decision, NoulAnswer, Question
from clew.core.errors import DecisionModelError
from clew.core.records import State
from clew.decide.questionnaire import load_questionnaire
from clew.decide.system_one import SystemOneClient

STATE = State(user="we deploy on Tuesdays only", assistant="Noted.")
QUESTIONS = load_questionnaire(None) | {
    "with space": Question(id="with space", type="noul", instructions=None, criteria={"true": "It is so."}),
    "ten": Question(
        id="ten", type="score", instructions="How much?", criteria={str(n): f"level {n}" for n in range(10)}
    ),
    "wide": Question(
        id="wide", type="choice", instructions="Which?", criteria={"Épée": None} | {f"Option {n}": None for n in range(79)}
    ),
}  # fmt: skip

#: Faults that this questionnaire runs into and that can be seen: what the error says.
SEEN = {
    "wrong-route": r"404|broke",
    "xssi-200": "not JSON",
    "auth-rejects-header": "key",
    "auth-x-api-key": "key",
    "auth-plain": "key",
    "auth-invalid-403-text": "key",
    "reject-jev-latest": "404",
    "first-question-only": "has no answer",
    "strict-ids": "422",
    "nfd-keys": "exactly its options",
    "noul-two-sided": "422",
    "noul-needs-instructions": "422",
    "no-null-description": "422",
    "cap-5-levels": "422",
    "boolean-type": "another type",
    "nan": "not JSON",
    "noul-range": "outside 0 to 1",
    "choice-key-case": "exactly its options",
    "choice-sum": "sum to 1.20",
    "choice-second": "likeliest",
    "score-keys-1-based": "exactly its options",
    "score-sum": "sum to 0.80",
    "error-flat": "400",
}
#: Faults inside the model: no client can know them from one answer.
UNKNOWABLE = {"id-leaks", "batch-leaks", "order-leaks"}
#: Faults that need a certain set-up to show: the server's key, the client's key, the model asked for.
SET_UP = {
    "auth-rejects-header": (None, "sesame", "mock"),
    "auth-x-api-key": ("sesame", "sesame", "mock"),
    "auth-plain": ("sesame", None, "mock"),
    "auth-invalid-403-text": ("sesame", "wrong", "mock"),
    "reject-jev-latest": (None, None, "jev-latest"),
    "error-flat": (None, None, "no-such-model"),
}


@contextmanager
def running(config: MockConfig) -> Iterator[str]:
    """The mock server on a free port; yields its address."""
    server = make_server(config)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def decide(*faults: str, questions: dict[str, Question] = QUESTIONS) -> Decision:
    server_key, key, model_id = SET_UP.get(faults[0] if faults else "", (None, None, "mock"))
    with running(MockConfig(key=server_key, faults=frozenset(faults))) as url:
        one = SystemOneClient(
            url, model_id=model_id, api_key=key, total_timeout_s=20, first_timeout_s=20, sleep=lambda _: None
        )
        return one.decide(STATE, questions)


def check_sanity(decision: Decision) -> None:
    assert list(decision.answers) == list(QUESTIONS)
    for answer in decision.answers.values():
        if isinstance(answer, NoulAnswer):
            assert 0 <= answer.probability <= 1
        else:
            assert math.fsum(answer.probabilities.values()) == pytest.approx(1)
            assert all(0 <= share <= 1 for share in answer.probabilities.values())
    assert all(math.isfinite(logit) for logits in decision.logits.values() for logit in logits)


@pytest.fixture(scope="module")
def faultless() -> Decision:
    decision = decide()
    check_sanity(decision)
    return decision


def values(decision: Decision) -> dict[str, list[float]]:
    return {
        id_: [answer.probability] if isinstance(answer, NoulAnswer) else list(answer.probabilities.values())
        for id_, answer in decision.answers.items()
    }


def test_the_list_of_faults_is_the_tools_own() -> None:
    assert len(FAULTS) == 47
    assert set(SEEN) | UNKNOWABLE | set(SET_UP) <= set(FAULTS)


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_fault_is_refused_with_a_next_step_or_changes_nothing(fault: str, faultless: Decision) -> None:
    if fault in SEEN:
        with pytest.raises(DecisionModelError, match=SEEN[fault]) as caught:
            decide(fault)
        assert caught.value.next_step
        assert STATE.user not in str(caught.value)
        return
    decision = decide(fault)
    check_sanity(decision)
    if fault not in UNKNOWABLE:
        for id_, expected in values(faultless).items():
            assert values(decision)[id_] == pytest.approx(expected, abs=1e-9), id_


def test_a_refusal_in_a_shape_of_its_own_is_told() -> None:
    too_many = QUESTIONS["ten"].criteria | {"10": "level 10"}
    question = Question(id="ten", type="score", instructions="How much?", criteria=too_many)
    with pytest.raises(DecisionModelError, match="400"):
        decide("validation-400", questions={"ten": question})


def test_a_wide_choice_asked_in_groups_gets_the_numbers_of_one_question(faultless: Decision) -> None:
    assert faultless.split == ()
    decision = decide("cap-64")
    assert decision.split == ("wide",)
    assert values(decision)["wide"] == pytest.approx(values(faultless)["wide"])
    assert "wide" not in decision.logits
    assert "wide" in faultless.logits


def test_without_the_native_api_log_probabilities_stand_for_logits(faultless: Decision) -> None:
    assert faultless.logits_source == "log_prob"
    durable = faultless.answers["is_durable"]
    assert isinstance(durable, NoulAnswer)
    no, yes = faultless.logits["is_durable"]
    assert yes - no == pytest.approx(math.log(durable.probability / (1 - durable.probability)))


def test_a_server_that_is_busy_now_and_then_still_answers() -> None:
    with running(MockConfig(busy_every=2)) as url:
        one = SystemOneClient(url, model_id="mock", sleep=lambda _: None)
        for _ in range(3):
            check_sanity(one.decide(STATE, QUESTIONS))
