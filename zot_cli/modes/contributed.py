"""Commands of the `zot` program that only an App knows of: a trusted project's, and those that no quick look found.

`zot_cli.programs` finds all others before anything is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zot_cli import running
from zot_cli.names import COMMANDS
from zot_cli.options import HELP_HINT, nearest
from zot_core.types.failure import UsageError, ZotError
from zot_core.types.specs import CliSpec, resolve

if TYPE_CHECKING:
    from zot_cli.options import CommandLine
    from zot_core.app import App


def find(app: App, line: CommandLine) -> CliSpec | None:
    """The command that the line's first word names among those of the loaded plugins; the first by rank."""
    if not line.words or line.mode:
        return None
    found = (item for _, item in app.runtime.contributed("cli"))
    return next((spec for spec in found if isinstance(spec, CliSpec) and spec.name == line.words[0]), None)


def names(app: App) -> list[str]:
    """The names of all commands of loaded plugins."""
    return [item.name for _, item in app.runtime.contributed("cli")]


def run_spec(spec: CliSpec, line: CommandLine) -> int:
    """Runs a plugin's command with what followed its name on the line."""
    from zot_cli.programs import run_click

    try:
        command = resolve(spec.command)
    except (ImportError, AttributeError) as error:
        raise ZotError(f"the command {spec.name} cannot be loaded: {error}") from error
    return run_click(command, spec.name, line)


def run(line: CommandLine) -> int:
    """Runs the plugin's command that the line names, without a terminal."""
    from zot_cli.commands.opening import opened

    # An extension brings no command of this kind, and none is to be started only to say that a word is none.
    line.values["no_ext"] = True
    line.explicit = [(kind, named) for kind, named in line.explicit if kind == "plugin"]

    async def look() -> tuple[CliSpec | None, list[str]]:
        async with opened(line) as app:
            return find(app, line), names(app)

    spec, known = running.run(look())
    if spec is None:
        near = nearest(line.words[0], [*COMMANDS, *known], "zot ")
        prompt = 'for a prompt: zot -p "..."'
        said = f"no terminal, and no command {line.words[0]!r}"
        raise UsageError(f"{said}{near} F{prompt[1:]}; {HELP_HINT}" if near else f"{said}; {prompt}; {HELP_HINT}")
    return run_spec(spec, line)
