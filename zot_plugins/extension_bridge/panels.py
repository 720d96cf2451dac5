"""Panels of an extension: what it shows goes to the front end, the person's keys come back, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zot_core.types.panels import KEYS, Panel, PanelHandle
from zot_core.wire import frames

if TYPE_CHECKING:
    from zot_plugins.extension_bridge.remote import Remote


class Panels:
    """The open panels of one extension, by its own names for them."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote
        self._open: dict[str, tuple[PanelHandle, Panel]] = {}

    def open(self, ctx: Any, content: frames.PanelContent) -> bool:
        """Opens a panel, or shows other content in the one that is open under that name. False where there are
        none."""
        id = content.id
        panel = Panel(id=id, title=content.title, lines=tuple(content.lines), footer=content.footer)
        if id in self._open:
            handle = self._open[id][0]
            handle.update(panel)
        else:

            def on_key(key: str, text: str = "") -> None:
                self._key(id, key, text)

            def on_close() -> None:
                self._closed(id)

            handle = ctx.ui.open_panel(panel, on_key, on_close)
            if handle is None:
                return False
        self._open[id] = (handle, panel)
        return True

    def render(self, frame: frames.PanelRender) -> None:
        """Shows other content in an open panel; what it draws for a closed one is dropped, as closing may cross it."""
        if frame.panel_id not in self._open:
            self._remote.noise("closed panel", f"`panel_render` names {frame.panel_id!r}, which is not open")
            return
        handle, before = self._open[frame.panel_id]
        panel = Panel(
            id=frame.panel_id,
            title=before.title if frame.title is None else frame.title,
            lines=tuple(frame.lines),
            footer=before.footer if frame.footer is None else frame.footer,
        )
        self._open[frame.panel_id] = (handle, panel)
        handle.update(panel)

    def close(self, id: str) -> None:
        """Closes a panel because the extension says so."""
        handle, _ = self._open.pop(id, (None, None))
        if handle is not None:
            handle.close()

    def close_all(self) -> None:
        """Closes all: the extension is gone, or the session ends."""
        for id in list(self._open):
            self.close(id)

    def _key(self, id: str, key: str, text: str) -> None:
        if id in self._open and key in KEYS:
            self._remote.send(frames.PanelKey(panel_id=id, key=key, text=text if key == "rune" else None))

    def _closed(self, id: str) -> None:
        if self._open.pop(id, None) is not None:
            self._remote.send(frames.PanelClosed(panel_id=id))
