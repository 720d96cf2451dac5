"""Pictures in a prompt: a pasted path of one, or the clipboard's, as a chip in the text and a picture in the message.

Told by content, not by name. Knows no editor.
"""

from __future__ import annotations

import base64
import shutil
import subprocess
from pathlib import Path

from zot_core.toolkit.sniff import image_type
from zot_core.types.content import Image

MOST = 20 << 20
"""Bytes of a picture file that is taken; what providers accept is smaller, and `read` scales those that it reads."""
_CLIPBOARDS = (
    ("wl-paste", "--no-newline", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-t", "image/png", "-o"),
    ("pngpaste", "-"),
)
"""Programs that write the clipboard's picture to their output, the first that is there."""


def picture_at(text: str, cwd: str) -> tuple[str, Image] | None:
    """The picture that a pasted path names, with its file's name; None when it is no path of one.

    Terminals paste dropped files quoted, or with a backslash before blanks, or as a `file://` URL.
    """
    name = text.strip()
    if not name or "\n" in name or len(name) > 4096:
        return None
    if name[0] in "'\"" and name[-1] == name[0]:
        name = name[1:-1]
    name = name.removeprefix("file://").replace("\\ ", " ")
    try:
        path = Path(cwd, Path(name).expanduser())
        if not path.is_file() or path.stat().st_size > MOST:
            return None
        data = path.read_bytes()
    except (OSError, ValueError, RuntimeError):
        return None
    found = image_of(data)
    return None if found is None else (path.name, found)


def from_clipboard() -> Image | None:
    """The clipboard's picture; None when there is none, or no program to ask."""
    for program in _CLIPBOARDS:
        if shutil.which(program[0]):
            try:
                done = subprocess.run(program, capture_output=True, timeout=5, check=False)
            except (OSError, subprocess.TimeoutExpired):
                continue
            if done.returncode == 0 and (found := image_of(done.stdout)) is not None:
                return found
    return None


def image_of(data: bytes) -> Image | None:
    """A picture that models take, or None."""
    kind = image_type(data[:64])
    return None if kind is None else Image(mime_type=kind, data=base64.b64encode(data).decode())
