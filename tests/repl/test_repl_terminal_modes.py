"""Whatever ends zot, and wherever it stood: the terminal's modes are what they were before it began."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.pty_screen import PtyScreen

SETS = re.compile(rb"\x1b\[\?([0-9;]+)([hl])")
USUAL = {25: True, 7: True}
"""Modes that a terminal has on; all others it has off."""
WORKS = [{"text": ["Half an answer "]}, {"tool_call": {"name": "bash", "args": {"command": "echo began; cat gate"}}}]
BREAKS = """
import asyncio
from zot_core import CommandSpec, hookimpl
from zot_core.ui import Text

class Broken(Text):
    def render(self, width):
        raise RuntimeError("boom in a component")

@hookimpl
def commands():
    async def component(args, ctx):
        await ctx.ui.custom(lambda tui, theme, keys, done: Broken("x"))
    async def loop(args, ctx):
        def boom():
            raise RuntimeError("boom in the loop")
        asyncio.get_running_loop().call_soon(boom)
    async def dialog(args, ctx):
        await ctx.ui.select("Pick one", ["a", "b"])
    async def overlay(args, ctx):
        await ctx.ui.custom(lambda tui, theme, keys, done: Text("floating"), overlay=True)
    spec = lambda name, handler: CommandSpec(name=name, description=name, handler=handler, modes=("repl",))
    return [spec("component", component), spec("loop", loop), spec("dialog", dialog), spec("overlay", overlay)]
"""


class Shell:
    """A shell in a terminal that runs zot, and keeps what `stty` says before and after."""

    def __init__(self, desk: Any, times: int = 1) -> None:
        self._project = desk.project
        os.mkfifo(desk.project / "gate")
        (desk.project / "breaks.py").write_text(BREAKS, encoding="utf-8")
        desk.script(WORKS, ["Done."])
        zot = f"exec {shlex.quote(sys.executable)} -m zot_cli --provider scripted --plugin breaks.py"
        run = f"sh -c {shlex.quote(f'echo $$ > pid; {zot}')}; echo ended $?"
        line = f"stty -g > before; {'; '.join([run] * times)}; stty -g > after; echo over"
        self.screen = PtyScreen(["sh", "-c", line], cwd=desk.project, env=desk.env)

    def opened(self) -> PtyScreen:
        """The screen, once zot's footer is there."""
        return self.screen.wait("scripted/scripted")

    def kill(self, name: str) -> None:
        """Sends zot a signal."""
        os.kill(int((self._project / "pid").read_text()), getattr(signal, name))

    def over(self, *, line_modes: bool = True) -> None:
        """Waits for the end; fails unless all modes are as they were, with or without those of the line (stty)."""
        self.screen.wait("over")
        assert self.screen.wait_end() == 0
        if line_modes:
            assert (self._project / "after").read_text() == (self._project / "before").read_text()
        modes: dict[int, bool] = {}
        for numbers, end in SETS.findall(self.screen.raw):
            modes.update({int(number): end == b"h" for number in numbers.split(b";")})
        assert {mode for mode, on in modes.items() if on != USUAL.get(mode, False)} == set()
        pushed, popped = (len(re.findall(rb"\x1b\[%s[0-9;]*u" % sign, self.screen.raw)) for sign in (rb">", rb"<"))
        assert pushed == popped, "a keyboard protocol is still on"


@pytest.fixture
def shell(desk: Any) -> Iterator[Callable[..., Shell]]:
    """Starts the shell; it is ended with the test."""
    begun: list[Shell] = []

    def start(times: int = 1) -> Shell:
        begun.append(Shell(desk, times))
        return begun[-1]

    yield start
    for one in begun:
        one.screen.__exit__()


def idle(screen: PtyScreen) -> None:
    pass


def working(screen: PtyScreen) -> None:
    screen.type("go")
    screen.press("enter")
    screen.wait("began")


def command(name: str, sign: str) -> Callable[[PtyScreen], None]:
    def place(screen: PtyScreen) -> None:
        screen.type(name)
        screen.press("enter")
        screen.wait(sign)

    place.__name__ = name.strip("/")
    return place


def transcript(screen: PtyScreen) -> None:
    command("/help", "lists the keys.")(screen)
    screen.press("ctrl+o")
    screen.wait("q close")


PLACES = [
    idle,
    working,
    transcript,
    command("/dialog", "Pick one"),
    command("/overlay", "floating"),
    command("/component", "boom in a component"),
    command("/loop", "boom in the loop"),
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_wherever_it_comes(shell: Any, place: Callable[[PtyScreen], None], name: str) -> None:
    one = shell()
    place(one.opened())
    one.kill(name)
    one.screen.wait(f"ended {128 + getattr(signal, name)}")
    one.over()


@pytest.mark.parametrize(
    "keys", [("/exit", "enter"), ("", "ctrl+d"), ("", "ctrl+c", "ctrl+c")], ids=["exit", "ctrl-d", "ctrl-c twice"]
)
@pytest.mark.parametrize("place", [idle, working, *PLACES[-2:]], ids=lambda place: place.__name__)
def test_the_persons_own_end(shell: Any, place: Callable[[PtyScreen], None], keys: tuple[str, ...]) -> None:
    one = shell()
    place(one.opened())
    one.screen.type(keys[0])
    one.screen.press(*keys[1:])
    one.screen.wait("ended 0")
    one.over()


def test_after_kill_9_the_next_zot_works_and_ends_well(shell: Any) -> None:
    one = shell(2)
    working(one.opened())
    one.kill("SIGKILL")
    one.screen.wait(lambda screen: "scripted/scripted" in screen.text.rpartition("ended 137")[2])
    command("hello again", "Half an answer")(one.screen)
    one.screen.wait("began")
    one.screen.press("ctrl+c")
    one.screen.wait("Ctrl-C again leaves")
    one.screen.press("ctrl+c")
    one.screen.wait("ended 0")
    one.over(line_modes=False)  # interactive shells mend those themselves, when a program was killed
