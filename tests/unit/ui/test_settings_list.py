"""A list of settings and a text area, as components: what they show, what keys do. No terminal."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from zot_core.ui import CURSOR, Editor, Input, SettingItem, SettingsList, plain, width_of
from zot_core.ui.theme import built_in

THEME = built_in("dark")
ITEMS = [
    SettingItem(id="sound", value="on", values=("on", "off"), description="Whether it beeps.", note="default"),
    SettingItem(id="level", label="How much", value="low", values=("low", "mid", "high", "max"), note="settings.json"),
    SettingItem(id="tries", value="3", submenu=lambda value, done: Input(done, lambda: done(None), value=value)),
]


class Desk:
    """A list, and what it was told."""

    def __init__(self, **options: Any) -> None:
        self.told: list[tuple[str, str]] = []
        self.closed = 0
        self.list = SettingsList(ITEMS, self.change, self.close, **options)

    def change(self, name: str, value: str) -> None:
        self.told.append((name, value))
        item = next(one for one in ITEMS if one.id == name)
        self.list.update(SettingItem(id=item.id, label=item.label, value=value, values=item.values))

    def close(self) -> None:
        self.closed += 1

    def press(self, *keys: str) -> list[str]:
        for key in keys:
            self.list.handle_key(key)
        return [plain(line).rstrip() for line in self.list.render(60)]


def test_rows_in_columns_with_what_the_marked_one_is_for() -> None:
    assert Desk(theme=THEME).press() == [
        "› sound     on   default",
        "  How much  low  settings.json",
        "  tries     3",
        "",
        "  Whether it beeps.",
        "",
        "enter changes · esc closes",
    ]


@pytest.mark.parametrize("key", ["enter", " "])
def test_few_values_are_gone_through(key: str) -> None:
    desk = Desk()
    assert desk.press(key)[0] == "› sound     off"
    desk.press(key)
    assert desk.told == [("sound", "off"), ("sound", "on")]


def test_of_many_values_one_is_chosen_from_a_list() -> None:
    desk = Desk()
    lines = desk.press("down", "enter")
    assert lines == ["How much", "› low", "  mid", "  high", "  max", "enter takes it · esc leaves it"]
    assert desk.press("down", "down", "enter")[1] == "› How much  high"
    desk.press("enter", "down", "esc")
    desk.press("enter", "enter")  # the same again changes nothing
    assert desk.told == [("level", "high")]
    assert desk.closed == 0


def test_a_component_of_its_own_asks() -> None:
    desk = Desk()
    assert desk.press("up", "enter")[:2] == ["tries", "› 3"]
    desk.press("backspace", "8", "enter")
    assert desk.told == [("tries", "8")]
    desk.press("enter", "9", "esc")
    assert desk.told == [("tries", "8")]


def test_letters_narrow_and_esc_closes() -> None:
    desk = Desk()
    assert desk.press(*"beep")[:2] == ["filter: beep", "› sound     on   default"]
    assert desk.press("x")[1] == "  nothing matches"
    assert desk.press("enter", "down", *["backspace"] * 5)[0].startswith("› sound")
    desk.press("esc")
    assert (desk.told, desk.closed) == ([], 1)
    silent = Desk(search=False)
    assert silent.press("l")[0] == "› sound     on   default"


def test_a_status_stays_until_the_next_key() -> None:
    desk = Desk()
    desk.list.status = "kept"
    assert desk.press()[-1] == "kept"
    assert desk.press("down")[-1] == "enter changes · esc closes"


def test_what_is_told_may_be_async() -> None:
    told: list[tuple[str, str]] = []

    async def change(name: str, value: str) -> None:
        told.append((name, value))

    async def run() -> None:
        shown = SettingsList(ITEMS, change)
        for keys in (["enter"], ["down", "enter", "down", "enter"]):
            for key in keys:
                waits = shown.handle_key(key)
            assert waits is not None
            await waits

    asyncio.run(run())
    assert told == [("sound", "off"), ("level", "mid")]


@given(some.integers(10, 100), some.lists(some.sampled_from(["up", "down", "enter", "esc", " ", "a", "pagedown"])))
def test_no_line_is_too_wide(width: int, keys: list[str]) -> None:
    items = [*ITEMS, SettingItem(id="日本" * 30, value="x" * 90, note="y" * 90, description="z " * 300)]
    shown = SettingsList(items, lambda name, value: None, theme=THEME)
    for key in keys:
        shown.handle_key(key)
        assert all(width_of(line) <= width for line in shown.render(width))


# --- the text area ----------------------------------------------------------------------------------------------------


def typed(*keys: str, text: str = "", **options: Any) -> tuple[Editor, list[str]]:
    sent: list[str] = []
    editor = Editor(sent.append, text=text, **options)
    for key in keys:
        editor.handle_key(key)
    return editor, sent


def test_lines_are_typed_and_sent() -> None:
    editor, sent = typed("a", "shift+enter", "b", "enter")
    assert sent == ["a\nb"]
    assert [plain(line) for line in editor.render(20)] == ["› a", "  b "]
    editor, sent = typed("a", "enter", "b", "ctrl+d", enter_breaks=True)
    assert sent == ["a\nb"]


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        (["home", "X"], "one two\nXthree four"),
        (["up", "X"], "one twoX\nthree four"),
        (["up", "home", "down", "X"], "one two\nXthree four"),
        (["up", "up", "X"], "Xone two\nthree four"),
        (["ctrl+w"], "one two\nthree "),
        (["ctrl+u"], "one two\n"),
        (["up", "home", "ctrl+k", "ctrl+k"], "three four"),
        (["ctrl+left", "X"], "one two\nthree Xfour"),
        (["up", "home", "ctrl+right", "X"], "oneX two\nthree four"),
        (["up", "end", "delete"], "one twothree four"),
        (["left", "backspace", "right", "X"], "one two\nthree forX"),
        (["a\r\nb"], "one two\nthree foura\nb"),
        (["f5", "ctrl+x"], "one two\nthree four"),
    ],
)
def test_keys_edit(keys: list[str], left: str) -> None:
    assert typed(*keys, text="one two\nthree four")[0].text == left


def test_a_column_is_kept_over_a_short_line() -> None:
    assert typed("up", "up", "X", text="abcdef\nx\nuvwxyz")[0].text == "abcdefX\nx\nuvwxyz"


def test_a_placeholder_and_the_rows_around_the_cursor() -> None:
    assert plain(typed(placeholder="why?")[0].render(20)[0]) == "› why?"
    lines = typed(text="\n".join(map(str, range(30))), rows=3)[0].render(20)
    assert [plain(line).strip() for line in lines] == ["27", "28", "29"]
    assert CURSOR in lines[-1]


KEYS = "up down left right home end backspace delete ctrl+w ctrl+u ctrl+k ctrl+left ctrl+right shift+enter 日 a".split()


@given(some.lists(some.sampled_from(KEYS), max_size=40), some.integers(4, 40))
def test_any_keys_leave_a_cursor_within_the_text(keys: list[str], width: int) -> None:
    editor, _ = typed(text="one two\n\nthree")
    for key in keys:
        editor.handle_key(key)
        assert 0 <= editor.at <= len(editor.text)
        lines = editor.render(width)
        assert sum(line.count(CURSOR) for line in lines) == 1
        assert all(width_of(line) <= width for line in lines)
