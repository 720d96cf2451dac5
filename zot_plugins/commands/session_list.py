"""The list of sessions on a screen: searched by typing, renamed and deleted in place, of this project or of all.

The newest are shown at once; what is older is read while one looks at them. Changes files only through the core's
session room.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from zot_core.session.find import remove_session
from zot_core.session.listing import SessionInfo, newest_first, read_info
from zot_core.session.lock import holder_of
from zot_core.session.session import Session
from zot_core.types.failure import RunFailed, UsageError
from zot_core.ui import Input, Picker, RowAction, SelectItem, Text
from zot_core.ui.component import Container
from zot_plugins.commands.session import size

FIRST = 100
"""Sessions that are read before the list is shown."""
MORE = 1000
"""Sessions that are read before the list is shown anew."""
TITLE, PROJECT = 48, 32
"""Columns of a title, and of a project's folder, of which the end is shown."""
_KEEP, _DELETE = "Keep it", "Delete it"


class SessionList:
    """What `ctx.ui.custom` is given: `open` makes the component. It answers a session's path, or "" for none."""

    def __init__(self, ctx: Any) -> None:
        self._ctx = ctx
        self._infos: dict[Path, SessionInfo] = {}
        self._everything = False
        self._reading: asyncio.Task[Any] | None = None

    async def open(self, tui: Any, theme: Any, keybindings: Any, done: Callable[[Any], None]) -> Picker:
        """The list with the newest sessions in it."""
        self._tui = tui
        self._picker = Picker(
            "",
            (),
            lambda item: done(str(item.value)),
            lambda: done(""),
            actions=(
                RowAction(id="app.session.rename", text="rename", run=self._rename),
                RowAction(id="app.session.delete", text="delete", run=self._delete),
                RowAction(id="app.session.all", text=self._other, run=self._switch, needs_row=False),
            ),
            detail=self._detail,
            empty="there are no sessions here",
            theme=theme,
            keybindings=keybindings,
            tui=tui,
        )
        await self._read()
        others = (one.path for one in self._sorted() if one.id != self._ctx.session.id)
        self._picker.list.mark(next(others, None))
        return self._picker

    def close(self) -> None:
        """Reads no further."""
        if self._reading is not None:
            self._reading.cancel()

    # --- what there is -----------------------------------------------------------------------------------------------

    async def _read(self) -> None:
        """Reads the newest, and has the others read on."""
        self.close()
        self._infos = {}
        found = newest_first(self._ctx.session.root, None if self._everything else str(self._ctx.cwd))
        whole = await self._some(found, FIRST)
        self._show(whole)
        if not whole:
            self._reading = self._ctx.create_task(self._read_on(found), "the list of sessions")

    async def _read_on(self, found: Iterator[SessionInfo]) -> None:
        most = MORE
        while not (whole := await self._some(found, most)):
            self._show(whole)
            most *= 2  # all of them are sorted each time
        self._show(whole)

    async def _some(self, found: Iterator[SessionInfo], most: int) -> bool:
        """Reads some; whether those were the last."""
        read = await asyncio.to_thread(lambda: list(islice(found, most)))
        self._infos |= {one.path: one for one in read}
        return len(read) < most

    def _sorted(self) -> list[SessionInfo]:
        return sorted(self._infos.values(), key=lambda one: (one.updated, one.path), reverse=True)

    def _show(self, whole: bool = True) -> None:
        where = "all projects" if self._everything else "this project"
        number = f"{len(self._infos)}{'' if whole else ' so far'}"
        self._picker.title = f"Which session? {number} of {where}"
        self._picker.items = [self._item(one) for one in self._sorted()]
        self._tui.request_render()

    def _item(self, one: SessionInfo) -> SelectItem:
        title = one.title if len(one.title) <= TITLE else one.title[: TITLE - 1] + "…"
        said = [ago(one.updated), f"{'about ' if one.estimated else ''}{one.messages} messages"]
        said += ["this one"] if one.id == self._ctx.session.id else []
        said += [_short(one.cwd)] if self._everything and one.cwd else []
        said = [one.problem] if one.problem else said
        search = f"{one.title} {one.id} {one.preview} {one.cwd if self._everything else ''}"
        return SelectItem(value=one.path, label=title, description=" · ".join(said), search=search)

    def _detail(self, item: SelectItem) -> str:
        one = self._infos[item.value]
        said = " ".join(one.preview.split()) if one.name else ""
        return " · ".join(part for part in (one.id, size(one.size), _short(one.cwd), said) if part)

    # --- what is done with one ---------------------------------------------------------------------------------------

    def _other(self) -> str:
        return "this project" if self._everything else "all projects"

    async def _switch(self, marked: SelectItem | None) -> None:
        self._everything = not self._everything
        await self._read()

    async def _rename(self, marked: SelectItem) -> None:
        one = self._infos[marked.value]

        def ask(tui: Any, theme: Any, keybindings: Any, done: Callable[[Any], None]) -> Container:
            line = Input(
                done,
                lambda: done(None),
                value=one.name or "",
                placeholder="a name; with none its first words are shown",
                theme=theme,
                keybindings=keybindings,
            )
            asked = Container([Text(theme.fg("accent", f"A name for: {one.title[:200]}")), line])
            asked.focused = line
            return asked

        typed = await self._ctx.ui.custom(ask, title="A name for the session")
        name = None if typed is None else " ".join(typed.split())
        if name is None or name == (one.name or ""):
            return
        try:
            if one.id == self._ctx.session.id:
                self._ctx.session.set_name(name or None)
            else:
                await asyncio.to_thread(_named, one.path, name)
        except (RunFailed, UsageError) as error:
            self._picker.status = f"Not renamed: {error}"
            return
        await self._again(one.path)
        self._picker.status = f"It is called {name} now." if name else "It has no name now."

    async def _delete(self, marked: SelectItem) -> None:
        one = self._infos[marked.value]
        if one.id == self._ctx.session.id or str(one.path) == self._ctx.session.file:
            self._picker.status = "You are in this session; it cannot be deleted. /new begins another."
            return
        if (holder := await asyncio.to_thread(holder_of, one.path)) is not None:
            self._picker.status = f"It is open in {holder}; leave it there first."
            return
        title = f"Delete {one.title[:200]!r} for good? {one.path}, {one.messages} messages, {size(one.size)}"
        if await self._ctx.ui.select(title, [_KEEP, _DELETE]) != _DELETE:
            return
        try:
            await asyncio.to_thread(remove_session, one.path)
        except RunFailed as error:
            self._picker.status = f"Not deleted: {error}"
            await self._again(one.path)
            return
        self._infos.pop(one.path, None)
        self._show()
        self._picker.status = f"Deleted for good: {one.path}"

    async def _again(self, path: Path) -> None:
        """Reads one anew: it has another name, or is gone."""
        now = await asyncio.to_thread(_found, path)
        if now is not None:
            self._infos[path] = now
        else:
            self._infos.pop(path, None)
        self._show()


def _found(path: Path) -> SessionInfo | None:
    return read_info(path) if path.exists() else None


def _named(path: Path, name: str) -> None:
    with Session.open(path) as session:
        session.set_name(name or None)
        session.sync()


def _short(path: str) -> str:
    home = str(Path.home())
    path = f"~{path[len(home) :]}" if path == home or path.startswith(home + "/") else path
    return path if len(path) <= PROJECT else "…" + path[1 - PROJECT :]


def ago(then: float) -> str:
    """How long ago a time was, in words."""
    seconds = time.time() - then
    for unit, word in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= unit:
            number = int(seconds // unit)
            return f"{number} {word}{'s' if number > 1 else ''} ago"
    return "just now"
