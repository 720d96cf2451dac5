"""How paths are written in results, so that what a model copies is the very file.

A plain name stands as it is. One that could be misread or mistyped (a newline, a special blank, a decomposed accent,
bytes that are no text) is written as a JSON string, which every path argument of a tool takes back exactly.
"""

# Paths are text here, as the model will see them.
# ruff: noqa: PTH118, PTH206

from __future__ import annotations

import os
import re
import unicodedata

from zot_core.toolkit.paths import quoted

_ODD = re.compile(
    r"^[\"\s]|\s$|\s\s"  # looks quoted, or has blanks that get lost
    r"|[^\S ]|[\u2018-\u201f\u02bc\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufffd]"
    r"|[\x00-\x1f\x7f-\x9f\ud800-\udfff]"
    r"| -> | \(\w+\)$|^\d+[:-]|^\["  # looks like a part of a listing
)


def spelled(path: str) -> str:
    """`path` as a result shows it: plain, or as a JSON string where plain would be ambiguous."""
    if path.isascii():
        return quoted(path) if _ODD.search(path) else path
    return quoted(path) if _ODD.search(path) or unicodedata.normalize("NFC", path) != path else path


def below(cwd: str | os.PathLike[str], path: str) -> str:
    """`path` as one writes it in `cwd`: relative if it lies below, else absolute; empty for `cwd` itself."""
    base = os.path.join(os.fspath(cwd), "")
    if path + os.sep == base:
        return ""
    return path[len(base) :] if path.startswith(base) and ".." not in path.split(os.sep) else path


def joined(base: str, name: str) -> str:
    """`name` below `base` as `below` gave it."""
    return os.path.join(base, name) if base else name


def path_order(path: str) -> list[bytes]:
    """Sorts paths folder by folder, by the bytes of their names, the same everywhere."""
    return os.fsencode(path).split(b"/")
