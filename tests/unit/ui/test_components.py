"""Components give lines that fit, keep their styles, and do what keys say. No terminal."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zot_core.types.failure import UsageError
from zot_core.ui import (
    CURSOR,
    AppEditor,
    BorderedLoader,
    Box,
    Container,
    Input,
    Keybindings,
    Markdown,
    OverlayOptions,
    SelectItem,
    SelectList,
    Spacer,
    Text,
    Working,
    cut,
    plain,
    width_of,
    wrap,
)
from zot_core.ui.controls import is_key_name
from zot_core.ui.overlay import place, width_in
from zot_core.ui.theme import built_in

THEME = built_in("dark")


def test_a_style_goes_on_over_a_line_break_and_ends_with_the_line() -> None:
    first, second = wrap(THEME.fg("accent", "hello world"), 6)
    assert (plain(first), plain(second)) == ("hello", "world")
    assert first.startswith("\x1b[38;") and first.endswith("\x1b[39m")
    assert second.startswith("\x1b[38;") and second.endswith("\x1b[39m")


def test_wide_characters_count_twice() -> None:
    assert wrap("日本語日本語", 5) == ["日本", "語日", "本語"]
    assert cut("日本語", 5) == "日本…"
    assert width_of("\x1b[1m日本\x1b[0m") == 4


@pytest.mark.parametrize(
    "text", ["\x1b[2Jx", "\x1b]0;title\x07x", "\x1b[10;10Hx", "\x07x", "\u202ex", "\x1b[?1049hx", "\x9bAx"]
)
def test_what_a_terminal_obeys_is_taken_out(text: str) -> None:
    assert plain(text) == "x"


@given(st.text(alphabet="ab 日é\u0301\u200d👩\x1b[31m;0K\n\t", max_size=80), st.integers(2, 20))
def test_no_line_is_too_wide_and_no_letter_is_lost(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(width_of(line) <= width for line in lines)
    assert "".join("".join(map(plain, lines)).split()) == "".join(plain(text).split())


def test_text_box_and_container() -> None:
    box = Box(2, 1, lambda line: THEME.bg("customMessageBg", line), [Text("one"), Spacer(), Text(THEME.bold("two"))])
    lines = box.render(12)
    assert [plain(line) for line in lines] == [" " * 12, "  one       ", " " * 12, "  two       ", " " * 12]
    assert all(line.startswith("\x1b[48;") and line.endswith("\x1b[49m") for line in lines)
    assert "\x1b[0m" not in "".join(lines)
    assert Box().render(10) == Text("").render(10) == []
    child = Text("gone")
    page = Container([Text("kept"), child])
    page.remove(child)
    assert page.render(10) == ["kept"]


def test_markdown_without_a_screen_is_the_text_itself() -> None:
    assert Markdown("# Title\nwords").render(20) == ["# Title", "words"]


def test_a_list_is_moved_through_narrowed_and_taken() -> None:
    taken: list[Any] = []
    items = [SelectItem(value=n, label=f"entry {n}", description="even" if n % 2 == 0 else "odd") for n in range(30)]
    chooser = SelectList(items, lambda item: taken.append(item.value), lambda: taken.append(None), rows=3)
    assert chooser.render(40) == ["› entry 0  even", "  entry 1  odd", "  entry 2  even", "  1 of 30"]
    for key in ("up", "down", "pagedown", "down", "enter"):
        chooser.handle_key(key)
    assert taken == [4]
    for key in "2 odd":
        chooser.handle_key(key)
    assert [plain(line) for line in chooser.render(40)] == ["filter: 2 odd ", "› entry 21  odd", "  entry 23  odd",
                                                          "  entry 25  odd", "  1 of 5"]  # fmt: skip
    chooser.handle_key("x")
    assert chooser.render(40)[-1] == "  nothing matches"
    chooser.handle_key("enter")
    chooser.handle_key("esc")
    assert taken == [4, None]


def test_keys_are_the_persons() -> None:
    taken: list[str] = []
    keys = Keybindings({"tui.select.down": ("j",), "tui.select.confirm": ("space",)})
    chooser = SelectList(["a", "b"], lambda item: taken.append(item.value), keybindings=keys)
    for key in ("j", "down", "space"):
        chooser.handle_key(key)
    assert taken == ["b"]
    assert keys.hint("tui.select.down", "to move") == "j to move"
    assert keys.hint("app.nothing", "to rest") == "to rest"


def test_a_line_is_typed() -> None:
    said: list[str] = []
    line = Input(said.append, lambda: said.append("cancelled"), placeholder="a name")
    assert line.render(20) == [f"› {CURSOR}a name"]
    for key in ("a", "b", "left", "X", "pasted\ntext", "home", "delete", "end", "backspace"):
        line.handle_key(key)
    assert line.value == "Xpasted text"
    assert width_of(line.render(8)[0]) <= 8
    line.handle_key("enter")
    line.handle_key("esc")
    assert said == ["Xpasted text", "cancelled"]
    assert plain(Input(said.append, value="key", hidden=True).render(20)[0]) == "› ••• "


def test_a_loader_moves_and_is_called_off() -> None:
    class Screen:
        frames = 0

        def request_render(self) -> None:
            self.frames += 1

    async def main() -> None:
        screen = Screen()
        loader = BorderedLoader(screen, THEME, "Loading")
        assert [plain(line)[-7:] for line in loader.render(20)][1] == "Loading"
        while not screen.frames:
            await asyncio.sleep(0.01)
        loader.handle_key("x")
        assert not loader.signal.aborted
        loader.handle_key("esc")
        assert loader.signal.aborted

    asyncio.run(main())


class FakeText:
    def __init__(self, text: str, at: int) -> None:
        self.text, self.at, self.pressed = text, at, list[str]()

    def insert(self, text: str) -> None:
        self.text = self.text[: self.at] + text + self.text[self.at :]

    def press(self, key: str) -> None:
        self.pressed.append(key)


class FakeTui:
    columns, rows = 80, 24
    footer: Any = None
    working: Working | None = None

    def __init__(self, text: str, at: int) -> None:
        self.editor: Any = FakeText(text, at)

    def request_render(self) -> None:
        pass


def test_an_editor_draws_what_is_typed_around_the_cursor() -> None:
    tui = FakeTui("one\ntwo", 4)
    editor = AppEditor(tui, THEME, Keybindings())
    assert [line.replace(CURSOR, "|") for line in editor.render(20)][1] == "  |two"
    assert plain(editor.render(20)[0]) == "› one"
    editor.handle_key("ctrl+x")
    assert tui.editor.pressed == ["ctrl+x"]
    tui = FakeTui("\n".join(f"line {n}" for n in range(2000)), 0)
    tui.editor.at = len(tui.editor.text)
    shown = AppEditor(tui, THEME, Keybindings()).render(20)
    assert len(shown) == 10
    assert plain(shown[-1]).strip() == "line 1999"
    wrapping = AppEditor(tui, THEME, Keybindings(), base=Text("another's"))
    assert wrapping.render(20) == ["another's"]


def test_the_working_status_in_the_border() -> None:
    tui = FakeTui("one", 3)
    editor = AppEditor(tui, THEME, Keybindings(), embed_working_status=True)
    assert [plain(line).rstrip() for line in editor.render(12)] == ["─" * 12, "› one"]
    tui.working = Working(frame="*", words="Working", details="3 s")
    assert plain(editor.render(30)[0]) == "── * Working  3 s ────────────"
    assert plain(editor.render(12)[0]) == "── * Workin…"
    tui.working = Working(words="Working", details="3 s")
    assert plain(editor.border(30)) == "── Working  3 s ──────────────"

    around = AppEditor(tui, THEME, Keybindings(), base=Text("another's"), embed_working_status=True)
    assert [plain(line) for line in around.render(20)][1:] == ["another's"]
    inner = AppEditor(tui, THEME, Keybindings(), base=editor, embed_working_status=True)
    assert len(inner.render(20)) == 2  # one border is enough
    assert not AppEditor(tui, THEME, Keybindings()).embed_working_status

    class Framed(AppEditor):
        embed_working_status = True

    assert len(Framed(tui, THEME, Keybindings()).render(20)) == 2


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({}, (10, 9, 60, 5)),
        ({"anchor": "top-left", "width": 20, "margin": 2}, (2, 2, 20, 5)),
        ({"anchor": "bottom-right", "width": "25%"}, (60, 19, 20, 5)),
        ({"anchor": "right-center", "width": 20, "height": "50%"}, (60, 6, 20, 12)),
        ({"row": 3, "col": "50%", "width": 40}, (20, 3, 40, 5)),
        ({"width": 500, "height": 500}, (0, 0, 80, 24)),
        ({"width": 10, "min_width": 30, "offset_x": 100, "offset_y": -100}, (50, 0, 30, 5)),
        ({"width": "100%", "max_width": 50, "max_height": 2, "margin": {"left": 4}}, (17, 11, 50, 2)),
    ],
)
def test_where_an_overlay_stands(options: dict[str, Any], where: tuple[int, int, int, int]) -> None:
    found = place(OverlayOptions.of(options), 80, 24, 5)
    assert (found.left, found.top, found.width, found.height) == where
    assert width_in(OverlayOptions.of(options), 80) == found.width


@pytest.mark.parametrize("options", [{"anchor": "middle"}, {"width": "wide"}, {"colour": "red"}])
def test_options_that_there_are_not(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        OverlayOptions.of(options)


@pytest.mark.parametrize(("key", "is_name"), [("enter", True), ("ctrl+x", True), ("f5", True), ("fx", False),
                                              ("a+b", False), ("+", False), ("hello", False)])  # fmt: skip
def test_names_of_keys(key: str, is_name: bool) -> None:
    assert is_key_name(key) is is_name
