"""UI-05: nothing that a terminal obeys is left in foreign text, and hostile text costs no more than its length."""

from __future__ import annotations

import re
import time

import pytest

from zot_cli.plain import clean, one_line

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext – ü 日本 👩‍👩‍👧", "plain\n\ttext – ü 日本 👩‍👩‍👧"),
        ("\x1b]52;c;cm0gLXJm\x07after", "after"),
        ("\x1b]0;title\x1b\\after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9d0;title\x9cafter", "after"),
        ("\x1b[2J\x1b[10A\x1b[31mred\x1b[0m", "red"),
        ("\x9b2Jx", "x"),
        ("\x1bP+q544e\x1b\\x", "x"),
        ("\x1b_apc\x1b\\x\x1b^pm\x1b\\y", "xy"),
        ("\x1bcreset \x1b(Bx", "reset x"),
        ("\x1b]0;never ended\nthe rest stays", "0;never ended\nthe rest stays"),
        ("abc\b\b\bxyz\x07\x00", "abcxyz"),
        ("one\rtwo\r\nthree", "one\ntwo\nthree"),
        ("a\u202eb\u2066c", "abc"),
        ("\x1b", ""),
        ("\x1b[", ""),
    ],
)
def test_control_sequences_are_taken_out(text: str, shown: str) -> None:
    assert clean(text) == shown
    assert not OBEYED.search(clean(text))


def test_pieces_do_not_make_a_sequence_when_what_was_between_is_gone() -> None:
    assert not OBEYED.search(clean("\x1b\x1b[31m]0;x\x07\x1b\x9b\x1b"))


@pytest.mark.parametrize("piece", ["\x1b]", "\x9d", "\x1b[", "\x1bP\x1b", "\x1b]0;\n"])
def test_time_grows_with_the_length_and_no_faster(piece: str) -> None:
    began = time.perf_counter()
    clean(piece * 200_000)
    assert time.perf_counter() - began < 5.0


def test_one_line_folds_and_cuts() -> None:
    assert one_line("a\n  b\x1b[1m\tc") == "a b c"
    assert one_line("x" * 50, 10) == "x" * 9 + "…"
