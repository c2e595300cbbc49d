"""Every way in which the server says no: a status, and a body in one of System One's two error shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong with a body.

    Attributes:
        loc: where, from the body downwards: question ids, field names, list positions.
        msg: what is wrong there; never quotes the state.
        type: a short word for programs, such as `missing` or `string_type`.
    """

    loc: tuple[str | int, ...]
    msg: str
    type: str


class Refusal(Exception):
    """A request that gets no answer. `headers` go out beside the body."""

    status = 400
    error_type = "api_usage_error"
    headers: Mapping[str, str] = {}

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def body(self) -> dict[str, Any]:
        """The JSON body: an object-shaped detail."""
        return {"detail": {"error_type": self.error_type, "message": self.message}}


class InvalidRequest(Refusal):
    """The body cannot be understood; `problems` holds at least one."""

    status = 422

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(problem.msg for problem in problems))
        self.problems = tuple(problems)

    def body(self) -> dict[str, Any]:
        """The JSON body: a list-shaped detail, one entry for each problem."""
        return {
            "detail": [
                {"loc": ["body", *problem.loc], "msg": problem.msg, "type": problem.type} for problem in self.problems
            ]
        }


class UnknownModel(Refusal):
    """The request names a model that is not served here."""


class BrokenBody(Refusal):
    """The bytes of the body do not arrive as its headers announce."""


class NotAuthenticated(Refusal):
    """The key is missing or wrong."""

    status = 401
    error_type = "authentication_error"
    headers = {"WWW-Authenticate": "Bearer"}  # noqa: RUF012 - never changed


class Forbidden(Refusal):
    """The request was sent by a page of another site, or seems so."""

    status = 403
    error_type = "forbidden"


class UnknownRoute(Refusal):
    """There is nothing at this path."""

    status = 404
    error_type = "not_found"


class WrongMethod(Refusal):
    """The path exists and does not take this method."""

    status = 405
    error_type = "method_not_allowed"

    def __init__(self, allowed: str) -> None:
        super().__init__(f"This path takes {allowed}." if allowed else "No path takes this method.")
        self.headers = {"Allow": allowed}


class TooSlow(Refusal):
    """The request did not arrive in time."""

    status = 408
    error_type = "request_timeout"


class TooLarge(Refusal):
    """The body is over the limit."""

    status = 413
    error_type = "request_too_large"


class UnknownEncoding(Refusal):
    """The body is compressed in a way that cannot be undone here."""

    status = 415
    error_type = "unsupported_content_encoding"

    def __init__(self, accepted: str) -> None:
        super().__init__(f"Bodies are taken as they are or in one of these encodings: {accepted}.")
        self.headers = {"Accept-Encoding": accepted}


class Busy(Refusal):
    """As many requests wait already as may wait."""

    status = 429
    error_type = "rate_limit_error"
    headers = {"Retry-After": "1"}  # noqa: RUF012 - never changed


class Overloaded(Refusal):
    """As many connections are open as may be."""

    status = 503
    error_type = "overloaded_error"
    headers = {"Retry-After": "1"}  # noqa: RUF012 - never changed


class Failed(Refusal):
    """A mistake of the server itself; nothing about it goes over the wire."""

    status = 500
    error_type = "internal_error"
