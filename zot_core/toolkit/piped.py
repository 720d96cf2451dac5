"""A shell whose output asyncio itself reads from a pipe: for Windows, whose event loop watches no descriptors.

Unlike `LocalShell` it ends what the command left in the background, because nobody would go on reading the pipe.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from zot_core.toolkit.errors import ToolError, in_words, shown
from zot_core.toolkit.operations import Abortable, ShellExit
from zot_core.toolkit.process import ProcessGroup, ProcessGroups
from zot_core.toolkit.shell import first_end

_PIECE = 1 << 16
_LAST_WORDS_S = 0.2


class PipedShell:
    """Runs what `argv` makes of a command. `stdin` is a descriptor, closed once the command has it."""

    def __init__(
        self, groups: ProcessGroups, argv: Callable[[str], Sequence[str]], *, stdin: int = subprocess.DEVNULL
    ) -> None:
        self._groups = groups
        self._argv = argv
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
        """See ShellOps."""
        try:
            group = await self._spawn(command, cwd, env)
        finally:
            if self._stdin >= 0:
                os.close(self._stdin)
        reader = asyncio.ensure_future(_read(group, on_data))
        ended_by: Literal["exit", "timeout", "abort"] = "abort"
        try:
            ended_by = await first_end(group, signal, timeout)
            await asyncio.wait([reader], timeout=_LAST_WORDS_S if ended_by == "exit" else 0)
        finally:
            await group.end()
            await asyncio.wait([reader], timeout=_LAST_WORDS_S)
            reader.cancel()
        if reader.done() and not reader.cancelled():
            reader.result()
        return ShellExit(code=group.process.returncode if ended_by == "exit" else None, ended_by=ended_by)

    async def _spawn(self, command: str, cwd: str, env: Mapping[str, str]) -> ProcessGroup:
        if not os.path.isdir(cwd):  # noqa: PTH112, ASYNC240 - one look before a spawn
            raise ToolError(f"The folder {shown(cwd)} does not exist (any more)")
        try:
            return await self._groups.spawn(
                self._argv(command),
                cwd=cwd,
                env=env,
                stdin=self._stdin,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
        except (ValueError, UnicodeEncodeError) as error:
            raise ToolError(f"The command cannot be passed to a shell: {error}") from error
        except OSError as error:
            raise ToolError(f"Cannot start the shell: {in_words(error)}") from error


async def _read(group: ProcessGroup, on_data: Callable[[bytes], None]) -> None:
    stream = group.process.stdout
    assert stream is not None
    while data := await stream.read(_PIECE):
        on_data(data)
