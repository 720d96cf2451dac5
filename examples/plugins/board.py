"""A board of things to do: a widget above the editor, `/board` to tick them off, a tool that draws its own row.

zot --plugin board.py
"""

from zot_core import CommandSpec, ShortcutSpec, hookimpl, tool
from zot_core.ui import Border, Container, SelectItem, SelectList, Text

TODO = {}


def show(ctx):
    left = [name for name, done in TODO.items() if not done]
    ctx.ui.set_widget("board", [f"to do: {', '.join(left)}"] if left else None)


def row(args, theme, context):
    return theme.bold("noted ") + theme.fg("muted", args.get("what", ""))


@tool(render_call=row, render_result=lambda result, options, theme, context: [])
async def note(what: str, ctx) -> str:
    """Puts something on the person's board."""
    TODO[what] = False
    show(ctx)
    return f"{len(TODO)} things are on the board"


async def board(args, ctx):
    def component(tui, theme, keybindings, done):
        items = [SelectItem(value=name, label=("✓ " if ticked else "  ") + name) for name, ticked in TODO.items()]
        chooser = SelectList(
            items,
            lambda item: done(item.value),
            lambda: done(None),
            theme=theme,
            keybindings=keybindings,
        )
        page = Container([Border(), Text(theme.bold("What is done?")), chooser])
        page.focused = chooser
        return page

    while (name := await ctx.ui.custom(component)) is not None:
        TODO[name] = not TODO[name]
        show(ctx)


async def clear(ctx):
    TODO.clear()
    show(ctx)


@hookimpl
def tools():
    return note


@hookimpl
def commands():
    return CommandSpec(name="board", description="tick off what is done", handler=board, modes=("repl",))


@hookimpl
def shortcuts():
    return ShortcutSpec(key="alt+b", description="clear the board", handler=clear)
