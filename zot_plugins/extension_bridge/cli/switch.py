"""`zot ext enable` and `zot ext disable`: one key of a manifest, the rest as its author wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from zot_core.config.paths import Paths
from zot_core.types.failure import ZotError
from zot_plugins.extension_bridge.cli.places import named, project_option
from zot_plugins.extension_bridge.finding import FILE, Found, off_in

if TYPE_CHECKING:
    from zot_core.frontend import Console


@click.command(help="Load an extension again.")
@click.argument("name")
@project_option
@click.pass_obj
def enable(console: Console, name: str, project: bool) -> None:
    """Sets `enabled` to true."""
    _switch(console, named(console, name, project), True)


@click.command(help="Load an extension no more, and keep it; --ext still loads it.")
@click.argument("name")
@project_option
@click.pass_obj
def disable(console: Console, name: str, project: bool) -> None:
    """Sets `enabled` to false."""
    _switch(console, named(console, name, project), False)


def _switch(console: Console, found: Found, on: bool) -> None:
    state = "enabled" if on else "disabled"
    if found.manifest is None:
        raise ZotError(f"{found.name} cannot be {state}: {found.error}")
    if on and found.off_in:
        raise ZotError(f"{found.name} cannot be enabled: {off_in(found)}")
    if found.manifest.enabled == on:
        console.say(f"{found.name} is {state} already")
        return
    set_enabled(found, on)
    note = "" if on else f"; it switches off any other extension named {found.name} as well, for as long as it is there"
    shadow = f", but {found.shadowed_by} has its name and is used" if found.shadowed_by else ""
    console.say(f"{found.name} is {state} from the next start on ({found.folder / FILE}){shadow or note}")


def set_enabled(found: Found, on: bool) -> None:
    """Writes the key. Raises SaveRefused with the reason when the manifest stays as it was."""
    from zot_core.config.jsonc_edit import set_key
    from zot_core.config.store import edit_object

    def change(text: str, _value: dict[str, Any]) -> str:
        return set_key(text, ("enabled",), on)

    edit_object(found.folder / FILE, Paths.find().cache / "locks", change)
