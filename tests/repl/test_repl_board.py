"""The example of docs/how-to/screen.md does what the page says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

BOARD = Path(__file__).parents[2] / "examples/plugins/board.py"


def test_the_board(desk: Any) -> None:
    calls = [{"tool_call": {"name": "note", "args": {"what": what}}} for what in ("buy milk", "write home")]
    desk.script(calls, ["It is on your board."])
    zot = desk.zot("--plugin", str(BOARD))
    zot.type("remember the milk and my letter")
    zot.press("enter")
    zot.wait("It is on your board.")
    zot.wait("to do: buy milk, write home")
    assert "● noted buy milk" in zot.lines
    zot.type("/board")
    zot.press("enter")
    zot.wait("What is done?")
    zot.press("enter")
    zot.wait(lambda screen: "✓ buy milk" in screen.text and "to do: write home" in screen.text)
    zot.press("esc")
    zot.wait(lambda screen: "What is done?" not in screen.text)
    zot.type("\x1bb")
    zot.wait(lambda screen: "to do:" not in screen.text)
