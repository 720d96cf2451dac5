"""Requests to an extension and their answers: ids, deadlines, and what becomes of those that are never answered.

Two clocks: most requests have their time from when the system has taken the frame, `before_agent_start` from when it
is sent. A frame that the system does not take in that time means that nobody reads: the pipe is closed.
"""

from __future__ import annotations

import asyncio
from typing import Any, Literal, TypeVar

from zot_core.types.failure import ZotError
from zot_core.wire import frames, framing
from zot_core.wire.channel import Channel, ChannelClosed, LineTooLong

INTERCEPT_S = 5.0
COMMAND_S = 30.0
TOOL_S = 60.0

A = TypeVar("A", bound=frames.FromExtension)


class NoAnswer(ZotError):
    """There is no answer. `kind` says why, the message says it in words that follow "the extension"."""

    def __init__(self, kind: Literal["late", "gone", "malformed", "unsent"], message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Requests:
    """The requests of one process that wait for their answers."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._waiting: dict[str, tuple[type[frames.FromExtension], asyncio.Future[frames.FromExtension]]] = {}
        self._count = 0
        self.lost = ""
        """Why nothing is answered any more; empty while the process is there."""

    async def ask(
        self,
        frame: type[frames.Request],
        answer: type[A],
        seconds: float,
        *,
        with_write: bool = False,
        **fields: Any,
    ) -> A:
        """Sends a request and gives its answer. Raises NoAnswer. `with_write`: the time includes the write."""
        if self.lost:
            raise NoAnswer("gone", self.lost)
        self._count += 1
        id = str(self._count)
        line = framing.write(frame(id=id, **fields))
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[id] = (answer, future)
        try:
            begun = asyncio.get_running_loop().time()
            written = await self._write(line, seconds)
            left = seconds - (asyncio.get_running_loop().time() - begun) if with_write and not written else seconds
            async with asyncio.timeout(left):
                return await future  # type: ignore[no-any-return]
        except TimeoutError:
            raise NoAnswer("late", f"did not answer within {seconds:g} s") from None
        finally:
            del self._waiting[id]
            if future.done() and not future.cancelled():
                future.exception()  # looked at, for a caller that was cancelled at the same moment

    async def _write(self, line: bytes, seconds: float) -> bool:
        """Sends the line; whether the system took it at once. Waits until it has, at most `seconds`."""
        try:
            sending = self._channel.send(line)
        except ChannelClosed as error:
            raise NoAnswer("gone", f"cannot be reached: {error}") from None
        except LineTooLong as error:
            raise NoAnswer("unsent", f"was not asked: {error}") from None
        if sending.done:
            return True
        try:
            async with asyncio.timeout(seconds):
                await sending.wait()
        except TimeoutError:
            self._channel.close_writing(f"it has not read for {seconds:g} s")
        if self._channel.closed_because:
            raise NoAnswer("gone", f"cannot be reached: {self._channel.closed_because}")
        return False

    def answer(self, frame: Any) -> bool:
        """Takes an answer to its request; False for one that nobody waits for."""
        wanted, future = self._waiting.get(frame.id, (None, None))
        if wanted is None or future is None or future.done():
            return False
        if isinstance(frame, wanted):
            future.set_result(frame)
        else:
            future.set_exception(NoAnswer("malformed", f"answered with a `{frame.type}`, not a `{wanted.type}`"))
        return True

    def refuse(self, id: str, problem: str) -> bool:
        """Lets the request fail whose answer is malformed; False if nobody waits for it."""
        _, future = self._waiting.get(id, (None, None))
        if future is None or future.done():
            return False
        future.set_exception(NoAnswer("malformed", f"gave an answer that {problem}"))
        return True

    def fail(self, reason: str) -> None:
        """Lets all that wait fail, and all that come."""
        self.lost = reason
        for _, future in self._waiting.values():
            if not future.done():
                future.set_exception(NoAnswer("gone", reason))
