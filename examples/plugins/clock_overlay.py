"""A window over the conversation: `/stopwatch` runs in the corner until a key stops it, and the work goes on behind.

zot --plugin clock_overlay.py
"""

import asyncio
import time

from zot_core import CommandSpec, hookimpl
from zot_core.ui import Component


class Stopwatch(Component):
    def __init__(self, tui, theme, done):
        self.tui, self.theme, self.done = tui, theme, done
        self.began = time.monotonic()

    def render(self, width):
        line = f"{time.monotonic() - self.began:.0f} s, enter stops".ljust(width - 4)
        return ["┌" + "─" * (width - 2) + "┐", f"│ {self.theme.bold(line)} │", "└" + "─" * (width - 2) + "┘"]

    def handle_key(self, key):
        if key in ("enter", "esc"):
            self.done(time.monotonic() - self.began)

    async def run(self):
        while True:
            await asyncio.sleep(1)
            self.tui.request_render()


async def stopwatch(args, ctx):
    made = []

    def component(tui, theme, keybindings, done):
        made.append(Stopwatch(tui, theme, done))
        return made[0]

    def opened(handle):
        made.append(asyncio.ensure_future(made[0].run()))

    try:
        took = await ctx.ui.custom(
            component,
            overlay=True,
            overlay_options={"anchor": "top-right", "width": 24},
            on_handle=opened,
        )
    finally:
        for task in made[1:]:
            task.cancel()
    return None if took is None else f"stopped after {took:.0f} s"


@hookimpl
def commands():
    return CommandSpec(name="stopwatch", description="a clock in the corner", handler=stopwatch, modes=("repl",))
