"""A mark on child processes that none sheds by chance: a resource limit without an effect, with a number of ours.

Limits go on through fork, exec, `setsid`, an emptied environment and the death of parents, and the system tells them of
every process. The one used here bounds only real-time programs, and its values begin at thirty thousand years. 64-bit
Linux only; elsewhere nothing is marked. Starts nothing and ends nothing.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import types
from collections.abc import Coroutine, Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from zot_core.toolkit.proctable import children, descendants_of

T = TypeVar("T")

_EACH = 10**8
"""How many numbers a process of zot has. Decimal, so that `grep` tells them from another's."""
_ROUNDS = 5
_able = sys.platform == "linux" and sys.maxsize > 1 << 32


class _Own:
    """The numbers of this process. A forked one has others, and no lock that its parent held."""

    def __init__(self) -> None:
        self.first = (10**10 + int.from_bytes(os.urandom(8), "big") % (8 * 10**10)) * _EACH
        self.numbers = itertools.count(1)
        self.window = threading.Lock()


_own = _Own()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_own.__init__)  # type: ignore[misc]


def number_of(pid: int) -> int:
    """The mark of a process, 0 if it has none of ours, has ended, or is another user's."""
    limit = _limit(pid) if _able else 0
    return limit if _own.first < limit < _own.first + _EACH else 0


def pattern() -> str:
    """The line of `/proc/*/limits` that processes have which this one has marked, as `grep -E` takes it."""
    return f"^Max realtime timeout +{_own.first // _EACH}[0-9]{{8}} "


class Mark:
    """The number of one spawn, 0 where nothing can be marked."""

    def __init__(self, number: int = 0, before: int = 0) -> None:
        self.number = number
        self._before = before
        self._found: frozenset[int] = frozenset()

    def only(self, pid: int) -> None:
        """Takes the mark from what another thread started in the same moment: that is none of ours."""
        strangers = self._found - {pid}
        marked = list(strangers)
        for _ in range(_ROUNDS if marked else 0):
            for one in marked:
                _set(one, self._before)
            # Parents first, and looked at anew: one may have forked right before it lost the mark.
            marked = [one for one in descendants_of(strangers) if _limit(one) == self.number]

    def look(self) -> None:
        """Notes who has it, when the moment is over."""
        if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208 - with each spawn
            self._found = frozenset(pid for pid in children() if _limit(pid) == self.number)


@types.coroutine
def spawning(start: Coroutine[Any, Any, T]) -> Generator[Any, Any, tuple[Mark, T]]:
    """Awaits `start`, which has to start its process before it first waits; (the child's mark, its answer).

    The mark is on this process itself for that moment, so the child has it from its first instruction on. Call
    `only` with the child's id then.
    """
    with _marked() as mark:
        try:
            waits_for = start.send(None)
        except StopIteration as done:
            return mark, done.value
    while True:
        try:
            sent = yield waits_for
        except BaseException as error:  # a cancellation is passed in too
            step: Any = start.throw
            sent = error
        else:
            step = start.send
        try:
            waits_for = step(sent)
        except StopIteration as done:
            return mark, done.value


@contextmanager
def unmarked() -> Iterator[None]:
    """What is started within has no mark, not even one that this process has from a zot around it."""
    if not _able:
        yield
        return
    import resource

    with _own.window:
        soft, hard = resource.getrlimit(resource.RLIMIT_RTTIME)
        resource.setrlimit(resource.RLIMIT_RTTIME, (hard, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_RTTIME, (soft, hard))


@contextmanager
def _marked() -> Iterator[Mark]:
    """Gives this process a new mark, and takes it back."""
    number = next(_own.numbers)
    if not _able or number >= _EACH:
        yield Mark()
        return
    import resource

    with _own.window:
        soft, hard = resource.getrlimit(resource.RLIMIT_RTTIME)
        if hard != resource.RLIM_INFINITY:
            yield Mark()  # somebody bounds real-time programs here
            return
        mark = Mark(_own.first + number, soft)
        resource.setrlimit(resource.RLIMIT_RTTIME, (mark.number, hard))
        try:
            yield mark
        finally:
            resource.setrlimit(resource.RLIMIT_RTTIME, (soft, hard))
            mark.look()


def _limit(pid: int) -> int:
    import resource

    try:
        return resource.prlimit(pid, resource.RLIMIT_RTTIME)[0]
    except (OSError, ValueError):
        return 0


def _set(pid: int, soft: int) -> None:
    import resource

    with suppress(OSError, ValueError):  # it has ended
        resource.prlimit(pid, resource.RLIMIT_RTTIME, (soft, resource.RLIM_INFINITY))
