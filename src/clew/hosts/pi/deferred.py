"""A decision model that is opened when it is first needed, or a little before."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from clew.core.decisions import Decision, Question
from clew.core.errors import ClewError, DecisionModelDown
from clew.core.ports import DecisionModel
from clew.core.records import Judged


class DeferredModel:
    """Opens its model once, on the first thread that needs it; others wait for that."""

    def __init__(self, open_model: Callable[[], DecisionModel]) -> None:
        self._open = open_model
        self._opening = threading.Lock()
        self._model: DecisionModel | None = None

    @property
    def name(self) -> str:
        """See DecisionModel."""
        return self._model.name if self._model else "not loaded yet"

    def prepare(self) -> None:
        """Open the model now. Raises DecisionModelDown when it cannot be opened; the next question tries again."""
        try:
            self._opened()
        except OSError as error:
            raise _unreadable(error) from error

    def decide(self, state: Judged, questions: Mapping[str, Question]) -> Decision:
        """See DecisionModel."""
        try:
            return self._opened().decide(state, questions)
        except OSError as error:
            raise _unreadable(error) from error

    def _opened(self) -> DecisionModel:
        with self._opening:
            if self._model is None:
                try:
                    self._model = self._open()
                except DecisionModelDown:
                    raise
                except ClewError as error:
                    raise DecisionModelDown(error.what, error.next_step) from error
            return self._model


def _unreadable(error: OSError) -> DecisionModelDown:
    return DecisionModelDown(
        f"The decision model's files cannot be read ({type(error).__name__}).", "Install Clew again."
    )
