"""Promises of the built-in tools under odd input and odd file systems: names that cannot be, files that never end."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from support.tool_context import FakeToolContext, call, run, said

ARGUMENTS: dict[str, dict[str, Any]] = {
    "read": {},
    "write": {"content": "x"},
    "edit": {"edits": [{"old_text": "a", "new_text": "b"}]},
    "ls": {},
    "grep": {"pattern": "x"},
    "find": {"pattern": "*"},
}
linux = pytest.mark.skipif(sys.platform != "linux", reason="files of /proc")


@pytest.mark.parametrize("tool", ARGUMENTS)
@pytest.mark.parametrize("path", ["\ud800", "a\udfffb/c", "@\ud83d", "~/\ud83d"])
def test_half_a_surrogate_pair_in_a_path_is_refused_in_words(tmp_path: Path, tool: str, path: str) -> None:
    result = run(tool, FakeToolContext(tmp_path), path=path, **ARGUMENTS[tool])
    assert result.is_error
    assert "surrogate" in said(result)
    said(result).encode()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("tool", ARGUMENTS)
def test_a_link_that_the_system_does_not_let_be_followed_is_an_error_in_words(
    tmp_path: Path, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As /proc/1/root is for most, where even asking whether something exists raises.
    def refused(path: Any, *args: Any, **more: Any) -> Any:
        raise PermissionError(13, "Permission denied", os.fspath(path))

    monkeypatch.setattr(os.path, "realpath", refused)
    monkeypatch.setattr(os.path, "exists", refused)
    result = run(tool, FakeToolContext(tmp_path), path="a", **ARGUMENTS[tool])
    assert result.is_error
    assert "permission denied" in said(result)


@pytest.mark.parametrize("tool", ["write"])
@pytest.mark.parametrize("path", ["new/", "file/", "@new/"])
def test_a_path_that_ends_in_a_slash_is_no_file_to_write(tmp_path: Path, tool: str, path: str) -> None:
    (tmp_path / "file").write_text("old")
    result = run(tool, FakeToolContext(tmp_path), path=path, content="x")
    assert result.is_error
    assert "folder" in said(result)
    assert (tmp_path / "file").read_text() == "old"
    assert not (tmp_path / "new").exists()


def test_a_write_that_fails_leaves_no_folders_behind(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    result = run("write", FakeToolContext(tmp_path), path=f"kept/a/b/{'n' * 300}", content="x")
    assert result.is_error
    assert "too long" in said(result)
    assert list(tmp_path.rglob("*")) == [tmp_path / "kept"]


@linux
def test_files_that_take_only_small_reads_are_read(tmp_path: Path) -> None:
    result = run("read", FakeToolContext(tmp_path), path="/proc/sys/kernel/ostype")
    assert not result.is_error
    assert said(result) == "Linux"


@linux
def test_a_file_of_proc_is_read_in_one_go_and_to_its_end(tmp_path: Path) -> None:
    # It knows no size, and each opening of it may answer something else.
    text = said(run("read", FakeToolContext(tmp_path), path="/proc/self/status"))
    assert text.startswith("Name:")
    assert "nonvoluntary_ctxt_switches" in text


def test_a_file_that_grows_faster_than_it_is_read_is_read_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from zot_core.toolkit import filesystem

    log = tmp_path / "log"
    log.write_bytes(b"0123456789\n" * 800_000)
    plain, grown = filesystem.read, 0

    def read(path: str, offset: int, length: int | None, *more: Any) -> bytes:
        nonlocal grown
        grown += 1
        assert grown < 50, "the end is never reached"
        with log.open("ab") as file:
            file.write(b"more\n" * 1_000_000)
        return plain(path, offset, length, *more)

    monkeypatch.setattr(filesystem, "read", read)
    result = run("read", FakeToolContext(tmp_path), path="log", limit=1)
    assert result.details["total_lines"] == 800_000


def test_reading_a_text_takes_at_most_two_visits_to_a_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("one\ntwo\n")
    visits: list[Any] = []
    plain = asyncio.to_thread

    async def counted(function: Any, *args: Any, **more: Any) -> Any:
        visits.append(function)
        return await plain(function, *args, **more)

    monkeypatch.setattr(asyncio, "to_thread", counted)
    assert said(run("read", FakeToolContext(tmp_path), path="a")) == "one\ntwo"
    assert len(visits) <= 2


def test_64_parallel_writes_through_many_spellings_leave_one_of_them_whole(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("a")
    spellings = ["a", "./a", "link", str(tmp_path / "a"), f"../{tmp_path.name}/a", "@a"]

    async def main() -> list[bool]:
        ctx = FakeToolContext(tmp_path)
        calls = (
            call("write", {"path": spellings[at % 6], "content": chr(0x100 + at) * 50_000}, ctx) for at in range(64)
        )
        return [result.is_error for result in await asyncio.gather(*calls)]

    assert not any(asyncio.run(main()))
    text = (tmp_path / "a").read_text()
    assert text == text[0] * 50_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "link"]


def test_no_edit_is_applied_to_half_of_what_another_program_writes(tmp_path: Path) -> None:
    file, stop = tmp_path / "f", threading.Event()
    file.write_text("keep 0\n")

    def other() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            new = tmp_path / "new"
            new.write_text(f"keep {number}\n" * 50)
            new.replace(file)

    async def main() -> set[bool]:
        ctx = FakeToolContext(tmp_path)
        edit = {"path": "f", "edits": [{"old_text": "keep", "new_text": "kept", "replace_all": True}]}
        return {(await call("edit", edit, ctx)).is_error for _ in range(100)}

    thread = threading.Thread(target=other)
    thread.start()
    try:
        asyncio.run(main())
    finally:
        stop.set()
        thread.join()
    lines = set(file.read_text().splitlines())
    assert len(lines) == 1


@pytest.mark.parametrize(
    ("pattern", "more"),
    [
        ("one\ntwo", {}),
        (r"one\ntwo", {}),
        (r"one\n+two", {}),
        (r"e\r?\nt", {}),
        ("one\ntwo", {"literal": True}),
        ("ne\r\ntw", {"literal": True}),
        (r"one[\r\n]+two", {}),
        ("(a.b)*\nthree", {"literal": True}),
    ],
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_line_end_in_a_pattern_fits_either_kind(tmp_path: Path, pattern: str, more: Any, ends: str) -> None:
    (tmp_path / "a.txt").write_bytes(ends.join(["one", "two", "x-#& (a.b)*", "three", ""]).encode())
    result = run("grep", FakeToolContext(tmp_path), pattern=pattern, **more)
    assert result.details["matches"] == 2, said(result)


def test_a_glob_that_leads_out_of_the_folder_is_told_where_to_look(tmp_path: Path) -> None:
    for pattern in ("/etc/passwd", "../*", "~/x"):
        assert "relative to path" in said(run("find", FakeToolContext(tmp_path), pattern=pattern))


def test_input_to_a_job_that_has_ended_is_no_success(tmp_path: Path) -> None:
    async def main() -> list[Any]:
        ctx = FakeToolContext(tmp_path)
        job = (await call("bash", {"command": "true", "background": True}, ctx)).details["job"]
        await call("bash_job", {"id": job, "wait": 10}, ctx)
        taken = await call("bash_job", {"id": job, "action": "input", "text": "yes"}, ctx)
        ended = await call("bash_job", {"id": job, "action": "input"}, ctx)
        return [taken.is_error, "not taken" in said(taken), "exit code 0" in said(taken), ended.is_error]

    assert asyncio.run(main()) == [True, True, True, False]


def test_half_a_surrogate_pair_is_not_sent_to_a_job(tmp_path: Path) -> None:
    async def main() -> tuple[Any, Any]:
        ctx = FakeToolContext(tmp_path)
        job = (await call("bash", {"command": "cat", "background": True}, ctx)).details["job"]
        refused = await call("bash_job", {"id": job, "action": "input", "text": "a\ud83d"}, ctx)
        taken = await call("bash_job", {"id": job, "action": "input", "text": "b"}, ctx)
        await ctx.processes.close(grace=0.2)
        return refused, taken

    refused, taken = asyncio.run(main())
    assert refused.is_error
    assert "surrogate" in said(refused)
    assert said(taken).startswith("b\n")
