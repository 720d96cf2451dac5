"""Plugins' components in the editor's place, around it and in the footer; a broken one is closed and named."""

from __future__ import annotations

import os
import signal
import textwrap
from typing import Any

HEAD = """
from zot_core import CommandSpec, hookimpl

def command(name, handler):
    return CommandSpec(name=name, handler=handler)
"""


def plugin(desk: Any, code: str, name: str = "drawer") -> None:
    folder = desk.home / "plugins"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(HEAD + textwrap.dedent(code), encoding="utf-8")


def run(zot: Any, command: str) -> None:
    zot.type(command)
    zot.press("enter")


CHOOSER = """
from zot_core.ui import Border, Box, Container, Markdown, SelectItem, SelectList, Text

def factory(tui, theme, keybindings, done):
    items = [SelectItem(value=1, label="first"), SelectItem(value=2, label="second", description="the better one")]
    take, leave = (lambda item: done(item.value)), (lambda: done("nothing"))
    chooser = SelectList(items, take, leave, theme=theme, keybindings=keybindings)
    page = Container([Border(), Text(theme.bold("Which one?")), Markdown("some *words*"), chooser])
    page.focused = chooser
    return page

async def choose(args, ctx):
    return f"chosen: {await ctx.ui.custom(factory)}"

@hookimpl
def commands():
    return [command("choose", choose)]
"""


def test_a_component_takes_the_editors_place_until_it_is_done(desk: Any) -> None:
    plugin(desk, CHOOSER)
    zot = desk.zot()
    run(zot, "/choose")
    zot.wait("Which one?")
    place = zot.lines.index("Which one?")
    assert zot.lines[place - 1] == "─" * 79
    assert zot.lines[place + 1 : place + 4] == ["some words", "› first", "  second  the better one"]
    assert not any(line.startswith("› /") for line in zot.lines)
    zot.press("down")
    zot.wait("› second")
    zot.press("enter")
    zot.wait("chosen: 2")
    zot.type("typing goes on")
    zot.wait("› typing goes on")


def test_esc_is_the_components(desk: Any) -> None:
    plugin(desk, CHOOSER)
    zot = desk.zot()
    run(zot, "/choose")
    zot.wait("Which one?")
    zot.press("esc")
    zot.wait("chosen: nothing")


BROKEN = """
class Bad:
    def __init__(self, how):
        self.how = how
        self.keys = 0

    def render(self, width):
        if self.how == "raises":
            raise RuntimeError("cannot draw")
        if self.how == "garbage":
            return 17
        if self.how == "numbers":
            return [1, 2]
        if self.how == "wide":
            return ["wide " * 100, "\\x1b[2J\\x1b[Hcleared \\x1b]0;title\\x07\\x1b[1mbold\\x1b[0m", "日本語" * 60]
        return [f"waits {self.keys}"] * (200 if self.how == "long" else 1)

    def handle_key(self, key):
        self.keys += 1
        if self.how == "keys":
            raise ValueError(f"no key {key}")

async def bad(args, ctx):
    return f"it answered {await ctx.ui.custom(lambda tui, theme, keybindings, done: Bad(args))}"

async def worse(args, ctx):
    def factory(tui, theme, keybindings, done):
        raise LookupError("no component today")
    return f"it answered {await ctx.ui.custom(factory)}"

@hookimpl
def commands():
    return [command("bad", bad), command("worse", worse)]
"""


def test_a_component_that_breaks_is_closed_and_named_and_work_goes_on(desk: Any) -> None:
    plugin(desk, BROKEN)
    desk.script(["Still here."])
    zot = desk.zot()
    for how, said in (
        ("raises", "cannot draw"),
        ("garbage", "TypeError: its render(width) answered int, not a list of lines"),
        ("numbers", "a line is int, not text"),
    ):
        run(zot, f"/bad {how}")
        zot.wait(lambda screen, said=said: said in screen.text.replace("\n  ", " "))
        assert "[drawer] failed in its component" in zot.everything
    run(zot, "/worse")
    zot.wait("no component today")
    run(zot, "/bad keys")
    zot.wait("waits 0")
    zot.type("x")
    zot.wait("no key x")
    zot.type("hello")
    zot.press("enter")
    zot.wait("Still here.")


def test_wide_lines_are_cut_and_control_sequences_are_gone(desk: Any) -> None:
    plugin(desk, BROKEN)
    zot = desk.zot()
    run(zot, "/bad wide")
    zot.wait("wide wide")
    assert any(line.startswith("wide wide") and line.endswith("…") and len(line) == 79 for line in zot.lines)
    assert "cleared bold" in zot.lines
    assert b"\x1b]0;title" not in zot.raw
    assert "zot" in zot.lines[0]


def test_a_component_that_is_too_high_is_cut(desk: Any) -> None:
    plugin(desk, BROKEN)
    zot = desk.zot()
    run(zot, "/bad long")
    zot.wait("more lines")
    assert 10 < sum(line == "waits 0" for line in zot.lines) < 24
    assert "scripted/scripted" in zot.text


def test_ctrl_c_twice_closes_what_does_not_close_itself(desk: Any) -> None:
    plugin(desk, BROKEN)
    zot = desk.zot()
    run(zot, "/bad patient")
    zot.wait("waits 0")
    zot.press("ctrl+c")
    zot.wait("waits 1")
    zot.press("ctrl+c")
    zot.wait("it answered None")


AROUND = """
import asyncio
from zot_core.ui import Text

@hookimpl
def session_start(event, ctx):
    ctx.ui.set_header(lambda tui, theme: Text(theme.fg("accent", "Welcome to the header")))
    ctx.ui.set_widget("plain", ["a plain widget", "of two lines"])
    ctx.ui.set_widget("made", lambda tui, theme: Text("a made widget"), placement="below_editor")
    ctx.ui.set_widget("offer", ["It is late."], actions=[{"label": "Go home", "command": "/home now"}])
    ctx.ui.set_widget("bad", lambda tui, theme: 1 / 0)
    ctx.ui.set_subagent_cost(1.27)

class Footer:
    def __init__(self, tui):
        self.tui = tui

    def render(self, width):
        return [f"MY FOOTER {self.tui.footer.model} {self.tui.columns}x{self.tui.rows}"]

async def footer(args, ctx):
    ctx.ui.set_footer((lambda tui, theme: Footer(tui)) if args == "on" else None)

async def home(args, ctx):
    ctx.ui.set_widget("offer", None)
    return f"went home {args}"

@hookimpl
def commands():
    return [command("footer", footer), command("home", home)]
"""


def test_widgets_header_and_footer(desk: Any) -> None:
    plugin(desk, AROUND)
    desk.script(["An answer."])
    zot = desk.zot()
    zot.wait("a made widget")
    zot.wait("division by zero")
    around = ["It is late.", "Go home: /home now  alt+w", "a plain widget", "of two lines", "›", "a made widget"]
    zot.wait(lambda screen: "\n".join(around) in screen.text)
    assert "Welcome to the header" in zot.text
    assert zot.text.rstrip().split("\n")[-1] == "$0 (+1.27)"
    assert "[drawer] failed in widget bad" in zot.everything
    zot.type("\x1bw")
    zot.wait(lambda screen: "went home now" in screen.text and "It is late." not in screen.text)
    run(zot, "/footer on")
    zot.wait("MY FOOTER scripted/scripted 80x24")
    assert "$0 (+1.27)" not in zot.text
    run(zot, "/footer off")
    zot.wait("$0 (+1.27)")
    run(zot, "hi")
    zot.wait("An answer.")
    assert zot.everything.count("Welcome to the header") == 1


def test_what_a_session_has_put_there_goes_with_it(desk: Any) -> None:
    plugin(
        desk,
        """
        async def put(args, ctx):
            ctx.ui.set_widget("mine", ["until the end"])

        async def renew(args, ctx):
            await ctx.new_session()

        @hookimpl
        def commands():
            return [command("put", put), command("renew", renew)]
        """,
    )
    zot = desk.zot()
    run(zot, "/put")
    zot.wait("until the end")
    run(zot, "/renew")
    zot.wait(lambda screen: "until the end" not in screen.text)


def test_a_loader_can_be_called_off_and_the_asker_can_dismiss(desk: Any) -> None:
    plugin(
        desk,
        """
        import asyncio
        from zot_core.agent.cancel import Signal
        from zot_core.ui import BorderedLoader

        async def load(args, ctx):
            def factory(tui, theme, keybindings, done):
                loader = BorderedLoader(tui, theme, "Loading slowly", keybindings=keybindings)
                loader.signal.on_abort(lambda: done("called off"))
                return loader
            return f"loading was {await ctx.ui.custom(factory)}"

        async def ask(args, ctx):
            signal = Signal()
            asyncio.get_running_loop().call_later(0.1, signal.abort)
            return f"confirmed: {await ctx.ui.confirm('Really?', signal=signal)} {signal.aborted}"

        @hookimpl
        def commands():
            return [command("load", load), command("ask", ask)]
        """,
    )
    zot = desk.zot()
    run(zot, "/load")
    zot.wait("Loading slowly")
    assert "esc to cancel" in zot.text
    zot.press("esc")
    zot.wait("loading was called off")
    run(zot, "/ask")
    zot.wait("confirmed: False True")
    assert "Really?" not in zot.text


def test_spans_are_told_and_an_ephemeral_dialog_is_not(desk: Any) -> None:
    plugin(
        desk,
        """
        told = []

        @hookimpl
        def ui_prompt_start(event):
            told.append(f"{event.kind}:{event.title}")

        @hookimpl
        def ui_prompt_end(event):
            told.append("end")

        async def ask(args, ctx):
            await ctx.ui.input("A secret", ephemeral=True)
            await ctx.ui.input("A name")
            await ctx.ui.custom(lambda tui, theme, keybindings, done: done(1))

        async def tell(args, ctx):
            return "told: " + " ".join(told)

        @hookimpl
        def commands():
            return [command("ask", ask), command("tell", tell)]
        """,
    )
    zot = desk.zot()
    run(zot, "/ask")
    zot.wait("A secret")
    zot.press("enter")
    zot.wait("A name")
    zot.press("enter")
    zot.wait(lambda screen: "A name" not in screen.text)
    run(zot, "/tell")
    zot.wait("told: input:A name end custom: end")


def test_several_questions(desk: Any) -> None:
    plugin(
        desk,
        """
        QUESTIONS = [
            {"id": "db", "header": "Database", "question": "Which DB?",
             "options": [{"label": "Postgres"}, {"label": "SQLite", "description": "one file"}]},
            {"id": "parts", "question": "Which parts?", "options": ["api", "web", "docs"], "multi_select": True},
            {"id": "name", "question": "What is it called?"},
        ]

        async def ask(args, ctx):
            found = await ctx.ui.question(QUESTIONS, timeout=0.2 if args == "late" else None)
            return f"{found['outcome']} {dict(found['answers'])} {found.get('comment')}"

        @hookimpl
        def commands():
            return [command("ask", ask)]
        """,
    )
    zot = desk.zot()
    run(zot, "/ask")
    zot.wait("Which DB?")
    place = zot.lines.index("Which DB?")
    assert zot.lines[place - 1 : place + 3] == ["Database · 1 of 3", "Which DB?", "› Postgres", "  SQLite  one file"]
    zot.press("down", "enter")
    zot.wait("Which parts?")
    zot.type(" ")
    zot.press("down", "down")
    zot.type(" ")
    zot.wait("› ☑ docs")
    zot.press("enter")
    zot.wait("What is it called?")
    zot.type("Zettel")
    zot.press("enter")
    zot.wait("answered {'db': 'SQLite', 'parts': ['api', 'docs'], 'name': 'Zettel'} None")
    run(zot, "/ask")
    zot.wait("Which DB?")
    zot.press("up", "enter")
    zot.type("wrong question")
    zot.press("enter")
    zot.wait("comment-submitted {} wrong question")
    run(zot, "/ask")
    zot.wait("Which DB?")
    zot.press("esc")
    zot.wait("cancelled {} None")
    run(zot, "/ask late")
    zot.wait("timed_out {} None")


def test_the_working_row_is_the_plugins(desk: Any) -> None:
    plugin(
        desk,
        """
        @hookimpl
        def agent_start(event, ctx):
            ctx.ui.set_working_message("Thinking deeply")
            ctx.ui.set_working_indicator([ctx.ui.theme.fg("accent", "@")], 0.05)

        async def hide(args, ctx):
            ctx.ui.set_working_visible(False)

        @hookimpl
        def commands():
            return [command("hide", hide)]
        """,
    )
    waits = {"name": "bash", "args": {"command": "while [ ! -e go ]; do sleep 0.02; done"}}
    desk.script([{"tool_call": waits}], ["End."])
    zot = desk.zot()
    run(zot, "go")
    zot.wait("@ Thinking deeply")
    run(zot, "/hide")
    zot.wait(lambda screen: "Thinking deeply" not in screen.text)
    (desk.project / "go").touch()
    zot.wait("End.")


def test_themes_are_listed_and_switched(desk: Any) -> None:
    plugin(
        desk,
        """
        async def themes(args, ctx):
            if args:
                return f"{ctx.ui.set_theme(args)} {ctx.ui.theme.name}"
            return ", ".join(one["name"] for one in ctx.ui.all_themes()) + f"; now {ctx.ui.theme.name}"

        @hookimpl
        def commands():
            return [command("looks", themes)]
        """,
    )
    zot = desk.zot()
    run(zot, "/looks")
    zot.wait("; now ")
    names = next(line for line in zot.lines if "; now " in line)
    assert "dark" in names and "light" in names and names.endswith("now dark")
    run(zot, "/looks light")
    zot.wait("(True, '') light")
    run(zot, "/looks nowhere")
    zot.wait("there is no theme nowhere")


def test_sigterm_while_a_dialog_or_a_component_waits(desk: Any) -> None:
    plugin(desk, CHOOSER)
    for command, said in (("/choose", "Which one?"), ("/theme", "Which theme?")):
        zot = desk.zot()
        run(zot, command)
        zot.wait(said)
        os.kill(zot.pid, signal.SIGTERM)
        assert zot.wait_end() == 143
        assert "Traceback" not in zot.everything
