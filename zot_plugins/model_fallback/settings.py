"""The plugin's section of settings.json, `plugins.model_fallback`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class FallbackSettings(BaseModel):
    """Which models answer when a model fails."""

    model_config = ConfigDict(extra="forbid", strict=True)

    enabled: bool = True
    """False switches all chains off and keeps them."""
    chains: dict[str, list[str]] = {}
    """For a model, `provider/id`, its fallbacks in order, each `provider/id` or `provider/id:level`."""
    revert: Literal["cooldown-expiry", "never"] = "cooldown-expiry"
    """When a model that failed is tried first again: once its cooldown is over, or not in this session."""
