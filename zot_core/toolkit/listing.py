"""What is in a folder: names, what each is, where links lead, and how many of them policies hide.

Names come in no order and are not changed. Sync: it runs in a worker thread.
"""

# Names may be no valid text, and what a directory entry knows spares a system call.
# ruff: noqa: PTH115, PTH118

from __future__ import annotations

import os
from dataclasses import dataclass

from zot_core.toolkit.filesystem import Guard, Kind, kind_of, scanned
from zot_core.toolkit.paths import real_path


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in a folder. For a link `target` is what it says, and `kind` what it leads to (`missing`: nothing)."""

    name: str
    kind: Kind = "file"
    target: str | None = None


def entries(path: str, guard: Guard) -> tuple[list[Entry], int]:
    """The folder's entries, and how many more there are that the policies do not let be seen.

    Raises OSError and PolicyDenied.
    """
    real = real_path(path)
    guard.check("enumerate", real)
    found: list[Entry] = []
    left_out = 0
    with scanned(real, guard) as names:
        for one in names:
            path = os.path.join(real, one.name)
            if guard.policies and not guard.may_list(real_path(path)):
                left_out += 1
            else:
                found.append(_entry(one, path))
    return found, left_out


def _entry(one: os.DirEntry[str], path: str) -> Entry:
    try:
        if one.is_symlink():
            target = os.readlink(path)
            try:
                return Entry(one.name, kind_of(one.stat().st_mode), target)
            except OSError:
                return Entry(one.name, "missing", target)  # leads nowhere, or in a circle
        if one.is_dir(follow_symlinks=False):
            return Entry(one.name, "folder")
        if one.is_file(follow_symlinks=False):
            return Entry(one.name)
        return Entry(one.name, kind_of(one.stat(follow_symlinks=False).st_mode))
    except OSError:
        return Entry(one.name, "missing")  # gone since the folder was read
