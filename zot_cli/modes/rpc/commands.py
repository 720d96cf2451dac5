"""What each request does, one function a command, over the App's doors.

A function answers the response's data (nothing is an empty object), `LATER` when the response comes by itself, or an
awaitable of either. What it raises is the response's error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from zot_cli.modes.rpc import looks
from zot_core._version import __version__
from zot_core.runtime.replacing import forked_prompt
from zot_core.types.failure import Failure, RunFailed, UsageError
from zot_core.types.safe_text import error_text
from zot_core.wire import rpc

if TYPE_CHECKING:
    from zot_cli.modes.rpc.server import Server
    from zot_core.app import App

F = TypeVar("F", bound=Callable[..., Any])
LATER: Final = object()
"""The answer of a command whose response comes by itself."""
HANDLERS: dict[str, Callable[[Server, Any], Any]] = {}
"""Command -> the function that does it."""
EARLY = frozenset({"ping", "abort", "ui_response", "panel_key", "panel_close"})
"""Commands that act at once even while zot is still starting."""


def _answers(model: type[rpc.Request]) -> Callable[[F], F]:
    def keep(function: F) -> F:
        HANDLERS[rpc.command_name(model)] = function
        return function

    return keep


def app_of(server: Server) -> App:
    """The App, which is open whenever a command needs it."""
    assert server.app is not None
    return server.app


# --- greetings and looks ----------------------------------------------------------------------------------------------


@_answers(rpc.Hello)
def _hello(server: Server, request: rpc.Hello) -> Any:
    return {"protocol_version": rpc.PROTOCOL_VERSION, "version": __version__, **looks.model(app_of(server))}


@_answers(rpc.Ping)
def _ping(server: Server, request: rpc.Ping) -> Any:
    return {"pong": True}


@_answers(rpc.GetState)
def _get_state(server: Server, request: rpc.GetState) -> Any:
    app, prompts = app_of(server), server.prompts
    return looks.state(app, prompts.texts, server.front.used, busy=not (prompts.idle and app.is_idle))


@_answers(rpc.GetMessages)
def _get_messages(server: Server, request: rpc.GetMessages) -> Any:
    return looks.messages(app_of(server))


@_answers(rpc.GetModels)
def _get_models(server: Server, request: rpc.GetModels) -> Any:
    return looks.models(app_of(server))


@_answers(rpc.GetCommands)
def _get_commands(server: Server, request: rpc.GetCommands) -> Any:
    return looks.commands(app_of(server))


@_answers(rpc.GetTools)
def _get_tools(server: Server, request: rpc.GetTools) -> Any:
    return looks.tools(app_of(server))


# --- prompts ----------------------------------------------------------------------------------------------------------


@_answers(rpc.Prompt)
def _prompt(server: Server, request: rpc.Prompt) -> Any:
    if request.mode != "queue" and not app_of(server).is_idle:
        return server.prompts.join(app_of(server), request, request.mode, in_order=True)
    server.prompts.add(request)
    return LATER


@_answers(rpc.Steer)
def _steer(server: Server, request: rpc.Steer) -> Any:
    return server.prompts.join(app_of(server), request, "steer")


@_answers(rpc.FollowUp)
def _follow_up(server: Server, request: rpc.FollowUp) -> Any:
    return server.prompts.join(app_of(server), request, "follow_up")


@_answers(rpc.Abort)
def _abort(server: Server, request: rpc.Abort) -> Any:
    app = server.app
    running = app is not None and not app.is_idle
    returned = server.prompts.take_back(app)
    if app is not None:
        app.abort()
    return {"aborted": running, "returned": returned}


@_answers(rpc.Compact)
async def _compact(server: Server, request: rpc.Compact) -> Any:
    """Responds when the compaction begins; how it ends is told by events."""
    app, front, begun = app_of(server), server.front, asyncio.Event()

    def on_compact() -> None:
        if not begun.is_set():
            begun.set()
            server.respond(request, {"started": True})

    front.on_compact = on_compact
    task = asyncio.create_task(app.compact(request.instructions), name="zot:rpc-compact")
    waiting = asyncio.create_task(begun.wait())
    try:
        with front.overhearing() as said:
            await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        front.on_compact = lambda: None
    if begun.is_set():
        server.run_aside(_compacted(server, task), "compact")
    elif not task.result():
        raise UsageError(_refused(said))
    return LATER


async def _compacted(server: Server, task: asyncio.Task[bool]) -> None:
    try:
        await task
    except (RunFailed, UsageError):
        pass  # told as `compact_failed`
    except Exception as error:
        server.front.fail(Failure(kind="internal", message=f"the compaction failed: {error_text(error)}"))


@_answers(rpc.Command)
async def _command(server: Server, request: rpc.Command) -> None:
    app, name = app_of(server), request.name.removeprefix("/")
    if not await app.run_command(f"/{name} {request.args}".rstrip()):
        from zot_core.runtime.expanding import listed

        if any(one.name == name for one in listed(app.runtime)):
            raise UsageError(f"/{name} is no command but the beginning of a prompt; send it with prompt")
        known = ", ".join(app.runtime.commands.names()) or "none"
        raise UsageError(f"there is no command {name!r}; known: {known}")


# --- model and session ------------------------------------------------------------------------------------------------


@_answers(rpc.SetModel)
async def _set_model(server: Server, request: rpc.SetModel) -> Any:
    choice = app_of(server).runtime.choice
    name = f"{request.provider}/{request.model}" if request.provider else request.model
    with server.front.overhearing() as said:
        if not await choice.set_model(name):
            raise UsageError(_refused(said))
    return {**looks.model(app_of(server)), "reasoning": choice.thinking}


@_answers(rpc.SetReasoning)
async def _set_reasoning(server: Server, request: rpc.SetReasoning) -> Any:
    return {"reasoning": await app_of(server).runtime.choice.set_thinking(request.level)}


@_answers(rpc.Clear)
async def _clear(server: Server, request: rpc.Clear) -> Any:
    return await _replaced(server, app_of(server).new_session())


@_answers(rpc.NewSession)
async def _new_session(server: Server, request: rpc.NewSession) -> Any:
    app = app_of(server)
    before, app.keep_sessions = app.keep_sessions, True
    try:
        return await _replaced(server, app.new_session())
    except BaseException:
        app.keep_sessions = before
        raise


@_answers(rpc.SwitchSession)
async def _switch_session(server: Server, request: rpc.SwitchSession) -> Any:
    return await _replaced(server, app_of(server).switch_session(request.path))


@_answers(rpc.Fork)
async def _fork(server: Server, request: rpc.Fork) -> Any:
    """The session object; before a prompt also that prompt's text, for the client's editor."""
    app = app_of(server)
    text = forked_prompt(app.runtime.session, request.entry_id) if request.position == "before" else ""
    answer = await _replaced(server, app.fork(request.entry_id, request.position))
    return {**answer, "editor_text": text} if text else answer


@_answers(rpc.SetSessionName)
def _set_session_name(server: Server, request: rpc.SetSessionName) -> Any:
    app_of(server).runtime.rename(request.name)
    return looks.session(app_of(server))


@_answers(rpc.GetTree)
def _get_tree(server: Server, request: rpc.GetTree) -> Any:
    raise UsageError("get_tree is not there yet")


@_answers(rpc.Navigate)
def _navigate(server: Server, request: rpc.Navigate) -> Any:
    raise UsageError("navigate is not there yet")


@_answers(rpc.Reload)
async def _reload(server: Server, request: rpc.Reload) -> Any:
    with server.front.overhearing() as said:
        report = await app_of(server).reload(request.what)
    if not report.done:
        raise UsageError(_refused(said))
    failed = [{"name": name, "reason": reason} for name, reason in report.failed]
    return {"loaded": list(report.loaded), "failed": failed}


async def _replaced(server: Server, replacing: Awaitable[bool]) -> Any:
    with server.front.overhearing() as said:
        if not await replacing:
            raise UsageError(_refused(said))
    return looks.session(app_of(server))


def _refused(said: list[str]) -> str:
    return said[-1] if said else "a plugin refused it"


# --- plugins and their dialogs ----------------------------------------------------------------------------------------


@_answers(rpc.ExtensionRequest)
async def _extension_request(server: Server, request: rpc.ExtensionRequest) -> Any:
    runtime = app_of(server).runtime
    try:
        return await runtime.rpc.call(request.name, request.data)
    except (UsageError, RunFailed):
        raise
    except Exception as error:  # the plugin's own code
        owner = runtime.rpc.owner(request.name)
        runtime.host.pipeline.broken(owner, f"rpc:{request.name}", error)
        raise UsageError(f"{owner} failed: {error_text(error)}") from error


@_answers(rpc.UiResponse)
def _ui_response(server: Server, request: rpc.UiResponse) -> Any:
    server.front.ui.answer(request)


@_answers(rpc.PanelKey)
def _panel_key(server: Server, request: rpc.PanelKey) -> Any:
    server.front.ui.panels.get(request.panel_id).key(request.key, request.text)


@_answers(rpc.PanelClose)
def _panel_close(server: Server, request: rpc.PanelClose) -> Any:
    server.front.ui.panels.dismiss(request.panel_id)
