"""Talking: what is typed is sent, answers stream, and what goes on can be joined, followed and ended."""

from __future__ import annotations

import re
from typing import Any

BASH_WAITS = {"tool_call": {"name": "bash", "args": {"command": "echo began; while [ ! -e go ]; do sleep 0.02; done"}}}


def test_a_prompt_is_answered_and_the_terminal_is_left_as_it_was(desk: Any) -> None:
    desk.script(["Hello **you**."])
    zot = desk.zot()
    zot.type("Hi there")
    zot.press("enter")
    zot.wait("Hello you.")
    zot.press("ctrl+d")
    assert zot.wait_end() == 0
    assert "› Hi there" in zot.everything
    assert re.search(r"zot --resume [0-9a-f]{12}", zot.text)
    assert zot.raw.rfind(b"\x1b[?2004l") > zot.raw.rfind(b"\x1b[?2004h")
    assert zot.raw.rfind(b"\x1b[?25h") >= zot.raw.rfind(b"\x1b[?25l")


def test_a_prompt_on_the_line_is_sent_at_once(desk: Any) -> None:
    desk.script(["Done."])
    zot = desk.zot("do", "it")
    zot.wait("Done.")
    assert "› do it" in zot.everything


def test_several_lines_are_typed_with_ctrl_j_and_alt_enter_is_for_later(desk: Any) -> None:
    desk.script([BASH_WAITS], ["First."], ["Second."])
    zot = desk.zot()
    zot.type("one")
    zot.press("ctrl+j")
    zot.type("two")
    zot.press("enter")
    zot.wait("began")
    assert "› one\n  two" in zot.everything
    zot.type("and then")
    zot.press("alt+enter")
    zot.wait("afterwards: and then")
    (desk.project / "go").touch()
    zot.wait("Second.")
    assert zot.everything.index("First.") < zot.everything.index("› and then") < zot.everything.index("Second.")
    assert "afterwards:" not in zot.text


def test_enter_while_it_works_joins_at_the_next_step(desk: Any) -> None:
    desk.script([BASH_WAITS], ["Seen."])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("began")
    zot.type("look here")
    zot.press("enter")
    zot.wait("next step: look here")
    (desk.project / "go").touch()
    zot.wait("Seen.")
    assert zot.everything.index("● bash") < zot.everything.index("› look here") < zot.everything.index("Seen.")


def test_esc_ends_the_run_and_gives_back_what_was_queued(desk: Any) -> None:
    desk.script([BASH_WAITS], ["Never."])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("began")
    zot.type("later words")
    zot.press("alt+enter")
    zot.wait("afterwards: later words")
    zot.press("esc")
    zot.wait(lambda screen: re.search(r"^› later words", screen.text, re.M) and "Working" not in screen.text)
    assert "aborted" in zot.everything
    assert "Never." not in zot.everything


def test_ctrl_c_clears_and_twice_leaves(desk: Any) -> None:
    zot = desk.zot()
    zot.type("half a thought")
    zot.wait("half a thought")
    zot.press("ctrl+c")
    zot.wait(lambda screen: "half a thought" not in screen.text and "Ctrl-C again leaves" in screen.text)
    zot.press("ctrl+c")
    assert zot.wait_end() == 0


def test_ctrl_d_leaves_only_an_empty_line(desk: Any) -> None:
    zot = desk.zot()
    zot.type("x")
    zot.press("ctrl+d")
    zot.type("y")
    zot.wait("› xy")
    zot.press("backspace", "backspace", "ctrl+d")
    assert zot.wait_end() == 0


def test_a_failed_run_says_why_and_the_next_one_works(desk: Any) -> None:
    desk.script([{"error": {"kind": "bad_request", "message": "no such thing"}}], ["Fine."])
    zot = desk.zot()
    zot.type("a")
    zot.press("enter")
    zot.wait("no such thing")
    zot.type("b")
    zot.press("enter")
    zot.wait("Fine.")


def test_a_resumed_session_is_shown(desk: Any) -> None:
    desk.script(["First answer."], ["Second answer."])
    zot = desk.zot()
    zot.type("remember me")
    zot.press("enter")
    zot.wait("First answer.")
    zot.press("ctrl+d")
    zot.wait_end()
    again = desk.zot("-c")
    again.wait("First answer.")
    assert "› remember me" in again.text


def test_sigterm_gives_the_terminal_back(desk: Any) -> None:
    import os
    import signal

    zot = desk.zot()
    os.kill(zot.pid, signal.SIGTERM)
    assert zot.wait_end() == 143
    assert zot.raw.rfind(b"\x1b[?2004l") > zot.raw.rfind(b"\x1b[?2004h")


def test_a_paste_of_ten_thousand_lines_is_a_chip_and_sent_whole(desk: Any) -> None:
    desk.script(["Long."])
    zot = desk.zot()
    text = "\n".join(f"line {number}" for number in range(10_000))
    zot.paste(text)
    zot.wait("[paste #1: 10000 lines]")
    zot.press("enter")
    zot.wait("Long.")
    zot.press("ctrl+d")
    zot.wait_end()
    stored = next((desk.home / "sessions").rglob("*.jsonl")).read_text(encoding="utf-8")
    assert "line 0\\nline 1\\n" in stored
    assert "line 9999" in stored


def test_a_streamed_answer_is_in_the_scrollback_once_and_whole(desk: Any) -> None:
    parts = [f"Paragraph {number} has some words in it.\n\n" for number in range(200)]
    desk.script([{"text": [piece for part in parts for piece in (part[:9], part[9:])]}, {"text": ["The end."]}])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait(lambda screen: "The end." in screen.text and "Working" not in screen.text)
    shown = re.findall(r"Paragraph (\d+) has", zot.everything)
    assert shown == [str(number) for number in range(200)]


def test_a_width_that_changes_in_mid_stream_loses_nothing(desk: Any) -> None:
    desk.script([{"text": ["One two three. "] * 20}, BASH_WAITS], ["Closing words."])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("began")
    zot.resize(50, 20)
    zot.wait(lambda screen: "One two three. One two three. One" in screen.text)
    zot.resize(100, 30)
    (desk.project / "go").touch()
    zot.wait(lambda screen: "Closing words." in screen.text and "› go" in screen.text and "Working" not in screen.text)
    assert zot.text.count("Closing words.") == 1
    assert "One two three. One two three. One two three. One two three. One two three. One" in zot.text


def test_the_path_of_a_picture_is_pasted_as_the_picture(desk: Any) -> None:
    png = bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc000000301"
        "0100c9fe92ef0000000049454e44ae426082"
    )
    (desk.project / "a shot.png").write_bytes(png)
    (desk.project / "fake.png").write_text("no picture")
    desk.script(["I see."])
    zot = desk.zot()
    zot.type("look: ")
    zot.paste("a\\ shot.png")
    zot.wait("look: [picture #1: a shot.png]")
    zot.paste("fake.png")
    zot.wait("fake.png")
    zot.press("enter")
    zot.wait("I see.")
    assert "[picture image/png, 1×1, " in zot.text
    zot.press("ctrl+d")
    zot.wait_end()
    stored = next((desk.home / "sessions").rglob("*.jsonl")).read_text(encoding="utf-8")
    assert '"mime_type":"image/png"' in stored


def test_somebody_without_a_model_is_told_the_ways_to_one(desk: Any) -> None:
    import sys

    from support.pty_screen import PtyScreen

    with PtyScreen([sys.executable, "-m", "zot_cli"], cwd=desk.project, env=desk.env) as zot:
        zot.wait("Welcome. No model can be asked yet")
        zot.type("/model scripted/scripted")
        zot.press("enter")
        zot.wait("scripted/scripted answers from now on.")
        zot.press("ctrl+d")
        assert zot.wait_end() == 0


def test_the_setting_says_what_enter_does_and_the_other_key_does_the_other(desk: Any) -> None:
    (desk.home / "settings.json").write_text('{"queue": {"enter": "follow_up"}}')
    desk.script([BASH_WAITS], ["First."], ["Second."])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("began")
    zot.type("later words")
    zot.press("enter")
    zot.wait("afterwards: later words")
    zot.type("look here")
    zot.press("alt+enter")
    zot.wait("next step: look here")
    (desk.project / "go").touch()
    zot.wait("Second.")
    said = zot.everything
    assert said.index("› look here") < said.index("First.") < said.index("› later words") < said.index("Second.")


def test_commands_while_it_works_run_at_once_or_say_that_they_wait(desk: Any) -> None:
    (desk.home / "plugins").mkdir()
    (desk.home / "plugins" / "ways.py").write_text(
        """
from zot_core import CommandSpec, hookimpl

@hookimpl
def commands():
    def way(busy):
        return CommandSpec(name=busy + "s", handler=lambda args, ctx: f"{busy} done", busy=busy)
    return [way("run"), way("wait"), way("abort")]
"""
    )
    desk.script([BASH_WAITS], ["First."], [{"delay": 60}, "Never."])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("began")
    zot.type("/runs ")
    zot.press("enter")
    zot.wait("run done")
    assert "Working" in zot.text  # the run goes on, and says so
    assert "aborted" not in zot.everything
    zot.type("/waits ")
    zot.press("enter")
    zot.wait("/waits waits until the run is over; esc ends it")
    assert "wait done" not in zot.everything
    (desk.project / "go").touch()
    zot.wait("First.")
    zot.wait("wait done")
    zot.type("again")
    zot.press("enter")
    zot.wait("Working")
    zot.type("/aborts ")
    zot.press("enter")
    zot.wait("abort done")
    assert "Never." not in zot.everything
