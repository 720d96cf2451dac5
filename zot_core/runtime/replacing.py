"""Replacing one Runtime by another: the one way for new, resumed, forked and reloaded sessions, and the end of the
last.

Asked first, built beside, the run ended, the old one told, one reference swapped, the new one told. Until the swap an
error leaves everything as it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zot_core import events
from zot_core.agent.cancel import Signal
from zot_core.events.base import Block, Gate
from zot_core.plugins.errors import WouldDeadlock
from zot_core.runtime import opening
from zot_core.runtime.retiring import NO_LIMIT, retire
from zot_core.runtime.runs import NOT_SENT, Replaced, Runs
from zot_core.session.session import Session
from zot_core.types.content import text_of
from zot_core.types.failure import UsageError
from zot_core.types.messages import CustomMessage, UserMessage
from zot_core.types.record import record

if TYPE_CHECKING:
    from zot_core.agent.loop import RunEnd
    from zot_core.app import App
    from zot_core.runtime.runtime import Runtime

IDLE_LIMIT = 4.0
"""Seconds that an aborted run has to end before zot ends without it; tools get two of them for their processes."""

STOP_GRACE = 1.5
"""Seconds that `process_stop` has at the end beyond the budget of quitting: for a TERM, a second, and a KILL."""

Reason = Literal["startup", "reload", "new", "resume", "fork"]


@record(kw_only=True)
class ReloadReport:
    """What a reload did: the plugins that are there now, and (plugin, reason) of those that could not be loaded."""

    done: bool
    loaded: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()


async def prepare(app: App, session: Session, cwd: str) -> Runtime:
    """A Runtime that nothing knows of yet."""
    # Imported here: assembly needs everything, and the App must not wait for it before options are checked.
    from zot_core.runtime.assembly import build

    runtime = await build(app, session, cwd)
    for notice in session.notices():
        runtime.note(notice, "warning")
    return runtime


async def begin(app: App, reason: str, previous_file: str | None = None) -> None:
    """Tells the session's start, and collects what plugins bring at run time. Runs that they ask for start
    afterwards."""
    runtime = app.runtime
    start: Any = reason
    if runtime.sink.wants("session_start"):
        await runtime.sink.tell(events.SessionStartEvent(reason=start, previous_session_file=previous_file))
    if runtime.has_ui:
        runtime.show_statuses(anew=reason == "startup")
    if app.options.models or runtime.settings.values.enabled_models:
        await runtime.scoping.begin()
    await discover(runtime, "reload" if reason == "reload" else "startup")
    await _check_tools(runtime, refuse=reason == "startup")
    runtime.runs.pump()


async def discover(runtime: Runtime, reason: Literal["startup", "reload"]) -> None:
    """Asks `resources_discover`; what was found is the Runtime's `resources`."""
    if runtime.host.pipeline.wants("resources_discover"):
        event = events.ResourcesDiscoverEvent(cwd=runtime.cwd, reason=reason)
        runtime.resources = tuple(await runtime.host.pipeline.gather(event))


async def _check_tools(runtime: Runtime, *, refuse: bool) -> None:
    """Whether the tools that the command line names are there, once everybody had the time to bring theirs."""
    options, toolbox = runtime.app.options, runtime.toolbox
    named = (*(options.tools or ()), *options.exclude_tools)
    known = toolbox.registry.names() if named else ()
    if any(name not in known for name in named):
        await runtime.readiness.wait()
    try:
        toolbox.check_names(named)
    except UsageError as error:
        if refuse:
            raise
        runtime.note(str(error), "warning")


async def sent(app: App, send: Callable[[Runs], Awaitable[RunEnd | None]]) -> RunEnd | None:
    """Sends to the session that is in force when its turn comes."""
    while True:
        try:
            return await send(await open_runs(app))
        except Replaced:
            continue


async def open_runs(app: App) -> Runs:
    """The runs of the session in force; while it is being replaced, those of the next, once that is there."""
    while app.runtime.runs.closed and app.lifecycle.locked():
        async with app.lifecycle:
            pass
    return app.runtime.runs


async def new(app: App) -> bool:
    """A new session, as /new has it."""
    gate = events.SessionBeforeSwitchEvent(reason="new")
    return await _replace(app, gate, "new", lambda: opening.new_session(app), app.runtime.cwd)


async def switch(app: App, path: str) -> bool:
    """Another session's file, as /resume has it."""
    from zot_core.session.find import find_session

    target = find_session(opening.session_root(app), path, cwd=app.runtime.cwd)
    if app.runtime.session.path is not None and Path(app.runtime.session.path) == target:
        raise UsageError("that session is the present one")
    gate = events.SessionBeforeSwitchEvent(reason="resume", target_session_file=str(target))
    return await _replace(app, gate, "resume", lambda: Session.open(target), None)


async def fork(app: App, entry_id: str, position: Literal["before", "at"]) -> bool:
    """A copy of the session up to an entry, as /fork has it; the text of a prompt that it was forked before is in the
    editor then, above what is typed there."""
    source = app.runtime.session
    if source.entry(entry_id) is None:
        raise UsageError(f"the session has no entry {entry_id!r}")
    gate = events.SessionBeforeForkEvent(entry_id=entry_id, position=position)
    text = forked_prompt(source, entry_id) if position == "before" else ""
    done = await _replace(app, gate, "fork", lambda: source.fork(entry_id, position), app.runtime.cwd)
    if done and text:
        ui = app.front.ui
        ui.set_editor_text("\n".join(filter(None, (text, ui.get_editor_text()))))
    return done


def forked_prompt(source: Session, entry_id: str) -> str:
    """The text of the prompt at an entry; "" for any other entry."""
    entry = source.entry(entry_id)
    message = None if entry is None else entry.message
    return text_of(message.content) if isinstance(message, UserMessage) else ""


async def reload(app: App, what: Literal["all", "extensions"]) -> ReloadReport:
    """Settings and plugins anew over the same session, or only plugins of sources (extensions) with their processes.
    A plugin that fails now is left out and reported."""
    async with app.lifecycle:
        old = app.runtime
        if not await _allowed(app, events.SessionBeforeReloadEvent()):
            return ReloadReport(done=False)
        _refuse_from_within(old)
        await old.runs.wait_for_idle()
        for name in old.host.plugins if what == "all" else old.kept:
            app.diagnostics.forget(name)  # new code: what it does wrong is news again
        if what == "all":
            app.loader.renew()
            app.auth.reload()
            app.trust_decisions.clear()
        app.diagnostics.forget_failures("" if what == "all" else "ext:")
        app.failed.clear()
        app.renewing = True
        try:
            runtime = await prepare(app, old.session, old.cwd)
        finally:
            app.renewing = False
        await _swap(app, runtime, "reload", None)
        return ReloadReport(
            done=True,
            loaded=tuple(runtime.host.plugins),
            failed=tuple((error.plugin, error.reason) for error in app.failed),
        )


async def finish(app: App, reason: Literal["quit"]) -> None:
    """The end of the last session: the run is aborted, all handlers share one budget, the session is closed."""
    runtime = app.runtime
    limit = runtime.settings.values.shutdown.quit_budget_ms / 1000 or NO_LIMIT
    try:
        runtime.runs.close()
        runtime.runs.abort("quit")
        try:
            async with asyncio.timeout(IDLE_LIMIT):
                await runtime.runs.wait_for_idle()
        except TimeoutError:
            app.note("the run did not end; something in it does not let itself be stopped", "warning")
        pipeline = runtime.host.pipeline
        if pipeline.wants("session_shutdown"):
            signal = Signal()
            await pipeline.tell(events.SessionShutdownEvent(reason=reason, signal=signal), deadline=limit)
            signal.abort("budget")
        if pipeline.wants("process_stop"):
            await pipeline.tell(events.ProcessStopEvent(reason="exit"), deadline=limit + STOP_GRACE)
        await runtime.end("the end of zot")
    finally:
        runtime.session.close()


async def _replace(app: App, gate: Gate, reason: Reason, make: Callable[[], Session], cwd: str | None) -> bool:
    async with app.lifecycle:
        if not await _allowed(app, gate):
            return False
        _refuse_from_within(app.runtime)
        session = make()
        try:
            runtime = await prepare(app, session, cwd or opening.project_dir(app, session))
        except BaseException:
            session.close()
            raise
        await _swap(app, runtime, reason, _file(session))
        return True


async def _allowed(app: App, gate: Gate) -> bool:
    sink = app.runtime.sink
    if not sink.wants(gate.hook):
        return True
    outcome = await sink.gate(gate)
    if not isinstance(outcome.stop, Block):
        return True
    app.note(outcome.stop.reason or f"refused by {outcome.plugin}", "warning")
    return False


def _refuse_from_within(runtime: Runtime) -> None:
    if runtime.runs.inside():
        raise WouldDeadlock(
            "a session cannot be replaced from within its own run; send the command as a follow-up message instead"
        )


async def _swap(app: App, runtime: Runtime, reason: Reason, target: str | None) -> None:
    old = app.runtime
    old.runs.close(replaced=True)  # what comes from here on waits for the next one
    try:
        old.runs.abort(f"the session is replaced ({reason})")
        await old.runs.wait_for_idle()
        _tell_unsent(app, old)
        what: Any = reason
        if old.sink.wants("session_shutdown"):
            signal = Signal()
            event = events.SessionShutdownEvent(reason=what, target_session_file=target, signal=signal)
            await old.host.pipeline.tell(event, budget=app.shutdown_limits())
            signal.abort("replaced")
    except BaseException:
        old.runs.reopen()
        raise
    previous = _file(old.session)
    await old.end(f"a {reason} session" if reason != "reload" else "a reload")
    _tell_unsent(app, old)  # what handlers of the old session's end sent
    if old.session is not runtime.session:
        old.session.close()
    else:
        runtime.queues.put_back("next_turn", old.queues.take_all("next_turn"))
    app.runtime = runtime
    await begin(app, reason, previous if reason in ("new", "resume", "fork") else None)
    await retire(app, old.host)
    # Handlers of the new session may have started something that the caller need not wait for.
    await asyncio.sleep(0)


def _tell_unsent(app: App, old: Runtime) -> None:
    """What a person or a plugin sent is never lost unsaid."""
    for wanted in old.runs.unsent():
        content = wanted if isinstance(wanted, tuple) else wanted.content
        what = f" (a {wanted.custom_type} message)" if isinstance(wanted, CustomMessage) else ""
        app.note(f"{NOT_SENT}{what}: {text_of(content)}", "warning")


def _file(session: Session) -> str | None:
    return None if session.path is None else str(session.path)
