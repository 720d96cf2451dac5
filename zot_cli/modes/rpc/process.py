"""The process of RPC from its start to its exit code: the pipes, the token, the App, signals, and the end.

Knows no request; `server.py` does.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from zot_cli import exits, running, stdio
from zot_cli.appoptions import app_options
from zot_cli.modes.rpc.front import RpcFront
from zot_cli.modes.rpc.reader import LONGEST, Lines, Reader
from zot_cli.modes.rpc.server import Server
from zot_cli.modes.rpc.writer import Writer
from zot_cli.modes.run import CLOSE_LIMIT, SIGNALS_SAID, TOLD_LIMIT, close, held
from zot_cli.modes.signals import Signals
from zot_cli.options import HELP_HINT
from zot_cli.stdio import OutputFailed
from zot_core.app import App
from zot_core.types.failure import Failure, UsageError

if TYPE_CHECKING:
    from zot_cli.options import CommandLine

TOKEN = "ZOTCORE_RPC_TOKEN"
WIND_UP = 3.0
"""Seconds that an aborted run has to tell its end."""
LAST_WORDS = 2.0
"""Seconds that a reader has to take what is left after a signal."""
LOOK_FOR_READER = 0.5
"""Seconds between looks for a reader that may be gone, once nothing more can be read from the client."""


def serve(line: CommandLine) -> int:
    """Serves RPC until stdin ends; returns the exit code. Raises UsageError."""
    # Out of the environment before anything else runs: no child and no plugin sees it there.
    token = os.environ.pop(TOKEN, "")
    if also := next((flag for flag in ("print", "json") if line.get(flag)), ""):
        raise UsageError(f"rpc and --{also} cannot be used together; {HELP_HINT}")
    if line.words and not line.unknown:
        raise UsageError(_no_words(line))
    try:
        os.fstat(0)
    except OSError:
        raise UsageError(f"rpc reads its requests from standard input, which is closed; {HELP_HINT}") from None
    try:
        writer = Writer()
    except OutputFailed as error:
        stdio.reason(str(error))
        return exits.FAILED
    return running.run(_serve(line, token, writer))


async def _serve(line: CommandLine, token: str, writer: Writer) -> int:
    task = asyncio.current_task()
    assert task is not None
    front = RpcFront(writer)
    server = Server(front, token)
    watching: list[asyncio.Task[None]] = []

    def input_ended() -> None:
        watching.append(asyncio.ensure_future(_watch(writer)))
        server.input_ended()

    reader = Reader(Lines(server.line, lambda: server.too_long(LONGEST)), input_ended)
    writer.on_full = reader.pause
    writer.on_broken = server.stop
    app: App | None = None
    failure: Failure | UsageError | None = None
    with Signals(task) as signals:
        try:
            if await server.admitted():
                app = await held(App.open(app_options(line, "rpc"), front))
                if signals.code:
                    raise asyncio.CancelledError  # it came while plugins were loaded
                _check(line)
                signals.on_stop = server.stop
                server.begin(app)
                await server.over()
                await server.wound_up(WIND_UP)
        except asyncio.CancelledError:
            task.uncancel()  # a signal, or a plugin that cancelled the task; the end is the same
        except Exception as error:
            failure = exits.failure_of(error)
            front.fail(failure if isinstance(failure, Failure) else Failure(kind="bad_request", message=str(failure)))
        signals.no_grace()
        reader.stop()
        server.stop()
        late = await close(app, CLOSE_LIMIT if not signals.code else TOLD_LIMIT)
        await server.close()
        for watch in watching:
            watch.cancel()
        await _last_words(writer, LAST_WORDS if signals.code else None)
    return _code(signals.code, failure or late, server, writer)


def _check(line: CommandLine) -> None:
    if line.unknown:
        line.reparse(())
    if line.words:
        raise UsageError(_no_words(line))


async def _watch(writer: Writer) -> None:
    """Once stdin has ended, only a look at the output tells whether the client is still there."""
    while not writer.reader_is_gone():  # noqa: ASYNC110 (there is nothing to be called by)
        await asyncio.sleep(LOOK_FOR_READER)
    writer.give_up()  # which ends what runs: nobody will see it


async def _last_words(writer: Writer, limit: float | None) -> None:
    try:
        async with asyncio.timeout(limit):
            await writer.drained()
    except TimeoutError:
        pass  # whoever sent the signal will not wait for a reader that does not read


def _code(signal_code: int, failure: Failure | UsageError | None, server: Server, writer: Writer) -> int:
    if signal_code:
        stdio.reason(SIGNALS_SAID[signal_code])
        return signal_code
    if isinstance(failure, UsageError):
        stdio.wrong_usage(str(failure))
        return exits.USAGE
    if server.denied:
        stdio.reason("the first request was not hello with the token; ended")
        return exits.FAILED
    if isinstance(writer.broken, OutputFailed):
        stdio.reason(str(writer.broken))
    elif failure is not None:
        stdio.reason(failure.message)
    if failure is not None:
        return exits.code_of("error", failure)
    return exits.FAILED if writer.broken is not None else exits.DONE


def _no_words(line: CommandLine) -> str:
    return f"rpc takes no prompt on the command line ({line.words[0]!r}); send a prompt request; {HELP_HINT}"
