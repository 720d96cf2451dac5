"""The form of `ctx.ui` where nobody can be asked: dialogs answer their "no" at once, notes go to the front end.

Used by print and JSON mode. Never blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from zot_core.frontend import Note


@dataclass(frozen=True, slots=True, kw_only=True)
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

    async def input(self, title: str, placeholder: str = "", *, timeout: float | None = None) -> str | None:
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

    def notify(self, message: str, level: Literal["info", "success", "warning", "error"] = "info") -> None:
        """A note, to wherever this mode puts notes."""
        self._send(Note(source="", text=message, level=level))

    def set_status(self, key: str, text: str | None) -> None:
        """Nothing: there is no footer."""

    def set_widget(self, key: str, lines: Sequence[str] | None, **options: Any) -> None:
        """Nothing: there is no screen."""

    def set_working_message(self, text: str | None = None) -> None:
        """Nothing: there is no working row."""

    def set_title(self, text: str) -> None:
        """Nothing: the terminal is not zot's."""

    def set_editor_text(self, text: str) -> None:
        """Nothing: there is no editor."""

    def get_editor_text(self) -> str:
        """Empty: there is no editor."""
        return ""

    def paste_to_editor(self, text: str) -> None:
        """Nothing: there is no editor."""
