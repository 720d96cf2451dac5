"""The process of an extension: started in its own folder and group, with pipes, its stderr in its log; ended for good.

Knows lines, not frames. The program gets zot's environment without credentials.
"""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import signal
from collections.abc import Callable, Iterable
from pathlib import Path

from zot_core.toolkit.process import ProcessGroup, shared
from zot_core.toolkit.shell import child_environment
from zot_core.types.failure import ZotError
from zot_core.wire.channel import Channel
from zot_plugins.extension_bridge.logs import ExtensionLog
from zot_plugins.extension_bridge.manifest import Manifest

TERM_GRACE_S = 1.0
"""Between TERM and KILL."""
LAST_WORDS_S = 0.1
"""After the process's end: for what is still in its pipes, which a grandchild may hold open."""
STATUS_S = 0.5
"""After the end of its output: for its exit status."""
MAX_LINE = 4 << 20


class CannotStart(ZotError):
    """The program could not be started; the message says why, in words for its author."""


class Child:
    """A running extension. `gone` is empty while it runs, then says how it ended."""

    def __init__(self, log: ExtensionLog) -> None:
        self.log = log
        self.gone = ""
        self.channel = Channel(lambda line: self._on_line(line), self._output_ended, limit=MAX_LINE)
        self.group: ProcessGroup | None = None
        self._on_line: Callable[[bytes], None] = lambda line: None
        self._on_gone: Callable[[], None] = lambda: None
        self._pipes: tuple[int, int, int] | None = None
        self._output_end = asyncio.Event()
        self._output_problem = ""
        self._errors: asyncio.ReadTransport | None = None
        self._errors_end = asyncio.Event()
        self._watcher: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        self.left = asyncio.Event()
        """Set when it is gone."""

    @property
    def pid(self) -> int | None:
        """The process's id; None before it was started."""
        return None if self.group is None else self.group.id

    async def start(self, manifest: Manifest, *, secrets: Iterable[str] = (), reload: bool = False) -> None:
        """Starts the program; with `reload` it is told so by ZOT_RELOAD=1. Raises CannotStart."""
        argv = [program(manifest), *manifest.args]
        # Of a zot that was started by a reloading extension, the child knows nothing.
        env = child_environment((*secrets, "ZOT_RELOAD"))
        if reload:
            env["ZOT_RELOAD"] = "1"
        stdin, stdin_ours = os.pipe()
        stdout_ours, stdout = os.pipe()
        stderr_ours, stderr = os.pipe()
        try:
            self.group = await shared.spawn(
                argv, cwd=manifest.folder, env=env, stdin=stdin, stdout=stdout, stderr=stderr
            )
        except (OSError, ValueError) as error:
            for descriptor in (stdin_ours, stdout_ours, stderr_ours):
                os.close(descriptor)
            raise CannotStart(_why(manifest, argv[0], error)) from error
        finally:
            for descriptor in (stdin, stdout, stderr):
                os.close(descriptor)
        self._pipes = (stdin_ours, stdout_ours, stderr_ours)

    async def listen(self, on_line: Callable[[bytes], None], on_gone: Callable[[], None]) -> None:
        """Begins to read: `on_line` gets each line, `on_gone` is called once, when it is gone. What it wrote before
        has waited in the pipe."""
        assert self._pipes is not None
        self._on_line, self._on_gone = on_line, on_gone
        (stdin, stdout, stderr), self._pipes = self._pipes, None
        loop = asyncio.get_running_loop()
        self._errors, _ = await loop.connect_read_pipe(lambda: _Errors(self), os.fdopen(stderr, "rb", 0))
        await self.channel.connect(stdout, stdin)
        self._watcher = asyncio.create_task(self._watch(), name=f"zot:ext:{self.log.path.stem}")

    async def end(self) -> None:
        """Ends the process and all that it started: TERM, after a second KILL. Safe to call twice."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())
        await asyncio.shield(self._ending)

    async def _end(self) -> None:
        if self.group is not None:
            await self.group.end(TERM_GRACE_S)
        if self._watcher is not None:
            await self._watcher

    async def _watch(self) -> None:
        """Waits for the end of the process or of its output, and says so once."""
        assert self.group is not None
        exited = asyncio.create_task(self.group.wait())
        silent = asyncio.create_task(self._output_end.wait())
        await asyncio.wait({exited, silent}, return_when=asyncio.FIRST_COMPLETED)
        if exited.done():
            await _bounded(self._output_end, LAST_WORDS_S)
            await _bounded(self._errors_end, LAST_WORDS_S)
        elif not self._output_problem:
            await asyncio.wait({exited}, timeout=STATUS_S)
        silent.cancel()
        self.gone = self._output_problem or (ending(exited.result()) if exited.done() else "it has closed its output")
        self.channel.close(self.gone)
        self.left.set()
        self._on_gone()
        await exited
        if self._errors is not None:
            self._errors.close()
        self.log.close()

    def _output_ended(self, problem: str) -> None:
        self._output_problem = problem
        self._output_end.set()


class _Errors(asyncio.Protocol):
    """Keeps the pipe of stderr empty, so that nobody blocks on it."""

    def __init__(self, child: Child) -> None:
        self._child = child

    def data_received(self, data: bytes) -> None:
        self._child.log.stderr(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._child._errors_end.set()


def program(manifest: Manifest) -> str:
    """The program that `exec` names: a file beside the manifest, or, for a bare name that is not there, one on PATH."""
    file = manifest.folder / manifest.exec
    bare = os.sep not in manifest.exec and "/" not in manifest.exec
    if bare and not file.exists():
        return shutil.which(manifest.exec) or str(file)
    return str(file)


def ending(code: int) -> str:
    """How a process ended, from its exit code as asyncio has it."""
    if code >= 0:
        return f"it exited with status {code}"
    try:
        return f"it was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"it was ended by signal {-code}"


async def _bounded(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass  # a grandchild holds the pipe; what it says is nobody's


def _why(manifest: Manifest, file: str, error: OSError | ValueError) -> str:
    named = f"`exec` names {manifest.exec!r}"
    if not isinstance(error, OSError):
        return f"{named}, which cannot be started: {error}"
    if not Path(file).exists():
        return f"{named}, and there is no file {file}"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"{named}, which may not be executed; try: chmod +x {file}"
    if error.errno == errno.ENOEXEC:
        return f'{named}, which is no program; a script needs a first line such as "#!/usr/bin/env python3"'
    if error.errno == errno.ENOENT:
        return f"{named}, and the program that its first line names is not there"
    return f"{named}, which cannot be started: {error.strerror or error}"
