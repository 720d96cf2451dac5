"""One extension at work, as a plugin: its frames on one side, the session's `ctx` on the other.

What it subscribes to are handlers of the plugin, so order, tracing and reload are the pipeline's. The process outlasts
sessions; each one gets its registrations anew, and what it says between two waits for the next.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine
from typing import Any

from zot_core import hookimpl
from zot_core._version import __version__
from zot_core.wire import frames, framing
from zot_core.wire.channel import ChannelClosed, LineTooLong
from zot_plugins.extension_bridge import ending, taking
from zot_plugins.extension_bridge.bundle import Bundle
from zot_plugins.extension_bridge.handshake import HELLO_S, READY_S, Handshake
from zot_plugins.extension_bridge.manifest import Manifest
from zot_plugins.extension_bridge.panels import Panels
from zot_plugins.extension_bridge.process import STATUS_S, Child
from zot_plugins.extension_bridge.registrations import Registrations
from zot_plugins.extension_bridge.requests import TOOL_S, NoAnswer, Requests
from zot_plugins.extension_bridge.status import Host, Status, host_of, status_of
from zot_plugins.extension_bridge.voice import Voice

BACKLOG = 200
"""Frames for a session that wait while there is none."""
EXCERPT = 120


class Remote(Bundle):
    """An extension whose process was started. `settled()` waits until it is ready or never will be."""

    def __init__(self, manifest: Manifest, child: Child, *, tool_timeout: float = TOOL_S) -> None:
        super().__init__(manifest)
        self.name = manifest.name
        self.child = child
        self.log = child.log
        self.tool_timeout = tool_timeout
        self.error = ""
        self.ctx: Any = None
        self.host: Host | None = None
        self.voice = Voice(f"ext:{manifest.name}", child.log)
        self.conflict, self.warn, self.noise = self.voice.conflict, self.voice.warn, self.voice.noise
        self.requests = Requests(child.channel)
        self.registrations = Registrations(self)
        self.panels = Panels(self)
        self.handshake = Handshake(self._silent, self._ready)
        self.stop = ending.Ending(self)
        self._hello: frames.Hello | None = None
        self._no_hello = ""
        self._acknowledged = False
        self._told_start = True
        self._untold = self._told_slow = False
        self._backlog: deque[frames.FromExtension] = deque()
        self._tasks: set[asyncio.Task[Any]] = set()

    # --- as a plugin -------------------------------------------------------------------------------------------------

    @hookimpl
    def session_start(self, event: Any, ctx: Any) -> None:
        """Gives it the session: what it registered, what waited, and the time that the first request has for it."""
        self.ctx = ctx
        self._told_start = False
        self.voice.begin(ctx, self.registrations.heard)
        self.host = self.host_now()
        self._acknowledge()
        self.registrations.bring(ctx)
        if not self.handshake.settled.is_set() and (left := self.handshake.left_to_wait()):
            ctx.hold_requests(self._awaited(left), left + 1.0)
        self.tell_session_start()
        while self._backlog and self.ctx is not None:
            self._handle(self._backlog.popleft())

    @hookimpl
    async def session_shutdown(self, event: Any) -> None:
        """Takes the session from it. At the end of zot it is told, and has two seconds."""
        if self._untold:
            self._tell_input_lost()
        self.panels.close_all()
        self.voice.end()
        self.ctx = None
        if event.reason == "quit":
            await self.stop.announce()

    @hookimpl
    async def process_stop(self, event: Any) -> None:
        """Ends the process and all that it started."""
        await self.stop.finish()

    # --- for those who look at it ------------------------------------------------------------------------------------

    @property
    def lost(self) -> str:
        """Why it can be asked nothing any more; empty while it can."""
        return self.requests.lost or self.child.channel.closed_because

    @property
    def version(self) -> str:
        """What it said of its version; empty before its hello."""
        return self._hello.version if self._hello else ""

    def host_now(self) -> Host | None:
        """What a `hello_ack` would say now; None before the first session."""
        return self.host if self.ctx is None else host_of(self.ctx)

    async def settled(self) -> None:
        """Returns when it is ready, or never will be."""
        await self.handshake.settled.wait()

    def status(self) -> Status:
        """How it fares now."""
        return status_of(self)

    # --- to the extension --------------------------------------------------------------------------------------------

    async def listen(self) -> None:
        """Begins to take what it says."""
        await self.child.listen(self._line, self._gone)

    def send(self, frame: frames.ToExtension) -> None:
        """Sends a frame that needs no answer. One that cannot be sent is logged; a pipe that overflows is told."""
        if self.requests.lost:
            return
        try:
            self.child.channel.send(framing.write(frame))
        except LineTooLong as error:
            self.noise(f"long {frame.type}", f"a `{frame.type}` was not sent: {error}")
        except ChannelClosed:
            self.input_lost()

    def tell_session_start(self) -> None:
        """Tells `session_start` once a session, when it is ready and wants to know."""
        if self._told_start or not self.handshake.is_ready or self.ctx is None:
            return
        if "session_start" in self.registrations.events:
            self._told_start = True
            self.send(frames.Event(event="session_start"))

    async def _awaited(self, seconds: float) -> None:
        """What the first request waits for; when that was for nothing, the person is told what the time went to."""
        try:
            async with asyncio.timeout(seconds):
                await self.settled()
        except TimeoutError:
            self._slow(f"is not ready {READY_S:g} s after its start; requests go without it until it is")

    def _slow(self, message: str) -> None:
        if not self._told_slow:
            self._told_slow = True
            self.voice.tell(f"{message}{self.see_log()}")

    # --- trouble -----------------------------------------------------------------------------------------------------

    def see_log(self) -> str:
        """Where more is to be read."""
        return f" (log: {self.log.path})"

    def no_answer(self, event: str, error: NoAnswer) -> None:
        """An event was not answered and goes on unchanged; of a process that is gone, all is said already."""
        if self.requests.lost:
            self.log.say(f"{event}: it {error}; it goes on unchanged")
            return
        self.check_input(error)
        self.voice.tell(f"no answer to {event}: it {error}; it went on unchanged{self.see_log()}")

    def misuse(self, event: str, problem: str) -> None:
        """An answer to an event has a part that cannot be used."""
        self.voice.tell(f"its answer to {event} was not used: {problem}{self.see_log()}")

    def check_input(self, error: NoAnswer) -> None:
        """After a request that could not be sent: whether any can be."""
        if error.kind == "gone" and not self.requests.lost:
            self.input_lost()

    def input_lost(self) -> None:
        """Nothing can be sent to it any more. When it has closed its input itself it may be about to end: then that is
        what is told."""
        if self.error or self.stop.begun:
            return
        self.error = self.child.channel.closed_because
        self.registrations.silence()
        if self.child.channel.closed_by_peer:
            self._untold = True
            self._background(self._tell_unless_it_ends())
        else:
            self._tell_input_lost()

    async def _tell_unless_it_ends(self) -> None:
        try:
            async with asyncio.timeout(STATUS_S):
                await self.child.left.wait()
        except TimeoutError:
            if self._untold:
                self._tell_input_lost()

    def _tell_input_lost(self) -> None:
        self._untold = False
        message = f"is told and asked nothing more, until extensions are reloaded: {self.error}"
        self.voice.tell(f"{message}{self.see_log()}", "error")

    def fail(self, problem: str) -> None:
        """It will never be ready: its process is ended, and the person is told."""
        self.error = problem
        self.requests.fail(f"could not be started: {problem}")
        self.handshake.end("failed")
        self.registrations.silence()
        self.voice.tell(f"could not be loaded: {problem}{self.see_log()}", "error")
        self._background(self.child.end())

    def _silent(self) -> None:
        self.fail(f"it did not say hello within {HELLO_S:g} s{self._no_hello}")

    def _gone(self) -> None:
        """The process or its output has ended."""
        gone, shake = self.child.gone, self.handshake
        self._untold = False
        self.requests.fail(self.requests.lost or f"is gone: {gone}")
        self.panels.close_all()
        self.registrations.silence()
        if self.stop.begun:
            shake.end("ended")
            self.log.say(f"ended: {gone}")
        elif shake.state == "failed":
            self.log.say(gone)
        elif not shake.is_ready:
            said = f": {words}" if (words := self.log.last_words) else ""
            self.fail(f"{gone} before {'it was ready' if self._hello else 'its hello'}{said}")
        else:
            self.error = gone
            shake.end("ended")
            # The number, because the same words of a later process would not be told again
            death = f"ended unexpectedly: {gone} (process {self.child.pid})"
            message = f"{death}; what it registered answers so until extensions are reloaded"
            self.voice.tell(f"{message}{self.see_log()}", "error")
        self._background(self.child.end())

    # --- from the extension ------------------------------------------------------------------------------------------

    def _line(self, line: bytes) -> None:
        try:
            self._take(framing.read(line))
        except framing.BadFrame as error:
            if not (error.id and self.requests.refuse(error.id, str(error))):
                if error.kind == "fields of hello" and self._hello is None:
                    self._no_hello = f"; a line of it {error}"
                excerpt = line[:EXCERPT].decode("utf-8", "replace")
                self.noise(error.kind, f"a line that {error}: {excerpt!r}")

    def _take(self, frame: frames.FromExtension) -> None:
        if isinstance(frame, frames.Hello):
            self._greeted(frame)
        elif self._hello is None:
            self.noise(f"early {frame.type}", f"a `{frame.type}` before `hello`")
        else:
            self.handshake.heard(isinstance(frame, frames.RegisterCommand | frames.RegisterTool | frames.Subscribe))
            if self.ctx is None and isinstance(frame, taking.FOR_SESSION):
                if len(self._backlog) < BACKLOG:
                    self._backlog.append(frame)
                else:
                    self.noise("backlog", f"more than {BACKLOG} frames while there is no session: a `{frame.type}`")
            else:
                self._handle(frame)

    def _greeted(self, frame: frames.Hello) -> None:
        if self._hello is not None:
            self.noise("second hello", "a second `hello`")
        elif self.handshake.state != "starting":
            self.noise("late hello", "a `hello` that came too late")
        elif frame.name != self.name:
            self.fail(f"it says hello as {frame.name!r}, and its manifest names it {self.name!r}")
        else:
            self._hello = frame
            self.handshake.hello()
            self._acknowledge()

    def _acknowledge(self) -> None:
        if self._hello is None or self.host is None or self._acknowledged or self.lost:
            return
        self._acknowledged = True
        folder, host = str(self.manifest.folder), self.host
        self.send(
            frames.HelloAck(
                zot_version=__version__,
                provider=host.provider,
                model=host.model,
                cwd=host.cwd,
                extension_dir=folder,
                data_dir=folder,
            )
        )

    def _handle(self, frame: frames.FromExtension) -> None:
        try:
            taking.take(self, frame)
        except Exception as error:  # a front end's, a stale session's: this frame is lost, those that follow are not
            self.voice.tell(f"a `{frame.type}` could not be done: {error or type(error).__name__}{self.see_log()}")

    def _ready(self) -> None:
        shake, known = self.handshake, self.registrations
        counted = f"{len(known.commands)} commands, {len(known.tools)} tools"
        self.log.say(f"{shake.state} after {shake.ready_s or 0:.2f} s: {counted}")
        if shake.state == "auto-ready" and not known.any:
            self._slow(f"registered nothing in {READY_S:g} s after its hello, and did not say `ready`")
        self.tell_session_start()

    def _background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
