"""The types of `ctx.ui`: what plugins may ask of a person and show, and what a mode brings for it.

Knows no screen. `zot_core.ctx.protocols` has the rest of `ctx`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from zot_core.events.tool import ToolCallEvent
    from zot_core.types.panels import Panel, PanelHandle

NotifyLevel = Literal["info", "success", "warning", "error"]


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
    preview, told plugins, and waited for its turn. `open_panel` is told whose panel it is."""

    async def approve(self, call_id: str, tool_name: str, preview: str) -> Approval: ...

    def open_panel(
        self, plugin: str, panel: Panel, on_key: Callable[[str, str], Any], on_close: Callable[[], Any]
    ) -> PanelHandle | None: ...

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
