"""Text of models, tools, files and sessions cannot act on the terminal, and any size of terminal is survived."""

from __future__ import annotations

import re
from typing import Any

import pytest

EVIL = (
    "a\x1b[2Jb\x1b]0;TITLE\x07c\x1b]52;c;QUJD\x07d\x9b31me\x1bPq#0\x1b\\f\x08\x08g\u202eh\x1b[6ni\x1b]8;;http://x\x07j"
)
CLEAN = "abcdefghij"
FORBIDDEN = (b"\x1b[2J", b"\x1b]", b"\xc2\x9b", b"\x1bP", b"\xe2\x80\xae", b"\x1b[6n", b"\x08\x08")


def harmless(raw: bytes) -> None:
    assert not [what for what in FORBIDDEN if what in raw]


def test_controls_in_what_a_model_says_thinks_and_calls(desk: Any) -> None:
    call = {"tool_call": {"name": "bash", "args": {"command": f"true {EVIL}"}}}
    unknown = {"tool_call": {"name": f"no{EVIL}", "args": {EVIL: EVIL}}}
    desk.script(
        [{"thinking": [EVIL]}, f"# {EVIL}\n\n`{EVIL}`\n\n```\n{EVIL}\n```\n\n- {EVIL}", call, unknown], ["Over."]
    )
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("Over.")
    assert zot.everything.count(CLEAN) >= 6
    harmless(zot.raw)


def test_controls_in_tool_output_file_names_and_errors(desk: Any) -> None:
    (desk.project / f"name{EVIL.replace('/', '')}.txt").write_text(EVIL)
    steps = [
        {"tool_call": {"name": "ls", "args": {"path": "."}}},
        {"tool_call": {"name": "bash", "args": {"command": "cat name*"}}},
    ]
    desk.script(steps, [{"error": {"kind": "bad_request", "message": f"broken {EVIL}"}}])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("broken abc")
    zot.type("see @name")
    zot.wait(lambda screen: screen.text.count("name") > 1)
    zot.press("tab")
    zot.press("ctrl+c")
    harmless(zot.raw)


def test_controls_in_pastes_session_names_and_answers_of_commands(desk: Any) -> None:
    desk.script(["Said."])
    zot = desk.zot()
    zot.paste(EVIL)
    zot.wait(f"› {CLEAN}")
    zot.press("enter")
    zot.wait("Said.")
    zot.type("/name ")
    zot.paste(EVIL)
    zot.press("enter")
    zot.wait(lambda screen: CLEAN in screen.lines[-1] or CLEAN in screen.text.split("\n")[-1])
    zot.type("/session")
    zot.press("enter")
    zot.wait(f"This session is called {CLEAN}.")
    zot.wait("esc cancel")
    zot.press("esc")
    zot.wait(lambda screen: "esc cancel" not in screen.text)
    zot.press("ctrl+d")
    zot.wait_end()
    harmless(zot.raw)
    again = desk.zot()
    again.type("/resume")
    again.press("enter")
    again.wait(CLEAN)
    again.press("esc")
    harmless(again.raw)


def test_wide_text_fits_its_lines(desk: Any) -> None:
    text = "漢字" * 100 + "\n\n" + "e\u0301" * 300 + "\n\n" + "שלום " * 40 + "\n\n" + "x" * 5000 + "\n\n\ta\tb\n\nEnd."
    desk.script([{"text": [text[at : at + 7] for at in range(0, len(text), 7)]}])
    zot = desk.zot(columns=40, rows=10)
    zot.type("go 漢字漢字")
    zot.press("enter")
    zot.wait(lambda screen: "End." in screen.text and "Working" not in screen.text)
    assert zot.everything.count("x") >= 5000
    assert "".join(re.findall("[漢字]", zot.everything)) == "漢字" * 102
    assert zot.everything.count("שלום") == 40


@pytest.mark.parametrize(("columns", "rows"), [(20, 5), (5, 3), (1, 1), (300, 5)])
def test_a_tiny_terminal_is_survived_and_what_was_said_is_there_when_it_grows(
    desk: Any, columns: int, rows: int
) -> None:
    desk.script(["One **bold** answer with some words.\n\n- a\n- b\n\n| a | b |\n|---|---|\n| 1 | 2 |"], ["Another."])
    zot = desk.zot()
    zot.resize(columns, rows)
    zot.type("go")
    zot.press("enter")
    zot.wait(lambda screen: "1  2" in screen.text or columns < 20)
    zot.type("wide 漢字")
    zot.resize(80, 24)
    zot.wait("One bold answer with some words.")
    zot.wait("› wide 漢字")
    zot.press("enter")
    zot.wait("Another.")
    assert "internal error" not in zot.everything


def test_it_starts_in_a_terminal_without_a_size_and_without_a_name(desk: Any) -> None:
    import sys

    from support.pty_screen import PtyScreen

    desk.script(["Said."])
    env = {name: value for name, value in desk.env.items() if name != "TERM"}
    line = [sys.executable, "-m", "zot_cli", "--provider", "scripted"]
    with PtyScreen(line, cwd=desk.project, env=env) as zot:
        zot.wait(lambda screen: "scripted" in screen.text or "›" in screen.text or ">" in screen.text)
        zot.type("hi\r")
        zot.wait("Said.")
        zot.type("\x04")
        assert zot.wait_end() == 0
    with PtyScreen(line, cwd=desk.project, env=desk.env, columns=80, rows=24) as zot:
        zot._size(0, 0)
        zot.wait("scripted/scripted")
        zot.type("hi\r")
        zot.wait("Said.")


@pytest.mark.parametrize("kind", ["paragraph", "code", "list"])
def test_a_hundred_thousand_characters_are_all_there(desk: Any, kind: str) -> None:
    words = [f"w{number:05d}" for number in range(14_000)]
    if kind == "paragraph":
        text = " ".join(words)
    elif kind == "code":
        text = "```text\n" + "\n".join(" ".join(words[at : at + 8]) for at in range(0, len(words), 8)) + "\n```"
    else:
        text = "\n".join(f"- {' '.join(words[at : at + 39])}" for at in range(0, len(words), 39))
    step = 2000
    desk.script([{"text": [text[at : at + step] for at in range(0, len(text), step)]}, {"text": ["\n\nThe end."]}])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait(lambda screen: "The end." in screen.text and "Working" not in screen.text, timeout=60)
    assert re.findall(r"w\d{5}", zot.everything) == words


def test_a_paste_without_its_end_is_no_trap(desk: Any) -> None:
    zot = desk.zot()
    zot.type("\x1b[200~pasted words")
    zot.type("\x1b[201~ typed")
    zot.wait("› pasted words typed")
