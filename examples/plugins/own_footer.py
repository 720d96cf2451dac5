"""A footer of one's own, a header, and a status line that counts tool calls; `/footer` brings zot's footer back.

zot --plugin own_footer.py
"""

from zot_core import CommandSpec, hookimpl
from zot_core.ui import Component, Text

CALLS = {}


class Footer(Component):
    def __init__(self, tui, theme):
        self.tui, self.theme = tui, theme

    def render(self, width):
        said = self.tui.footer  # what zot's own footer would tell
        parts = [said.model or "no model", said.branch and f"on {said.branch}", *said.statuses.values()]
        return [self.theme.fg("accent", "▌ ") + " | ".join(filter(None, parts))]


@hookimpl
def session_start(event, ctx):
    CALLS.clear()
    ctx.ui.set_header(lambda tui, theme: Text(theme.bold("Good to see you.")))
    ctx.ui.set_footer(Footer)


@hookimpl
def tool_execution_start(event, ctx):
    CALLS[event.tool_name] = CALLS.get(event.tool_name, 0) + 1
    ctx.ui.set_status("calls", ", ".join(f"{name} ×{count}" for name, count in CALLS.items()))


@hookimpl
def commands():
    async def footer(args, ctx):
        ctx.ui.set_footer(None if args.strip() == "off" else Footer)

    return CommandSpec(name="footer", argument_hint="[off]", handler=footer, modes=("repl",))
