"""A picture's pixels: decoded whole, made small enough for the screen, and written as a file that the terminal reads.

Runs in a thread, and imports Pillow, so it is imported there. Nothing foreign goes to the terminal: what is written is
always written anew.
"""

from __future__ import annotations

import base64
import warnings
from io import BytesIO
from typing import Any

from PIL import Image as Pillow
from PIL import ImageOps, UnidentifiedImageError

from zot_cli.plain import one_line
from zot_cli.repl.inline import Protocol
from zot_core.types.content import Image
from zot_core.types.record import record

MOST_CHARACTERS = 64 << 20
"""Base64 of a picture that is decoded at most."""
MOST_PIXELS = 64_000_000
MOST_BYTES = 720_000
"""What one picture may take on its way to the terminal: less than a megabyte in base64, which is iTerm2's limit."""
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP")

warnings.filterwarnings("ignore", category=Pillow.DecompressionBombWarning)  # the limit here is a lower one


class NotDrawnError(Exception):
    """Why a picture is not drawn, in words."""


@record(kw_only=True)
class Pixels:
    """A file in base64 of `size` bytes, and the columns and rows of pixels that the picture has by itself."""

    data: str
    size: int
    natural: tuple[int, int]


def made(image: Image, protocol: Protocol, box: tuple[int, int]) -> Pixels:
    """The picture for a terminal, scaled into `box`; of an animation the first frame. Raises NotDrawnError."""
    if len(image.data) > MOST_CHARACTERS:
        raise NotDrawnError("too large to draw")
    try:
        data = base64.b64decode(image.data)
    except ValueError as error:
        raise NotDrawnError("its data is no base64") from error
    try:
        with Pillow.open(BytesIO(data), formats=_FORMATS) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise NotDrawnError("too many pixels to draw")
            return _made(picture, protocol, box)
    except NotDrawnError:
        raise
    except UnidentifiedImageError as error:
        raise NotDrawnError("damaged, or not PNG, JPEG, GIF or WebP") from error
    except (Pillow.DecompressionBombError, MemoryError) as error:
        raise NotDrawnError("too many pixels to draw") from error
    except Exception as error:  # decoders raise whatever their formats make them stumble over
        raise NotDrawnError(f"damaged: {one_line(str(error) or type(error).__name__, 80)}") from error


def _made(picture: Any, protocol: Protocol, box: tuple[int, int]) -> Pixels:
    whole = picture.size
    if picture.format == "JPEG":
        picture.draft(None, box)  # decodes at a fraction of the size
    decoded = picture.size
    picture.load()
    image = ImageOps.exif_transpose(picture)
    natural = whole if image.size == decoded else whole[::-1]
    if image.mode not in ("L", "RGB", "RGBA"):
        if image.mode.startswith("I"):
            image = image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
        else:
            image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    image.thumbnail(box, Pillow.Resampling.LANCZOS)
    form = "JPEG" if protocol == "iterm2" and picture.format == "JPEG" else "PNG"
    while True:
        out = BytesIO()
        image.save(out, format=form)
        if len(found := out.getvalue()) <= MOST_BYTES:
            return Pixels(data=base64.b64encode(found).decode(), size=len(found), natural=natural)
        image = image.resize((max(1, image.width * 3 // 4), max(1, image.height * 3 // 4)), Pillow.Resampling.LANCZOS)
