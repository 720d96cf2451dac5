"""A file's whole content replaced in one step: whoever looks, and whatever breaks off, sees the old or the new file.

The new content is written to a file beside it, synced and renamed. Where the system can (Linux), that file has no name
until it is whole. A name that a killed process left is always the same for a target, and the next write removes it.
"""

# Descriptors and flags are the matter here, which pathlib does not have.
# ruff: noqa: PTH105, PTH108, PTH118

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows, where names in use cannot be removed anyway
    fcntl = None  # type: ignore[assignment]

_NAMELESS = getattr(os, "O_TMPFILE", 0)
_NOT_NAMELESS = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT})
"""What file systems and kernels without nameless files answer."""
_UNABLE = frozenset({errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL, errno.ENOSYS})
"""What file systems of networks and of programs answer to what they do not have."""


def replace_whole(
    target: str, data: bytes, old: os.stat_result | None, judge: Callable[[int], None] = lambda folder: None
) -> None:
    """Makes `data` the content of `target`, a real path; `old` is what is there now. Raises OSError.

    Mode, owner and extended attributes are taken over. The folder must exist; `judge` is given its descriptor (-1 where
    there is none) and may refuse by raising. From then on nothing is done outside of that very folder.
    """
    path, name = os.path.split(target)
    place = _Place(path, _open_folder(path))
    try:
        judge(place.descriptor)
        if not _NAMELESS or place.descriptor < 0 or not _replace_nameless(place, name, data, old):
            _replace_named(place, name, data, old)
        if place.descriptor >= 0:
            with suppress(OSError):  # some file systems cannot sync folders
                os.fsync(place.descriptor)
    finally:
        if place.descriptor >= 0:
            os.close(place.descriptor)


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder in which files are opened, named and removed: by its descriptor where the system can."""

    path: str
    descriptor: int

    def open(self, name: str, flags: int, mode: int = 0o777) -> int:
        if self.descriptor < 0:
            return os.open(os.path.join(self.path, name), flags, mode)
        return os.open(name, flags, mode, dir_fd=self.descriptor)

    def link(self, source: str, name: str) -> None:
        os.link(source, name, dst_dir_fd=self.descriptor)

    def unlink(self, name: str) -> None:
        if self.descriptor < 0:
            os.unlink(os.path.join(self.path, name))
        else:
            os.unlink(name, dir_fd=self.descriptor)

    def rename(self, name: str, target: str) -> None:
        """Puts the one in the other's place, or removes it."""
        try:
            if self.descriptor < 0:
                os.replace(os.path.join(self.path, name), os.path.join(self.path, target))
            else:
                os.replace(name, target, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)
        except BaseException:
            self.unlink(name)
            raise


def _replace_nameless(place: _Place, target: str, data: bytes, old: os.stat_result | None) -> bool:
    """False, with nothing done, where this file system or system cannot."""
    try:
        descriptor = place.open(".", os.O_WRONLY | os.O_CLOEXEC | _NAMELESS, _mode(old))
    except OSError as error:
        if error.errno in _NOT_NAMELESS:
            return False
        raise
    try:
        _fill(descriptor, data, place, target, old)
        name = _give_name(descriptor, place, target)
        if name:
            place.rename(name, target)
        return bool(name)
    finally:
        with suppress(OSError):  # the content is synced, and under its name by now
            os.close(descriptor)


def _replace_named(place: _Place, target: str, data: bytes, old: os.stat_result | None) -> None:
    name = _remaining(target)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    _clear(place, name)
    try:
        descriptor = place.open(name, flags, _mode(old))
    except FileExistsError:  # another process is writing the same file right now
        name = _own()
        descriptor = place.open(name, flags, _mode(old))
    try:
        try:
            _lock(descriptor)
            _fill(descriptor, data, place, target, old)
        finally:
            os.close(descriptor)  # some file systems tell only here that the content did not arrive
    except BaseException:
        place.unlink(name)
        raise
    place.rename(name, target)


def _mode(old: os.stat_result | None) -> int:
    """A new file gets what the umask leaves; a replacement stays private until it has the old mode."""
    return 0o666 if old is None else 0o600


def _fill(descriptor: int, data: bytes, place: _Place, target: str, old: os.stat_result | None) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    if old is not None:
        _inherit(descriptor, os.path.join(place.path, target), old)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _UNABLE:
            raise


def _give_name(descriptor: int, place: _Place, target: str) -> str:
    """Gives a nameless file a name beside the target; empty where the system cannot."""
    _lock(descriptor)
    for name in (_remaining(target), _remaining(target), _own()):
        try:
            # Given a folder's descriptor, Python calls linkat, which follows the link in /proc to the file.
            place.link(f"/proc/self/fd/{descriptor}", name)
        except FileExistsError:
            _clear(place, name)
        except OSError:
            return ""  # no /proc, or a file system without links
        else:
            return name
    return ""


def _remaining(target: str) -> str:
    """The temporary name for a name: the same each time, so that what was left behind is found."""
    return f".zot-{hashlib.sha256(os.fsencode(target)).hexdigest()[:12]}.tmp"


def _own() -> str:
    return f".zot-{secrets.token_hex(6)}.tmp"


def _lock(descriptor: int) -> None:
    """Marks a temporary file as somebody's; the lock ends with the process."""
    if fcntl is not None:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _clear(place: _Place, name: str) -> None:
    """Removes a temporary file whose process has ended; one that is being written stays."""
    if fcntl is None:
        return
    try:
        descriptor = place.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return  # gone already, or not ours to touch
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        place.unlink(name)
    except OSError:
        pass  # its process lives, or the folder does not let us
    finally:
        os.close(descriptor)


def _inherit(descriptor: int, real: str, old: os.stat_result) -> None:
    if hasattr(os, "fchown"):
        new = os.fstat(descriptor)
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            with suppress(OSError):  # only root may give a file away; the content matters more
                os.fchown(descriptor, old.st_uid, old.st_gid)
        if stat.S_IMODE(new.st_mode) != stat.S_IMODE(old.st_mode):
            try:
                os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
            except OSError as error:
                if error.errno not in (*_UNABLE, errno.EPERM):  # our own file: this file system knows no modes
                    raise
    if hasattr(os, "listxattr"):
        for name in _attributes(real):
            with suppress(OSError):  # an attribute that this file system or user may not set
                os.setxattr(descriptor, name, os.getxattr(real, name))


def _attributes(real: str) -> list[str]:
    try:
        return os.listxattr(real)
    except OSError:
        return []  # a file system without them


def _open_folder(folder: str) -> int:
    """The folder's descriptor, or -1 where folders cannot be opened."""
    if not {os.open, os.link, os.unlink, os.rename} <= os.supports_dir_fd:
        return -1
    flags = os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0)
    try:
        return os.open(folder, os.O_RDONLY | flags)
    except PermissionError:
        pass  # one that may be entered but not listed
    except OSError:
        return -1
    try:
        return os.open(folder, os.O_PATH | flags) if hasattr(os, "O_PATH") else -1
    except OSError:
        return -1
