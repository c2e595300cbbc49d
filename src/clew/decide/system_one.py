"""Client for any server that speaks System One: Rizzo Flow, Ollama, TypeSafe, and whatever else answers the protocol.

The text of a conversation is sent to the address in the settings and written nowhere else: no log, no error message.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from clew.core.decisions import Decision, Question
from clew.core.errors import DecisionModelDown, DecisionModelError
from clew.core.records import State
from clew.decide import wire
from clew.decide.transport import HttpEndpoint, HttpReply, OversizedReply, Unreachable

CONNECT_TIMEOUT_S = 2.0
TOTAL_TIMEOUT_S = 20.0
MAX_RETRY_WAIT_S = 2.0
MAX_RETRIES = 2
_BUSY = (429, 503, 529)
_NO_SUCH_ROUTE = (404, 405, 501)
_MAX_DETAIL_CHARS = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What a probe found. `detail` is a phrase for a status line; `fingerprint` names the exact weights, if told."""

    is_ready: bool
    detail: str
    fingerprint: str | None = None


class SystemOneClient:
    """A DecisionModel behind an address.

    Args:
        url: base address; `/v1/systemone` is added to it.
        model_id: model name to ask for, such as `rizzo-latest`.
        api_key: bearer token; None sends none.
        connect_timeout_s, total_timeout_s: limits for one call, retries included.
        sleep: how to wait before a retry.

    Raises:
        SettingsError: the address or the key cannot be used.
    """

    def __init__(
        self,
        url: str,
        *,
        model_id: str,
        api_key: str | None = None,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        total_timeout_s: float = TOTAL_TIMEOUT_S,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._endpoint = HttpEndpoint(url, api_key=api_key)
        self._model_id = model_id
        self._connect_timeout_s = connect_timeout_s
        self._total_timeout_s = total_timeout_s
        self._sleep = sleep
        self._fingerprint: str | None = None

    @property
    def name(self) -> str:
        """The model that is asked for."""
        return self._model_id

    @property
    def address(self) -> str:
        """Where it is asked."""
        return self._endpoint.address

    @property
    def warning(self) -> str | None:
        """What the person should know about this address; None when the text stays on this machine."""
        if self._endpoint.is_loopback:
            return None
        return f"The text of your conversations is sent to {self.address}, which is not on this machine."

    def probe(self, *, timeout_s: float = CONNECT_TIMEOUT_S) -> Health:
        """Ask whether the server is ready: /health, or /v1/models where there is no /health. Never raises."""
        deadline = time.monotonic() + timeout_s
        try:
            reply = self._endpoint.send("GET", "/health", connect_timeout_s=timeout_s, deadline=deadline)
            if reply.status not in _NO_SUCH_ROUTE:
                return self._read_health(reply)
            reply = self._endpoint.send("GET", "/v1/models", connect_timeout_s=timeout_s, deadline=deadline)
            return _read_models(reply)
        except Unreachable as error:
            return Health(is_ready=False, detail=str(error))
        except (OversizedReply, wire.BadReply):
            return Health(is_ready=False, detail="what answers there is not a decision model")

    def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        """Answer all questions about one state.

        Raises:
            DecisionModelDown: nobody answers within the time limit, or the server stays busy.
            DecisionModelError: the server refuses the request, or its answer cannot be used.
        """
        if not questions:
            return Decision(answers={}, model=self._model_id)
        deadline = time.monotonic() + self._total_timeout_s
        state = _fit(state)
        reply = self._post(state, questions, deadline)
        if reply.status == 413:  # too long for this model: half of it is better than nothing
            reply = self._post(_halve(state), questions, deadline)
        if reply.status != 200:
            raise self._refusal(reply, state)
        try:
            answered = wire.decode_reply(reply.body, questions)
        except wire.BadReply as error:
            raise DecisionModelError(
                f"The answer of the decision model at {self.address} cannot be used: {error}.",
                "Check that a System One server runs there, or remove decisionModelUrl to use the built-in judge.",
            ) from error
        return Decision(answers=answered.answers, model=answered.model or self._model_id, fingerprint=self._fingerprint)

    def _post(self, state: State, questions: Mapping[str, Question], deadline: float) -> HttpReply:
        """Send until it is answered, waiting where the server says how long. Raises Down or Error."""
        body = wire.encode_request(state, questions, self._model_id)
        resets = 0
        for attempt in range(MAX_RETRIES + 1):
            try:
                reply = self._endpoint.send(
                    "POST", "/v1/systemone", body, connect_timeout_s=self._connect_timeout_s, deadline=deadline
                )
            except Unreachable as error:
                if error.was_reset and not resets and attempt < MAX_RETRIES:
                    resets += 1
                    continue
                raise self._down(str(error)) from error
            except OversizedReply as error:
                raise DecisionModelError(
                    f"The decision model at {self.address} sent more than 4 MB.", "Check what runs there."
                ) from error
            if reply.status not in _BUSY:
                return reply
            wait_s = _retry_wait_s(reply.headers)
            if wait_s is None or attempt == MAX_RETRIES or time.monotonic() + wait_s >= deadline:
                break
            self._sleep(wait_s)
        raise self._down(f"busy, status {reply.status}")

    def _down(self, reason: str) -> DecisionModelDown:
        return DecisionModelDown(
            f"The decision model at {self.address} cannot be reached: {reason}.",
            "Start it, correct decisionModelUrl, or remove that setting to use the built-in judge.",
        )

    def _refusal(self, reply: HttpReply, state: State) -> DecisionModelError:
        what = f"The decision model at {self.address} refused the request with status {reply.status}"
        if reply.status in (401, 403):
            return DecisionModelError(f"{what}: the key is missing or wrong.", "Set DECISION_MODEL_KEY.")
        if 300 <= reply.status < 400:
            return DecisionModelError(
                f"{what}: it points to another address, which is not followed.",
                "Set decisionModelUrl to the address where the server really is.",
            )
        detail = _detail(reply.body, state)
        return DecisionModelError(f"{what}{detail}.", "Check decisionModelId, the questionnaire and the server's log.")

    def _read_health(self, reply: HttpReply) -> Health:
        if reply.status != 200:
            return Health(is_ready=False, detail=f"its health check answers with status {reply.status}")
        report = wire.parse_json(reply.body)
        status = report.get("status") if isinstance(report, dict) else None
        if status != "ready":
            return Health(is_ready=False, detail="it does not say that it is ready")
        model = report.get("model")
        fingerprint = model.get("fingerprint") if isinstance(model, dict) else None
        self._fingerprint = fingerprint if isinstance(fingerprint, str) else None
        return Health(is_ready=True, detail="ready", fingerprint=self._fingerprint)


def _read_models(reply: HttpReply) -> Health:
    """Servers without /health list their models, in one of two shapes."""
    report = wire.parse_json(reply.body) if reply.status == 200 else None
    listed = (report.get("models") or report.get("data")) if isinstance(report, dict) else None
    if isinstance(listed, list) and listed:
        return Health(is_ready=True, detail="ready")
    return Health(is_ready=False, detail="what answers there is not a decision model")


def _retry_wait_s(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks to wait, if it says so and they are few."""
    for header, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            wait_s = float(headers[header]) * unit_s
        except (KeyError, ValueError):
            continue  # absent, or a date
        return wait_s if 0 <= wait_s <= MAX_RETRY_WAIT_S else None
    return None


def _fit(state: State) -> State:
    """The state within the byte limit of the smallest known server."""
    while _size_bytes(state) > wire.MAX_STATE_BYTES:
        state = _halve(state)
    return state


def _size_bytes(state: State) -> int:
    return sum(len(text.encode("utf-8", "replace")) for text in state.as_json().values() if text)


def _halve(state: State) -> State:
    return replace(
        state,
        user=_half(state.user),
        assistant=_half(state.assistant),
        previous_assistant=_half(state.previous_assistant),
        project=_half(state.project) if state.project and len(state.project) > 200 else state.project,
    )


def _half(text: Any) -> Any:
    from clew.core.text import shorten

    return shorten(text, len(text) // 2) if text else text


def _detail(body: bytes, state: State) -> str:
    """The server's own words about a refusal, unless they quote the conversation."""
    try:
        report = wire.parse_json(body)
    except wire.BadReply:
        return ""
    detail = report.get("detail") if isinstance(report, dict) else None
    if isinstance(detail, list):
        detail = detail[0] if detail else None
    if isinstance(detail, dict):
        detail = detail.get("message") or detail.get("msg")
    if not isinstance(detail, str) or _quotes(detail, state):
        return ""
    shown = "".join(char if char.isprintable() else " " for char in detail[:_MAX_DETAIL_CHARS])
    return f": {shown.strip().rstrip('.')}"


def _quotes(detail: str, state: State) -> bool:
    """Whether twelve characters in a row, or a whole short text, come from the state."""
    said = "\n".join(text for text in state.as_json().values() if text)
    windows = {detail[start : start + 12] for start in range(max(1, min(len(detail), _MAX_DETAIL_CHARS) - 11))}
    return any(window in said for window in windows)
