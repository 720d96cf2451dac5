"""How an extension is ended: `shutdown`, two seconds for its answer and its end, TERM, one second, KILL.

Each step is taken once, whoever asks for it: the end of the session begins, the end of the process goes on.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from zot_core.wire import frames, framing
from zot_core.wire.channel import ChannelClosed

if TYPE_CHECKING:
    from zot_plugins.extension_bridge.remote import Remote

SHUTDOWN_S = 2.0
ANNOUNCE_S = 1.9
"""How long the end of the session waits: its handlers together have two seconds, and the end of the process goes on
waiting."""


class Ending:
    """The end of one extension. `begun` when it was told, or will not be."""

    def __init__(self, remote: Remote) -> None:
        self.begun = False
        self.acked = asyncio.Event()
        self._remote = remote
        self._told: asyncio.Task[None] | None = None
        self._done: asyncio.Task[None] | None = None

    async def announce(self) -> None:
        """Tells it, and waits for its end, a little less than it has."""
        try:
            async with asyncio.timeout(ANNOUNCE_S):
                await asyncio.shield(self._tell())
        except TimeoutError:
            pass  # `finish` waits for the rest, and says so

    async def finish(self) -> None:
        """Tells it, unless it knows; ends it for good."""
        if self._done is None:
            self._done = asyncio.create_task(self._finish())
        await asyncio.shield(self._done)

    async def _finish(self) -> None:
        await asyncio.shield(self._tell())
        await self._remote.child.end()

    def _tell(self) -> asyncio.Task[None]:
        if self._told is None:
            self.begun = True
            self._told = asyncio.create_task(self._shutdown())
        return self._told

    async def _shutdown(self) -> None:
        remote, child = self._remote, self._remote.child
        if child.gone or remote.handshake.state in ("starting", "failed"):
            return  # nobody is there to be told
        try:
            child.channel.send(framing.write(frames.Shutdown()))
        except ChannelClosed:
            return
        try:
            async with asyncio.timeout(SHUTDOWN_S):
                await _first(self.acked, child.left)
                child.channel.close_writing("zot has ended it")  # for those that wait for the end of their input
                await child.left.wait()
        except TimeoutError:
            missing = "it did not end" if self.acked.is_set() else "no `shutdown_ack`"
            remote.log.say(f"{missing} within {SHUTDOWN_S:g} s of `shutdown`; it gets SIGTERM")


async def _first(*events: asyncio.Event) -> None:
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
