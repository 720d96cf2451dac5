"""Draws what it sends: `/tip` a message that the model reads with the next prompt, `/mark` an entry for people alone.

zot --plugin cards.py
"""

from zot_core import CommandSpec, EntryRenderer, MessageRenderer, hookimpl
from zot_core.types.content import text_of
from zot_core.ui import Box, Text


def draw_tip(message, options, theme):
    why = f"\n{message.details['why']}" if options.expanded else ""
    return Box(1, 0, children=[Text(theme.fg("accent", "tip ") + text_of(message.content) + theme.fg("dim", why))])


def draw_mark(entry, options, theme):
    return Text(theme.fg("warning", "◆ ") + theme.bold(entry.data["name"]))


async def tip(args, ctx):
    ctx.send_message("tip", args, details={"why": "sent by /tip"})


async def mark(args, ctx):
    ctx.append_entry("mark", {"name": args})


@hookimpl
def message_renderers():
    return MessageRenderer(custom_type="tip", render=draw_tip)


@hookimpl
def entry_renderers():
    return EntryRenderer(custom_type="mark", render=draw_mark)


@hookimpl
def commands():
    return [
        CommandSpec(name="tip", argument_hint="TEXT", requires_arguments=True, handler=tip),
        CommandSpec(name="mark", argument_hint="NAME", requires_arguments=True, handler=mark),
    ]
