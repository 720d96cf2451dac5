"""The plugin's section of settings.json, `plugins.compaction`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from zot_plugins.compaction.plugin import PERCENT, RESERVE_TOKENS


class CompactionSettings(BaseModel):
    """When a conversation is compacted by itself, and by whom."""

    model_config = ConfigDict(extra="forbid", strict=True)

    enabled: bool = True
    """False compacts only when asked, and when a model refuses the conversation as too long."""
    threshold_percent: int = Field(default=PERCENT, ge=10, le=100)
    """Part of the window in use, in percent, from which on it is compacted."""
    reserve_tokens: int = Field(default=RESERVE_TOKENS, ge=0)
    """Tokens of the window that are kept free for the answer; at most a quarter of it counts."""
    model: str = ""
    """Who writes the summary, `provider/id`; empty is the model in use."""
