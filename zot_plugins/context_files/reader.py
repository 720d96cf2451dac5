"""Finds and reads context files. A file that has not changed is not read again; one that cannot be read says so."""

from __future__ import annotations

import codecs
import os
import stat
from pathlib import Path

from zot_core.types.specs import PromptSection

NAMES = ("AGENTS.md", "CLAUDE.md")
"""In each folder the first of these that is there."""
MAX_BYTES = 64 * 1024
"""What of one file goes into every request; more is cut, and the model is told."""

_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF8, "utf-8"))
_Stamp = tuple[int, int, int, int]


class ContextFiles:
    """The context files that count for a session in `cwd` with zot's home at `home` ("" for none)."""

    def __init__(self, cwd: str | Path, home: str | Path = "") -> None:
        self._cwd = Path(cwd).absolute()
        self._home = Path(home).absolute() if str(home) else None
        self._read: dict[str, tuple[_Stamp, str]] = {}

    def sections(self) -> list[PromptSection]:
        """The sections now, from general to particular: home, repository root, ..., cwd. Never raises OSError."""
        folders = ([self._home] if self._home else []) + _project_folders(self._cwd)
        seen: set[str] = set()
        found = []
        for folder in folders:
            path = _first_there(folder)
            if path is None or (real := os.path.realpath(path)) in seen:
                continue
            seen.add(real)
            if text := self._text(path):
                found.append(PromptSection(name=path.name, text=text, kind="context_file", path=str(path)))
        return found

    def _text(self, path: Path) -> str:
        key = str(path)
        try:
            about = path.stat()
            now = (about.st_mtime_ns, about.st_size, about.st_ino, about.st_ctime_ns)
            known = self._read.get(key)
            if known is not None and known[0] == now:
                return known[1]
            if not stat.S_ISREG(about.st_mode):
                return "[This file could not be read: it is not a regular file]"
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as error:
            return f"[This file could not be read: {error.strerror or error}]"
        text = as_text(data, about.st_size)
        self._read[key] = (now, text)
        return text


def as_text(data: bytes, size: int) -> str:
    """The text in the beginning `data` of a file of `size` bytes, cut to MAX_BYTES, with a notice for what is wrong."""
    cut = len(data) > MAX_BYTES
    data = data[:MAX_BYTES]
    encoding = "utf-8"
    for mark, name in _MARKS:
        if data.startswith(mark):
            data, encoding = data[len(mark) :], name
            break
    if encoding == "utf-8" and b"\0" in data:
        return "[This file was left out: it is not text]"
    notices = []
    # Not final where the file was cut: half a character at the cut is nobody's mistake.
    decoder = codecs.getincrementaldecoder(encoding)
    try:
        text = decoder("strict").decode(data, final=not cut)
    except UnicodeDecodeError:
        text = decoder("replace").decode(data, final=not cut)
        notices.append(f"[Some bytes of this file are not {encoding.upper()}; \ufffd stands for them]")
    text = text.replace("\r\n", "\n").strip()
    if cut:
        kib = MAX_BYTES // 1024
        notices.append(f"[Cut here: these are the first {kib} KiB of {size / 1024:.0f}; read the file for the rest]")
    return "\n".join([text, *notices]) if text or notices else ""


def _project_folders(cwd: Path) -> list[Path]:
    """From the repository root (the nearest folder upwards with a `.git`) down to `cwd`; outside of one only `cwd`."""
    folders = [cwd, *cwd.parents]
    for index, folder in enumerate(folders):
        if os.path.lexists(folder / ".git"):
            return folders[index::-1]
    return [cwd]


def _first_there(folder: Path) -> Path | None:
    for name in NAMES:
        path = folder / name
        try:
            if not stat.S_ISDIR(path.stat().st_mode):
                return path
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            return path  # there, but not to be looked at: said rather than passed over
    return None
