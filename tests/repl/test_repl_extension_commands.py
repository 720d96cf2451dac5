"""A command of a program beside zot and one of a Python plugin that do the same look the same."""

from __future__ import annotations

from typing import Any

import pytest

PROGRAM = r"""#!/usr/bin/env python3
import json, sys

SAID = "# Head\n- one **two**\n- \x1b[31mthree"
ANSWERS = {
    "prompt": {"action": "prompt", "prompt": "what is *that*?"},
    "insert": {"action": "insert", "insert": "inserted text"},
    "display": {"action": "display", "display": SAID},
    "panel": {
        "action": "open_panel",
        "open_panel": {"id": "p", "title": "A panel", "lines": ["one", "two"], "footer": "end"},
    },
    "noop": {"action": "noop"},
    "note": {"action": "noop"},
}


def emit(**frame):
    print(json.dumps(frame), flush=True)


emit(type="hello", name="twin", version="1", capabilities=["commands", "panels"])
for line in sys.stdin:
    frame = json.loads(line)
    if frame["type"] == "hello_ack":
        for name in ANSWERS:
            emit(type="register_command", name=name, description="does it")
        emit(type="ready")
    elif frame["type"] == "command_invoked":
        if frame["name"] == "note":
            emit(type="notify", level="warn", message="a warning")
        emit(type="command_response", id=frame["id"], **ANSWERS[frame["name"]])
    elif frame["type"] == "shutdown":
        emit(type="shutdown_ack")
        break
"""
PLUGIN = r"""
from zot_core import CommandSpec, hookimpl
from zot_core.types.panels import Panel

SAID = "# Head\n- one **two**\n- \x1b[31mthree"


async def prompt(args, ctx):
    ctx.send_user_message("what is *that*?", deliver_as="follow_up")


async def insert(args, ctx):
    ctx.ui.paste_to_editor("inserted text")


async def display(args, ctx):
    ctx.ui.display(SAID)


async def panel(args, ctx):
    ctx.ui.open_panel(
        Panel(id="p", title="A panel", lines=("one", "two"), footer="end"), lambda key, text: None, lambda: None
    )


async def noop(args, ctx):
    return None


async def note(args, ctx):
    ctx.ui.notify("a warning", "warning")


@hookimpl
def commands():
    return [
        CommandSpec(name=one.__name__, description="does it", handler=one)
        for one in (prompt, insert, display, panel, noop, note)
    ]
"""
SHOWN = {"note": "a warning", "display": "three", "prompt": "Hello.", "insert": "› inserted text", "panel": "two"}
"""What is on the screen once the command has done its work; the panel comes last, because it stays."""


def screens(desk: Any, name: str) -> dict[str, list[str]]:
    """What each command leaves on the screen, below what was there, the owner's name taken out."""
    desk.script(["Hello."])
    zot = desk.zot(rows=30)
    seen = {}
    for command, shown in SHOWN.items():
        zot.type(f"/{command}")
        zot.wait(f"› /{command}")
        zot.press("esc", "enter")
        zot.wait(lambda screen, shown=shown: shown in screen.text and "does it" not in screen.text)
        zot.wait(lambda screen: "Working" not in screen.text)
        seen[command] = [line.replace(f"[{name}]", "[owner]") for line in zot.lines]
        if command == "insert":
            zot.press("ctrl+c")
            zot.wait(lambda screen: "inserted text" not in screen.text)
    return seen


@pytest.mark.time_limit(60)
def test_the_same_words_look_the_same_whoever_says_them(desk: Any) -> None:
    folder = desk.home / "extensions" / "twin"
    folder.mkdir(parents=True)
    (folder / "extension.json").write_text('{"name": "twin", "exec": "./twin.py"}')
    (folder / "twin.py").write_text(PROGRAM)
    (folder / "twin.py").chmod(0o755)
    of_program = screens(desk, "twin")
    (folder / "extension.json").unlink()
    (desk.home / "plugins").mkdir()
    (desk.home / "plugins" / "brother.py").write_text(PLUGIN)
    of_plugin = screens(desk, "brother")
    assert of_program == of_plugin
    assert any("[owner] a warning" in line for line in of_program["note"])
