"""A Runtime: one session's generation of plugins, registries, choice, queues and runs.

It is built by `assembly`, held by App, and asked by contexts. A run and its dispatches keep the Runtime that they began
with. Must not know a mode or a built-in plugin.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zot_core.agent.cancel import Signal
from zot_core.agent.config import AgentState
from zot_core.agent.queues import Queues
from zot_core.compaction.estimate import ContextUsage, context_tokens
from zot_core.ctx.bus import Bus
from zot_core.ctx.context import PluginContext
from zot_core.ctx.errors import StaleContextError
from zot_core.ctx.plugin_ui import PromptSpan
from zot_core.ctx.rpc import RpcHandlers
from zot_core.events.base import Block, Fact
from zot_core.frontend import FrontEnd, Note
from zot_core.plugins.diagnostics import Diagnostic
from zot_core.runtime.approving import Approvals
from zot_core.runtime.choice import Choice
from zot_core.runtime.readiness import Readiness
from zot_core.runtime.runs import Runs
from zot_core.runtime.secrecy import secrets_of
from zot_core.runtime.sink import SessionSink
from zot_core.runtime.toolbox import Toolbox
from zot_core.runtime.turning import Turns
from zot_core.types.specs import SessionFacts, resolve

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from zot_core.app import App
    from zot_core.config.settings import LoadedSettings
    from zot_core.ctx.protocols import Approval
    from zot_core.events.tool import ToolCallEvent
    from zot_core.models.registry import ModelRegistry
    from zot_core.plugins.command_names import CommandRegistry
    from zot_core.plugins.host import LoadedPlugin, PluginHost
    from zot_core.runtime.compacting import Compactor
    from zot_core.runtime.renderers import Renderers
    from zot_core.runtime.scoping import Scoping
    from zot_core.session.session import Session
    from zot_core.toolkit.process import ProcessGroups
    from zot_core.types.specs import (
        Expansion,
        FilesystemPolicy,
        PromptSource,
        ResourcePath,
        Summarizer,
        ToolResult,
    )


class Runtime:
    """One session at work. Attributes are set by `assembly.build` and read by contexts and front ends."""

    toolbox: Toolbox
    commands: CommandRegistry
    models: ModelRegistry
    choice: Choice
    prompt_sources: Sequence[tuple[str, PromptSource]] = ()
    policies: tuple[FilesystemPolicy, ...] = ()
    tool_operations: Mapping[str, Any]
    flags: Mapping[str, Any]
    settings: LoadedSettings
    expansions: Sequence[tuple[str, Expansion]] = ()
    summarizers: Sequence[tuple[str, Summarizer]] = ()
    resources: tuple[tuple[str, Any], ...] = ()
    """What `resources_discover` brought: (plugin, Resources)."""

    def __init__(self, app: App, host: PluginHost, session: Session, *, cwd: str, trusted: bool) -> None:
        self.app = app
        self.host = host
        self.session = session
        self.cwd = cwd
        self.trusted = trusted
        self.replaced_by = ""
        self.tool_operations = {}
        self.flags = {}
        self.state = AgentState(messages=session.messages())
        self.queues = Queues()
        self.span = PromptSpan(self.tell_soon)
        self.bus = Bus(self._bus_failed, self.create_task)
        self.activity = Bus(self._bus_failed, self.create_task)
        """What the person does (`ctx.on_user_activity`); a bus of its own, because plugins can emit on the other."""
        self.rpc = RpcHandlers()
        self.readiness = Readiness()
        self.secrets: frozenset[str] = frozenset()
        self.kept: dict[str, tuple[Any, Any]] = {}
        """Plugins that outlast sessions: name -> (what its candidate said to keep it by, the plugin)."""
        self._contexts: dict[str, PluginContext] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._processes: ProcessGroups | None = None
        self._compactor: Compactor | None = None
        self._renderers: Renderers | None = None
        self._brought: dict[str, list[tuple[str, Any]]] = {}
        self._scoping: Scoping | None = None
        self.turns = Turns(self)
        self.runs = Runs(self)
        self.approvals = Approvals(self)
        self.sink = SessionSink(host.pipeline, session, app.front, self.runs.pump)
        host.pipeline.use_ctx(self.context)

    @property
    def front(self) -> FrontEnd:
        """The process's front end."""
        return self.app.front

    @property
    def mode(self) -> Any:
        """The front end's mode."""
        return self.app.front.mode

    @property
    def session_root(self) -> str:
        """The folder that all sessions are kept under."""
        from zot_core.runtime.opening import session_root

        return str(session_root(self.app))

    @property
    def has_ui(self) -> bool:
        """Whether a person can be asked: in the REPL and over RPC."""
        return self.mode in ("repl", "rpc")

    # --- contexts ----------------------------------------------------------------------------------------------------

    def context(self, plugin: str) -> PluginContext:
        """The plugin's `ctx` in this session; one for all its handlers."""
        if plugin not in self._contexts:
            self._contexts[plugin] = PluginContext(self, plugin)
        return self._contexts[plugin]

    def live_for(self, plugin: str) -> Runtime:
        """This Runtime, as long as it is the one in force. Raises StaleContextError afterwards."""
        if self.replaced_by:
            raise StaleContextError(plugin, self.replaced_by)
        return self

    def owner(self, plugin: str) -> LoadedPlugin:
        """The plugin's row in the host."""
        return self.host.plugins[plugin]

    def plugin_settings(self, plugin: str) -> Mapping[str, Any]:
        """The plugin's own section of the settings."""
        return self.settings.section(plugin)

    def contributed(self, hook: str, only: Collection[str] | None = None) -> list[tuple[str, Any]]:
        """What plugins (or those in `only`) contribute to `hook` for this session, as (plugin, item) in rank order."""
        rows = self.host.collect(hook, self._facts, only=only)
        return [(row.owner.name, row.item) for row in rows]

    def resource_paths(self, kind: str) -> list[tuple[str, ResourcePath]]:
        """Where plugins have skills, prompts or themes, as (plugin, absolute path with its scope) in rank order; what
        `resources_discover` brought comes after what was contributed."""
        if kind not in self._brought:
            self._brought[kind] = self.contributed(kind)
        late = [(plugin, path) for plugin, found in self.resources for path in getattr(found, kind)]
        paths = [*self._brought[kind], *late]
        if not paths:
            return []
        from zot_core.runtime.bringing import absolute  # only for plugins that bring something

        return [(plugin, absolute(self, plugin, path)) for plugin, path in paths]

    def create_task(self, plugin: str, coro: Coroutine[Any, Any, Any], name: str = "") -> asyncio.Task[Any]:
        """A task of this session in a plugin's name; an error of it is reported, and the session's end cancels it."""
        task = asyncio.get_running_loop().create_task(coro, name=f"zot:{plugin}:{name}")
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._task_done(plugin, name, done))
        return task

    def tell_soon(self, event: Fact) -> None:
        """Tells a Fact in a task of its own, for callers that may not wait."""
        if self.sink.wants(event.hook):
            self.create_task("core", self.sink.tell(event), event.hook)

    async def prompt_span(self, kind: str, title: str, dialog: Awaitable[Any]) -> Any:
        """Awaits a dialog within the span that plugins are told of."""
        return await self.span.around(kind, title, dialog)

    async def approve(self, call: ToolCallEvent) -> Approval:
        """A person's word on a tool call."""
        return await self.approvals.ask(call)

    def note(self, text: str, level: Any = "info", source: str = "") -> None:
        """Zot's own word to the person."""
        self.front.note(Note(source=source, text=text, level=level, kind="diagnostic"))

    def rename(self, name: str | None) -> None:
        """Names the session; the stored name and `session_info_changed` say so."""
        from zot_core.events.session import SessionInfoChangedEvent

        self.session.set_name(name)
        self.tell_soon(SessionInfoChangedEvent(name=self.session.name))

    # --- what a run is given -----------------------------------------------------------------------------------------

    def current_system_prompt(self) -> str:
        """The prompt of the last pass that was committed."""
        return self.state.prompt.text

    async def execute_tool(self, name: str, args: Mapping[str, Any], parent: PluginContext) -> ToolResult:
        """Runs a tool for a plugin, through the same gates as a model's call; no part of the transcript."""
        from zot_core.agent.calls import execute_nested

        tool = self.toolbox.get(name)
        if tool is not None and tool.exposure == "model-only":
            from zot_core.agent.preflight import refused

            return refused(f"Not run: {name} may be called by a model alone, not by other tools.")
        signal = self.runs.signal or Signal()
        call_id = getattr(parent, "call_id", "")
        return await execute_nested(
            name,
            args,
            config=self.turns.config(),
            state=self.state,
            sink=self.sink,
            signal=signal,
            parent_call_id=call_id or f"plugin:{parent.plugin}",
        )

    def policies_in_force(self) -> tuple[FilesystemPolicy, ...]:
        """The filesystem policies that hold for a tool call that begins now."""
        found = (policy if policy.current is None else policy.current() for policy in self.policies)
        return tuple(policy for policy in found if policy is not None)

    def permission_preset(self) -> str | None:
        """The preset that the first plugin which watches over permissions enforces now; None without one, or when it
        fails."""
        for plugin, spec in self.contributed("permission_presets"):
            try:
                return str(resolve(spec.read)(self.context(plugin)))
            except Exception as error:  # the plugin's own; whoever asked is told that it is not known
                self.host.pipeline.broken(plugin, "permission_presets", error)
                break
        return None

    def show_statuses(self, *, anew: bool) -> None:
        """Puts up what plugins have to show from the start on; `anew` is for a screen that shows nothing yet."""
        for plugin, text in self.contributed("statuses"):
            if text or not anew:
                self.context(plugin).ui.set_status(plugin, text or None)

    def operations(self, tool: str) -> Any:
        """Another implementation of a built-in tool's I/O; None for the local one."""
        return self.tool_operations.get(tool)

    def secret_env(self) -> frozenset[str]:
        """Names of the environment variables that hold credentials."""
        model = self.choice.model
        return self.secrets | secrets_of(self.models.providers(), {model.provider} if model is not None else ())

    def context_usage(self) -> ContextUsage:
        """How much of the model's window the conversation takes."""
        model = self.choice.model
        return ContextUsage(tokens=context_tokens(self.state.messages), window=model.context_window if model else 0)

    @property
    def compactor(self) -> Compactor:
        """The compactions of this session, imported when first needed."""
        if self._compactor is None:
            from zot_core.runtime.compacting import Compactor

            self._compactor = Compactor(self, list(self.summarizers))
        return self._compactor

    @property
    def scoping(self) -> Scoping:
        """The models that the person goes through, imported when first needed."""
        if self._scoping is None:
            from zot_core.runtime.scoping import Scoping

            self._scoping = Scoping(self)
        return self._scoping

    @property
    def renderers(self) -> Renderers:
        """What plugins draw themselves on a screen, collected when first needed."""
        if self._renderers is None:
            from zot_core.runtime.renderers import Renderers

            self._renderers = Renderers(self)
        return self._renderers

    @property
    def processes(self) -> ProcessGroups:
        """The child processes of this session; they end with it."""
        if self._processes is None:
            from zot_core.toolkit.process import ProcessGroups

            self._processes = ProcessGroups()
        return self._processes

    async def gate_shell_spawn(self, command: str, cwd: str, env: Mapping[str, str]) -> Any:
        """`shell_spawn`: the event as it may run. Raises PermissionError with the reason when a plugin blocked it."""
        from zot_core.events.tool import ShellSpawnEvent

        event = ShellSpawnEvent(command=command, cwd=cwd, env=env)
        if not self.sink.wants("shell_spawn"):
            return event
        outcome = await self.sink.gate(event)
        if isinstance(outcome.stop, Block):
            raise PermissionError(outcome.stop.reason or f"refused by {outcome.plugin}")
        return outcome.event

    async def end(self, replaced_by: str) -> None:
        """Ends what contexts started and makes them stale. After this only plain data of the session may be read."""
        self.replaced_by = replaced_by
        self.readiness.close()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=2.0)
        if self._processes is not None:
            await self._processes.close()
        await self.sink.synced()
        self.host.pipeline.close()

    def _facts(self, plugin: str) -> SessionFacts:
        explicit = self.app.options.explicit
        return SessionFacts(
            cwd=self.cwd,
            mode=self.mode,
            trusted=self.trusted,
            flags=self.flags,
            settings=self.plugin_settings(plugin),
            home=str(self.app.paths.home),
            extensions=tuple(
                (place, os.path.join(self.app.options.cwd, os.path.expanduser(ref)))  # noqa: PTH111, PTH118
                for place, (kind, ref) in enumerate(explicit)
                if kind == "ext"
            ),
            extension_places=self.settings.extension_places(self.app.paths.home),
            no_extensions=self.app.options.no_ext,
            secret_env=self.secrets,
        )

    def _task_done(self, plugin: str, name: str, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.host.pipeline.broken(plugin, name or "task", error)

    def _bus_failed(self, plugin: str, channel: str, error: Exception) -> None:
        self.host.pipeline.broken(plugin, f"bus:{channel}", error)


def diagnostic_note(diagnostic: Diagnostic) -> Note:
    """A diagnostic as a note for the person."""
    level: Any = diagnostic.level
    kind: Any = "plugin_error" if diagnostic.hook and level == "error" else "diagnostic"
    return Note(source=diagnostic.plugin, text=diagnostic.message, level=level, kind=kind, hook=diagnostic.hook)
