"""The form of `ctx.ui` where nobody can be asked: dialogs answer their "no" at once, notes go to the front end.

Used by print and JSON mode. Never blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from zot_core.frontend import Note
from zot_core.types.record import record

if TYPE_CHECKING:
    from zot_core.types.panels import Panel, PanelHandle


@record(kw_only=True)
class Approved:
    """The answer of `ui.approve`; `reason` says why not, for the model."""

    allowed: bool
    reason: str = ""
    remember: Literal["once", "tool", "session"] = "once"


class NullUi:
    """Answers for a person who is not there. `send` takes the notes; the context adds the plugin's name to them."""

    def __init__(self, send: Callable[[Note], None], mode: str) -> None:
        self._send = send
        self._mode = mode

    async def select(self, title: str, options: Sequence[str], *, timeout: float | None = None) -> str | None:
        """None: nobody can choose."""
        return None

    async def confirm(self, title: str, message: str = "", *, timeout: float | None = None) -> bool:
        """False: nobody can agree."""
        return False

    async def input(
        self, title: str, placeholder: str = "", *, timeout: float | None = None, hidden: bool = False
    ) -> str | None:
        """None: nobody can type."""
        return None

    async def editor(self, title: str, prefill: str = "", *, timeout: float | None = None) -> str | None:
        """None: nobody can type."""
        return None

    async def question(
        self, questions: Sequence[Mapping[str, Any]], *, timeout: float | None = None
    ) -> Mapping[str, Any]:
        """The outcome `unavailable`."""
        return {"outcome": "unavailable", "answers": {}}

    async def approve(self, call_id: str, tool_name: str, preview: str) -> Approved:
        """No, with the reason that the model is told."""
        return Approved(
            allowed=False, reason=f"{tool_name} needs a person's approval, and {self._mode} mode cannot ask"
        )

    async def custom(self, factory: Callable[..., Any], **options: Any) -> Any:
        """None: there is no screen."""
        return None

    def open_panel(
        self, plugin: str, panel: Panel, on_key: Callable[[str, str], Any], on_close: Callable[[], Any]
    ) -> PanelHandle | None:
        """None: there is no screen."""
        return None

    def of(self, plugin: str, runtime: Any) -> Any:
        """This form in the name of a plugin of a session; a screen has to know whose component it shows."""
        return self

    def entry_appended(self, entry: Any) -> None:
        """Nothing: entries are shown by renderers, and there is no screen."""

    def send_event(self, plugin: str, name: str, data: Any) -> None:
        """Nothing: no program listens."""

    def notify(self, message: str, level: Literal["info", "success", "warning", "error"] = "info") -> None:
        """A note, to wherever this mode puts notes."""
        self._send(Note(source="", text=message, level=level))

    def set_status(self, key: str, text: str | None) -> None:
        """Nothing: there is no footer."""

    def set_widget(self, key: str, content: Any, **options: Any) -> None:
        """Nothing: there is no editor to put it beside."""

    def set_footer(self, factory: Callable[..., Any] | None) -> None:
        """Nothing: there is no footer."""

    def set_header(self, factory: Callable[..., Any] | None) -> None:
        """Nothing: there is no header."""

    def set_working_message(self, text: str | None = None) -> None:
        """Nothing: there is no working row."""

    def set_working_visible(self, visible: bool) -> None:
        """Nothing: there is no working row."""

    def set_working_indicator(self, frames: Sequence[str] | None = None, interval: float = 0.1) -> None:
        """Nothing: there is no working row."""

    def set_subagent_cost(self, dollars: float | None) -> None:
        """Nothing: there is no footer."""

    def set_title(self, text: str) -> None:
        """Nothing: the terminal is not zot's."""

    def set_editor_text(self, text: str) -> None:
        """Nothing: there is no editor."""

    def get_editor_text(self) -> str:
        """Empty: there is no editor."""
        return ""

    def paste_to_editor(self, text: str) -> None:
        """Nothing: there is no editor."""

    def set_editor_component(self, factory: Callable[..., Any] | None) -> None:
        """Nothing: there is no editor."""

    def get_editor_component(self) -> Callable[..., Any] | None:
        """None: there is no editor."""
        return None

    def add_autocomplete_provider(self, factory: Callable[[Any], Any]) -> Callable[[], None]:
        """Nothing to complete; the answer does nothing either."""
        return lambda: None

    @property
    def tools_expanded(self) -> bool:
        """False: nothing is folded."""
        return False

    @tools_expanded.setter
    def tools_expanded(self, expanded: bool) -> None:
        """Nothing: nothing is folded."""

    @property
    def theme(self) -> Any:
        """None: there is no screen."""
        return None

    def all_themes(self) -> Sequence[Mapping[str, str]]:
        """None are loaded."""
        return ()

    def get_theme(self, name: str) -> Any:
        """None: themes are not loaded here."""
        return None

    def set_theme(self, theme: Any) -> tuple[bool, str]:
        """No, with the reason."""
        return False, f"{self._mode} mode has no screen"
