"""Looking back: the transcript in the alternate screen, what was typed before, thinking shown and hidden."""

from __future__ import annotations

from typing import Any


def test_ctrl_o_shows_the_whole_transcript_and_q_brings_the_screen_back(desk: Any) -> None:
    desk.script([{"tool_call": {"name": "bash", "args": {"command": "seq 1 40"}}}], ["Counted."])
    zot = desk.zot()
    zot.type("count")
    zot.press("enter")
    zot.wait("Counted.")
    assert "28 more lines (ctrl+o)" in zot.everything
    zot.press("ctrl+o")
    zot.wait(lambda screen: "q close" in screen.text and "  40" in screen.text)
    zot.press("home")
    zot.wait("lines 1 to")
    zot.type("/Counted")
    zot.press("enter")
    zot.wait(lambda screen: "Counted." in screen.text)
    zot.type("q")
    zot.wait(lambda screen: "q close" not in screen.text and "scripted/scripted" in screen.text)
    zot.type("more")
    zot.wait("› more")


def test_what_comes_while_the_transcript_is_shown_is_printed_afterwards(desk: Any) -> None:
    waits = {"tool_call": {"name": "bash", "args": {"command": "echo began; while [ ! -e go ]; do sleep 0.02; done"}}}
    desk.script([waits], ["Came meanwhile."])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("began")
    zot.press("ctrl+o")
    zot.wait("q close")
    (desk.project / "go").touch()
    zot.type("q")
    zot.wait(lambda screen: "Came meanwhile." in screen.text and "q close" not in screen.text)
    assert zot.everything.count("Came meanwhile.") == 1


def test_ctrl_r_finds_what_was_typed_in_another_session(desk: Any) -> None:
    desk.script(["One."], ["Two."])
    zot = desk.zot()
    for text in ("first thing", "second thing"):
        zot.type(text)
        zot.press("enter")
    zot.wait("Two.")
    zot.press("ctrl+d")
    zot.wait_end()
    again = desk.zot()
    again.press("ctrl+r")
    again.wait("Typed before")
    again.wait("first thing")
    again.press("down", "enter")
    again.wait(lambda screen: "› first thing" in screen.text and "Typed before" not in screen.text)
    again.press("ctrl+c")
    again.press("up")
    again.wait("› second thing")


def test_ctrl_t_hides_what_the_model_thinks(desk: Any) -> None:
    desk.script([{"thinking": ["Deep thoughts."]}, "Shallow words."], [{"thinking": ["More thoughts."]}, "More words."])
    zot = desk.zot()
    zot.type("think")
    zot.press("enter")
    zot.wait("Shallow words.")
    assert "Deep thoughts." in zot.text
    zot.press("ctrl+t")
    zot.wait("thinking is hidden")
    zot.type("again")
    zot.press("enter")
    zot.wait("More words.")
    assert "More thoughts." not in zot.everything


def test_the_editor_of_the_person_may_write_the_prompt(desk: Any) -> None:
    editor = desk.project / "editor.sh"
    editor.write_text('#!/bin/sh\nprintf "written elsewhere" > "$1"\n')
    editor.chmod(0o755)
    desk.script(["Read."])
    zot = desk.zot(VISUAL=str(editor))
    zot.type("draft")
    zot.press("ctrl+g")
    zot.wait("› written elsewhere")
    zot.press("enter")
    zot.wait("Read.")
