"""A picture among components: a line of facts everywhere, and the picture below it where a screen draws pictures.

Reads headers, never pixels, so that it may be drawn in every frame. Knows no terminal and no protocol of one.
"""

from __future__ import annotations

import base64
import os
import re
from weakref import WeakValueDictionary

from zot_core.toolkit.sniff import image_size, image_type
from zot_core.toolkit.truncation import format_size
from zot_core.types import content
from zot_core.ui.ansi import cut, plain, width_of
from zot_core.ui.component import Component

MARK = "\x1b_zot:picture:"
"""Begins the mark that stands in a component's line before a picture's facts; all but a screen that draws drops it."""
_MARK = re.compile(f"{MARK}([0-9a-f]{{32}})\x07")
_HEADS = (64, 8 << 10, 256 << 10)
"""Bytes in which a size is looked for; only that of a JPEG may stand further on."""
_KNOWN = ("image/png", "image/jpeg", "image/gif", "image/webp")
_TYPE_CHARACTERS = 60


class Image(Component):
    """A picture, of a message's block or of a file's bytes: drawn where the terminal can, once what it stands in is
    finished and moves into the scrollback; until then, elsewhere, and for other front ends it is a line of facts.

    `columns` and `rows` are the most that it takes on the screen, the screen's own limits if they are not said. The
    renderer of a tool is told by `context.show_images` whether pictures are drawn.
    """

    def __init__(
        self,
        picture: content.Image | bytes,
        padding_x: int = 0,
        *,
        columns: int | None = None,
        rows: int | None = None,
    ) -> None:
        self.picture = _block(picture) if isinstance(picture, bytes) else picture
        self.columns, self.rows = columns, rows
        self._padding_x = padding_x
        self._key = os.urandom(16).hex()  # nothing that a model or a file says can name it
        _shown[self._key] = self

    def render(self, width: int) -> list[str]:
        """One line; a screen that draws prints the picture below it."""
        room = max(width - self._padding_x, 1)
        return [f"{' ' * self._padding_x}{MARK}{self._key}\x07{cut(facts(self.picture), room)}"]


_shown: WeakValueDictionary[str, Image] = WeakValueDictionary()


def facts(picture: content.Image, why: str = "") -> str:
    """A picture in words: `[picture image/png, 640×480, 12.3 KB]`, and `why` it is not to be seen, if that is so."""
    kind = " ".join(plain(picture.mime_type[: 8 * _TYPE_CHARACTERS]).split())[:_TYPE_CHARACTERS]
    size = size_of(picture)
    if size is None and kind in _KNOWN:
        why = why or "its header cannot be read"
    said = [f"picture {kind}".rstrip(), *([f"{size[0]}×{size[1]}"] if size else []), format_size(picture.size)]
    return f"[{', '.join(said)}{': ' if why else ''}{why}]"


def size_of(picture: content.Image) -> tuple[int, int] | None:
    """Columns and rows of pixels by the picture's header; None where there is none to be read."""
    for count in _HEADS:
        head = _decoded(picture.data, count)
        found = image_size(head)
        if found is not None or len(head) < count or image_type(head) != "image/jpeg":
            return found
    return None


def picture_in(line: str) -> tuple[int, Image] | None:
    """The first picture that a component's line stands for, and the column where its facts begin."""
    if MARK not in line:
        return None
    for found in _MARK.finditer(line):
        component = _shown.get(found[1])
        if component is not None:
            return width_of(line[: found.start()]), component
    return None


def _block(data: bytes) -> content.Image:
    kind = image_type(data[:64]) or "application/octet-stream"
    return content.Image(mime_type=kind, data=base64.b64encode(data).decode())


def _decoded(data: str, count: int) -> bytes:
    """The first `count` bytes, or fewer; nothing if it is no base64."""
    try:
        return base64.b64decode(data[: (count + 2) // 3 * 4])
    except ValueError:
        return b""
