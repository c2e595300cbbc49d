"""The System One client against a scripted server that misbehaves in every way we know."""

from __future__ import annotations

import json
import threading

import pytest

from clew.core.decisions import ChoiceAnswer, NoulAnswer, ScoreAnswer
from clew.core.errors import DecisionModelDown, DecisionModelError, SettingsError
from clew.core.records import State
from clew.decide.questionnaire import load_questionnaire
from clew.decide.system_one import SystemOneClient

QUESTIONS = load_questionnaire(None)
STATE = State(user="we deploy on tuesdays only, the violet hippopotamus agreed", assistant="Noted.")
ROUTE = ("POST", "/v1/systemone")


def good_answers() -> dict:
    answers = {
        id_: {"type": "noul", "noul": 0.25} for id_ in ("has_secret", "is_session_scoped", "is_failure", "is_durable")
    }
    levels = {"0": 0.0, "1": 0.1, "2": 0.2, "3": 0.7, "4": 0.0}
    answers["importance"] = {"type": "score", "score": 2.6, "probabilities": levels, "legend": {}, "confidence": 0.6}
    shares = {"none": 0.1, "memory": 0.1, "user": 0.1, "project": 0.6, "failure": 0.1}
    answers["target"] = {"type": "choice", "choice": "project", "probabilities": shares, "confidence": 0.5}
    return answers


def answering(answers: object, **more: object):
    return lambda exchange: exchange.reply(200, {"model": "served-model", "answers": answers, "usage": {}} | more)


def refusing(status: int, body: object = b"", headers: dict[str, str] | None = None):
    return lambda exchange: exchange.reply(status, body, headers)


def asked(server) -> list[tuple]:
    """The requests for answers, without those about the server's abilities."""
    return [request for request in server.requests if request[1].endswith(("/v1/systemone", "/elsewhere"))]


def client(server, **options) -> SystemOneClient:
    waits: list[float] = options.pop("waits", [])
    options.setdefault("first_timeout_s", options.get("total_timeout_s", 20.0))
    return SystemOneClient(server.url, model_id="asked-model", sleep=waits.append, **options)


def changed(id_: str, **fields: object) -> dict:
    answers = good_answers()
    answers[id_] = answers[id_] | fields
    return answers


def test_a_good_answer_comes_back_typed_and_complete(server) -> None:
    server.routes[ROUTE] = answering(good_answers(), x_extra=1)
    decision = client(server, api_key="k").decide(STATE, QUESTIONS)
    assert decision.model == "served-model"
    assert decision.answers["is_durable"] == NoulAnswer(probability=0.25)
    importance, target = decision.answers["importance"], decision.answers["target"]
    assert isinstance(importance, ScoreAnswer)
    assert importance.score == pytest.approx(2.6)
    assert isinstance(target, ChoiceAnswer)
    assert target.choice == "project"
    assert sum(target.probabilities.values()) == pytest.approx(1)
    assert list(decision.answers) == list(QUESTIONS)


def test_the_request_carries_state_questions_model_and_key(server) -> None:
    server.routes[ROUTE] = answering(good_answers())
    one = client(server, api_key="sesame")
    one.decide(STATE, QUESTIONS)
    one.decide(STATE, QUESTIONS)
    (_, _, headers, body), (_, _, _, again) = asked(server)
    assert headers["Authorization"] == "Bearer sesame"
    sent = json.loads(body)
    assert sent["model"] == "asked-model"
    assert sent["state"]["user"] == STATE.user
    assert sent["questions"]["importance"]["criteria"][0] == QUESTIONS["importance"].criteria["0"]
    assert list(sent["questions"]["target"]["criteria"]) == list(QUESTIONS["target"].criteria)
    assert body == again


@pytest.mark.parametrize(
    ("answers", "complaint"),
    [
        ({id_: answer for id_, answer in good_answers().items() if id_ != "is_failure"}, "is_failure"),
        (changed("is_durable", noul=1.2), "is_durable"),
        (changed("is_durable", noul=True), "is_durable"),
        (changed("is_durable", noul="0.5"), "is_durable"),
        (changed("is_durable", type="choice"), "another type"),
        (changed("target", choice="elsewhere"), "target"),
        (changed("target", choice="none"), "likeliest"),
        (changed("target", probabilities={"none": 1.0}), "exactly its options"),
        (changed("target", probabilities={**good_answers()["target"]["probabilities"], "none": 0.3}), "sum to 1.20"),
        (changed("importance", probabilities=[0.2] * 5), "importance"),
        (changed("importance", probabilities={str(level): 0.1 for level in range(5)}), "sum to 0.50"),
        ([], "no answers"),
        (None, "no answers"),
    ],
)
def test_an_answer_that_does_not_fit_its_question_is_refused_by_name(server, answers, complaint) -> None:
    server.routes[ROUTE] = answering(answers)
    with pytest.raises(DecisionModelError, match=complaint) as caught:
        client(server).decide(STATE, QUESTIONS)
    assert server.url in str(caught.value)
    assert not isinstance(caught.value, DecisionModelDown)


@pytest.mark.parametrize(
    "body",
    [
        b"<html>hello</html>",
        b"",
        b"\xff\xfe{}",
        b"[1, 2]",
        b"[" * 200_000,
        b'{"answers": {"x": ' + b"9" * 6000 + b"}}",
        json.dumps({"answers": changed("is_durable", noul=float("nan"))}).encode(),
        json.dumps({"answers": good_answers()}).replace("0.25", "1e999").encode(),
        json.dumps({"answers": good_answers()}).replace("0.25", "-Infinity").encode(),
    ],
    ids=["html", "empty", "not utf-8", "array", "deep", "huge number", "nan", "overflow", "infinity"],
)
def test_a_body_that_is_no_usable_json_is_refused(server, body) -> None:
    server.routes[ROUTE] = refusing(200, body)
    with pytest.raises(DecisionModelError, match="cannot be used"):
        client(server).decide(STATE, QUESTIONS)


def test_an_oversized_reply_is_cut_off(server) -> None:
    server.routes[ROUTE] = refusing(200, b" " * (5 * 1024 * 1024))
    with pytest.raises(DecisionModelError, match="4 MB"):
        client(server).decide(STATE, QUESTIONS)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_points_to_the_setting_and_does_not_show_it(server, status) -> None:
    server.routes[ROUTE] = refusing(status, {"detail": "wrong key sesame"})
    with pytest.raises(DecisionModelError, match="DECISION_MODEL_KEY") as caught:
        client(server, api_key="sesame").decide(STATE, QUESTIONS)
    assert "sesame" not in str(caught.value)


def test_a_server_error_is_not_tried_again(server) -> None:
    server.routes[ROUTE] = refusing(500, b"oops")
    with pytest.raises(DecisionModelError, match="500"):
        client(server).decide(STATE, QUESTIONS)
    assert len(asked(server)) == 1


@pytest.mark.parametrize(
    "detail",
    [
        [{"loc": ["body", "model"], "msg": "unknown model", "type": "value_error"}],
        {"error_type": "api_usage_error", "message": "unknown model"},
        "unknown model",
    ],
)
def test_the_servers_own_words_about_a_refusal_are_told(server, detail) -> None:
    server.routes[ROUTE] = refusing(422, {"detail": detail})
    with pytest.raises(DecisionModelError, match="unknown model"):
        client(server).decide(STATE, QUESTIONS)


def test_words_of_the_server_that_quote_the_conversation_are_not_told(server) -> None:
    server.routes[ROUTE] = refusing(422, {"detail": f"cannot read {STATE.user!r}"})
    with pytest.raises(DecisionModelError) as caught:
        client(server).decide(STATE, QUESTIONS)
    assert "hippopotamus" not in str(caught.value)


@pytest.mark.parametrize("status", [429, 503, 529])
@pytest.mark.parametrize(("header", "value", "wait_s"), [("Retry-After", "1", 1.0), ("retry-after-ms", "40", 0.04)])
def test_a_busy_server_is_asked_again_after_the_time_it_names(server, status, header, value, wait_s) -> None:
    server.routes[ROUTE] = [refusing(status, b"", {header: value}), answering(good_answers())]
    waits: list[float] = []
    assert client(server, waits=waits).decide(STATE, QUESTIONS).model == "served-model"
    assert waits == [pytest.approx(wait_s)]


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "30"}, {"Retry-After": "-1"}, {"Retry-After": "nan"}])
def test_a_busy_server_that_names_no_short_wait_is_left_alone(server, headers) -> None:
    server.routes[ROUTE] = refusing(429, b"", headers)
    waits: list[float] = []
    with pytest.raises(DecisionModelDown, match="busy"):
        client(server, waits=waits).decide(STATE, QUESTIONS)
    assert waits == []
    assert len(asked(server)) == 1


def test_retries_end(server) -> None:
    server.routes[ROUTE] = refusing(503, b"", {"Retry-After": "0"})
    with pytest.raises(DecisionModelDown):
        client(server).decide(STATE, QUESTIONS)
    assert len(asked(server)) == 3


def test_a_state_too_long_for_the_server_is_halved_once(server) -> None:
    server.routes[ROUTE] = [refusing(413, b""), answering(good_answers())]
    client(server).decide(State(user="word " * 2000), QUESTIONS)
    first, second = (json.loads(body)["state"]["user"] for _, _, _, body in asked(server))
    assert len(second) <= len(first) // 2 + 1


def test_a_huge_state_is_cut_before_it_is_sent(server) -> None:
    server.routes[ROUTE] = answering(good_answers())
    client(server).decide(State(user="é" * 600_000, project="p" * 300_000), QUESTIONS)
    assert len(asked(server)[0][3]) < 300_000


def test_a_lone_surrogate_can_be_sent(server) -> None:
    server.routes[ROUTE] = answering(good_answers())
    client(server).decide(State(user="half \ud83d of it"), QUESTIONS)
    json.loads(asked(server)[0][3])


def close_at_once(exchange) -> None:
    exchange.close_connection = True
    exchange.connection.close()


def test_a_connection_that_closes_early_is_down(server) -> None:
    server.routes[ROUTE] = close_at_once
    with pytest.raises(DecisionModelDown):
        client(server).decide(STATE, QUESTIONS)


def half_a_body(exchange) -> None:
    exchange.send_response(200)
    exchange.send_header("Content-Length", "5000")
    exchange.end_headers()
    exchange.wfile.write(b'{"answers"')


def test_a_body_that_breaks_off_is_down_after_one_more_try(server) -> None:
    server.routes[ROUTE] = half_a_body
    with pytest.raises(DecisionModelDown, match="broke"):
        client(server).decide(STATE, QUESTIONS)
    assert len(asked(server)) == 2


def drip(exchange) -> None:
    """A byte now and then: each comes in time, the whole never does."""
    exchange.wfile.write(b"HTTP/1.0 200 OK\r\n")
    while not exchange.server.release.wait(0.02):
        exchange.wfile.write(b"X")


def silent(exchange) -> None:
    exchange.server.release.wait(30)


@pytest.mark.parametrize("script", [drip, silent])
def test_a_server_too_slow_is_down_when_the_time_is_over(server, script) -> None:
    server.routes[ROUTE] = script
    with pytest.raises(DecisionModelDown, match="no reply in time"):
        client(server, total_timeout_s=0.3).decide(STATE, QUESTIONS)


def test_nobody_there_is_down_with_a_next_step(server) -> None:
    address = server.url
    server.server_close()
    with pytest.raises(DecisionModelDown, match="decisionModelUrl"):
        SystemOneClient(address, model_id="m").decide(STATE, QUESTIONS)


def test_a_redirect_is_not_followed(server) -> None:
    server.routes[ROUTE] = refusing(307, b"", {"Location": server.url + "/elsewhere"})
    server.routes["POST", "/elsewhere"] = answering(good_answers())
    with pytest.raises(DecisionModelError, match="not followed"):
        client(server).decide(STATE, QUESTIONS)
    assert [path for _, path, _, _ in asked(server)] == ["/v1/systemone"]


def test_proxies_of_the_environment_are_not_used(server, monkeypatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    server.routes[ROUTE] = answering(good_answers())
    assert client(server).decide(STATE, QUESTIONS).model == "served-model"


def test_nothing_of_the_conversation_is_logged_or_told(server, caplog, capsys) -> None:
    caplog.set_level(0)
    server.routes[ROUTE] = answering(changed("is_durable", noul="violet hippopotamus"))
    with pytest.raises(DecisionModelError) as caught:
        client(server, api_key="sesame").decide(STATE, QUESTIONS)
    told = caplog.text + "".join(capsys.readouterr()) + str(caught.value)
    assert "hippopotamus" not in told
    assert "sesame" not in told


def test_no_thread_stays_behind(server) -> None:
    server.routes[ROUTE] = answering(good_answers())
    one = client(server)
    one.decide(STATE, QUESTIONS)
    assert not [
        thread
        for thread in threading.enumerate()
        if isinstance(thread, threading.Timer) and not thread.finished.is_set()
    ]


def test_no_questions_need_no_server() -> None:
    assert SystemOneClient("http://127.0.0.1:9", model_id="m").decide(STATE, {}).answers == {}


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://x",
        "127.0.0.1:8017",
        "http://",
        "http://a:b@127.0.0.1",
        "http://x:0",
        "http://x:99999",
        "http://x/?q=1",
        "http://exämple",
        "http://[::1",
    ],
)
def test_an_unusable_address_is_a_settings_error(url) -> None:
    with pytest.raises(SettingsError, match="decisionModelUrl"):
        SystemOneClient(url, model_id="m")


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel", "tab\t"])
def test_an_unusable_key_is_a_settings_error_that_does_not_show_it(key) -> None:
    with pytest.raises(SettingsError) as caught:
        SystemOneClient("http://127.0.0.1:1", model_id="m", api_key=key)
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "is_warned"),
    [
        ("http://127.0.0.1:8017", False), ("http://localhost:1", False), ("http://[::1]:1", False),
        ("http://127.9.9.9", False), ("http://10.0.0.1:8017", True), ("https://judge.example", True),
        ("http://localhost.example", True),
    ],
)  # fmt: skip
def test_an_address_off_this_machine_comes_with_a_warning(url, is_warned) -> None:
    assert (SystemOneClient(url, model_id="m").warning is not None) is is_warned


def test_health_is_ready_with_its_fingerprint(server) -> None:
    server.routes["GET", "/health"] = refusing(200, {"status": "ready", "model": {"fingerprint": "f00"}})
    server.routes[ROUTE] = answering(good_answers())
    one = client(server)
    assert one.probe().is_ready
    assert one.decide(STATE, QUESTIONS).fingerprint == "f00"


@pytest.mark.parametrize("listing", [{"models": [{"name": "m"}]}, {"object": "list", "data": [{"id": "m"}]}])
def test_a_server_without_health_is_asked_for_its_models(server, listing) -> None:
    server.routes["GET", "/v1/models"] = refusing(200, listing)
    assert client(server).probe().is_ready


@pytest.mark.parametrize(
    "script",
    [
        refusing(200, {"status": "loading"}), refusing(200, b"<html>"), refusing(200, [1]), refusing(503, b""),
        refusing(404, b""), close_at_once, silent, drip, refusing(200, b" " * 5_000_000),
    ],
)  # fmt: skip
def test_whatever_else_answers_is_not_ready(server, script) -> None:
    server.routes["GET", "/health"] = script
    health = client(server).probe(timeout_s=0.3)
    assert not health.is_ready
    assert health.detail


def test_a_base_path_is_kept(server) -> None:
    server.routes["POST", "/judge/v1/systemone"] = answering(good_answers())
    one = SystemOneClient(server.url + "/judge/", model_id="m")
    assert one.decide(STATE, QUESTIONS).model == "served-model"
    assert one.address.endswith("/judge")


def test_the_whole_time_limit_counts_retries_too(server) -> None:
    server.routes[ROUTE] = refusing(503, b"", {"Retry-After": "2"})
    waits: list[float] = []
    with pytest.raises(DecisionModelDown):
        client(server, waits=waits, total_timeout_s=1.5).decide(STATE, QUESTIONS)
    assert waits == []
    assert len(asked(server)) == 1
