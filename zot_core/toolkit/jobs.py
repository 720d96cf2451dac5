"""Commands that run beside the conversation: started, looked at, given input, ended. They die with their session.

A job is a shell operation in a task of its own. Its output is kept as any command's is: the end in memory, the whole in
a file once it is too much. Knows no tool and no session; whoever owns the processes owns the jobs.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import subprocess
import time
from collections.abc import Callable
from weakref import WeakKeyDictionary

from zot_core.toolkit.command import Gated, how_it_ended
from zot_core.toolkit.errors import ToolError
from zot_core.toolkit.operations import ShellExit, ShellOps
from zot_core.toolkit.process import ProcessGroups
from zot_core.toolkit.spool import KEPT_BYTES, Spool
from zot_core.toolkit.text import as_seen
from zot_core.toolkit.truncation import boundary, format_size, tail

MAX_RUNNING = 32
"""How many jobs of one owner may run at once."""
_REMEMBERED = 32
"""How many jobs that have ended, and whose end was told, are still known by name."""
_INPUT_S = 5.0
_numbers = itertools.count(1)


class _Stop:
    """The signal of one job."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    @property
    def aborted(self) -> bool:
        return self._event.is_set()

    async def wait(self) -> None:
        await self._event.wait()

    def abort(self) -> None:
        self._event.set()


class Job:
    """One background command. `id` is what a model calls it."""

    def __init__(self, command: str, *, timeout: float | None, input_end: int | None) -> None:
        self.id = f"j{next(_numbers)}"
        self.command = command
        self.signal = _Stop()
        self.began = time.monotonic()
        self.seconds = 0.0
        self.ended: ShellExit | None = None
        self.failure = ""
        self.told = False
        self.mentioned = False
        self.changed = asyncio.Event()
        self.done = asyncio.Event()
        self.task: asyncio.Task[None] | None = None
        self._timeout = timeout
        self._input_end = input_end
        self._spool = Spool(f"job-{self.id}")
        self._unread = bytearray()
        self._skipped = 0

    async def follow(self, shell: ShellOps, allowed: Gated) -> None:
        """Runs the command to its end. Never raises but for a cancellation: what went wrong is in `failure`."""
        kept = False
        try:
            self.ended = await shell.run(
                allowed.command,
                cwd=allowed.cwd,
                env=allowed.env,
                on_data=self._feed,
                signal=self.signal,
                timeout=self._timeout,
            )
            kept = True
        except (ToolError, OSError) as error:
            self.failure = str(error)
        except Exception as error:  # a shell that a plugin supplies
            self.failure = f"{type(error).__name__}: {error}"
        finally:
            self.seconds = time.monotonic() - self.began
            self.close_input()
            if kept:
                self._spool.finish()
            else:
                self._spool.discard()
            self.done.set()
            self.changed.set()

    def _feed(self, data: bytes) -> None:
        self._spool.feed(data)
        self._unread += data
        if len(self._unread) > 2 * KEPT_BYTES:
            self._skipped += len(self._unread) - KEPT_BYTES
            del self._unread[:-KEPT_BYTES]
        self.changed.set()

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return not self.done.is_set()

    @property
    def state(self) -> str:
        """How it stands, in a few words."""
        if self.running:
            return f"runs since {time.monotonic() - self.began:.0f} s"
        if self.failure:
            return f"failed: {self.failure}"
        if self.ended is None or self.ended.ended_by == "abort":
            return f"killed after {self.seconds:.1f} s"
        words = how_it_ended(self.ended, self._timeout)
        return f"ended after {self.seconds:.1f} s: {words[0].lower()}{words[1:]}"

    @property
    def failed(self) -> bool:
        """Whether it ended otherwise than a command that went well or was killed on request."""
        if self.running or (self.ended is not None and self.ended.ended_by == "abort"):
            return False
        return self.ended is None or self.ended.ended_by != "exit" or self.ended.code != 0

    @property
    def output_file(self) -> str | None:
        """The file with the whole output, once it was too much to show."""
        return str(self._spool.path) if self._spool.path is not None else None

    def news(self) -> str:
        """What it printed since the last time this was asked, at most what any result shows; the rest is said."""
        raw = bytes(self._unread)
        if self.running:
            raw = raw[: boundary(raw)]  # a character may come in two pieces
        self._spool.flush()
        skipped, self._skipped = self._skipped, 0
        del self._unread[: len(raw)]
        cut = tail(as_seen(raw.decode("utf-8", "replace")))
        self.changed.clear()
        text = cut.text.strip("\n")
        if skipped or cut.truncated:
            size = format_size(skipped + len(raw))
            text += f"\n\n[Shown: the end of {size}. All of the output: {self.output_file or 'could not be saved'}]"
        return text

    async def wait(self, seconds: float, *, output: bool = False) -> None:
        """Waits at most so long for its end, or with `output` for something printed and a moment of quiet after."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                if not output:
                    await self.done.wait()
                    return
                await self.changed.wait()
                while self.running and self.changed.is_set():
                    self.changed.clear()
                    await asyncio.sleep(0.1)

    async def write(self, text: str) -> None:
        """Passes text to its input. Raises ToolError when it takes none, or not all of it within 5 s."""
        if self._input_end is None:
            raise ToolError(f"{self.id} takes no input (any more)")
        try:
            left = memoryview(text.encode("utf-8", "surrogateescape"))
        except UnicodeEncodeError as error:
            raise ToolError(
                f"text holds half of a surrogate pair at character {error.start}; nothing was sent"
            ) from error
        deadline = time.monotonic() + _INPUT_S
        while left:
            try:
                left = left[os.write(self._input_end, left) :]
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise ToolError(f"{self.id} does not read its input: {len(left)} bytes were not taken") from None
                await asyncio.sleep(0.02)
                if self._input_end is None:
                    raise ToolError(f"{self.id} has ended; {len(left)} bytes were not taken") from None
            except OSError as error:
                self.close_input()
                raise ToolError(f"{self.id} has closed its input") from error

    def close_input(self) -> None:
        """Lets it read the end of its input."""
        if self._input_end is not None:
            os.close(self._input_end)
            self._input_end = None


class Jobs:
    """The jobs of one owner of processes."""

    def __init__(self, groups: ProcessGroups) -> None:
        self._jobs: dict[str, Job] = {}
        groups.on_close(self.close)

    def start(
        self,
        allowed: Gated,
        shell: Callable[[int], ShellOps],
        *,
        timeout: float | None = None,
        takes_input: bool = True,
    ) -> Job:
        """Starts a command. `shell` is given the descriptor that the command reads and has to close it, or DEVNULL.

        Raises ToolError when too many run.
        """
        running = [job.id for job in self._jobs.values() if job.running]
        if len(running) >= MAX_RUNNING:
            raise ToolError(f"{len(running)} background jobs run, which is the most: kill one first")
        takes_input = takes_input and hasattr(os, "set_blocking")  # a Windows with Python 3.11 has no such pipes
        read_end, write_end = os.pipe() if takes_input else (subprocess.DEVNULL, None)
        if write_end is not None:
            os.set_blocking(write_end, False)
        job = Job(allowed.command, timeout=timeout, input_end=write_end)
        self._jobs[job.id] = job
        job.task = asyncio.get_running_loop().create_task(job.follow(shell(read_end), allowed), name=f"job {job.id}")
        return job

    def get(self, job_id: str) -> Job:
        """The job of this name. Raises ToolError that lists those that are known."""
        if job_id in self._jobs:
            return self._jobs[job_id]
        known = ", ".join(self._jobs) or "none; jobs of an earlier session have ended with it"
        raise ToolError(f"There is no job {job_id!r} in this session. Known: {known}")

    def all(self) -> list[Job]:
        """All that are known, oldest first."""
        return list(self._jobs.values())

    def told(self, job: Job) -> None:
        """Notes that the end of a job was told; of these only the latest stay known."""
        job.told = not job.running
        for old in [one.id for one in self._jobs.values() if one.told][:-_REMEMBERED]:
            del self._jobs[old]

    def untold(self) -> list[Job]:
        """Jobs that have ended without anybody having been told."""
        return [job for job in self._jobs.values() if not job.running and not job.told]

    def close(self) -> None:
        """Ends everything without waiting: the processes are their groups' owner's matter."""
        for job in self._jobs.values():
            if job.task is not None:
                job.task.cancel()
            job.close_input()


_of_groups: WeakKeyDictionary[ProcessGroups, Jobs] = WeakKeyDictionary()


def jobs_of(groups: ProcessGroups) -> Jobs:
    """The jobs of this owner of processes; made when first asked for."""
    if groups not in _of_groups:
        _of_groups[groups] = Jobs(groups)
    return _of_groups[groups]
