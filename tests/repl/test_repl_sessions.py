"""Another session in this one's place is shown; commands say what they did; the menu never speaks of old text."""

from __future__ import annotations

from typing import Any


def test_a_session_that_was_resumed_is_shown(desk: Any) -> None:
    desk.script(["Answer of the first."])
    first = desk.zot()
    first.type("the first question")
    first.press("enter")
    first.wait("Answer of the first.")
    first.press("ctrl+d")
    first.wait_end()
    zot = desk.zot()
    zot.type("/resume")
    zot.press("enter")
    zot.wait("Which session?")
    zot.press("enter")
    zot.wait("Answer of the first.")
    assert "› the first question" in zot.text
    zot.type("/new")
    zot.press("enter")
    zot.wait("A new session.")
    zot.type("/reload-ext")
    zot.press("enter")
    zot.wait("no extensions")


def test_a_menu_that_is_behind_the_typing_inserts_nothing(desk: Any) -> None:
    zot = desk.zot()
    zot.type("/perm")
    zot.wait("what tools may do")
    zot.type("issions\r")
    zot.wait("What may tools do?")
    assert "/permissions/" not in zot.everything


def test_typing_between_two_ctrl_c_disarms_the_second(desk: Any) -> None:
    zot = desk.zot()
    zot.type("one")
    zot.wait("› one")
    zot.press("ctrl+c")
    zot.wait("Ctrl-C again leaves")
    zot.type("two")
    zot.wait("› two")
    zot.press("ctrl+c")
    zot.wait(lambda screen: "› two" not in screen.text)
    zot.type("three")
    zot.wait("› three")


def test_numbers_of_a_list_have_their_dots(desk: Any) -> None:
    desk.script(["1. one\n2. two\n\n| a | b |\n|---|---|\n| x \\| y | z |\n"])
    zot = desk.zot("go")
    zot.wait("2. two")
    assert "1. one" in zot.text
    assert "x | y" in zot.text
