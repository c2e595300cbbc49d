"""The gate's settings, as its rules take them."""

from __future__ import annotations

from dataclasses import dataclass, field

from clew.config.declared import GateConfig
from clew.gate.rule import Thresholds
from clew.gate.states import DEFAULT_WINDOW_MESSAGES


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSettings:
    """What the evaluation needs of `memory-gate-config.json`."""

    window: int = DEFAULT_WINDOW_MESSAGES
    thresholds: Thresholds = field(default_factory=Thresholds)

    @classmethod
    def from_config(cls, config: GateConfig) -> GateSettings:
        """The settings in force."""
        return cls(
            window=config.window,
            thresholds=Thresholds(
                secret=config.secret_threshold,
                session=config.session_threshold,
                durable=config.durable_threshold,
                failure=config.failure_threshold,
                importance=config.importance_threshold,
                importance_min=config.importance_min,
            ),
        )
