"""The description of all routes in OpenAPI 3.1, made from the routes, the limits and the refusals themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from clew import __version__
from clew.decide.server import bodies, native_requests, requests
from clew.decide.server.schemas import SCHEMAS

if TYPE_CHECKING:
    from clew.decide.server.routes import Route

_ABOUT = (
    "Clew's built-in judge over HTTP, in the shape of System One. A *state* is a text or JSON of your own making; a"
    " *question* about it is a noul (yes or no), a choice or a score. The judge has one trained head for each question"
    " of Clew's questionnaires; a question gets the head that its wording asks for. Where there is none, the answer is"
    ' an even prior marked `"x_abstained": true`: decide nothing by it.'
)
_EVERYWHERE = {403: "It was sent by a page of another site", 404: "No such path", 405: "The path takes another method"}
_OF_BODIES = {
    400: "The model is unknown, or the body is not what its headers say",
    408: "The request did not arrive in time",
    413: f"The body is larger than {bodies.MAX_BODY_BYTES} bytes, on the wire or decompressed",
    415: "The body is compressed in a way that cannot be undone here",
    429: "As many requests wait already as may wait; see Retry-After",
}
_EXAMPLES: dict[str, Any] = {
    "SystemOneRequest": {
        "model": "jev-latest",
        "state": {"user": "From now on run the linter before you commit.", "assistant": "I will."},
        "questions": {"keep": {"type": "noul", "instructions": "Is this worth remembering in later sessions?"}},
    },
    "DecisionsRequest": {
        "state": {"user": "From now on run the linter before you commit."},
        "questions": {"keep": {"type": "boolean", "instructions": "Is this worth remembering in later sessions?"}},
    },
}


def describe(routes: Sequence[Route]) -> dict[str, Any]:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Clew decision server",
            "version": __version__,
            "summary": "Typed questions about a state, answered with probabilities",
            "description": _ABOUT,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "paths": {route.path: _path(route) for route in routes},
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": "Asked for with --key-env only"}
            },
        },
    }


def _path(route: Route) -> dict[str, Any]:
    return {method.lower(): _operation(route, method) for method in route.methods}


def _operation(route: Route, method: str) -> dict[str, Any]:
    name = route.path.strip("/").replace("/", "_").replace(".", "_") or "root"
    operation: dict[str, Any] = {
        "operationId": f"{method.lower()}_{name}",
        "summary": route.summary,
        "responses": _responses(route, has_body=method != "HEAD"),
        "security": [{"key": []}, {}] if route.needs_key else [],
    }
    if route.takes:
        content = {"schema": _reference(route.takes), "example": _EXAMPLES[route.takes]}
        operation["description"] = _limits(route.takes)
        operation["requestBody"] = {"required": True, "content": {"application/json": content}}
    return operation


def _limits(schema: str) -> str:
    most = native_requests.MAX_QUESTIONS if schema == "DecisionsRequest" else requests.MAX_QUESTIONS
    return (
        f"At most {requests.MAX_STATE_BYTES} bytes of state and {most} questions. The body may be chunked, and"
        " compressed with zstd where the server's Python can undo that."
    )


def _responses(route: Route, *, has_body: bool) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": "The answer"}
    if has_body:
        answer["content"] = _content(route.gives)
    is_redirect = route.gives == "Redirect"
    refusals = {**_EVERYWHERE, **(_OF_BODIES if route.takes else {})}
    if route.needs_key:
        refusals[401] = "The key is missing or wrong"
    responses = {"302" if is_redirect else "200": answer}
    for status, text in sorted(refusals.items()):
        responses[str(status)] = {"description": text, "content": _content("Refusal")}
    if route.takes:
        responses["422"] = {"description": "What is wrong with the body", "content": _content("Problems")}
    responses["503"] = {"description": "Too many connections; see Retry-After", "content": _content("Refusal")}
    return responses


def _content(gives: str) -> dict[str, Any]:
    if "/" in gives:
        return {gives: {"schema": {"type": "string"}}}
    return {"application/json": {"schema": _reference(gives)}}


def _reference(schema: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{schema}"}
