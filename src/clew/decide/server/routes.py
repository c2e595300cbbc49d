"""What there is to ask for: every path, who may ask, and what answers. The OpenAPI description is made from this."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clew.decide.server.pages import PAGE_HEADERS, bundled_questions, read_page
from clew.decide.server.service import DecisionService

JSON_TYPE = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A body on its way out."""

    data: bytes
    media_type: str = JSON_TYPE
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One path.

    Attributes:
        summary: one line for people.
        respond: from the request's body to the answer's; may raise Refusal.
        takes: name of the schema of the body; None for a route that is read with GET.
        gives: name of the schema of the answer, or its media type if that is not JSON.
        needs_key: whether the key is asked for, if the server has one.
    """

    path: str
    summary: str
    respond: Callable[[DecisionService, bytes], Content]
    takes: str | None = None
    gives: str
    needs_key: bool = False

    @property
    def methods(self) -> tuple[str, ...]:
        """HTTP methods that the path takes."""
        return ("POST",) if self.takes else ("GET", "HEAD")


def as_json(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Content:
    """A JSON body."""
    return Content(data=json.dumps(body, allow_nan=False).encode(), status=status, headers=headers or {})


def _page(path: str, name: str, media_type: str, summary: str) -> Route:
    def respond(_: DecisionService, __: bytes) -> Content:
        return Content(data=read_page(name), media_type=f"{media_type}; charset=utf-8", headers=PAGE_HEADERS)

    return Route(path=path, summary=summary, respond=respond, gives=media_type)


def _describe(_: DecisionService, __: bytes) -> Content:
    from clew.decide.server.openapi import describe

    return as_json(describe(ROUTES))


def _redirect(_: DecisionService, __: bytes) -> Content:
    return as_json({"see": "/playground"}, status=302, headers={"Location": "/playground"})


ROUTES: tuple[Route, ...] = (
    Route(
        path="/health",
        summary="Whether the judge is ready, which one it is, and whether its numbers are calibrated",
        respond=lambda service, _: as_json(service.health()),
        gives="Health",
    ),
    Route(
        path="/v1/models",
        summary="The names under which the judge may be asked",
        respond=lambda service, _: as_json(service.list_models()),
        gives="Models",
        needs_key=True,
    ),
    Route(
        path="/v1/systemone",
        summary="Answer typed questions about a state, in the shape of System One",
        respond=lambda service, body: as_json(service.answer(body)),
        takes="SystemOneRequest",
        gives="SystemOneReply",
        needs_key=True,
    ),
    Route(
        path="/v1/decisions",
        summary="The same judge in the native shape: logits, uncertainty, and a status for each answer",
        respond=lambda service, body: as_json(service.answer_native(body)),
        takes="DecisionsRequest",
        gives="DecisionsReply",
        needs_key=True,
    ),
    Route(path="/openapi.json", summary="This description, in OpenAPI 3.1", respond=_describe, gives="Document"),
    Route(
        path="/questions.json",
        summary="The questions that Clew asks, ready to be sent",
        respond=lambda _, __: as_json(bundled_questions()),
        gives="Questions",
    ),
    _page("/docs", "docs.html", "text/html", "This description as a page"),
    _page("/playground", "playground.html", "text/html", "A page to try the judge out"),
    _page("/pages/style.css", "style.css", "text/css", "The look of the pages"),
    _page("/pages/docs.js", "docs.js", "text/javascript", "Draws the description"),
    _page("/pages/playground.js", "playground.js", "text/javascript", "Asks the judge and draws its answers"),
    Route(path="/", summary="Leads to the playground", respond=_redirect, gives="Redirect"),
)
