"""`zot ext remove`: deletes an extension's folder; of a linked one the link alone."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zot_core.config.paths import reason
from zot_core.types.failure import UsageError, ZotError
from zot_plugins.extension_bridge.cli.places import named, project_option
from zot_plugins.extension_bridge.cli.staging import REMOVED

if TYPE_CHECKING:
    from zot_core.frontend import Console


@click.command(help="Delete an extension with all that it keeps in its folder; of a linked one the link alone.")
@click.argument("name")
@click.option("--yes", "-y", is_flag=True, help="Ask nothing.")
@project_option
@click.pass_obj
def remove(console: Console, name: str, yes: bool, project: bool) -> int:
    """Asks in a terminal; elsewhere it wants `--yes`."""
    found = named(console, name, project, listed=False)
    folder, linked = found.folder, found.folder.is_symlink()
    what = f"the link {folder} (what it leads to stays)" if linked else f"{folder} with all that is in it"
    if not yes:
        if not console.interactive:
            raise UsageError(
                f"nothing was removed: nobody can be asked here; zot ext remove {name} --yes removes {what}"
            )
        if not click.confirm(console.clean(f"Remove {what}?"), default=False):
            console.say("nothing was removed")
            return 1
    try:
        folder.unlink() if linked else delete(folder)
    except OSError as error:
        place = error.filename or folder
        raise ZotError(f"{name} was not removed completely: {place}: {reason(error)}") from error
    console.say(f"removed {what}")
    return 0


def delete(folder: Path) -> None:
    """Deletes a folder; from the first moment on it is no extension any more. Raises OSError."""
    away = folder.with_name(f"{REMOVED}{os.getpid()}-{folder.name}")
    folder.rename(away)
    shutil.rmtree(away)
