"""Prompts that begin with `/` and name no command: plugins' expansions (skills, templates), or a word on it.

Comes after commands and after `input`. Must not know what an expansion is made of.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from zot_core.plugins.diagnostics import Diagnostic
from zot_core.types.specs import ExpansionName, resolve

if TYPE_CHECKING:
    from zot_core.runtime.runtime import Runtime


async def expanded(runtime: Runtime, text: str, typed: str) -> str:
    """What `text` becomes; itself when no expansion knows it. If it still is what was `typed`, an unknown name is
    noted."""
    name = next(iter(text[1:].split(maxsplit=1)), "") if not text[1:2].isspace() else ""
    if not name or runtime.commands.row(name) is not None:
        return text  # a command's name stays the command's, also where commands are not looked up
    for plugin, expansion in runtime.expansions:
        try:
            answer = resolve(expansion.expand)(text, runtime.context(plugin))
            if inspect.isawaitable(answer):
                answer = await answer
        except Exception as error:  # a plugin's fault; the next may know the name
            runtime.host.pipeline.broken(plugin, "expansions", error)
            continue
        if isinstance(answer, str):
            return answer
    # A path such as /etc/hosts is no misspelt command.
    if text == typed and "/" not in name:
        runtime.note(f"there is no command /{name}{_near(runtime, name)}", "warning")
    return text


def listed(runtime: Runtime) -> list[ExpansionName]:
    """The names that expansions know and that mean them, each once, in the order in which they are looked up. One that
    a command has is reported and left out."""
    found: dict[str, ExpansionName] = {}
    for plugin, expansion in runtime.expansions:
        try:
            names = list(resolve(expansion.names)(runtime.context(plugin)))
        except Exception as error:  # a plugin's fault; the others' names stay
            runtime.host.pipeline.broken(plugin, "expansions", error)
            continue
        for one in names:
            if (row := runtime.commands.row(one.name)) is not None:
                message = f"its /{one.name} is not used: /{one.name} is a command of the plugin {row.owner.name}"
                runtime.host.diagnostics.report(Diagnostic("warning", plugin, "", message))
            else:
                found.setdefault(one.name, one)
    return list(found.values())


def _near(runtime: Runtime, name: str) -> str:
    from difflib import get_close_matches  # only for a misspelt name

    aliases = [alias for alias, _ in runtime.commands.aliases()]
    known = dict.fromkeys([*runtime.commands.names(), *aliases, *(one.name for one in listed(runtime))])
    near = get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    return f"; did you mean /{near[0]}? It is sent as text" if near else "; it is sent as text"
