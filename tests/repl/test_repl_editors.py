"""Custom editors extend zot's own and the application's keys go on working; completions stack; shortcuts are keys."""

from __future__ import annotations

import textwrap
from typing import Any


def plugin(desk: Any, code: str, name: str = "typist") -> None:
    folder = desk.home / "plugins"
    folder.mkdir(exist_ok=True)
    head = "from zot_core import CommandSpec, ShortcutSpec, hookimpl\n"
    (folder / f"{name}.py").write_text(head + textwrap.dedent(code), encoding="utf-8")


VIM = """
from zot_core.ui import AppEditor

class Vim(AppEditor):
    mode = "insert"

    def handle_key(self, key):
        if self.mode == "insert":
            if key == "esc" and self.text:
                self.mode = "normal"
            else:
                super().handle_key(key)
        elif key == "i":
            self.mode = "insert"
        elif key in ("h", "l", "x", "0", "D"):
            for one in {"h": ["left"], "l": ["right"], "x": ["delete"], "0": ["home"], "D": ["home", "ctrl+k"]}[key]:
                super().handle_key(one)
        elif key == "!":
            raise RuntimeError("no such mode")
        elif len(key) > 1:
            super().handle_key(key)

    def render(self, width):
        return [*super().render(width), self.theme.fg("dim", f"-- {self.mode} --")]

@hookimpl
def session_start(event, ctx):
    ctx.ui.set_editor_component(lambda tui, theme, keybindings: Vim(tui, theme, keybindings))

async def plain(args, ctx):
    ctx.ui.set_editor_component(None)

@hookimpl
def commands():
    return [CommandSpec(name="plain", handler=plain)]
"""


EMBEDS = """
from zot_core.ui import AppEditor

@hookimpl
def session_start(event, ctx):
    ctx.ui.set_editor_component(
        lambda tui, theme, keybindings: AppEditor(tui, theme, keybindings, embed_working_status=True)
    )
"""


def test_an_editor_may_have_the_working_status_in_its_border(desk: Any) -> None:
    plugin(desk, EMBEDS)
    desk.script([{"text": "Thinking"}, {"hang": True}], [{"tool_call": {"name": "bash", "args": {"command": "true"}}}])
    zot = desk.zot("--no-yolo")
    rule = zot.wait(lambda screen: any(set(line) == {"─"} for line in screen.lines)).screen.columns - 1
    zot.type("go")
    zot.press("enter")
    zot.wait("Thinking").wait("Working")
    (border,) = [line for line in zot.lines if "Working" in line]
    assert border.startswith("── ") and border.endswith("─") and "esc to end" in border
    assert len(border) == rule
    assert zot.lines[zot.lines.index(border) + 1].startswith("›")
    zot.press("esc")
    zot.wait("the run was aborted").wait(lambda screen: any(set(line) == {"─"} for line in screen.lines))
    zot.type("again")
    zot.press("enter")
    zot.wait("Run bash?").wait("Waiting for your answer")  # the editor is away: zot's own row is there
    assert not any(line.startswith("──") for line in zot.lines)


def test_an_editor_takes_its_keys_and_passes_on_the_others(desk: Any) -> None:
    plugin(desk, VIM)
    desk.script(["Understood."])
    zot = desk.zot()
    zot.wait("-- insert --")
    zot.type("helpo")
    zot.wait("› helpo")
    zot.press("esc")
    zot.wait("-- normal --")
    zot.type("hhx")
    zot.wait("› helo")
    zot.type("i")
    zot.wait("-- insert --")
    zot.type("l")
    zot.wait("› hello")
    assert (zot.screen.cursor.x, zot.lines[zot.screen.cursor.y]) == (6, "› hello")
    zot.press("ctrl+j")
    zot.paste("two\nthree")
    zot.wait("  threeo")
    zot.press("enter")
    zot.wait(lambda screen: "Understood." in screen.text and screen.lines.count("›") == 1)
    assert zot.everything.count("› hell\n  two\n  threeo") == 1
    assert zot.everything.count("hell") == 1
    zot.type("all gone")
    zot.wait("› all gone")
    zot.press("esc")
    zot.wait("-- normal --")
    zot.type("D")
    zot.wait(lambda screen: "all gone" not in screen.text)
    zot.press("ctrl+d")
    assert zot.wait_end() == 0


def test_a_broken_editor_is_taken_away_with_its_text_kept(desk: Any) -> None:
    plugin(desk, VIM)
    zot = desk.zot()
    zot.type("keep me")
    zot.wait("› keep me")
    zot.press("esc")
    zot.wait("-- normal --")
    zot.type("!")
    zot.wait("no such mode")
    zot.wait(lambda screen: "› keep me" in screen.text and "-- normal --" not in screen.text)
    assert "[typist] failed in its editor" in zot.text
    zot.type(" please")
    zot.wait("› keep me please")


def test_zots_own_editor_comes_back_and_the_menu_works_with_both(desk: Any) -> None:
    plugin(desk, VIM)
    zot = desk.zot()
    zot.type("/plai")
    zot.wait("› /plain")
    zot.press("enter")
    zot.wait(lambda screen: "-- insert --" not in screen.text)
    zot.type("plain text")
    zot.wait("› plain text")


def test_an_editor_wraps_another(desk: Any) -> None:
    plugin(desk, VIM, "avim")
    plugin(
        desk,
        """
        from zot_core.ui import AppEditor

        class Framed(AppEditor):
            def render(self, width):
                return ["<<<", *super().render(width), ">>>"]

        @hookimpl(trylast=True)
        def session_start(event, ctx):
            before = ctx.ui.get_editor_component()
            ctx.ui.set_editor_component(
                lambda tui, theme, keys: Framed(tui, theme, keys, base=before and before(tui, theme, keys)))
        """,
        "bframe",
    )
    zot = desk.zot()
    zot.wait("-- insert --")
    zot.type("inside")
    zot.wait("› inside")
    place = zot.lines.index("› inside")
    assert zot.lines[place - 1 : place + 3] == ["<<<", "› inside", "-- insert --", ">>>"]


COMPLETES = """
from zot_core.ui import Found, Suggestion
import re

class Issues:
    trigger_characters = ["#"]

    def __init__(self, below):
        self.below = below

    async def get_suggestions(self, lines, line, column, *, forced):
        match = re.search(r"(?:^|\\s)#(\\w*)$", lines[line][:column])
        if match is None:
            return await self.below.get_suggestions(lines, line, column, forced=forced)
        if match[1] == "boom":
            raise RuntimeError("no issues today")
        items = [Suggestion(value="#17 ", label="#17", description="it is broken"), Suggestion(value="#23 ")]
        return Found(prefix="#" + match[1], items=tuple(one for one in items if one.value.startswith("#" + match[1])))

class Shouts:
    def __init__(self, below):
        self.below = below
    def get_suggestions(self, lines, line, column, *, forced):
        if lines[line][:column].endswith("$"):
            return {"prefix": "$", "items": [{"value": "$HOME", "description": "where you live"}]}
        return self.below.get_suggestions(lines, line, column, forced=forced)
    def apply_completion(self, lines, line, column, item, prefix):
        found, row, at = self.below.apply_completion(lines, line, column, item, prefix)
        return [one.upper() for one in found], row, at

@hookimpl
def session_start(event, ctx):
    ctx.ui.add_autocomplete_provider(Issues)
    ctx.ui.add_autocomplete_provider(Shouts)
"""


def test_completions_stack_and_hand_on(desk: Any) -> None:
    plugin(desk, COMPLETES)
    zot = desk.zot()
    zot.type("see #")
    zot.wait("it is broken")
    zot.press("down", "enter")
    zot.wait("› SEE #23")
    zot.type("in $")
    zot.wait("where you live")
    zot.press("enter")
    zot.wait("› SEE #23 IN $HOME")
    zot.press("ctrl+c")
    zot.type("/hotke")
    zot.wait("what the keys do")
    zot.press("ctrl+c")
    zot.wait(lambda screen: "/hotke" not in screen.text)


def test_a_broken_provider_is_named_and_passed_over(desk: Any) -> None:
    plugin(desk, COMPLETES)
    zot = desk.zot()
    zot.type("#boom")
    zot.wait("no issues today")
    assert "[typist] failed in its completions" in zot.text
    assert zot.text.count("no issues today") == 1
    zot.wait("› #boom")


SHORTCUTS = """
def say(text):
    async def handler(ctx):
        ctx.ui.notify(f"{text} in {ctx.plugin}")
    return handler

def broken(ctx):
    raise RuntimeError("shortcut to nowhere")

@hookimpl
def shortcuts():
    return [
        ShortcutSpec(key="ctrl+x", description="says hello", handler=say("hello")),
        ShortcutSpec(key="alt+q", description="says more", handler=say("more")),
        ShortcutSpec(key="ctrl+d", description="never", handler=say("never")),
        ShortcutSpec(key="x", description="never", handler=say("never")),
        ShortcutSpec(key="f5", description="breaks", handler=broken),
    ]
"""


def test_shortcuts_are_keys_and_conflicts_are_said(desk: Any) -> None:
    plugin(desk, SHORTCUTS, "first")
    plugin(desk, SHORTCUTS.replace('"hello"', '"other"'), "second")
    zot = desk.zot()
    zot.wait(lambda screen: "the key of a shortcut of first" in screen.text.replace("\n  ", " "))
    said = zot.everything.replace("\n  ", " ")
    assert "[first] the shortcut ctrl+d is not bound: it is the key of app.exit" in said
    assert "[first] 'x' is no key of a shortcut" in said
    assert "[second] the shortcut ctrl+x is not bound: it is the key of a shortcut of first" in said
    zot.press("ctrl+x")
    zot.wait("[first] hello in first")
    zot.type("\x1bq")
    zot.wait("[first] more in first")
    zot.type("\x1b[15~")
    zot.wait("[first] failed in the shortcut f5: RuntimeError: shortcut to nowhere")
    zot.type("/hotkeys")
    zot.press("enter")
    zot.wait("says hello")
