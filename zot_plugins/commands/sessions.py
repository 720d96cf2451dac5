"""`/new`, `/resume`, `/fork`, `/name`, `/session`: which conversation goes on, and what it holds."""

from __future__ import annotations

import time
from typing import Any

from zot_core.session.listing import SessionInfo, list_sessions
from zot_core.types.messages import AssistantMessage, UserMessage
from zot_core.types.usage import Usage

MOST = 200
"""Sessions that are offered, the last used."""


async def new(args: str, ctx: Any) -> str | None:
    """A new session; the old one's file stays."""
    return "A new session." if await ctx.new_session() else None


async def resume(args: str, ctx: Any) -> str | None:
    """Goes on with the session that is named, or one from a list of this project's."""
    wanted = args.strip()
    if wanted:
        await ctx.switch_session(wanted)
        return None
    found = [one for one in list_sessions(ctx.session.root, str(ctx.cwd)) if one.id != ctx.session.id][:MOST]
    if not found:
        return "There is no other session of this project."
    labels = {_label(one): one for one in found}
    if not ctx.has_ui:
        return "\n".join(f"- {label}" for label in labels)
    chosen = await ctx.ui.select("Which session?", list(labels))
    if chosen is not None:
        await ctx.switch_session(str(labels[chosen].path))
    return None


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


async def session(args: str, ctx: Any) -> str:
    """What the session holds and what it cost."""
    messages = ctx.session.messages()
    used = sum((m.usage for m in messages if isinstance(m, AssistantMessage) and m.usage), Usage())
    window = ctx.context_usage()
    calls = sum(len(m.tool_calls) for m in messages if isinstance(m, AssistantMessage))
    rows = [
        ("Id", ctx.session.id),
        ("Name", ctx.session.name or "none"),
        ("File", ctx.session.file or "not kept"),
        ("Project", str(ctx.cwd)),
        ("Prompts", sum(isinstance(m, UserMessage) for m in messages)),
        ("Tool calls", calls),
        ("Tokens", f"{used.input} in, {used.cache_read} from the cache, {used.output} out"),
        ("Cost", f"${used.cost:.4f}"),
        (
            "Window",
            f"{window.tokens} of {window.window} tokens ({window.percent:.0f}%)" if window.window else "unknown",
        ),
    ]
    return "\n".join(f"- {label}: {value}" for label, value in rows)


def _label(one: SessionInfo) -> str:
    title = one.title if len(one.title) <= 60 else one.title[:59] + "…"
    trouble = f"  ({one.problem})" if one.problem else ""
    return f"{title}  {_ago(time.time() - one.updated)}, {one.messages} messages  {one.id}{trouble}"


def _ago(seconds: float) -> str:
    for size, word in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            number = int(seconds // size)
            return f"{number} {word}{'s' if number > 1 else ''} ago"
    return "just now"
