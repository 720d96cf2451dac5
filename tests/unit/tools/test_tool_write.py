"""`write`: the whole file or nothing, and what an existing file keeps."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from support.tool_context import FakeToolContext, call, names, run, said

from zot_core.types.specs import FilesystemPolicy, ToolResult


def write(folder: Path, path: str, content: str, **ctx: Any) -> ToolResult:
    return run("write", FakeToolContext(folder, **ctx), path=path, content=content)


def test_a_new_file_and_its_folders_are_made(tmp_path: Path) -> None:
    result = write(tmp_path, "a/b/c.txt", "one\ntwo\n")
    assert said(result) == "Created a/b/c.txt (2 lines, 8 B)"
    assert (tmp_path / "a/b/c.txt").read_bytes() == b"one\ntwo\n"
    assert names(list((tmp_path / "a/b").iterdir())) == ["c.txt"]


def test_a_new_file_has_the_umasks_mode(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write(tmp_path, "a", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_mode_and_link_are_kept(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o755)
    (tmp_path / "link").symlink_to("real")
    result = write(tmp_path, "link", "new")
    assert not result.is_error
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o755


def test_a_dangling_link_gets_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("later/real")
    assert not write(tmp_path, "link", "new").is_error
    assert (tmp_path / "later/real").read_text() == "new"


def test_the_result_carries_the_diff(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n2\n3\n")
    result = write(tmp_path, "a", "1\nzwei\n3\n")
    assert said(result) == "Replaced a (3 lines, 9 B, +1 -1 lines)"
    assert result.details is not None
    assert result.details["diff"] == "--- a\n+++ a\n@@ -1,3 +1,3 @@\n 1\n-2\n+zwei\n 3\n"


def test_the_same_content_is_not_written_again(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n")
    before = (tmp_path / "a").stat().st_ino
    assert "already" in said(write(tmp_path, "a", "x\n"))
    assert (tmp_path / "a").stat().st_ino == before


RUSSIAN = "Привет, мир! Это простой текст для проверки кодировки.\n"


@pytest.mark.parametrize(
    ("old", "content", "new"),
    [
        (b"\xef\xbb\xbfold\n", "new\n", b"\xef\xbb\xbfnew\n"),
        (b"\xef\xbb\xbfold\n", "\ufeffnew\n", b"\xef\xbb\xbfnew\n"),
        ("\ufeffold\n".encode("utf-16-le"), "näu\n", "\ufeffnäu\n".encode("utf-16-le")),
        (b"a\r\nb\r\n", "c\nd\n", b"c\r\nd\r\n"),
        (b"a\r\nb\r\n", "c\r\nd\n", b"c\r\nd\n"),
        (b"a\r\nb\n", "c\nd\n", b"c\nd\n"),
        (b"gr\xfc\xdfe\n", "grün\n", b"gr\xfcn\n"),
        (b"gr\xfc\xdfe\n", "grün €\n", "grün €\n".encode()),
        (RUSSIAN.encode("cp1251"), "снова\n", "снова\n".encode("cp1251")),
        (RUSSIAN.encode("cp1251"), "日本\n", "日本\n".encode()),
        ("größer über".encode() + b"\xff\n", "größer\n", "größer\n".encode()),
        (b"\x00\x01\x02\r\n", "text\n", b"text\n"),
        (b"", "x\n", b"x\n"),
        (b"no end", "no end\n", b"no end\n"),
    ],
)
def test_encoding_and_line_ends_by_the_rule(tmp_path: Path, old: bytes, content: str, new: bytes) -> None:
    (tmp_path / "a").write_bytes(old)
    assert not write(tmp_path, "a", content).is_error
    assert (tmp_path / "a").read_bytes() == new


def test_a_large_old_file_is_judged_by_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("é".encode() * 4095 + b"\r\n" + ("x" * 99 + "é\r\n").encode() * 60_000)
    result = write(tmp_path, "a", "ä\n")
    assert said(result) == "Replaced a (1 line, 4 B)"
    assert (tmp_path / "a").read_bytes() == "ä\r\n".encode()


def test_a_kept_encoding_is_said(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"gr\xfc\xdfe\n")
    assert "[kept in Latin-1]" in said(write(tmp_path, "a", "\xfc\n"))
    (tmp_path / "b").write_bytes("\ufeffx\n".encode("utf-16-le"))
    assert "[kept in UTF-16 LE]" in said(write(tmp_path, "b", "y\n"))


def test_a_changed_encoding_is_said(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"gr\xfc\xdfe\n")
    assert "the file was not UTF-8 but Latin-1; it is now" in said(write(tmp_path, "a", "€\n"))


def test_what_cannot_be_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    for path, word in (
        ("folder", "is a folder"),
        ("pipe", "is a fifo"),
        ("/dev/null", "is a device"),
        ("file/below", "a part of the path is a file"),
        ("", "path is empty"),
        ("a" * 300, "too long"),
    ):
        result = write(tmp_path, path, "y")
        assert result.is_error, path
        assert word in said(result)
    assert names(list(tmp_path.iterdir())) == ["file", "folder", "pipe"]


def test_half_a_surrogate_pair_is_refused(tmp_path: Path) -> None:
    result = write(tmp_path, "a", "x\ud83d")
    assert result.is_error
    assert "surrogate" in said(result)
    assert not (tmp_path / "a").exists()


def test_write_never_guesses_a_name(tmp_path: Path) -> None:
    (tmp_path / "a\u202fb").write_text("other")
    assert said(write(tmp_path, "a b", "new")).startswith("Created a b")
    assert (tmp_path / "a\u202fb").read_text() == "other"
    (tmp_path / "@x").write_text("at")
    write(tmp_path, "@x", "exact")
    assert (tmp_path / "@x").read_text() == "exact"
    write(tmp_path, "@y", "bare")
    assert (tmp_path / "y").read_text() == "bare"
    (tmp_path / "@scope").mkdir()
    write(tmp_path, "@scope/z", "in it")
    assert (tmp_path / "@scope/z").read_text() == "in it"


def test_a_policy_judges_the_real_target(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    policy = FilesystemPolicy(
        name="jail", check=lambda request: None if request.path.startswith(f"{inside.resolve()}/") else "outside"
    )
    assert not write(inside, "a", "x", policies=(policy,)).is_error
    result = write(inside, "link/new/deep", "x", policies=(policy,))
    assert result.is_error
    assert "outside" in said(result)
    assert list(outside.iterdir()) == []


def test_a_failed_write_leaves_the_old_file_and_nothing_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    result = write(tmp_path, "a", "new")
    assert result.is_error
    assert said(result) == "Cannot write a: the disk is full; the file is as it was"
    assert (tmp_path / "a").read_text() == "old"
    assert names(list(tmp_path.iterdir())) == ["a"]


def test_a_cancelled_write_is_whole_and_keeps_its_turn(tmp_path: Path) -> None:
    async def main() -> None:
        ctx = FakeToolContext(tmp_path)
        first = asyncio.ensure_future(call("write", {"path": "a", "content": "1" * 5_000_000}, ctx))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        first.cancel()
        second = await call("write", {"path": "./a", "content": "2"}, ctx)
        assert not second.is_error
        with pytest.raises(asyncio.CancelledError):
            await first

    asyncio.run(main())
    assert (tmp_path / "a").read_text() == "2"
    assert names(list(tmp_path.iterdir())) == ["a"]
