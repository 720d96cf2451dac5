"""The types of `ctx`, for annotations and for plugin tests. Every attribute but plain data raises StaleContextError
once the session that it belongs to was replaced."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import logging

    from zot_core.agent.cancel import Signal
    from zot_core.events.tool import ToolCallEvent
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

NotifyLevel = Literal["info", "success", "warning", "error"]
DeliverAs = Literal["steer", "follow_up", "next_turn"]


class Ui(Protocol):
    """Talking to the person. In print and JSON mode nothing can be asked: dialogs answer at once with their "no"."""

    async def select(self, title: str, options: Sequence[str], *, timeout: float | None = None) -> str | None:
        """One of `options`, or None when dismissed."""

    async def confirm(self, title: str, message: str = "", *, timeout: float | None = None) -> bool:
        """Yes or no; False when dismissed."""

    async def input(self, title: str, placeholder: str = "", *, timeout: float | None = None) -> str | None:
        """A line of text, or None when dismissed."""

    async def editor(self, title: str, prefill: str = "", *, timeout: float | None = None) -> str | None:
        """Several lines of text, or None when dismissed."""

    async def question(
        self, questions: Sequence[Mapping[str, Any]], *, timeout: float | None = None
    ) -> Mapping[str, Any]:
        """Several questions at once; `outcome` is answered, comment-submitted, timed_out, cancelled or unavailable."""

    async def approve(self, call: ToolCallEvent) -> Approval:
        """Whether a tool call may run. The core builds the preview with the tool's own `preview`, sends
        `tool_confirmation_requested` only when it will wait for a person, and asks about one call at a time."""

    async def custom(self, factory: Callable[..., Any], **options: Any) -> Any:
        """A component in the editor's place until it is done; None where there is no screen."""

    def notify(self, message: str, level: NotifyLevel = "info") -> None:
        """A note for the person, not part of the conversation."""

    def display(self, text: str) -> None:
        """A longer note, shown as text of its own, not part of the conversation."""

    def clear_notes(self) -> None:
        """Takes back the notes of this plugin, nobody else's."""

    def set_status(self, key: str, text: str | None) -> None:
        """A status in the footer under `key`; None takes it away."""

    def set_widget(
        self,
        key: str,
        content: Sequence[str] | Callable[..., Any] | None,
        *,
        placement: Literal["above_editor", "below_editor"] = "above_editor",
        actions: Sequence[Mapping[str, str]] = (),
    ) -> None:
        """Lines (or a component's factory) beside the editor under `key`; None takes them away. An action has a label
        and a command."""

    def set_footer(self, factory: Callable[..., Any] | None) -> None:
        """A component in the footer's place; None brings zot's own back."""

    def set_header(self, factory: Callable[..., Any] | None) -> None:
        """A component in the place of the header at start; None brings zot's own back."""

    def set_working_message(self, text: str | None = None) -> None:
        """The words beside the spinner while a run goes on; None brings zot's own back."""

    def set_working_visible(self, visible: bool) -> None:
        """Shows or hides the working row."""

    def set_working_indicator(self, frames: Sequence[str] | None = None, interval: float = 0.1) -> None:
        """The spinner's frames, `interval` seconds apart; one stands still, none hide it, None is zot's own."""

    def set_subagent_cost(self, dollars: float | None) -> None:
        """What sub-agents cost, shown after the session's own cost; None takes it away."""

    def set_title(self, text: str) -> None:
        """The terminal's title."""

    def set_editor_text(self, text: str) -> None:
        """Puts `text` in the place of what is typed."""

    def get_editor_text(self) -> str:
        """What is typed and not sent yet."""

    def paste_to_editor(self, text: str) -> None:
        """Pastes at the cursor; long text folds as a person's paste does."""

    def set_editor_component(self, factory: Callable[..., Any] | None) -> None:
        """Another editor; None brings zot's own back."""

    def get_editor_component(self) -> Callable[..., Any] | None:
        """The factory of the editor in use, so that another may wrap it; None for zot's own."""

    def add_autocomplete_provider(self, factory: Callable[[Any], Any]) -> Callable[[], None]:
        """Stacks a provider of completions on those that are there; the answer takes it away."""

    @property
    def tools_expanded(self) -> bool:
        """Whether tool results are shown whole."""

    @tools_expanded.setter
    def tools_expanded(self, expanded: bool) -> None: ...

    @property
    def theme(self) -> Any:
        """The theme in use; None where there is no screen."""

    def all_themes(self) -> Sequence[Mapping[str, str]]:
        """Name and path of each theme."""

    def get_theme(self, name: str) -> Any:
        """A theme without switching to it; None when there is none of that name."""

    def set_theme(self, theme: Any) -> tuple[bool, str]:
        """Switches to a theme by name or object; answers whether it did, and why not."""


class FrontUi(Protocol):
    """What a mode brings for `ctx.ui`. Like `Ui`, but that `approve` is only the question: the core has built the
    preview, told plugins, and waited for its turn."""

    async def approve(self, call_id: str, tool_name: str, preview: str) -> Approval: ...


class Approval(Protocol):
    """The answer of `ui.approve`."""

    @property
    def allowed(self) -> bool:
        """Whether the call may run."""

    @property
    def reason(self) -> str:
        """Why not, in words for the model."""

    @property
    def remember(self) -> Literal["once", "tool", "session"]:
        """What the answer is for: this call, this tool, or everything, for as long as the session lives."""


class SessionView(Protocol):
    """The session, for reading. Entries are session records as docs/sessions.md describes them."""

    id: str
    file: str | None
    name: str | None
    leaf_id: str | None

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


class Tools(Protocol):
    """The session's tools."""

    def register(self, tool: ToolSpec) -> Callable[[], None]:
        """Adds a tool from the next model call on; the answer takes it away again."""

    def all(self) -> Sequence[ToolSpec]:
        """Every tool that is not shadowed, by name."""

    def active(self) -> Sequence[str]:
        """The names of the tools that models are offered."""

    def set_active(self, names: Sequence[str]) -> None:
        """Offers exactly these tools from the next model call on. Raises UsageError for an unknown name."""


class Commands(Protocol):
    """The session's slash commands."""

    def register(self, command: CommandSpec) -> Callable[[], None]:
        """Adds a command of this plugin; the answer takes it away."""

    def all(self) -> Sequence[CommandSpec]:
        """Every command that can be called, by name."""


class Models(Protocol):
    """Models and the choice among them. `set` and `set_thinking` hold for this session and from the next model call
    on."""

    current: ModelSpec | None
    thinking: ThinkingLevel

    def all(self) -> Sequence[ModelSpec]:
        """Every model of the catalog."""

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


class Context(Protocol):
    """What an event handler receives."""

    cwd: Path
    mode: Mode
    has_ui: bool
    plugin: str
    log: logging.Logger
    settings: Mapping[str, Any]
    ui: Ui
    session: SessionView
    tools: Tools
    commands: Commands
    models: Models
    bus: Bus
    signal: Signal | None

    def on(self, hook: str, handler: Callable[..., Any], **options: Any) -> Callable[[], None]:
        """Adds a handler from the next dispatch on; the answer takes it away."""

    def is_idle(self) -> bool:
        """Whether nothing runs and nothing is about to."""

    def has_pending_messages(self) -> bool:
        """Whether messages wait to join the run."""

    def abort(self) -> None:
        """Ends the run that goes on, as the person's Esc does."""

    def is_project_trusted(self) -> bool:
        """Whether the project may bring plugins and settings, decisions for this run alone included."""

    def flag(self, name: str) -> Any:
        """The value of a flag that a plugin contributed; None when it was not given and has no default."""

    def system_prompt(self) -> str:
        """The system prompt as prepared so far; what `context` or the payload hooks change is not in it."""

    def resources(self, kind: Literal["skills", "prompts", "themes"]) -> Sequence[tuple[str, ResourcePath]]:
        """Where plugins have skills, prompts or themes: (plugin, absolute path), as contributed or brought by
        `resources_discover`."""

    def report(self, message: str, level: Literal["info", "warning", "error"] = "warning") -> None:
        """Tells the person, once, what is wrong with something that is this plugin's; a diagnostic."""

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
        """Runs another tool through validation, `tool_call` and `tool_result`; not part of the transcript. A failure
        is an error result."""


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

    async def reload(self) -> None:
        """Loads settings and plugins anew. The handler goes on in its old code, so let it be the last thing it does."""
