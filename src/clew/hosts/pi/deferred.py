"""Decision models that are not there yet, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from clew.core.decisions import Decision, Question
from clew.core.errors import ClewError, DecisionModelDown
from clew.core.ports import DecisionModel
from clew.core.records import State


class DeferredModel:
    """A decision model that is opened with the first question, on the thread that asks it."""

    def __init__(self, open_model: Callable[[], DecisionModel]) -> None:
        self._open = open_model
        self._model: DecisionModel | None = None

    @property
    def name(self) -> str:
        """See DecisionModel."""
        return self._model.name if self._model else "not loaded yet"

    def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        """See DecisionModel."""
        try:
            model = self._model or self._open_once()
            return model.decide(state, questions)
        except OSError as error:
            raise DecisionModelDown(
                f"The decision model's files cannot be read ({type(error).__name__}).", "Install Clew again."
            ) from error

    def _open_once(self) -> DecisionModel:
        try:
            self._model = self._open()
        except DecisionModelDown:
            raise
        except ClewError as error:
            raise DecisionModelDown(error.what, error.next_step) from error
        return self._model


class MissingModel:
    """Stands in for a decision model that cannot be asked anything."""

    name = "none"

    def __init__(self, reason: ClewError) -> None:
        self._reason = reason

    def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:  # noqa: ARG002
        """See DecisionModel."""
        raise DecisionModelDown(self._reason.what, self._reason.next_step)
