"""Plugins' commands of the `zot` program, before anything is opened: is this word one, which are there, run it.

What is asked and kept is `zot_core.runtime.programs`'; this is the command line's side of it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zot_cli import stdio
from zot_cli.names import COMMANDS, can_name
from zot_cli.plain import one_line
from zot_core.config.boot import BootCache
from zot_core.config.paths import Paths
from zot_core.runtime.programs import Programs, Wanted
from zot_core.types.failure import ZotError

if TYPE_CHECKING:
    from zot_cli.options import CommandLine


def names_one(line: CommandLine, word: str) -> bool:
    """Whether `word` names a plugin's command; then it becomes the line's `program`."""
    line.program = next((one for one in _programs(line).find() if one.name == word), None)
    return line.program is not None


def names(line: CommandLine) -> list[str]:
    """The names of all that can be found before a session is opened."""
    return [program.name for program in _programs(line).find()] if len(line.words) == 1 else []


def kept(line: CommandLine) -> dict[str, str]:
    """Name -> help of those that the boot snapshot knows; imports no plugin and fails for nothing."""
    try:
        found = _programs(line).kept()
    except ZotError:
        return {}  # without a home there is no snapshot; whoever needs one says so
    usable = [program for program in found if program.name not in COMMANDS and can_name(program.name)]
    return {program.name: one_line(program.help, 200) for program in reversed(usable)}


def run(line: CommandLine) -> int:
    """Runs the line's `program` with what followed its name."""
    return run_click(_programs(line).command(line.program), line.program.name, line)


def run_click(command: Any, name: str, line: CommandLine) -> int:
    """Runs a plugin's click command. Raises ZotError when it is none."""
    import click

    from zot_cli.commands.console import LineConsole
    from zot_cli.lazy import run_command

    if not isinstance(command, click.Command):
        raise ZotError(f"the command {name} is no click command but {type(command).__name__}")
    stdio.utf8()
    return run_command(command, line.rest, f"zot {name}", LineConsole(line))


def _programs(line: CommandLine) -> Programs:
    paths = Paths.find()
    wanted = Wanted(
        cwd=str(Path(os.path.expanduser(line.get("cwd") or ".")).absolute()),  # noqa: PTH111 - `~nobody` is no error here
        explicit=tuple(reference for kind, reference in line.explicit if kind == "plugin"),
        no_plugins=bool(line.get("no_plugins")),
        no_builtins=bool(line.get("no_builtins")),
    )
    return Programs(wanted, paths, BootCache(paths.boot))
