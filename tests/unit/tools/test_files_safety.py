"""Files are never lost: kills, full disks, and many edits of one file at once, whatever it is called."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import random
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.tool_context import FakeToolContext, call, names, run, said

from zot_core.testing import RecordingFrontEnd, Script
from zot_core.toolkit import replacing
from zot_core.types.specs import ToolResult

LEFT = re.compile(r"\.zot-[0-9a-f]{12}\.tmp")
BODY = "x" * 400_000


def leftovers(folder: Path) -> list[str]:
    return [name for name in names(list(folder.iterdir())) if LEFT.fullmatch(name)]


# --- killed in the middle -------------------------------------------------------------------------------------------

WORKER = """
import asyncio, itertools, sys
from pathlib import Path
sys.path[:0] = {path!r}
from support.tool_context import FakeToolContext, call
from zot_core.toolkit import replacing
tool, folder, named = sys.argv[1:]
if named == "named":
    replacing._NAMELESS = 0
body = "x" * {size}

async def main():
    ctx = FakeToolContext(Path(folder))
    for n in itertools.count(1):
        print("begin", n, flush=True)
        if tool == "write":
            args = dict(path="a", content=f"first {{n}}\\n{{body}}\\nlast {{n}}\\n")
        else:
            edits = [dict(old_text=f"{{at}} {{n - 1}}\\n", new_text=f"{{at}} {{n}}\\n") for at in ("first", "last")]
            args = dict(path="a", edits=edits)
        result = await call(tool, args, ctx)
        assert not result.is_error, result.content
        print("done", n, flush=True)

asyncio.run(main())
"""


@pytest.mark.parametrize("way", ["nameless", "named"])
@pytest.mark.parametrize("tool", ["write", "edit"])
@pytest.mark.time_limit(120)
def test_a_kill_in_the_middle_leaves_the_old_or_the_new_file(tmp_path: Path, tool: str, way: str) -> None:
    code = WORKER.format(path=sys.path, size=len(BODY))
    chance = random.Random(f"{tool} {way}")
    target = tmp_path / "a"
    for _ in range(8):
        target.write_text(f"first 0\n{BODY}\nlast 0\n")
        worker = subprocess.Popen(
            [sys.executable, "-c", code, tool, str(tmp_path), way], stdout=subprocess.PIPE, text=True
        )
        assert worker.stdout is not None
        lines = [worker.stdout.readline() for _ in range(2 * chance.randint(1, 3) - 1)]  # it has just begun once more
        time.sleep(chance.uniform(0, 0.008))  # any moment will do: this is what chooses it
        worker.kill()
        lines += worker.stdout.readlines()
        worker.stdout.close()
        assert worker.wait() == -signal.SIGKILL, lines
        begun = int(lines[-1].split()[1])
        done = begun if lines[-1].startswith("done") else begun - 1
        text = target.read_text()
        assert text in {f"first {n}\n{BODY}\nlast {n}\n" for n in (done, begun)}
        assert len(leftovers(tmp_path)) <= 1
    assert not run("write", FakeToolContext(tmp_path), path="a", content="after\n").is_error
    assert leftovers(tmp_path) == []


@pytest.fixture(params=["nameless", "named"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to write beside a file: without a name (Linux), and with one."""
    if request.param == "named":
        monkeypatch.setattr(replacing, "_NAMELESS", 0)
    elif not replacing._NAMELESS:
        pytest.skip("no files without names here")
    return str(request.param)


def test_what_a_dead_process_left_goes_and_what_a_live_one_writes_stays(tmp_path: Path, way: str) -> None:
    left = tmp_path / replacing._remaining("a")
    left.write_text("half a fi")
    write = {"path": "a", "content": "new"}
    assert not run("write", FakeToolContext(tmp_path), **write).is_error
    assert leftovers(tmp_path) == []
    left.write_text("being written")
    with left.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert not run("write", FakeToolContext(tmp_path), **{**write, "content": "newer"}).is_error
    assert left.read_text() == "being written"
    assert (tmp_path / "a").read_text() == "newer"
    assert leftovers(tmp_path) == [left.name]


def test_mode_owner_and_attributes_are_kept(tmp_path: Path, way: str) -> None:
    file = tmp_path / "a"
    file.write_text("old")
    file.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(file, 1234, 2345)
    try:
        os.setxattr(file, "user.note", b"kept")
    except OSError:
        pass  # a file system without attributes
    before, attributes = file.stat(), os.listxattr(file)
    assert not run("edit", FakeToolContext(tmp_path), path="a", old_text="old", new_text="new").is_error
    after = file.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert os.listxattr(file) == attributes
    assert after.st_ino != before.st_ino


def test_a_file_system_without_files_without_names_is_written_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not replacing._NAMELESS:
        pytest.skip("no files without names here")
    real = os.open

    def refuses(path: Any, flags: int, *args: Any, **how: Any) -> int:
        if flags & replacing._NAMELESS == replacing._NAMELESS:
            raise OSError(errno.EOPNOTSUPP, "no")
        return real(path, flags, *args, **how)

    monkeypatch.setattr(os, "open", refuses)
    assert not run("write", FakeToolContext(tmp_path), path="a", content="x").is_error
    monkeypatch.setattr(os, "open", real)

    def no_proc(*_: Any, **__: Any) -> None:
        raise FileNotFoundError(errno.ENOENT, "no /proc")

    monkeypatch.setattr(os, "link", no_proc)
    assert not run("write", FakeToolContext(tmp_path), path="a", content="y").is_error
    assert (tmp_path / "a").read_text() == "y"
    assert names(list(tmp_path.iterdir())) == ["a"]


def test_hard_links_are_parted(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("shared")
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    assert not run("edit", FakeToolContext(tmp_path), path="a", old_text="shared", new_text="mine").is_error
    assert ((tmp_path / "a").read_text(), (tmp_path / "b").read_text()) == ("mine", "shared")


def test_a_read_only_file_and_folder_are_left_alone(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o444)
    assert "read-only" in said(run("write", FakeToolContext(tmp_path), path="a", content="new"))
    (tmp_path / "a").chmod(0o644)
    tmp_path.chmod(0o555)
    try:
        assert "permission denied" in said(run("write", FakeToolContext(tmp_path), path="a", content="new"))
    finally:
        tmp_path.chmod(0o755)
    assert (tmp_path / "a").read_text() == "old"


# --- a full disk ----------------------------------------------------------------------------------------------------

LIMITED = """
import resource, sys
from pathlib import Path
sys.path[:0] = {path!r}
from support.tool_context import FakeToolContext, run, said
from zot_core.toolkit import replacing
if sys.argv[2] == "named":
    replacing._NAMELESS = 0
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
ctx = FakeToolContext(Path(sys.argv[1]))
for result in (
    run("write", ctx, path="a", content="n" * 200_000),
    run("write", ctx, path="new", content="n" * 200_000),
    run("edit", ctx, path="a", edits=[dict(old_text="old", new_text="n" * 200_000)]),
):
    assert result.is_error
    print(said(result))
"""


@pytest.mark.parametrize("named", ["nameless", "named"])
def test_a_limit_of_the_file_size_leaves_the_old_file(tmp_path: Path, named: str) -> None:
    (tmp_path / "a").write_text("old\n" + "o" * 90_000)
    code = LIMITED.format(path=sys.path)
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path), named], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("it would be larger than this system or user may make files; the file is as it was") == 3
    assert (tmp_path / "a").read_text() == "old\n" + "o" * 90_000
    assert names(list(tmp_path.iterdir())) == ["a"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m,mode=777", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("only root can mount; the limit of the file size is tested above")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_leaves_the_old_file(small_disk: Path, way: str) -> None:
    old = "old\n" + "o" * 600_000
    (small_disk / "a").write_text(old)
    ctx = FakeToolContext(small_disk)
    for result in (
        run("write", ctx, path="a", content="n" * 600_000),
        run("write", ctx, path="new", content="n" * 600_000),
        run("edit", ctx, path="a", old_text="old\n", new_text="new\n"),
    ):
        assert result.is_error
        assert "the disk is full; the file is as it was" in said(result)
    assert (small_disk / "a").read_text() == old
    assert names(list(small_disk.iterdir())) == ["a"]
    assert not run("write", ctx, path="small", content="fits").is_error


# --- eight edits at once: FT-07 -------------------------------------------------------------------------------------


def spellings(folder: Path, home: Path) -> tuple[str, ...]:
    """Eight ways to name `a.txt` in the folder, which is below home."""
    (folder / "sub").mkdir()
    (folder / "link").symlink_to("a.txt")
    (folder / "folder").symlink_to(".")
    return (
        "a.txt",
        "./a.txt",
        "sub/../a.txt",
        "link",
        "folder//a.txt",
        str(folder / "a.txt").replace("/a.txt", "//./a.txt"),
        "@a.txt",
        f"~/{folder.relative_to(home)}/folder/link",
    )


BEFORE = "".join(f"{n}\n" for n in range(1, 101))
AFTER = "".join(f"changed {n // 10}\n" if n % 10 == 0 and n <= 80 else f"{n}\n" for n in range(1, 101))


@pytest.mark.time_limit(240)
def test_eight_edits_through_eight_spellings_are_all_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "project"
    project.mkdir()
    ways = spellings(project, tmp_path)
    ctx = FakeToolContext(project)

    async def together() -> list[ToolResult]:
        return await asyncio.gather(
            *(
                call("edit", {"path": way, "old_text": f"\n{10 * n}\n", "new_text": f"\nchanged {n}\n"}, ctx)
                for n, way in enumerate(ways, 1)
            )
        )

    async def main() -> None:
        for _ in range(500):
            (project / "a.txt").write_text(BEFORE)
            results = await together()
            assert [said(result) for result in results if result.is_error] == []
            assert (project / "a.txt").read_text() == AFTER

    asyncio.run(main())
    assert (project / "link").is_symlink()
    assert names(list(project.iterdir())) == ["a.txt", "folder", "link", "sub"]


def test_eight_edits_of_one_answer_are_all_there(
    run_prompt: Callable[..., RecordingFrontEnd], world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(world.project.parent))
    script = Script()
    for n, way in enumerate(spellings(world.project, world.project.parent), 1):
        script.tool_call("edit", path=way, edits=[{"old_text": f"\n{10 * n}\n", "new_text": f"\nchanged {n}\n"}])
    script.then().text("Done.")
    (world.project / "a.txt").write_text(BEFORE)
    ran = run_prompt("Change it", script=script)
    assert [result.content for result in ran.tool_results() if result.is_error] == []
    assert len(ran.tool_results()) == 8
    assert (world.project / "a.txt").read_text() == AFTER
    assert ran.answer == "Done."


def test_write_and_edit_of_one_file_wait_for_each_other(tmp_path: Path) -> None:
    ctx = FakeToolContext(tmp_path)

    async def main() -> None:
        for n in range(50):
            (tmp_path / "a").write_text("start\n")
            written, edited = await asyncio.gather(
                call("write", {"path": "a", "content": f"start {n}\n"}, ctx),
                call("edit", {"path": "./a", "old_text": "start", "new_text": "end"}, ctx),
            )
            assert not written.is_error and not edited.is_error
            assert (tmp_path / "a").read_text() == f"end {n}\n"

    asyncio.run(main())
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o644
