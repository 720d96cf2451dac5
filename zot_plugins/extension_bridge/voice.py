"""What zot has to say of an extension: to its log, to the person, and to who asks for its status.

A thing is told the person once; the log gets it each time, but of noise one line a kind.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any, Literal

from zot_core.types.failure import ZotError
from zot_plugins.extension_bridge.logs import ExtensionLog

KINDS = 50
"""Kinds of noise that are logged; a program that prints on its protocol's pipe has no end of them."""
KEPT = 100

NOTES_AT_ONCE = 1000
NOTES_A_SECOND = 100.0
"""Notes of an extension beyond these are dropped: a program in a loop must not bury everything else."""

Level = Literal["info", "warning", "error"]


class Voice:
    """The word on one extension. What is told before there is a session is said when there is one."""

    def __init__(self, plugin: str, log: ExtensionLog) -> None:
        self.log = log
        self.conflicts: list[str] = []
        self.warnings: list[str] = []
        self._plugin = plugin
        self._kinds: set[str] = set()
        self._told: set[str] = set()
        self._unsaid: list[tuple[str, Level]] = []
        self._ctx: Any = None
        self._off: Callable[[], None] = lambda: None
        self._notes_left = float(NOTES_AT_ONCE)
        self._noted = monotonic()

    def begin(self, ctx: Any, dealt_with: Callable[[str, str], bool]) -> None:
        """A session is there to be told. What zot itself finds about the plugin goes to the log too, but for what
        `dealt_with(plugin, message)` takes."""
        self._ctx = ctx

        def heard(diagnostic: Any) -> None:
            taken = dealt_with(diagnostic.plugin, diagnostic.message)
            if not taken and diagnostic.plugin == self._plugin and diagnostic.message not in self._told:
                self.log.say(f"{diagnostic.hook}: {diagnostic.message}" if diagnostic.hook else diagnostic.message)

        self._off = ctx.diagnostics.subscribe(heard)
        unsaid, self._unsaid = self._unsaid, []
        for message, level in unsaid:
            _report(ctx, message, level)

    def end(self) -> None:
        """The session is over."""
        self._off()
        self._ctx = None

    def tell(self, message: str, level: Level = "warning") -> None:
        """To the person, once, and the log."""
        self.log.say(message)
        _keep(self.warnings, message)
        if message in self._told:
            return
        self._told.add(message)
        try:
            if self._ctx is not None:
                _report(self._ctx, message, level)
                return
        except ZotError:
            pass  # that session has ended without a word
        self._unsaid.append((message, level))

    def may_note(self) -> bool:
        """Whether one more note of the extension is shown."""
        now = monotonic()
        self._notes_left = min(NOTES_AT_ONCE, self._notes_left + (now - self._noted) * NOTES_A_SECOND)
        self._noted = now
        if self._notes_left < 1:
            message = f"shows more notes than {NOTES_A_SECOND:.0f} a second; those beyond are dropped"
            if message not in self._told:
                self.tell(message)
            return False
        self._notes_left -= 1
        return True

    def conflict(self, message: str) -> None:
        """A registration that is not used."""
        self.log.say(message)
        _keep(self.conflicts, message)

    def warn(self, message: str) -> None:
        """Something for the extension's author, not for who uses it."""
        self.log.say(message)
        _keep(self.warnings, message)

    def noise(self, kind: str, message: str) -> None:
        """Something that was skipped; more of its kind is not logged."""
        if kind in self._kinds or len(self._kinds) >= KINDS:
            return
        self._kinds.add(kind)
        _keep(self.warnings, message)
        self.log.say(f"{message}; it is skipped, and more of this kind is not logged")
        if len(self._kinds) == KINDS:
            self.log.say("there are too many kinds of lines to skip; no more is said of them")


def _report(ctx: Any, message: str, level: Level) -> None:
    ctx.report(message, level)
    if ctx.mode == "rpc":  # a program reads no diagnostics: it is promised an `ext_notify`
        ctx.ui.notify(message, level)


def _keep(messages: list[str], message: str) -> None:
    if message not in messages and len(messages) < KEPT:
        messages.append(message)
