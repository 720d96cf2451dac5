"""The order in which the requests of a client act: at once, or one after another; and the end of it.

Must not know what a command does: `commands.py` does. Everything here runs on the event loop.
"""

from __future__ import annotations

import asyncio
import hmac
import inspect
from collections import deque
from collections.abc import Awaitable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from zot_cli import exits
from zot_cli.modes.rpc.commands import EARLY, HANDLERS, LATER
from zot_cli.modes.rpc.prompts import Prompts
from zot_core.types.failure import UsageError
from zot_core.wire.rpc import Hello, Prompt, Request
from zot_core.wire.rpc_lines import BadRequest, decode

if TYPE_CHECKING:
    from zot_cli.modes.rpc.front import RpcFront
    from zot_core.app import App

HELD_UP = 5.0
"""Seconds that a plugin's answer to an `extension_request` holds up what follows it."""
ENDING = "zot was told to end"
NEEDS_TOKEN = "the first request has to be hello with the token of this process; zot ends"


class Server:
    """Takes lines, acts on them, responds. `begin` gives it the App; requests that came before wait for that."""

    def __init__(self, front: RpcFront, token: str = "") -> None:
        self.front = front
        self.app: App | None = None
        self.prompts = Prompts(self)
        self.denied = False
        """Whether the first line was not the hello that was asked for."""
        self.closing = False
        """Whether the loops over requests are being ended."""
        self._token = token
        self._admitted = asyncio.Event()
        self._early: list[Request] = []
        self._ordered: deque[Request] = deque()
        self._more = asyncio.Event()
        self._working: Request | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._loops: list[asyncio.Task[Any]] = []
        self._input_ended = asyncio.Event()
        self._stopping = asyncio.Event()
        self._changed = asyncio.Event()
        front.hurried = self._aborted
        front.ui.panels.generation = lambda: None if self.app is None else self.app.runtime
        front.ui.panels.on_error = self._panel_failed

    # --- what the reader brings -------------------------------------------------------------------------------------

    def line(self, line: bytes) -> None:
        """A line of stdin."""
        try:
            request = decode(line)
        except BadRequest as error:
            if self._token:
                self._deny(error.id, error.command)
            elif not self.denied:
                self.front.refuse(error.id, error.command, str(error))
            return
        if self.denied:
            return
        if self._token:
            if not isinstance(request, Hello) or not hmac.compare_digest(request.token.encode(), self._token.encode()):
                self._deny(request.id, request.type)
                return
            self._token = ""
            self._admitted.set()
        self._take(request)

    def too_long(self, limit: int) -> None:
        """A line was skipped, because it was longer than `limit` bytes."""
        if self._token:
            self._deny(None, "")
        elif not self.denied:
            self.front.refuse(None, "", f"the line was longer than {limit >> 20} MiB and was skipped")

    def input_ended(self) -> None:
        """The client has closed stdin: nobody can be asked any more, and what was asked for is finished."""
        self._input_ended.set()
        self._admitted.set()
        self.front.ui.close()

    # --- the start and the end --------------------------------------------------------------------------------------

    async def admitted(self) -> bool:
        """Waits for the hello, if a token was asked for; False when there will be none."""
        if self._token:
            await self._admitted.wait()
        return not self._token

    def begin(self, app: App) -> None:
        """The App is open: what came before acts now."""
        self.app = app
        self.front.ui.panels.adopt()
        early, self._early = self._early, []
        for request in early:
            self._act(request)
        self._loops = [
            asyncio.create_task(self._in_order(app), name="zot:rpc-requests"),
            asyncio.create_task(self.prompts.run(app), name="zot:rpc-prompts"),
        ]

    async def over(self) -> None:
        """Returns when stdin has ended or a plugin asked for the end, and all that was asked for is finished; or when
        the process is told to end."""
        app = self.app
        assert app is not None
        ends = {
            asyncio.create_task(self._finished(app, self._input_ended.wait())),
            asyncio.create_task(self._finished(app, app.asked_to_end())),
            asyncio.create_task(self._stopping.wait()),
        }
        try:
            done, _ = await asyncio.wait({*ends, *self._loops}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()  # a loop that broke says why zot ends
        finally:
            for end in ends:
                end.cancel()

    def stop(self) -> None:
        """Ends what runs: a signal came, or nobody reads any more."""
        if not self._stopping.is_set():
            self._stopping.set()
            self.front.ui.close()
            self.give_back(ENDING)
            if self.app is not None:
                self.app.abort()

    def give_back(self, why: str) -> None:
        """Refuses all requests that have not acted."""
        self.prompts.take_back(self.app)
        for request in (*self._early, *self._ordered):
            self.refuse(request, why)
        self._early.clear()
        self._ordered.clear()

    async def wound_up(self, limit: float) -> None:
        """Waits until the aborted prompt has told its end, at most `limit` seconds."""
        app = self.app
        if app is not None:
            try:
                async with asyncio.timeout(limit):
                    await self.prompts.quiet(app)
            except TimeoutError:
                pass  # closing the App says what does not end

    async def close(self) -> None:
        """Ends the loops over requests; nothing acts after this."""
        self.closing = True
        for task in (*self._loops, *self._tasks):
            task.cancel()
        if self._loops or self._tasks:
            await asyncio.wait([*self._loops, *self._tasks], timeout=1.0)
        if self._working is not None:
            self.refuse(self._working, ENDING)

    # --- responses --------------------------------------------------------------------------------------------------

    def respond(self, request: Request, data: Mapping[str, Any] | None = None) -> None:
        """The request was done."""
        self.front.respond(request.id, request.type, data, request.ignored)

    def refuse(self, request: Request, error: str) -> None:
        """The request was not done."""
        self.front.refuse(request.id, request.type, error)

    # --- the order --------------------------------------------------------------------------------------------------

    @property
    def prompt_ahead(self) -> bool:
        """Whether a prompt waits behind another request."""
        return any(isinstance(request, Prompt) for request in (self._working, *self._ordered))

    def prompts_ahead(self) -> list[Prompt]:
        """Takes the prompts away that wait behind another request."""
        taken = [request for request in self._ordered if isinstance(request, Prompt)]
        self._ordered = deque(request for request in self._ordered if not isinstance(request, Prompt))
        return taken

    def _take(self, request: Request) -> None:
        if isinstance(request, Hello) and "extension_events" in request.capabilities:
            self.front.ui.wants_events = True
        if self._stopping.is_set():
            self.refuse(request, ENDING)
        elif request.acts != "at once":
            self._ordered.append(request)
            self._more.set()
        elif self.app is None and request.type not in EARLY:
            self._early.append(request)
        else:
            self._act(request)

    def _act(self, request: Request) -> asyncio.Task[None] | None:
        """Calls what the request asks for; the task that its response waits for, if it does."""
        try:
            answer = HANDLERS[request.type](self, request)
        except Exception as error:  # of one request
            self.refuse(request, _said(error))
            return None
        if inspect.isawaitable(answer):
            # A task of its own, so that a plugin which cancels the task that it finds itself in ends nothing else.
            return self._start(self._answer(request, answer), request.type)
        if answer is not LATER:
            self.respond(request, answer)
        return None

    async def _in_order(self, app: App) -> None:
        while True:
            if not self._ordered:
                self._changed.set()
                self._more.clear()
                await self._more.wait()
                continue
            request = self._working = self._ordered.popleft()
            if request.acts == "in order, when idle":
                await self.prompts.quiet(app)
            self._working = None
            task = self._act(request)
            if task is not None:
                await asyncio.wait([task], timeout=HELD_UP if request.type == "extension_request" else None)
            self.front.ui.panels.sweep()

    async def _answer(self, request: Request, answer: Any) -> None:
        try:
            data = await answer
        except asyncio.CancelledError:
            self.refuse(request, ENDING if self.closing else "a plugin cancelled it")
            raise
        except Exception as error:  # of one request
            self.refuse(request, _said(error))
            return
        if data is not LATER:
            self.respond(request, data)
        if request.type == "command":
            self.front.ui.panels.sweep()

    def _start(self, coro: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(coro, name=f"zot:rpc:{name}")
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def run_aside(self, coro: Coroutine[Any, Any, None], name: str) -> None:
        """Runs what a request has started; the process does not end before it has."""
        self._start(coro, name)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        self._changed.set()

    async def _finished(self, app: App, begin: Awaitable[Any]) -> None:
        await begin
        while True:
            self._changed.clear()
            await self.prompts.quiet(app)
            await app.wait_for_idle()
            if self._ordered or self._working or self._tasks:
                await self._changed.wait()
            elif self.prompts.idle and app.is_idle:
                return

    # --- odds and ends ----------------------------------------------------------------------------------------------

    def _deny(self, id: Any, command: str) -> None:
        if not self.denied:
            self.denied = True
            self.front.refuse(id, command, NEEDS_TOKEN)
            self._admitted.set()

    def _aborted(self) -> bool:
        signal = None if self.app is None else self.app.runtime.runs.signal
        return self._stopping.is_set() or (signal is not None and signal.aborted)

    def _panel_failed(self, plugin: str, error: Exception) -> None:
        if self.app is not None:
            self.app.runtime.host.pipeline.broken(plugin, "panel", error)


def _said(error: Exception) -> str:
    meant = exits.failure_of(error)
    return str(meant) if isinstance(meant, UsageError) else meant.message
