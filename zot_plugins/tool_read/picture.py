"""A picture in the size and form that providers accept. Knows bytes; files and messages are its caller's matter.

Imports Pillow, so it is imported only when a picture is read.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from PIL import Image, ImageOps, UnidentifiedImageError

from zot_core.toolkit.errors import ToolError
from zot_core.toolkit.truncation import format_size

LONGEST_SIDE = 2000
"""Pixels. What providers take at most where a request holds many pictures; more is scaled down there anyway."""
MOST_BYTES = 3_750_000
"""What is 5 MB in base64, the least that providers take."""
FILE_BYTES = 64 << 20
"""A picture file larger than this is not opened."""
_MOST_PIXELS = 64_000_000
"""What is decoded at most: a quarter of a gigabyte in memory."""
_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
_ORIENTATION = 0x0112

# Pillow would print it; the limit here is a lower one and refuses with words.
warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What goes to the model. `said` tells what was done to it, empty if it is the file as it is."""

    mime_type: str
    data: bytes
    width: int
    height: int
    said: str = ""


def fitted(data: bytes, name: str) -> Picture:
    """The picture, unchanged if it fits, else smaller; of an animation the first frame.

    Its format is kept where that is possible. Raises ToolError for what is damaged or too large to decode.
    """
    try:
        with Image.open(BytesIO(data), formats=tuple(_TYPES)) as picture:
            width, height = picture.size
            if width * height > _MOST_PIXELS:
                raise _too_large(name, f"has {width}x{height} pixels")
            return _fitted(picture, data)
    except ToolError:
        raise
    except UnidentifiedImageError as error:
        raise ToolError(
            f"{name} begins like a picture but is none, or is damaged. Look at it with file or xxd."
        ) from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_large(name, "has too many pixels") from error
    except Exception as error:  # decoders raise whatever their formats make them stumble over
        why = str(error) or type(error).__name__
        raise ToolError(f"{name} is damaged and cannot be shown: {why}. Convert or fetch it again.") from error


def _too_large(name: str, what: str) -> ToolError:
    return ToolError(
        f"{name} {what}; at most {_MOST_PIXELS // 1_000_000} million are decoded. Make a smaller copy with a shell "
        "command and read that."
    )


def _fitted(picture: Any, data: bytes) -> Picture:
    form, size = picture.format, picture.size
    animated = bool(getattr(picture, "is_animated", False))
    if animated:
        picture.seek(0)
    elif form == "JPEG" and max(size) > LONGEST_SIDE:
        picture.draft(None, (LONGEST_SIDE, LONGEST_SIDE))  # decodes at a fraction of the size
    turned = picture.getexif().get(_ORIENTATION, 1) not in (0, 1)
    picture.load()
    if max(size) <= LONGEST_SIDE and len(data) <= MOST_BYTES and not animated and not turned:
        return Picture(mime_type=_TYPES[form], data=data, width=size[0], height=size[1])
    image = _plain(ImageOps.exif_transpose(picture))
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
    mime_type, small, image = _encoded(image, "PNG" if animated or form == "GIF" else form)
    said = ["first frame of an animation"] if animated else []
    if image.size not in (size, size[::-1]):
        said.append(f"{size[0]}x{size[1]} scaled to {image.width}x{image.height}")
    if mime_type != _TYPES[form]:
        said.append(f"as {mime_type}")
    if not said:
        said.append("turned upright" if turned else f"compressed from {format_size(len(data))}")
    return Picture(mime_type=mime_type, data=small, width=image.width, height=image.height, said=", ".join(said))


def _plain(image: Any) -> Any:
    """The image in a mode that all formats here can hold: grey or colour, with or without transparency."""
    if image.mode in ("L", "LA", "RGB", "RGBA"):
        return image.copy()
    if image.mode.startswith("I"):
        return image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    return image.convert("RGBA" if image.has_transparency_data else "RGB")


def _encoded(image: Any, form: str) -> tuple[str, bytes, Any]:
    """The image in its format, else in one that compresses harder, else smaller, until it fits."""
    harder = "WEBP" if image.mode in ("LA", "RGBA") else "JPEG"
    while True:
        for each in dict.fromkeys((form, harder)):
            data = _saved(image, each)
            if len(data) <= MOST_BYTES:
                return _TYPES[each], data, image
        image = image.resize((max(1, image.width * 3 // 4), max(1, image.height * 3 // 4)), Image.Resampling.LANCZOS)


def _saved(image: Any, form: str) -> bytes:
    out = BytesIO()
    if form == "JPEG":
        image = image.convert("L" if image.mode in ("L", "LA") else "RGB")
    image.save(out, format=form, **({} if form == "PNG" else {"quality": 85}))
    return out.getvalue()
