"""The screen's own plugin, `repl`: commands that make sense only where there is a screen and a keyboard.

It has no other doors than any plugin but the application that it is given. What works elsewhere too is not here.
"""

from __future__ import annotations

import base64
import shutil
import subprocess
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from zot_cli.plain import one_line
from zot_cli.repl import state as st
from zot_cli.repl.keys import ACTIONS, EDITING, Action
from zot_core import hookimpl
from zot_core.types.messages import AssistantMessage
from zot_core.types.specs import CommandSpec

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl
    from zot_core.app import App

_ZOT = "zot"
"""The heading in `/help` of what is about the program."""
_COPIERS = (("wl-copy",), ("xclip", "-selection", "clipboard"), ("xsel", "-ib"), ("pbcopy",), ("clip.exe",))
"""Programs that take the clipboard's new content from their input, the first that is there."""
RELOAD = "reload"
"""Whose note the list of what was not loaded is."""
RELOADED_S = 5.0
"""Seconds that it is said what a reload has loaded."""
MOST_BY_TERMINAL = 74_994
"""Bytes that terminals take by OSC 52; xterm's limit is 100,000 of base64."""


class ReplPlugin:
    """Commands of the screen."""

    def __init__(self, repl: Repl) -> None:
        self._repl = repl

    @hookimpl
    def commands(self) -> list[CommandSpec]:
        """Commands that only a screen has."""
        only: Any = ("repl",)
        return [
            CommandSpec(
                name="exit", description="leave zot", handler=self._exit, modes=only, aliases=("quit",), group=_ZOT
            ),
            CommandSpec(
                name="clear",
                description="clear the screen and begin a new session",
                handler=self._clear,
                busy="abort",
                modes=only,
                group="Conversation",
            ),
            CommandSpec(
                name="theme",
                description="choose the colours; they are tried on while choosing",
                argument_hint="[NAME]",
                handler=self._theme,
                complete=lambda text: [one for one in self._theme_names() if one.startswith(text.strip())],
                modes=only,
                group=_ZOT,
            ),
            CommandSpec(
                name="copy", description="copy the last answer", handler=self._copy, modes=only, group="Conversation"
            ),
            CommandSpec(name="hotkeys", description="what the keys do", handler=self._hotkeys, modes=only, group=_ZOT),
        ]

    @hookimpl
    def session_start(self, event: Any) -> None:
        """Another session has taken this one's place: what was said in it is shown. A reload says what is there; what
        could not be loaded was told, and the footer says so until it can."""
        app = self._repl.app
        if app is not None and event.reason == "reload":
            self._repl.ui.notify_self(f"Loaded anew: {_count(app.runtime.host.plugins)}", RELOADED_S)
            self._list_failures(app)
        if app is not None and event.reason in ("resume", "fork", "new"):
            self._repl.transcript.blocks.clear()
            self._repl.screen.forget()
            self._repl.show_session(app)

    def _list_failures(self, app: App) -> None:
        """What could not be loaded, together and in red until the next reload."""
        state, failed = st.unflash(self._repl.front.state, RELOAD), app.diagnostics.failed
        rows = {
            row.plugin: row.message for row in app.diagnostics.rows if row.plugin in failed and row.level == "error"
        }
        lines = [f"{len(rows)} not loaded:", *(f"{name}: {one_line(why, 200)}" for name, why in sorted(rows.items()))]
        note = st.Flash(source=RELOAD, text="\n".join(lines), level="error", sticky=True)
        self._repl.front.change(st.flash(state, note) if rows else state)

    async def _exit(self, args: str, ctx: Any) -> None:
        self._repl.leave()

    async def _clear(self, args: str, ctx: Any) -> None:
        if await ctx.new_session():
            self._repl.transcript.blocks.clear()
            self._repl.front.change(st.unflash(st.unflash(self._repl.front.state), RELOAD))
            self._repl.screen.clear()

    async def _theme(self, args: str, ctx: Any) -> str:
        return await self._repl.themes.choose(args.strip())

    def _theme_names(self) -> list[str]:
        return ["auto", *self._repl.themes.found().by_name]

    async def _copy(self, args: str, ctx: Any) -> None:
        said = [m.text for m in ctx.session.messages() if isinstance(m, AssistantMessage) and m.text]
        if not said:
            self._repl.ui.notify_self("there is no answer to copy yet")
            return
        how = copy(said[-1], self._repl.screen.output.write_raw)
        self._repl.screen.output.flush()
        self._repl.ui.notify_self(f"{len(said[-1])} characters copied {how}" if how else "too long for the terminal")

    async def _hotkeys(self, args: str, ctx: Any) -> str:
        def row(action: Action) -> str:
            keys = self._repl.keymap.keys(action.id)
            return f"| {', '.join(f'`{key}`' for key in keys) or '–'} | {action.help} |"

        rows = [row(action) for action in ACTIONS if action.id.startswith("app.")]
        typing = ["| while typing | what they do |", "|---|---|", *map(row, EDITING), ""]
        brought = [f"| `{spec.key}` | {spec.description} ({plugin}) |" for plugin, spec in self._repl.shortcuts.rows]
        return "\n".join([*typing, "| keys | what they do |", "|---|---|", *rows, *brought])


def _count(names: Iterable[str]) -> str:
    """How many plugins and how many of them are extensions."""
    found = list(names)
    extensions = sum(name.startswith("ext:") for name in found)
    plural = "" if extensions == 1 else "s"
    return f"{len(found) - extensions} plugins, {extensions or 'no'} extension{plural}"


def copy(text: str, write: Any) -> str:
    """Copies to the clipboard by a program of the system, else by the terminal itself (OSC 52); how, "" if not."""
    for program in _COPIERS:
        if shutil.which(program[0]):
            done = subprocess.run(program, input=text.encode(), capture_output=True, timeout=5, check=False)
            if done.returncode == 0:
                return f"by {program[0]}"
    data = text.encode()
    if len(data) > MOST_BY_TERMINAL:
        return ""
    write(f"\x1b]52;c;{base64.b64encode(data).decode()}\x07")
    return "by the terminal"
