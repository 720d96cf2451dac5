"""What only a terminal that wraps anew and knows whole graphemes can show: the interactive mode in tmux."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


class Tmux:
    """A tmux server of its own with one window; it runs bash, which runs zot."""

    def __init__(self, desk: Any, root: Path) -> None:
        self._desk, self._socket = desk, str(root / "tmux")

    def __call__(self, *argv: str) -> str:
        line = ["tmux", "-S", self._socket, "-f", os.devnull, *argv]
        done = subprocess.run(line, env=self._desk.env, capture_output=True, text=True, check=True, timeout=20)
        return done.stdout

    def start(self, columns: int = 80, rows: int = 24, *argv: str) -> Tmux:
        """bash in a window of this size, and zot in it."""
        self("new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", str(self._desk.project), "bash --norc")
        self("set-option", "-g", "history-limit", "50000")
        self.keys("PS1='shell> '; clear", "Enter")
        self.wait(lambda: self.screen.startswith("shell>"))
        self.keys(f"{sys.executable} -m zot_cli --provider scripted {' '.join(argv)}", "Enter")
        return self.wait("scripted/scripted")

    def keys(self, *keys: str) -> None:
        """Types texts, presses keys by tmux's names."""
        self("send-keys", *keys)

    def resize(self, columns: int, rows: int) -> None:
        """Another size of the window."""
        self("resize-window", "-x", str(columns), "-y", str(rows))

    @property
    def screen(self) -> str:
        """What is on the screen."""
        return self("capture-pane", "-p").rstrip("\n")

    @property
    def everything(self) -> str:
        """Scrollback and screen, wrapped lines joined."""
        return self("capture-pane", "-p", "-J", "-S", "-").rstrip("\n")

    def wait(self, condition: Callable[[], bool] | str, timeout: float = 15.0) -> Tmux:
        """Looks until the condition holds, or the text is on the screen."""
        holds = condition if callable(condition) else lambda: condition in self.screen
        end = time.monotonic() + timeout
        while not holds():
            assert time.monotonic() < end, f"waited for {condition!r}; the screen says:\n{self.screen}"
            time.sleep(0.03)
        return self


@pytest.fixture
def tmux(desk: Any, tmp_path: Path) -> Iterator[Tmux]:
    """tmux, ended with the test."""
    window = Tmux(desk, tmp_path)
    try:
        yield window
    finally:
        subprocess.run(["tmux", "-S", str(tmp_path / "tmux"), "kill-server"], capture_output=True, check=False)


def tagged(count: int, *, pause: float = 0.0) -> list[Any]:
    """Steps of an answer whose words carry numbers, so that what is lost or doubled shows."""
    steps: list[Any] = []
    for number in range(count):
        text = f"Tag{number:04d} has some words after it, and they are enough for more than one line of a window.\n\n"
        steps.append({"text": [text[:17], text[17:]]})
        if pause:
            steps.append({"delay": pause})
    return steps


def at_rest(tmux: Tmux) -> bool:
    """Whether the last screenful is drawn for its width: the answer's end, one footer, no words of it twice."""
    screen = tmux.screen
    shown = tags(screen)
    whole = "The end." in screen and "Working" not in screen and screen.count("scripted/scripted") == 1
    return whole and shown == sorted(set(shown))


def tags(text: str) -> list[int]:
    return [int(found) for found in re.findall(r"Tag(\d{4})", text)]


@pytest.mark.parametrize("sizes", [[(60, 24), (45, 24), (30, 24)], [(100, 24), (140, 24)], [(80, 40), (80, 12)]])
def test_a_resize_in_mid_stream_loses_nothing(desk: Any, tmux: Tmux, sizes: list[tuple[int, int]]) -> None:
    desk.script([*tagged(120, pause=0.01), "The end."])
    tmux.start()
    tmux.keys("go", "Enter")
    for place, size in enumerate(sizes):
        tmux.wait(lambda place=place: max(tags(tmux.screen), default=0) > 15 + 25 * place)
        tmux.resize(*size)
    tmux.wait(lambda: at_rest(tmux))
    shown = tags(tmux.everything)
    assert sorted(set(shown)) == list(range(120)), "each is there"
    if all(columns == 80 for columns, _ in sizes):
        assert shown == list(range(120)), f"another height prints nothing anew:\n{tmux.everything}"


@pytest.mark.parametrize("below", [False, True], ids=["at the top", "at the bottom"])
def test_a_lower_screen_with_the_menu_open_prints_nothing_twice(desk: Any, tmux: Tmux, below: bool) -> None:
    desk.script([*tagged(60, pause=0.02), "The end."])
    if below:
        tmux("new-session", "-d", "-x", "80", "-y", "24", "-c", str(desk.project), "bash --norc")
        tmux.keys("PS1='shell> '; clear; seq 40", "Enter")
        tmux.wait(lambda: tmux.screen.endswith("40\nshell>"))
        tmux.keys(f"{sys.executable} -m zot_cli --provider scripted", "Enter")
        tmux.wait("scripted/scripted")
    else:
        tmux.start()
    tmux.keys("go", "Enter")
    for place, rows in enumerate((11, 40, 9, 24)):
        tmux.wait(lambda place=place: max(tags(tmux.screen), default=0) > 8 + 12 * place)
        if place % 2 == 0:
            tmux.keys("/")
            tmux.wait("› /")
        tmux.resize(80, rows)
        if place % 2:
            tmux.keys("BSpace")
    tmux.wait(lambda: "The end." in tmux.screen and "Working" not in tmux.screen)
    assert tags(tmux.everything) == list(range(60)), tmux.everything


def test_another_width_keeps_what_the_shell_printed(desk: Any, tmux: Tmux) -> None:
    desk.script(["Word " * 30])
    tmux("new-session", "-d", "-x", "80", "-y", "24", "-c", str(desk.project), "bash --norc")
    tmux.keys("PS1='shell> '; clear; seq -f before%g 5", "Enter")
    tmux.wait("before5")
    tmux.keys(f"{sys.executable} -m zot_cli --provider scripted go", "Enter")
    tmux.wait(lambda: "Word" in tmux.screen and "Working" not in tmux.screen)
    for columns in (50, 30, 100):
        tmux.resize(columns, 24)
        room = columns - 1
        tmux.wait(
            lambda room=room: (
                sum(line.count("Word") for line in tmux.screen.split("\n")) == 30
                and max(len(line) for line in tmux.screen.split("\n") if "Word" in line) > room - 5
            )
        )
        found = tmux.everything
        assert re.findall(r"^before(\d)$", found, re.M) == list("12345"), found
        assert re.findall(r"^zot \d", found, re.M) == ["zot 0"] and found.count("› go") == 1, found


def test_the_whole_conversation_is_wrapped_anew_where_that_is_set(desk: Any, tmux: Tmux) -> None:
    (desk.home / "settings.json").write_text('{"rewrap_scrollback": true}')
    desk.script([*tagged(60), "The end."])
    tmux.start(80, 24, "go")
    tmux.wait(lambda: at_rest(tmux))
    tmux.resize(40, 24)
    tmux.wait(lambda: "one line\nof a window." in tmux.screen and at_rest(tmux))
    found = tmux.everything
    assert tags(found) == list(range(60)) and found.startswith("zot "), found
    assert max(len(line) for line in found.split("\n") if "Tag" in line) < 40


@pytest.mark.parametrize("size", [(1, 5), (2, 10), (5, 3), (19, 2)])
def test_a_very_narrow_screen_and_back(desk: Any, tmux: Tmux, size: tuple[int, int]) -> None:
    text = "# Title\n\nSome **bold** words, " + "漢字" * 20 + " and x" + "y" * 50 + ".\n\n- a list\n\n"
    text += "| a | wide table |\n|---|---|\n| one | two words |\n\n```python\ncode = 1\n```\n\nThe end."
    desk.script([text], ["Again."])
    tmux.start(80, 40, "go")
    tmux.wait(lambda: "The end." in tmux.screen and "Working" not in tmux.screen)
    tmux.resize(*size)
    tmux.wait(lambda: "Title" not in tmux.screen)
    tmux.keys("typed 漢字")
    tmux.resize(80, 40)
    tmux.wait(lambda: all(words in tmux.screen for words in ("Title", "The end.", "› typed 漢字")))
    screen = tmux.screen
    assert screen.count("漢") == 21 and screen.count("y" * 50) == 1 and "code = 1" in screen, screen
    tmux.keys("Enter")
    tmux.wait("Again.")


def test_nothing_in_the_scrollback_ends_in_blanks_or_is_filled_to_the_edge(desk: Any, tmux: Tmux) -> None:
    table = "| a | b |\n|---|---|\n| one | two |\n\n"
    desk.script(["# Title \n\nwords  \nmore\n\n" + table + "```\nx = 1   \n\n\ny\n```\n\n> quote\n\nThe end."])
    tmux.start(80, 40, "go")
    tmux.wait(lambda: "The end." in tmux.screen and "Working" not in tmux.screen)
    lines = tmux("capture-pane", "-p", "-J", "-S", "-").split("\n")
    start = next(place for place, line in enumerate(lines) if line.startswith("zot "))
    end = next(place for place, line in enumerate(lines) if "The end." in line)
    assert [line for line in lines[start:end] if line.endswith(" ")] == []


def test_thirty_resizes_in_three_seconds(desk: Any, tmux: Tmux) -> None:
    desk.script([*tagged(150, pause=0.015), "The end."])
    tmux.start()
    tmux.keys("go", "Enter")
    for number in range(30):
        tmux.wait(lambda number=number: max(tags(tmux.screen), default=0) > 3 * number)
        tmux.resize((80, 50, 110, 64)[number % 4], (24, 30, 18)[number % 3])
    tmux.wait(lambda: at_rest(tmux))
    assert set(tags(tmux.everything)) == set(range(150))


def test_what_was_in_the_scrollback_before_stays(desk: Any, tmux: Tmux) -> None:
    desk.script([*tagged(40), "The end."])
    tmux("new-session", "-d", "-x", "80", "-y", "24", "-c", str(desk.project), "bash --norc")
    tmux.keys("PS1='shell> '; clear; seq -f before%g 100", "Enter")
    tmux.wait("before100")
    tmux.keys(f"{sys.executable} -m zot_cli --provider scripted go", "Enter")
    tmux.wait("The end.")
    tmux.resize(50, 24)
    tmux.wait(lambda: "The end." in tmux.screen)
    tmux.resize(100, 24)
    tmux.wait(lambda: "The end." in tmux.screen)
    tmux.keys("C-d")
    tmux.wait("zot --resume")
    assert re.findall(r"before(\d+)$", tmux.everything, re.M)[:100] == [str(number) for number in range(1, 101)]


def test_graphemes_stand_in_their_columns(desk: Any, tmux: Tmux) -> None:
    desk.script(
        [f"| who | n |\n|---|---|\n| {FAMILY} | A |\n| 漢字 | B |\n| e\u0301 | C |\n\n{FAMILY * 60}\n\n" + "漢" * 100]
    )
    tmux.start()
    tmux.keys("go", "Enter")
    tmux.wait(lambda: tmux.screen.count("漢") == 101)
    assert tmux.everything.count(FAMILY) == 61
    assert all(len(line) <= 40 for line in tmux.screen.split("\n") if "漢漢" in line)
    tmux.keys("漢字x", "Left", "BSpace", "y")
    tmux.wait("› 漢yx")


def test_it_is_suspended_and_comes_back(desk: Any, tmux: Tmux) -> None:
    desk.script(["Once."], ["Twice."])
    tmux.start()
    tmux.keys("one", "Enter")
    tmux.wait("Once.")
    tmux.keys("a draft")
    tmux.wait("› a draft")
    tmux.keys("C-z")
    tmux.wait("Stopped")
    tmux.keys("stty -a | tr ' ' '\\n' | grep -c -x -e echo -e icanon", "Enter")
    tmux.wait(lambda: re.search(r"^2$", tmux.screen, re.M) is not None)
    tmux.keys("fg", "Enter")
    tmux.wait(lambda: "› a draft" in tmux.screen.split("fg")[-1])
    tmux.keys(" goes on", "Enter")
    tmux.wait("Twice.")
    assert tmux.everything.count("Once.") == 1
    assert "› a draft goes on" in tmux.everything


@pytest.mark.parametrize("key", ["C-d", "TERM", "HUP"])
def test_the_shell_has_its_terminal_again(desk: Any, tmux: Tmux, key: str) -> None:
    tmux.start()
    tmux.keys("stty -a >/dev/null" if key != "C-d" else "")
    if key == "C-d":
        tmux.keys("C-d")
    else:
        pane = tmux("display-message", "-p", "#{pane_pid}").strip()
        child = subprocess.run(["pgrep", "-P", pane], capture_output=True, text=True, check=True).stdout.split()[0]
        subprocess.run(["kill", f"-{key}", child], check=True)
    tmux.wait(lambda: tmux.screen.split("\n")[-1].startswith("shell>") and tmux.screen.count("shell>") == 2)
    tmux.keys("stty -a | tr ' ' '\\n' | grep -c -x -e echo -e icanon -e isig", "Enter")
    tmux.wait(lambda: re.search(r"^3$", tmux.screen, re.M) is not None)
    assert tmux("display-message", "-p", "#{cursor_flag} #{alternate_on} #{mouse_any_flag}").split() == ["1", "0", "0"]


@pytest.mark.parametrize("term", ["xterm", "screen-256color", "linux", "vt100"])
def test_terminals_of_all_kinds(desk: Any, tmux: Tmux, term: str) -> None:
    desk.script(["# Title\n\n- **bold** words\n\n```python\nx = 1\n```"])
    tmux("new-session", "-d", "-x", "80", "-y", "24", "-c", str(desk.project), f"TERM={term} bash --norc")
    tmux.keys(f"clear; {sys.executable} -m zot_cli --provider scripted go", "Enter")
    tmux.wait(lambda: "x = 1" in tmux.screen and "Working" not in tmux.screen)
    assert "Title" in tmux.screen
    assert not re.search(r"\[\?|\[[0-9;]*m|2026", tmux.screen), "no sequence is shown as letters"


def test_the_cursor_stands_where_the_typing_is(desk: Any, tmux: Tmux) -> None:
    tmux.start()
    tmux.keys("ab", FAMILY, "cd")
    tmux.wait(f"› ab{FAMILY}cd")
    assert tmux("display-message", "-p", "#{cursor_x}").strip() == str(2 + 2 + 2 + 2)
    tmux.keys("Left", "Left", "Left")
    tmux.wait(lambda: tmux("display-message", "-p", "#{cursor_x}").strip() == "4")
    tmux.keys("x", "Right", "BSpace", "e\u0301", "y")
    tmux.wait("› abxe\u0301ycd")
    assert tmux("display-message", "-p", "#{cursor_x}").strip() == "7"
