"""`/new`, `/fork`, `/clone`, `/name`: which conversation goes on, and what it is called."""

from __future__ import annotations

from typing import Any

from zot_core.toolkit.truncation import clip_line
from zot_core.types.content import text_of
from zot_core.types.failure import UsageError
from zot_core.types.messages import UserMessage

HERE = "here"
ALL = "Here: a copy of all of it"
NOTHING = "There is nothing to copy yet."
SHOWN = 100
"""Characters of a prompt in the list."""


async def new(args: str, ctx: Any) -> str | None:
    """A new session; the old one's file stays."""
    return "A new session." if await ctx.new_session() else None


async def clone(args: str, ctx: Any) -> str | None:
    """Goes on in a copy, up to where one is, so that the original stays as it was."""
    leaf = ctx.session.leaf_id
    if leaf is None:
        return NOTHING
    await ctx.fork(leaf, position="at")
    return None


async def fork(args: str, ctx: Any) -> str | None:
    """Goes on in a copy that ends before a prompt, which comes back into the editor: the newest that holds the words,
    or one from a list. `here` copies all, and so does a mode without anybody to ask."""
    words = args.strip()
    if words == HERE:
        return await clone("", ctx)
    found = prompts(ctx)
    if not found and not words:
        return await clone("", ctx)
    if words:
        found = {label: id for label, id in found.items() if words.casefold() in label.casefold()}
        if not found:
            raise UsageError(f"no prompt of this session holds {words!r}; /fork lists them")
        await ctx.fork(next(iter(found.values())))
        return None
    if not ctx.has_ui:
        return await clone("", ctx)
    chosen = await ctx.ui.select("Go on from before which prompt?", [*found, ALL])
    if chosen == ALL:
        return await clone("", ctx)
    if chosen in found:
        await ctx.fork(found[chosen])
    return None


def places(text: str) -> list[str]:
    """Completions of `/fork`."""
    return [HERE] if HERE.startswith(text.strip().lower()) else []


def prompts(ctx: Any) -> dict[str, str]:
    """The prompts of the branch, the newest first: what to show -> entry. Equal ones are told apart by a number."""
    found: dict[str, str] = {}
    told = [one for one in ctx.session.branch() if isinstance(one.message, UserMessage)]
    for number, entry in zip(range(len(told), 0, -1), reversed(told), strict=True):
        text = " ".join(text_of(entry.message.content).split()) or "(a picture)"
        mark = ctx.session.label(entry.id)
        found[f"{number}. {clip_line(text, SHOWN)}{f' [{mark}]' if mark else ''}"] = entry.id
    return found


async def name(args: str, ctx: Any) -> str:
    """Names the session; without a word it says the name."""
    if args.strip():
        ctx.session.set_name(args.strip())
    return f"This session is called {ctx.session.name}." if ctx.session.name else "This session has no name."
