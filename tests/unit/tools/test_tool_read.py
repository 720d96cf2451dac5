"""`read`: what is shown, what is said of the rest, and what is refused."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from support.tool_context import FakeToolContext, call, run, said

from zot_core.types.specs import FilesystemPolicy, FilesystemRequest, ToolResult


def read(folder: Path, path: str, **args: Any) -> ToolResult:
    return run("read", FakeToolContext(folder), path=path, **args)


def text_of_read(folder: Path, path: str, **args: Any) -> str:
    result = read(folder, path, **args)
    assert not result.is_error, said(result)
    return said(result)


def test_a_file_is_shown_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("eins\n\tzwei  \n\ndrei\n")
    assert text_of_read(tmp_path, "a.txt") == "eins\n\tzwei  \n\ndrei"


def test_offset_and_limit_say_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 101)))
    assert (
        text_of_read(tmp_path, "a.txt", offset=10, limit=2) == "10\n11\n\n[Lines 10 to 11 of 100. Go on with offset=12]"
    )
    assert text_of_read(tmp_path, "a.txt", offset=100, limit=5) == "100"
    late = read(tmp_path, "a.txt", offset=101)
    assert late.is_error
    assert said(late) == "a.txt has 100 lines; line 101 is past its end"


def test_two_thousand_lines_at_most(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n" * 5000)
    text = text_of_read(tmp_path, "a.txt", limit=4000)
    assert text.count("x") == 2000
    assert text.endswith("[Lines 1 to 2000 of 5000. Go on with offset=2001]")


def test_fifty_kilobytes_at_most_in_whole_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("é" * 500 + "\n" + ("ü" * 499 + "\n") * 500)
    result = read(tmp_path, "a.txt")
    body = said(result).split("\n\n[")[0]
    assert len(body.encode()) <= 50 * 1024
    assert {len(line) for line in body.split("\n")} == {500, 499}
    assert result.details is not None and result.details["next"]["offset"] == body.count("\n") + 2


def test_an_empty_file_is_said_to_be_empty(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    assert text_of_read(tmp_path, "a.txt") == "[The file is empty]"


@pytest.mark.parametrize("before", [0, 10])
def test_a_very_long_line_comes_in_parts_that_make_progress(tmp_path: Path, before: int) -> None:
    """FT-09."""
    line = '{"schlüssel": "日本語"}, ' * 10_000
    (tmp_path / "a.json").write_text("kurz\n" * before + line + "\nlast\n")
    ctx = FakeToolContext(tmp_path)
    at: dict[str, int] | None = {}
    shown = ""
    calls = 0
    while at is not None:
        result = run("read", ctx, path="a.json", **at)
        assert not result.is_error
        text = said(result)
        assert text
        body = text.rpartition("\n\n[")[0] or text
        assert "\ufffd" not in body
        assert len(body.encode()) <= 50 * 1024
        details = result.details
        assert details is not None
        if details["next"]:
            assert f"offset={details['next']['offset']}" in text
        if details["next"] and details["next"]["skip"]:
            assert "too long to show whole" in text
            shown += body
        elif details["next"]:
            shown += body + "\n"
        else:
            shown += body
        at = details["next"]
        calls += 1
        assert calls < 20
    assert shown == "kurz\n" * before + line + "\nlast"


def test_skip_into_a_character_begins_at_the_next_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("日本語")
    assert text_of_read(tmp_path, "a.txt", skip=1) == "本語"


def test_a_mark_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfhello\n\xc3\xa9\n")
    assert text_of_read(tmp_path, "a.txt") == "hello\né"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_utf_16_and_32_with_a_mark_are_read_and_said(tmp_path: Path, codec: str) -> None:
    (tmp_path / "a.txt").write_bytes("\ufeffgrüße 日本\nzwei\n".encode(codec))
    text = text_of_read(tmp_path, "a.txt")
    assert text.startswith("grüße 日本\nzwei\n\n[UTF-")
    assert text_of_read(tmp_path, "a.txt", offset=2).startswith("zwei")


def test_latin_1_is_read_and_said(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("grüße\n".encode("latin-1"))
    assert text_of_read(tmp_path, "a.txt") == "grüße\n\n[not UTF-8; taken as Latin-1]"


RUSSIAN = "Привет, мир! Это простой текст для проверки кодировки.\nВторая строка.\n"
JAPANESE = "これは文字コードの検査のための文章です。\n二行目。\n"
CHINESE = "这是一个用于测试编码的简单文本。\n第二行。\n"


@pytest.mark.parametrize(
    ("codec", "text", "label"),
    [
        ("cp1251", RUSSIAN, "Windows-1251"),
        ("koi8_r", RUSSIAN, "KOI8-R"),
        ("cp932", JAPANESE, "Shift JIS (cp932)"),
        ("euc_jp", JAPANESE, "EUC-JP"),
        ("gb18030", CHINESE, "GB 18030"),
        ("cp1252", "naïve “quoted” text – with dashes…\n" * 3, "Windows-1252"),
        ("latin-1", "Größe und Maß: Übergröße, fünf Äpfel für schöne Mädchen.\n", "Latin-1"),
    ],
)
def test_other_encodings_are_told_and_said(tmp_path: Path, codec: str, text: str, label: str) -> None:
    (tmp_path / "a.txt").write_bytes(b"# a plain first line\n" * 3 + text.encode(codec))
    shown = text_of_read(tmp_path, "a.txt")
    assert shown == "# a plain first line\n" * 3 + text.removesuffix("\n") + f"\n\n[not UTF-8; taken as {label}]"
    assert text_of_read(tmp_path, "a.txt", limit=1).count(label) == 1


def test_a_long_line_of_another_encoding_comes_in_whole_characters(tmp_path: Path) -> None:
    line = "これは文字コードの検査のための文章です。" * 5000
    (tmp_path / "a.txt").write_bytes(line.encode("cp932"))
    shown, at = "", {"offset": 1, "skip": 0}
    while at:
        result = read(tmp_path, "a.txt", **at)
        shown += said(result).partition("\n\n[")[0]
        assert result.details is not None
        at = result.details["next"]
    assert shown == line


def test_a_large_file_that_stops_being_utf_8_is_still_shown(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"x" * 99 + b"\n" + (b"y" * 99 + b"\n") * 50_000 + "größer\n".encode("latin-1"))
    text = text_of_read(tmp_path, "a.log", offset=50_002)
    assert text == "größer\n\n[this part is not UTF-8; taken as Latin-1]"


def test_charset_normalizer_is_not_imported_for_utf_8(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("größer\n")
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "from pathlib import Path\nfrom support.tool_context import FakeToolContext, run\n"
        "run('read', FakeToolContext(Path(sys.argv[1])), path='a.txt')\n"
        "print([m for m in ('charset_normalizer', 'PIL', 'pypdf') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_stray_bytes_in_utf_8_show_as_replacement_and_are_said(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("größer über".encode() + b"\xff\n")
    assert text_of_read(tmp_path, "a.txt") == "größer über\ufffd\n\n[some bytes are not UTF-8 and show as \ufffd]"


def test_crlf_reads_as_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    assert text_of_read(tmp_path, "a.txt") == "one\ntwo"


def test_what_is_no_file_is_refused_with_a_word(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "data.bin").write_bytes(b"\x7fELF\x02\x01\x01\x00" * 10)
    (tmp_path / "wide.txt").write_bytes("no mark\n".encode("utf-16-le"))
    for path, word in (
        ("folder", "is a folder"),
        ("pipe", "is a fifo"),
        ("/dev/zero", "is a device"),
        ("data.bin", "a compiled program"),
        ("wide.txt", "iconv"),
        ("none.txt", "Not found"),
    ):
        result = read(tmp_path, path)
        assert result.is_error, path
        assert word in said(result)


def test_a_missing_file_names_close_ones(tmp_path: Path) -> None:
    (tmp_path / "readme.md").touch()
    assert said(read(tmp_path, "reamde.md")) == 'Not found: reamde.md. Close names there: "readme.md".'
    assert said(read(tmp_path, "src/x.py")).endswith(f"Its folder {tmp_path}/src does not exist.")


def test_the_middle_of_a_huge_file_is_read_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "huge.txt"
    line = b"0123456789" * 100 + b"\n"
    with path.open("wb") as file:
        for _ in range(100):
            file.write(line * 1000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert text_of_read(tmp_path, "huge.txt", offset=50_000, limit=1).endswith(
        "[Lines 50000 to 50000 of 100000. Go on with offset=50001]"
    )
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 24 * 1024


def test_a_null_argument_is_an_argument_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    assert text_of_read(tmp_path, "a.txt", offset=None, limit=None) == "x"


# --- names: FT-15 ---------------------------------------------------------------------------------------------------


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    for name in (
        "shot 1\u202fPM.png.txt",
        "plain 1 PM.txt",
        "plain 1\u202fPM.txt",
        unicodedata.normalize("NFD", "café.txt"),
        "it\u2019s.txt",
        "@home.txt",
        " blanks ",
        "~",
        "two\nlines.txt",
    ):
        (tmp_path / name).write_text(name)
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.txt")).write_text("bad")
    return tmp_path


def test_an_exact_name_always_wins(odd: Path) -> None:
    for name in (
        "plain 1 PM.txt",
        "plain 1\u202fPM.txt",
        "it\u2019s.txt",
        "@home.txt",
        " blanks ",
        "~",
        "two\nlines.txt",
    ):
        assert text_of_read(odd, name) == name


def test_a_lookalike_is_read_when_it_is_the_only_one_and_said(odd: Path) -> None:
    text = text_of_read(odd, "shot 1 PM.png.txt")
    assert text.startswith("shot 1\u202fPM.png.txt\n\n[No file has exactly this name; this is ")
    assert "\\u202f" in text
    assert text_of_read(odd, "café.txt").startswith("cafe\u0301.txt")
    assert text_of_read(odd, "it's.txt").startswith("it\u2019s.txt")
    assert text_of_read(odd, "bad\ufffd.txt").startswith("bad\n")


def test_two_lookalikes_are_named_and_none_is_read(odd: Path) -> None:
    result = read(odd, "plain 1\u00a0PM.txt")
    assert result.is_error
    assert "plain 1 PM.txt" in said(result)
    assert "plain 1\\u202fPM.txt" in said(result)


def test_at_and_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "notes").write_text("at home")
    monkeypatch.setenv("HOME", str(home))
    (tmp_path / "a.txt").write_text("here")
    assert text_of_read(tmp_path, "@a.txt") == "here"
    assert text_of_read(tmp_path, "~/notes") == "at home"
    assert text_of_read(tmp_path, "@~/notes") == "at home"


# --- policies -------------------------------------------------------------------------------------------------------


def test_a_policy_sees_the_real_path_and_can_deny(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    (tmp_path / "link").symlink_to("secret")
    seen: list[FilesystemRequest] = []

    def check(request: FilesystemRequest) -> str | None:
        seen.append(request)
        return "secret" if request.path.endswith("secret") else None

    result = run("read", FakeToolContext(tmp_path, policies=(FilesystemPolicy(name="p", check=check),)), path="link")
    assert result.is_error
    assert said(result) == f"Not allowed to read {tmp_path.resolve()}/secret: secret (policy p)"
    assert seen[0].operation == "read"


def test_a_broken_policy_denies(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")

    def check(request: FilesystemRequest) -> str | None:
        raise RuntimeError("oops")

    result = run("read", FakeToolContext(tmp_path, policies=(FilesystemPolicy(name="p", check=check),)), path="a")
    assert result.is_error
    assert "oops" in said(result)


def test_a_folder_that_may_not_be_listed_offers_no_names(tmp_path: Path) -> None:
    (tmp_path / "readme.md").touch()
    policy = FilesystemPolicy(name="p", check=lambda request: "no" if request.operation == "enumerate" else None)
    assert said(run("read", FakeToolContext(tmp_path, policies=(policy,)), path="reamde.md")) == "Not found: reamde.md."


def test_a_plugins_operations_take_the_place_of_this_machine(tmp_path: Path) -> None:
    from zot_core.toolkit.filesystem import FileInfo

    class Elsewhere:
        async def info(self, path: str) -> FileInfo:
            return FileInfo("file", 5)

        async def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
            return path.encode()[offset : None if length is None else offset + length]

    result = asyncio.run(call("read", {"path": "x/y"}, FakeToolContext(Path("/far"), supplied={"read": Elsewhere()})))
    assert said(result) == "/far/x/y"
