"""`/help`: every command under its heading, or all that there is to say about one."""

from __future__ import annotations

from typing import Any

from zot_core.types.failure import UsageError
from zot_core.types.specs import CommandSpec

FIRST = ("Conversation", "Model", "Permissions", "Plugins", "zot")
"""Headings of zot's own commands, in their order; those of plugins follow under the plugins' names."""
_BUSY = {"run": "It can be called while a run goes on.", "wait": "It waits for the end of a run that goes on."}
_BUSY |= {"abort": "It ends a run that goes on."}


async def help_(args: str, ctx: Any) -> str:
    """Every command with what it does; with a name more about that one."""
    name = args.strip().removeprefix("/")
    if name:
        return _about(name, ctx)
    groups: dict[str, list[str]] = {heading: [] for heading in FIRST}
    for name, plugin, spec in ctx.commands.named():
        if ctx.mode in spec.modes:
            groups.setdefault(spec.group or plugin, []).append(_row(name, spec))
    rows = [row for heading, found in groups.items() if found for row in (f"| **{_cell(heading)}** | |", *found)]
    more = ["`/help COMMAND` says more about one."]
    if ctx.mode == "repl":
        more.append("`@` finds a file, `!command` runs one, `/hotkeys` lists the keys.")
    return "\n".join(["| command | what it does |", "|---|---|", *rows]) + "\n\n" + " ".join(more)


def names(text: str, ctx: Any) -> list[str]:
    """Completions: the commands."""
    start = text.strip().removeprefix("/").casefold()
    return [
        name for name, _, spec in ctx.commands.named() if ctx.mode in spec.modes and name.casefold().startswith(start)
    ]


def _about(name: str, ctx: Any) -> str:
    spec = ctx.commands.find(name)
    if spec is None:
        raise UsageError(f"there is no command /{name}{_near(name, ctx)}")
    plugin, listed = next(
        ((owner, listed) for listed, owner, one in ctx.commands.named() if one is spec), ("", spec.name)
    )
    lines = [f"`/{f'{listed} {spec.argument_hint}'.strip()}`: {spec.description or 'its plugin says nothing about it'}"]
    if spec.aliases:
        lines.append("Also " + ", ".join(f"`/{alias}`" for alias in spec.aliases) + ".")
    lines.append(f"Of the plugin {plugin}. {_BUSY[spec.busy]}")
    if ctx.mode not in spec.modes:
        lines.append(f"Not in {ctx.mode} mode.")
    return "\n\n".join(lines)


def _near(name: str, ctx: Any) -> str:
    from difflib import get_close_matches  # only for a misspelt name

    known = [word for listed, _, spec in ctx.commands.named() for word in (listed, *spec.aliases)]
    near = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    return f"; did you mean /{near[0]}?" if near else "; /help lists them"


def _row(name: str, spec: CommandSpec) -> str:
    also = f" (also {', '.join(f'/{alias}' for alias in spec.aliases)})" if spec.aliases else ""
    return (
        f"| `{_cell(f'/{name} {spec.argument_hint}'.strip())}` | {_cell(' '.join(spec.description.split()) + also)} |"
    )


def _cell(text: str) -> str:
    """Text for a cell of a table."""
    return text.replace("|", "\\|")
