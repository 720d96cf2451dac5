"""The types of `ctx`, for annotations and for plugin tests. Every attribute but plain data raises StaleContextError
once the session that it belongs to was replaced."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from zot_core.ctx.credentials_protocol import Credentials
from zot_core.ctx.ui_protocol import Approval, FrontUi, NotifyLevel, Ui

if TYPE_CHECKING:
    import logging

    from zot_core.agent.cancel import Signal
    from zot_core.compaction.estimate import ContextUsage
    from zot_core.config.editable import EditableSetting
    from zot_core.models.scope import ScopedModel
    from zot_core.plugins.diagnostics import Diagnostics
    from zot_core.plugins.host import LoadedPlugin
    from zot_core.toolkit.process import ProcessGroups
    from zot_core.types.content import Image, UserContent
    from zot_core.types.routing import VirtualModel
    from zot_core.types.specs import (
        CommandSpec,
        FilesystemPolicy,
        Mode,
        ModelSpec,
        ProviderSpec,
        ResourcePath,
        ThinkingLevel,
        ToolResult,
        ToolSpec,
    )

__all__ = [
    "Approval",
    "Bus",
    "CommandContext",
    "Commands",
    "Context",
    "Credentials",
    "DeliverAs",
    "FrontUi",
    "Models",
    "NotifyLevel",
    "Rpc",
    "SessionView",
    "ToolContext",
    "Tools",
    "Ui",
]

DeliverAs = Literal["steer", "follow_up", "next_turn"]


class SessionView(Protocol):
    """The session, for reading. Entries are session records as docs/sessions.md describes them."""

    id: str
    file: str | None
    name: str | None
    leaf_id: str | None

    root: str
    """The folder that all sessions are kept under."""

    def entries(self) -> Sequence[Any]:
        """Every entry of the file, those of left branches too."""

    def branch(self) -> Sequence[Any]:
        """The entries from the root to the leaf."""

    def messages(self) -> Sequence[Any]:
        """The conversation as the model sees it."""

    def set_name(self, name: str | None) -> None:
        """Names the session; None takes the name away. Plugins hear `session_info_changed`."""

    def set_label(self, entry_id: str, label: str | None) -> None:
        """Bookmarks an entry; None takes the bookmark away."""

    def label(self, entry_id: str) -> str | None:
        """The bookmark of an entry; None without one."""

    def labels(self) -> Mapping[str, str]:
        """All bookmarks, those of left branches too: from entry id to label."""


class Tools(Protocol):
    """The session's tools."""

    def register(self, tool: ToolSpec) -> Callable[[], None]:
        """Adds a tool from the next model call on; the answer takes it away again."""

    def all(self) -> Sequence[ToolSpec]:
        """Every tool that is not shadowed, by name."""

    def active(self) -> Sequence[str]:
        """The names of the tools that models are offered."""

    def set_active(self, names: Sequence[str]) -> None:
        """Offers exactly these tools from the next model call on. Raises UsageError for an unknown name. What a running
        tool adds, and takes nothing away, is noted in its result, where models that can load tools later get it."""

    def searchable(self) -> Sequence[tuple[str, ToolSpec]]:
        """The tools that a search may find, offered already or not, as (group, tool) by name."""


class Commands(Protocol):
    """The session's slash commands."""

    def register(self, command: CommandSpec) -> Callable[[], None]:
        """Adds a command of this plugin; the answer takes it away."""

    def all(self) -> Sequence[CommandSpec]:
        """Every command that can be called, by name."""

    def named(self) -> Sequence[tuple[str, str, CommandSpec]]:
        """Every name that can be called, with its plugin and the command that it means; aliases are not among them."""

    def find(self, name: str) -> CommandSpec | None:
        """The command that a name or an alias means; None for none."""


class Models(Protocol):
    """Models and the choice among them. `set` and `set_thinking` hold for this session and from the next model call
    on."""

    current: ModelSpec | None
    thinking: ThinkingLevel

    def all(self) -> Sequence[ModelSpec]:
        """Every model of the catalog."""

    def usable(self) -> Sequence[ModelSpec]:
        """The models of providers that there is a key for, as far as that can be told without asking anybody."""

    def find(self, name: str) -> ModelSpec | None:
        """The model that `name` means: id, provider/id or a unique fragment; None when there is none."""

    routed: ModelSpec | None
    """The real model that the last request was routed to; None while none was."""

    def add(self, spec: ProviderSpec | VirtualModel, *, keep_models: bool = False) -> Callable[[], None]:
        """Adds a provider or a virtual model, or lays it over the one of its name, from the next model call on; the
        answer takes it away again, and what was there comes back. A provider's models replace those that were there,
        unless `keep_models` adds them."""

    def remove(self, name: str) -> None:
        """Takes away what this plugin brought under that name, a provider's id or a virtual model's `provider/id`;
        unknown is nothing."""

    async def set(self, name: str) -> bool:
        """Chooses a model; False, with a note to the person, when there is none of that name or no key for it."""

    async def set_thinking(self, level: ThinkingLevel) -> ThinkingLevel:
        """Chooses the level; answers the one that the model allows."""

    def stream(self, messages: Sequence[Any], **options: Any) -> Any:
        """A model call of the plugin's own, as an async iterator of parts: no tools, not part of the session.
        A failure is the last part."""


class Bus(Protocol):
    """Channels between plugins. Payloads are other people's data: check them."""

    def on(self, channel: str, listener: Callable[[Any], Any]) -> Callable[[], None]:
        """Listens to `channel`; the answer, or the session's end, stops it."""

    def emit(self, channel: str, payload: Any = None) -> None:
        """Calls every listener of `channel`, this plugin's own included."""


class Rpc(Protocol):
    """Requests of embedding programs, and events for them. Events carry no secrets, prompts or transcripts."""

    def handle(self, name: str, handler: Callable[[Any], Any]) -> Callable[[], None]:
        """Answers `extension_request`s called `name` with what `handler(data)` returns, JSON; it may be async. The
        answer takes it away. Raises UsageError when another handler has the name."""

    def emit(self, name: str, data: Any = None) -> None:
        """Sends an `extension_event` to the programs that asked for such; without one nothing happens."""


class Context(Protocol):
    """What an event handler receives."""

    cwd: Path
    mode: Mode
    has_ui: bool
    plugin: str
    home: Path
    log: logging.Logger
    settings: Mapping[str, Any]
    ui: Ui
    session: SessionView
    tools: Tools
    commands: Commands
    models: Models
    scoped_models: Sequence[ScopedModel]
    """The models that `--models` or the setting `enabled_models` name; empty means every model that can be used."""
    credentials: Credentials
    bus: Bus
    rpc: Rpc
    diagnostics: Diagnostics
    signal: Signal | None

    def on(self, hook: str, handler: Callable[..., Any], **options: Any) -> Callable[[], None]:
        """Adds a handler from the next dispatch on; the answer takes it away."""

    def on_user_activity(self, listener: Callable[[str], Any]) -> Callable[[], None]:
        """Calls `listener("draft")` when the person edits what they type, `listener("prompt")` for each prompt, steer
        and follow-up of theirs, RPC included; what plugins put there or send does not count. The answer, or the
        session's end, stops it."""

    def is_idle(self) -> bool:
        """Whether nothing runs and nothing is about to."""

    def has_pending_messages(self) -> bool:
        """Whether messages wait to join the run."""

    def abort(self) -> None:
        """Ends the run that goes on, as the person's Esc does."""

    def shutdown(self) -> None:
        """Ends zot as a person who leaves does: once nothing runs and nothing is queued, with exit code 0; over RPC
        also after the response of the request that goes on. Nothing happens in print and JSON mode, which end by
        themselves."""

    def permission_preset(self) -> str | None:
        """What tools may do without asking, in one word: `full-access`, `workspace`, `accept-edits`, `auto`,
        `read-only` or `ask`. It is what holds now, whether the line, the settings or a command said so. None where no
        plugin watches over permissions, or it cannot tell."""

    def is_project_trusted(self) -> bool:
        """Whether the project may bring plugins and settings, decisions for this run alone included."""

    def all_settings(self) -> Sequence[tuple[str, Any, str]]:
        """Every setting as (key, value, where it comes from); what looks like a secret is hidden."""

    def editable_settings(self) -> Sequence[EditableSetting]:
        """The settings that can be changed by choosing, as the files say them now."""

    def plugins(self) -> Sequence[LoadedPlugin]:
        """What is loaded, in the order of rank."""

    def flag(self, name: str) -> Any:
        """The value of a flag that a plugin contributed; None when it was not given and has no default."""

    def system_prompt(self) -> str:
        """The system prompt as prepared so far; what `context` or the payload hooks change is not in it."""

    def resources(self, kind: Literal["skills", "prompts", "themes"]) -> Sequence[tuple[str, ResourcePath]]:
        """Where plugins have skills, prompts or themes, contributed or discovered, as (plugin, absolute path)."""

    def report(self, message: str, level: Literal["info", "warning", "error"] = "warning") -> None:
        """Tells the person, once, what is wrong with something that is this plugin's; a diagnostic."""

    def context_usage(self) -> ContextUsage:
        """How much of the model's window is taken: as counted last, and an estimate of what came after."""

    def compact(
        self,
        instructions: str = "",
        *,
        on_complete: Callable[[bool], Any] | None = None,
        on_error: Callable[[Exception], Any] | None = None,
    ) -> None:
        """Compacts once nothing runs, without waiting for it. `on_complete` gets False when it was refused or aborted,
        `on_error` what went wrong; without it the person is told."""

    async def compact_now(self, instructions: str = "", *, reason: Literal["manual", "threshold"] = "manual") -> bool:
        """Compacts and answers whether it did: from a handler of `turn_end`, `agent_start` or `agent_before_settle` at
        once, outside of a run when nothing runs. Raises WouldDeadlock elsewhere, UsageError when there is nothing to
        compact, RunFailed when the summary failed."""

    def hold_requests(self, until: Awaitable[object], timeout: float) -> None:
        """Lets the session's first model call wait for `until`, at most `timeout` seconds from now: for a plugin whose
        tools or commands are still on their way. What comes later joins the next call."""

    def create_task(self, coro: Any, name: str = "") -> Any:
        """Runs `coro` beside the session, whose end cancels it; an error is reported in this plugin's name."""

    def send_message(
        self,
        custom_type: str,
        content: str | Sequence[UserContent],
        *,
        display: bool = True,
        details: Mapping[str, Any] | None = None,
        deliver_as: DeliverAs = "steer",
        trigger_turn: bool = False,
    ) -> None:
        """Adds a message that models read as the user's.

        While a run goes on it joins as `deliver_as` says. When idle it waits for the next prompt, or starts a run with
        `trigger_turn` (not for `next_turn`); asked for from a handler, the run starts after the dispatch."""

    def send_user_message(
        self,
        content: str | Sequence[UserContent],
        *,
        deliver_as: Literal["steer", "follow_up"] | None = None,
        expand: bool = False,
    ) -> None:
        """Sends a message as if the person had typed it; always leads to a model call. With `expand`, slash commands
        are looked up too. Raises StreamingError when a run goes on and `deliver_as` is None."""

    def append_entry(self, custom_type: str, data: Mapping[str, Any] | None = None) -> str:
        """Keeps data in the session that no model ever sees; answers the entry's id."""

    async def execute_tool(self, name: str, args: Mapping[str, Any]) -> ToolResult:
        """Runs another tool through validation, `tool_call` and `tool_result`, unrecorded. A failure is a result."""


class ToolContext(Context, Protocol):
    """What a running tool receives: a context that also knows its call."""

    call_id: str
    signal: Signal

    def update(self, content: str | Sequence[UserContent] = "", details: Mapping[str, Any] | None = None) -> None:
        """Reports progress; the person sees it at once, the model never."""

    @property
    def policies(self) -> Sequence[FilesystemPolicy]:
        """The filesystem policies in force, to be asked right before the I/O."""

    @property
    def processes(self) -> ProcessGroups:
        """The session's child processes: what is started through it ends with the session."""

    @property
    def secret_env(self) -> frozenset[str]:
        """Names of environment variables that hold zot's credentials; no child process may see them."""

    def operations(self, tool: str) -> Any:
        """Another implementation of a built-in tool's I/O; None for the local one."""

    async def shell_spawn(self, command: str, cwd: str, env: Mapping[str, str]) -> Any:
        """Asks `shell_spawn`: the event as it may run. Raises PermissionError with the reason of a Block."""


class CommandContext(Context, Protocol):
    """What a slash command receives: also the methods that replace the session or wait for its run.

    `images` are those that came with the command.
    """

    images: Sequence[Image]

    async def wait_for_idle(self) -> None:
        """Returns when the run and everything queued behind it are over. Raises WouldDeadlock within it."""

    async def new_session(self, *, with_session: Callable[[Any], Awaitable[None]] | None = None) -> bool:
        """Starts a new session; False when `session_before_switch` was blocked. `with_session` gets the new context."""

    async def switch_session(self, path: str, *, with_session: Callable[[Any], Awaitable[None]] | None = None) -> bool:
        """Opens another session's file in this one's place; False when blocked."""

    async def fork(
        self,
        entry_id: str,
        *,
        position: Literal["before", "at"] = "before",
        with_session: Callable[[Any], Awaitable[None]] | None = None,
    ) -> bool:
        """Goes on in a copy of the session up to an entry; False when `session_before_fork` was blocked."""

    async def reload(self, what: Literal["all", "extensions"] = "all") -> Any:
        """Loads settings and plugins anew, or only extensions; answers whether it was `done`, what is `loaded` and what
        `failed`, as (plugin, reason). The handler goes on in its old code, so let it be the
        last thing it does."""
