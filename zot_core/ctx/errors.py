"""What a context refuses. Plain exceptions, importable without the rest of the room."""

from __future__ import annotations

from zot_core.types.failure import ZotError


class StaleContextError(ZotError):
    """A context outlived its session. The message names what replaced the session and what to use instead."""

    def __init__(self, plugin: str, replaced_by: str) -> None:
        super().__init__(
            f"this context of plugin {plugin!r} belongs to a session that was replaced by {replaced_by}; "
            "use the context that the new session's events bring"
        )


class StreamingError(ZotError):
    """A user message was sent while a run goes on, without saying how it shall join: `deliver_as="steer"` or
    `"follow_up"`."""
