"""What is typed and not sent yet, kept in the home while zot runs, so that a crash does not take it.

One file for each process, and one for the pictures in it, that is written when other pictures are there; those of a
process which is gone are offered by the next start in the same folder. Knows the editor and the queue, no session.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zot_core.config.files import write_whole
from zot_core.session.lock import is_alive
from zot_core.types.content import Image

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl

QUIET = 0.3
"""Seconds after a change until it is written."""
MOST = 4_000_000
"""Characters that are kept; of more the beginning."""
PICTURES = 24_000_000
"""Characters of pictures that are kept, as they are sent (base64); what does not fit becomes words when it returns."""


class Draft:
    """Looks at each frame whether something else is typed. `offer` once the session is open, `end` at the end."""

    def __init__(self, repl: Repl, home: Path) -> None:
        self._repl = repl
        self._folder = home / "drafts"
        self._file = self._folder / f"{os.getpid()}.json"
        self._cwd = str(Path.cwd())
        self._seen: tuple[object, ...] = ("", (), 0)
        self._kept = ""
        self._pictures: tuple[str, ...] = ()
        self._timer: asyncio.TimerHandle | None = None
        self._failed = False
        repl.screen.app.after_render += lambda _: self._look()

    def offer(self) -> None:
        """What a zot that was ended in this folder had in its editor comes back, the latest; others are kept."""
        found = next(iter(sorted(self._left(), key=lambda one: one[:2], reverse=True)), None)
        if found is None:
            return
        _, path, stored = found
        self._repl.editor.restore(
            stored["text"], _texts(stored.get("pastes")), _pictures(_beside(path)), _names(stored.get("pictures"))
        )
        self._repl.ui.notify_self("this was typed and not sent when zot ended here the last time")
        self._save()
        if self._kept:
            for one in (path, _beside(path)):
                with suppress(OSError):
                    one.unlink()

    def end(self) -> None:
        """Keeps what is still there, as it is now; nothing is left behind otherwise."""
        if self._timer is not None:
            self._timer.cancel()
        self._save()

    def _left(self) -> list[tuple[float, Path, dict[str, Any]]]:
        """The drafts of this folder whose process is gone, with the time of their last change."""
        left = []
        for path in self._folder.glob("*.json") if self._folder.is_dir() else ():
            with suppress(OSError, ValueError, KeyError, TypeError):  # another zot takes it, or it is none
                if path == self._file or not is_alive(int(path.stem)):
                    stored = json.loads(path.read_text(encoding="utf-8"))
                    if stored["cwd"] == self._cwd and isinstance(stored["text"], str):
                        left.append((path.stat().st_mtime, path, stored))
        return left

    def _look(self) -> None:
        repl = self._repl
        now = (repl.editor.shown, repl.front.state.waiting, len(repl.sending.early))
        if now != self._seen and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(QUIET, self._save)
        self._seen = now

    def _text(self) -> str:
        """What waits, then what is typed, chips folded: the order in which it would have gone out."""
        repl = self._repl
        waiting = [*(text for text, _ in repl.sending.early), *(one.text for one in repl.front.state.waiting)]
        folded = map(repl.editor.chips.folded, waiting)
        return "\n".join(filter(str.strip, [*folded, repl.editor.shown]))[:MOST]

    def _save(self) -> None:
        self._timer = None
        text = self._text()
        if text == self._kept:
            return
        pastes, pictures = self._repl.editor.chips.contents(text)
        try:
            if text:
                self._folder.mkdir(mode=0o700, exist_ok=True)
                kept = _fitting(pastes, MOST)
                names = [*pictures, *(chip for chip in pastes if chip not in kept)]
                stored = {"cwd": self._cwd, "text": text, "pastes": kept, "pictures": names}
                self._save_pictures(pictures)
                write_whole(self._file, json.dumps(stored))
            else:
                self._file.unlink(missing_ok=True)
                self._save_pictures({})
            self._kept = text
        except (OSError, ValueError) as error:
            if not self._failed:
                self._failed = True
                self._repl.tell(f"what is typed is not kept for a crash: {error}", "warning")

    def _save_pictures(self, pictures: Mapping[str, Image]) -> None:
        if tuple(pictures) == self._pictures:
            return
        if pictures:
            data = _fitting({chip: picture.data for chip, picture in pictures.items()}, PICTURES)
            found = {chip: {"mime_type": pictures[chip].mime_type, "data": data[chip]} for chip in data}
            write_whole(_beside(self._file), json.dumps(found))
        else:
            _beside(self._file).unlink(missing_ok=True)
        self._pictures = tuple(pictures)


def _beside(path: Path) -> Path:
    """Where the pictures of a draft are."""
    return path.with_suffix(".pictures")


def _fitting(contents: Mapping[str, str], most: int) -> dict[str, str]:
    """The contents in their order, as many as fit."""
    kept: dict[str, str] = {}
    for chip, content in contents.items():
        if len(content) <= most:
            kept[chip] = content
            most -= len(content)
    return kept


def _pictures(path: Path) -> dict[str, Image]:
    """The pictures of a draft; none where they cannot be read."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return {
            str(chip): Image(mime_type=str(one["mime_type"]), data=str(one["data"])) for chip, one in stored.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _texts(stored: Any) -> dict[str, str]:
    return {chip: text for chip, text in stored.items() if isinstance(text, str)} if isinstance(stored, dict) else {}


def _names(stored: Any) -> list[str]:
    return [name for name in stored if isinstance(name, str)] if isinstance(stored, list) else []
