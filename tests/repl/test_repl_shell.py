"""`!command` runs and the model reads it; `!!command` runs and it does not. Plugins may take them over."""

from __future__ import annotations

from typing import Any

TAKES_OVER = """
from zot_core import Block, hookimpl
from zot_core.events.input import BashResult

@hookimpl
def user_bash(event):
    if "forbidden" in event.command:
        return Block("not here")
    if "elsewhere" in event.command:
        return BashResult(output="ran on the moon")
"""


def stored(desk: Any) -> str:
    return next((desk.home / "sessions").rglob("*.jsonl")).read_text(encoding="utf-8")


def test_a_command_runs_and_joins_the_conversation(desk: Any) -> None:
    desk.script(["Seen."])
    zot = desk.zot()
    zot.type("!echo over here; exit 3")
    zot.press("enter")
    zot.wait("Exit code 3")
    assert "● you  echo over here; exit 3" in zot.text
    zot.type("what was that?")
    zot.press("enter")
    zot.wait("Seen.")
    zot.press("ctrl+d")
    zot.wait_end()
    assert "The user ran a command.\\n$ echo over here; exit 3\\nover here" in stored(desk)


def test_two_marks_keep_it_out(desk: Any) -> None:
    desk.script(["Nothing."])
    zot = desk.zot()
    zot.type("!!echo private words")
    zot.press("enter")
    zot.wait(lambda screen: screen.text.count("private words") == 2)
    zot.type("hi")
    zot.press("enter")
    zot.wait("Nothing.")
    zot.press("ctrl+d")
    zot.wait_end()
    assert "private words" not in stored(desk)


def test_esc_ends_a_command(desk: Any) -> None:
    zot = desk.zot()
    zot.type("!echo begun; sleep 1000")
    zot.press("enter")
    zot.wait("  begun")
    zot.press("esc")
    zot.wait("Aborted")


def test_a_plugin_may_run_it_or_refuse_it(desk: Any) -> None:
    folder = desk.home / "plugins"
    folder.mkdir()
    (folder / "takes.py").write_text(TAKES_OVER)
    zot = desk.zot()
    zot.type("!echo elsewhere")
    zot.press("enter")
    zot.wait("ran on the moon")
    zot.type("!echo forbidden")
    zot.press("enter")
    zot.wait("not run: not here")
