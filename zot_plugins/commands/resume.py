"""`/resume`: another session goes on in this one's place, the one that is named or one from a list.

On a screen the list is `session_list`; elsewhere it is a plain choice.
"""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import Any

from zot_core.session.errors import SessionNotFound
from zot_core.session.find import find_session
from zot_core.session.listing import SessionInfo, newest_first

MOST = 200
"""Sessions of a plain choice, the last used."""


async def resume(args: str, ctx: Any) -> str | None:
    """Goes on with the session that is named by id, path or name, or one from a list of this project's."""
    wanted = args.strip()
    if not wanted and ctx.mode == "repl":
        from zot_plugins.commands.session_list import SessionList

        shown = SessionList(ctx)
        chosen = await ctx.ui.custom(shown.open, title="Which session?")
        shown.close()
        if chosen is not None:  # None: there is no screen to show it on
            wanted = chosen
            if not wanted:
                return None
    if wanted:
        path = await asyncio.to_thread(_meant, ctx.session.root, wanted, str(ctx.cwd))
        if path == ctx.session.file:
            return "You are in that session."
        await ctx.switch_session(path)
        return None
    return await _plain(ctx)


async def _plain(ctx: Any) -> str | None:
    found = await asyncio.to_thread(_newest, ctx.session.root, str(ctx.cwd), ctx.session.id)
    if not found:
        return "There is no other session of this project. `/resume ID` takes one of another project too."
    labels = {label(one): one for one in found}
    if not ctx.has_ui:
        return "\n".join(f"- {label}" for label in labels)
    chosen = await ctx.ui.select("Which session?", list(labels))
    if chosen is not None:
        await ctx.switch_session(str(labels[chosen].path))
    return None


def _newest(root: str, cwd: str, own: str) -> list[SessionInfo]:
    found = list(islice((one for one in newest_first(root, cwd) if one.id != own), MOST))
    return sorted(found, key=lambda one: one.updated, reverse=True)


def _meant(root: str, wanted: str, cwd: str) -> str:
    """The path of the session that is meant. Raises SessionNotFound, which names near ones."""
    try:
        return str(find_session(root, wanted, cwd=cwd))
    except SessionNotFound:
        called = [one for one in newest_first(root, cwd) if one.name is not None and one.name == wanted]
        if len(called) != 1:
            raise
        return str(called[0].path)


def label(one: SessionInfo) -> str:
    """A session in a line."""
    from zot_plugins.commands.session_list import ago

    title = one.title if len(one.title) <= 60 else one.title[:59] + "…"
    trouble = f"  ({one.problem})" if one.problem else ""
    return f"{title}  {ago(one.updated)}, {one.messages} messages  {one.id}{trouble}"
