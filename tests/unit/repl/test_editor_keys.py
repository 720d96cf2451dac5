"""What the keys of the editor do, as a terminal sends them: each has its line here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.typist import Typist

from zot_cli.repl.editing import COMMANDS
from zot_cli.repl.keys import EDITING, Keymap

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
FLAGS = "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7"
THUMB = "\U0001f44d\U0001f3fd"
CHARACTERS = {
    "ZWJ family": FAMILY,
    "flag": FLAGS[:2],
    "skin tone": THUMB,
    "combining mark": "e\u0301",
    "two marks": "o\u0302\u0323",
    "Devanagari": "\u0915\u094d\u0937\u093f",
    "Thai": "\u0e01\u0e33",
    "Hangul jamo": "\u1112\u1161\u11ab",
    "keycap": "1\ufe0f\u20e3",
    "wide": "\u6f22",
}
# keys, the text before with `|` for the cursor, and after
TABLE = [
    ("\x1b[D", "ab|c", "a|bc"),
    ("\x02", "ab|c", "a|bc"),
    ("\x1b[C", "ab|c", "abc|"),
    ("\x06", "a|bc", "ab|c"),
    ("\x1b[D", "|abc", "|abc"),
    ("\x1b[D", "a\n|b", "a|\nb"),
    ("\x1b[C", "a|\nb", "a\n|b"),
    ("\x1bb", "one two|", "one |two"),
    ("\x1bb", "one (two)| ", "one (|two) "),
    ("\x1bf", "one| two", "one two|"),
    ("\x1b[1;5D", "one tw|o", "one |two"),
    ("\x1b[1;5C", "o|ne two", "one| two"),
    ("\x1b[1;3D", "one two|", "one |two"),
    ("\x1b[1;3C", "|one two", "one| two"),
    ("\x1b\x1b[D", "one two|", "one |two"),
    ("\x1b[H", "ab\ncd|e", "ab\n|cde"),
    ("\x01", "ab\ncd|e", "ab\n|cde"),
    ("\x1b[F", "a|b\ncde", "ab|\ncde"),
    ("\x05", "a|b\ncde", "ab|\ncde"),
    ("\x1b[1;5H", "ab\ncd|e", "|ab\ncde"),
    ("\x1b<", "ab\ncd|e", "|ab\ncde"),
    ("\x1b[1;5F", "a|b\ncde", "ab\ncde|"),
    ("\x1b>", "a|b\ncde", "ab\ncde|"),
    ("\x1b[A", "abc\nde|f", "ab|c\ndef"),
    ("\x1b[B", "ab|c\nd", "abc\nd|"),
    ("\x0e", "ab|c\ndef", "abc\nde|f"),
    ("\x1b[B\x1b[B", "ab|c\nd\nefg", "abc\nd\nef|g"),
    ("\x1b[5~", "\n" * 12 + "|", "\n\n|" + "\n" * 10),
    ("\x1b[6~", "|" + "\n" * 12, "\n" * 10 + "|\n\n"),
    ("\x7f", "ab|c", "a|c"),
    ("\x08", "ab|c", "a|c"),
    ("\x1b[3~", "a|bc", "a|c"),
    ("\x04", "|abc", "|bc"),
    ("\x1b\x7f", "one two|", "one |"),
    ("\x1b\x7f", "one two-three|", "one two-|"),
    ("\x17", "one two-three|", "one |"),
    ("\x17", "one  |", "|"),
    ("\x1bd", "one| two three", "one| three"),
    ("\x1b[3;5~", "one| two three", "one| three"),
    ("\x0b", "a|bc\nd", "a|\nd"),
    ("\x0b\x0b", "a|bc\nd", "a|d"),
    ("\x15", "ab\nc|d", "ab\n|d"),
    ("\x15\x15", "ab\nc|d", "ab|d"),
    ("\x0b\x19", "a|bc\nd", "abc|\nd"),
    ("\x17\x17\x19", "one two|", "one two|"),
    ("\x17\x0b\x19", "one| two", "one two|"),
    ("\x17\x1b[D\x17\x19\x19", "one two|", "oneone| "),
    ("\x17\x1b[D\x17\x19\x1by", "one two|", "two| "),
    ("\x17\x1b[D\x17\x19\x1by\x1by", "one two|", "one| "),
    ("\x18\x14", "ab|c", "acb|"),
    ("\x18\x14", "abc|", "acb|"),
    ("\x18\x14", "|abc", "|abc"),
    ("\x1bt", "one, two|", "two, one|"),
    ("\x1bt", "one |two", "two one|"),
    ("\x1bu", "|one two", "ONE| two"),
    ("\x1bl", "|ONE two", "one| two"),
    ("\x1bc", "|one two", "One| two"),
    ("\x1b[1;2D\x7f", "ab|c", "a|c"),
    ("\x1b[1;2D\x1b[1;2Dx", "abc|", "ax|"),
    ("\x1b[1;2C\x1b[C\x7f", "|abc", "a|c"),
    ("\x1b#", "one|", "one|"),
    ("\x1bx", "one|", "one|"),
    ("\x1bZ", "one|", "one|"),
    ("\x1b[120;3u", "one|", "one|"),
    ("\x1b*", "one|", "one|"),
    ("\x1f", "one|", "one|"),
    ("x\x1f", "one|", "one|"),
    ("x\x1f\x1b_", "one|", "onex|"),
    ("x\x18\x15\x18\x12", "one|", "onex|"),
    ("two words\x1f", "|", "two |"),
    ("two words\x1f\x1f", "|", "|"),
    ("\x15\x1f", "one two|", "one two|"),
    ("\x7f\x7f\x7f\x1f", "one|", "one|"),
    ("\x1b3\x1b[D", "abcd|", "a|bcd"),
]


@pytest.fixture
def hands() -> Iterator[Typist]:
    """Hands on an editor without a history."""
    typist = Typist()
    yield typist
    typist.close()


@pytest.mark.parametrize(("keys", "before", "after"), TABLE, ids=[f"{row[0]!r} in {row[1]!r}" for row in TABLE])
def test_a_key_edits(hands: Typist, keys: str, before: str, after: str) -> None:
    assert hands.start(before).type(keys).marked == after


def test_every_key_of_the_table_in_the_help_is_tried_here() -> None:
    assert {action.id.rpartition(".")[2] for action in EDITING} == set(COMMANDS)
    assert all(Keymap().keys(action.id) for action in EDITING)


@pytest.mark.parametrize("character", CHARACTERS.values(), ids=CHARACTERS)
@pytest.mark.parametrize(
    ("keys", "before", "after"),
    [
        ("\x1b[D", "a{}|b", "a|{}b"),
        ("\x1b[C", "a|{}b", "a{}|b"),
        ("\x7f", "a{}|b", "a|b"),
        ("\x1b[3~", "a|{}b", "a|b"),
        ("\x04", "a|{}b", "a|b"),
        ("\x18\x14", "a{}|", "{}a|"),
        ("\x1b[1;2D\x7f", "a{}|b", "a|b"),
        ("\x17", "a {}{}|", "a |"),
        ("\x1b[D\x1b[D", "{}{}|", "|{}{}"),
    ],
)
def test_what_people_take_for_one_character_is_one(
    hands: Typist, character: str, keys: str, before: str, after: str
) -> None:
    before, after = before.replace("{}", character), after.replace("{}", character)
    assert hands.start(before).type(keys).marked == after


@pytest.mark.parametrize("character", CHARACTERS.values(), ids=CHARACTERS)
def test_the_cursor_stands_after_what_is_drawn(hands: Typist, character: str) -> None:
    from zot_cli.repl.spans import width_of

    hands.type(f"a{character}b")
    assert hands.rows == [f"› a{character}b"]
    assert hands.cursor == (2 + width_of(f"a{character}b"), 0)
    hands.type("\x1b[D\x1b[D")
    assert hands.cursor == (3, 0)


def test_flags_in_a_row_are_taken_two_by_two(hands: Typist) -> None:
    assert hands.start(FLAGS + "|").type("\x7f").marked == FLAGS[:2] + "|"
    assert hands.start("|" + FLAGS).type(FLAGS[2:]).marked == f"{FLAGS[2:]}|{FLAGS}", "typed before another flag"


def test_words_hold_their_marks(hands: Typist) -> None:
    word = "\u0939\u093f\u0928\u094d\u0926\u0940"
    assert hands.start(f"{word} {word}|").type("\x1bb").marked == f"{word} |{word}"
    assert hands.type("\x1bd").marked == f"{word} |"


def test_up_and_down_go_by_the_rows_that_are_seen(hands: Typist) -> None:
    hands.start("x" * 80 + "|")
    assert [len(row) for row in hands.rows] == [39, 39, 2 + 80 - 74]
    assert hands.cursor == (2 + 6, 2)
    hands.type("\x1b[A")
    assert hands.editor.buffer.cursor_position == 37 + 6
    hands.type("\x1b[A")
    assert hands.editor.buffer.cursor_position == 6
    hands.type("\x1b[B\x1b[B")
    assert hands.editor.buffer.cursor_position == 80


def test_a_wide_character_does_not_stick_out(hands: Typist) -> None:
    hands.type("\u6f22" * 19)
    assert [row.count("\u6f22") for row in hands.rows] == [18, 1]
    assert hands.cursor == (4, 1)


def test_a_full_row_leaves_room_for_the_cursor(hands: Typist) -> None:
    hands.type("x" * 37)
    assert len(hands.rows) == 1
    assert hands.cursor == (39, 0)


def test_more_rows_than_fit_scroll_with_the_cursor(hands: Typist) -> None:
    hands.start("\n".join(map(str, range(30))) + "|")
    assert hands.rows[-1].strip() == "29"
    assert len(hands.rows) == 10
    hands.type("\x1b<")
    assert hands.rows[0] == "› 0"
    assert hands.cursor == (2, 0)


@pytest.mark.parametrize("evil", ["\x1b[2J", "\x00", "\x9b31m", "\u202e", "\x07"])
def test_what_a_terminal_would_obey_is_not_drawn(hands: Typist, evil: str) -> None:
    hands.start(f"a{evil}b|")
    assert evil[0] not in "".join(hands.rows)
    assert hands.rows[0].startswith("› a")


def test_a_commands_hint_stands_behind_the_cursor(hands: Typist) -> None:
    hands.editor.hint = lambda text: "[NAME]" if text == "/model " else ""
    hands.type("/model ")
    assert hands.rows == ["› /model [NAME]"]
    assert hands.cursor == (9, 0)
    assert hands.editor.text == "/model "
    assert hands.type("g").rows == ["› /model g"]


def test_other_keys_by_the_persons_file() -> None:
    hands = Typist(custom={"tui.editor.kill_to_start": "alt+k", "tui.editor.undo": ["ctrl+_", "alt+z"]})
    assert hands.start("ab|c").type("\x1bk").marked == "|c"
    assert hands.type("\x1bz").marked == "ab|c"
    assert hands.type("\x15").marked == "ab|c", "the key that it had means nothing now"
    hands.close()
