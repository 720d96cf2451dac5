"""`zot ext doctor`: extensions started as a run would start them, looked at, and ended again.

Asks the same App, with no session; nothing here decides how an extension is treated.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import click

from zot_core.config.paths import Paths
from zot_core.types.failure import UsageError
from zot_plugins.extension_bridge.cli.places import json_option, row_of, unknown
from zot_plugins.extension_bridge.finding import find_extensions
from zot_plugins.extension_bridge.logs import log_path

if TYPE_CHECKING:
    from zot_core.app import App
    from zot_core.frontend import Console, Note
    from zot_plugins.extension_bridge.finding import Found

LONGEST_S = 20.0
"""Seconds for all to be ready or given up; each is given up sooner by itself."""
_BROKEN = ("broken", "failed", "ended", "starting")
_COLUMNS = ("name", "state", "hello", "ready", "commands", "tools", "events", "intercepts")
_HELP = """Start all extensions as a run would, report what each says and what is wrong, and end them.

With NAME only that one is shown; the others are started all the same, for it may clash with them. Exit code 1 when
something is broken."""


@click.command(help=_HELP)
@click.argument("name", required=False)
@json_option
@click.pass_obj
def doctor(console: Console, name: str | None, as_json: bool) -> int:
    """Prints the report."""
    rows = console.run(_examine(console))
    if name is not None:
        shown = [row for row in rows if row["name"] == name]
        if not shown:
            raise UsageError(unknown(name, [row["name"] for row in rows]))
        rows = shown
    broken = [row["name"] for row in rows if row["state"] in _BROKEN]
    if as_json:
        console.json({"ok": not broken, "extensions": rows})
    else:
        _show(console, rows, broken)
    return 1 if broken else 0


async def _examine(console: Console) -> list[dict[str, Any]]:
    from zot_core.app import App
    from zot_core.ctx.quiet import QuietFront

    options, front = console.options(), QuietFront()
    app = await App.open(options, front)
    try:
        explicit = [(place, path) for place, (kind, path) in enumerate(options.explicit) if kind == "ext"]
        runtime = app.runtime
        places = runtime.settings.extension_places(app.paths.home)
        found = find_extensions(explicit, runtime.cwd, runtime.trusted, app.paths.home, options.no_ext, places)
        remotes = _remotes(app)
        waits = [asyncio.ensure_future(remote.settled()) for remote in remotes.values()]
        if waits:
            await asyncio.wait(waits, timeout=LONGEST_S)
        rows = [_row(one, remotes, front.notes, app) for one in found]
    finally:
        await app.close()
    return rows


def _remotes(app: App) -> dict[str, Any]:
    loaded = app.runtime.host.plugins.values()
    return {
        plugin.name.removeprefix("ext:"): plugin.plugin
        for plugin in loaded
        if plugin.name.startswith("ext:") and hasattr(plugin.plugin, "settled")
    }


def _row(found: Found, remotes: dict[str, Any], notes: list[Note], app: App) -> dict[str, Any]:
    row = row_of(found) | {"hello_s": None, "ready_s": None, "commands": [], "tools": [], "events": []}
    log = log_path(Paths.find().home, found.name)
    row |= {
        "intercepts": [],
        "conflicts": [],
        "warnings": [],
        "log": str(log) if found.manifest and log.exists() else "",
    }
    if not found.loads:
        return row
    mine = f"ext:{found.name}"
    remote = remotes.get(found.name)
    failed = next((error for error in app.failed if error.plugin == mine), None)
    if remote is not None and remote.manifest.folder == found.folder:
        status = remote.status()
        row |= {"state": status.state, "hello_s": status.hello_s, "ready_s": status.ready_s, "log": str(status.log)}
        row |= {"version": status.version or row["version"], "error": status.error}
        for part in ("commands", "tools", "events", "intercepts", "conflicts", "warnings"):
            row[part] = list(getattr(status, part))
    elif failed is not None:
        row |= {"state": "broken" if found.error else "failed", "error": failed.reason}
    elif mine not in app.runtime.host.plugins and found.name not in app.runtime.host.plugins:
        row |= {"state": "failed", "error": "it was not loaded; zot plugins shows what is"}
    elif mine not in app.runtime.host.plugins:
        row |= {"state": "shadowed", "error": f"the plugin {found.name} has its name"}
    said = [note.text for note in notes if note.source == mine and note.level in ("warning", "error")]
    # Who of two was ready first is chance; the one that is not used says so in its own row.
    said = [text for text in said if "takes the place of ext:" not in text]
    known = {*row["warnings"], *row["conflicts"]}
    said = [*row["warnings"], *(text for text in dict.fromkeys(said) if text not in known)]
    row["warnings"] = [text for text in said if not _told(text, row["error"])]
    return row


def _told(text: str, error: str) -> bool:
    return bool(error) and error in text


def _show(console: Console, rows: list[dict[str, Any]], broken: list[str]) -> None:
    shown = [row | {"hello": _seconds(row["hello_s"]), "ready": _seconds(row["ready_s"])} for row in rows]
    console.rows(shown, _COLUMNS, empty="no extension was found; zot ext list says where zot looks")
    for row in rows:
        said = [("error", row["error"]), *(("conflict", text) for text in row["conflicts"])]
        said += [("warning", text) for text in row["warnings"]]
        if row["shadowed_by"]:
            said.append(("shadowed", f"{row['shadowed_by']} has its name and is used"))
        if row["state"] == "disabled" and row["disabled_in"]:
            said.append(("disabled", f"extensions.disabled in {row['disabled_in']} names it"))
        if row["error"] and row["listed_in"]:
            said.append(("listed", f"extensions.paths in {row['listed_in']} leads to it"))
        if row["state"] == "not trusted":
            said.append(("not started", "the project is not trusted; --trust uses it once: zot --trust ext doctor"))
        said = [(kind, text) for kind, text in said if text]
        if said or row["log"]:
            console.say(f"\n{row['name']} ({row['folder']})")
            for kind, text in [*said, *([("log", row["log"])] if row["log"] else [])]:
                console.say(f"  {kind}: {text}")
    if broken:
        console.say(f"\n{len(broken)} broken: {', '.join(broken)}")
    elif rows:
        console.say("\nNothing is broken.")


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.2f} s"
