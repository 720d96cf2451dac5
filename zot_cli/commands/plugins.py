"""`zot plugins`: what is loaded, what it brings to the command line, and who is asked in which order.

Loads the same plugins as a run with the same flags; asks the host, knows no plugin.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from zot_cli import running
from zot_cli.commands.tables import heading, show_json, show_rows
from zot_cli.options import hinted, nearest
from zot_core.events import LANE_OF
from zot_core.types.failure import UsageError

if TYPE_CHECKING:
    from zot_cli.options import CommandLine
    from zot_core.app import App
    from zot_core.plugins.host import LoadedPlugin

_SENTENCE_END = re.compile(r"(?<=\.)\s|\n")
"""Where a description has said the most important."""


@click.command(
    context_settings={"ignore_unknown_options": True},
    help="What is loaded, and in which order. Takes the flags of a run too (--plugin, --ext, --trust, --cwd, ...).",
)
@click.option("--hooks", is_flag=True, help="Which hooks are implemented, by whom, in the order of asking.")
@click.option("--order", metavar="HOOK", help="The chain of one hook.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.argument("run_flags", nargs=-1, type=click.UNPROCESSED, metavar="[FLAGS OF A RUN]...")
@click.pass_obj
def plugins(line: CommandLine, hooks: bool, order: str | None, as_json: bool, run_flags: tuple[str, ...]) -> None:
    """Prints the tables. A plugin that could not be loaded is a row; `zot doctor` makes an exit code of it."""
    from zot_cli.commands.opening import opened, say_problems, with_run_flags
    from zot_core.ctx.quiet import QuietFront

    if order is not None:
        _check_hook(order)

    front = QuietFront()

    async def look() -> dict[str, Any]:
        async with opened(with_run_flags(line, run_flags), front) as app:
            await app.runtime.readiness.wait()  # extensions say what they bring once they run
            if order is not None:
                return {"order": [asdict(row) for row in app.runtime.host.order(order)]}
            if hooks:
                return {"hooks": _hooks(app)}
            return _plugins(app)

    found = running.run(look())
    say_problems(front.notes, but={row["name"] for row in found.get("failed", ())})
    if order is not None:
        columns = ("plugin", "band", "tier", "options", "where")
        show_rows(found["order"], columns, as_json=as_json, empty=f"no plugin implements {order}")
    elif hooks:
        show_rows(found["hooks"], ("hook", "kind", "plugins"), as_json=as_json)
    elif as_json:
        show_json(found)
    else:
        _show(found)


def _show(found: dict[str, Any]) -> None:
    # All built-in plugins are in modules of this name; the column is narrow.
    rows = [row | {"origin": row["origin"].removesuffix(".plugin")} for row in found["plugins"]]
    show_rows(rows, ("name", "tier", "hooks", "origin"), empty="no plugin is loaded")
    for tool in found["tools"]:
        tool["description"] = _SENTENCE_END.split(tool["description"], maxsplit=1)[0]
    for title, key, columns in (
        ("Tools", "tools", ("tool", "plugin", "offered", "description")),
        ("Flags", "flags", ("flag", "plugin", "description")),
        ("Commands", "commands", ("command", "plugin", "help")),
        ("Not loaded", "failed", ("name", "reason", "origin")),
    ):
        if found[key]:
            heading(f"\n{title}")
            show_rows(found[key], columns)


def _plugins(app: App) -> dict[str, Any]:
    from zot_core.plugins.rank import TIER_NAMES

    host = app.runtime.host
    ordered = sorted(host.plugins.values(), key=lambda plugin: (plugin.tier, plugin.position))
    return {
        "plugins": [
            {
                "name": plugin.name,
                "tier": TIER_NAMES[plugin.tier],
                "position": plugin.position,
                "kind": plugin.kind,
                "hooks": _implemented(app, plugin),
                "origin": plugin.origin,
            }
            for plugin in ordered
        ],
        "tools": _tools(app),
        "flags": [
            {"flag": f"--{flag.name}", "plugin": plugin, "description": flag.description}
            for plugin, flag in app.runtime.contributed("flags")
        ],
        "commands": [
            *({"command": f"/{name}", **row} for name, row in _slash_commands(app)),
            *(
                {"command": f"zot {spec.name}", "plugin": plugin, "help": spec.help}
                for plugin, spec in app.runtime.contributed("cli")
            ),
        ],
        "failed": [{"name": error.plugin, "reason": error.reason, "origin": error.origin} for error in app.failed],
    }


def _implemented(app: App, plugin: LoadedPlugin) -> tuple[str, ...]:
    """The plugin's hooks, with those that it listens to since the session began, as an extension does."""
    host = app.runtime.host
    listened = [hook for hook in LANE_OF if hook not in plugin.hooks and host.pipeline.wants(hook)]
    return (*plugin.hooks, *(hook for hook in listened if any(row.plugin == plugin.name for row in host.order(hook))))


def _tools(app: App) -> list[dict[str, Any]]:
    """All tools; `offered` are those that the model of a run with these flags is told of."""
    toolbox = app.runtime.toolbox
    offered = toolbox.active()
    return [
        {
            "tool": tool.name,
            "plugin": toolbox.owner_of(tool.name),
            "offered": tool.name in offered,
            "description": tool.description.strip(),
        }
        for tool in toolbox.all()
    ]


def _slash_commands(app: App) -> list[tuple[str, dict[str, str]]]:
    commands = app.runtime.commands
    rows = [(name, commands.row(name)) for name in sorted(commands.names())]
    return [
        (name, {"plugin": row.owner.name, "help": row.item.description.strip()})
        for name, row in rows
        if row is not None
    ]


def _hooks(app: App) -> list[dict[str, Any]]:
    from zot_core.events import LANE_OF, event_class

    host = app.runtime.host
    implemented = {hook for plugin in host.plugins.values() for hook in plugin.hooks}
    rows = []
    for hook in sorted(implemented):
        kind = event_class(hook).__mro__[1].__name__.lower() if hook in LANE_OF else "contribution"
        rows.append({"hook": hook, "kind": kind, "plugins": [row.plugin for row in host.order(hook)]})
    return rows


def _check_hook(hook: str) -> None:
    from zot_core.hooks.specs import HOOKS

    if hook not in HOOKS:
        raise UsageError(f"no hook {hook!r}{hinted(nearest(hook, sorted(HOOKS)), 'see zot plugins --hooks')}")
