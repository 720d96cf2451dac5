"""`/fallback` alone: a menu that does what the typed command does."""

from __future__ import annotations

import json
from typing import Any

LAB = {"api": "openai-completions", "baseUrl": "http://127.0.0.1:9/v1", "models": [{"id": "one"}, {"id": "two"}]}


def kept(desk: Any) -> Any:
    return json.loads((desk.home / "settings.json").read_text())["plugins"]["model_fallback"]


def choose(zot: Any, row: str, title: str) -> None:
    """Takes the row of the list called `title`, found by typing."""
    zot.wait(title)
    zot.type(row)
    zot.wait(lambda screen: any(line.startswith(f"› {row}") for line in screen.lines))
    zot.press("enter")


def test_the_menu_does_what_the_words_do(desk: Any) -> None:
    (desk.home / "models.json").write_text(json.dumps({"providers": {"lab": LAB}}))
    zot = desk.zot(rows=40, LAB_API_KEY="key")
    zot.type("/fallback ")
    zot.press("enter")
    choose(zot, "Switch fallbacks off", "Fallback chains: none")
    choose(zot, "Switch fallbacks on", "Fallback chains: off, ")
    choose(zot, "A failed model is tried again later", "Fallback chains: none")
    zot.wait("A failed model is tried again never")
    assert kept(desk) == {"enabled": True, "revert": "never"}
    choose(zot, "Add a chain", "Fallback chains: none")
    choose(zot, "lab/one", "When which model fails?")
    choose(zot, "lab/two", "lab/one -> which?")
    choose(zot, "That is all", "lab/one -> lab/two -> which?")
    zot.wait("Fallback chains: 1").wait("Edit: lab/one -> lab/two")
    assert kept(desk)["chains"] == {"lab/one": ["lab/two"]}
    choose(zot, "Remove: lab/one", "Fallback chains: 1")
    zot.wait("Fallback chains: none")
    assert not kept(desk).get("chains")
    choose(zot, "Add a chain", "Fallback chains: none")
    zot.wait("When which model fails?")
    zot.press("esc")
    choose(zot, "Done", "Fallback chains: none")
    zot.wait(lambda screen: "Fallback chains" not in screen.text)
    assert not kept(desk).get("chains")
