"""The prompts of RPC: one runs, the others wait in order; steers and follow-ups join the one that runs.

Knows the App's doors for prompts. What it answers to requests goes through the server's front.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from zot_cli import exits
from zot_core.runtime.runs import Replaced
from zot_core.types.content import Image, text_of
from zot_core.types.failure import Failure, RunFailed, StopReason, UsageError
from zot_core.types.messages import UserMessage

if TYPE_CHECKING:
    from zot_cli.modes.rpc.server import Server
    from zot_core.agent.queues import Lane
    from zot_core.app import App
    from zot_core.wire.rpc import FollowUp, Prompt, Steer

    Said = Prompt | Steer | FollowUp

Delivery = Literal["steer", "follow_up"]
NOT_RUN = "it was not run, because of an abort"


class Prompts:
    """The queue of prompts of one client."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._waiting: deque[tuple[Said, bool]] = deque()
        self._joining: dict[asyncio.Task[Any], tuple[Said, Delivery, bool]] = {}
        self._active: Said | None = None
        self._moved = asyncio.Event()

    @property
    def idle(self) -> bool:
        """Whether no prompt runs or waits."""
        return self._active is None and not self._waiting

    @property
    def texts(self) -> list[str]:
        """What waits, in order."""
        return [said.message for said, _ in self._waiting]

    def add(self, said: Said, answered: bool = False) -> None:
        """A prompt that runs when its turn comes. Its request is answered then, unless it was `answered` already."""
        self._waiting.append((said, answered))
        self._move()

    async def run(self, app: App) -> None:
        """Runs what waits, one after another, for ever."""
        while True:
            if not self._waiting:
                await self._moved.wait()
                continue
            first = self._waiting[0]
            await _ready(app, first[0].message)
            # Nothing below waits before the run has its signal: an abort finds either a prompt that waits or a run.
            if self._waiting and self._waiting[0] is first and app.is_idle and not app.lifecycle.locked():
                said, answered = self._waiting.popleft()
                self._active = said
                try:
                    await self._one(app, said, answered)
                finally:
                    self._active = None
                    self._move()

    async def quiet(self, app: App) -> None:
        """Returns when nothing runs, no prompt waits, and no message is about to join."""
        while True:
            if not self.idle or self._about_to_join():
                await self._moved.wait()
            elif not app.is_idle:
                await app.wait_for_idle()
            else:
                return

    def join(self, app: App, said: Said, delivery: Delivery, *, in_order: bool = False) -> Any:
        """Lets a message join the run; without one, and without a prompt before it, it is a prompt of its own. Answers
        the data of the response, now or later. `in_order` says that no prompt can be before it any more."""
        if app.is_idle and self.idle and (in_order or not self._server.prompt_ahead):
            self.add(said, answered=True)
            return {"queued": True}
        # Known from now on, not from its first step on: an abort may come before that.
        task = asyncio.create_task(self._joined(app, said, delivery, in_order), name="zot:rpc-join")
        self._joining[task] = (said, delivery, in_order)
        task.add_done_callback(self._has_joined)
        return _unless_taken_back(task)

    def take_back(self, app: App | None) -> list[dict[str, Any]]:
        """All that waits and was not run; their requests are told that it will not be."""
        returned = []
        if app is not None and self._active is not None and app.runtime.runs.prompting:
            app.runtime.queues.take_all("opening")
            returned.append(_row("prompt", self._active.message, self._active.pictures(), self._active.id))
        for said, answered in [*self._waiting, *((said, False) for said in self._server.prompts_ahead())]:
            returned.append(_row("prompt", said.message, said.pictures(), said.id))
            if not answered:
                self._server.refuse(said, NOT_RUN)
        self._waiting.clear()
        for task, (said, delivery, _) in list(self._joining.items()):
            returned.append(_row(delivery, said.message, said.pictures(), said.id))
            task.cancel()
        if app is not None:
            returned += _from_queues(app)
        self._move()
        return returned

    async def _one(self, app: App, said: Said, answered: bool) -> None:
        if not answered:
            self._server.respond(said, {"started": True})
        self._server.front.begin()
        self._move_soon()
        stop: StopReason = "end_turn"
        failure: Failure | None = None
        try:
            end = await app.prompt(said.message, said.pictures(), "rpc")
            if end is not None:
                stop, failure = end.stop, end.failure
        except asyncio.CancelledError:
            stop = "aborted"
            if self._server.closing:
                raise
            task = asyncio.current_task()
            assert task is not None
            task.uncancel()  # a plugin cancelled the task that it found itself in: an abort, and not of what follows
        except Exception as error:  # one prompt that failed is not the end of the process
            meant = exits.failure_of(error)
            stop = "error"
            failure = Failure(kind="bad_request", message=str(meant)) if isinstance(meant, UsageError) else meant
        finally:
            self._server.front.finish(stop, failure)

    async def _joined(self, app: App, said: Said, delivery: Delivery, in_order: bool) -> dict[str, Any]:
        behind = False
        while True:
            if _is_ending(app):
                await self._over(app)
            elif app.is_idle and (not self.idle or (self._server.prompt_ahead and not in_order)):
                if self.idle and not behind:
                    behind = True
                    self._move()  # what is before that prompt does not wait for this message
                await self._moved.wait()  # a prompt that came before it is about to start
            elif app.is_idle:
                self.add(said, answered=True)
                return {"queued": True}
            else:
                try:
                    end = await app.runtime.runs.queue(said.message, said.pictures(), "rpc", delivery)
                    break
                except Replaced:
                    pass  # it belongs to the next session
        if end is not None and end.stop == "blocked" and not end.messages:
            raise RunFailed(end.failure or Failure(kind="blocked", message="a plugin refused it"))
        return {"queued": True}

    def _about_to_join(self) -> bool:
        """Whether a message that came is on its way into a run, and waits for no prompt behind another request."""
        ahead = self._server.prompt_ahead
        return any(in_order or not ahead for _, _, in_order in self._joining.values())

    def _has_joined(self, task: asyncio.Task[Any]) -> None:
        del self._joining[task]
        self._move()

    async def _over(self, app: App) -> None:
        """Returns when the run that was aborted is over: nothing joins it any more."""
        ends = {asyncio.ensure_future(self._moved.wait()), asyncio.ensure_future(app.wait_for_idle())}
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in ends:
                end.cancel()

    def _move(self) -> None:
        """Wakes everybody who waits for something to change."""
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    def _move_soon(self) -> None:
        # When the prompt has taken its first step, so that those who are woken find its run.
        asyncio.get_running_loop().call_soon(self._move)


def _is_ending(app: App) -> bool:
    runs = app.runtime.runs
    return not runs.idle and (runs.closed or (runs.signal is not None and runs.signal.aborted))


async def _unless_taken_back(task: asyncio.Task[dict[str, Any]]) -> dict[str, Any]:
    try:
        return await task
    except asyncio.CancelledError:
        task.cancel()
        raise UsageError(NOT_RUN) from None


async def _ready(app: App, text: str) -> None:
    """Returns when a prompt would start at once."""
    readiness = app.runtime.readiness
    if text.startswith("/") and not readiness.settled:
        await readiness.wait()  # its command may still be on its way
    if app.lifecycle.locked():
        async with app.lifecycle:  # a command is replacing the session
            pass
    while not app.is_idle:
        await app.wait_for_idle()


def _from_queues(app: App) -> list[dict[str, Any]]:
    """What waits to join the run; what a plugin put there joins the next prompt instead."""
    queues = app.runtime.queues
    returned = []
    lanes: tuple[Lane, ...] = ("opening", "steer", "follow_up")
    for lane in lanes:
        for message in queues.take_all(lane):
            if isinstance(message, UserMessage):
                pictures = tuple(block for block in message.content if isinstance(block, Image))
                kind = "follow_up" if lane == "opening" else lane  # one that was about to have its own run
                returned.append(_row(kind, text_of(message.content), pictures, None))
            else:
                queues.put("next_turn", message)
    return returned


def _row(kind: str, message: str, pictures: Sequence[Image], id: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": kind, "message": message}
    if id is not None:
        row["id"] = id
    if pictures:
        row["images"] = [{"mime_type": one.mime_type, "data": one.data} for one in pictures]
    return row
