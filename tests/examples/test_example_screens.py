"""Each example that draws, in a real terminal: what its docstring says is on the screen."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from support.pty_screen import PtyScreen

PLUGINS = Path(__file__).parents[2] / "examples" / "plugins"
Start = Callable[..., PtyScreen]


@pytest.fixture
def zot(isolated: Path) -> Iterator[Start]:
    """`zot(example, *replies)`: a terminal of 80 x 24 with the example in it."""
    with ExitStack() as stack:

        def zot(name: str, *replies: Any) -> PtyScreen:
            script = isolated / "script.json"
            script.write_text(json.dumps(replies or [["Understood."]]))
            line = ["--provider", "scripted", "--script", str(script), "--plugin", str(PLUGINS / name)]
            env = {**os.environ, "TERM": "xterm-256color", "COLORFGBG": "15;0", "LANG": "C.UTF-8"}
            screen = PtyScreen([sys.executable, "-m", "zot_cli", *line], cwd=isolated / "project", env=env)
            return stack.enter_context(screen).wait("scripted/scripted")

        yield zot


def test_the_modal_editor_moves_in_one_mode_and_types_in_the_other(zot: Start) -> None:
    screen = zot("vim_editor.py")
    screen.wait("-- insert --")
    screen.type("one twwo")
    screen.wait("› one twwo")
    screen.press("esc")
    screen.wait("-- normal --")
    screen.type("bl")
    screen.type("x0A")
    screen.wait("› one two").wait("-- insert --")
    screen.type(" three")
    screen.wait("› one two three")
    screen.press("enter")
    screen.wait("Understood.")


def test_the_footer_tells_what_it_counts_and_goes(zot: Start) -> None:
    screen = zot("own_footer.py", [{"tool_call": {"name": "bash", "args": {"command": "true"}}}], ["Done."])
    screen.wait("Good to see you.").wait("▌ scripted/scripted")
    screen.type("go")
    screen.press("enter")
    screen.wait("Done.").wait("| bash ×1")
    screen.type("/footer off")
    screen.press("enter")
    screen.wait(lambda now: "▌" not in now.text and "bash ×1" in now.text)


def test_the_stopwatch_floats_and_stops(zot: Start) -> None:
    screen = zot("clock_overlay.py")
    screen.type("/stopwatch")
    screen.press("enter")
    screen.wait("0 s, enter stops")
    screen.wait("1 s, enter stops")
    screen.press("enter")
    screen.wait("stopped after")
    assert "enter stops" not in screen.text


def test_issues_are_completed(zot: Start, isolated: Path) -> None:
    (isolated / "project" / "ISSUES.txt").write_text("7 Write the manual\n12 The lexer drops a token\n")
    screen = zot("issues.py")
    screen.type("fix #lex")
    screen.wait("The lexer drops a token")
    assert "Write the manual" not in screen.text
    screen.press("enter")
    screen.wait("› fix #12 (The lexer drops a token)")
    screen.press("enter")
    screen.wait("Understood.")


def test_the_model_asks_and_is_answered(zot: Start) -> None:
    call = {"name": "ask_person", "args": {"question": "Tabs or blanks?", "options": ["tabs", "blanks"]}}
    screen = zot("ask_person.py", [{"tool_call": call}], ["I see."])
    screen.type("format it")
    screen.press("enter")
    screen.wait("Tabs or blanks?")
    screen.press("down", "enter")
    screen.wait("The person answers: blanks").wait("I see.")


def test_messages_and_entries_are_drawn(zot: Start) -> None:
    screen = zot("cards.py")
    screen.type("/tip drink water")
    screen.press("enter")
    screen.type("/mark the middle")
    screen.press("enter")
    screen.wait("◆ the middle")
    screen.type("go on")
    screen.press("enter")
    screen.wait("tip drink water").wait("Understood.")
