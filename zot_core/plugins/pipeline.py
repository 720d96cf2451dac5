"""The pipeline: the only caller of event hooks. Tells Facts, folds Gates, asks Questions, one handler after another.

A handler that breaks is reported once and stays its plugin's problem; what happens then is data of the event or of the
mark. Knows no event by name but `plugin_error`, and nothing of what the events are about.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Any, TypeVar, cast

from zot_core.events.base import Answer, Block, Event, Fact, Gate, OnError, Outcome, Question
from zot_core.events.fits import fitted
from zot_core.plugins.budget import Budget, abandon, within
from zot_core.plugins.chain import Chain, Frame, Link, current_frame, links_of, shielded, touched
from zot_core.plugins.diagnostics import Diagnostics
from zot_core.plugins.errors import WrongAnswer
from zot_core.plugins.manager import Manager
from zot_core.plugins.reports import SLOW, Reports, described, in_place, plugin_error, wrong_answer
from zot_core.plugins.trace import Trace

G = TypeVar("G", bound=Gate)
CtxFor = Callable[[str], Any]
# SystemExit is a plugin's way to give up, not zot's; KeyboardInterrupt and the loop's own exits pass through.
_BROKEN = (Exception, SystemExit, asyncio.CancelledError)


class Pipeline:
    """Calls the implementations that `manager` holds. `ctx_for(plugin)` gives what its handlers receive as `ctx`."""

    def __init__(
        self,
        manager: Manager,
        place_of: Callable[[str], tuple[int, int]],
        diagnostics: Diagnostics,
        trace: Trace,
        ctx_for: CtxFor | None = None,
    ) -> None:
        self._manager = manager
        self._place_of = place_of
        self._trace = trace
        self._reports = Reports(diagnostics, trace)
        self._ctx_for: CtxFor = ctx_for or (lambda plugin: None)
        self._chains: dict[str, Chain] = {}
        self._later: deque[tuple[Fact, str]] = deque()
        self._teller: asyncio.Task[None] | None = None

    def use_ctx(self, ctx_for: CtxFor) -> None:
        """Gives handlers other contexts, from the next dispatch on."""
        self._ctx_for = ctx_for
        self.changed()

    def changed(self) -> None:
        """Says that registrations changed; dispatches that are going on keep what they began with."""
        self._chains = {}

    def links(self, hook: str) -> list[Link]:
        """The implementations of `hook` in the order in which they are called. Raises AttributeError for no hook."""
        return links_of(getattr(self._manager.hook, hook).get_hookimpls(), self._place_of)

    def wants(self, hook: str) -> bool:
        """Whether any plugin would see the event `hook`."""
        chain = self._chains.get(hook) or self._chain(hook)
        return bool(chain.handlers or chain.observers)

    def intercepts(self, hook: str) -> bool:
        """Whether any plugin may answer the event `hook`; observers may not."""
        return bool((self._chains.get(hook) or self._chain(hook)).handlers)

    async def tell(self, event: Fact, *, budget: Budget | None = None, deadline: float | None = None) -> None:
        """Tells a Fact to all, one after another; at once with a task of their own if it is not awaited.

        `budget` replaces the event's (warn, cap) per handler, in seconds. With a `deadline` all are told side by side,
        and those still busy after so many seconds are named and cancelled.
        """
        chain = self._chains.get(event.hook) or self._chain(event.hook)
        if not (chain.handlers or chain.observers):
            return
        if not event.awaited:
            self._tell_later(event)
        elif deadline is not None:
            await self._tell_together((*chain.observers, *chain.handlers), event, deadline)
        else:
            await self._tell((*chain.observers, *chain.handlers), event, budget or event.budget)

    async def gate(self, event: G) -> Outcome[G]:
        """Sends a Gate through its chain: the event as rewritten, and the stop with its plugin if one stopped it."""
        chain = self._chains.get(event.hook) or self._chain(event.hook)
        if chain.observers:
            await self._tell(chain.observers, event, event.budget)
        if not chain.handlers:
            return Outcome(event)
        with Frame(event.hook):
            return await self._fold(chain.handlers, event)

    async def ask(self, event: Question, *, ctx_for: CtxFor | None = None) -> Answer | None:
        """The first answer to a Question, or the Block of who refused it; None if nobody knew. `ctx_for` gives handlers
        other contexts for this once."""
        answers = await self._answers(event, ctx_for, first=True)
        return answers[0] if answers else None

    async def gather(self, event: Question, *, ctx_for: CtxFor | None = None) -> list[tuple[str, Any]]:
        """Every answer to a Question with the name of its plugin, in rank order."""
        return [(a.plugin, a.value) for a in await self._answers(event, ctx_for, first=False) if a.stop is None]

    def broken(self, plugin: str, hook: str, error: BaseException) -> None:
        """Reports a failure of `plugin` outside a dispatch, in a contribution say; the others are told soon."""
        if self._reports.error(plugin, hook, error) and hook != "plugin_error" and self.wants("plugin_error"):
            self._tell_later(plugin_error(plugin, hook, error), skip=plugin)

    async def drain(self) -> None:
        """Waits until Facts that are told in a task of their own were told."""
        while self._teller is not None and not self._teller.done():
            await asyncio.wait({self._teller})

    def close(self) -> None:
        """Drops Facts that wait to be told and cancels the handler that is being told one."""
        self._later.clear()
        if self._teller is not None:
            abandon((self._teller,))

    def _chain(self, hook: str) -> Chain:
        chain = Chain(self.links(hook)).bound(self._ctx_for)
        self._chains[hook] = chain
        return chain

    async def _tell(self, links: tuple[Link, ...], event: Event, budget: Budget | None) -> None:
        """Tells an event as it was sent: observers of any kind, and everyone for a Fact."""
        cancelling, trace = _cancelling(), self._trace
        shown, kept, given = shielded(event)
        with Frame(event.hook):
            for link in links:
                began = perf_counter()
                try:
                    answer = link.call(shown)
                    if answer is not None and hasattr(answer, "__await__"):
                        limited = within(answer, budget, self._reports.warner(link, budget)) if budget else answer
                        answer = await limited
                    elif perf_counter() - began > SLOW:
                        self._reports.slow(link)
                    if answer is not None or trace.everything:
                        self._reports.ignored(link, event, answer, began)
                    if kept != given:
                        self._reports.say(link, in_place(event, touched(event, shown)))
                        shown, kept, given = shielded(event)
                except _BROKEN as error:
                    await self._failed(link, error, began, cancelling)
                    shown, kept, given = shielded(event)

    async def _fold(self, links: tuple[Link, ...], event: G) -> Outcome[G]:
        cancelling, trace = _cancelling(), self._trace
        budget = event.budget
        shown, kept, given = shielded(event)
        for link in links:
            began = perf_counter()
            try:
                answer = link.call(shown)
                if answer is not None and hasattr(answer, "__await__"):
                    limited = within(answer, budget, self._reports.warner(link, budget)) if budget else answer
                    answer = await limited
                elif perf_counter() - began > SLOW:
                    self._reports.slow(link)
                if answer is None:
                    if kept != given:
                        self._reports.say(link, in_place(event, touched(event, shown)))
                        shown, kept, given = shielded(event)
                    if trace.everything:
                        self._reports.call(link, "none", began)
                elif type(answer) in event.stops:
                    self._reports.call(link, "stopped", began)
                    return Outcome(event, answer, link.owner)
                else:
                    answer = _checked(event, answer)
                    changed = tuple(n for n in event.rewritable if getattr(event, n) != getattr(answer, n))
                    self._reports.call(link, "changed" if changed else "none", began, changed)
                    if changed:
                        event = answer
                        shown, kept, given = shielded(event)
            except _BROKEN as error:
                await self._failed(link, error, began, cancelling)
                if link.strict or event.on_error is OnError.BLOCK:
                    if Block in event.stops:
                        return Outcome(event, Block(f"plugin {link.owner} failed: {described(error)}"), link.owner)
                    event = event.withheld(f"withheld: plugin {link.owner} failed")
                shown, kept, given = shielded(event)
        return Outcome(event)

    async def _answers(self, event: Question, ctx_for: CtxFor | None, *, first: bool) -> list[Answer]:
        chain = self._chains.get(event.hook) or self._chain(event.hook)
        if ctx_for is not None:
            chain = chain.bound(ctx_for)
        if chain.observers:
            await self._tell(chain.observers, event, None)
        answers: list[Answer] = []
        with Frame(event.hook):
            for link in chain.handlers:
                answer = await self._ask(link, event)
                if answer is not None:
                    answers.append(answer)
                    if first or answer.stop is not None:
                        break
        return answers

    async def _ask(self, link: Link, event: Question) -> Answer | None:
        cancelling = _cancelling()
        began = perf_counter()
        try:
            value = link.call(shielded(event)[0])
            if value is not None and hasattr(value, "__await__"):
                value = await value
            elif perf_counter() - began > SLOW:
                self._reports.slow(link)
            if value is None:
                self._reports.call(link, "none", began)
                return None
            if type(value) in event.stops:
                self._reports.call(link, "stopped", began)
                return Answer(stop=value, plugin=link.owner)
            if not isinstance(value, event.answer):
                raise WrongAnswer(wrong_answer(event, value))
        except _BROKEN as error:
            await self._failed(link, error, began, cancelling)
            if (link.strict or event.on_error is OnError.BLOCK) and Block in event.stops:
                return Answer(stop=Block(f"plugin {link.owner} failed: {described(error)}"), plugin=link.owner)
            return None
        self._reports.call(link, "answered", began)
        return Answer(value, plugin=link.owner)

    async def _tell_together(self, links: tuple[Link, ...], event: Fact, deadline: float) -> None:
        tasks = {asyncio.create_task(self._tell((link,), event, None)): link for link in links}
        try:
            _, late = await asyncio.wait(tasks, timeout=deadline)
        except asyncio.CancelledError:
            abandon(tasks)
            raise
        for task in late:
            self._reports.say(tasks[task], f"still running after {deadline:g} s; it was cancelled")
        abandon(late)

    def _tell_later(self, event: Fact, skip: str = "") -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return  # nothing runs yet, so nobody could be told; the diagnostic is kept
        self._later.append((event, skip))
        if self._teller is None or self._teller.done():
            self._teller = loop.create_task(self._tell_waiting(), name="zot-facts")

    async def _tell_waiting(self) -> None:
        current_frame.set(None)  # this task outlives the dispatch that happened to start it
        while self._later:
            event, skip = self._later.popleft()
            chain = self._chain(event.hook)
            links = tuple(link for link in (*chain.observers, *chain.handlers) if link.owner != skip)
            await self._tell(links, event, event.budget)

    async def _failed(self, link: Link, error: BaseException, began: float, cancelling: int) -> None:
        """Reports a broken handler; raises again what was meant for the task and not made by the handler."""
        if isinstance(error, asyncio.CancelledError) and _cancelling() > cancelling:
            raise error
        hook = link.mark.hook
        self._reports.call(link, "error", began, error=described(error))
        if self._reports.error(link.owner, hook, error) and hook != "plugin_error" and self.wants("plugin_error"):
            chain = self._chain("plugin_error")
            others = tuple(other for other in (*chain.observers, *chain.handlers) if other.owner != link.owner)
            await self._tell(others, plugin_error(link.owner, hook, error), None)


def _checked(event: G, answer: Any) -> G:
    """The answer as it may take the event's place. Raises WrongAnswer."""
    if type(answer) is not type(event):
        raise WrongAnswer(wrong_answer(event, answer))
    answer, misfit = fitted(event, answer)
    if problem := misfit or event.check(answer):
        raise WrongAnswer(problem)
    return cast(G, answer)


def _cancelling() -> int:
    task = asyncio.current_task()
    return task.cancelling() if task is not None else 0
