"""Events of the choice of model and thinking level."""

from __future__ import annotations

from typing import Literal

from zot_core.events.base import Fact
from zot_core.types.record import record
from zot_core.types.specs import ModelSpec, ThinkingLevel

__all__ = ["ModelSelectEvent", "ThinkingLevelSelectEvent"]


@record(kw_only=True)
class ModelSelectEvent(Fact):
    """Sent when another model is chosen, and when a session's model is restored; not for the choice at start."""

    model: ModelSpec
    previous_model: ModelSpec | None = None
    source: Literal["set", "cycle", "restore"] = "set"


@record(kw_only=True)
class ThinkingLevelSelectEvent(Fact):
    """Sent when the thinking level changes; before `model_select` when a model's limits clamp it."""

    level: ThinkingLevel
    previous_level: ThinkingLevel
