"""From what a model or a person wrote to a file: relative to the project, `~`, a leading `@`, and lookalike names.

An exact name always wins. A lookalike (other blanks, quotes, accents) is offered only to readers and only if it is the
only one; who writes never guesses. Nothing here opens a file; folders are listed only to find names.
"""

# pathlib drops what a name may mean ("./@x") and raises where a name is too long.
# ruff: noqa: PTH112, PTH116, PTH118, PTH119, PTH120, PTH206

from __future__ import annotations

import difflib
import errno
import json
import os
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from zot_core.toolkit.errors import ToolError, about, shown

_LISTED = 5000
"""How many names of a folder are compared at most."""
_FOLDED = {
    **dict.fromkeys(
        map(ord, "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"),
        " ",
    ),
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u02bc"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f"), '"'),
}

_MISSING = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL})
"""What the system says of a path where nothing is; anything else leaves that open."""

MayList = Callable[[str], bool]
"""Whether a folder may be looked into, by its real path."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file for reading. `note` says which one it is when its name is not what was asked for."""

    path: str
    note: str = ""


def locate(cwd: str | os.PathLike[str], written: str) -> str:
    """The absolute path that `written` means; it need not exist. Links are not followed.

    What exists under exactly this name wins; else `~` is the home folder and a leading `@` is dropped, unless its first
    folder exists. Raises ToolError for an empty path or one that no file can have.
    """
    _check_name(written)
    exact = _join(cwd, written)
    if written[0] not in "~@" or os.path.lexists(exact):
        return exact
    first, slash, _ = written.partition("/")
    if slash and os.path.lexists(_join(cwd, first)):
        return exact
    bare = written[1:] if written[0] == "@" and len(written) > 1 else written
    if bare[0] == "~" and not (bare is not written and os.path.lexists(_join(cwd, bare))):
        bare = str(Path(bare).expanduser()) if _has_home(bare) else bare
    return _join(cwd, bare)


def locate_elsewhere(cwd: str | os.PathLike[str], written: str) -> str:
    """The path that `written` means on another machine, where nothing can be looked up here: `~` stays as it is."""
    _check_name(written)
    bare = written[1:] if written[0] == "@" and len(written) > 1 else written
    return bare if bare[0] == "~" else _join(cwd, bare)


def _check_name(written: str) -> None:
    if not written:
        raise ToolError("path is empty: name a file, relative to the project or absolute")
    if "\x00" in written:
        raise ToolError("path holds a NUL character, which no file name can")
    try:
        written.encode("utf-8", "surrogateescape")  # how bytes that are no text come in names
    except UnicodeEncodeError as error:
        raise ToolError(
            f"path holds half of a surrogate pair at character {error.start}; send the whole one"
        ) from error


def _join(cwd: str | os.PathLike[str], written: str) -> str:
    # normpath would drop `link/..` textually, which is another folder where `link` is a link; realpath does it right.
    joined = os.path.join(os.fspath(cwd), written)
    return joined if ".." in joined.split(os.sep) else os.path.normpath(joined)


def _has_home(written: str) -> bool:
    try:
        Path(written).expanduser()
    except RuntimeError:
        return False
    return True


def real_path(path: str | os.PathLike[str]) -> str:
    """The path with all links resolved; for a file that is yet missing, of the nearest folder that exists."""
    return os.path.realpath(path)


def find_for_reading(cwd: str | os.PathLike[str], written: str, may_list: MayList = lambda folder: True) -> Found:
    """The file that `written` means, for reading: exact, else the only lookalike.

    Raises ToolError when there is none, naming close names, or when several look alike.
    """
    path = locate(cwd, written)
    if _exists(path, written):
        return Found(path)
    if os.path.lexists(path):
        raise ToolError(f"{shown(written)} is a link to a file that does not exist: {shown(real_path(path))}")
    alike = lookalikes(path, may_list)
    if len(alike) == 1:
        return Found(alike[0], f"No file has exactly this name; this is {quoted(alike[0])}")
    raise ToolError(missing(written, path, alike, may_list))


def _exists(path: str, written: str) -> bool:
    """Whether anything is there, links followed. Raises ToolError where the system does not tell."""
    try:
        os.stat(path)
    except PermissionError:
        raise ToolError(f"Cannot reach {shown(written)}: a folder on the way is closed (permission denied)") from None
    except OSError as error:
        if error.errno in _MISSING:
            return False
        raise about("reach", shown(written), error) from error
    return True


def missing(written: str, path: str, alike: list[str], may_list: MayList = lambda folder: True) -> str:
    """The words for a file that is not there: its lookalikes, else close names in its folder."""
    if alike:
        names = ", ".join(map(quoted, alike[:5]))
        return f"Not found: {shown(written)}. Names that look like it: {names}. Use one exactly as it is spelled here."
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        return f"Not found: {shown(written)}. Its folder {shown(folder)} does not exist."
    close = difflib.get_close_matches(os.path.basename(path), _names(folder, may_list), n=3, cutoff=0.6)
    hint = f" Close names there: {', '.join(map(quoted, close))}." if close else ""
    return f"Not found: {shown(written)}.{hint}"


def lookalikes(path: str, may_list: MayList = lambda folder: True) -> list[str]:
    """Existing paths that differ from the missing `path` only in blanks, quotes, accents' form or undecodable bytes."""
    head, parts = path, list[str]()
    while not os.path.lexists(head):
        head, name = os.path.split(head)
        if not name:
            return []
        parts.append(name)
    found = [head]
    for name in reversed(parts):
        found = [
            os.path.join(folder, other)
            for folder in found
            for other in ([name] if os.path.lexists(os.path.join(folder, name)) else _alike(folder, name, may_list))
        ]
    return sorted(found)


def _alike(folder: str, name: str, may_list: MayList) -> list[str]:
    wanted = _key(name)
    return [other for other in _names(folder, may_list) if _key(other) == wanted]


def _names(folder: str, may_list: MayList) -> list[str]:
    if not may_list(real_path(folder)):
        return []
    names: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                names.append(entry.name)
                if len(names) == _LISTED:
                    break
    except OSError:
        return []  # a folder that cannot be listed offers no names; opening the path says why
    return names


def _key(name: str) -> str:
    text = "".join("\ufffd" if "\udc80" <= char <= "\udcff" else char for char in name)
    return unicodedata.normalize("NFC", text).translate(_FOLDED)


def quoted(path: str) -> str:
    """A path in JSON spelling, in which a model can give back even invisible characters of its name."""
    return json.dumps(path)
