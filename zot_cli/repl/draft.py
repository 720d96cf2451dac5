"""What is typed and not sent yet, kept in the home while zot runs, so that a crash does not take it.

One file for each process; that of a process which is gone is offered by the next start in the same folder. Knows the
editor and the queue, no session.
"""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from zot_core.config.files import write_whole
from zot_core.session.lock import is_alive

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl

QUIET = 0.3
"""Seconds after a change until it is written."""
MOST = 4_000_000
"""Characters that are kept; of more the beginning."""


class Draft:
    """Looks at each frame whether something else is typed. `offer` once the session is open, `end` at the end."""

    def __init__(self, repl: Repl, home: Path) -> None:
        self._repl = repl
        self._folder = home / "drafts"
        self._file = self._folder / f"{os.getpid()}.json"
        self._cwd = str(Path.cwd())
        self._seen: tuple[object, ...] = ("", (), 0)
        self._kept = ""
        self._timer: asyncio.TimerHandle | None = None
        self._failed = False
        repl.screen.app.after_render += lambda _: self._look()

    def offer(self) -> None:
        """What a zot that was ended in this folder had in its editor comes back, the latest; others are kept."""
        found = next(iter(sorted(self._left(), reverse=True)), None)
        if found is None:
            return
        _, path, text = found
        self._repl.editor.paste(text)
        self._repl.ui.notify_self("this was typed and not sent when zot ended here the last time")
        self._save()
        if self._kept:
            with suppress(OSError):
                path.unlink()

    def end(self) -> None:
        """Keeps what is still there, as it is now; nothing is left behind otherwise."""
        if self._timer is not None:
            self._timer.cancel()
        self._save()

    def _left(self) -> list[tuple[float, Path, str]]:
        """The drafts of this folder whose process is gone, with the time of their last change."""
        left = []
        for path in self._folder.glob("*.json") if self._folder.is_dir() else ():
            with suppress(OSError, ValueError, KeyError, TypeError):  # another zot takes it, or it is none
                if path == self._file or not is_alive(int(path.stem)):
                    stored = json.loads(path.read_text(encoding="utf-8"))
                    if stored["cwd"] == self._cwd and isinstance(stored["text"], str):
                        left.append((path.stat().st_mtime, path, stored["text"]))
        return left

    def _look(self) -> None:
        repl = self._repl
        now = (repl.editor.shown, repl.front.state.waiting, len(repl.sending.early))
        if now != self._seen and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(QUIET, self._save)
        self._seen = now

    def _text(self) -> str:
        """What waits, then what is typed: the order in which it would have gone out."""
        repl = self._repl
        waiting = [*(text for text, _ in repl.sending.early), *(one.text for one in repl.front.state.waiting)]
        return "\n".join(filter(str.strip, [*waiting, repl.editor.text]))[:MOST]

    def _save(self) -> None:
        self._timer = None
        text = self._text()
        if text == self._kept:
            return
        try:
            if text:
                self._folder.mkdir(mode=0o700, exist_ok=True)
                write_whole(self._file, json.dumps({"cwd": self._cwd, "text": text}))
            else:
                self._file.unlink(missing_ok=True)
            self._kept = text
        except OSError as error:
            if not self._failed:
                self._failed = True
                self._repl.tell(f"what is typed is not kept for a crash: {error}", "warning")
