"""The question whether a call may run: what is shown of a long one, and its five answers."""

from __future__ import annotations

import pytest

from zot_cli.repl.dialogs.approve import ApproveDialog, preview_lines
from zot_cli.repl.look import default_look
from zot_cli.repl.spans import line_width, plain

LONG = "\n".join(f"step {number}" for number in range(1, 101))


class Asked:
    def __init__(self, preview: str, rows: int = 24) -> None:
        self.answers: list[str | None] = []
        self.shown = 0
        self.dialog = ApproveDialog(
            default_look("dark"),
            "bash",
            preview,
            self.answers.append,
            rows=lambda: rows,
            keys=("ctrl+o",),
            show_all=self._show,
        )

    def _show(self) -> None:
        self.shown += 1

    def lines(self, width: int = 60) -> list[str]:
        return [plain(line) for line in self.dialog.render(width)]


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["enter"], "once"),
        (["down", "enter"], "tool"),
        (["3"], "session"),
        (["down", "down", "down", "enter"], "no"),
        (["up", "enter"], "why"),
        (["esc"], None),
    ],
)
def test_there_are_five_answers(keys: list[str], answer: str | None) -> None:
    asked = Asked("ls")
    for key in keys:
        asked.dialog.handle_key(key)
    assert asked.answers == [answer]


def test_a_short_call_is_shown_whole() -> None:
    lines = Asked("cd x\nmake").lines()
    assert lines[:3] == ["Run bash?", "cd x", "make"]
    assert not any("more" in line for line in lines)


@pytest.mark.parametrize("rows", [10, 24, 80])
def test_of_a_long_call_beginning_and_end_are_shown_and_how_much_is_not(rows: int) -> None:
    asked = Asked(LONG, rows)
    lines = asked.lines()
    assert "step 1" in lines and "step 100" in lines and "step 50" not in lines
    shown = sum(line.startswith("step") for line in lines)
    assert f"… {100 - shown} lines more (ctrl+o shows all)" in lines
    assert len(lines) < max(rows - 2, 13)
    asked.dialog.handle_key("ctrl+o")
    assert asked.shown == 1 and asked.answers == []


def test_one_endless_line_is_no_more_than_many() -> None:
    lines = Asked("x" * 10_000).lines(40)
    assert len(lines) < 24 and all(len(line) <= 40 for line in lines)


def test_control_sequences_and_wide_characters_stay_in_their_lines() -> None:
    preview = "echo \x1b[2J\x1b]0;title\x07 " + "漢字" * 40
    for line in preview_lines(preview, 30, default_look("dark")):
        assert line_width(line) <= 30
        assert "\x1b" not in plain(line) and "\x07" not in plain(line)


def test_only_what_is_a_change_is_coloured() -> None:
    look = default_look("dark")

    def styles(preview: str) -> set[str]:
        return {style for line in preview_lines(preview, 60, look)[1:] for style, _ in line}

    assert len(styles("edit a.txt\n-old\n+new")) == 2
    assert styles("cat <<E\n- a list\nof things\nE") == {""}
