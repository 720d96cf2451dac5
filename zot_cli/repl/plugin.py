"""The screen's own plugin, `repl`: commands that make sense only where there is a screen and a keyboard.

It has no other doors than any plugin but the application that it is given. What works elsewhere too is not here.
"""

from __future__ import annotations

import base64
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

from zot_cli.repl import state as st
from zot_cli.repl.keys import ACTIONS
from zot_core import hookimpl
from zot_core.types.messages import AssistantMessage
from zot_core.types.specs import CommandSpec

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl

_COPIERS = (("wl-copy",), ("xclip", "-selection", "clipboard"), ("xsel", "-ib"), ("pbcopy",), ("clip.exe",))
"""Programs that take the clipboard's new content from their input, the first that is there."""
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
            CommandSpec(name="exit", description="leave zot", handler=self._exit, modes=only),
            CommandSpec(name="quit", description="leave zot", handler=self._exit, modes=only),
            CommandSpec(
                name="clear",
                description="clear the screen and begin a new session",
                handler=self._clear,
                busy="abort",
                modes=only,
            ),
            CommandSpec(
                name="theme",
                description="choose the colours; they are tried on while choosing",
                argument_hint="[NAME]",
                handler=self._theme,
                complete=lambda text: [one for one in self._theme_names() if one.startswith(text.strip())],
                modes=only,
            ),
            CommandSpec(name="copy", description="copy the last answer", handler=self._copy, modes=only),
            CommandSpec(name="hotkeys", description="what the keys do", handler=self._hotkeys, modes=only),
        ]

    @hookimpl
    def session_start(self, event: Any) -> None:
        """Another session has taken this one's place: what was said in it is shown."""
        app = self._repl.app
        if app is not None and event.reason in ("resume", "fork", "new"):
            self._repl.transcript.blocks.clear()
            self._repl.show_session(app)

    async def _exit(self, args: str, ctx: Any) -> None:
        self._repl.leave()

    async def _clear(self, args: str, ctx: Any) -> None:
        if await ctx.new_session():
            self._repl.transcript.blocks.clear()
            self._repl.front.change(st.unflash(self._repl.front.state))
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
        rows = [
            f"| {', '.join(f'`{key}`' for key in self._repl.keymap.keys(action.id)) or '–'} | {action.help} |"
            for action in ACTIONS
            if action.id.startswith("app.")
        ]
        brought = [f"| `{spec.key}` | {spec.description} ({plugin}) |" for plugin, spec in self._repl.shortcuts.rows]
        return "\n".join(["| keys | what they do |", "|---|---|", *rows, *brought])


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
