"""The new extension as a folder of its own beside its place: copied or cloned, and looked at before it counts.

Follows no link, opens nothing but regular files. Names beginning with a dot are no extensions, so what a kill leaves
behind never is one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zot_core.config.paths import reason
from zot_core.types.failure import ZotError

PREFIX, REPLACED, REMOVED = ".installing-", ".replaced-", ".removed-"
"""Of folders that are no extensions, not yet or no more; the id of the process that made them follows."""
RECORD = ".zot-install.json"
"""In an installed extension: where it came from, and which files came with it."""
MAX_FILES = 50_000
MAX_BYTES = 2 << 30
_LEFT_OUT = frozenset({".git", RECORD})
"""At the top of a tree: history, and what zot itself wrote where it was installed before."""


class Refused(ZotError):
    """A tree that is not installed; the message names the place in it."""


@contextmanager
def staging(parent: Path, *, own: bool = True) -> Iterator[Path]:
    """An empty folder in `parent`, gone afterwards unless it was moved away. In a folder that is zot's `own`, what was
    left by those that were killed is taken away. Raises ZotError."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        if own:
            _clear(parent)
        folder = parent / f"{PREFIX}{os.getpid()}-{os.urandom(4).hex()}"
        folder.mkdir(mode=0o700)
    except OSError as error:
        done = "installed" if own else "written"
        raise ZotError(f"nothing was {done}: {error.filename or parent}: {reason(error)}") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def copy(source: Path, folder: Path) -> None:
    """Copies what is in `source` into `folder`, links as links. Raises Refused for what cannot be part of one, OSError
    for what cannot be read."""
    inside = Path(os.path.realpath(folder))
    if inside.is_relative_to(os.path.realpath(source)):
        raise Refused(f"{source} holds the folder that it would be installed in")
    budget = _Budget()
    pending = [(source, folder, Path())]
    while pending:
        here, there, relative = pending.pop()
        with os.scandir(here) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name in _LEFT_OUT and not relative.parts:
                    continue
                place = relative / entry.name
                budget.file(place)
                if entry.is_symlink():
                    (there / entry.name).symlink_to(os.readlink(entry.path))  # noqa: PTH115 - a link's text, as it is
                elif entry.is_dir(follow_symlinks=False):
                    (there / entry.name).mkdir()
                    pending.append((Path(entry.path), there / entry.name, place))
                else:
                    _copy_file(Path(entry.path), there / entry.name, place, budget)


def check(folder: Path) -> None:
    """Raises Refused for a link that leads out of `folder`, and for what is neither file, folder nor link."""
    root = Path(os.path.realpath(folder))
    for path in sorted(walk(folder)):
        mode = path.lstat().st_mode
        place = path.relative_to(folder)
        if stat.S_ISLNK(mode):
            target = os.readlink(path)  # noqa: PTH115 - a link's text, as it is
            if target.startswith(("/", "\\")):
                raise Refused(f"{place} is a link to {target}: links have to be relative, and to stay within")
            if not Path(os.path.realpath(path)).is_relative_to(root):
                raise Refused(f"{place} is a link that leads out of the extension, to {target}")
        elif not stat.S_ISREG(mode):
            raise Refused(f"{place} is {_kind(mode)}: an extension is made of files, folders and links")


def walk(folder: Path) -> Iterator[Path]:
    """Everything below `folder` but the folders themselves; links are not followed."""
    for here, folders, files in os.walk(folder, followlinks=False):
        base = Path(here)
        yield from (base / name for name in files)
        yield from (base / name for name in folders if (base / name).is_symlink())


def size_of(folder: Path) -> tuple[int, int]:
    """How many files and links there are, and their bytes."""
    sizes = [path.lstat().st_size for path in walk(folder)]
    return len(sizes), sum(sizes)


def digests(folder: Path) -> dict[str, str]:
    """Relative path -> what tells one state of the file from another, for all files and links."""
    return {path.relative_to(folder).as_posix(): digest(path) for path in sorted(walk(folder))}


def digest(path: Path) -> str:
    """Of a link its text, of a file its content; empty for anything else."""
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return f"link:{os.readlink(path)}"  # noqa: PTH115 - a link's text, as it is
    if not stat.S_ISREG(mode):
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Budget:
    def __init__(self) -> None:
        self.files = self.bytes = 0

    def file(self, place: Path) -> None:
        self.files += 1
        if self.files > MAX_FILES:
            raise Refused(f"there are more than {MAX_FILES:,} files ({place} is the next); is this the right folder?")

    def data(self, size: int, place: Path) -> None:
        self.bytes += size
        if self.bytes > MAX_BYTES:
            raise Refused(f"there is more than {MAX_BYTES >> 30} GiB in it ({place} is the next)")


def _copy_file(source: Path, target: Path, place: Path, budget: _Budget) -> None:
    # Neither follows a link that has just been put there, nor waits for a pipe's other end.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    mode = source.lstat().st_mode
    if not stat.S_ISREG(mode):
        raise Refused(f"{place} is {_kind(mode)}: an extension is made of files, folders and links")
    with open(os.open(source, flags), "rb") as reading:  # noqa: PTH123 - a descriptor
        found = os.fstat(reading.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise Refused(f"{place} is {_kind(found.st_mode)}: an extension is made of files, folders and links")
        budget.data(found.st_size, place)
        try:
            with target.open("xb") as writing:
                shutil.copyfileobj(reading, writing, 1 << 20)
        except OSError as error:
            if error.filename is None:  # a disk that is full or broken, on one of the two sides
                raise Refused(f"{source} cannot be copied to {target.parent}: {reason(error)}") from error
            raise
    target.chmod((found.st_mode & 0o777 | 0o600) & ~0o022)


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISBLK, "a device"))
    return next((name for test, name in (*kinds, (stat.S_ISCHR, "a device")) if test(mode)), "no regular file")


def _clear(parent: Path) -> None:
    """Takes away what was left by those that were killed; a version that had just been moved away comes back."""
    if sys.platform == "win32":
        return
    for prefix in (PREFIX, REPLACED, REMOVED):
        for folder in parent.glob(f"{prefix}*"):
            pid, _, name = folder.name[len(prefix) :].partition("-")
            if not pid.isdigit() or _lives(int(pid)):
                continue
            if prefix == REPLACED and name and not os.path.lexists(parent / name):
                folder.rename(parent / name)
            elif folder.is_symlink():
                folder.unlink()
            else:
                shutil.rmtree(folder, ignore_errors=True)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
