"""The subcommands and the help page. A command's name and help are data; its module is imported when it runs.

The only place that knows click's group; plugins' own commands are found and run by `programs.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from zot_cli.flags import FLAGS, Flag
from zot_cli.names import COMMANDS
from zot_cli.options import hinted
from zot_core.types.failure import UsageError

if TYPE_CHECKING:
    from zot_cli.options import CommandLine
    from zot_core.frontend import Console

CALLS = (
    ("[PROMPT...]", "talk in the terminal; a prompt is sent at once"),
    ("-p [PROMPT...]", "run to the end, the answer on stdout"),
    ("--json [PROMPT...]", "run to the end, one JSON event a line on stdout"),
    ("rpc", "serve a program: requests on stdin, responses and events on stdout"),
    ("COMMAND ...", "one of the commands below"),
)
EPILOG = (
    "Text piped in comes before the prompt. Plugins may bring flags and commands of their own; zot plugins lists them. "
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 75 the model's server is busy, 130 interrupted, 143 terminated."
)


class Row(NamedTuple):
    """A command that is not imported yet: `ref` is `"module:attribute"` of a click command."""

    ref: str
    help: str


class LazyGroup(click.Group):
    """`zot` as click sees it: flags for the help page, commands by name."""

    def __init__(self, rows: dict[str, Row]) -> None:
        super().__init__("zot", params=[_option(flag) for flag in FLAGS], epilog=EPILOG, add_help_option=False)
        self._rows = rows
        self.others: Mapping[str, str] = {}
        """Commands of plugins, for the help page alone."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = self._rows.get(cmd_name)
        if row is None:
            return None
        module, _, attribute = row.ref.partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write("A coding agent for the terminal whose every capability is a plugin.\n")
        with formatter.section("Usage"):
            formatter.write_dl([(f"zot {call}", text) for call, text in CALLS])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*((name, row.help) for name, row in self._rows.items()), *self.others.items()])


def group() -> LazyGroup:
    """The group with the commands that zot itself brings."""
    return LazyGroup({name: Row(*row) for name, row in COMMANDS.items()})


def help_page(plugins: Mapping[str, str] | None = None) -> str:
    """The page of `zot --help`, with plugins' commands (name -> help) as far as they are known; imports no command."""
    command = group()
    command.others = {name: text for name, text in (plugins or {}).items() if name not in COMMANDS}
    with click.Context(command, info_name="zot", max_content_width=100) as ctx:
        return command.get_help(ctx)


def run_command(command: click.Command, args: Sequence[str], name: str, obj: CommandLine | Console) -> int:
    """Runs a click command with `obj` as its context's object; wrong usage becomes a UsageError."""
    try:
        code: Any = command.main(list(args), prog_name=name, standalone_mode=False, obj=obj)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.Abort:
        return 130
    except click.UsageError as error:
        raise UsageError(_usage_text(error, name)) from None
    except click.ClickException as error:
        raise UsageError(error.format_message()) from None
    return code if isinstance(code, int) else 0


def _usage_text(error: click.UsageError, name: str) -> str:
    where = error.ctx.command_path if error.ctx is not None else name
    if isinstance(error, click.exceptions.NoArgsIsHelpError) and isinstance(error.ctx.command, click.Group):
        commands = error.ctx.command.list_commands(error.ctx)
        return f"{where} needs a command: {', '.join(commands)}; see {where} --help"
    near = ""
    # click says some of these itself, with every near name; the nearest alone is what helps.
    if isinstance(error, click.NoSuchOption):
        message = f"unknown flag {error.option_name}"
        near = f"; did you mean {error.possibilities[0]}?" if error.possibilities else ""
    else:
        message = error.format_message().rstrip(".")
    return f"{message}{hinted(near, f'see {where} --help')}"


def _option(flag: Flag) -> click.Option:
    return click.Option(
        flag.names,
        help=f"{flag.help} One of: {', '.join(flag.choices)}." if flag.choices else flag.help,
        is_flag=flag.kind == "switch",
        metavar=flag.metavar or None,
        multiple=flag.repeatable,
        expose_value=False,
    )
