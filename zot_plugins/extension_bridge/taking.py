"""What each frame of an extension does, once it has said hello; a table from frame to function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from zot_core.wire import frames

if TYPE_CHECKING:
    from zot_plugins.extension_bridge.remote import Remote

FOR_SESSION = (frames.Submit, frames.PanelRender, frames.ClosePanel, frames.Notify, frames.ClearNotes)
"""Frames that need a session; the others can be taken between two."""


def take(remote: Remote, frame: frames.FromExtension) -> None:
    """Does what the frame says."""
    _HANDLERS[type(frame)](remote, frame)


def _answer(remote: Remote, frame: Any) -> None:
    if not remote.requests.answer(frame):
        remote.noise(f"stray {frame.type}", f"a `{frame.type}` for {frame.id!r}, which nobody waits for (any more)")


def _submit(remote: Remote, frame: frames.Submit) -> None:
    if remote.ctx.mode != "repl":
        remote.noise("submit", f"a `submit`, which {remote.ctx.mode} mode does not take")
    elif frame.text.strip():
        remote.ctx.send_user_message(frame.text, deliver_as="follow_up")


def _notify(remote: Remote, frame: frames.Notify) -> None:
    level = {"warn": "warning"}.get(frame.level, frame.level)
    if frame.level not in frames.LEVELS:
        known = ", ".join(frames.LEVELS)
        remote.noise("level", f"the level {frame.level!r} of a `notify` is none of {known}")
        level = "info"
    if remote.voice.may_note():
        remote.ctx.ui.notify(frame.message, level)


_HANDLERS: Mapping[type[frames.FromExtension], Callable[[Any, Any], Any]] = {
    frames.RegisterCommand: lambda remote, frame: remote.registrations.take(frame),
    frames.RegisterTool: lambda remote, frame: remote.registrations.take(frame),
    frames.Subscribe: lambda remote, frame: remote.registrations.take(frame),
    frames.Ready: lambda remote, frame: remote.handshake.ready(),
    frames.ToolResult: _answer,
    frames.CommandResponse: _answer,
    frames.InterceptResponse: _answer,
    frames.OversizedPrompt: _answer,
    frames.Submit: _submit,
    frames.PanelRender: lambda remote, frame: remote.panels.render(frame),
    frames.ClosePanel: lambda remote, frame: remote.panels.close(frame.panel_id),
    frames.Notify: _notify,
    frames.ClearNotes: lambda remote, frame: remote.ctx.ui.clear_notes(),
    frames.ShutdownAck: lambda remote, frame: remote.stop.acked.set(),
}
