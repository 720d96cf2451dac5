"""Writing in the person's own editor: a file of the text, the program, and what the file says afterwards.

Knows no editor of zot's.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit.application.current import set_app
from prompt_toolkit.application.run_in_terminal import in_terminal

if TYPE_CHECKING:
    from zot_cli.repl.screen import Screen

_USUAL = ("editor", "nano", "vim", "vi", "emacs")
"""Programs that are tried where neither $VISUAL nor $EDITOR says one."""


class CannotWrite(Exception):
    """There is no editor, it failed, or what it left cannot be read; in words."""


async def away(screen: Screen, work: Callable[[], str]) -> str:
    """What `work` answers, done in a thread while the terminal is its; the screen comes back afterwards."""
    async with screen.lent:
        with set_app(screen.app), screen.paused():
            async with in_terminal():
                screen.forget()  # a program without an alternate screen writes below what stands there
                return await asyncio.to_thread(work)


def program() -> list[str]:
    """The person's editor with its options. Raises CannotWrite."""
    for name in ("VISUAL", "EDITOR"):
        if value := os.environ.get(name, "").strip():
            try:
                return shlex.split(value)
            except ValueError as error:
                raise CannotWrite(f"${name} is no command: {error}") from error
    for usual in ("notepad",) if os.name == "nt" else _USUAL:
        if found := shutil.which(usual):
            return [found]
    raise CannotWrite("set $VISUAL or $EDITOR to the editor that you like; none was found")


def written(text: str) -> str:
    """What the editor made of `text`; blocks until it ends. Raises CannotWrite; the text is then as it was."""
    command = program()
    fd, name = tempfile.mkstemp(prefix="zot-", suffix=".md")
    path = Path(name)
    try:
        with os.fdopen(fd, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text)
        try:
            code = subprocess.call([*command, name])
        except OSError as error:
            raise CannotWrite(f"{command[0]}: {error.strerror or error}") from error
        if code:
            raise CannotWrite(f"{command[0]} ended with exit code {code}; the text is as it was")
        try:
            found = path.read_bytes()
        except OSError as error:
            raise CannotWrite(f"the file is gone: {error.strerror or error}") from error
        return found.decode("utf-8", "replace").removesuffix("\n")
    finally:
        path.unlink(missing_ok=True)
