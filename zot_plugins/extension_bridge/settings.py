"""The plugin's section of settings.json, `plugins.extension_bridge`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class BridgeSettings(BaseModel):
    """Limits of extensions."""

    model_config = ConfigDict(extra="forbid", strict=True)

    tool_timeout_s: float = Field(60.0, gt=0)
    """Seconds that an extension has for the answer to a tool call."""
