"""What can go wrong with plugins, as exceptions. Knows nothing else."""

from __future__ import annotations

from zot_core.types.failure import ZotError


class PluginLoadError(ZotError):
    """A plugin could not be loaded; nothing of it is left behind. `traceback` is text, empty when it would not help."""

    def __init__(self, plugin: str, message: str, *, origin: str = "", traceback: str = "") -> None:
        super().__init__(f"plugin {plugin} could not be loaded: {message}")
        self.plugin = plugin
        self.reason = message
        self.origin = origin
        self.traceback = traceback


class ReplacementFailed(PluginLoadError):
    """A plugin could not be loaded anew; `kept` goes on in its place: the one that was there, at work again."""

    def __init__(self, plugin: str, message: str, *, kept: object, origin: str = "") -> None:
        super().__init__(plugin, message, origin=origin)
        self.kept = kept


class WouldDeadlock(ZotError):
    """A handler asked to wait for the run that waits for the handler. The message names what to do instead."""


class WrongAnswer(ZotError):
    """A handler answered what its hook does not take; counts as an error of that handler."""
