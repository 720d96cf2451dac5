"""What is typed into a dialog goes by what people take for characters; a secret shows dots and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from zot_cli.repl.dialogs.text import TextDialog
from zot_cli.repl.look import default_look
from zot_cli.repl.spans import plain

FAMILY, FLAG, E_ACUTE = "👨‍👩‍👧", "🇩🇪", "e\u0301"


def dialog(**options: Any) -> tuple[TextDialog, list[str | None]]:
    answers: list[str | None] = []
    return TextDialog(default_look("dark"), "Name", answers.append, **options), answers


@pytest.mark.parametrize("one", [FAMILY, FLAG, E_ACUTE, "漢", "x"])
@pytest.mark.parametrize("hidden", [False, True])
def test_keys_go_by_whole_characters(one: str, hidden: bool) -> None:
    asked, answers = dialog(hidden=hidden, text=f"a{one}b")
    for key in ("left", "left", "right", "backspace", "right", "enter"):
        asked.handle_key(key)
    assert answers == ["ab"]
    asked, answers = dialog(hidden=hidden, text=f"a{one}b")
    for key in ("home", "right", "delete", "enter"):
        asked.handle_key(key)
    assert answers == ["ab"]


def test_what_is_hidden_shows_a_dot_for_each_character() -> None:
    asked, answers = dialog(hidden=True)
    asked.handle_paste(f"p{FAMILY}{E_ACUTE}")
    for at in ("end", "left", "home"):
        asked.handle_key(at)
        shown = "\n".join(plain(line) for line in asked.render(40))
        assert shown.count("•") == 3
        assert not set(shown) & set(FAMILY + E_ACUTE + "p") - {"e"}
    asked.handle_key("enter")
    assert answers == [f"p{FAMILY}{E_ACUTE}"]
