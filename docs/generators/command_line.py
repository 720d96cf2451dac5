"""The page of the command line, from the table of flags and the programs' own help."""

from __future__ import annotations

from collections.abc import Iterator

import click

from generators.markdown import code, codes, table
from zot_cli.flags import FLAGS
from zot_cli.lazy import group

INTRO = """
# Command line

The prompt's words are joined by blanks; piped text comes before them. `--flag value` and `--flag=value` both work,
and `--` ends flags. Flags of plugins stand beside these; `zot plugins` lists them.
"""

EXIT_CODES = (
    ("0", "done"),
    ("1", "the run failed; one line `zot: reason` on stderr"),
    ("2", "wrong usage; the message says what was wrong, the nearest spelling, and where help is"),
    (
        "75",
        "rate-limited or overloaded, and retries ran out or the wait would be long; the message says when to come back",
    ),
    ("129", "the terminal is gone"),
    ("130", "interrupted"),
    ("143", "terminated"),
)


def page() -> str:
    """Flags, commands, exit codes."""
    rows = ((codes(flag.names), code(flag.metavar), flag.help + _more(flag)) for flag in FLAGS)
    parts = [INTRO.strip(), "## Flags", table(("flag", "value", "what it does"), rows)]
    parts += ["## Commands", *_help(group(), None, ""), "## Exit codes", table(("code", "meaning"), EXIT_CODES)]
    return "\n\n".join(parts)


def _more(flag: object) -> str:
    choices = getattr(flag, "choices", ())
    more = f" One of {codes(choices)}." if choices else ""
    repeatable = getattr(flag, "repeatable", False) and "repeatable" not in getattr(flag, "help", "")
    return more + (" May be given several times." if repeatable else "")


def _help(command: click.Command, parent: click.Context | None, name: str) -> Iterator[str]:
    """The help of every command below `command`, as the program prints it."""
    context = click.Context(command, info_name=name or "zot", parent=parent, terminal_width=100)
    if name:
        yield f"### {context.command_path}\n\n```\n{command.get_help(context).rstrip()}\n```"
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None:
                yield from _help(found, context, child)
