"""Each command in a terminal: what it answers is on the screen, and the conversation goes on after it."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest


def said(desk: Any, *replies: Any, argv: tuple[str, ...] = (), rows: int = 24, **env: str) -> Any:
    """zot with one answer in it."""
    desk.script(["First **answer**."], *replies)
    zot = desk.zot(*argv, rows=rows, **env)
    zot.type("hello")
    zot.press("enter")
    return zot.wait(lambda screen: "First answer." in screen.text and "Working" not in screen.text)


def run(zot: Any, command: str) -> None:
    zot.type(command)
    zot.wait(f"› {command}")
    zot.press("esc")  # the menu, which would take the first Enter
    zot.press("enter")


def goes_on(zot: Any) -> None:
    zot.wait("scripted/scripted")
    zot.type("still here")
    zot.wait("› still here")
    zot.press("ctrl+c")
    zot.wait(lambda screen: "› still here" not in screen.text)
    assert "internal error" not in zot.everything


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("/help", "/compact"),
        ("/hotkeys", "ctrl+o"),
        ("/session", "tokens"),
        ("/tools", "bash"),
        ("/plugins", "tool_bash"),
        ("/changelog", "zot doctor"),
        ("/settings", "retry.attempts"),
        ("/permissions", "full-access"),
        ("/trust", "trust"),
        ("/reload", "Loaded anew"),
        ("/reload-ext", "extension"),
        ("/yolo", "ask"),
        ("/yolo off", "ask"),
        ("/name a good name", "a good name"),
        ("/compact", "Compacted: "),
        ("/nonsense", "/nonsense"),
    ],
)
def test_a_command_answers_and_it_goes_on(desk: Any, command: str, answer: str) -> None:
    zot = said(desk, ["A summary."], ["More."])
    before = zot.everything.count(answer)
    run(zot, command)
    zot.wait(lambda screen: screen.everything.count(answer) > before + command.count(answer))
    zot.type("\x1b[27u")  # Esc as Kitty's protocol has it: with a letter right behind it no terminal means Alt
    goes_on(zot)


WRONG = {
    "/model nothing-like-it": "unknown model 'nothing-like-it'",
    "/reasoning lots": "there are off, minimal, low",
    "/thinking lots": "there are off, minimal, low",
    "/resume zzz": "no session 'zzz'; the newest ones:",
    "/session frob": "there are name, fork, export",
    "/export x.doc": "end it in .md or .jsonl",
    "/tools frob": "/tools on NAME... and /tools off NAME... choose",
    "/tools on nope": "no tool is called 'nope'; known tools: bash",
    "/trust maybe": "/trust takes yes, no or forget",
    "/permissions nope": "there are full-access, workspace",
    "/yolo maybe": "/yolo takes on or off",
    "/theme nope": "there are auto, dark, light",
    "/login nope": "no provider has this name",
    "/logout nope": "holds nothing for a provider of this",
    "/fallback x": "a chain needs at least one fallback",
    "/help resmue": "there is no command /resmue; did you mean /resume?",
    "/skills zzz": "no skill has 'zzz' in it; there are: zot-plugins",
    "/ext zzz": "there is no extension 'zzz'",
    "/ext enable": "/ext enable needs the name of one extension",
    "/rezume": "there is no command /rezume; did you mean /resume?",
}


@pytest.mark.time_limit(60)
def test_what_cannot_be_done_is_said_with_what_can(desk: Any) -> None:
    zot = said(desk, ["More."], rows=90)
    for command, answer in WRONG.items():
        run(zot, command)
        zot.wait(answer)
    zot.wait("More.")
    goes_on(zot)


def test_a_command_without_the_arguments_that_it_requires_stays_in_the_editor(desk: Any) -> None:
    zot = said(desk, ["Aside."])
    zot.type("/bt")
    zot.wait("/btw QUESTION")
    zot.press("enter")  # completed, and it waits for the rest
    zot.wait(lambda screen: "› /btw QUESTION" in screen.text)
    assert "needs arguments" not in zot.everything
    zot.press("enter")
    zot.wait("/btw needs arguments: /btw QUESTION")
    zot.wait(lambda screen: "› /btw QUESTION" in screen.text)
    zot.type("what else?")
    zot.wait("› /btw what else?")
    zot.press("enter")
    zot.wait("Aside.")
    goes_on(zot)


@pytest.mark.parametrize(("alias", "name"), [("sessions", "resume"), ("rename", "name"), ("quit", "exit")])
def test_an_alias_is_completed_as_what_it_is_and_does_it(desk: Any, alias: str, name: str) -> None:
    zot = said(desk)
    zot.type(f"/{alias}")
    zot.wait(f"the same as /{name}")
    zot.press("enter")
    if name == "exit":
        assert zot.wait_end() == 0
    else:
        zot.wait({"resume": "Which session?", "name": "This session has no name."}[name])


def test_clear_is_the_only_thing_that_empties_the_scrollback(desk: Any) -> None:
    zot = said(desk)
    assert b"\x1b[3J" not in zot.raw
    run(zot, "/new")
    zot.wait(lambda screen: screen.everything.count("First answer.") == 1)
    goes_on(zot)
    assert b"\x1b[3J" not in zot.raw
    run(zot, "/clear")
    zot.wait(lambda screen: b"\x1b[3J" in screen.raw and "First answer." not in screen.text)
    goes_on(zot)


def test_copy_hands_the_last_answer_to_the_terminal(desk: Any) -> None:
    zot = said(desk, PATH="/nowhere")
    run(zot, "/copy")
    zot.wait("characters copied by the terminal")
    found = re.search(rb"\x1b\]52;c;([A-Za-z0-9+/=]+)\x07", zot.raw)
    assert found is not None
    assert base64.b64decode(found[1]) == b"First **answer**."
    goes_on(zot)


def test_export_writes_a_file(desk: Any) -> None:
    zot = said(desk)
    run(zot, "/export talk.md")
    zot.wait("talk.md")
    file = desk.project / "talk.md"
    zot.wait(lambda screen: file.exists() and "First **answer**." in file.read_text())
    goes_on(zot)


def test_a_side_question_is_answered_and_not_kept(desk: Any) -> None:
    zot = said(desk, ["Aside."])
    run(zot, "/btw what else?")
    zot.wait("Aside.")
    goes_on(zot)
    zot.press("ctrl+d")
    zot.wait_end()
    assert "Aside." not in "".join(path.read_text() for path in (desk.home / "sessions").rglob("*.jsonl"))


def test_resume_shows_the_other_session_and_clone_a_copy(desk: Any) -> None:
    said(desk).press("ctrl+d")
    desk.script(["Second answer."], ["In the copy."])
    zot = desk.zot()
    run(zot, "/resume")
    zot.wait("hello")
    zot.press("enter")
    zot.wait("First answer.")
    run(zot, "/clone")
    zot.wait(lambda screen: len(list((desk.home / "sessions").rglob("*.jsonl"))) == 2)
    zot.type("in the copy")
    zot.press("enter")
    zot.wait(lambda screen: "Second answer." in screen.text or "In the copy." in screen.text)
    goes_on(zot)


def test_fork_offers_the_prompts_and_puts_the_chosen_one_into_the_editor(desk: Any) -> None:
    zot = said(desk, ["Second answer."], ["Third answer."])
    zot.type("and more")
    zot.press("enter")
    zot.wait("Second answer.")
    run(zot, "/fork")
    zot.wait(
        lambda screen: "2. and more" in screen.text and "1. hello" in screen.text and "Here: a copy" in screen.text
    )
    zot.press("enter")
    zot.wait(lambda screen: "› and more" in screen.text.split("Second answer.")[-1] and "1. hello" not in screen.text)
    zot.type(" than that")
    zot.press("enter")
    zot.wait(lambda screen: "First answer." in screen.text.split("› and more than that")[-1])


def test_the_model_is_chosen_from_a_list_and_esc_leaves_it(desk: Any) -> None:
    zot = said(desk)
    zot.press("ctrl+l")
    zot.wait(lambda screen: "scripted" in screen.text.split("First answer.")[-1].replace("scripted/scripted ·", ""))
    zot.type("nothing like it")
    zot.wait("nothing matches")
    zot.press("esc")
    zot.wait(lambda screen: "Which model?" not in screen.text)
    goes_on(zot)


def test_dialogs_come_one_after_another(desk: Any) -> None:
    (desk.home / "plugins").mkdir()
    (desk.home / "plugins" / "asks.py").write_text(
        """
import asyncio
from zot_core import CommandSpec, hookimpl

@hookimpl
def commands():
    async def asks(args, ctx):
        answers = await asyncio.gather(
            ctx.ui.select("Pick one", ["red", "green"]),
            ctx.ui.confirm("Sure?"),
            ctx.ui.input("Your name"),
            ctx.ui.select("Too late", ["a"], timeout=0.2),
        )
        return f"answers: {answers}"
    return [CommandSpec(name="asks", description="asks", handler=asks)]
"""
    )
    zot = said(desk)
    run(zot, "/asks")
    zot.wait("Pick one")
    assert "Sure?" not in zot.text
    zot.press("down", "enter")
    zot.wait("Sure?")
    zot.press("enter")
    zot.wait("Your name")
    zot.type("Ada 漢字")
    zot.press("enter")
    zot.wait("answers: ['green', True, 'Ada 漢字', None]")
    goes_on(zot)


def test_a_session_that_cannot_be_written_is_said_and_gives_back_what_was_typed(desk: Any) -> None:
    zot = said(desk, ["Second."])
    next((desk.home / "sessions").rglob("*.jsonl")).unlink()
    zot.type("next")
    zot.press("enter")
    zot.wait("cannot write the session")
    zot.wait(lambda screen: "› next" in screen.text.split("keeps none")[-1])
    assert "takes back" not in zot.text
    zot.type(" try")
    zot.wait("› next try")


def test_what_waits_as_something_else_leaves_the_queue_when_it_is_sent(desk: Any) -> None:
    (desk.home / "plugins").mkdir()
    (desk.home / "plugins" / "changes.py").write_text(
        """
from dataclasses import replace
from zot_core import Handled, hookimpl

@hookimpl
def input(event):
    if event.text == "mine":
        return Handled()
    if event.text == "short":
        return replace(event, text="a longer text")
"""
    )
    waits = {"tool_call": {"name": "bash", "args": {"command": "echo began; while [ ! -e go ]; do sleep 0.02; done"}}}
    desk.script([waits], ["Over."])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("began")
    for text in ("mine", "short"):
        zot.type(text)
        zot.press("enter")
    zot.wait("next step: a longer text")
    zot.wait(lambda screen: "next step: mine" not in screen.text)
    (desk.project / "go").touch()
    zot.wait("Over.")
    zot.wait(lambda screen: "Working" not in screen.text and "next step" not in screen.text)
    assert "› a longer text" in zot.everything
    assert zot.text.split("\n")[-2].strip() == "›"
