"""`ctx.ui` over RPC: dialogs are `ui_request` events that `ui_response` answers; the rest is `ui_update` events.

What only a screen can do answers as where there is none. Time-outs are counted here: a client need not know them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from zot_cli.modes.rpc.panels import Panels
from zot_core.ctx.null_ui import Approved, NullUi
from zot_core.frontend import Note
from zot_core.types.failure import UsageError

if TYPE_CHECKING:
    from zot_core.types.panels import Panel, PanelHandle
    from zot_core.wire.codec import WireEvent
    from zot_core.wire.rpc import UiResponse

CHOICES = ("once", "tool", "session", "no")
"""What an `approve` is answered with: yes for this call, this tool, all tools of the session, or no."""
Outcome = Literal["answered", "cancelled", "timed_out"]


@dataclass(slots=True)
class _Open:
    """A dialog that waits for its answer."""

    method: str
    options: Sequence[str]
    answered: asyncio.Future[UiResponse | None]


class RpcUi(NullUi):
    """Asks the client. `answer` is given its `ui_response`s; after `close` nobody can be asked any more."""

    def __init__(self, note: Callable[[Note], None], send: Callable[[WireEvent], None]) -> None:
        super().__init__(note, "rpc")
        self.tell = send
        self.panels = Panels(send)
        self.wants_events = False
        """Whether the client asked for plugins' own events."""
        self._open: dict[str, _Open] = {}
        self._count = 0
        self._closed = False

    # --- the client's side ------------------------------------------------------------------------------------------

    def answer(self, response: UiResponse) -> None:
        """An answer of the client's. Raises UsageError for one that fits no open dialog, which then stays open."""
        dialog = self._open.get(response.request_id)
        if dialog is None:
            raise UsageError("no such ui_request is open: it was answered, it ended, or it never was")
        if not response.cancelled:
            _check(dialog, response)
        del self._open[response.request_id]
        dialog.answered.set_result(None if response.cancelled else response)

    def close(self) -> None:
        """The client asks and answers nothing any more: what is open is dismissed."""
        self._closed = True
        for dialog in self._open.values():
            dialog.answered.set_result(None)
        self._open.clear()
        self.panels.close_all()

    # --- dialogs ----------------------------------------------------------------------------------------------------

    async def select(self, title: str, options: Sequence[str], *, timeout: float | None = None) -> str | None:
        """The option that was chosen."""
        if not options:
            return None
        options = [str(option) for option in options]
        response, _ = await self._ask("select", timeout, {"title": title, "options": options}, options)
        return None if response is None else str(response.value)

    async def confirm(self, title: str, message: str = "", *, timeout: float | None = None) -> bool:
        """Yes only for `confirmed` true."""
        response, _ = await self._ask("confirm", timeout, {"title": title, "message": message})
        return response is not None and response.confirmed is True

    async def input(
        self, title: str, placeholder: str = "", *, timeout: float | None = None, hidden: bool = False
    ) -> str | None:
        """The text of `value`; with `hidden` the client shows none of it while it is typed."""
        fields = {"title": title, "placeholder": placeholder, "hidden": hidden}
        response, _ = await self._ask("input", timeout, fields)
        return None if response is None else str(response.value)

    async def editor(self, title: str, prefill: str = "", *, timeout: float | None = None) -> str | None:
        """The text of `value`."""
        response, _ = await self._ask("editor", timeout, {"title": title, "prefill": prefill})
        return None if response is None else str(response.value)

    async def question(
        self, questions: Sequence[Mapping[str, Any]], *, timeout: float | None = None
    ) -> Mapping[str, Any]:
        """`value` maps ids of questions to answers, or is a text that answers them all."""
        title = str(questions[0].get("header") or questions[0].get("question", "")) if questions else ""
        asked = {"title": title, "questions": [dict(question) for question in questions]}
        response, outcome = await self._ask("question", timeout, asked)
        if response is None:
            return {"outcome": outcome, "answers": {}}
        if isinstance(response.value, str):
            return {"outcome": "comment-submitted", "answers": {}, "comment": response.value}
        return {"outcome": "answered", "answers": response.value}

    async def approve(self, call_id: str, tool_name: str, preview: str) -> Approved:
        """`value` is one of `choices`, or `confirmed` says yes (once) or no."""
        fields = {
            "title": f"Run {tool_name}?",
            "tool": tool_name,
            "call_id": call_id,
            "preview": preview,
            "choices": list(CHOICES),
        }
        response, _ = await self._ask("approve", None, fields, CHOICES)
        if response is None or response.confirmed is False or response.value == "no":
            reason = "" if response is None else response.reason
            return Approved(allowed=False, reason=reason or "the user refused this call")
        remember: Any = "once" if response.confirmed else response.value
        return Approved(allowed=True, remember=remember)

    async def _ask(
        self, method: str, timeout: float | None, fields: Mapping[str, Any], options: Sequence[str] = ()
    ) -> tuple[UiResponse | None, Outcome]:
        if self._closed:
            return None, "cancelled"
        self._count += 1
        request_id = f"ui-{self._count}"
        answered: asyncio.Future[UiResponse | None] = asyncio.get_running_loop().create_future()
        self._open[request_id] = _Open(method, options, answered)
        event: WireEvent = {"type": "ui_request", "request_id": request_id, "method": method, **fields}
        if timeout is not None:
            event["timeout_ms"] = round(timeout * 1000)
        self.tell(event)
        try:
            async with asyncio.timeout(timeout):
                response = await answered
        except TimeoutError:
            self._dismissed(request_id, "timeout")
            return None, "timed_out"
        except asyncio.CancelledError:
            self._dismissed(request_id, "cancelled")
            raise
        return response, "cancelled" if response is None else "answered"

    def _dismissed(self, request_id: str, reason: str) -> None:
        """Nobody waits for the answer any more; the client may take the dialog away."""
        if self._open.pop(request_id, None) is not None:
            self.tell({"type": "ui_dismissed", "request_id": request_id, "reason": reason})

    # --- panels and events ------------------------------------------------------------------------------------------

    def open_panel(
        self, plugin: str, panel: Panel, on_key: Callable[[str, str], Any], on_close: Callable[[], Any]
    ) -> PanelHandle | None:
        """A panel that the client draws and drives; None when it has gone."""
        return None if self._closed else self.panels.open(plugin, panel, on_key, on_close)

    def send_event(self, plugin: str, name: str, data: Any) -> None:
        """To clients that asked for such."""
        if self.wants_events:
            self.tell({"type": "extension_event", "extension": plugin, "name": name, "data": data})

    # --- what plugins set -------------------------------------------------------------------------------------------

    def set_status(self, key: str, text: str | None) -> None:
        """A status under `key`; null takes it away."""
        self.tell({"type": "ui_update", "kind": "status", "key": key, "text": text})

    def set_widget(self, key: str, content: Any, **options: Any) -> None:
        """Lines under `key`; null takes them away. A component needs a screen and is not sent."""
        if callable(content):
            return
        update: WireEvent = {"type": "ui_update", "kind": "widget", "key": key}
        update["lines"] = None if content is None else [str(line) for line in content]
        update["placement"] = options.get("placement", "above_editor")
        update["actions"] = [dict(action) for action in options.get("actions", ())]
        self.tell(update)

    def set_title(self, text: str) -> None:
        """The title that the client's window may have."""
        self.tell({"type": "ui_update", "kind": "title", "text": text})

    def set_editor_text(self, text: str) -> None:
        """What the client's editor is to hold."""
        self.tell({"type": "ui_update", "kind": "editor_text", "text": text})

    def paste_to_editor(self, text: str) -> None:
        """Text for the cursor of the client's editor."""
        self.tell({"type": "ui_update", "kind": "paste", "text": text})


def _check(dialog: _Open, response: UiResponse) -> None:
    """Raises UsageError when the response is none for the dialog's method."""
    confirmed, value = response.confirmed is not None, response.value
    if dialog.method == "confirm" and not confirmed:
        raise UsageError("a confirm is answered with confirmed, or with cancelled")
    if confirmed and dialog.method not in ("confirm", "approve"):
        raise UsageError(f"{_article(dialog.method)} is answered with value, or with cancelled")
    if confirmed:
        return
    if dialog.method == "question":
        if not isinstance(value, (dict, str)):
            raise UsageError("a question's value is an object of answers by question id, or a text")
    elif not isinstance(value, str):
        raise UsageError(f"{_article(dialog.method)}'s value is a string")
    elif dialog.options and value not in dialog.options:
        raise UsageError(f"the value is none of the options: {', '.join(dialog.options)[:500]}")


def _article(method: str) -> str:
    return f"{'an' if method[0] in 'aeiou' else 'a'} {method}"
