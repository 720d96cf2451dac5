"""`/compact`, and the compaction that nobody asked for. Must not know how a summary is written."""

from __future__ import annotations

from typing import Any

from zot_core.types.failure import RunFailed, UsageError


async def compact(args: str, ctx: Any) -> str | None:
    """Compacts; `args` is what the summary has to keep in mind."""
    if not await ctx.compact_now(args) or ctx.mode == "repl":  # a screen has said what became of it
        return None
    return f"Compacted: about {ctx.context_usage().tokens} tokens are in use now."


async def compact_when_full(ctx: Any) -> None:
    """Compacts because the window fills. A failure is told by the core, once a reason, and the run goes on as it is:
    the model may still take the conversation."""
    try:
        await ctx.compact_now(reason="threshold")
    except UsageError:
        return  # one huge message fills the window; there is nothing that could be left out
    except RunFailed:
        return
