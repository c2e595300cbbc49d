"""Which decision model answers: the person's server, one found at the default address, or the built-in judge."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from clew.config.declared import DEFAULT_DECISION_MODEL_URL
from clew.core.decisions import Decision, Question
from clew.core.errors import DecisionModelError
from clew.core.ports import DecisionModel
from clew.core.records import Judged
from clew.decide.builtin import BuiltinJudge
from clew.decide.system_one import SystemOneClient

#: How long the default address may hold up the start.
DISCOVERY_TIMEOUT_S = 0.15


class OpenedModel(DecisionModel, Protocol):
    """A DecisionModel that can say where it is."""

    @property
    def address(self) -> str:
        """URL of the server, or `built in`."""
        ...

    @property
    def warning(self) -> str | None:
        """What the person should know about this model; None if there is nothing."""
        ...


def open_decision_model(
    *,
    url: str | None,
    url_is_explicit: bool,
    model_id: str,
    api_key: str | None,
    personal_path: Path | None = None,
) -> OpenedModel:
    """Choose the decision model.

    Args:
        url: base address of a System One server; None means the default address.
        url_is_explicit: the person set it. Then that server answers and nobody else, also when it is down.
        model_id: which model to ask that server for.
        api_key: bearer token; only ever sent to an address that the person set.
        personal_path: file with what the built-in judge learnt from the person; it need not exist.

    Raises:
        SettingsError: the address or the key cannot be used.
    """
    if url_is_explicit and url:
        return SystemOneClient(url, model_id=model_id, api_key=api_key)
    found = SystemOneClient(url or DEFAULT_DECISION_MODEL_URL, model_id=model_id)
    if found.warning is None and found.probe(timeout_s=DISCOVERY_TIMEOUT_S).is_ready:
        return DiscoveredModel(found, BuiltinJudge(personal_path=personal_path))
    return BuiltinJudge(personal_path=personal_path)


class DiscoveredModel:
    """A server that nobody asked for by name: used while it works, replaced by the built-in judge when it fails."""

    def __init__(self, server: SystemOneClient, judge: BuiltinJudge) -> None:
        self._judge = judge
        self._answering: SystemOneClient | BuiltinJudge = server

    @property
    def name(self) -> str:
        """The model that answers now."""
        return self._answering.name

    @property
    def address(self) -> str:
        """Where it answers."""
        return self._answering.address

    @property
    def warning(self) -> str | None:
        """What the person should know about it."""
        return self._answering.warning

    def decide(self, state: Judged, questions: Mapping[str, Question]) -> Decision:
        """Answer all questions about one state; never raises, because the built-in judge takes over."""
        try:
            return self._answering.decide(state, questions)
        except DecisionModelError:
            self._answering = self._judge
            return self._judge.decide(state, questions)
