"""The pictures of the transcript: made ready in a thread before what they stand in moves up, and kept for a while.

Bounded: of what was made the latest stay, and of older ones a line of facts is printed again. Knows no block.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict, deque
from collections.abc import Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from zot_cli.repl import inline
from zot_cli.repl.inline import Art, Drawing, Space
from zot_cli.repl.spans import Line
from zot_core.types.content import Image
from zot_core.types.record import record

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl
    from zot_cli.repl.pixels import Pixels

KEPT_CHARACTERS = 12 << 20
"""Base64 that is kept of pictures made ready: a dozen large ones, or hundreds of small ones."""
KEPT = 2000
"""Pictures that are known at all, be it only why they are not drawn."""
PATIENCE = 2.5
"""Seconds that finished blocks wait for their pictures, all together; what is not ready then is a line of facts."""
_BOX = (1920, 1200)
"""Pixels that a picture is scaled into at most, however large the screen is."""
_Key: TypeAlias = tuple[str, int, int]


@record(kw_only=True)
class _Made:
    """A picture made ready, or why it is not drawn."""

    pixels: Pixels | None = None
    why: str = ""


class Gallery:
    """`protocol` says how the terminal draws now, `space` what there is for a picture; `begin` runs a coroutine beside
    the screen, and `changed` is called when what waited may be printed."""

    def __init__(
        self,
        protocol: Callable[[], inline.Protocol | None],
        space: Callable[[], Space],
        begin: Callable[[Coroutine[Any, Any, None], str], None],
        changed: Callable[[], None],
    ) -> None:
        self._protocol, self._space = protocol, space
        self._begin, self._changed = begin, changed
        self._kept: OrderedDict[_Key, _Made] = OrderedDict()
        self._queue: deque[Image] = deque()
        self._then: Callable[[], None] | None = None
        self.busy = False
        """Pictures are being made ready: nothing moves up meanwhile, so that the order stays."""

    @property
    def on(self) -> bool:
        """Whether pictures are drawn."""
        return self._protocol() is not None

    def drawing(self, image: Image, columns: int, rows: int | None = None) -> tuple[Drawing | None, str]:
        """The picture within so many columns and rows if it is ready, else None and why it never will be."""
        protocol = self._protocol()
        found = self._kept.get(_key(image, protocol)) if protocol is not None else None
        if protocol is None or found is None or found.pixels is None:
            return None, found.why if found is not None else ""
        self._kept.move_to_end(_key(image, protocol))
        room = self._space()
        most = max(min(rows or room.rows, room.rows), 1)
        room = Space(columns=max(min(columns, room.columns), 1), rows=most, cell=room.cell)
        pixels = found.pixels
        wide, high = inline.cells(pixels.natural, room)
        return Drawing(protocol=protocol, data=pixels.data, size=pixels.size, columns=wide, rows=high), ""

    def ready(self, lines: Iterable[Line], then: Callable[[], None] | None = None) -> bool:
        """Whether the pictures of lines that are to be printed are ready. If not they are made so; then `then` is
        called, if it is given, and `changed`. The latest `then` counts."""
        protocol = self._protocol()
        wanted = [
            style.image
            for line in lines
            for style, _ in line
            if isinstance(style, Art) and protocol is not None and _key(style.image, protocol) not in self._kept
        ]
        self._then = then if wanted else None
        if not wanted:
            return True
        self._queue += wanted
        if not self.busy:
            self.busy = True
            self._begin(self._make(), "pictures")
        return False

    async def _make(self) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + PATIENCE
        try:
            while self._queue:
                image, protocol = self._queue.popleft(), self._protocol()
                if protocol is None or (key := _key(image, protocol)) in self._kept:
                    continue
                self._keep(key, await self._made(image, protocol, end - loop.time()))
        finally:
            self.busy = False
        then, self._then = self._then, None
        if then is not None:
            then()
        self._changed()

    async def _made(self, image: Image, protocol: inline.Protocol, left: float) -> _Made:
        room = self._space()
        box = tuple(
            max(min(round(cells * pixels), most), 1)
            for cells, pixels, most in zip((room.columns, inline.MOST_ROWS), room.cell, _BOX, strict=True)
        )
        try:
            return await asyncio.wait_for(asyncio.to_thread(_pixels, image, protocol, (box[0], box[1])), left)
        except TimeoutError:
            return _Made(why="took too long to draw")

    def _keep(self, key: _Key, made: _Made) -> None:
        self._kept[key] = made
        size = sum(len(one.pixels.data) for one in self._kept.values() if one.pixels is not None)
        for old, one in list(self._kept.items()):
            if size <= KEPT_CHARACTERS:
                break
            if one.pixels is not None and old != key:
                size -= len(one.pixels.data)
                self._kept[old] = _Made()  # still known, so that it is not made again and again
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)


def gallery_of(repl: Repl, changed: Callable[[], None]) -> Gallery:
    """The gallery of the screen. Nothing is drawn before the person's settings are known."""

    def protocol() -> inline.Protocol | None:
        app = repl.app
        return None if app is None else inline.protocol(os.environ, app.runtime.settings.values.images)

    def space() -> Space:
        screen = repl.screen
        return inline.space(screen.output.fileno(), screen.width, screen.size.rows)

    return Gallery(protocol, space, repl.begin, changed)


def _pixels(image: Image, protocol: inline.Protocol, box: tuple[int, int]) -> _Made:
    from zot_cli.repl.pixels import NotDrawnError, made

    try:
        return _Made(pixels=made(image, protocol, box))
    except NotDrawnError as error:
        return _Made(why=str(error))


def _key(image: Image, protocol: inline.Protocol | None) -> _Key:
    """Names a picture without keeping its bytes a second time."""
    return protocol or "", len(image.data), hash(image.data)
