"""The person's shell on this machine: which one, with which environment, and one command from start to end.

A command gets no input and no terminal. It has ended when the shell has: what it left in the background goes on until
its owner's end, and what that prints later is read and dropped, so that it neither blocks nor dies of a closed pipe.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from zot_core.toolkit.errors import ToolError, in_words, shown
from zot_core.toolkit.operations import Abortable, ShellExit, ShellOps
from zot_core.toolkit.process import ProcessGroup, ProcessGroups, shared

_KNOWN = frozenset({"bash", "zsh", "sh", "dash", "ksh"})
_PIECE = 1 << 16
_PIPE_MAX = 1 << 20
_LAST_WORDS_S = 0.2
"""How long after the shell's end its helpers (`> >(tee log)`) may still finish their lines."""
_MOMENTS_S = (0.002, 0.005, 0.01, 0.02, 0.04)

QUIET: Mapping[str, str] = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "SSH_ASKPASS_REQUIRE": "never",
    "AI_AGENT": "zot",
    "ZOT_AGENT": "1",
}
"""Variables that keep programs from waiting for a person, and tell them who runs them."""


def user_shell(env: Mapping[str, str] | None = None) -> str:
    """`$SHELL` if it takes POSIX commands (bash, zsh, sh, dash, ksh), else bash, else sh."""
    wanted = (os.environ if env is None else env).get("SHELL", "")
    if Path(wanted).name in _KNOWN and os.access(wanted, os.X_OK):
        return wanted
    if os.access("/bin/bash", os.X_OK):
        return "/bin/bash"
    return shutil.which("bash") or "/bin/sh"


def shell_environment(secrets: Iterable[str] = (), extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of commands: zot's own without the variables named in `secrets`, with `QUIET` and `extra`."""
    return child_environment(secrets, {**QUIET, **(extra or {})})


def child_environment(secrets: Iterable[str] = (), extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of other children: zot's own without the variables named in `secrets`, with `extra`."""
    env = {**os.environ, **(extra or {})}
    for name in (*secrets, "ZOTCORE_RPC_TOKEN"):
        env.pop(name, None)
        if os.name == "nt":  # names are in upper case there, however somebody wrote them
            env.pop(name.upper(), None)
    return env


class _Pump:
    """Reads a pipe as data comes, first to `on_data`, later to nowhere."""

    def __init__(self, descriptor: int, on_data: Callable[[bytes], None]) -> None:
        self._descriptor = descriptor
        self._on_data: Callable[[bytes], None] | None = on_data
        self._loop = asyncio.get_running_loop()
        self.ended = asyncio.Event()
        self.on_end: Callable[[], None] | None = None
        self.failure: Exception | None = None
        os.set_blocking(descriptor, False)
        self._loop.add_reader(descriptor, self._read)

    def _read(self) -> int:
        """Reads one piece; how much, 0 if there was none."""
        if self.ended.is_set():
            return 0
        try:
            data = os.read(self._descriptor, _PIECE)
        except BlockingIOError:
            return 0
        except OSError:
            data = b""
        if not data:
            self.close()
        elif self._on_data is not None:
            try:
                self._on_data(data)
            except Exception as error:  # raised where the command is awaited, not into the event loop
                self.failure, self._on_data = error, None
        return len(data)

    async def last_words(self) -> None:
        """After the shell's end: takes what is in the pipe, then a moment longer unless everyone has closed it."""
        taken = 0
        while taken < _PIPE_MAX and (size := self._read()):
            taken += size
        if not self.ended.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.ended.wait(), _LAST_WORDS_S)
        self._on_data = None

    def close(self) -> None:
        if not self.ended.is_set():
            self.ended.set()
            if not self._loop.is_closed():
                self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            if self.on_end is not None:
                self.on_end()


class LocalShell:
    """Runs commands on this machine; what they leave running belongs to `groups`.

    `wrapper` is a program with its arguments that runs the shell in its turn, such as a sandbox. `stdin` is a
    descriptor that the command reads instead of an empty input; it is closed here once the command has it, so such a
    shell runs one command.
    """

    def __init__(
        self,
        groups: ProcessGroups = shared,
        shell: str | None = None,
        *,
        wrapper: Sequence[str] = (),
        stdin: int = subprocess.DEVNULL,
    ) -> None:
        self._groups = groups
        self.shell = shell or user_shell()
        self._wrapper = tuple(wrapper)
        self._stdin = stdin

    async def run(
        self,
        command: str,
        *,
        cwd: str,
        env: Mapping[str, str],
        on_data: Callable[[bytes], None],
        signal: Abortable | None = None,
        timeout: float | None = None,
    ) -> ShellExit:
        """See ShellOps. A cancellation ends the group before it is raised."""
        read_end, write_end = os.pipe()
        pump = _Pump(read_end, on_data)
        try:
            try:
                group = await self._spawn(command, cwd, env, write_end)
            finally:
                os.close(write_end)
                if self._stdin >= 0:
                    os.close(self._stdin)
            try:
                ended_by = await first_end(group, signal, timeout)
            except asyncio.CancelledError:
                if not _only_the_abort(signal):
                    raise
                ended_by = "abort"  # the run's abort came as a cancellation; what was printed is still worth telling
            finally:
                if group.process.returncode is None:
                    await group.end()
            await pump.last_words()
            if pump.failure is not None:
                raise pump.failure
        except BaseException:
            pump.close()
            raise
        self._leave(pump, group, ended_by)
        code = group.process.returncode if ended_by == "exit" else None
        lingering = ended_by == "exit" and await _lingers(group)
        # Behind a wrapper's own table of processes, the next command could not use the number.
        return ShellExit(code=code, ended_by=ended_by, lingering=lingering, group=None if self._wrapper else group.id)

    async def _spawn(self, command: str, cwd: str, env: Mapping[str, str], output: int) -> ProcessGroup:
        if not os.path.isdir(cwd):  # noqa: PTH112, ASYNC240 - one look before a spawn
            raise ToolError(f"The folder {shown(cwd)} does not exist (any more)")
        argv = [*self._wrapper, self.shell, "-c", command]
        try:
            return await self._groups.spawn(argv, cwd=cwd, env=env, stdin=self._stdin, stdout=output, stderr=output)
        except (ValueError, UnicodeEncodeError) as error:
            raise ToolError(f"The command cannot be passed to a shell: {error}") from error
        except OSError as error:
            if error.errno == 7:
                raise ToolError("The command is too long for the system: write it to a file and run that") from error
            raise ToolError(f"Cannot start {argv[0]}: {in_words(error)}") from error

    def _leave(self, pump: _Pump, group: ProcessGroup, ended_by: str) -> None:
        """Goes on draining what background children hold open; after a time-out or an abort nobody is owed that."""
        if pump.ended.is_set():
            return
        if ended_by != "exit":
            pump.close()
            return
        pump.on_end = self._groups.on_close(pump.close)


async def _lingers(group: ProcessGroup) -> bool:
    """Whether the shell left anybody behind; who is just about to end gets a moment."""
    for moment in _MOMENTS_S:
        if not group.alive():
            return False
        await asyncio.sleep(moment)
    return group.alive()


def local_shell(
    groups: ProcessGroups, shell: str, wrapper: Sequence[str] = (), stdin: int = subprocess.DEVNULL
) -> ShellOps:
    """The shell at this path, as this system can run it."""
    if os.name == "nt":
        from zot_core.toolkit.piped import PipedShell

        return PipedShell(groups, lambda command: [shell, "-c", command], stdin=stdin)
    return LocalShell(groups, shell, wrapper=wrapper, stdin=stdin)


def _only_the_abort(signal: Abortable | None) -> bool:
    task = asyncio.current_task()
    return signal is not None and signal.aborted and task is not None and task.cancelling() <= 1


async def first_end(
    group: ProcessGroup, signal: Abortable | None, timeout: float | None
) -> Literal["exit", "timeout", "abort"]:
    """What comes first: the leader's end, the abort, or the time-out."""
    if signal is not None and signal.aborted:
        return "abort"
    leader: asyncio.Task[Any] = asyncio.ensure_future(group.wait())
    aborted: asyncio.Task[Any] | None = asyncio.ensure_future(signal.wait()) if signal is not None else None
    waiting = [leader] if aborted is None else [leader, aborted]
    try:
        await asyncio.wait(waiting, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if leader.done():
            return "exit"
        return "abort" if aborted is not None and aborted.done() else "timeout"
    finally:
        for task in waiting:
            task.cancel()
