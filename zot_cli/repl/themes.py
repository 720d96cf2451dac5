"""The theme of the screen: the person's choice, tried on while choosing, read again when its file changes.

`auto` is the built-in one that fits the terminal. Knows the application and no file format.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from zot_cli.repl.dialogs.select import Choice, SelectDialog
from zot_core.config.paths import Paths
from zot_core.config.problems import SaveRefused
from zot_core.config.resources import roots
from zot_core.config.store import SettingsStore
from zot_core.ui.theme import Appearance, Theme, ThemeError, built_in, load_theme
from zot_core.ui.theme_list import Themes, find_themes

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl
    from zot_core.runtime.runtime import Runtime

AUTO = "auto"
LOOK_S = 1.0
"""Seconds between two looks at the file of the theme in use; there is none to look at for a built-in one."""


class ScreenThemes:
    """The themes of the session and the one in use."""

    def __init__(self, repl: Repl, terminal: Appearance) -> None:
        self._repl = repl
        self._terminal = terminal
        self._watch: asyncio.TimerHandle | None = None
        self._stamp: tuple[int, int] | None = None
        self.of_plugin = False
        """Whether a plugin has chosen the theme of this session."""

    @property
    def used(self) -> Theme:
        """The theme in use."""
        return self._repl.look.theme

    def found(self, runtime: Runtime | None = None) -> Themes:
        """The session's themes: the project's if it is trusted, the person's, those of plugins."""
        app = self._repl.app
        if runtime is None and app is not None:
            runtime = app.runtime
        if runtime is None:
            return Themes(by_name={})
        places = roots(
            "themes",
            cwd=Path(runtime.cwd),
            home=str(runtime.app.paths.home),
            trusted=runtime.trusted,
            brought=runtime.resource_paths("themes"),
        )
        return find_themes(places, terminal=self._terminal)

    def fitting(self) -> Theme:
        """The built-in theme that fits the terminal."""
        return built_in(self._terminal)

    def begin(self, name: str) -> None:
        """The theme of the settings; one that is not there is told, and the built-in one stays."""
        if name in ("", AUTO) or self.of_plugin:
            return
        found = self.found()
        theme = found.by_name.get(name)
        if theme is None:
            known = ", ".join([AUTO, *found.by_name])
            self._repl.tell(f"there is no theme {name!r}; there are {known}", "warning")
            for problem in found.problems:
                if problem.level == "error":
                    self._repl.tell(str(problem), "warning")
            return
        self.use(theme)

    def use(self, theme: Theme) -> None:
        """Draws in `theme` from now on; what was printed stays as it is."""
        self._repl.look = self._repl.look.themed(theme)
        self._repl.draw()
        self._watch_file()

    async def choose(self, name: str) -> str:
        """The theme that is named, or one from a list that is tried on while moving through it; it is kept."""
        found = self.found().by_name
        if not name:
            before = self.used
            names = [AUTO, *found]
            choices = [Choice(value=one, hint=found[one].description if one in found else "") for one in names]
            at = names.index(before.name) if before.name in names else 0
            chosen = await self._repl.ui.ask(
                lambda done: SelectDialog(
                    self._repl.look, "Which theme?", choices, done, at=at, moved=lambda one: self.use(self._named(one))
                ),
                None,
            )
            if chosen is None:
                self.use(before)
                return ""
            name = chosen
        if name != AUTO and name not in found:
            return f"There is no theme {name}; there are {', '.join([AUTO, *found])}."
        self.use(self._named(name))
        try:
            await asyncio.to_thread(SettingsStore(Paths.find()).set, "theme", name)
        except SaveRefused as error:
            return f"Theme: {name}, for this session: {error}"
        return f"Theme: {name}"

    def stop(self) -> None:
        """Looks at no file any more."""
        if self._watch is not None:
            self._watch.cancel()

    def _named(self, name: str) -> Theme:
        found = self.found().by_name.get(name) if name != AUTO else None
        return found or self.fitting()

    def _watch_file(self) -> None:
        self.stop()
        self._watch = None
        self._stamp = _stamp(self.used.path)
        if self.used.path and self.used is not built_in(self.used.appearance):
            self._watch = asyncio.get_running_loop().call_later(LOOK_S, self._look)

    def _look(self) -> None:
        """Reads the file again if it has changed; a broken one is told and what was read before stays in use."""
        stamp = _stamp(self.used.path)
        if stamp is not None and stamp != self._stamp:
            self._stamp = stamp
            try:
                self.use(load_theme(self.used.path, terminal=self._terminal))
                self._repl.ui.notify_self(f"theme {self.used.name} was read again")
                return
            except ThemeError as error:
                self._repl.ui.notify_self(f"theme {self.used.name} is broken now: {error}")
        self._watch = asyncio.get_running_loop().call_later(LOOK_S, self._look)


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
