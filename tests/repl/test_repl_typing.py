"""Typing in a real terminal: chips that come back, what was typed before, keys of modern terminals, `!` commands."""

from __future__ import annotations

import base64
import json
import os
import signal
from typing import Any

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc000000301"
    "0100c9fe92ef0000000049454e44ae426082"
)
LONG = "\n".join(f"line {number}" for number in range(40))
WAITS = {"tool_call": {"name": "bash", "args": {"command": "echo began; while [ ! -e go ]; do sleep 0.02; done"}}}
BLOCKS = """
from zot_core import Block, hookimpl

@hookimpl
def input(event):
    if "forbidden" in event.text:
        return Block("not that word")
"""


def stored(desk: Any) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in (desk.home / "sessions").rglob("*.jsonl"))


def sent(desk: Any) -> list[Any]:
    """The contents of the person's messages."""
    entries = [json.loads(line) for line in stored(desk).splitlines()]
    messages = [entry["message"] for entry in entries if entry.get("kind") == "message"]
    return [message["content"] for message in messages if message["role"] == "user"]


def pictures_of(content: Any) -> int:
    return sum(block.get("type") == "image" for block in content)


def with_picture(desk: Any, zot: Any, words: str) -> None:
    (desk.project / "x.png").write_bytes(PNG)
    zot.type(words)
    zot.paste("x.png")
    zot.wait(f"{words}[picture #")


def test_what_was_queued_comes_back_with_its_chips_and_is_sent_whole(desk: Any) -> None:
    desk.script([WAITS], ["Done."], ["Seen."])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("began")
    with_picture(desk, zot, "look ")
    zot.type(" and ")
    zot.paste(LONG)
    zot.wait("[paste #1: 40 lines]")
    zot.press("enter")
    zot.wait("next step: look")
    zot.press("alt+up")
    zot.wait("› look [picture #1: x.png] and [paste #1: 40 lines]")
    (desk.project / "go").touch()
    zot.wait("Done.")
    zot.press("enter")
    zot.wait("Seen.")
    zot.press("ctrl+d")
    zot.wait_end()
    last = sent(desk)[-1]
    assert pictures_of(last) == 1
    assert json.dumps(LONG)[1:-1] in json.dumps(last)


def test_a_blocked_prompt_comes_back(desk: Any) -> None:
    (desk.home / "plugins").mkdir()
    (desk.home / "plugins" / "blocks.py").write_text(BLOCKS)
    desk.script([WAITS], ["Seen."])
    zot = desk.zot()
    with_picture(desk, zot, "forbidden ")
    zot.press("enter")
    zot.wait("not that word")
    zot.wait("› forbidden [picture #1: x.png]")
    zot.press("ctrl+a")
    zot.type("\x1bd")
    zot.type("allowed")
    zot.press("enter")
    zot.wait("began")
    zot.type("forbidden too")
    zot.press("enter")
    zot.wait("› forbidden too")
    (desk.project / "go").touch()
    zot.wait("Seen.")
    zot.press("ctrl+c", "ctrl+d")
    zot.wait_end()
    assert [pictures_of(content) for content in sent(desk)] == [1]


def test_a_kill_keeps_chips_and_what_they_stand_for(desk: Any) -> None:
    desk.script(["Seen."])
    zot = desk.zot()
    with_picture(desk, zot, "look ")
    zot.paste(LONG)
    zot.wait("[paste #1: 40 lines]")
    drafts = desk.home / "drafts"
    zot.wait(lambda screen: drafts.exists() and "paste #1" in "".join(p.read_text() for p in drafts.glob("*.json")))
    assert all(path.stat().st_mode & 0o077 == 0 for path in drafts.iterdir())
    os.kill(zot.pid, signal.SIGKILL)
    zot.wait_end()
    again = desk.zot()
    again.wait("› look [picture #1: x.png][paste #1: 40 lines]")
    again.press("enter")
    again.wait("Seen.")
    again.press("ctrl+d")
    again.wait_end()
    (content,) = sent(desk)
    assert pictures_of(content) == 1
    assert base64.b64encode(PNG).decode() in json.dumps(content)
    assert json.dumps(LONG)[1:-1] in json.dumps(content)
    assert not list(drafts.iterdir())


def test_an_editor_of_the_persons_keeps_the_chips(desk: Any) -> None:
    editor = desk.project / "editor.sh"
    editor.write_text('#!/bin/sh\ncp "$1" seen; printf " and more\\n" >> "$1"\n')
    editor.chmod(0o755)
    desk.script(["Seen."])
    zot = desk.zot(VISUAL=str(editor))
    with_picture(desk, zot, "look ")
    zot.paste(LONG)
    zot.wait("[paste #1: 40 lines]")
    zot.press("ctrl+g")
    zot.wait("[paste #1: 40 lines] and more")
    assert (desk.project / "seen").read_text() == f"look [picture #1: x.png]{LONG}"
    zot.press("enter")
    zot.wait("Seen.")
    zot.press("ctrl+d")
    zot.wait_end()
    assert [pictures_of(content) for content in sent(desk)] == [1]


def test_an_editor_that_fails_leaves_the_text(desk: Any) -> None:
    zot = desk.zot(VISUAL="false")
    zot.type("words")
    zot.press("ctrl+g")
    zot.wait("false ended with exit code 1")
    assert "› words" in zot.text
    zot.press("ctrl+c", "ctrl+d")
    zot.wait_end()
    none = desk.zot(VISUAL="no-such-program-here")
    none.type("words")
    none.press("ctrl+g")
    none.wait("no-such-program-here: No such file")


def test_the_up_key_and_the_search_bring_chips_back(desk: Any) -> None:
    desk.script(["One."], ["Two."], ["Three."])
    zot = desk.zot()
    with_picture(desk, zot, "see ")
    zot.press("enter")
    zot.wait("One.")
    zot.press("up")
    zot.wait("› see [picture #1: x.png]")
    zot.press("enter")
    zot.wait("Two.")
    zot.press("ctrl+r")
    zot.wait("Typed before")
    zot.press("enter")
    zot.wait(lambda screen: "Typed before" not in screen.text and "› see [picture #1: x.png]" in screen.text)
    zot.press("enter")
    zot.wait("Three.")
    zot.press("ctrl+d")
    zot.wait_end()
    assert [pictures_of(content) for content in sent(desk)] == [1, 1, 1]
    other = desk.zot()
    other.press("up")
    other.wait("› see (x.png: not kept)")


def test_keys_of_modern_terminals(desk: Any) -> None:
    desk.script(["Seen."])
    zot = desk.zot()
    zot.type("one two three\x1b[127;5u\x1b[27;5;127~four\x1b[27;2;13~five\x1b[13;2usix\x1b[97;9u\x1b[Ix")
    zot.wait("› one four\n  five\n  sixx")
    zot.type("\x1b[13;5u")
    zot.wait("Seen.")


def test_a_key_with_alt_that_means_nothing_ends_no_run(desk: Any) -> None:
    desk.script([WAITS], ["Done."])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("began")
    zot.type("a\x1bx\x1b[120;3u\x1b[6;3~b")
    zot.wait("› ab")
    (desk.project / "go").touch()
    zot.wait("Done.")
    assert "borted" not in zot.everything


def test_nothing_after_the_mark_and_a_change_of_folder(desk: Any) -> None:
    desk.script(["Never."])
    zot = desk.zot()
    zot.type("!")
    zot.press("enter")
    zot.wait("there was nothing")
    assert "› !" in zot.text
    zot.type("cd ..")
    zot.press("enter")
    zot.wait("cd is for that command alone; zot stays in")
    assert "Never." not in zot.text


def test_a_command_of_the_persons_while_a_run_goes_on(desk: Any) -> None:
    desk.script([WAITS], ["Read it."])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("began")
    zot.type("!echo here meanwhile; touch go")
    zot.press("enter")
    zot.wait("Read it.")
    assert "  here meanwhile" in zot.everything
    zot.press("ctrl+d")
    zot.wait_end()
    assert "The user ran a command.\\n$ echo here meanwhile" in stored(desk)


def test_a_cleared_text_is_not_lost(desk: Any) -> None:
    zot = desk.zot()
    zot.type("half a thought")
    zot.wait("› half a thought")
    zot.press("ctrl+c")
    zot.wait("Ctrl-C again leaves")
    zot.type("\x1f")
    zot.wait("› half a thought")
    zot.press("ctrl+c")
    zot.wait(lambda screen: "› half" not in screen.text)
    zot.press("up")
    zot.wait("› half a thought")
