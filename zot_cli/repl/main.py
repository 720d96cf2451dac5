"""The interactive mode from its first frame to the terminal's last line: opens the session behind the first paint.

Signals end it as its keys do, and the terminal is as it was whatever happens.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from zot_cli import exits, running, stdio
from zot_cli.modes.signals import Signals
from zot_cli.options import refuse_misspelt
from zot_cli.repl.app import Repl
from zot_cli.repl.draft import Draft
from zot_cli.repl.editor import Editor
from zot_cli.repl.keys import Keymap
from zot_cli.repl.look import default_look
from zot_cli.repl.printed import printed
from zot_cli.repl.spans import to_ansi
from zot_cli.repl.terminal import Terminal, background
from zot_core._version import __version__
from zot_core.config.objects import read_object
from zot_core.config.paths import Paths
from zot_core.ui.color import depth_of

if TYPE_CHECKING:
    from zot_cli.options import CommandLine
    from zot_core.app import App
    from zot_core.types.failure import Failure
    from zot_core.types.specs import CliSpec


def run(line: CommandLine) -> int:
    """Runs the interactive mode until the person leaves; returns the exit code."""
    code, spec = running.run(_main(line))
    if spec is None:
        return code
    from zot_cli.modes.contributed import run_spec

    return run_spec(spec, line)


async def _main(line: CommandLine) -> tuple[int, CliSpec | None]:
    look = default_look(background(os.environ), depth_of(os.environ))
    editor = Editor(_history(), lambda: repl.prompt_mark())
    repl = Repl(Terminal(), look, Keymap(_own_keys()), editor)
    task = asyncio.current_task()
    assert task is not None
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: repl.failed(context))
    talk = _Talk(repl, line, Draft(repl, Paths.find().home))
    with Signals(task) as signals, printed(lambda text: repl.tell(text, source="printed")):
        signals.on_stop = repl.leave
        signals.on_interrupt = repl.interrupted
        repl.screen.opening = [[(look.style("accent"), "zot"), (look.style("dim"), f" {__version__}")], []]
        repl.screen.commit(repl.screen.opening)
        talk.drawing = loop.create_task(repl.screen.run(), name="zot:screen")
        try:
            await talk.go_on()
        except asyncio.CancelledError:
            if not signals.code:
                raise
            task.uncancel()
        finally:
            late = await talk.end()
    if late is not None:
        stdio.reason(late.message)
    _farewell(talk.app, repl)
    return signals.code or (exits.DONE if late is None else exits.FAILED), talk.spec


class _Talk:
    """The session behind the screen. `spec` is the plugin's command that the line turned out to name."""

    drawing: asyncio.Task[None]

    def __init__(self, repl: Repl, line: CommandLine, draft: Draft) -> None:
        self._repl, self._line, self._draft = repl, line, draft
        self.app: App | None = None
        self.spec: CliSpec | None = None

    async def go_on(self) -> None:
        """Opens the session and returns when the person leaves."""
        repl, line = self._repl, self._line
        app = self.app = await _opened(repl, line, self.drawing)
        if app is None:
            return
        if line.unknown:
            line.reparse(())
        from zot_cli.modes.contributed import find, names

        self.spec = find(app, line)
        if self.spec is None:
            refuse_misspelt(line, names(app))
            repl.opened(app)
            self._draft.offer()
            if line.prompt:
                repl.sending.send(line.prompt)
            await _until_over(repl, self.drawing)

    async def end(self) -> Failure | None:
        """Ends the run, gives the terminal back, closes the session; what went wrong with that."""
        self._draft.end()  # before the end of the run gives back what waits, or takes too long
        if self.app is not None:
            self.app.abort("quit")
        await self._repl.finish()
        self._repl.screen.stop()
        await asyncio.wait({self.drawing}, timeout=1.0)
        if self.app is None:
            return None
        from zot_cli.modes.run import close

        return await close(self.app)


async def _opened(repl: Repl, line: CommandLine, drawing: asyncio.Task[None]) -> App | None:
    """The App, opened behind the first frame; None when the person left meanwhile."""
    first = asyncio.ensure_future(repl.screen.drawn.wait())
    await asyncio.wait({first, drawing}, return_when=asyncio.FIRST_COMPLETED)
    first.cancel()
    from zot_cli.appoptions import app_options  # these bring the whole engine: after the first frame
    from zot_core.app import App

    options = app_options(line, "repl")
    opening = asyncio.ensure_future(App.open(options, repl.front))
    over = asyncio.ensure_future(repl.over.wait())
    try:
        await asyncio.wait({opening, over, drawing}, return_when=asyncio.FIRST_COMPLETED)
        return await opening if opening.done() else None
    finally:
        over.cancel()
        if not opening.done():
            opening.cancel()


async def _until_over(repl: Repl, drawing: asyncio.Task[None]) -> None:
    over = asyncio.ensure_future(repl.over.wait())
    try:
        await asyncio.wait({over, drawing}, return_when=asyncio.FIRST_COMPLETED)
        if drawing.done():
            drawing.result()
    finally:
        over.cancel()


def _own_keys() -> dict[str, object]:
    """The person's keys; what is wrong with the file is said before the screen begins."""
    found, problems = read_object(Paths.find().home / "keybindings.json")
    for problem in problems:
        stdio.complain(f"zot: {problem}")
    return found.value if found is not None else {}


def _history() -> Path | None:
    path = Paths.find().home / "history"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return path


def _farewell(app: App | None, repl: Repl) -> None:
    """How to go on with this session, on a terminal that is as it was."""
    session = app.runtime.session if app is not None else None
    if session is None or not session.is_stored or session.path is None:
        return
    style = repl.look.style("dim")
    sys.stdout.write(to_ansi([[(style, f"zot --resume {session.id}")]], repl.look.depth))
    sys.stdout.flush()
