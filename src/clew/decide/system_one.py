"""Client for any server that speaks System One: Rizzo Flow, Ollama, TypeSafe, and whatever else answers the protocol.

The text of a conversation is sent to the address in the settings and written nowhere else: no log, no error message.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from clew.core.decisions import Answer, Decision, Question
from clew.core.errors import DecisionModelDown, DecisionModelError
from clew.core.records import Judged
from clew.decide import native, wire
from clew.decide.capabilities import NO_SUCH_ROUTE, Capabilities, Health, check_health, has_native_api
from clew.decide.split import final_of, group_choice, is_wide, join_rounds
from clew.decide.transport import HttpEndpoint, HttpReply, OversizedReply, Unreachable

CONNECT_TIMEOUT_S = 2.0
TOTAL_TIMEOUT_S = 20.0
#: For the first call: servers load their model when they are first asked.
FIRST_TIMEOUT_S = 60.0
CAPABILITIES_TTL_S = 60.0
MAX_RETRY_WAIT_S = 2.0
MAX_RETRIES = 2
_BUSY = (429, 503, 529)
_BAD_KEY = (401, 403)
#: How servers say that a choice has more options than they take.
_TOO_WIDE = (400, 422)
_MAX_DETAIL_CHARS = 160
#: Texts up to this length are not worth cutting.
_SHORT_CHARS = 200


class SystemOneClient:
    """A DecisionModel behind an address.

    Args:
        url: base address; the paths of the API are added to it.
        model_id: model name to ask for, such as `rizzo-latest`.
        api_key: bearer token; None sends none.
        connect_timeout_s, total_timeout_s: limits for one decision, retries and rounds included.
        first_timeout_s: the total until the server has answered once, or has used it up.
        capabilities_ttl_s: how long the server's abilities are taken as known.
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
        first_timeout_s: float = FIRST_TIMEOUT_S,
        capabilities_ttl_s: float = CAPABILITIES_TTL_S,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._endpoint = HttpEndpoint(url, api_key=api_key)
        self._model_id = model_id
        self._connect_timeout_s = connect_timeout_s
        self._total_timeout_s = total_timeout_s
        self._next_timeout_s = first_timeout_s
        self._capabilities_ttl_s = capabilities_ttl_s
        self._sleep = sleep
        self._known: Capabilities | None = None

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
        return check_health(self._endpoint, connect_timeout_s=timeout_s, deadline=time.monotonic() + timeout_s)

    def decide(self, state: Judged, questions: Mapping[str, Question]) -> Decision:
        """Answer all questions about one state: natively where the server can, which gives logits.

        Raises:
            DecisionModelDown: nobody answers within the time limit, or the server stays busy.
            DecisionModelError: the server refuses the request, or its answer cannot be used.
        """
        if not questions:
            return Decision(answers={}, model=self._model_id)
        deadline = time.monotonic() + self._next_timeout_s
        state = _fit(state)
        wide = {id_: question for id_, question in questions.items() if is_wide(question)}
        if wide and not self._capabilities(deadline).is_narrow:
            reply = self._post_systemone(state, questions, deadline)
            if reply.status not in _TOO_WIDE:
                return self._as_decision(self._read(reply, state, questions), questions)
            self._known = replace(self._capabilities(deadline), is_narrow=True)
        answered = self._ask(state, {id_: questions[id_] for id_ in questions if id_ not in wide}, deadline)
        joined = {id_: self._ask_in_rounds(state, question, deadline) for id_, question in wide.items()}
        return self._as_decision(answered, questions, joined)

    def _as_decision(
        self, reply: wire.WireReply, questions: Mapping[str, Question], joined: Mapping[str, Answer] | None = None
    ) -> Decision:
        """The record of what was answered, in the order of the questions; `joined` are the choices asked in rounds."""
        joined = joined or {}
        logits = reply.logits or {id_: wire.log_probabilities(answer) for id_, answer in reply.answers.items()}
        known = self._known
        return Decision(
            answers={id_: joined.get(id_) or reply.answers[id_] for id_ in questions},
            model=reply.model or self._model_id,
            fingerprint=reply.fingerprint or (known.fingerprint if known else None),
            logits=logits,
            logits_source="native" if reply.logits else "log_prob" if logits else "none",
            split=tuple(joined),
        )

    def _capabilities(self, deadline: float) -> Capabilities:
        """What the server can do: as known, or asked now. Never raises; a server that is away can do nothing."""
        if self._known is None or not self._known.is_current:
            connect_s = self._connect_timeout_s
            until = min(deadline, time.monotonic() + connect_s)
            health = check_health(self._endpoint, connect_timeout_s=connect_s, deadline=until)
            self._known = Capabilities(
                is_native=health.is_ready
                and has_native_api(self._endpoint, connect_timeout_s=connect_s, deadline=until),
                fingerprint=health.fingerprint,
                expires_at=time.monotonic() + self._capabilities_ttl_s,
            )
        return self._known

    def _ask(self, state: Judged, questions: Mapping[str, Question], deadline: float) -> wire.WireReply:
        """One call, by the native API if that works."""
        if not questions:
            return wire.WireReply(model="", answers={})
        known = self._capabilities(deadline)
        if known.is_native and native.can_ask(questions):
            answered = self._ask_natively(state, questions, deadline)
            if answered is not None:
                return answered
            self._known = replace(known, is_native=False)  # another API lives under that path
        return self._read(self._post_systemone(state, questions, deadline), state, questions)

    def _ask_natively(self, state: Judged, questions: Mapping[str, Question], deadline: float) -> wire.WireReply | None:
        """The native answer; None if the server does not understand the request, or we do not understand the reply."""
        reply = self._post(native.PATH, lambda sent: native.encode_request(sent, questions), state, deadline)
        if reply.status in _BAD_KEY:
            raise self._refusal(reply, state)
        try:
            return native.decode_reply(reply.body, questions) if reply.status == 200 else None
        except wire.BadReply:
            return None

    def _ask_in_rounds(self, state: Judged, question: Question, deadline: float) -> Answer:
        """A choice that is too wide for the server: in groups, then among the winners."""
        grouped = group_choice(question)
        first = self._ask(state, {group.id: group for group in grouped.groups}, deadline).answers
        winners = [first[group.id] for group in grouped.groups]
        final = final_of(grouped, winners)
        return join_rounds(grouped, winners, self._ask(state, {final.id: final}, deadline).answers[final.id])

    def _post_systemone(self, state: Judged, questions: Mapping[str, Question], deadline: float) -> HttpReply:
        return self._post(
            "/v1/systemone", lambda sent: wire.encode_request(sent, questions, self._model_id), state, deadline
        )

    def _read(self, reply: HttpReply, state: Judged, questions: Mapping[str, Question]) -> wire.WireReply:
        if reply.status != 200:
            raise self._refusal(reply, state)
        try:
            return wire.decode_reply(reply.body, questions)
        except wire.BadReply as error:
            raise DecisionModelError(
                f"The answer of the decision model at {self.address} cannot be used: {error}.",
                "Check that a System One server runs there, or remove decisionModelUrl to use the built-in judge.",
            ) from error

    def _post(self, path: str, encode: Callable[[Judged], bytes], state: Judged, deadline: float) -> HttpReply:
        """Send the state, and half of it when it is too long for this model: that is better than nothing."""
        reply = self._send(path, encode(state), deadline)
        return self._send(path, encode(_halve(state)), deadline) if _is_too_long(reply) else reply

    def _send(self, path: str, body: bytes, deadline: float) -> HttpReply:
        """Send until it is answered, waiting where the server says how long. Raises Down or Error."""
        resets = 0
        for attempt in range(MAX_RETRIES + 1):
            try:
                reply = self._endpoint.send(
                    "POST", path, body, connect_timeout_s=self._connect_timeout_s, deadline=deadline
                )
            except Unreachable as error:
                if time.monotonic() >= deadline:  # it had its time to load
                    self._next_timeout_s = self._total_timeout_s
                if error.was_reset and not resets and attempt < MAX_RETRIES:
                    resets += 1
                    continue
                raise self._down(str(error)) from error
            except OversizedReply as error:
                raise DecisionModelError(
                    f"The decision model at {self.address} sent more than 4 MB.", "Check what runs there."
                ) from error
            if reply.status not in _BUSY:
                self._next_timeout_s = self._total_timeout_s
                return reply
            wait_s = _retry_wait_s(reply.headers)
            if wait_s is None or attempt == MAX_RETRIES or time.monotonic() + wait_s >= deadline:
                break
            self._sleep(wait_s)
        raise self._down(f"busy, status {reply.status}")

    def _down(self, reason: str) -> DecisionModelDown:
        self._known = None  # what comes up again may be another server
        return DecisionModelDown(
            f"The decision model at {self.address} cannot be reached: {reason}.",
            "Start it, correct decisionModelUrl, or remove that setting to use the built-in judge.",
        )

    def _refusal(self, reply: HttpReply, state: Judged) -> DecisionModelError:
        what = f"The decision model at {self.address} refused the request with status {reply.status}"
        if reply.status in _BAD_KEY:
            return DecisionModelError(f"{what}: the key is missing or wrong.", "Set DECISION_MODEL_KEY.")
        if 300 <= reply.status < 400:
            return DecisionModelError(
                f"{what}: it points to another address, which is not followed.",
                "Set decisionModelUrl to the address where the server really is.",
            )
        detail = _detail(reply.body, state)
        if reply.status in NO_SUCH_ROUTE:
            return DecisionModelError(f"{what}{detail}.", "Check decisionModelUrl and decisionModelId.")
        return DecisionModelError(f"{what}{detail}.", "Check decisionModelId, the questionnaire and the server's log.")


def _retry_wait_s(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks to wait, if it says so and they are few."""
    for header, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            wait_s = float(headers[header]) * unit_s
        except (KeyError, ValueError):
            continue  # absent, or a date
        return wait_s if 0 <= wait_s <= MAX_RETRY_WAIT_S else None
    return None


def _is_too_long(reply: HttpReply) -> bool:
    """Whether the server says that the text does not fit: by its status, or in words about its context."""
    if reply.status == 422 and len(reply.body) < 1_000:
        return b'"detail"' in reply.body and b"context" in reply.body.lower() and b'"loc"' not in reply.body
    return reply.status == 413


def _fit(state: Judged) -> Judged:
    """The state within the byte limit of the smallest known server."""
    while _size_bytes(state) > wire.MAX_STATE_BYTES:
        state = _halve(state)
    return state


def _size_bytes(state: Judged) -> int:
    return sum(len(text.encode("utf-8", "replace")) for text in state.as_json().values() if text)


def _halve(state: Judged) -> Judged:
    """Every long text of it cut to half; what goes over the wire has the names of the fields."""
    from clew.core.text import shorten

    long = {name: text for name, text in state.as_json().items() if text and len(text) > _SHORT_CHARS}
    changes: dict[str, Any] = {name: shorten(text, len(text) // 2) for name, text in long.items()}
    return replace(state, **changes)


def _detail(body: bytes, state: Judged) -> str:
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


def _quotes(detail: str, state: Judged) -> bool:
    """Whether twelve characters in a row, or a whole short text, come from the state."""
    said = "\n".join(text for text in state.as_json().values() if text)
    windows = {detail[start : start + 12] for start in range(max(1, min(len(detail), _MAX_DETAIL_CHARS) - 11))}
    return any(window in said for window in windows)
