"""Keeps a program and all that it starts inside folders, by Landlock: run as a script in front of the program.

    python -I -S landlock.py '{"read": [...], "write": [...], "denied": [...]}' PROGRAM ARGUMENT...

Imports nothing of zot, because an isolated interpreter runs it; `abi` alone is called from within zot.
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
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_ALL = (1 << 15) - 1
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_NO_NEW_PRIVILEGES = 38


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


def restrict(read: Iterable[str], write: Iterable[str], denied: Iterable[str]) -> None:
    """From now on this thread and its children reach only these paths. Raises OSError.

    With `denied`, everything is reached but that: names in it can be listed, and nothing new can be made directly in
    the folders above it.
    """
    library = ctypes.CDLL(None, use_errno=True)
    handled = ctypes.c_uint64(_ALL)
    ruleset = _checked(library.syscall(_CREATE, ctypes.byref(handled), ctypes.c_size_t(8), 0))
    rows = [(path, _READ) for path in read] + [(path, _ALL) for path in write]
    if closed := list(denied):
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
    restrict(**json.loads(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
