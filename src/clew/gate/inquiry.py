"""Questions to the decision model, put so that one that is down is left in peace and each problem is logged once."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping

from clew.core.decisions import Decision, Question
from clew.core.errors import DecisionModelDown, DecisionModelError
from clew.core.ports import DecisionModel
from clew.core.records import State

_log = logging.getLogger(__name__)

#: A decision model that is down is asked again after this many seconds at the earliest.
PROBE_INTERVAL_S = 60.0


class Inquiry:
    """Asks one decision model and remembers how it fares. For one thread at a time."""

    def __init__(self, model: DecisionModel, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._model = model
        self._monotonic = monotonic
        self._silent_until = float("-inf")
        self._problem: str | None = None
        self._reported: set[str] = set()

    @property
    def name(self) -> str:
        """Which model answers."""
        return self._model.name

    @property
    def problem(self) -> str | None:
        """Why the model does not answer at the moment; None when it does or was not asked yet."""
        return self._problem

    def ask(self, state: State, questions: Mapping[str, Question]) -> Decision | None:
        """The model's answers, or None while it is down.

        Raises:
            DecisionModelError: it answered, but not in a way that can be used.
        """
        if self._monotonic() < self._silent_until:
            return None
        try:
            decision = self._model.decide(state, questions)
        except DecisionModelDown as error:
            self._fall_silent(error)
            return None
        except DecisionModelError as error:
            self._report(error)
            raise
        except Exception as error:
            # Without its message: that may quote the state.
            unforeseen = DecisionModelError(
                f"The decision model failed ({type(error).__name__}).", "Please report this."
            )
            self._report(unforeseen)
            raise unforeseen from error
        self._problem = None
        return decision

    def _fall_silent(self, error: DecisionModelDown) -> None:
        if self._problem is None:
            _log.warning("%s Turns wait in the journal until it answers.", error)
        self._problem = str(error)
        self._silent_until = self._monotonic() + PROBE_INTERVAL_S

    def _report(self, error: DecisionModelError) -> None:
        if str(error) not in self._reported:
            self._reported.add(str(error))
            _log.warning("%s", error)
