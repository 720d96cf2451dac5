"""What commands left behind and disowned is found and ended; what zot did not start is left alone."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.tool_context import FakeToolContext, call, until

from zot_core.toolkit import marking
from zot_core.toolkit.process import ProcessGroups

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits are Linux's")
ALONE = "env -i setsid sh -c 'echo $$ > {pid}; exec sleep 300'"
DISOWNED = [
    ALONE + " &",
    "(" + ALONE + " </dev/null >/dev/null 2>&1 &)",
    "env -i setsid sh -c '(env -i setsid sh -c \"echo \\$\\$ > {pid}; trap : TERM; while :; do sleep 1; done\" &)'",
    "python3 -c 'import os, time\n"
    "if os.fork() == 0:\n os.setsid()\n if os.fork() == 0:\n  os.closerange(0, 64)\n"
    '  open("{pid}", "w").write(str(os.getpid()))\n'
    '  os.execve("/bin/sleep", ["sleep", "300"], {{}})\'',
]


def exists(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def waiting_for(file: Path, command: str) -> str:
    return command.format(pid=file) + f"\nuntil [ -s {file} ]; do sleep 0.01; done"


@pytest.fixture
def strangers() -> Iterator[list[subprocess.Popen[bytes]]]:
    found: list[subprocess.Popen[bytes]] = []
    yield found
    for one in found:
        one.kill()
        one.wait()


@pytest.mark.parametrize("command", DISOWNED)
@pytest.mark.parametrize("how", ["close", "kill", "timeout"])
def test_the_disowned_end_with_the_session(
    tmp_path: Path, command: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/sh")
    monkeypatch.setattr("zot_core.toolkit.process.ProcessGroup.end.__defaults__", (0.2,), raising=True)
    file = tmp_path / "pid"

    async def main() -> None:
        ctx = FakeToolContext(tmp_path)
        command_ = waiting_for(file, command)
        if how == "timeout":
            await call("bash", {"command": f"{command_}\nsleep 300", "timeout": 1}, ctx)
        else:
            await call("bash", {"command": command_}, ctx)
            assert exists(int(file.read_text()))
            if how == "kill":
                ctx.processes.kill()
            else:
                await ctx.processes.close(grace=0.2)
        await until(lambda: not exists(int(file.read_text())))

    asyncio.run(main())


def test_another_sessions_disowned_go_on(tmp_path: Path) -> None:
    file = tmp_path / "pid"

    async def main() -> None:
        ctx, other = FakeToolContext(tmp_path), FakeToolContext(tmp_path)
        await call("bash", {"command": waiting_for(file, DISOWNED[1])}, ctx)
        await call("bash", {"command": "true"}, other)
        other.processes.kill()
        assert exists(int(file.read_text()))
        await ctx.processes.close(grace=0.2)
        await until(lambda: not exists(int(file.read_text())))

    asyncio.run(main())


def test_children_of_an_embedding_program_are_left_alone(
    tmp_path: Path, strangers: list[subprocess.Popen[bytes]]
) -> None:
    """Even those that another thread starts at the very moment of a command's start."""
    stop = threading.Event()

    def embedding() -> None:
        while not stop.is_set() and len(strangers) < 150:
            strangers.append(subprocess.Popen(["sh", "-c", "sleep 300 & wait"], start_new_session=True))

    async def main() -> None:
        ctx = FakeToolContext(tmp_path)
        thread = threading.Thread(target=embedding)
        thread.start()
        try:
            for _ in range(100):
                await call("bash", {"command": "true"}, ctx)
        finally:
            stop.set()
            thread.join()
        await ctx.processes.close(grace=0.2)
        ctx.processes.kill()

    asyncio.run(main())
    assert strangers
    try:
        assert all(one.poll() is None for one in strangers)
        assert [marking.number_of(one.pid) for one in strangers] == [0] * len(strangers)
    finally:
        for one in strangers:
            os.killpg(one.pid, signal.SIGKILL)


def test_zot_itself_and_what_it_starts_otherwise_has_no_mark(tmp_path: Path) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_RTTIME)

    async def main() -> None:
        groups = ProcessGroups()
        with pytest.raises(FileNotFoundError):
            await groups.spawn([str(tmp_path / "missing")], cwd=tmp_path, env={})
        group = await groups.spawn(["sleep", "300"], cwd=tmp_path, env={"PATH": os.defpath})
        assert marking.number_of(group.id)
        await groups.close(grace=0.2)

    asyncio.run(main())
    assert resource.getrlimit(resource.RLIMIT_RTTIME) == before
    assert marking.number_of(os.getpid()) == 0


def test_a_fork_of_the_process_ends_nothing_of_its_parent(tmp_path: Path) -> None:
    async def main() -> None:
        groups = ProcessGroups()
        group = await groups.spawn(["sleep", "300"], cwd=tmp_path, env={"PATH": os.defpath})
        child = os.fork()
        if child == 0:
            try:
                groups.kill()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        assert exists(group.id)
        await groups.close(grace=0.2)

    asyncio.run(main())


SESSION = (
    "import sys, asyncio\n"
    "from pathlib import Path\n"
    f"sys.path[:0] = {sys.path!r}\n"
    "from support.tool_context import FakeToolContext, call\n"
    "async def main():\n"
    "    ctx = FakeToolContext(Path(sys.argv[1]))\n"
    "    for command in sys.argv[3:]:\n"
    "        await call('bash', {'command': command}, ctx)\n"
    "    print(sys.argv[2], flush=True)\n"
    "    await asyncio.to_thread(sys.stdin.read)\n"
    "    await ctx.processes.close(grace=0.2)\n"
    "asyncio.run(main())\n"
)


def session(folder: Path, *commands: str, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """A process with a session that has run these commands and waits for the end of its input."""
    child = subprocess.Popen(
        [*before, sys.executable, "-c", SESSION, str(folder), "up", *commands],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "up\n"
    return child


def ended(child: subprocess.Popen[str]) -> None:
    child.communicate()
    assert child.returncode == 0


@pytest.mark.parametrize("command", DISOWNED)
def test_a_killed_zot_leaves_no_disowned(tmp_path: Path, command: str) -> None:
    file = tmp_path / "pid"
    child = session(tmp_path, waiting_for(file, command))
    pid = int(file.read_text())
    assert exists(pid)
    child.kill()
    child.communicate()
    asyncio.run(until(lambda: not exists(pid)))


def test_a_zot_within_a_command_keeps_its_watcher_until_it_is_no_longer_needed(tmp_path: Path) -> None:
    """The outer one kills what it marked, which is the inner zot; what that one started has only the inner's marks."""
    file = tmp_path / "pid"
    inner = [sys.executable, "-c", SESSION, str(tmp_path), "up", waiting_for(file, DISOWNED[1])]
    (tmp_path / "inner").write_text("exec " + " ".join(map(_quoted, inner)) + " < /dev/zero\n")
    child = session(tmp_path, f"setsid sh {tmp_path}/inner >{tmp_path}/said &\nuntil [ -s said ]; do sleep 0.01; done")
    pid = int(file.read_text())
    assert exists(pid)
    child.kill()
    child.communicate()
    asyncio.run(until(lambda: not exists(pid)))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def test_as_the_first_process_of_a_container_zot_reaps_what_it_inherits(tmp_path: Path) -> None:
    unshare = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
    if not shutil.which("unshare") or subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip("no process table of its own can be had here")
    count = "env -i sh -c 'ls -d /proc/[0-9]* | wc -l; cat /proc/[0-9]*/stat | grep -c \") Z \"' > {}"
    child = session(
        tmp_path,
        *["(setsid sleep 0.01 &) ; (sleep 0.01 &); sleep 0.03"] * 20,
        "true",
        count.format("zombies"),
        before=unshare,
    )
    try:
        processes, zombies = map(int, (tmp_path / "zombies").read_text().split())
        assert zombies < 10, processes  # only of the last commands, of 40 in all
    finally:
        ended(child)


def test_a_limit_that_somebody_set_is_kept(tmp_path: Path) -> None:
    import resource

    code = "import resource\nresource.setrlimit(resource.RLIMIT_RTTIME, (200000, 200000))\n" + SESSION
    out = tmp_path / "limits"
    child: Any = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), "up", f"grep -i realtime.timeout /proc/self/limits > {out}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert (child.returncode, child.stdout) == (0, "up\n"), child.stderr
    assert out.read_text().split()[3:5] == ["200000", "200000"]
    assert resource.getrlimit(resource.RLIMIT_RTTIME)[0] != 200000
