"""Contributes `/compact`, the settings `plugins.compaction`, and who writes summaries; compacts when the window fills.

Looked at before the first model call of a run and between two of its turns, so that a last answer costs no summary.
"""

from __future__ import annotations

from typing import Any

from zot_core import hookimpl
from zot_core.types.specs import CommandSpec, SettingsSpec, Summarizer, resolve

PERCENT = 85
"""Of the window, from which on a conversation is compacted (the Go zot's default)."""
RESERVE_TOKENS = 16_384
"""Or when fewer than these are left for the answer (pi's default), whichever comes first."""


@hookimpl
def settings() -> SettingsSpec:
    """`plugins.compaction`."""
    return SettingsSpec(model="zot_plugins.compaction.settings:CompactionSettings")


@hookimpl
def commands() -> CommandSpec:
    """`/compact`."""
    return CommandSpec(
        name="compact",
        group="Conversation",
        description="put a summary in the place of the older part of the conversation",
        argument_hint="[what to keep in mind]",
        handler="zot_plugins.compaction.command:compact",
        busy="wait",
    )


@hookimpl
def summarizers() -> Summarizer:
    """A model writes the summary."""
    return Summarizer(name="model", summarize="zot_plugins.compaction.summary:summarize")


@hookimpl
async def agent_start(event: Any, ctx: Any) -> None:
    """Before a prompt joins the conversation."""
    await _when_full(ctx)


@hookimpl
async def turn_end(event: Any, ctx: Any) -> None:
    """Between two model calls of a run."""
    if event.stop == "tool_use":
        await _when_full(ctx)


async def _when_full(ctx: Any) -> None:
    settings = ctx.settings
    if not settings.get("enabled", True):
        return
    usage = ctx.context_usage()
    # A reserve that is most of a small window would have it compacted time and again.
    reserve = min(settings.get("reserve_tokens", RESERVE_TOKENS), usage.window // 4)
    if usage.window and usage.tokens > min(
        usage.window * settings.get("threshold_percent", PERCENT) // 100, usage.window - reserve
    ):
        await resolve("zot_plugins.compaction.command:compact_when_full")(ctx)
