"""Colours and keys are the person's: themes are tried on, kept and read again; keys come from keybindings.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def theme(desk: Any, name: str, accent: str) -> Path:
    folder = desk.home / "themes"
    folder.mkdir(exist_ok=True)
    path: Path = folder / f"{name}.json"
    path.write_text(json.dumps({"name": name, "appearance": "dark", "colors": {"accent": accent}}))
    return path


def test_a_theme_is_tried_on_taken_and_kept(desk: Any) -> None:
    theme(desk, "poppy", "#ff0102")
    zot = desk.zot(COLORTERM="truecolor")
    zot.type("/theme")
    zot.press("enter")
    zot.wait("Which theme?")
    zot.type("pop")
    zot.wait("poppy")
    zot.press("enter")
    zot.wait("Theme: poppy")
    assert b"38;2;255;1;2" in zot.raw
    assert json.loads((desk.home / "settings.json").read_text())["theme"] == "poppy"
    again = desk.zot(COLORTERM="truecolor")
    again.wait(lambda screen: b"38;2;255;1;2" in screen.raw)


def test_a_theme_that_is_edited_is_read_again(desk: Any) -> None:
    path = theme(desk, "poppy", "#ff0102")
    (desk.home / "settings.json").write_text('{"theme": "poppy"}')
    zot = desk.zot(COLORTERM="truecolor")
    zot.wait(lambda screen: b"38;2;255;1;2" in screen.raw)
    path.write_text(path.read_text().replace("#ff0102", "#01ff02"))
    zot.wait("theme poppy was read again")
    assert b"38;2;1;255;2" in zot.raw
    path.write_text("{")
    zot.wait("theme poppy is broken now")


def test_a_theme_that_is_gone_is_said(desk: Any) -> None:
    (desk.home / "settings.json").write_text('{"theme": "vanished"}')
    zot = desk.zot()
    zot.wait("there is no theme 'vanished'")


def test_no_color_is_obeyed(desk: Any) -> None:
    desk.script(["# Title\n\n`code`"])
    zot = desk.zot(NO_COLOR="1")
    zot.type("go")
    zot.press("enter")
    zot.wait("code")
    assert b"\x1b[38;" not in zot.raw
    assert b"\x1b[1m" in zot.raw


def test_keys_are_the_persons(desk: Any) -> None:
    keys = {"app.exit": "f10", "app.thinking.toggle": ["f5", "ctrl+t"], "app.nonsense": "x", "app.abort": "meh+q"}
    (desk.home / "keybindings.json").write_text(json.dumps(keys))
    zot = desk.zot()
    zot.wait("app.nonsense is no action")
    zot.wait(lambda screen: "'meh+q' is no key" in screen.everything.replace("\n  ", " "))
    zot.type("\x1b[15~")
    zot.wait("thinking is hidden")
    zot.type("/hotkeys")
    zot.press("enter")
    zot.wait("f10")
    zot.type("\x1b[21~")
    assert zot.wait_end() == 0


def test_the_themes_words_for_work_are_shown_unless_a_plugin_has_its_own(desk: Any) -> None:
    path = theme(desk, "poppy", "#ff0102")
    look = json.loads(path.read_text()) | {"spinner": {"messages": ["Brewing", "Pouring"]}}
    path.write_text(json.dumps(look))
    (desk.home / "settings.json").write_text('{"theme": "poppy"}')
    (desk.home / "plugins").mkdir()
    (desk.home / "plugins" / "words.py").write_text(
        """
from zot_core import CommandSpec, hookimpl

@hookimpl
def commands():
    return CommandSpec(name="words", handler=lambda args, ctx: ctx.ui.set_working_message(args or None))
"""
    )
    desk.script([{"text": "Slow"}, {"hang": True}])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("Brewing")
    zot.wait("Pouring")
    zot.type("/words Own words")
    zot.press("enter")
    zot.wait("Own words  ")
    zot.type("/words ")
    zot.press("enter")
    zot.wait(lambda screen: "Brewing" in screen.text or "Pouring" in screen.text)
    assert "Working" not in zot.everything
