"""The types of `ctx.ui`: what plugins may ask of a person and show, and what a mode brings for it.

Knows no screen. `zot_core.ctx.protocols` has the rest of `ctx`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from zot_core.agent.cancel import Signal
    from zot_core.events.tool import ToolCallEvent
    from zot_core.types.panels import Panel, PanelHandle

NotifyLevel = Literal["info", "success", "warning", "error"]


class Ui(Protocol):
    """Talking to the person. In print and JSON mode nothing can be asked: dialogs answer at once with their "no"."""

    async def select(
        self,
        title: str,
        options: Sequence[str],
        *,
        timeout: float | None = None,
        signal: Signal | None = None,
        ephemeral: bool = False,
    ) -> str | None:
        """One of `options`, or None when dismissed.

        Dialogs are dismissed after `timeout` seconds, with a countdown, and when `signal` is aborted. An `ephemeral`
        one stays on this screen: plugins are not told that it waits, and over RPC it answers its "no" at once.
        """

    async def confirm(
        self,
        title: str,
        message: str = "",
        *,
        timeout: float | None = None,
        signal: Signal | None = None,
        ephemeral: bool = False,
    ) -> bool:
        """Yes or no; False when dismissed."""

    async def input(
        self,
        title: str,
        placeholder: str = "",
        *,
        timeout: float | None = None,
        signal: Signal | None = None,
        ephemeral: bool = False,
        hidden: bool = False,
    ) -> str | None:
        """A line of text, or None when dismissed. With `hidden` it is a secret: not shown while it is typed, and kept
        nowhere."""

    async def editor(
        self, title: str, prefill: str = "", *, timeout: float | None = None, signal: Signal | None = None
    ) -> str | None:
        """Several lines of text, or None when dismissed."""

    async def question(
        self,
        questions: Sequence[Mapping[str, Any]],
        *,
        wait_for_answer: bool = True,
        timeout: float | None = None,
        signal: Signal | None = None,
    ) -> Mapping[str, Any]:
        """Several questions, one after another. Each has `id`, `question`, and may have `header`, `options` (texts, or
        mappings with `label` and `description`) and `multi_select`; without options it is answered in words.

        Answers `outcome` (answered, comment-submitted, timed_out, cancelled or unavailable), `answers` by id (a text,
        with `multi_select` a list) and, for a comment in the place of answers, `comment`. With `wait_for_answer=False`
        it asks and answers at once: the outcome `asked` and a `request_id`. In both ways the bus tells
        `ask-user:asked` ({request}), `ask-user:settled` ({request, response}, not when it was cancelled) and once
        `ask-user:closed` ({request_id, status}); `request` has `id` and `questions`.
        """

    async def approve(self, call: ToolCallEvent) -> Approval:
        """Whether a tool call may run. The core builds the preview with the tool's own `preview`, sends
        `tool_confirmation_requested` only when it will wait for a person, and asks about one call at a time."""

    async def custom(self, factory: Callable[..., Any], **options: Any) -> Any:
        """A component (`zot_core.ui.Component`) in the editor's place until it is done; None where there is no screen,
        when it breaks, and when the person closes it by pressing Ctrl-C twice.

        `factory(tui, theme, keybindings, done)` makes it, and `done(value)` closes it with that answer. With
        `overlay=True` it floats over the conversation, placed by `overlay_options` (`zot_core.ui.OverlayOptions` or a
        mapping of its fields); `on_handle(handle)` is given a handle with `focus()`, `unfocus()`, `set_hidden(bool)`,
        `hide()`, `is_focused` and `is_hidden`. `signal`, once aborted, closes it.
        """

    def open_panel(
        self, panel: Panel, on_key: Callable[[str, str], Any], on_close: Callable[[], Any]
    ) -> PanelHandle | None:
        """A panel in the editor's place; None in modes that show none (print, JSON).

        `on_key(key, text)` is called for each key, in order, with a name of `zot_core.types.panels.KEYS` and, for
        `rune`, the character typed; either may be async. `on_close()` is called when the person closed it."""

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
        """Lines, or what `factory(tui, theme)` makes of a component, beside the editor under `key`; None takes them
        away. An action has a `label` and a `command`, stands on the last line, and a key runs it."""

    def set_footer(self, factory: Callable[..., Any] | None) -> None:
        """A component that `factory(tui, theme)` makes in the footer's place; None brings zot's own back. What that
        would tell is in `tui.footer`."""

    def set_header(self, factory: Callable[..., Any] | None) -> None:
        """A component that `factory(tui, theme)` makes, below zot's own line at the start of a session until the
        conversation begins; None takes it away."""

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
        """Another editor, made by `factory(tui, theme, keybindings)`; extend `zot_core.ui.AppEditor`, so that the
        application's keys go on working. None brings zot's own back."""

    def get_editor_component(self) -> Callable[..., Any] | None:
        """The factory of the editor in use, so that another may wrap it; None for zot's own."""

    def add_autocomplete_provider(self, factory: Callable[[Any], Any]) -> Callable[[], None]:
        """Stacks a provider of completions (`zot_core.ui.completion.Provider`) on those that are there: `factory` is
        given the one below, to hand on what it does not know. The answer takes it away."""

    @property
    def renderers(self) -> RenderersFacade:
        """What this plugin draws itself: messages, entries, Markdown."""

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


class RenderersFacade(Protocol):
    """`ctx.ui.renderers`: what the contributions `message_renderers`, `entry_renderers` and `markdown_transformers`
    bring, for one session. Each answer takes the renderer away."""

    def message(self, custom_type: str, render: Callable[..., Any]) -> Callable[[], None]:
        """Draws custom messages of a type; see `MessageRenderer`."""

    def entry(
        self, custom_type: str, render: Callable[..., Any], *, replaces: Callable[[Any, Any], bool] | None = None
    ) -> Callable[[], None]:
        """Draws entries of a type; see `EntryRenderer`."""

    def markdown(self, transform: Callable[..., str]) -> Callable[[], None]:
        """Changes Markdown before it is shown; see `MarkdownTransformer`."""


class FrontUi(Protocol):
    """What a mode brings for `ctx.ui`. Like `Ui`, but that `approve` is only the question: the core has built the
    preview, told plugins, and waited for its turn. `open_panel` is told whose panel it is."""

    async def approve(self, call_id: str, tool_name: str, preview: str) -> Approval: ...

    def open_panel(
        self, plugin: str, panel: Panel, on_key: Callable[[str, str], Any], on_close: Callable[[], Any]
    ) -> PanelHandle | None: ...

    def of(self, plugin: str, runtime: Any) -> Any:
        """The `Ui` in the name of a plugin of a session."""

    def entry_appended(self, entry: Any) -> None:
        """A plugin kept an entry in the session; a screen shows it if it has a renderer."""

    def send_event(self, plugin: str, name: str, data: Any) -> None:
        """What a plugin emits for embedding programs."""


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
