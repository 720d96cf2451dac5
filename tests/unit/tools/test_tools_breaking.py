"""What a breaker found: links that swap under an edit, folders that may not be looked into, disks that fill up."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.tool_context import FakeToolContext, call, run, said

from zot_core.toolkit import replacing, spool
from zot_core.toolkit.mutation import MutationQueue

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and permissions are Unix's")


@pytest.mark.parametrize("tool", ["edit", "write"])
def test_a_link_that_swaps_never_brings_one_files_text_into_another(
    tmp_path: Path, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "text").write_bytes(f"{name * 3} é\n".encode("utf-16" if name == "a" else "utf-8"))
    link = tmp_path / "link"
    link.symlink_to("a")
    hold = MutationQueue.hold

    def swapped(self: MutationQueue, path: Any) -> Any:
        held = hold(self, path)

        class Held:
            async def __aenter__(self) -> str:
                real = await held.__aenter__()
                link.unlink()
                link.symlink_to("b")
                return real

            async def __aexit__(self, *error: Any) -> Any:
                return await held.__aexit__(*error)

        return Held()

    monkeypatch.setattr(MutationQueue, "hold", swapped)
    args = {"edits": [{"old_text": "aaa", "new_text": "AAA"}]} if tool == "edit" else {"content": "AAA é\n"}
    result = run(tool, FakeToolContext(tmp_path), path="link/text", **args)
    assert not result.is_error, said(result)
    assert (tmp_path / "a/text").read_text("utf-16") == "AAA é\n"
    assert (tmp_path / "b/text").read_text() == "bbb é\n"


@pytest.mark.time_limit(60)
def test_many_edits_through_a_link_that_swaps(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "text").write_text(f"{name * 3}\n")
    link, other = tmp_path / "link", tmp_path / "other"
    link.symlink_to("a")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for name in "ab":
                other.symlink_to(name)
                other.replace(link)

    async def main() -> int:
        ctx, done = FakeToolContext(tmp_path), 0
        for _ in range(400):
            result = await call("edit", {"path": "link/text", "edits": [{"old_text": "aaa", "new_text": "aaa."}]}, ctx)
            done += not result.is_error
        return done

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        done = asyncio.run(main())
    finally:
        stop.set()
        thread.join()
    assert (tmp_path / "b/text").read_text() == "bbb\n"
    assert (tmp_path / "a/text").read_text() == "aaa" + "." * done + "\n"


@contextmanager
def somebody_else() -> Iterator[None]:
    """As root, nothing is forbidden: then the files are looked at as another user."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("tool", ["read", "ls", "grep", "find"])
def test_what_cannot_be_looked_into_is_not_called_missing(tmp_path: Path, tool: str) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "file").write_text("x\n")
    args = {"pattern": "x"} if tool in ("grep", "find") else {}
    run(tool, FakeToolContext(tmp_path), path=".", **args)  # imports, which somebody else may not read
    closed.chmod(0)
    for folder in (tmp_path, *list(tmp_path.parents)[:2]):
        folder.chmod(0o755)
    try:
        with somebody_else():
            result = run(tool, FakeToolContext(tmp_path), path="closed/file", **args)
    finally:
        closed.chmod(0o700)
    assert result.is_error
    assert said(result) == ("Cannot reach closed/file: a folder on the way is closed (permission denied)")


# --- file systems that lack something -------------------------------------------------------------------------------

LACKING = [
    ("fsync", errno.EINVAL, True),
    ("fsync", errno.ENOTSUP, True),
    ("fsync", errno.ENOSYS, True),
    ("fsync", errno.EIO, False),
    ("fsync", errno.EDQUOT, False),
    ("fchmod", errno.EPERM, True),
    ("fchmod", errno.ENOTSUP, True),
    ("fchmod", errno.EIO, False),
    ("fchown", errno.EPERM, True),
    ("link", errno.EPERM, True),
    ("listxattr", errno.ENOTSUP, True),
    ("replace", errno.EBUSY, False),
    ("write", errno.ENOSPC, False),
    ("open", errno.ESTALE, False),
]


@pytest.mark.parametrize(("name", "number", "works"), LACKING)
@pytest.mark.parametrize("tool", ["write", "edit"])
@pytest.mark.parametrize("nameless", [True, False])
def test_what_a_file_system_cannot_do_is_done_without_or_leaves_the_file(
    tmp_path: Path, tool: str, name: str, number: int, works: bool, nameless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_text("old\n")
    (tmp_path / "f").chmod(0o640)
    args = {"edits": [{"old_text": "old", "new_text": "new"}]} if tool == "edit" else {"content": "new\n"}
    run(tool, FakeToolContext(tmp_path), path="other", **args)  # imports
    (tmp_path / "other").unlink(missing_ok=True)
    if not nameless:
        monkeypatch.setattr(replacing, "_NAMELESS", 0)

    def failing(*args: Any, **options: Any) -> Any:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(Lacking, name, staticmethod(failing), raising=False)
        patch.setattr(replacing, "os", Lacking())
        result = run(tool, FakeToolContext(tmp_path), path="f", **args)
    assert result.is_error is not works, said(result)
    assert (tmp_path / "f").read_text() == ("new\n" if works else "old\n")
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


class Lacking:
    """The module `os` for one module, with something missing."""

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)


@pytest.fixture
def full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files on a disk of 64 KB."""
    folder = tmp_path / "full"
    folder.mkdir()
    mounting = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "full", folder], capture_output=True)
    if mounting.returncode:
        pytest.skip("nothing can be mounted here")
    monkeypatch.setattr(spool, "_folder", [folder])
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.parametrize("background", [False, True])
def test_output_that_cannot_be_saved_is_not_said_to_be(tmp_path: Path, full: Path, background: bool) -> None:
    result = run("bash", FakeToolContext(tmp_path), command="seq 100000", background=background)
    text = said(result)
    assert "99999\n100000\n" in text
    assert "could not be saved" in text
    assert str(full) not in text and "as it was" not in text
    assert result.details is not None and result.details["full_output"] is None
    assert list(full.iterdir()) == []


def test_a_full_disk_leaves_the_file_and_says_so(tmp_path: Path, full: Path) -> None:
    (full / "old").write_text("old\n")
    text = said(run("write", FakeToolContext(tmp_path), path=str(full / "old"), content="x" * 100_000))
    assert text.endswith("the disk is full; the file is as it was")
    assert (full / "old").read_text() == "old\n"
    assert [path.name for path in full.iterdir()] == ["old"]
