"""The whole transcript in the alternate screen, results whole, to scroll and search; the live area waits meanwhile.

Knows lines and keys, not where the lines come from.
"""

from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit.application import Application
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.styles import Style

from zot_cli.repl.look import Look
from zot_cli.repl.screen import Screen, fragments
from zot_cli.repl.spans import Line, plain


class Pager:
    """Shows `lines(width)`, from the end on or from the beginning."""

    def __init__(self, lines: Callable[[int], list[Line]], look: Look, *, at_end: bool = True) -> None:
        self._make = lines
        self._at_end = at_end
        self._look = look
        self._lines: list[Line] = []
        self._width = 0
        self._top = 0
        self._rows = 1
        self._wanted = ""
        self._typing = False

    async def run(self, screen: Screen) -> None:
        """Returns when the person closes it."""
        app: Application[None] = Application(
            layout=Layout(
                HSplit([Window(FormattedTextControl(self._page), wrap_lines=False), Window(self._bar(), height=1)])
            ),
            key_bindings=self._keys(),
            style=Style([]),
            input=screen.app.input,
            output=screen.output,
            color_depth=screen.app.color_depth,
            full_screen=True,
            mouse_support=False,
            before_render=lambda _: self._measure(screen),
        )
        app.ttimeoutlen = 0.05
        self._top = 1 << 30 if self._at_end else 0
        await screen.lend(app)

    def _measure(self, screen: Screen) -> None:
        size = screen.size
        if size.columns != self._width:
            self._width = size.columns
            self._lines = self._make(max(size.columns - 1, 1))
        self._rows = max(size.rows - 1, 1)
        self._top = max(0, min(self._top, len(self._lines) - self._rows))

    def _page(self) -> StyleAndTextTuples:
        return fragments(self._lines[self._top : self._top + self._rows])

    def _bar(self) -> FormattedTextControl:
        def text() -> StyleAndTextTuples:
            if self._typing:
                return [(self._look.style("accent"), f"/{self._wanted}")]
            end = min(self._top + self._rows, len(self._lines))
            place = f"lines {self._top + 1} to {end} of {len(self._lines)}"
            return [(self._look.style("dim"), f"{place} · ↑↓ pageup pagedown · / search · n next · q close")]

        return FormattedTextControl(text)

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        named = ("up", "down", "pageup", "pagedown", "home", "end", "backspace", "enter", "c-c", "c-o", "c-d", "c-u")
        for key in (*named, "<any>", "escape"):

            @keys.add(key, eager=key == "escape")
            def pressed(event: KeyPressEvent, key: str = key) -> None:
                name = event.data if key == "<any>" else key
                if self._typing:
                    self._type(name)
                elif name in ("q", "escape", "c-c", "c-o"):
                    event.app.exit()
                else:
                    self._move(name)

        return keys

    def _type(self, key: str) -> None:
        """A key while the search's word is typed."""
        if key == "enter":
            self._typing = False
            self._find()
        elif key in ("escape", "c-c"):
            self._typing = False
        elif key == "backspace":
            self._wanted = self._wanted[:-1]
        elif len(key) == 1 and key.isprintable():
            self._wanted += key

    def _move(self, key: str) -> None:
        page = max(self._rows - 1, 1)
        steps = {
            **dict.fromkeys(("up", "k"), -1),
            **dict.fromkeys(("down", "j", "enter"), 1),
            **dict.fromkeys(("pageup", "b", "c-u"), -page),
            **dict.fromkeys(("pagedown", " ", "c-d"), page),
            **dict.fromkeys(("home", "g"), -(1 << 30)),
            **dict.fromkeys(("end", "G"), 1 << 30),
        }
        if key == "/":
            self._typing, self._wanted = True, ""
        elif key == "n":
            self._find()
        else:
            self._top = max(0, self._top + steps.get(key, 0))

    def _find(self) -> None:
        """Goes to the next line below the first one shown that has the wanted text in it, from the top again at the
        end."""
        wanted = self._wanted.casefold()
        if not wanted:
            return
        order = [*range(self._top + 1, len(self._lines)), *range(self._top + 1)]
        place = next((number for number in order if wanted in plain(self._lines[number]).casefold()), None)
        if place is not None:
            self._top = place
