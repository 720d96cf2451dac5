"""A file's whole content replaced in one step: whoever looks, and whatever breaks off, sees the old or the new file.

The new content is written to a file beside it, synced and renamed. Where the system can (Linux), that file has no name
until it is whole. A name that a killed process left is always the same for a target, and the next write removes it.
"""

# Descriptors and flags are the matter here, which pathlib does not have.
# ruff: noqa: PTH105, PTH108, PTH118, PTH119, PTH120

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
from contextlib import suppress

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows, where names in use cannot be removed anyway
    fcntl = None  # type: ignore[assignment]

_NAMELESS = getattr(os, "O_TMPFILE", 0)
_NOT_NAMELESS = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT})
"""What file systems and kernels without nameless files answer."""


def replace_whole(target: str, data: bytes, old: os.stat_result | None) -> None:
    """Makes `data` the content of `target`, a real path; `old` is what is there now. Raises OSError.

    Mode, owner and extended attributes are taken over. The folder must exist.
    """
    folder = _open_folder(os.path.dirname(target))
    try:
        if not _NAMELESS or folder < 0 or not _replace_nameless(target, data, old, folder):
            _replace_named(target, data, old)
        if folder >= 0:
            with suppress(OSError):  # some file systems cannot sync folders
                os.fsync(folder)
    finally:
        if folder >= 0:
            os.close(folder)


def _replace_nameless(target: str, data: bytes, old: os.stat_result | None, folder: int) -> bool:
    """False, with nothing done, where this file system or system cannot."""
    try:
        descriptor = os.open(os.path.dirname(target), os.O_WRONLY | os.O_CLOEXEC | _NAMELESS, _mode(old))
    except OSError as error:
        if error.errno in _NOT_NAMELESS:
            return False
        raise
    try:
        _fill(descriptor, data, target, old)
        name = _give_name(descriptor, target, folder)
        if name:
            _rename(name, target)
        return bool(name)
    finally:
        os.close(descriptor)


def _replace_named(target: str, data: bytes, old: os.stat_result | None) -> None:
    name = _remaining(target)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    _clear(name)
    try:
        descriptor = os.open(name, flags, _mode(old))
    except FileExistsError:  # another process is writing the same file right now
        name = _own(target)
        descriptor = os.open(name, flags, _mode(old))
    try:
        _lock(descriptor)
        _fill(descriptor, data, target, old)
    except BaseException:
        os.unlink(name)
        raise
    finally:
        os.close(descriptor)
    _rename(name, target)


def _rename(name: str, target: str) -> None:
    try:
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def _mode(old: os.stat_result | None) -> int:
    """A new file gets what the umask leaves; a replacement stays private until it has the old mode."""
    return 0o666 if old is None else 0o600


def _fill(descriptor: int, data: bytes, target: str, old: os.stat_result | None) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    if old is not None:
        _inherit(descriptor, target, old)
    os.fsync(descriptor)


def _give_name(descriptor: int, target: str, folder: int) -> str:
    """Gives a nameless file a name beside the target; empty where the system cannot."""
    _lock(descriptor)
    for name in (_remaining(target), _remaining(target), _own(target)):
        try:
            # Given a folder's descriptor, Python calls linkat, which follows the link in /proc to the file.
            os.link(f"/proc/self/fd/{descriptor}", os.path.basename(name), dst_dir_fd=folder)
        except FileExistsError:
            _clear(name)
        except OSError:
            return ""  # no /proc, or a file system without links
        else:
            return name
    return ""


def _remaining(target: str) -> str:
    """The temporary name of a target: the same each time, so that what was left behind is found."""
    folder, name = os.path.split(target)
    return os.path.join(folder, f".zot-{hashlib.sha256(os.fsencode(name)).hexdigest()[:12]}.tmp")


def _own(target: str) -> str:
    return os.path.join(os.path.dirname(target), f".zot-{secrets.token_hex(6)}.tmp")


def _lock(descriptor: int) -> None:
    """Marks a temporary file as somebody's; the lock ends with the process."""
    if fcntl is not None:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _clear(name: str) -> None:
    """Removes a temporary file whose process has ended; one that is being written stays."""
    if fcntl is None:
        return
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return  # gone already, or not ours to touch
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(name)
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
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
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
    """The folder's descriptor for syncing, or -1 where folders cannot be opened."""
    try:
        return os.open(folder, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0))
    except OSError:
        return -1
