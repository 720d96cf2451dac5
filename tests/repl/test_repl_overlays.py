"""Overlays float over the conversation, hand keys around, and leave everything as it was."""

from __future__ import annotations

import os
import signal
import textwrap
from typing import Any

import pytest

CODE = """
import asyncio
from zot_core import CommandSpec, hookimpl
from zot_core.ui import Component, Text

class Window(Component):
    def __init__(self, theme, name, done, handles):
        self.theme, self.name, self.done, self.handles = theme, name, done, handles
        self.typed = ""

    def render(self, width):
        return [self.theme.bg("selectedBg", f"[{self.name} {self.typed}".ljust(width - 1) + "]")] * 3

    def handle_key(self, key):
        if key == "enter":
            self.done(f"{self.name} {self.typed}")
        elif key == "tab":
            self.handles[0].unfocus()
        elif key == "f2":
            raise RuntimeError("broken window")
        else:
            self.typed += key

async def window(args, ctx):
    handles = []
    width, _, anchor = args.partition(" ")
    options = {"anchor": anchor or "top-right", "width": width or "50%", "margin": 1}
    def factory(tui, theme, keybindings, done):
        return Window(theme, "box", done, handles)
    said = await ctx.ui.custom(factory, overlay=True, overlay_options=options, on_handle=handles.append)
    return f"the window said {said}"

async def two(args, ctx):
    first, second = [], []
    def make(name, handles):
        return lambda tui, theme, keybindings, done: Window(theme, name, done, handles)
    left = {"anchor": "top-left", "width": 20}
    right = {"anchor": "bottom-right", "width": 20, "offset_y": -4}
    async with asyncio.TaskGroup() as group:
        one = group.create_task(ctx.ui.custom(
            make("one", first), overlay=True, on_handle=first.append, overlay_options=left))
        await asyncio.sleep(0)
        other = group.create_task(ctx.ui.custom(
            make("two", second), overlay=True, on_handle=second.append, overlay_options=right))
    return f"{one.result()} and {other.result()}"

async def hide(args, ctx):
    handles, tasks = [], []
    async def later():
        handles[0].set_hidden(True)
        yes = await ctx.ui.confirm("Show it again?")
        handles[0].set_hidden(not yes)
        if not yes:
            handles[0].hide()
    def start(handle):
        handles.append(handle)
        tasks.append(asyncio.get_running_loop().create_task(later()))
    said = await ctx.ui.custom(lambda tui, theme, keybindings, done: Window(theme, "shy", done, handles),
                               overlay=True, on_handle=start)
    return f"the shy one said {said}"

async def brief(args, ctx):
    factory = lambda tui, theme, keybindings, done: Window(theme, "brief", done, [])
    return f"brief: {await ctx.ui.custom(factory, overlay=True, on_handle=lambda handle: handle.hide())}"

@hookimpl
def commands():
    both = (("window", window), ("two", two), ("hide", hide), ("brief", brief))
    return [CommandSpec(name=n, handler=f) for n, f in both]
"""


def start(desk: Any, *argv: str, **size: int) -> Any:
    folder = desk.home / "plugins"
    folder.mkdir(exist_ok=True)
    (folder / "windows.py").write_text(textwrap.dedent(CODE), encoding="utf-8")
    return desk.zot(*argv, **size)


def run(zot: Any, command: str) -> None:
    zot.type(command)
    zot.press("enter")


def test_an_overlay_floats_over_the_conversation_and_takes_the_keys(desk: Any) -> None:
    desk.script(["The **first** answer."])
    zot = start(desk)
    run(zot, "say something")
    zot.wait("The first answer.")
    run(zot, "/window")
    zot.wait("[box")
    rows = [n for n, line in enumerate(zot.lines) if "[box" in line]
    assert rows == [1, 2, 3]
    assert zot.lines[1].index("[box") == 39
    assert len(zot.lines[1]) == 79
    assert "The first answer." in zot.text
    assert zot.lines[-1].endswith("scripted/scripted · 0% of 1M")
    zot.type("abc")
    zot.wait("[box abc")
    zot.press("enter")
    zot.wait(lambda screen: "the window said box abc" in screen.text and "[box" not in screen.text)
    assert zot.everything.count("The first answer.") == 1
    assert zot.raw.count(b"\x1b[?1049h") == zot.raw.count(b"\x1b[?1049l") == 1


def test_an_unfocused_overlay_leaves_the_keys_to_the_editor_and_work_goes_on_behind(desk: Any) -> None:
    desk.script(["Said behind the window."])
    zot = start(desk)
    run(zot, "/window 30 top-center")
    zot.wait("[box")
    zot.press("tab")
    run(zot, "talk to me")
    zot.wait("Said behind the window.")
    assert "[box" in zot.text
    zot.press("ctrl+d")
    assert zot.wait_end() == 0
    assert "Said behind the window." in zot.everything
    assert zot.raw.rfind(b"\x1b[?1049l") > zot.raw.rfind(b"\x1b[?1049h")


def test_a_broken_overlay_is_closed_and_named(desk: Any) -> None:
    zot = start(desk)
    run(zot, "/window")
    zot.wait("[box")
    zot.type("\x1bOQ")
    zot.wait("the window said None")
    assert "[windows] failed in its component: RuntimeError: broken window" in zot.text


def test_two_overlays_and_the_one_behind_gets_the_keys_back(desk: Any) -> None:
    zot = start(desk)
    run(zot, "/two")
    zot.wait(lambda screen: "[one" in screen.text and "[two" in screen.text)
    zot.type("b")
    zot.press("enter")
    zot.wait(lambda screen: "[two" not in screen.text)
    zot.type("a")
    zot.wait("[one a")
    zot.press("enter")
    zot.wait("one a and two b")


def test_hidden_it_leaves_the_screen_and_a_dialog_goes_before_it(desk: Any) -> None:
    zot = start(desk)
    run(zot, "/hide")
    zot.wait(lambda screen: "Show it again?" in screen.text and "[shy" not in screen.text)
    zot.press("enter")
    zot.wait("[shy")
    zot.type("x")
    zot.press("enter")
    zot.wait("the shy one said shy x")
    run(zot, "/hide")
    zot.wait("Show it again?")
    zot.press("down", "enter")
    zot.wait("the shy one said None")


def test_a_terminal_that_changes_its_size_meanwhile(desk: Any) -> None:
    desk.script(["The answer that stays."])
    zot = start(desk)
    run(zot, "hi")
    zot.wait("The answer that stays.")
    run(zot, "/window 20 bottom-right")
    zot.wait("[box")
    zot.resize(60, 20)
    zot.wait(lambda screen: any(line.find("[box") == 39 for line in screen.lines))
    zot.press("enter")
    zot.wait(lambda screen: "the window said box" in screen.text and "[box" not in screen.text)
    assert zot.text.count("The answer that stays.") == 1


@pytest.mark.parametrize("how", ["an overlay", "the transcript"])
def test_sigterm_gives_the_terminal_back_from_the_alternate_screen(desk: Any, how: str) -> None:
    zot = start(desk)
    if how == "an overlay":
        run(zot, "/window")
        zot.wait("[box")
    else:
        zot.press("ctrl+o")
        zot.wait("q close")
    os.kill(zot.pid, signal.SIGTERM)
    assert zot.wait_end() == 143
    assert zot.raw.rfind(b"\x1b[?1049l") > zot.raw.rfind(b"\x1b[?1049h")
    assert zot.raw.rfind(b"\x1b[?2004l") > zot.raw.rfind(b"\x1b[?2004h")


def test_a_new_session_closes_what_waits(desk: Any) -> None:
    zot = start(desk)
    run(zot, "/window 30 top-center")
    zot.wait("[box")
    zot.press("tab")
    run(zot, "/new")
    zot.wait(lambda screen: "[box" not in screen.text)
    zot.type("typing goes on")
    zot.wait("› typing goes on")


def test_one_that_is_gone_before_it_was_drawn_leaves_nothing_behind(desk: Any) -> None:
    zot = start(desk)
    for _ in range(3):
        run(zot, "/brief")
        zot.wait("brief: None")
        run(zot, "/clear")
        zot.wait(lambda screen: "brief: None" not in screen.text)
    zot.type("typing goes on")
    zot.wait("› typing goes on")
