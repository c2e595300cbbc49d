"""The judge behind the server: one judgement at a time, a bounded queue before it, and what it says of itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from clew.core.ports import DecisionModel
from clew.core.records import State
from clew.decide.server.answers import ALIASES, answer_request
from clew.decide.server.native_answers import answer_native
from clew.decide.server.native_requests import parse_native
from clew.decide.server.refusals import Busy
from clew.decide.server.requests import parse_request

if TYPE_CHECKING:
    from clew.decide.calibration.fit import Fit

MAX_WAITING = 32
_RELEASE_DATE = "2026-11-30"


class DecisionService:
    """Answers the bodies of requests; knows nothing of HTTP.

    Args:
        fit: temperatures for the judge's logits; None leaves them as they are.

    Raises:
        SettingsError: the fit was made for another model.
    """

    def __init__(self, judge: DecisionModel, fit: Fit | None = None) -> None:
        self._judge = judge
        self._fit = fit
        self._judging = threading.Lock()
        self._places = threading.BoundedSemaphore(MAX_WAITING + 1)  # one is being judged
        self.fingerprint = judge.decide(State(user=""), {}).fingerprint
        if fit:
            from clew.decide.calibration.fit import require_fingerprint

            require_fingerprint(fit, self.fingerprint)

    def health(self) -> dict[str, Any]:
        """Who answers here, and whether its numbers are calibrated."""
        return {"status": "ready", "model": self._model(), "calibrated": self._fit is not None}

    def list_models(self) -> dict[str, Any]:
        """The names that may be asked for."""
        description = "Clew's built-in judge: answers the questions of Clew's questionnaires"
        names = (self._judge.name, *ALIASES)
        return {"models": [{"name": name, "description": description, "release_date": _RELEASE_DATE} for name in names]}

    def answer(self, body: bytes) -> dict[str, Any]:
        """Answer the body of a System One request. Raises Refusal."""
        request = parse_request(body)
        with self._turn():
            return answer_request(self._judge, request, self._fit)

    def answer_native(self, body: bytes) -> dict[str, Any]:
        """Answer the body of a native decisions request. Raises Refusal."""
        request = parse_native(body)
        arrived = time.perf_counter()
        with self._turn():
            started = time.perf_counter()
            answers = answer_native(self._judge, request, self._fit)
        ended = time.perf_counter()
        tokens = sum(answer["input_tokens"] for answer in answers.values())
        return {
            "model": self._model(),
            "mode": request.mode,
            "answers": answers,
            "calibration": self._fit.as_json() if self._fit else None,
            "timing": {
                **dict.fromkeys(("prefill_seconds", "compile_seconds"), 0.0),
                **dict.fromkeys(("shared_prefix_tokens", "generated_tokens"), 0),
                "inference_seconds": ended - started,
                "queue_seconds": started - arrived,
                "total_seconds": ended - arrived,
                "evaluated_tokens_including_padding": tokens,
                "logical_input_tokens": tokens,
                "batches": 1,
            },
        }

    def _model(self) -> dict[str, Any]:
        return {"name": self._judge.name, "fingerprint": self.fingerprint}

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._places.acquire(blocking=False):
            raise Busy(f"{MAX_WAITING} requests wait already.")
        try:
            with self._judging:
                yield
        finally:
            self._places.release()
