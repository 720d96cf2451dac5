"""Truncation, control sequences, encodings: whole lines, whole characters, nothing lost on the way back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zot_core.toolkit.encoding import decode, line_ending
from zot_core.toolkit.text import SeenStream, as_seen, without_controls
from zot_core.toolkit.truncation import boundary, clip, clip_line, format_size, head, lines_of, size_of, tail


def test_what_fits_is_not_cut() -> None:
    for cut in (head, tail):
        result = cut("a\nb\n")
        assert (result.text, result.lines, result.bytes, result.by) == ("a\nb\n", 2, 4, "")
        assert not result.truncated


def test_head_and_tail_by_lines_and_bytes() -> None:
    text = "".join(f"{n}\n" for n in range(10))
    assert head(text, max_lines=2).text == "0\n1"
    assert tail(text, max_lines=2).text == "8\n9"
    assert head(text, max_lines=2).by == "lines"
    assert head(text, max_bytes=5).text == "0\n1\n2"
    assert tail(text, max_bytes=5).by == "bytes"
    assert tail(text, max_lines=2).total_lines == 10


def test_a_long_line_is_cut_within_and_said() -> None:
    cut = head("é" * 100, max_bytes=9)
    assert (cut.text, cut.partial, cut.bytes) == ("é" * 4, True, 8)
    assert tail("é" * 100, max_bytes=9).text == "é" * 4


@given(st.text(alphabet="a\né日😀\r", max_size=60), st.integers(1, 8), st.integers(4, 40))
def test_any_text_and_any_limits_give_whole_lines_of_it(text: str, max_lines: int, max_bytes: int) -> None:
    lines = lines_of(text)
    for cut, part in ((head, lines[:max_lines]), (tail, lines[-max_lines:])):
        result = cut(text, max_lines=max_lines, max_bytes=max_bytes)
        assert size_of(result.text) <= max_bytes
        if result.partial:
            assert result.text in (lines[0] if cut is head else lines[-1])
        elif result.truncated:
            shown = result.text.split("\n") if result.lines else []
            assert len(shown) == result.lines <= max_lines
            assert shown == (part[: len(shown)] if cut is head else part[len(part) - len(shown) :])
        else:
            assert result.text in (text, text.removesuffix("\n"))


@given(st.text(alphabet="aé日😀", max_size=20), st.integers(0, 30))
def test_clip_cuts_no_character(text: str, limit: int) -> None:
    assert text.startswith(clip(text, limit))
    assert text.endswith(clip(text, limit, end=True))
    assert limit - 4 < size_of(clip(text, limit)) <= limit or clip(text, limit) in (text, "")


def test_boundary_and_line_and_size() -> None:
    assert boundary("a日".encode()[:3]) == 1
    assert boundary("a日".encode()) == 4
    assert boundary(b"\x80\x80\x80\x80\x80") == 5
    assert clip_line("abcdef", 4) == "abcd… (2 more characters)"
    assert [format_size(n) for n in (0, 1023, 1536, 5 << 20, 3 << 30)] == [
        "0 B",
        "1023 B",
        "1.5 KB",
        "5.0 MB",
        "3.0 GB",
    ]


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("1%\r2%\r100%\n", "100%\n"),
        ("1%\r2%\r", "2%"),
        ("a\r\nb\r\r\n", "a\nb\n"),
        ("long line\rx\n", "x\n"),
        ("50%\r\x1b[K\n", "\n"),
        ("50%\x1b[2K\r60%\n", "60%\n"),
        ("spin |\b/\b-\bdone\n", "spin done\n"),
        ("\x1b[1;31mred\x1b[0m\x1b[?25l", "red"),
        ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "alink"),
        ("\x1bPq#0;2\x1b\\b\x1b(Bc\x1b7d\x1b=", "bcd"),
        ("\x9b31mx\x9dtitle\x9cy", "xy"),
        ("\x1b]unended\nnext", "\nnext"),
        ("a\x00\x07\x01\x7fb", "ab"),
        ("\x1b[31", ""),
        ("tail\x1b", "tail"),
    ],
)
def test_as_seen(raw: str, seen: str) -> None:
    assert as_seen(raw) == seen


def test_without_controls_keeps_every_line() -> None:
    assert without_controls("1%\r2%\r\n\x1b[31mx\x1b[0m\ty\x08") == "1%\n2%\nx\ty"


@given(st.text(alphabet="ab\n\r\x1b[0;31mK\x07]é\b\x00", max_size=200))
def test_nothing_that_acts_on_a_terminal_is_left(raw: str) -> None:
    for text in (as_seen(raw), without_controls(raw)):
        assert not any(ord(char) < 32 and char not in "\n\t" for char in text)


@given(st.text(alphabet="ab\r\né\x1b[mK", max_size=120), st.lists(st.integers(0, 160), max_size=6))
def test_a_stream_in_pieces_gives_the_same(raw: str, cuts: list[int]) -> None:
    data = raw.encode()
    stream, out, at = SeenStream(), "", 0
    for cut in [*sorted(cuts), len(data)]:
        out += stream.feed(data[at:cut])
        at = max(at, cut)
    assert out + stream.finish() == as_seen(raw)


def test_a_stream_holds_no_endless_line() -> None:
    stream = SeenStream()
    out = sum(len(stream.feed(b"x" * 1000)) for _ in range(1000))
    assert out > 900_000
    assert out + len(stream.finish()) == 1_000_000
    for n in range(100_000):
        assert stream.feed(f"{n:05}%\r".encode()) == ""
    assert stream.finish() == "99999%"


@given(st.binary(max_size=60), st.sampled_from([b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0"]))
def test_bytes_go_to_text_and_back(body: bytes, mark: bytes) -> None:
    try:
        decoded = decode(mark + body)
    except UnicodeError:
        return
    assert decoded.encode(decoded.text) == mark + body
    assert decoded.encoding.mark == mark or mark == b""


def test_line_endings() -> None:
    assert line_ending("a\r\nb\r\n") == "\r\n"
    assert line_ending("a\r\nb\n") == "\n"
    assert line_ending("a") == "\n"
