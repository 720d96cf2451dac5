"""One prompt from the command line to its end: opens the App, runs the prompt, closes it, answers the exit code.

Used by print and JSON mode, which differ in what they show. Knows the App's doors; must not know an event.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Protocol

from zot_cli import exits, running, stdio
from zot_cli.appoptions import app_options
from zot_cli.modes.signals import Signals
from zot_cli.stdio import Output, OutputFailed, OutputGone
from zot_core.app import App
from zot_core.frontend import FrontEnd
from zot_core.types.failure import Failure, UsageError

if TYPE_CHECKING:
    from zot_cli.options import CommandLine
    from zot_core.types.failure import StopReason

CLOSE_LIMIT = 20.0
"""Seconds for closing all that a run opened; plugins have their own, smaller budgets within it."""
TOLD_LIMIT = 8.0
"""The same after a signal: whoever sent it will not wait for ever."""
STUBBORN = 1.0
"""Seconds that a cancelled prompt has to end."""
SIGNALS_SAID = {
    exits.INTERRUPTED: "interrupted",
    exits.TERMINATED: "terminated",
    exits.HUNG_UP: "the terminal is gone",
}
"""What is said of a process that a signal ended, by its exit code."""


class OneShot(FrontEnd, Protocol):
    """A front end for one prompt. `out` may break at any time; `broken` then says how, and nothing more is written."""

    broken: OutputGone | OutputFailed | None
    abort: Any

    def begin(self, app: App) -> None:
        """The App is open and the prompt will follow."""

    def end(self, stop: StopReason, failure: Failure | None) -> None:
        """The prompt is over; the last that is written."""


def run_prompt(line: CommandLine, make: Any) -> int:
    """Runs the prompt of `line` through the front end that `make(output)` builds; returns the exit code."""
    piped = stdio.piped_text() if line.piped is None else line.piped
    if not line.unknown and not stdio.joined(piped, line.prompt):
        raise UsageError(_no_prompt(line))
    try:
        front = make(Output())
    except OutputFailed as error:
        stdio.reason(str(error))
        return exits.FAILED
    return running.run(_run(line, piped, front))


async def _run(line: CommandLine, piped: str, front: OneShot) -> int:
    task = asyncio.current_task()
    assert task is not None
    app: App | None = None
    stop: StopReason = "end_turn"
    failure: Failure | None = None
    wrong: UsageError | None = None
    with Signals(task) as signals:
        try:
            app = await held(App.open(app_options(line, front.mode), front))
            if signals.code:
                raise asyncio.CancelledError  # it came while plugins were loaded
            signals.on_stop = front.abort = app.abort
            text = _text(line, piped)
            front.begin(app)
            end = await held(app.prompt(text))
            if end is not None:
                stop, failure = end.stop, end.failure
        except asyncio.CancelledError:
            # Without a signal it was a plugin that cancelled the task of the run: an abort all the same.
            task.uncancel()
            stop = "aborted"
        except Exception as error:
            meant = exits.failure_of(error)
            if isinstance(meant, UsageError):
                wrong = meant
            else:
                stop, failure = "error", meant
        signals.no_grace()
        if wrong is None and front.broken is None:
            front.end(stop, failure)
        late = await close(app, CLOSE_LIMIT if not signals.code else TOLD_LIMIT)
    if wrong is not None:
        stdio.wrong_usage(str(wrong))
        return signals.code or exits.USAGE
    return _code(signals.code, stop, failure or late, front)


async def held(running: Coroutine[Any, Any, Any]) -> Any:
    """The result of `running`; once cancelled it is not waited for longer than STUBBORN, whatever a plugin does."""
    task = asyncio.ensure_future(running)
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task}, timeout=STUBBORN)
        if task.done() and not task.cancelled() and isinstance(task.exception(), Exception | types.NoneType):
            return task.result()
        raise
    return task.result()


async def close(app: App | None, limit: float = CLOSE_LIMIT) -> Failure | None:
    """Closes within a limit; what goes wrong then is a failure only if nothing else was."""
    if app is None:
        return None
    try:
        async with asyncio.timeout(limit):
            await app.close()
    except TimeoutError:
        return Failure(kind="internal", message=f"closing took longer than {limit:g} s and was given up")
    except asyncio.CancelledError:
        return None  # a second signal: do not wait any longer
    except Exception as error:
        meant = exits.failure_of(error)
        return meant if isinstance(meant, Failure) else Failure(kind="internal", message=str(meant))
    return None


def _code(signal_code: int, stop: StopReason, failure: Failure | None, front: OneShot) -> int:
    if signal_code:
        stdio.reason(SIGNALS_SAID[signal_code])
        return signal_code
    if isinstance(front.broken, OutputFailed):
        stdio.reason(str(front.broken))
    elif front.broken is None:
        said = exits.reason_of(stop, failure)
        if said:
            stdio.reason(said)
    return exits.FAILED if front.broken is not None else exits.code_of(stop, failure)


def _text(line: CommandLine, piped: str) -> str:
    if line.unknown:
        line.reparse(())
    text = stdio.joined(piped, line.prompt)
    if not text:
        raise UsageError(_no_prompt(line))
    return text


def _no_prompt(line: CommandLine) -> str:
    flag = "--json" if line.mode == "json" else "-p"
    return f'no prompt: give one after {flag}, as in zot {flag} "...", or pipe it in; see zot --help'
