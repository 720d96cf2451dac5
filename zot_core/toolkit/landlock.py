"""Keeps a program and all that it starts inside folders, by Landlock: run as a script in front of the program.

    python -I -S landlock.py '{"read": [...], "write": [...], "denied": [...]}' PROGRAM ARGUMENT...

Landlock opens trees and cannot close a part of one, so what is to stay unchanged is mounted read-only first, where the
system lets that be. Imports nothing of zot, because an isolated interpreter runs it; only `abi` is called within zot.
"""

# A script without the package, where pathlib would cost as much as the rest.
# ruff: noqa: PTH120

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Iterable

NEEDED_ABI = 3
"""Of Linux 6.2: earlier ones cannot keep a program from emptying files outside."""
TCP_ABI = 4
"""Of Linux 6.7: the first that can close TCP."""
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_ALL = (1 << 15) - 1
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_NO_NEW_PRIVILEGES = 38
_TCP = 3
_NEW_MOUNTS, _NEW_USER, _NEW_NETWORK = 0x00020000, 0x10000000, 0x40000000
_READ_ONLY, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1, 32, 4096, 16384, 1 << 18
_KEPT = 2 | 4 | 8 | 1024 | 2048
"""Flags of a mount that a remount has to name again: no setuid, devices, programs, access times."""


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def abi() -> int:
    """The kernel's version of Landlock; 0 where there is none."""
    if sys.platform != "linux":
        return 0
    found: int = ctypes.CDLL(None).syscall(_CREATE, None, ctypes.c_size_t(0), 1)
    return max(found, 0)


def restrict(
    read: Iterable[str] = (), write: Iterable[str] = (), denied: Iterable[str] = (), *, tcp: bool = True
) -> None:
    """From now on this thread and its children reach only these paths, and TCP only with `tcp`. Raises OSError.

    With `denied`, everything is reached but that: names in it can be listed, and nothing new can be made directly in
    the folders above it.
    """
    library = ctypes.CDLL(None, use_errno=True)
    handled = (ctypes.c_uint64 * 2)(_ALL, 0 if tcp else _TCP)
    ruleset = _checked(library.syscall(_CREATE, ctypes.byref(handled), ctypes.c_size_t(8 if tcp else 16), 0))
    rows = [(path, _READ) for path in read] + [(path, _ALL) for path in write]
    closed = list(denied)
    if not rows and not closed:
        rows = [("/", _ALL)]
    if closed:
        above = {folder for path in closed for folder in _above(path)}
        rows += [(folder, _READ_DIR) for folder in above]
        for folder in above:
            rows += [(path, _ALL) for path in _inside(folder) if path not in above and path not in closed]
    for path, access in rows:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # what is not there need not be reached
        try:
            rights = access if os.path.isdir(path) else access & _OF_FILES  # noqa: PTH112
            rule = _PathBeneath(rights, descriptor)
            _checked(library.syscall(_ADD, ruleset, 1, ctypes.byref(rule), 0))
        finally:
            os.close(descriptor)
    _checked(library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _checked(library.syscall(_RESTRICT, ruleset, 0))
    os.close(ruleset)


def seclude(held: Iterable[str], readonly: Iterable[str], *, network: bool) -> None:
    """From now on this process sees `readonly` paths as such, cannot rename `held` folders, and has, without `network`,
    one of its own that leads nowhere. Raises OSError where the system does not let it.
    """
    library = ctypes.CDLL(None, use_errno=True)
    library.mount.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_void_p)
    wanted = _NEW_MOUNTS | (0 if network else _NEW_NETWORK)
    user, group = os.getuid(), os.getgid()
    if library.unshare(wanted):
        _checked(library.unshare(wanted | _NEW_USER))
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
                file.write(text)
    _checked(library.mount(None, b"/", None, _RECURSIVE | _PRIVATE, None))
    there = os.getcwd()  # noqa: PTH109
    for path in map(os.fsencode, filter(os.path.exists, held)):
        _checked(library.mount(path, path, None, _BIND | _RECURSIVE, None))
    for path in map(os.fsencode, readonly):
        _checked(library.mount(path, path, None, _BIND | _RECURSIVE, None))
        flags = os.statvfs(path).f_flag & _KEPT
        _checked(library.mount(None, path, None, _BIND | _REMOUNT | _READ_ONLY | flags, None))
    os.chdir(there)  # else it stands below what was mounted over it
    if not network:
        _loopback_up()


def _loopback_up() -> None:
    import fcntl
    import socket
    import struct

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 1))


def _inside(folder: str) -> list[str]:
    """What lies in it, but links: one would open what it leads to, which is open where it lies, or closed."""
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if not entry.is_symlink()]
    except OSError:
        return []  # a folder that may only be passed through


def _above(path: str) -> list[str]:
    found = []
    while (parent := os.path.dirname(path)) != path:
        found.append(parent)
        path = parent
    return found


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"Landlock: {os.strerror(number)}")
    return result


if __name__ == "__main__":
    rules = json.loads(sys.argv[1])
    if (secluded := rules.pop("seclude", None)) is not None:
        seclude(**secluded)
    restrict(**rules)
    os.execvp(sys.argv[2], sys.argv[2:])
