"""Runs of one session: the agent's door for prompts, deliveries and requests of plugins; one run at a time.

Must not know how a run goes (the loop does) nor who asked (a person, a program, a plugin).
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

from zot_core.agent.cancel import Aborted, Signal, interruptible
from zot_core.agent.loop import RunEnd, run
from zot_core.agent.queues import Lane, Queued
from zot_core.events.base import Block, Handled
from zot_core.types.content import Image, Text, UserContent, text_of
from zot_core.types.failure import Failure
from zot_core.types.messages import CustomMessage, UserMessage

if TYPE_CHECKING:
    from zot_core.ctx.protocols import DeliverAs
    from zot_core.runtime.runtime import Runtime

T = TypeVar("T")
Trigger = Literal["prompt", "delivery", "extension"]
Wanted = UserMessage | CustomMessage | tuple[UserContent, ...]
NOT_SENT = "not sent, because the session is replaced"
UNSENT = RunEnd(stop="blocked", failure=Failure(kind="blocked", message=NOT_SENT))
"""The end of a prompt that was about to run, or to join a run, when the session was replaced."""
_INSIDE: contextvars.ContextVar[bool] = contextvars.ContextVar("zot_inside_run", default=False)


class Replaced(Exception):
    """The session was replaced before a prompt had its turn: it belongs to the next one."""


class Runs:
    """Starts, queues and aborts the runs of one Runtime.

    What handlers ask for while a dispatch goes on is kept and started by `pump`, which the sink calls after the
    dispatch.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._lock = asyncio.Lock()
        self._requests: list[tuple[Wanted, Trigger]] = []
        self._unsent: list[Wanted] = []
        self._replaced = False
        self._pumping: asyncio.Task[None] | None = None
        self.signal: Signal | None = None
        self.last: RunEnd | None = None
        """How the last run of this session ended."""
        self._closed = False
        self._typed = False
        self._admitting = False
        self._unsaid: tuple[Queued, ...] = ()

    @property
    def prompting(self) -> bool:
        """Whether a prompt that somebody sent is about to run, and no record holds it yet."""
        return self._typed and (self._admitting or bool(self._runtime.queues.opening))

    @property
    def closed(self) -> bool:
        """Whether nothing starts or joins here any more."""
        return self._closed

    @property
    def idle(self) -> bool:
        """Whether nothing runs and nothing that was asked for waits to run."""
        return not self._lock.locked() and not self._requests

    def inside(self) -> bool:
        """Whether the caller is itself part of a run."""
        return _INSIDE.get()

    async def prompt(
        self,
        text: str,
        images: Sequence[Image] = (),
        source: Literal["interactive", "rpc", "extension"] = "interactive",
        on_start: asyncio.Event | None = None,
    ) -> RunEnd | None:
        """Runs a prompt to its end, after what runs already; None when a plugin dealt with it itself.

        Raises Replaced when another session is in force before its turn comes. One that was about to begin and did not,
        for the same reason, ends as `UNSENT`: its text is the caller's to keep.
        """
        async with self._lock:
            if self._closed:
                if self._replaced:
                    raise Replaced
                return RunEnd(stop="aborted")
            if on_start is not None:
                on_start.set()
            # From here on an abort counts, even while `input` is being asked.
            self.signal = Signal()
            self._typed = self._admitting = True
            try:
                with interruptible(self.signal):
                    joined = await self._admit(text, images, source, None)
                if not isinstance(joined, UserMessage):
                    return joined
                end = await self._run_all([joined], "prompt")
                return self._not_sent() if end.stop == "aborted" and not end.messages else end
            except Aborted:
                return self._not_sent()
            finally:
                self.signal = None
                self._typed = self._admitting = False

    async def again(self) -> RunEnd:
        """A run without a new message, after what runs already."""
        async with self._lock:
            return await self._run_all([], "prompt")

    async def exclusive(self, work: Callable[[Signal], Awaitable[T]]) -> T:
        """What `work` answers, done while nothing else runs; an abort reaches it by its signal."""
        async with self._lock:
            signal = self.signal = Signal()
            try:
                return await work(signal)
            finally:
                self.signal = None

    async def queue(
        self,
        text: str,
        images: Sequence[Image],
        source: Literal["interactive", "rpc", "extension"],
        delivery: Literal["steer", "follow_up"],
    ) -> RunEnd | None:
        """Lets a prompt join the run that goes on; with none going on it is a prompt of its own, and ends like one."""
        if self._closed or not self._lock.locked():
            return await self.prompt(text, images, source)
        joined = await self._admit(text, images, source, delivery)
        if self._closed and isinstance(joined, UserMessage):
            return self._not_sent()  # the run that it was to join is over
        if isinstance(joined, UserMessage):
            self.deliver(joined, delivery, trigger_turn=True)
            return None
        return joined

    def deliver(self, message: UserMessage | CustomMessage, deliver_as: DeliverAs, *, trigger_turn: bool) -> None:
        """Puts a message where `deliver_as` says; when idle it starts a run, if it may, or waits for the next
        prompt."""
        queues = self._runtime.queues
        if self._closed and (trigger_turn or isinstance(message, UserMessage)):
            self._unsent.append(message)
        elif deliver_as == "next_turn":
            queues.put("next_turn", message)
        elif self._lock.locked():
            queues.put(deliver_as, message)
        elif trigger_turn:
            self._requests.append((message, "extension"))
            self.pump()
        else:
            queues.put("next_turn", message)

    def request_prompt(
        self, content: tuple[UserContent, ...], deliver_as: Literal["steer", "follow_up"] | None
    ) -> None:
        """A plugin's user message that is looked at as if it had been typed: commands, then `input`. `steer` joins the
        run that goes on; anything else, and a command, has its turn when nothing runs."""
        text = text_of(content)
        if deliver_as == "steer" and self._lock.locked() and not self._runtime.app.is_command(text):
            images = [block for block in content if isinstance(block, Image)]
            self._runtime.create_task("core", self.queue(text, images, "extension", "steer"), "steering message")
            return
        self._requests.append((content, "prompt"))
        self.pump()

    def close(self, *, replaced: bool = False) -> None:
        """Lets nothing start any more; what plugins asked for and did not get yet is `unsent`. `replaced` says that
        prompts may wait for another session."""
        self._closed, self._replaced = True, replaced
        self._drop_requests()

    def reopen(self) -> None:
        """The session is not replaced after all."""
        self._closed = self._replaced = False

    def unsent(self) -> tuple[Wanted, ...]:
        """Takes away what will not be sent in this session: queued messages, and what plugins asked for."""
        taken = (*self._runtime.queues.give_back(), *self._unsent)
        self._unsent.clear()
        return taken

    def abort(self, reason: str = "user") -> None:
        """Ends the run that goes on; what is queued stays where it is."""
        if self.signal is not None:
            self.signal.abort(reason)

    async def wait_for_idle(self) -> None:
        """Returns when nothing runs and nothing that was asked for is left to run."""
        while not self.idle:
            async with self._lock:
                pass
            if self._pumping is not None:
                await asyncio.wait([self._pumping])
            elif self._requests:
                await asyncio.sleep(0.005)  # asked for within a dispatch that goes on; its end starts them

    def pump(self) -> None:
        """Starts what was asked for, unless a dispatch or a run goes on: both come here when they are over."""
        if self._closed:
            self._drop_requests()
        if self._requests and self._pumping is None and not self._runtime.sink.dispatching:
            self._pumping = self._runtime.app.create_task(self._drain(), "zot:requested-run")

    def _drop_requests(self) -> None:
        self._unsent += [wanted for wanted, _ in self._requests]
        self._requests.clear()

    def _not_sent(self) -> RunEnd:
        """The end of a prompt of which nothing is in the session."""
        return UNSENT if self._replaced else RunEnd(stop="aborted")

    async def _drain(self) -> None:
        try:
            while self._requests:
                async with self._lock:
                    # Not awaited here: a command may replace the session, and that waits until nothing runs.
                    while self._requests and self._start_command(self._requests[0][0]):
                        del self._requests[0]
                    if self._requests:
                        await self._run_requested()
        finally:
            self._pumping = None

    def _start_command(self, wanted: Wanted) -> bool:
        if not isinstance(wanted, tuple):
            return False
        images = [block for block in wanted if isinstance(block, Image)]
        return self._runtime.app.start_command(text_of(wanted), images)

    async def _run_requested(self) -> None:
        wanted, trigger = self._requests.pop(0)
        if not isinstance(wanted, tuple):
            await self._run_all([wanted], trigger)
            return
        images = [block for block in wanted if isinstance(block, Image)]
        joined = await self._admit(text_of(wanted), images, "extension", None)
        if isinstance(joined, UserMessage):
            await self._run_all([joined], "prompt")

    async def _admit(
        self,
        text: str,
        images: Sequence[Image],
        source: Literal["interactive", "rpc", "extension"],
        delivery: Literal["steer", "follow_up"] | None,
    ) -> UserMessage | RunEnd | None:
        """The message that `input` makes of a prompt; its end if it was blocked, None if it was handled."""
        sink, typed = self._runtime.sink, text
        if sink.wants("input"):
            from zot_core.events.input import InputEvent

            event = InputEvent(text=text, images=tuple(images), source=source, delivery=delivery)
            outcome = await sink.gate(event)
            if isinstance(outcome.stop, Handled):
                return None
            if isinstance(outcome.stop, Block):
                reason = outcome.stop.reason or f"refused by {outcome.plugin}"
                return RunEnd(stop="blocked", failure=Failure(kind="blocked", message=reason))
            text, images = outcome.event.text, outcome.event.images
        if text.startswith("/"):
            from zot_core.runtime.expanding import expanded

            text = await expanded(self._runtime, text, typed)
        blocks: tuple[UserContent, ...] = (Text(text),) if text else ()
        return UserMessage(content=(*blocks, *images))

    async def _run_all(self, messages: list[UserMessage | CustomMessage], trigger: Trigger) -> RunEnd:
        """A run, and one more for what was queued too late to join it, by a handler of `agent_settled` say."""
        typed, queues = self._typed, self._runtime.queues
        end = await self._run(messages, trigger)
        if self._closed and not typed:
            self._unsent += self._unsaid  # nobody waits for its end
        while queues and end.failure is None and end.stop != "aborted":
            lane: Lane = "steer" if queues.steer else "follow_up"
            taken = queues.take_all("steer") or (queues.take("follow_up"),)
            end = await self._run([message for message in taken if message is not None], "extension")
            queues.put_back(lane, self._unsaid)
        return end

    async def _run(self, messages: list[UserMessage | CustomMessage], trigger: Trigger) -> RunEnd:
        runtime = self._runtime
        signal = self.signal = self.signal or Signal()
        token = _INSIDE.set(True)
        runtime.queues.opening.extend(messages)
        self._typed, self._admitting = self._typed and self._admitting, False
        try:
            await runtime.readiness.wait(signal)
            runtime.turns.refresh_prompt()
            self.last = await run(
                state=runtime.state,
                config=runtime.turns.config,
                sink=runtime.sink,
                queues=runtime.queues,
                signal=signal,
                trigger=trigger,
            )
            return self.last
        finally:
            _INSIDE.reset(token)
            self._unsaid = runtime.queues.take_all("opening")
            try:
                await runtime.sink.synced()
            finally:
                self.signal = None  # only now: until here it can be seen that an aborted run takes nothing more
