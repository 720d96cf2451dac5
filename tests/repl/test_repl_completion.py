"""The menu: commands after `/`, files after `@`, paths by Tab; taken by Enter or Tab, closed by Esc."""

from __future__ import annotations

import re
from typing import Any


def test_commands_are_listed_with_what_they_do(desk: Any) -> None:
    zot = desk.zot()
    zot.type("/comp")
    zot.wait("put a summary in the place")
    assert "› /compact" in zot.text
    zot.press("esc")
    zot.wait(lambda screen: "put a summary" not in screen.text and "› /comp" in screen.text)


def test_enter_takes_and_runs_a_command(desk: Any) -> None:
    zot = desk.zot()
    zot.type("/permis")
    zot.wait("what tools may do")
    zot.press("enter")
    zot.wait("What may tools do?")


def test_arrows_move_and_tab_takes(desk: Any) -> None:
    zot = desk.zot()
    zot.type("/")
    zot.wait(lambda screen: screen.text.count("\n  /") > 3)
    zot.press("down", "tab")
    zot.wait(lambda screen: re.search(r"^› /\w+", screen.text, re.M) and "\n  /" not in screen.text)


def test_a_file_is_found_by_some_of_its_letters(desk: Any) -> None:
    (desk.project / "src" / "deep").mkdir(parents=True)
    (desk.project / "src" / "deep" / "configuration.py").write_text("x")
    (desk.project / "other file.txt").write_text("x")
    zot = desk.zot()
    zot.type("look at @confi")
    zot.wait("src/deep/configuration.py")
    zot.press("enter")
    zot.wait("› look at @src/deep/configuration.py")
    zot.type("and @other")
    zot.wait("other file.txt")
    zot.press("tab")
    zot.wait('and @"other file.txt"')


def test_tab_completes_a_path(desk: Any) -> None:
    (desk.project / "documents").mkdir()
    (desk.project / "documents" / "plan.md").write_text("x")
    zot = desk.zot()
    zot.type("read docu")
    zot.press("tab")
    zot.wait("› read documents/")
    zot.press("tab")
    zot.wait("› read documents/plan.md")
