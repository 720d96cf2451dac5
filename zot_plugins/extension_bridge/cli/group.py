"""The commands of `zot ext`, as data: each is imported when it runs."""

from __future__ import annotations

from importlib import import_module

import click

_HERE = "zot_plugins.extension_bridge.cli."
_COMMANDS = {
    "list": ("listing:list_", "What is installed, and its state."),
    "doctor": ("doctor:doctor", "Start all as a run would, and report what is wrong."),
    "install": ("install:install", "Copy a folder or clone a git repository."),
    "remove": ("remove:remove", "Delete an extension."),
    "enable": ("switch:enable", "Load an extension again."),
    "disable": ("switch:disable", "Load an extension no more, and keep it."),
    "logs": ("showlog:logs", "What an extension wrote, and what zot said of it."),
    "new": ("new:new", "Write a working extension to begin with."),
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _, attribute = _COMMANDS[cmd_name][0].partition(":")
        command = getattr(import_module(_HERE + module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], _COMMANDS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_COMMANDS)}"
            raise click.UsageError(f"no command {args[0]!r} ({hint})", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


ext = _Commands(
    "ext",
    help="Extensions: programs in any language that zot talks to. They are named as in their extension.json.",
)
