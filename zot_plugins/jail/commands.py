"""`/jail` and `/unjail`: the jail of this process, from the next tool call on. Knows no tool."""

from __future__ import annotations

from typing import Any

from zot_core.toolkit.confine import sandbox
from zot_core.types.failure import UsageError
from zot_plugins.jail.plugin import asked_for, is_on, switch


async def jail(args: str, ctx: Any) -> str:
    """Switches the jail on; says what is open in it."""
    _no_words(args, "jail")
    already = is_on(ctx)
    switch(ctx, True)
    head = "The jail is on." if already else "The jail is on from the next tool call. `/unjail` opens it."
    return "\n".join([head, "", *(f"- {row}" for row in await _facts(ctx))])


async def unjail(args: str, ctx: Any) -> str:
    """Switches it off, until zot ends or `/jail`."""
    _no_words(args, "unjail")
    if not is_on(ctx):
        return "No jail is in force."
    switch(ctx, False)
    who = asked_for(ctx)
    again = f" {who[0].upper()}{who[1:]} closes it again at the next start." if who else ""
    return f"The jail is off from the next tool call: tools and commands may reach what you may.{again}"


async def _facts(ctx: Any) -> list[str]:
    section = ctx.settings
    rows = [f"read and written: {ctx.cwd}, temporary files{_more(section, 'write')}"]
    if section.get("read"):
        rows.append(f"read{_more(section, 'read', first=True)}")
    if section.get("write_zot") is not True:
        rows.append("left as they are: .zot, .mcp.json and zot's home")
    has = await sandbox()
    if not has.bwrap and not has.landlock:
        rows.append(f"commands: refused, nothing here can keep them inside ({has.why})")
    else:
        network = "no network" if section.get("network") is False else "the network is open"
        rows.append(f"commands: kept inside by {'bubblewrap' if has.bwrap else 'Landlock'}; {network}")
        rows.append("what runs in the background already stays as it was begun")
    return rows


def _more(section: Any, key: str, *, first: bool = False) -> str:
    given = section.get(key)
    names = [name for name in given if isinstance(name, str)] if isinstance(given, (list, tuple)) else []
    return f"{': ' if first else ', '}{', '.join(names)}" if names else ""


def _no_words(args: str, name: str) -> None:
    if args.strip():
        raise UsageError(f"/{name} takes no words; /jail switches it on, /unjail off")
