"""An App for commands that only look: no session is kept, nothing is shown, notes are collected.

Takes the same flags as a run, before or after the command's name, so that what is listed is what a run would have.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Container, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from zot_cli.appoptions import app_options
from zot_cli.modes.front import show_note
from zot_cli.options import parse
from zot_core.app import App
from zot_core.ctx.quiet import QuietFront
from zot_core.types.failure import UsageError

if TYPE_CHECKING:
    from zot_cli.options import CommandLine
    from zot_core.frontend import Note


def say_problems(notes: Iterable[Note], but: Container[str] = ()) -> None:
    """What a run would have said: the warnings and errors on stderr, without those of the sources in `but`."""
    for note in notes:
        said = note.level in ("warning", "error") and note.kind in ("diagnostic", "plugin_error")
        if said and not (note.source and note.source in but):
            show_note(note)


def with_run_flags(line: CommandLine, flags: Sequence[str]) -> CommandLine:
    """The line as if the flags of a run that followed the command's name had stood before it."""
    import click

    before = line.argv[: len(line.argv) - len(line.rest) - 1]
    joined = parse((*before, *flags))
    joined.help_hint = f"see zot {line.command} --help"
    own = click.get_current_context().command.params
    joined.also = tuple(name for option in own if isinstance(option, click.Option) for name in option.opts)
    if joined.words and not joined.unknown:
        raise UsageError(f"unexpected argument {joined.words[0]!r}; see zot {line.command} --help")
    return joined


@asynccontextmanager
async def opened(line: CommandLine, front: QuietFront | None = None) -> AsyncIterator[App]:
    """An App that keeps no session, closed at the end. Raises as `App.open` does."""
    options = replace(
        app_options(line, "print"), no_session=True, continue_session=False, resume=None, session=None, fork=None
    )
    app = await App.open(options, front or QuietFront())
    try:
        yield app
    finally:
        await app.close()
