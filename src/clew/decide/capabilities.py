"""What a decision server can do: whether it is ready, which weights it serves, and whether it has the native API."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from clew.decide import native, wire
from clew.decide.transport import HttpEndpoint, HttpReply, OversizedReply, Unreachable

NO_SUCH_ROUTE = (404, 405, 501)
#: How an existing /v1/decisions answers a request that asks nothing.
_ROUTE_EXISTS = (400, 401, 403, 422)
_NOT_A_MODEL = "what answers there is not a decision model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What a probe found. `detail` is a phrase for a status line; `fingerprint` names the exact weights, if told."""

    is_ready: bool
    detail: str
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What is known about a server until `expires_at`, a `time.monotonic()` second.

    `is_narrow`: it has refused a choice of more than 26 options.
    """

    is_native: bool
    fingerprint: str | None
    expires_at: float
    is_narrow: bool = False

    @property
    def is_current(self) -> bool:
        """Whether this may still be relied on."""
        return time.monotonic() < self.expires_at


def check_health(endpoint: HttpEndpoint, *, connect_timeout_s: float, deadline: float) -> Health:
    """Ask whether the server is ready: /health, or /v1/models where there is no /health. Never raises."""
    try:
        reply = endpoint.send("GET", "/health", connect_timeout_s=connect_timeout_s, deadline=deadline)
        if reply.status not in NO_SUCH_ROUTE:
            return _read_health(reply)
        reply = endpoint.send("GET", "/v1/models", connect_timeout_s=connect_timeout_s, deadline=deadline)
        return _read_models(reply)
    except Unreachable as error:
        return Health(is_ready=False, detail=str(error))
    except (OversizedReply, wire.BadReply):
        return Health(is_ready=False, detail=_NOT_A_MODEL)


def has_native_api(endpoint: HttpEndpoint, *, connect_timeout_s: float, deadline: float) -> bool:
    """Whether /v1/decisions exists. Sends an empty object, so that no text goes to a route of unknown use."""
    try:
        reply = endpoint.send("POST", native.PATH, b"{}", connect_timeout_s=connect_timeout_s, deadline=deadline)
    except (Unreachable, OversizedReply):
        return False
    return reply.status in _ROUTE_EXISTS


def _read_health(reply: HttpReply) -> Health:
    if reply.status != 200:
        return Health(is_ready=False, detail=f"its health check answers with status {reply.status}")
    report = wire.parse_json(reply.body)
    if not isinstance(report, dict) or report.get("status") != "ready":
        return Health(is_ready=False, detail="it does not say that it is ready")
    model: Any = report.get("model")
    fingerprint = model.get("fingerprint") if isinstance(model, dict) else None
    return Health(is_ready=True, detail="ready", fingerprint=fingerprint if isinstance(fingerprint, str) else None)


def _read_models(reply: HttpReply) -> Health:
    """Servers without /health list their models, in one of two shapes."""
    report = wire.parse_json(reply.body) if reply.status == 200 else None
    listed = (report.get("models") or report.get("data")) if isinstance(report, dict) else None
    if isinstance(listed, list) and listed:
        return Health(is_ready=True, detail="ready")
    return Health(is_ready=False, detail=_NOT_A_MODEL)
