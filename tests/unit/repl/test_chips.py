"""Chips: a folded paste and a picture are sent whole, also when what was typed comes back from somewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.typist import Typist

from zot_cli.repl.chips import Chips
from zot_core.types.content import Image

LONG = "\n".join(f"line {number}" for number in range(20))
PICTURE = Image(mime_type="image/png", data="AAAA")
OTHER = Image(mime_type="image/png", data="BBBB")


@pytest.fixture
def hands(tmp_path: Path) -> Iterator[Typist]:
    """Hands on an editor with a history file."""
    typist = Typist(tmp_path / "history", width=80)
    yield typist
    typist.close()


@pytest.mark.parametrize(
    ("text", "folds"), [("x\n" * 14, False), ("x\n" * 15, True), ("x" * 1000, False), ("x" * 1001, True)]
)
def test_a_paste_over_15_lines_or_1000_characters_folds(hands: Typist, text: str, folds: bool) -> None:
    hands.type("see ").paste(text).type(" there")
    assert hands.editor.shown.startswith("see [paste #1: ") == folds
    assert hands.editor.text == f"see {text} there"


def test_a_chip_is_one_character(hands: Typist) -> None:
    hands.type("a").paste(LONG).type("b\x1b[D")
    assert hands.marked == "a[paste #1: 20 lines]|b"
    assert hands.type("\x1b[D").marked == "a|[paste #1: 20 lines]b"
    assert hands.type("\x1b[C\x7f").marked == "a|b"
    assert hands.type("\x1f").marked == "a[paste #1: 20 lines]|b"
    assert hands.editor.text == f"a{LONG}b"
    assert hands.type("\x1b[D\x1b[3~").marked == "a|b"
    assert hands.type("\x1f\x05\x17").marked == "a[paste #1: 20 lines]|"
    assert hands.type("\x1b\x7f").marked == "a|", "and one word"
    assert hands.type("\x19").editor.text == f"a{LONG}b", "two cuts in a row are one"


def test_nothing_gets_into_the_middle_of_a_chip(hands: Typist) -> None:
    hands.paste(LONG)
    hands.editor.buffer.insert("\nsome words below")
    hands.type("\x1b[A!")
    assert LONG in hands.editor.text
    hands.editor.buffer.cursor_position = 5  # a plugin's doing
    hands.type("?")
    assert LONG in hands.editor.text


def test_each_paste_and_its_undo_is_a_step(hands: Typist) -> None:
    hands.type("one ").paste(LONG).paste(LONG + "2")
    assert hands.type("\x1f").editor.text == f"one {LONG}"
    assert hands.type("\x1f").editor.text == "one "


def test_what_comes_back_is_folded_again_and_sent_whole(hands: Typist) -> None:
    hands.type("fix ").paste(LONG)
    sent = hands.editor.take()
    hands.draw().type("more")
    hands.editor.prepend(sent)
    assert hands.editor.shown == "fix [paste #1: 20 lines]\nmore"
    assert hands.editor.take() == f"fix {LONG}\nmore"


def test_a_picture_comes_back_alive(hands: Typist) -> None:
    hands.editor.add_picture(PICTURE, "x.png")
    assert hands.editor.pictures == [PICTURE]
    sent = hands.editor.take()
    assert sent == "[picture #1: x.png]"
    assert hands.editor.pictures == []
    hands.editor.add_picture(OTHER, "x.png")
    hands.editor.prepend(sent, [PICTURE])
    assert hands.editor.shown == "[picture #1: x.png]\n[picture #2: x.png]"
    assert hands.editor.pictures == [PICTURE, OTHER]


def test_the_up_key_brings_both_back(hands: Typist) -> None:
    hands.paste(LONG)
    hands.editor.add_picture(PICTURE, "x.png")
    hands.editor.take()
    hands.draw().type("\x1b[A")
    assert hands.editor.shown == "[paste #1: 20 lines][picture #1: x.png]"
    assert hands.editor.text.startswith(LONG)
    assert hands.editor.pictures == [PICTURE]


def test_pictures_of_a_message_that_names_none_have_chips_after_it() -> None:
    chips = Chips()
    text = chips.adopted("look", [PICTURE, OTHER])
    assert text == "look [picture #1: picture] [picture #2: picture]"
    assert chips.pictures(text) == [PICTURE, OTHER]


def test_a_chip_of_an_older_session_gets_the_picture_of_its_message() -> None:
    chips = Chips()
    chips.picture(OTHER, "mine.png")
    text = chips.adopted("[picture #1: theirs.png] and [paste #9: 40 lines]", [PICTURE])
    assert text == "[picture #2: theirs.png] and [paste #9: 40 lines]"
    assert chips.pictures(text) == [PICTURE]


def test_only_a_chip_that_stands_for_something_looks_like_one(hands: Typist) -> None:
    hands.editor.buffer.insert("[picture #7: nothing.png] [paste #3: 99 lines]")
    assert hands.editor.chips.spans(hands.editor.shown) == []
    assert hands.editor.text == hands.editor.shown
    assert hands.type("\x7f").editor.shown.endswith("99 lines"), "letters, one by one"


def test_a_kept_draft_comes_back_with_what_its_chips_stand_for() -> None:
    before, after = Chips(), Chips()
    text = f"{before.paste(LONG)} {before.picture(PICTURE, 'a.png')} {before.picture(OTHER, 'b.png')}"
    pastes, pictures = before.contents(text)
    assert (list(pastes.values()), list(pictures.values())) == ([LONG], [PICTURE, OTHER])
    after.paste(LONG + "x")
    del pictures["[picture #2: b.png]"]  # as if there had been no room for it
    back = after.restored(text, pastes, pictures, ["[picture #1: a.png]", "[picture #2: b.png]"])
    assert back == "[paste #2: 20 lines] [picture #1: a.png] (b.png: not kept)"
    assert after.unfolded(back).startswith(LONG)
    assert after.pictures(back) == [PICTURE]


def test_a_name_cannot_break_a_chip() -> None:
    chips = Chips()
    chip = chips.picture(PICTURE, "a]\n[paste #1: x]\x1b[2J.png")
    assert chips.pictures(f"see {chip}") == [PICTURE]
    assert chips.spans(chip) == [(0, len(chip))]
