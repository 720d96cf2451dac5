"""Pictures in the terminal: drawn once, in place, where it can; else a line of facts; nothing else is disturbed."""

from __future__ import annotations

import base64
import io
import re
import textwrap
from typing import Any

import pytest
from PIL import Image as Pillow

KITTY = re.compile(rb"\x1b_Ga=T,f=100,q=2,C=1,c=(\d+),r=(\d+),m=\d;")
ITERM2 = re.compile(rb"\x1b\]1337;File=inline=1;size=\d+;width=(\d+);height=(\d+);[^:\x07]*:([A-Za-z0-9+/=]*)\x07")
READ = {"tool_call": {"name": "read", "args": {"path": "shot.png"}}}
FACTS = "[picture image/png, 200×100, "


def shot(desk: Any, name: str = "shot.png", size: tuple[int, int] = (200, 100)) -> None:
    Pillow.new("RGB", size, (20, 120, 20)).save(desk.project / name)


def run(zot: Any, text: str) -> None:
    zot.type(text)
    zot.press("enter")


def drawn(count: int, text: str) -> Any:
    """Whether so many pictures have been drawn, and a text stands there."""

    def holds(zot: Any) -> bool:
        found = len(KITTY.findall(zot.raw)) + len(ITERM2.findall(zot.raw))
        return found >= count and text in zot.text and "Working" not in zot.text

    return holds


def place(zot: Any, text: str) -> int:
    return next(n for n, line in enumerate(zot.lines) if text in line)


def test_a_picture_that_is_read_is_drawn_in_its_place(desk: Any) -> None:
    shot(desk)
    desk.script([READ], ["A green picture."], ["Again."])
    zot = desk.zot(rows=40, KITTY_WINDOW_ID="1", NO_COLOR="1")
    run(zot, "what is on it?")
    zot.type("typed meanwhile")
    zot.wait(drawn(1, "A green picture."))
    assert KITTY.findall(zot.raw) == [(b"20", b"5")]
    assert zot.raw.count(b"\x1b_G") == 1 and b"\x1b]1337" not in zot.raw
    at = place(zot, FACTS)
    assert zot.lines[at + 1 : at + 8] == [*[""] * 6, "A green picture."]
    # it begins on the row below its facts, two columns in
    before = zot.raw[: zot.raw.index(b"\x1b_G")].rpartition(FACTS.encode())[2].replace(b"\r\r\n", b"\r\n")
    assert before.partition(b"]")[2] == b"\r\n" * 6 + b"\x1b[5A\x1b[2C\x1b7"
    assert "› typed meanwhile" in zot.lines[zot.screen.cursor.y]
    zot.press("enter")
    zot.wait("Again.")
    assert zot.raw.count(b"\x1b_G") == 1
    zot.press("ctrl+o")
    zot.wait("q close")
    assert FACTS in zot.text and zot.raw.count(b"\x1b_G") == 1
    zot.type("q")
    zot.wait("› typed meanwhile")


def test_a_width_change_draws_again_what_it_prints_again(desk: Any) -> None:
    shot(desk, size=(1000, 150))
    desk.script([READ], ["A wide one."])
    zot = desk.zot(rows=30, KITTY_WINDOW_ID="1")
    run(zot, "look")
    zot.wait(drawn(1, "A wide one."))
    assert KITTY.findall(zot.raw) == [(b"77", b"6")]
    zot.type("kept")
    zot.resize(50, 30)
    zot.wait(lambda screen: len(KITTY.findall(screen.raw)) == 2 and "› kept" in screen.text)
    assert KITTY.findall(zot.raw)[1] == (b"47", b"4")
    gone, again = zot.raw.index(b"\x1b_Ga=d,d=A,q=2\x1b\\"), zot.raw.rindex(b"\x1b_Ga=T")
    assert gone < again and zot.raw.count(b"\x1b_G") == 3
    at = place(zot, "[picture image/png, 1000×150")
    assert zot.lines[at + 1 : at + 7] == [*[""] * 5, "A wide one."]
    assert zot.lines[zot.screen.cursor.y] == "› kept"


def test_a_width_change_while_a_picture_is_made_ready(desk: Any) -> None:
    Pillow.effect_noise((3000, 1500), 80).save(desk.project / "shot.png")
    desk.script(["I see noise."])
    zot = desk.zot(rows=30, KITTY_WINDOW_ID="1")
    zot.type("look: ")
    zot.paste("shot.png")
    zot.wait("[picture #1: shot.png]")
    zot.press("enter")
    zot.resize(50, 30)
    zot.type("kept")
    zot.wait(lambda screen: KITTY.findall(screen.raw)[-1:] == [(b"47", b"12")] and drawn(1, "I see noise.")(screen))
    zot.wait(lambda screen: screen.lines[screen.screen.cursor.y] == "› kept")
    at = place(zot, "[picture image/png, 3000×1500")
    assert zot.lines[at + 1 : at + 15] == [*[""] * 13, "I see noise."]
    assert zot.text.count("[picture image/png, 3000") == zot.text.count("I see noise.") == 1


@pytest.mark.parametrize(
    ("env", "setting"),
    [
        ({}, "auto"),
        ({"KITTY_WINDOW_ID": "1", "TMUX": "/tmp/none,1,0"}, "auto"),
        ({"KITTY_WINDOW_ID": "1"}, "off"),
    ],
)
def test_elsewhere_it_is_a_line_of_facts(desk: Any, env: dict[str, str], setting: str) -> None:
    shot(desk)
    (desk.home / "settings.json").write_text(f'{{"images": "{setting}"}}', encoding="utf-8")
    desk.script([READ], ["Seen."])
    zot = desk.zot(**env)
    run(zot, "look")
    zot.wait("Seen.")
    at = place(zot, FACTS)
    assert zot.lines[at + 1 : at + 3] == ["", "Seen."]
    assert b"\x1b_G" not in zot.raw and b"\x1b]1337" not in zot.raw


PAINTER = """
import base64, pathlib
from zot_core import CommandSpec, Image, MessageRenderer, Text, ToolResult, hookimpl, tool
from zot_core.ui import Container
from zot_core.ui import Image as Picture
from zot_core.ui import Text as Words

def data():
    return pathlib.Path("shot.png").read_bytes()

def shown(result, options, theme, context):
    words = Words(f"pictures are {'drawn' if context.show_images else 'told'}")
    return Container([words, Picture(data(), columns=10)])

@tool(render_result=shown)
async def paint(name: str):
    "Paints."
    return "painted"

@tool
async def plain(name: str):
    "Brings a picture."
    return ToolResult(content=(Text("here"), Image("image/png", base64.b64encode(data()).decode())))

@hookimpl
def tools():
    return [paint, plain]

@hookimpl
def message_renderers():
    return MessageRenderer(custom_type="news", render=lambda message, options, theme: Picture(data(), rows=2))

async def news(args, ctx):
    ctx.send_message("news", "plain words", details={})

@hookimpl
def commands():
    return CommandSpec(name="news", handler=news)
"""


def painter(desk: Any) -> None:
    folder = desk.home / "plugins"
    folder.mkdir()
    (folder / "painter.py").write_text(textwrap.dedent(PAINTER), encoding="utf-8")


def test_pictures_of_tools_and_components_of_plugins(desk: Any) -> None:
    shot(desk)
    painter(desk)
    calls = [{"tool_call": {"name": name, "args": {"name": "x"}}} for name in ("paint", "plain")]
    desk.script(calls, ["Painted."], ["Read."])
    zot = desk.zot(rows=50, TERM_PROGRAM="iTerm.app")
    run(zot, "paint")
    zot.wait(drawn(2, "Painted."))
    assert "pictures are drawn" in zot.text
    run(zot, "/news")
    run(zot, "what is new?")
    zot.wait(drawn(3, "Read."))
    found = ITERM2.findall(zot.raw)
    assert sorted((int(wide), int(high)) for wide, high, _ in found) == [(8, 2), (8, 2), (20, 5)]
    for _, _, data in found:
        with Pillow.open(io.BytesIO(base64.b64decode(data))) as seen:
            assert seen.size == (200, 100)
    assert zot.text.count(FACTS) == 3


def test_the_same_plugin_in_a_plain_terminal(desk: Any) -> None:
    shot(desk)
    painter(desk)
    desk.script([{"tool_call": {"name": "paint", "args": {"name": "x"}}}], ["Painted."])
    zot = desk.zot()
    run(zot, "paint")
    zot.wait("Painted.")
    assert "pictures are told" in zot.text and FACTS in zot.text
    assert b"zot:picture" not in zot.raw


def test_a_prompt_with_a_picture_and_the_session_resumed(desk: Any) -> None:
    shot(desk)
    desk.script(["I see."])
    zot = desk.zot(rows=40, KITTY_WINDOW_ID="1")
    zot.type("look: ")
    zot.paste("shot.png")
    zot.wait("[picture #1: shot.png]")
    zot.press("enter")
    zot.wait(drawn(1, "I see."))
    assert KITTY.findall(zot.raw) == [(b"20", b"5")]
    at = place(zot, FACTS)
    assert zot.lines[at - 1].startswith("› look:") and zot.lines[at + 1 : at + 8] == [*[""] * 6, "I see."]
    zot.press("ctrl+d")
    assert zot.wait_end() == 0
    again = desk.zot("--continue", rows=40, KITTY_WINDOW_ID="1")
    again.wait(drawn(1, "I see."))
    assert KITTY.findall(again.raw) == [(b"20", b"5")]
    at = place(again, FACTS)
    assert again.lines[at + 1 : at + 8] == [*[""] * 6, "I see."]


def test_a_broken_picture_says_why_and_leaving_at_once_loses_nothing(desk: Any) -> None:
    shot(desk)
    whole = (desk.project / "shot.png").read_bytes()
    (desk.project / "shot.png").write_bytes(whole[:60])
    desk.script(["I see nothing."])
    zot = desk.zot(rows=40, KITTY_WINDOW_ID="1")
    zot.type("look: ")
    zot.paste("shot.png")
    zot.wait("[picture #1: shot.png]")
    zot.press("enter")
    zot.wait("I see nothing.")
    zot.press("ctrl+d")
    assert zot.wait_end() == 0
    said = zot.everything
    assert "[picture image/png, 200×100, 60 B: damaged: " in said and "I see nothing." in said
    assert b"\x1b_G" not in zot.raw
