"""What plugins draw in the transcript: messages, entries, tools' rows, Markdown. A broken renderer shows the plain form
and is named once."""

from __future__ import annotations

import textwrap
from typing import Any


def plugin(desk: Any, code: str, name: str = "painter") -> None:
    folder = desk.home / "plugins"
    folder.mkdir(exist_ok=True)
    head = "from zot_core import *\nfrom zot_core import CommandSpec, hookimpl, tool\n"
    (folder / f"{name}.py").write_text(head + textwrap.dedent(code), encoding="utf-8")


def run(zot: Any, command: str) -> None:
    zot.type(command)
    zot.press("enter")


CARDS = """
from zot_core import EntryRenderer, MessageRenderer
from zot_core.ui import Box, Text

def message(message, options, theme):
    if "broken" in message.details:
        raise RuntimeError("cannot draw this message")
    text = theme.fg("accent", f"<{message.custom_type}> ") + "drawn by hand"
    return Text(text + (" with everything" if options.expanded else ""))

def entry(entry, options, theme):
    return Box(1, 0, children=[Text(theme.bold(entry.data["title"]) + f": {entry.data['count']}")])

def replaces(old, new):
    return old.data["title"] == new.data["title"]

@hookimpl
def message_renderers():
    return MessageRenderer(custom_type="news", render=message)

@hookimpl
def entry_renderers():
    return EntryRenderer(custom_type="card", render=entry, replaces=replaces)

async def news(args, ctx):
    ctx.send_message(args or "news", "plain words", details={})

async def bad(args, ctx):
    ctx.send_message("news", "plain words", details={"broken": 1})

async def card(args, ctx):
    title, _, count = args.partition(" ")
    ctx.append_entry("card", {"title": title, "count": count})
    ctx.append_entry("unseen", {"title": "nobody draws this"})

@hookimpl
def commands():
    return [CommandSpec(name=n, handler=f) for n, f in (("news", news), ("bad", bad), ("card", card))]
"""


def test_messages_and_entries_are_drawn_by_their_plugin(desk: Any) -> None:
    plugin(desk, CARDS)
    desk.script(*[["Noted."]] * 9)
    zot = desk.zot(rows=50)
    run(zot, "/news")
    run(zot, "/news other")
    run(zot, "/bad")
    run(zot, "/bad")
    run(zot, "what is new?")  # what plugins say while nothing runs joins the next prompt
    zot.wait("Noted.")
    zot.wait(lambda screen: "cannot draw this message" in screen.text.replace("\n  ", " "))
    assert "<news> drawn by hand" in zot.text
    assert "[other] plain words" in zot.text
    assert zot.text.count("[news] plain words") == 2
    said = zot.everything.replace("\n  ", " ")
    assert said.count("cannot draw this message") == 1
    assert "[painter] failed in the renderer of news messages" in said
    run(zot, "/card Indexed 17")
    zot.wait(" Indexed: 17")
    assert "nobody draws this" not in zot.everything
    zot.press("ctrl+o")
    zot.wait("drawn by hand with everything")


def test_an_entry_takes_the_place_of_the_one_before_live_and_when_resumed(desk: Any) -> None:
    plugin(desk, CARDS)
    desk.script(["Noted."])
    zot = desk.zot()
    run(zot, "hello")
    zot.wait("Noted.")
    run(zot, "/card Indexed 1")
    zot.wait(" Indexed: 1")
    run(zot, "/card Indexed 2")
    zot.wait(lambda screen: " Indexed: 2" in screen.text and " Indexed: 1" not in screen.text)
    run(zot, "/card Other 3")
    zot.wait(" Other: 3")
    zot.press("ctrl+d")
    zot.wait_end()
    assert " Indexed: 1" not in zot.everything
    again = desk.zot("-c")
    again.wait(" Other: 3")
    shown = [line for line in again.scrollback if ": " in line and line.startswith(" ")]
    assert shown == [" Indexed: 2", " Other: 3"]


TOOLS = """
from zot_core import ToolResult
from zot_core.ui import Text

def call(args, theme, context):
    context.state["calls"] = context.state.get("calls", 0) + 1
    return theme.bold("LOOKING") + theme.fg("muted", f" for {args.get('what', '…')}")

def result(result, options, theme, context):
    if options.is_partial:
        return theme.fg("warning", "still looking")
    found = f"found {result.details['count']} of {context.args['what']}"
    return Text(found + ("\\nand all of it" if options.expanded else "") + (" failed" if context.is_error else ""))

def throws(*args):
    raise RuntimeError("no drawing today")

@tool(render_call=call, render_result=result)
async def look(what: str, ctx) -> ToolResult:
    '''Looks for something.'''
    import asyncio
    ctx.update("half way")
    while not (ctx.cwd / "go").exists():
        await asyncio.sleep(0.02)
    return ToolResult(content="raw text", details={"count": 3})

@tool(render_call=throws, render_result=throws)
async def plainly(what: str) -> str:
    '''Says something.'''
    return f"plain result of {what}"

@tool(render_call=lambda args, theme, context: "=== own shell ===", render_result=lambda *_: [], render_shell="self")
async def framed(what: str) -> str:
    '''Frames something.'''
    return "never seen"

@hookimpl
def tools():
    return [look, plainly, framed]
"""


def call(name: str) -> dict[str, Any]:
    return {"tool_call": {"name": name, "args": {"what": "socks"}}}


def test_a_tool_draws_its_row(desk: Any) -> None:
    plugin(desk, TOOLS)
    desk.script([call("look")], [call("plainly")], [call("plainly")], [call("framed")], ["All done."])
    zot = desk.zot()
    run(zot, "go")
    zot.wait("still looking")
    assert "● LOOKING for socks" in zot.lines
    (desk.project / "go").touch()
    zot.wait("All done.")
    said = zot.everything.replace("\n  ", " ")
    assert "● LOOKING for socks found 3 of socks" in said
    assert "raw text" not in said
    assert said.count("● plainly  what=socks plain result of socks") == 2
    assert said.count("[painter] failed in render_call of plainly: RuntimeError: no drawing today") == 1
    assert "=== own shell ===" in zot.lines
    assert "never seen" not in said
    zot.press("ctrl+o")
    zot.wait("and all of it")


MARKDOWN = """
from zot_core import MarkdownTransformer

def arrows(markdown, context):
    assert context.available_width > 20
    return markdown.replace("-->", "→") if context.message_type == "assistant" else markdown

def throws(markdown, context):
    raise RuntimeError("cannot change this")

def wrong(markdown, context):
    return None

def loud(markdown, context):
    return markdown.upper() if context.message_type == "user" else markdown + "!"

@hookimpl
def markdown_transformers():
    return [MarkdownTransformer(transform=one) for one in (arrows, throws, wrong, loud)]
"""


def test_markdown_goes_through_a_chain(desk: Any) -> None:
    plugin(desk, MARKDOWN)
    desk.script(["from **a** --> b\n\nand --> c"])
    zot = desk.zot()
    run(zot, "this --> that")
    zot.wait("and → c!")
    zot.wait(lambda screen: "NoneType, not text" in screen.text.replace("\n  ", " "))
    assert "from a → b!" in zot.lines
    assert "› THIS --> THAT" in zot.lines
    said = zot.everything.replace("\n  ", " ")
    assert said.count("cannot change this") == 1
    assert said.count("it answered NoneType, not text") == 1
    zot.press("ctrl+d")
    zot.wait_end()
    stored = next((desk.home / "sessions").rglob("*.jsonl")).read_text(encoding="utf-8")
    assert "and --> c" in stored and "this --> that" in stored


def test_renderers_may_come_in_a_session_and_go(desk: Any) -> None:
    plugin(
        desk,
        """
        off = []

        @hookimpl
        def session_start(event, ctx):
            off.append(ctx.ui.renderers.message("news", lambda message, options, theme: "drawn late"))

        async def news(args, ctx):
            if args:
                off.pop()()
            ctx.send_message("news", "plain words")

        @hookimpl
        def commands():
            return [CommandSpec(name="news", handler=news)]
        """,
    )
    desk.script(*[[f"Answer {number}."] for number in range(6)])
    zot = desk.zot()
    run(zot, "/news")
    run(zot, "one")
    zot.wait("drawn late")
    run(zot, "/news plain")
    run(zot, "two")
    zot.wait("[news] plain words")
    assert zot.everything.count("drawn late") == 1
