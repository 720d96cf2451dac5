"""Pictures within the terminal's text: the protocol by the environment, the cells, the bytes, and how lines count."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping

import pytest

from zot_cli.repl.inline import CHUNK, Art, Drawing, Space, cells, protocol
from zot_cli.repl.screen import fragments
from zot_cli.repl.spans import cut, last_rows, line_width, plain, rows_of, to_ansi
from zot_core.types.content import Image

IMAGE = Image("image/png", "aGk=")
ITERM = {"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}
KITTY = {"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "1"}


@pytest.mark.parametrize(
    ("environ", "spoken"),
    [
        (KITTY, "kitty"),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, "kitty"),
        ({"TERM": "xterm-ghostty"}, "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "ghostty"}, "kitty"),
        (ITERM, "iterm2"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "iterm2"),
        ({"TERM": "xterm", "TERM_PROGRAM": "mintty"}, "iterm2"),
        ({"TERM": "xterm-256color", "LC_TERMINAL": "iTerm2"}, "iterm2"),
        # started from another terminal, whose variables are still there
        ({**KITTY, "TERM_PROGRAM": "iTerm.app"}, "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "vscode", "KITTY_WINDOW_ID": "1"}, None),
        ({**ITERM, "KITTY_WINDOW_ID": "1"}, "iterm2"),
        # what stands between passes no pictures on
        ({**ITERM, "TMUX": "/tmp/tmux-0/default,1,0"}, None),
        ({"TERM": "screen-256color", "LC_TERMINAL": "iTerm2"}, None),
        ({"TERM": "tmux-256color", "TERM_PROGRAM": "tmux", "KITTY_WINDOW_ID": "1"}, None),
        ({**KITTY, "STY": "1.pts"}, None),
        ({**KITTY, "ZELLIJ": "0"}, None),
        ({"TERM": "dumb", "KITTY_WINDOW_ID": "1"}, None),
        ({"TERM": "xterm-256color"}, None),
        ({}, None),
        ({**KITTY, "NO_COLOR": "1"}, "kitty"),
    ],
)
def test_the_environment_tells_the_protocol(environ: Mapping[str, str], spoken: str | None) -> None:
    assert protocol(environ) == spoken


def test_the_setting_overrides_the_environment() -> None:
    assert protocol(KITTY, "off") is None
    assert protocol(KITTY, "iterm2") == "iterm2"
    assert protocol({"TERM": "screen"}, "kitty") == "kitty"


@pytest.mark.parametrize(
    ("size", "found"),
    [
        ((640, 480), (53, 20)),  # as high as may be
        ((100, 100), (10, 5)),  # as large as it is
        ((4000, 100), (60, 1)),  # as wide as may be
        ((1, 1), (2, 1)),
        ((1, 60_000), (1, 20)),
        ((60_000, 1), (60, 1)),
        ((600, 40), (60, 2)),
    ],
)
def test_a_picture_keeps_its_proportions_within_the_space(size: tuple[int, int], found: tuple[int, int]) -> None:
    assert cells(size, Space(columns=60, rows=20)) == found


def test_cells_of_other_shapes_count() -> None:
    assert cells((640, 480), Space(columns=200, rows=20, cell=(8, 16))) == (53, 20)
    assert cells((160, 160), Space(columns=200, rows=20, cell=(16, 16))) == (10, 10)


def drawing(data: str, spoken: str = "kitty", columns: int = 8, rows: int = 3) -> Drawing:
    size = len(base64.b64decode(data))
    return Drawing(protocol=spoken, data=data, size=size, columns=columns, rows=rows)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [0, 3, 3072, 3073, 3075, 10_000])
def test_kitty_gets_whole_chunks_and_is_asked_for_no_answer(count: int) -> None:
    data = base64.b64encode(bytes(range(256)) * 40)[: -(-count // 3) * 4].decode()
    said = drawing(data).printed(2)
    parts = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", said)
    assert "".join(part for _, part in parts) == data
    assert all(len(part) == CHUNK for _, part in parts[:-1]) and len(parts[-1][1]) <= CHUNK
    first = dict(key.split("=") for key in parts[0][0].split(","))
    last = int(len(parts) == 1)
    assert first == {"a": "T", "f": "100", "q": "2", "C": "1", "c": "8", "r": "3", "m": str(1 - last)}
    assert [keys for keys, _ in parts[1:]] == ["q=2,m=1"] * (len(parts) - 2) + ["q=2,m=0"] * (1 - last)


def test_rows_are_made_before_and_the_cursor_comes_back() -> None:
    assert drawing("aGk=").printed(2) == (
        "\r\n\r\n\r\n\x1b[3A\x1b[2C\x1b7\x1b_Ga=T,f=100,q=2,C=1,c=8,r=3,m=0;aGk=\x1b\\\x1b8\r\x1b[3B"
    )
    assert drawing("aGk=", "iterm2").printed(0) == (
        "\r\n\r\n\r\n\x1b[3A\x1b7\x1b]1337;File=inline=1;size=2;width=8;height=3;preserveAspectRatio=1;"
        "doNotMoveCursor=1:aGk=\x07\x1b8\r\x1b[3B"
    )


# --- as lines ---------------------------------------------------------------------------------------------------------


def line(rows: int = 3) -> list[tuple[str, str]]:
    return [("", "  "), (Art("fg:ansired", IMAGE, drawing("aGk=", rows=rows)), "[picture image/png]")]


def test_a_picture_stands_below_its_line_where_lines_are_printed() -> None:
    said = to_ansi([[("", "before")], line(), [("", "after")]], "16")
    assert said.startswith("before\r\n  \x1b[31m[picture image/png]\x1b[0m\r\n\r\n\r\n\r\n\x1b[3A\x1b[2C\x1b7\x1b_G")
    assert said.endswith("\x1b8\r\x1b[3Bafter\r\n")
    assert said.count("aGk=") == 1


def test_where_lines_can_change_it_is_its_facts() -> None:
    found = fragments([line()])
    assert found == [("", "  "), ("fg:ansired", "[picture image/png]")]
    assert [type(one[0]) for one in found] == [str, str]  # nothing that keeps the picture goes on
    assert plain(line()) == "  [picture image/png]" and line_width(line()) == 21
    short = cut(line(), 12)
    assert plain(short) == "  [picture …" and isinstance(short[1][0], Art)


def test_pictures_count_as_rows() -> None:
    lines = [[("", "a")], line(5), [("", "b")], line(2), [("", "c")]]
    assert rows_of(lines) == 12
    assert last_rows(lines, 12) == lines
    assert last_rows(lines, 4) == lines[3:]
    kept = last_rows(lines, 9)  # the upper one would begin above the screen
    assert [plain(one) for one in kept] == ["a", "  [picture image/png]", "b", "  [picture image/png]", "c"]
    assert rows_of(kept) == 7 and rows_of(kept[:2]) == 2
