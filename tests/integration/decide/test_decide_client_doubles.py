"""The client with a server that has the native API (as Rizzo Flow) and one that has not (as Ollama)."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import pytest

from clew.core.decisions import ChoiceAnswer, NoulAnswer, Question, ScoreAnswer
from clew.core.errors import DecisionModelDown, DecisionModelError
from clew.core.records import State
from clew.decide.questionnaire import load_questionnaire
from clew.decide.system_one import SystemOneClient

GATE = load_questionnaire(None)
STATE = State(user="we deploy on Tuesdays only", assistant="Noted.")
WIDE = Question(
    id="wide", type="choice", instructions="Which?", criteria={f"option {n}": f"number {n}" for n in range(60)}
)
FINGERPRINT = "f" * 64
NATIVE, COMPAT = ("POST", "/v1/decisions"), ("POST", "/v1/systemone")


def softmax(logits: list[float]) -> list[float]:
    powers = [math.exp(logit) for logit in logits]
    return [power / sum(powers) for power in powers]


def logit(state: Any, instructions: str, option: str) -> float:
    digest = hashlib.sha256(json.dumps([state, instructions, option], sort_keys=True).encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32 * 8 - 4


class RizzoDouble:
    """One model behind both APIs: the compat one maps to the native one, with 26 options at most."""

    def __init__(self, temperature: float = 2.0) -> None:
        self.temperature = temperature

    def install(self, server) -> None:
        server.routes["GET", "/health"] = lambda exchange: exchange.reply(
            200, {"status": "ready", "model": {"fingerprint": FINGERPRINT}}
        )
        server.routes[NATIVE] = self.decisions
        server.routes[COMPAT] = self.systemone

    def decisions(self, exchange) -> None:
        sent = json.loads(exchange.body)
        if set(sent) != {"state", "questions", "mode"}:
            exchange.reply(422, {"detail": [{"loc": ["body"], "msg": "Field required", "type": "missing"}]})
            return
        answers = {id_: self.answer(sent["state"], question) for id_, question in sent["questions"].items()}
        envelope = {"model": {"fingerprint": FINGERPRINT}, "mode": "shared", "calibration": None, "timing": {}}
        exchange.reply(200, {**envelope, "answers": answers})

    def answer(self, state: Any, question: dict[str, Any]) -> dict[str, Any]:
        assert question["policy"] == {"allow_abstain": False}
        options = native_options(question)
        assert len(options) <= 26
        logits = {name: logit(state, question["instructions"], text) for name, text in options.items()}
        softened = softmax([value / self.temperature for value in logits.values()])
        return {
            "type": question["type"], "status": "ok", "option_logits": logits, "temperature": self.temperature,
            "probabilities": dict(zip(logits, softened, strict=True)), "legend": options, "input_tokens": 7,
        }  # fmt: skip

    def systemone(self, exchange) -> None:
        sent = json.loads(exchange.body)
        if any(len(question["criteria"] or ()) > 26 for question in sent["questions"].values()):
            exchange.reply(422, {"detail": "Options exceed the limit of 26."})
            return
        answers = {id_: self.compat_answer(sent["state"], question) for id_, question in sent["questions"].items()}
        exchange.reply(200, {"model": "rizzo-flow-4b-q8_0", "answers": answers, "usage": {}})

    def compat_answer(self, state: Any, question: dict[str, Any]) -> dict[str, Any]:
        texts = compat_texts(question)
        logits = [logit(state, question["instructions"], text) for text in texts.values()]
        named = dict(zip(texts, softmax([value / self.temperature for value in logits]), strict=True))
        if question["type"] == "noul":
            return {"type": "noul", "noul": named["true"]}
        if question["type"] == "choice":
            return {"type": "choice", "choice": max(named, key=lambda name: named[name]), "probabilities": named}
        return {"type": "score", "score": 0, "probabilities": named}


def native_options(question: dict[str, Any]) -> dict[str, str]:
    if question["type"] == "boolean":
        return {"false": question["false_description"], "true": question["true_description"]}
    if question["type"] == "choice":
        return {option["id"]: option["description"] for option in question["options"]}
    return {str(level): text for level, text in enumerate(question["levels"])}


def compat_texts(question: dict[str, Any]) -> dict[str, str]:
    """Option → text as the public mapping from the compat to the native API has it."""
    criteria = question["criteria"]
    if question["type"] == "noul":
        return {"false": f"No. {criteria['false']}", "true": f"Yes. {criteria['true']}"}
    if question["type"] == "choice":
        return {name: f"{name}: {text}" if text else name for name, text in criteria.items()}
    return {str(level): text for level, text in enumerate(criteria)}


def ollama_systemone(exchange) -> None:
    """Four decimals, a confidence of its own, 26 options, errors as plain `error`."""
    sent = json.loads(exchange.body)
    if any(len(question["criteria"] or ()) > 26 for question in sent["questions"].values()):
        exchange.reply(400, {"error": "too many options"})
        return
    answers = {id_: RizzoDouble().compat_answer(sent["state"], question) for id_, question in sent["questions"].items()}
    for answer in answers.values():
        answer["confidence"] = 0.8906
        for numbers in (answer, answer.get("probabilities", {})):
            numbers |= {name: round(number, 4) for name, number in numbers.items() if isinstance(number, float)}
    exchange.reply(200, {"model": "tev1", "answers": answers, "usage": {"input_tokens": 9, "output_tokens": 1}})


@pytest.fixture
def rizzo(server):
    RizzoDouble().install(server)
    return server


@pytest.fixture
def ollama(server):
    server.routes["GET", "/v1/models"] = lambda exchange: exchange.reply(200, {"data": [{"id": "tev1"}]})
    server.routes[COMPAT] = ollama_systemone
    return server


def client(server, **options: Any) -> SystemOneClient:
    return SystemOneClient(server.url, model_id="rizzo-latest", sleep=lambda _: None, **options)


def asked(server) -> list[str]:
    """Paths of the requests that carry a text to judge."""
    return [path for _, path, _, body in server.requests if len(body) > 2]


def shares(answer: NoulAnswer | ChoiceAnswer | ScoreAnswer) -> dict[str, float]:
    return {"true": answer.probability} if isinstance(answer, NoulAnswer) else dict(answer.probabilities)


def without_native(server) -> None:
    server.routes[NATIVE] = None  # 404


def test_a_native_server_is_asked_once_and_gives_raw_logits(rizzo) -> None:
    decision = client(rizzo).decide(STATE, GATE)
    assert asked(rizzo) == ["/v1/decisions"]
    assert decision.logits_source == "native"
    assert decision.fingerprint == FINGERPRINT
    assert list(decision.logits) == list(GATE)
    question = GATE["is_durable"]
    expected = [
        logit(STATE.as_json(), question.instructions or "", text)
        for text in (f"No. {question.criteria['false']}", f"Yes. {question.criteria['true']}")
    ]
    assert decision.logits["is_durable"] == pytest.approx(expected)  # before the temperature


def test_both_apis_give_the_same_answers(rizzo) -> None:
    native = client(rizzo).decide(STATE, GATE)
    without_native(rizzo)
    compat = client(rizzo).decide(STATE, GATE)
    assert compat.logits_source == "log_prob"
    assert compat.fingerprint == FINGERPRINT
    for id_, answer in native.answers.items():
        assert shares(answer) == pytest.approx(shares(compat.answers[id_]))
    target, importance = native.answers["target"], native.answers["importance"]
    assert isinstance(target, ChoiceAnswer)
    assert target.choice == max(target.probabilities, key=lambda name: target.probabilities[name])
    assert isinstance(importance, ScoreAnswer)
    assert importance.score == pytest.approx(sum(int(level) * p for level, p in importance.probabilities.items()))


def test_abilities_are_asked_once_and_again_when_they_are_old(rizzo) -> None:
    one = client(rizzo)
    one.decide(STATE, GATE)
    one.decide(STATE, GATE)
    assert [path for _, path, _, _ in rizzo.requests] == ["/health", *["/v1/decisions"] * 3]
    forgetful = client(rizzo, capabilities_ttl_s=0)
    rizzo.requests.clear()
    without_native(rizzo)
    assert forgetful.decide(STATE, GATE).logits_source == "log_prob"
    RizzoDouble().install(rizzo)
    assert forgetful.decide(STATE, GATE).logits_source == "native"


def test_no_text_goes_to_a_route_that_does_not_exist(ollama) -> None:
    client(ollama).decide(STATE, GATE)
    assert asked(ollama) == ["/v1/systemone"]


def test_a_wide_choice_is_split_for_a_native_server(rizzo) -> None:
    decision = client(rizzo).decide(STATE, {"wide": WIDE, **GATE})
    assert list(decision.answers) == ["wide", *GATE]
    assert decision.split == ("wide",)
    assert decision.logits_source == "native"
    logits = {
        name: logit(STATE.as_json(), "Which?", f"{name}: {text}") / RizzoDouble().temperature
        for name, text in WIDE.criteria.items()
    }
    expected = dict(zip(logits, softmax(list(logits.values())), strict=True))
    answer = decision.answers["wide"]
    assert isinstance(answer, ChoiceAnswer)
    assert answer.probabilities == pytest.approx(expected)
    assert answer.choice == max(expected, key=lambda name: expected[name])


def test_a_split_is_remembered(ollama) -> None:
    one = client(ollama)
    one.decide(STATE, {"wide": WIDE})
    assert len(asked(ollama)) == 3  # refused, groups, final
    one.decide(STATE, {"wide": WIDE})
    assert len(asked(ollama)) == 5


def test_four_decimals_and_a_confidence_of_its_own_are_no_obstacle(ollama) -> None:
    decision = client(ollama).decide(STATE, {"wide": WIDE, **GATE})
    assert decision.model == "tev1"
    assert decision.fingerprint is None
    assert decision.logits_source == "log_prob"
    assert decision.split == ("wide",)
    for answer in decision.answers.values():
        if not isinstance(answer, NoulAnswer):
            assert sum(answer.probabilities.values()) == pytest.approx(1, abs=1e-12)


def tampered(change) -> Any:
    """The native API of the double, with one answer changed."""

    def script(exchange) -> None:
        sent = json.loads(exchange.body)
        if not sent:
            exchange.reply(422, {"detail": []})
            return
        answers = {id_: RizzoDouble().answer(sent["state"], question) for id_, question in sent["questions"].items()}
        change(answers["target"])
        exchange.reply(200, {"model": {}, "answers": answers})

    return script


@pytest.mark.parametrize(
    "change",
    [
        lambda answer: answer["option_logits"].update(o0=9.0),
        lambda answer: answer["option_logits"].update(o0=None),
        lambda answer: answer["option_logits"].update(o0=True),
        lambda answer: answer["option_logits"].pop("o0"),
        lambda answer: answer.pop("option_logits"),
        lambda answer: answer["probabilities"].pop("o0"),
        lambda answer: answer.update(temperature=0),
        lambda answer: answer.update(temperature="1"),
        lambda answer: answer.update(temperature=1.0),
        lambda answer: answer.update(type="boolean"),
        lambda answer: answer.clear(),
    ],
    ids=["other logit", "null logit", "true logit", "no logit", "no logits", "option gone", "temperature 0",
         "temperature text", "other temperature", "other type", "empty"],
)  # fmt: skip
def test_a_native_reply_that_contradicts_itself_is_not_used(rizzo, change) -> None:
    rizzo.routes[NATIVE] = tampered(change)
    decision = client(rizzo).decide(STATE, GATE)
    assert decision.logits_source == "log_prob"
    assert asked(rizzo) == ["/v1/decisions", "/v1/systemone"]


def test_another_api_under_the_same_path_is_left_alone(rizzo) -> None:
    rizzo.routes[NATIVE] = lambda exchange: exchange.reply(422, {"error": "predicate is missing"})
    one = client(rizzo)
    one.decide(STATE, GATE)
    assert one.decide(STATE, GATE).model == "rizzo-flow-4b-q8_0"
    assert asked(rizzo) == ["/v1/decisions", "/v1/systemone", "/v1/systemone"]


def test_a_question_without_instructions_is_asked_by_the_compat_api(rizzo) -> None:
    rizzo.routes[COMPAT] = lambda exchange: exchange.reply(200, {"answers": {"q": {"type": "noul", "noul": 0.5}}})
    question = Question(id="q", type="noul", instructions=None, criteria={"true": "It is so."})
    assert client(rizzo).decide(STATE, {"q": question}).logits_source == "log_prob"
    assert asked(rizzo) == ["/v1/systemone"]


def test_a_key_that_the_native_api_refuses_is_told(rizzo) -> None:
    rizzo.routes[NATIVE] = lambda exchange: exchange.reply(401, {"detail": "Invalid API key"})
    with pytest.raises(DecisionModelError, match="DECISION_MODEL_KEY"):
        client(rizzo, api_key="wrong").decide(STATE, GATE)


def test_a_text_longer_than_the_context_is_halved_once(rizzo) -> None:
    def refuse_long(exchange) -> None:
        if len(exchange.body) > 12_000:
            exchange.reply(422, {"detail": "The input exceeds the context of 8192 tokens."})
        else:
            RizzoDouble().decisions(exchange)

    rizzo.routes[NATIVE] = refuse_long
    assert client(rizzo).decide(State(user="word " * 3_000), GATE).logits_source == "native"
    assert asked(rizzo) == ["/v1/decisions"] * 2


def wait(exchange) -> None:
    exchange.server.release.wait(30)


def test_only_the_first_decision_waits_for_a_model_to_load(rizzo) -> None:
    rizzo.routes[NATIVE] = wait
    rizzo.routes["GET", "/health"] = None
    rizzo.routes[COMPAT] = wait
    # Were the longer time given again, or the shorter one at first, this would hang or fail at once.
    one = client(rizzo, first_timeout_s=0.4, total_timeout_s=0.0)
    with pytest.raises(DecisionModelDown, match="no reply in time"):
        one.decide(STATE, GATE)
    assert asked(rizzo) == ["/v1/systemone"]
    with pytest.raises(DecisionModelDown):
        one.decide(STATE, GATE)
    assert asked(rizzo) == ["/v1/systemone"]
