"""`zot ext list`: what is installed and its state. Reads manifests, starts nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zot_core.config.paths import Paths
from zot_core.plugins.rank import PROJECT
from zot_plugins.extension_bridge.cli.places import SCOPES, is_trusted, json_option, listed_places, row_of
from zot_plugins.extension_bridge.finding import extension_folders, find_extensions

if TYPE_CHECKING:
    from zot_core.frontend import Console

COLUMNS = ("name", "version", "scope", "state", "kind", "language", "description")


@click.command("list", help="What is installed, and its state. Starts nothing.")
@click.option("--project", is_flag=True, help="The project's alone.")
@json_option
@click.pass_obj
def list_(console: Console, project: bool, as_json: bool) -> None:
    """Prints the table; what is wrong with a manifest follows on stderr."""
    home, cwd = Paths.find().home, console.cwd
    own, users = extension_folders(home, cwd)
    explicit = [(place, path) for place, (kind, path) in enumerate(console.explicit) if kind == "ext"]
    trusted = not own.is_dir() or is_trusted(console)
    found = find_extensions(explicit, cwd, trusted, home, more=listed_places(console))
    rows = [row_of(one) for one in found if not project or one.tier == PROJECT]
    empty = f"no extension is installed in {own if project else users}; zot ext install, or zot ext new, brings one"
    console.rows(rows, COLUMNS, as_json=as_json, empty=empty)
    if as_json:
        return
    for row in rows:
        if row["error"]:
            by = f" (extensions.paths in {row['listed_in']})" if row["listed_in"] else ""
            console.complain(f"zot: {row['name']} is broken: {row['error']}{by}")
        elif row["state"] == "disabled" and row["disabled_in"]:
            console.complain(f"zot: {row['name']} is disabled by extensions.disabled in {row['disabled_in']}")
        elif row["state"] == "shadowed":
            console.complain(f"zot: {row['folder']} is not used: {row['shadowed_by']} has the name {row['name']}")
    if any(row["state"] == "not trusted" for row in rows):
        scope = SCOPES[PROJECT]
        console.complain(f"zot: the {scope} is not trusted, so its extensions are not loaded; --trust uses them once")
