"""What the terminal has above the cursor, reckoned: rows to go up for another width, rows that a lower screen took."""

from __future__ import annotations

from typing import Any

import pytest
from prompt_toolkit.data_structures import Point
from prompt_toolkit.layout.screen import Char
from prompt_toolkit.layout.screen import Screen as Drawn

from zot_cli.repl.ground import Ground, rewraps
from zot_cli.repl.spans import Line, plain


def lines(*texts: str) -> list[Line]:
    return [[("", text)] if text else [] for text in texts]


def area(*texts: str) -> Any:
    drawn = Drawn()
    for y, text in enumerate(texts):
        for x, char in enumerate(text):
            drawn.data_buffer[y][x] = Char(char)
    return drawn


@pytest.mark.parametrize(("wraps", "rows"), [(True, 2 + 1 + 4 + 2), (False, 1 + 1 + 1 + 1)])
def test_rows_up_to_the_first_line_of_ours(wraps: bool, rows: int) -> None:
    ground = Ground(wraps)
    ground.printed(lines("x" * 40, "", "y" * 80), 80)
    ground.drawn(area("z" * 30, "> "), Point(2, 1))
    assert ground.up(20) == rows


def test_a_wider_screen_wraps_nothing_anew() -> None:
    ground = Ground(True)
    ground.printed(lines("x" * 40, "y"), 40)
    assert ground.up(200) == 2


def test_a_line_wider_than_the_screen_is_printed_in_pieces() -> None:
    ground = Ground(True)
    assert [plain(line) for line in ground.printed(lines("abcdefg", "漢字漢"), 3)] == [
        "abc",
        "def",
        "g",
        "漢",
        "字",
        "漢",
    ]
    assert ground.up(3) == 6


def test_no_line_is_printed_with_blanks_at_its_end() -> None:
    printed = Ground(True).printed([[("", "a "), ("fg:#ffffff", "  ")], [("", "b"), ("bg:#111111", "  ")]], 80)
    assert [plain(line) for line in printed] == ["a", "b  "], "a colour behind them is something to see"


def test_what_others_wrote_is_not_erased() -> None:
    ground = Ground(True)
    ground.printed(lines("a", "b"), 80)
    assert ground.erase(80, 24) == 2
    assert ground.up(80) == 0, "nothing is there until it is printed anew"


def test_a_full_screen_is_erased_and_what_is_above_it_stays_ours() -> None:
    ground = Ground(True)
    ground.printed(lines(*"abcdefghij"), 80)
    assert ground.erase(80, 5) == 5
    assert ground.up(80) == 4


def test_lines_that_a_lower_screen_pushed_out_are_not_printed_again() -> None:
    ground = Ground(True)
    live = lines("one", "two", "three", "menu")
    ground.lowered(live, cursor=4, rows=3)  # five rows down to the cursor, three are left
    assert ground.still_live(live) == live[2:]
    assert ground.left(lines("one", "two", "three", "four")) == lines("three", "four")
    assert ground.left(lines("one")) == lines("one"), "once"


def test_a_screen_that_still_holds_the_live_area_takes_nothing() -> None:
    ground = Ground(True)
    ground.lowered(lines("one", "two"), cursor=2, rows=3)
    assert ground.pushed == 0


def test_what_has_changed_since_is_printed_whole() -> None:
    ground = Ground(True)
    ground.lowered(lines("one", "two"), cursor=4, rows=3)
    assert ground.left(lines("one", "2")) == lines("2")
    assert ground.left(lines("two")) == lines("two")


@pytest.mark.parametrize(
    ("environ", "wraps"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm-256color", "XTERM_VERSION": "XTerm(390)"}, False),
        ({"TERM": "linux"}, False),
        ({"TERM": "screen-256color"}, False),
        ({"TERM": "screen-256color", "TMUX": "/tmp/x"}, True),
        ({}, True),
    ],
)
def test_which_terminals_wrap_anew(environ: dict[str, str], wraps: bool) -> None:
    assert rewraps(environ) is wraps
