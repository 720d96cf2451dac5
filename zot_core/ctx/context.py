"""What handlers, tools and commands receive, over one Runtime and in one plugin's name.

Plain data may be read for ever; everything else of a replaced session raises StaleContextError.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zot_core.agent.cancel import Signal
from zot_core.ctx.errors import StreamingError
from zot_core.ctx.facades import (
    BusFacade,
    CommandsFacade,
    CredentialsFacade,
    ModelsFacade,
    RpcFacade,
    SessionView,
    ToolsFacade,
)
from zot_core.ctx.plugin_ui import PluginUi
from zot_core.plugins.diagnostics import Diagnostic
from zot_core.plugins.errors import WouldDeadlock
from zot_core.types.content import Image, UserContent, as_content
from zot_core.types.messages import CustomMessage, UserMessage
from zot_core.types.specs import resolve

if TYPE_CHECKING:
    from zot_core.compaction.estimate import ContextUsage
    from zot_core.config.editable import EditableSetting
    from zot_core.ctx.protocols import Credentials, DeliverAs, Ui
    from zot_core.models.scope import ScopedModel
    from zot_core.plugins.diagnostics import Diagnostics
    from zot_core.plugins.host import LoadedPlugin
    from zot_core.runtime.replacing import ReloadReport
    from zot_core.runtime.runtime import Runtime
    from zot_core.toolkit.process import ProcessGroups
    from zot_core.types.specs import FilesystemPolicy, ResourcePath, ToolResult

WithSession = Callable[["CommandCtx"], Awaitable[None]]
Content = str | Sequence[UserContent]


class PluginContext:
    """`ctx` of event handlers. One per plugin and session."""

    def __init__(self, runtime: Runtime, plugin: str) -> None:
        self._runtime = runtime
        self.plugin = plugin
        self.cwd = Path(runtime.cwd)
        self.mode = runtime.mode
        self.has_ui = runtime.has_ui
        self.log = logging.getLogger(f"zot.plugin.{plugin}")
        self.settings: Mapping[str, Any] = runtime.plugin_settings(plugin)
        self.home = runtime.app.paths.home

    @cached_property
    def ui(self) -> Ui:
        """Talking to the person."""
        return PluginUi(self._live, self.plugin)

    @cached_property
    def session(self) -> SessionView:
        """The session, for reading."""
        return SessionView(self._live)

    @cached_property
    def tools(self) -> ToolsFacade:
        """The session's tools."""
        return ToolsFacade(self._live, self.plugin)

    @cached_property
    def commands(self) -> CommandsFacade:
        """The session's slash commands."""
        return CommandsFacade(self._live, self.plugin)

    @cached_property
    def models(self) -> ModelsFacade:
        """The catalog, the choice, and model calls of a plugin's own."""
        return ModelsFacade(self._live, self.plugin)

    @property
    def scoped_models(self) -> Sequence[ScopedModel]:
        """The models that `--models` or the setting `enabled_models` name, as far as they can be used; resolved at the
        session's start. Empty means every model that can be used."""
        return self._live().scoping.models

    @cached_property
    def credentials(self) -> Credentials:
        """The doors to the person's keys and logins."""
        return CredentialsFacade(self._live)

    @cached_property
    def bus(self) -> BusFacade:
        """Channels between plugins."""
        return BusFacade(self._live, self.plugin)

    @cached_property
    def rpc(self) -> RpcFacade:
        """Requests of embedding programs, and events for them."""
        return RpcFacade(self._live, self.plugin)

    @property
    def diagnostics(self) -> Diagnostics:
        """What was said about plugins in this process, and a way to hear of more."""
        return self._live().host.diagnostics

    def _live(self) -> Runtime:
        return self._runtime.live_for(self.plugin)

    @property
    def signal(self) -> Signal | None:
        """The signal of the run that goes on; None while nothing runs."""
        return self._live().runs.signal

    def on(self, hook: str, handler: Callable[..., Any], **options: Any) -> Callable[[], None]:
        """Adds a handler of this plugin from the next dispatch on; the answer takes it away.

        Takes the options of `hookimpl`. Raises HookError for a name or a signature that no event has.
        """
        return self._live().host.on(self.plugin, hook, handler, **options)

    def on_user_activity(self, listener: Callable[[str], Any]) -> Callable[[], None]:
        """Tells `listener` what the person does; see `zot_core.ctx.protocols.Context.on_user_activity`."""
        return self._live().activity.on(self.plugin, "user_activity", listener)

    def is_idle(self) -> bool:
        """Whether nothing runs and nothing is about to."""
        return self._live().runs.idle

    def has_pending_messages(self) -> bool:
        """Whether messages wait to join the run."""
        queues = self._live().queues
        return bool(queues) or bool(queues.next_turn)

    def abort(self) -> None:
        """Ends the run that goes on, as the person's Esc does."""
        self._live().runs.abort(f"aborted by {self.plugin}")

    def shutdown(self) -> None:
        """Ends zot once nothing runs; see `zot_core.ctx.protocols.Context.shutdown`."""
        self._live().app.shutdown()

    def permission_preset(self) -> str | None:
        """What tools may do now; see `zot_core.ctx.protocols.Context.permission_preset`."""
        return self._live().permission_preset()

    def is_project_trusted(self) -> bool:
        """Whether the project may bring plugins and settings, decisions for this run alone included."""
        return self._live().trusted

    def system_prompt(self) -> str:
        """The system prompt as prepared so far; what `context` or the payload hooks change is not in it."""
        return self._live().current_system_prompt()

    def all_settings(self) -> list[tuple[str, Any, str]]:
        """Every setting as (key, value, where it comes from); what looks like a secret is hidden."""
        return self._live().settings.rows()

    def editable_settings(self) -> list[EditableSetting]:
        """The settings that can be changed by choosing, as the files say them now."""
        runtime = self._live()
        project = runtime.cwd if runtime.trusted else None
        read = resolve("zot_core.config.editable:editable")  # reads sources and plugins' models: only for a dialog
        found: list[EditableSetting] = read(runtime.app.paths, project, runtime.contributed("settings"))
        return found

    def plugins(self) -> Sequence[LoadedPlugin]:
        """What is loaded, in the order of rank."""
        return sorted(self._live().host.plugins.values(), key=lambda row: (row.tier, row.position, row.name))

    def flag(self, name: str) -> Any:
        """The value of a flag that a plugin contributed; None when it was not given and has no default."""
        return self._live().flags.get(name)

    def resources(self, kind: Literal["skills", "prompts", "themes"]) -> list[tuple[str, ResourcePath]]:
        """Where plugins have skills, prompts or themes: (plugin, absolute path), as contributed or brought by
        `resources_discover`."""
        return self._live().resource_paths(kind)

    def report(self, message: str, level: Literal["info", "warning", "error"] = "warning") -> None:
        """Tells the person, once, what is wrong with something that is this plugin's; a diagnostic."""
        self._live().host.diagnostics.report(Diagnostic(level, self.plugin, "", message))

    def context_usage(self) -> ContextUsage:
        """How much of the model's window the conversation takes: what the provider counted last, and an estimate of
        what came after."""
        return self._live().context_usage()

    def compact(
        self,
        instructions: str = "",
        *,
        on_complete: Callable[[bool], Any] | None = None,
        on_error: Callable[[Exception], Any] | None = None,
    ) -> None:
        """Compacts once nothing runs, without waiting for it. `on_complete` gets False when it was refused or aborted,
        `on_error` what went wrong; without it the person is told."""
        runtime = self._live()

        async def work() -> None:
            try:
                done = await runtime.compactor.run("manual", instructions)
            except Exception as error:
                if on_error is None:
                    raise
                on_error(error)
                return
            if on_complete is not None:
                on_complete(done)

        runtime.app.create_task(work(), f"the compaction that {self.plugin} asked for")

    async def compact_now(self, instructions: str = "", *, reason: Literal["manual", "threshold"] = "manual") -> bool:
        """Compacts and answers whether it did: from a handler of `turn_end`, `agent_start` or `agent_before_settle` at
        once, outside of a run when nothing runs. Raises WouldDeadlock elsewhere, UsageError when there is nothing to
        compact, RunFailed when the summary failed."""
        return await self._live().compactor.run(reason, instructions)

    def hold_requests(self, until: Awaitable[object], timeout: float) -> None:
        """Lets the session's first model call wait for `until`, at most `timeout` seconds from now: for a plugin whose
        tools or commands are still on their way. What comes later joins the next call."""
        self._live().readiness.add(until, timeout)

    def create_task(self, coro: Coroutine[Any, Any, Any], name: str = "") -> asyncio.Task[Any]:
        """Runs `coro` beside the session; it is cancelled when the session ends, and an error is reported by name."""
        return self._live().create_task(self.plugin, coro, name)

    def send_message(
        self,
        custom_type: str,
        content: Content,
        *,
        display: bool = True,
        details: Mapping[str, Any] | None = None,
        deliver_as: DeliverAs = "steer",
        trigger_turn: bool = False,
    ) -> None:
        """Adds a message that the model reads as the user's.

        While a run goes on it joins as `deliver_as` says. When idle it is kept for the next prompt, or starts a run
        at once with `trigger_turn` (not for `next_turn`); asked for from a handler, the run starts after the dispatch.
        """
        message = CustomMessage(
            custom_type=custom_type, content=as_content(_listed(content)), display=display, details=details
        )
        self._live().runs.deliver(message, deliver_as, trigger_turn=trigger_turn)

    def send_user_message(
        self,
        content: Content,
        *,
        deliver_as: Literal["steer", "follow_up"] | None = None,
        expand: bool = False,
    ) -> None:
        """Sends a message as if the person had typed it; always leads to a model call.

        With `expand`, slash commands are looked up too. Raises StreamingError when a run goes on and `deliver_as` is
        None.
        """
        runtime = self._live()
        if not runtime.runs.idle and deliver_as is None:
            raise StreamingError('a run goes on: say deliver_as="steer" or deliver_as="follow_up"')
        blocks = as_content(_listed(content))
        if expand:
            runtime.runs.request_prompt(blocks, deliver_as)
        else:
            runtime.runs.deliver(UserMessage(content=blocks), deliver_as or "follow_up", trigger_turn=True)

    def append_entry(self, custom_type: str, data: Mapping[str, Any] | None = None) -> str:
        """Keeps data in the session that no model ever sees; answers the entry's id."""
        runtime = self._live()
        entry = runtime.session.append_custom(custom_type, data)
        runtime.front.ui.entry_appended(entry)
        return entry.id

    async def execute_tool(self, name: str, args: Mapping[str, Any]) -> ToolResult:
        """Runs another tool through validation, `tool_call` and `tool_result`; not part of the transcript."""
        return await self._live().execute_tool(name, args, parent=self)


class ToolCtx(PluginContext):
    """`ctx` of a running tool: also its call, its own signal, and what file and shell tools need of the core."""

    def __init__(
        self,
        runtime: Runtime,
        plugin: str,
        call_id: str,
        signal: Signal,
        update: Callable[[tuple[UserContent, ...], Mapping[str, Any] | None], None],
    ) -> None:
        super().__init__(runtime, plugin)
        self.call_id = call_id
        self._signal = signal
        self._update = update
        self.nested = 0

    @cached_property
    def tools(self) -> ToolsFacade:
        """The session's tools; what this call adds is noted in its result."""
        return ToolsFacade(self._live, self.plugin, self.call_id)

    @property
    def signal(self) -> Signal:
        """Aborted when the run is; also when this call is cancelled alone."""
        return self._signal

    def update(self, content: Content = "", details: Mapping[str, Any] | None = None) -> None:
        """Reports progress to the person; the model never sees it."""
        self._update(as_content(_listed(content)), details)

    @cached_property
    def policies(self) -> tuple[FilesystemPolicy, ...]:
        """The filesystem policies that hold for this call, whatever is switched meanwhile; a tool that touches files
        asks them right before the I/O."""
        return self._live().policies_in_force()

    @property
    def secret_env(self) -> frozenset[str]:
        """Names of environment variables that hold zot's credentials; no child process may see them."""
        return self._live().secret_env()

    @property
    def processes(self) -> ProcessGroups:
        """The session's child processes: what is started through it ends with the session."""
        return self._live().processes

    def operations(self, tool: str) -> Any:
        """Another implementation of a built-in tool's I/O, from the contribution `tool_operations`; None for the
        local one."""
        return self._live().operations(tool)

    async def shell_spawn(self, command: str, cwd: str, env: Mapping[str, str]) -> Any:
        """Asks `shell_spawn`: answers the event as it may run, or raises PermissionError with the reason of a Block."""
        return await self._live().gate_shell_spawn(command, cwd, env)


class CommandCtx(PluginContext):
    """`ctx` of slash commands: also what replaces the session or waits for its run. Event handlers do not have these,
    because there they would wait for themselves."""

    def __init__(self, runtime: Runtime, plugin: str, images: Sequence[Image] = ()) -> None:
        super().__init__(runtime, plugin)
        self.images = tuple(images)

    async def wait_for_idle(self) -> None:
        """Returns when the run, its retries and everything queued behind it are over."""
        runtime = self._live()
        if runtime.runs.inside():
            raise WouldDeadlock("wait_for_idle() was called from within the run that it would wait for")
        await runtime.runs.wait_for_idle()

    async def new_session(self, *, with_session: WithSession | None = None) -> bool:
        """Starts a new session; False when `session_before_switch` was blocked. `with_session` gets the new context."""
        return await self._replace("new_session", with_session)

    async def switch_session(self, path: str, *, with_session: WithSession | None = None) -> bool:
        """Opens another session's file in this one's place; False when blocked."""
        return await self._replace("switch_session", with_session, path)

    async def fork(
        self, entry_id: str, *, position: Literal["before", "at"] = "before", with_session: WithSession | None = None
    ) -> bool:
        """Goes on in a copy of the session up to an entry; False when `session_before_fork` was blocked. `before` a
        prompt leaves it out of the copy and puts its text into the editor; `at` takes the entry along."""
        return await self._replace("fork", with_session, entry_id, position)

    async def reload(self, what: Literal["all", "extensions"] = "all") -> ReloadReport:
        """Loads plugins anew, or only extensions. The handler goes on in its old code, so let it be the last thing that
        it does."""
        return await self._live().app.reload(what)

    async def _replace(self, method: str, with_session: WithSession | None, *args: Any) -> bool:
        app = self._live().app
        done: bool = await getattr(app, method)(*args)
        if done and with_session is not None:
            await with_session(CommandCtx(app.runtime, self.plugin))
        return done


def _listed(content: Content) -> str | list[UserContent]:
    return content if isinstance(content, str) else list(content)
