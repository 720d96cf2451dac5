"""`/new`, `/fork`, `/name`: which conversation goes on, and what it is called."""

from __future__ import annotations

from typing import Any


async def new(args: str, ctx: Any) -> str | None:
    """A new session; the old one's file stays."""
    return "A new session." if await ctx.new_session() else None


async def fork(args: str, ctx: Any) -> str | None:
    """Goes on in a copy, up to where one is, so that the original stays as it was."""
    leaf = ctx.session.leaf_id
    if leaf is None:
        return "There is nothing to copy yet."
    await ctx.fork(leaf, position="at")
    return None


async def name(args: str, ctx: Any) -> str:
    """Names the session; without a word it says the name."""
    if args.strip():
        ctx.session.set_name(args.strip())
    return f"This session is called {ctx.session.name}." if ctx.session.name else "This session has no name."
