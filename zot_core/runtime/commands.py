"""Slash commands: looking them up and running them, as tasks of the App, because a command may replace the session."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING

from zot_core.ctx.context import CommandCtx
from zot_core.frontend import Note
from zot_core.types.content import Image
from zot_core.types.failure import Failure, RunFailed, UsageError, ZotError
from zot_core.types.specs import CommandSpec, resolve

if TYPE_CHECKING:
    from zot_core.app import App


async def run_command(app: App, text: str, images: Sequence[Image]) -> bool:
    """Runs the command that `text` begins with; False when there is none of that name: it may still be a skill's or a
    template's, which `expanding` looks up after `input`.

    Raises UsageError for a command that this mode cannot run, RunFailed for one that broke.
    """
    name, _, args = text[1:].partition(" ")
    name, newline, more = name.partition("\n")
    args = f"{more} {args}".strip() if newline else args.strip()
    row = app.runtime.commands.row(name) if name else None
    if row is None and name and not app.runtime.readiness.settled:
        await app.runtime.readiness.wait()
        row = app.runtime.commands.row(name)
    if row is None:
        return False
    if app.runtime.expansions:
        from zot_core.runtime.expanding import listed

        listed(app.runtime)  # says which skill or template of this name is not used
    command: CommandSpec = row.item
    mode = app.front.mode
    if mode not in command.modes:
        raise UsageError(f"/{name} needs {_where(command)}, and this is {mode} mode")
    if command.requires_arguments and not args:
        hint = f" {command.argument_hint}" if command.argument_hint else ""
        raise UsageError(f"/{name} needs arguments: /{name}{hint}")
    await _make_way(app, command)
    await app.create_task(_run(app, row.owner.name, command, args, tuple(images)), f"zot:/{name}", awaited=True)
    return True


async def _make_way(app: App, command: CommandSpec) -> None:
    runs = app.runtime.runs
    if command.busy == "run" or runs.idle:
        return
    if command.busy == "abort":
        runs.abort(f"/{command.name}")
    await runs.wait_for_idle()


async def _run(app: App, owner: str, command: CommandSpec, args: str, images: tuple[Image, ...]) -> None:
    runtime = app.runtime
    ctx = CommandCtx(runtime, owner, images=images)
    try:
        answer = resolve(command.handler)(args, ctx)
        if inspect.isawaitable(answer):
            answer = await answer
    except (ZotError, RunFailed):
        raise
    except (Exception, SystemExit) as error:  # the command's own fault, named and not ours
        runtime.host.pipeline.broken(owner, f"/{command.name}", error)
        message = f"/{command.name} of plugin {owner} failed: {error or type(error).__name__}"
        raise RunFailed(Failure(kind="internal", message=message)) from error
    if isinstance(answer, str) and answer:
        app.front.note(Note(source=owner, text=answer, kind="answer"))


def _where(command: CommandSpec) -> str:
    names = {"repl": "the interactive mode", "print": "print mode", "json": "JSON mode", "rpc": "RPC"}
    return " or ".join(names[mode] for mode in command.modes)
