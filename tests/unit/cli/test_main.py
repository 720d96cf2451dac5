"""How the process ends before a run: codes, the one line on stderr, stdin and the terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from zot_cli import exits
from zot_cli.stdio import joined
from zot_core.types.failure import Failure, RunFailed, UsageError, ZotError

ZOT = [sys.executable, "-m", "zot_cli"]


def zot(*argv: str, text: str | None = None, **options: object) -> subprocess.CompletedProcess[str]:
    stdin = {"input": text} if text is not None else {"stdin": subprocess.DEVNULL}
    return subprocess.run([*ZOT, *argv], capture_output=True, text=True, timeout=20, **stdin, **options)  # type: ignore[call-overload]


def wrong(*argv: str) -> str:
    done = zot(*argv)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("zot: ") and "Traceback" not in done.stderr
    return done.stderr


def test_without_a_terminal_zot_alone_is_wrong_usage() -> None:
    assert "no terminal" in wrong()
    assert "no terminal" in wrong("fix", "the bug")


def test_an_unknown_flag_is_named_even_without_a_terminal() -> None:
    assert "did you mean --plugin" in wrong("--plugn", "x")


@pytest.mark.parametrize("flag", ["-p", "--json"])
def test_a_mode_without_a_prompt_says_how_to_give_one(flag: str) -> None:
    assert f"no prompt: give one after {flag}" in wrong(flag)


def test_wrong_usage_of_a_command_names_its_help() -> None:
    assert "did you mean --limit?" in wrong("sessions", "list", "--limt", "3")
    assert "zot sessions list --help" in wrong("sessions", "list", "--limit", "x")
    assert "lisst" in wrong("sessions", "lisst")


def test_the_version_may_stand_beside_other_flags() -> None:
    done = zot("--offline", "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, "zot 0.1.0\n", "")


def test_help_whose_reader_went_away_ends_quietly() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*ZOT, "--help"], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_piped_text_is_awaited_ends_with_its_code(number: int, code: int) -> None:
    process = subprocess.Popen([*ZOT, "-p", "x"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()  # the notice that it waits
    assert line.startswith("zot: waiting for standard input")
    process.send_signal(number)
    _, rest = process.communicate(timeout=10)
    assert process.returncode == code and "Traceback" not in rest


def test_piped_text_comes_before_the_prompt() -> None:
    assert joined("text", "prompt") == "text\n\nprompt"
    assert joined("", "prompt") == "prompt"
    assert joined("text", "") == "text"


@pytest.mark.parametrize(
    ("kind", "code"), [("rate_limit", 75), ("overloaded", 75), ("auth", 1), ("max_steps", 1), ("blocked", 1)]
)
def test_codes_of_failures(kind: str, code: int) -> None:
    assert exits.code_of("error", Failure(kind=kind, message="x")) == code  # type: ignore[arg-type]


def test_codes_of_ends_without_a_failure() -> None:
    codes = {stop: exits.code_of(stop, None) for stop in ("end_turn", "length", "error", "aborted", "blocked")}
    assert codes == {"end_turn": 0, "length": 0, "error": 1, "aborted": 1, "blocked": 1}
    assert exits.reason_of("end_turn", None) == ""
    assert exits.reason_of("blocked", None)


def test_what_zot_raised_on_purpose_is_said_as_it_is(zot_home: Path) -> None:
    failure = Failure(kind="auth", message="no key")
    assert exits.failure_of(RunFailed(failure)) is failure
    assert exits.failure_of(ExceptionGroup("g", [RunFailed(failure)])) is failure
    assert isinstance(exits.failure_of(UsageError("wrong")), UsageError)
    assert exits.failure_of(ZotError("said")) == Failure(kind="internal", message="said")
    assert not (zot_home / "logs").exists()


def test_an_internal_error_is_one_line_and_its_traceback_is_in_a_log(zot_home: Path) -> None:
    try:
        raise RuntimeError("boom \x1b[2J")
    except RuntimeError as error:
        failure = exits.failure_of(error)
    log = zot_home / "logs" / "errors.log"
    assert isinstance(failure, Failure)
    assert failure.message == f"internal error: RuntimeError: boom \x1b[2J; log at {log}"
    text = log.read_text(encoding="utf-8")
    assert "Traceback" in text and "test_main.py" in text
    assert log.stat().st_mode & 0o777 == 0o600 and zot_home.stat().st_mode & 0o777 == 0o700


def test_an_internal_error_without_a_place_for_a_log_is_still_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ZOT_HOME", str(tmp_path / "file"))
    failure = exits.failure_of(RuntimeError("boom"))
    assert isinstance(failure, Failure) and failure.message == "internal error: RuntimeError: boom"
