"""The system's table of processes, read where something has to be found and ended: groups, descendants, marks.

Only Linux has it as files; elsewhere every answer is empty or None. Starts nothing and ends nothing.
"""

# /proc is read with plain calls: it is scanned while something waits to be ended.
# ruff: noqa: PTH123, PTH208

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

MARK = "ZOT_CHILD"
"""The variable that every child of zot carries, and whatever it starts: `<process of zot>.<owner>.<group>`."""
TOKEN = os.urandom(8).hex()
"""This process of zot in the marks of its children."""


def running_groups() -> frozenset[int] | None:
    """The process groups with a member that has not ended; None where /proc is missing."""
    if sys.platform != "linux":
        return None
    return frozenset(group for _, _, group, state in _processes() if state not in "ZX")


def descendants(pid: int) -> list[int]:
    """The processes below `pid` that lead or joined another group (a `setsid`); empty where /proc is missing."""
    return _below(pid, [row[:3] for row in _processes()])


def descendants_of(pids: Iterable[int]) -> list[int]:
    """All that is below these processes, whatever its group; empty where /proc is missing."""
    rows = [row[:2] for row in _processes()]
    found, below = list[int](), set(pids)
    while below:
        below = {pid for pid, parent in rows if parent in below}
        found += below
    return found


def children() -> list[int]:
    """The children of this process, ended ones too that nobody has reaped; empty where /proc is missing."""
    own = os.getpid()
    if not os.path.exists(f"/proc/self/task/{own}/children"):  # noqa: PTH110 - not every kernel has it
        return [pid for pid, parent, *_ in _processes() if parent == own]
    found: list[int] = []
    for task in os.listdir("/proc/self/task"):
        with suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/self/task/{task}/children", "rb") as file:
            found += map(int, file.read().split())
    return found


def strays(group: int, is_marked: Callable[[int], bool]) -> list[int]:
    """The processes outside of `group` that its leader started, at whatever remove: below it, or with its mark.

    A mark also finds those whose parents have ended.
    """
    rows = [(pid, parent, other) for pid, parent, other, state in _processes() if state not in "ZX"]
    found = set(_below(group, rows))
    found |= {pid for pid, _, other in rows if other != group and pid not in found and is_marked(pid)}
    return sorted(found - {os.getpid()})


def marked(is_marked: Callable[[int], bool]) -> list[int]:
    """The processes with a mark; empty where /proc is missing."""
    own = os.getpid()
    return [pid for pid, *_, state in _processes() if state not in "ZX" and pid != own and is_marked(pid)]


def running(pid: int) -> bool:
    """Whether the process has not ended; one that nobody has reaped yet has."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (OSError, IndexError):
        return sys.platform != "linux"


def _below(pid: int, rows: list[tuple[int, int, int]]) -> list[int]:
    children: dict[int, list[tuple[int, int]]] = {}
    for child, parent, group in rows:
        children.setdefault(parent, []).append((child, group))
    below, found = [pid], list[int]()
    while below:
        for child, group in children.get(below.pop(), ()):
            below.append(child)
            if group != pid:
                found.append(child)
    return found


def carries(pid: int, mark: str) -> bool:
    """Whether the mark in the environment that the process was started with begins so."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return f"{MARK}={mark}".encode() in file.read()
    except OSError:
        return False  # ended meanwhile, or another user's


def _processes() -> Iterator[tuple[int, int, int, str]]:
    """Id, parent, group and state of every process, where /proc has them."""
    if sys.platform != "linux":
        return
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                # The program's name in brackets may hold anything; behind the last bracket are the fields.
                state, parent, group = file.read().rpartition(b")")[2].split()[:3]
        except (OSError, ValueError):
            continue  # ended while we looked
        yield int(name), int(parent), int(group), state.decode()
