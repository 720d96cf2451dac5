"""Prompts, places and texts that are not as one would wish: said in words, never a traceback."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize("prompt", ["", "   ", " \n\t "])
@pytest.mark.parametrize("flag", ["-p", "--json"])
def test_a_prompt_of_blanks_is_none(zot: Any, prompt: str, flag: str) -> None:
    zot.script(["never"])
    ended = zot(flag, prompt)
    assert (ended.code, ended.out) == (2, "")
    assert "no prompt" in ended.err


def test_bytes_of_a_prompt_that_are_no_text_become_marks(zot: Any) -> None:
    zot.script(["ok"])
    said = next(event for event in zot("--json", os.fsdecode(b"\xff hi")).events if event["type"] == "user_message")
    assert said["content"] == [{"type": "text", "text": "\ufffd hi"}]


def test_halves_of_surrogate_pairs_reach_no_terminal(zot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # As a byte, U+DC9B would be the 8-bit form of the beginning of a control sequence.
    monkeypatch.setenv("PYTHONIOENCODING", "ascii:surrogateescape")
    zot.script(["a\udc9b2Jb"])
    assert zot("-p", "x \udc9b2J").out == "a\ufffd2Jb\n"
    for command in (["list"], ["list", "--json"]):
        ended = zot("sessions", *command)
        assert ended.code == 0 and "x \ufffd2J" in ended.out


@pytest.mark.parametrize(
    "argv", [["-p", "x"], ["--json", "x"], ["sessions", "list"], ["doctor"], ["plugins"], ["--cwd", ".", "-p", "x"]]
)
def test_a_current_directory_that_is_gone(zot: Any, tmp_path: Path, argv: list[str]) -> None:
    zot.script(["never"])
    gone = tmp_path / "gone"
    gone.mkdir()
    ended = zot(*argv, preexec_fn=lambda: (os.chdir(gone), gone.rmdir()))
    assert ended.code == 2 and "internal error" not in ended.err + ended.out
    assert "current directory" in ended.err + ended.out and "--cwd" in ended.err + ended.out


def test_the_session_line_names_where_the_run_really_is(zot: Any, project: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    zot.script(["one"])
    session = zot("--json", "x", cwd=old).events[0]
    old.rename(tmp_path / "new")
    zot.script([{"tool_call": {"name": "bash", "args": {"command": "pwd"}}}], ["two"])
    ended = zot("--json", "--session", session["id"], "y")
    result = next(event for event in ended.events if event["type"] == "tool_result")
    assert ended.events[0]["cwd"] == result["content"][0]["text"].strip() == str(project)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize(
    "name", ["settings.json", "auth.json", "models.json", "trust.json", "config.json", "SYSTEM.md", "cache/boot.json"]
)
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(zot: Any, project: Path, name: str) -> None:
    pipe = Path(os.environ["ZOT_HOME"], name)
    pipe.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(pipe)
    (project / ".zot").mkdir()
    (project / ".zot" / "settings.json").write_text("{}", encoding="utf-8")
    zot.script(["ok"])
    ended = zot("-p", "x")
    assert (ended.code, ended.out) == (0, "ok\n")
    assert pipe.is_fifo() or name == "cache/boot.json"


def test_a_folder_of_plugins_that_cannot_be_read_is_named(zot: Any) -> None:
    loop = Path(os.environ["ZOT_HOME"], "plugins")
    loop.parent.mkdir(parents=True, exist_ok=True)
    loop.symlink_to(loop)
    zot.script(["ok"])
    ended = zot("-p", "x", "--plugin", "x" * 5000)
    assert (ended.code, ended.out) == (0, "ok\n")
    assert f"could not be loaded ({loop}): the folder cannot be read" in ended.err


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("-c", "--no-session"), "--no-session and --continue"),
        (("--session", "x", "--no-session"), "--no-session and --session"),
        (("--tools", "read", "--no-tools"), "--no-tools and --tools"),
        (("--base-url", "localhost:1"), "not a URL"),
        (("--base-url", "http://"), "not a URL"),
    ],
)
def test_flags_that_contradict_each_other_are_wrong_usage(zot: Any, flags: tuple[str, ...], words: str) -> None:
    zot.script(["never"])
    ended = zot(*flags, "-p", "hi")
    assert (ended.code, ended.out) == (2, "")
    assert words in ended.err
