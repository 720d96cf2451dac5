"""Asking: permissions in a terminal, dialogs one after another, and a real extension's panel."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def calls(*commands: str) -> list[Any]:
    return [{"tool_call": {"name": "bash", "args": {"command": command}}} for command in commands]


def test_each_of_parallel_calls_is_asked_in_order(desk: Any) -> None:
    desk.script(calls("touch one", "touch two", "touch three"), ["Over."])
    zot = desk.zot("--no-yolo")
    zot.type("go")
    zot.press("enter")
    zot.wait(lambda screen: "Run bash?" in screen.text and "touch one" in screen.text)
    zot.press("enter")
    zot.wait(lambda screen: (desk.project / "one").exists() or "touch two" in screen.text)
    zot.wait(lambda screen: "Run bash?" in screen.text and "touch two" in screen.text.split("Run bash?")[-1])
    zot.press("down", "down", "down", "enter")
    zot.wait(lambda screen: "touch three" in screen.text.split("Run bash?")[-1])
    zot.press("enter")
    zot.wait("Over.")
    assert sorted(path.name for path in desk.project.iterdir()) == ["one", "three"]


@pytest.mark.parametrize(("downs", "asked_again"), [(0, True), (1, False), (2, False)])
def test_yes_for_once_for_the_tool_for_the_session(desk: Any, downs: int, asked_again: bool) -> None:
    desk.script(calls("touch one"), ["First."], calls("touch two"), ["Second."])
    zot = desk.zot("--no-yolo")
    zot.type("go")
    zot.press("enter")
    zot.wait("Run bash?")
    zot.press(*["down"] * downs, "enter")
    zot.wait("First.")
    zot.type("again")
    zot.press("enter")
    zot.wait(lambda screen: "Run bash?" in screen.text or "Second." in screen.text)
    assert ("Run bash?" in zot.text) is asked_again
    if asked_again:
        zot.press("esc")
        zot.wait("Second.")
        assert not (desk.project / "two").exists()


def test_an_enter_of_somebody_who_types_approves_nothing(desk: Any) -> None:
    desk.script([{"delay": 0.3}, *calls("touch one")], ["Seen."], ["Over."])
    zot = desk.zot("--no-yolo")
    zot.type("go")
    zot.press("enter")
    zot.wait("Working")
    zot.type("and then")
    zot.wait("› and then")
    while "touch one" not in zot.text:  # the call comes between two keys
        zot.type("?")
        zot.wait("› and then?")
        zot.press("backspace")
        zot.wait(lambda screen: "› and then?" not in screen.text)
    zot.press("enter")
    zot.wait("next step: and then")
    zot.wait("Run bash?")
    zot.press("esc")
    zot.wait("Seen.")
    assert not (desk.project / "one").exists()


def test_no_with_a_word_to_the_model(desk: Any) -> None:
    desk.script(calls("touch one"), ["Understood."])
    zot = desk.zot("--no-yolo")
    zot.type("go")
    zot.press("enter")
    zot.wait("Run bash?")
    zot.press("up", "enter")
    zot.wait("What should the model do instead?")
    zot.type("use ls")
    zot.press("enter")
    zot.wait("Understood.")
    assert "the user refused this call: use ls" in zot.everything
    assert not (desk.project / "one").exists()


def test_keys_typed_while_a_dialog_closes_reach_the_editor(desk: Any) -> None:
    desk.script(calls("sleep 0.1"), ["Over."])
    zot = desk.zot("--no-yolo")
    zot.type("go")
    zot.press("enter")
    zot.wait("Run bash?")
    zot.type("\rtyped at once")
    zot.wait("› typed at once")


def test_the_run_ends_while_it_is_asked(desk: Any) -> None:
    desk.script(calls("touch one", "touch two"), ["Never."])
    zot = desk.zot("--no-yolo")
    zot.type("go")
    zot.press("enter")
    zot.wait("Run bash?")
    os.kill(zot.pid, signal.SIGTERM)
    assert zot.wait_end() == 143
    assert list(desk.project.iterdir()) == []


@pytest.fixture
def with_todo(desk: Any) -> Any:
    target = desk.home / "extensions" / "todo"
    shutil.copytree(ROOT / "examples" / "extensions" / "todo", target, symlinks=False)
    return desk


def opened(desk: Any, **size: int) -> Any:
    zot = desk.zot(**size)
    zot.type("/todo")
    zot.press("enter")
    return zot.wait("Nothing to do.")


def test_the_panel_of_a_real_extension(with_todo: Any) -> None:
    zot = opened(with_todo)
    for item in ("buy milk", "漢字 e\u0301"):
        zot.type("a")
        zot.wait("▏")
        zot.type(item)
        zot.press("enter")
        zot.wait(lambda screen, item=item: f"□ {item[:2]}" in screen.text and "▏" not in screen.text)
    zot.press("up")
    zot.wait("› □ buy milk")
    zot.type("x")
    zot.wait("› ✓ buy milk")
    zot.resize(50, 20)
    zot.wait(lambda screen: "› ✓ buy milk" in screen.text and "esc close" in screen.text)
    assert zot.text.count("buy milk") == 1
    zot.press("esc")
    zot.wait(lambda screen: "buy milk" not in screen.text and "scripted/scripted" in screen.text)
    zot.type("typed")
    zot.wait("› typed")


def test_the_extension_dies_while_its_panel_is_open(with_todo: Any) -> None:
    zot = opened(with_todo)
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()[1:]]
    family, grown = {str(zot.pid)}, True
    while grown:
        more = {row[0] for row in rows if row[1] in family} - family
        family, grown = family | more, bool(more)
    mine = sorted(family - {str(zot.pid)})
    assert mine
    for pid in mine:
        os.kill(int(pid), signal.SIGKILL)
    zot.wait(lambda screen: "todo" in screen.everything and "Nothing to do." not in screen.text)
    zot.type("still here")
    zot.wait("› still here")


ASKS = """
import asyncio
from zot_core import CommandSpec, hookimpl

def asks(args, ctx):
    return globals()[args](ctx)

async def late(ctx):
    return f"{await ctx.ui.confirm('Sure?', timeout=0.1)}"

async def on(ctx):
    for channel in ("ask-user:asked", "ask-user:settled", "ask-user:closed", "host:blocked"):
        ctx.bus.on(channel, lambda said, channel=channel: ctx.ui.display(shown(channel, said)))
    questions = [{"id": "db", "header": "Database", "question": "Which DB?", "options": ["one", "two"]}]
    return (await ctx.ui.question(questions, wait_for_answer=False))["outcome"] + " and on"

def shown(channel, said):
    rest = said.get("response", {}).get("answers") or said.get("status") or said.get("label") or ""
    return f"{channel} {said.get('active', '')} {rest}."

@hookimpl
def session_start(event, ctx):
    told = []
    def did(what):
        told.append(what)
        ctx.ui.set_status("did", " ".join(f"{one}={told.count(one)}" for one in sorted(set(told))))
    ctx.on_user_activity(did)

@hookimpl
def commands():
    return CommandSpec(name="asks", handler=asks)
"""


def test_a_dialog_that_timed_out_is_waited_for_no_more(desk: Any) -> None:
    (desk.home / "plugins").mkdir()
    (desk.home / "plugins" / "asks.py").write_text(ASKS)
    desk.script([{"delay": 0.3}, "Said."])
    zot = desk.zot()
    zot.type("/asks late")
    zot.press("enter")
    zot.wait("False")
    zot.type("go")
    zot.press("enter")
    zot.wait("Working")
    zot.wait("Said.")
    assert "Waiting for your answer" not in zot.everything


def test_a_question_that_is_not_waited_for_is_answered_on_the_bus(desk: Any) -> None:
    (desk.home / "plugins").mkdir()
    (desk.home / "plugins" / "asks.py").write_text(ASKS)
    zot = desk.zot(rows=40)
    zot.type("/asks on")
    zot.press("enter")
    zot.wait("Which DB?")
    zot.wait("asked and on")
    zot.wait("host:blocked True Database — Which DB?.")
    zot.press("down", "enter")
    zot.wait("ask-user:closed  answered.")
    zot.wait("ask-user:settled  {'db': 'two'}.")
    zot.wait("host:blocked False .")


def test_plugins_are_told_what_the_person_does_and_not_what_they_do_themselves(desk: Any) -> None:
    (desk.home / "plugins").mkdir()
    (desk.home / "plugins" / "asks.py").write_text(ASKS)
    desk.script(["Said."])
    zot = desk.zot()
    zot.type("abc")
    zot.wait("draft=3")
    zot.press("backspace", "left")
    zot.wait("draft=4")
    zot.press("enter")
    zot.wait("draft=4 prompt=1")
    zot.wait("Said.")


def test_alt_with_a_letter_that_means_nothing_closes_nothing_and_types_nothing(desk: Any) -> None:
    (desk.home / "plugins").mkdir()
    (desk.home / "plugins" / "asks.py").write_text(ASKS)
    desk.script([{"text": "Slow"}, {"delay": 1}, " words."])
    zot = desk.zot()
    zot.press("ctrl+l")
    zot.wait("Which model?")
    zot.type("\x1bz")
    zot.type("scr")
    zot.wait(lambda screen: "filter: scr" in screen.text)
    zot.press("esc")
    zot.wait(lambda screen: "Which model?" not in screen.text)
    zot.type("go")
    zot.press("enter")
    zot.wait("Working")
    zot.type("\x1bz")
    zot.wait("Slow words.")
    zot.type("on")
    zot.wait("› on")
    assert "aborted" not in zot.everything
