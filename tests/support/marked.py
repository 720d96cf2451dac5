"""Processes that a test started, found by a mark in their environment: children of children have it too."""

from __future__ import annotations

import os
import time
from pathlib import Path

MARK = "CHAOS_MARK"


def alive(mark: str) -> list[tuple[int, str]]:
    """(id, command line) of the processes with that mark, this one and those that have ended aside."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append((int(folder.name), (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()))
        except OSError:
            continue  # it has ended, or is somebody else's
    return found


def left_over(mark: str, seconds: float = 3.0) -> list[tuple[int, str]]:
    """Those that are still there after that time; empty as soon as there are none."""
    deadline = time.monotonic() + seconds
    while found := alive(mark):
        if time.monotonic() > deadline:
            return found
        time.sleep(0.01)
    return []


def state_of(pid: int) -> str:
    """A process's state in a letter, `Z` for one that has ended and was not looked at; empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def children_of(pid: int) -> list[int]:
    """The ids of its children, those that have ended included."""
    return [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]
