"""Child processes that live and die by process group: started in a session of their own, ended TERM then KILL.

A group whose leader has ended may have members left; it stays known, so that whoever owns the registry can end it.
Every child carries marks, in its environment and in its limits, by which those are found that left the group. Knows
neither tools nor extensions; both start their children here.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from zot_core.toolkit.marking import number_of, spawning
from zot_core.toolkit.proctable import MARK, TOKEN, carries, children, marked, running, running_groups, strays
from zot_core.toolkit.watchdog import watch

GRACE_S = 2.0
"""How long a group has between TERM and KILL."""
_POLL_S = 0.02
_LAST_WORDS_S = 0.1
_DYING_S = 1.0
_KILLING_S = 5.0
_ROUNDS = 5
_WINDOWS = sys.platform == "win32"
_ALONE: Mapping[str, Any] = {"creationflags": 0x08000200} if _WINDOWS else {"start_new_session": True}
"""What keeps a child from zot's terminal. On Windows CREATE_NO_WINDOW (a hidden console of its own, so that it neither
reads zot's keys nor changes its modes and code page) and CREATE_NEW_PROCESS_GROUP (Ctrl-C is zot's alone)."""
_owners = itertools.count(1)


class _Protocol(asyncio.subprocess.SubprocessStreamProtocol):
    """asyncio's own, that also tells the process's end from its pipes' end.

    `Process.wait` of some Python versions returns only when the pipes are closed too, and a grandchild may hold them.
    """

    def __init__(self, limit: int, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit, loop)
        self.exited = asyncio.Event()
        self.finished = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.finished.set()


class ProcessGroup:
    """A child that leads its own process group and session; it has no controlling terminal.

    `process` is the asyncio process, with its pipes where they were asked for. Wait for it with this class's `wait`.
    """

    def __init__(
        self,
        transport: asyncio.SubprocessTransport,
        protocol: _Protocol,
        on_gone: Callable[[ProcessGroup], None],
        is_marked: Callable[[int], bool],
    ) -> None:
        self._is_marked = is_marked
        self.process = asyncio.subprocess.Process(transport, protocol, asyncio.get_running_loop())
        self.id = self.process.pid
        self._transport = transport
        self._protocol = protocol
        self._on_gone = on_gone

    async def wait(self) -> int:
        """Waits for the leader alone, whoever else holds its pipes; its exit code, negative for a signal."""
        await self._protocol.exited.wait()
        if not self.alive():
            self._on_gone(self)
        return self.process.returncode or 0

    def alive(self, running: frozenset[int] | None = None) -> bool:
        """Whether the leader, or anyone whom it left in the group, still runs. `running` is a fresh `running_groups()`.

        An ended process that nobody has reaped yet does not count where /proc tells it apart.
        """
        if self.process.returncode is None:
            return True
        if not self.known():
            return False
        running = running if running is not None else running_groups()
        return running is None or self.id in running

    def known(self) -> bool:
        """Whether the system still knows the group, even if all in it have ended: a cheap `alive` that errs to yes."""
        if self.process.returncode is None:
            return True
        if _WINDOWS:
            return False
        # A pid is not given anew while a group bears it. So a process with the leader's pid, after the leader was
        # reaped, means that the group had ended and this is a stranger.
        return _exists(os.killpg, self.id) and not _exists(os.kill, self.id)

    def send(self, number: int) -> None:
        """Sends a signal to the whole group; nothing happens if it has ended."""
        if not self.known():
            self._on_gone(self)
            return
        if _WINDOWS:
            # There is no signal for a tree; the process itself is killed even where the program is missing or hangs.
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                command = ["taskkill", "/T", "/F", "/PID", str(self.id)]
                subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=_KILLING_S)
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
            return
        try:
            os.killpg(self.id, number)
        except (ProcessLookupError, PermissionError):
            pass  # ended meanwhile, or only members of another user (sudo) are left

    async def end(self, grace: float = GRACE_S) -> None:
        """Ends the group and what its leader started outside of it: TERM, after `grace` seconds KILL.

        Returns when all have ended, or at most a second after KILL, with the pipes closed; what was written by then can
        still be read. A cancellation meanwhile means KILL at once.
        """
        outside = strays(self.id, self._is_marked)
        try:
            self._signal_all(outside, signal.SIGTERM)
            if hasattr(signal, "SIGCONT"):
                self._signal_all(outside, signal.SIGCONT)  # a stopped process could not take the TERM
            await _gone(lambda: not self.alive() and not any(map(running, outside)), grace)
        finally:
            self.kill()
        await self._protocol.exited.wait()
        await _gone(lambda: not self.alive(), _DYING_S)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._protocol.finished.wait(), _LAST_WORDS_S)
        self._transport.close()
        if not self.alive():
            self._on_gone(self)

    def kill(self) -> None:
        """Kills the group and what left it at once, without waiting; it can be called where nothing can be awaited."""
        self._signal_all(strays(self.id, self._is_marked), getattr(signal, "SIGKILL", signal.SIGTERM))

    def _signal_all(self, outside: Iterable[int], number: int) -> None:
        self.send(number)
        _signal(outside, number)


def _exists(kill: Callable[[int, int], None], target: int) -> bool:
    try:
        kill(target, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue  # ended meanwhile, or another user's


async def _gone(condition: Callable[[], bool], grace: float) -> None:
    """Returns when `condition` holds, or `grace` seconds later."""
    deadline = asyncio.get_running_loop().time() + grace
    while not condition() and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110 - the system tells nobody
        await asyncio.sleep(_POLL_S)


class ProcessGroups:
    """The groups that one owner (a session, the process) has started and that may still run."""

    def __init__(self) -> None:
        self._live: dict[int, ProcessGroup] = {}
        self._process = os.getpid()
        self._mark = f"{TOKEN}.{self._process}.{next(_owners)}."
        self._started = 0
        self._numbers: set[int] = set()
        self._closers: set[Callable[[], None]] = set()

    async def spawn(
        self,
        argv: Sequence[str],
        *,
        cwd: str | os.PathLike[str],
        env: Mapping[str, str],
        stdin: Any = asyncio.subprocess.DEVNULL,
        stdout: Any = asyncio.subprocess.DEVNULL,
        stderr: Any = asyncio.subprocess.DEVNULL,
        limit: int = 1 << 16,
    ) -> ProcessGroup:
        """Starts a program in its own group. Streams are as asyncio's; `limit` bounds a line of its StreamReaders.

        Raises OSError as the system does, ValueError for a NUL in an argument.
        """
        for group in [group for group in self._live.values() if not group.known()]:
            self._forget(group)
        self._reap()
        watch()
        self._started += 1
        mark = f"{self._mark}{self._started}."
        loop = asyncio.get_running_loop()
        numbered, (transport, protocol) = await spawning(
            loop.subprocess_exec(
                lambda: _Protocol(limit, loop),
                *argv,
                cwd=cwd,
                env={**env, MARK: mark},
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                **_ALONE,
            )
        )
        number = numbered.number
        self._numbers |= {number} - {0}
        group = ProcessGroup(
            transport,
            protocol,
            self._forget,
            lambda pid: bool(number and number_of(pid) == number) or carries(pid, mark),
        )
        numbered.only(group.id)
        self._live[group.id] = group
        return group

    def live(self) -> list[ProcessGroup]:
        """The groups that still have a member."""
        self.prune()
        return list(self._live.values())

    def prune(self) -> None:
        """Forgets groups that have ended."""
        running = running_groups() if self._live else None
        for group in list(self._live.values()):
            if not group.alive(running):
                self._forget(group)

    def on_close(self, closer: Callable[[], None]) -> Callable[[], None]:
        """Has `closer` called when everything ends, to close a pipe still drained; the answer takes it back."""
        self._closers.add(closer)
        return lambda: self._closers.discard(closer)

    async def close(self, grace: float = GRACE_S) -> None:
        """Ends all groups side by side, then what left a group that has ended; each within `grace` seconds and a KILL.

        What they started outside of any group is found on Linux only.
        """
        if self._process != os.getpid():
            return  # a fork of the process whose children they are
        await asyncio.gather(*(group.end(grace) for group in self.live()))
        if left := self._left():
            _signal(left, signal.SIGTERM)
            try:
                await _gone(lambda: not any(map(running, left)), grace)
            finally:
                self._kill_left()
        self._reap()
        self._close_rest()

    def kill(self) -> None:
        """Kills all groups without waiting: for the end of the process."""
        if self._process != os.getpid():
            return
        for group in self.live():
            group.kill()
        self._kill_left()
        self._close_rest()

    def _left(self) -> list[int]:
        return marked(self._is_marked) if self._started else []

    def _is_marked(self, pid: int) -> bool:
        return number_of(pid) in self._numbers or carries(pid, self._mark)

    def _kill_left(self) -> None:
        """Once more as long as there is anybody: who is just about to fork leaves another behind."""
        for _ in range(_ROUNDS):
            left = self._left()
            if not left:
                return
            _signal(left, getattr(signal, "SIGKILL", signal.SIGTERM))

    def _reap(self) -> None:
        """As the first process of a container we inherit what commands left, and nobody else takes their end."""
        if os.getpid() != 1 or not self._started:
            return
        for pid in children():
            if pid not in self._live and number_of(pid) in self._numbers and not running(pid):
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)

    def _close_rest(self) -> None:
        for closer in list(self._closers):
            closer()
        self._closers.clear()

    def _forget(self, group: ProcessGroup) -> None:
        self._live.pop(group.id, None)


shared = ProcessGroups()
"""The groups of this process that no session owns; what is left of them is killed when the interpreter ends."""
atexit.register(shared.kill)
