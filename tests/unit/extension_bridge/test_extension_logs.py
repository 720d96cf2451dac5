"""Logs of extensions: what is in them, and how large they become."""

from __future__ import annotations

from pathlib import Path

import pytest

from zot_plugins.extension_bridge import logs
from zot_plugins.extension_bridge.logs import ExtensionLog, log_path


def test_stderr_and_zots_own_lines_stand_apart(tmp_path: Path) -> None:
    log = ExtensionLog(log_path(tmp_path / "home", "a"))
    log.stderr(b"half a line")
    log.say("a word")
    log.stderr(b"\xff\x1b[31mraw\n")
    log.say("two\nlines \x1b[2J \u202e")
    log.close()
    first, second, third, fourth = log.path.read_bytes().rstrip(b"\n").split(b"\n")
    assert first == b"half a line"
    assert second.endswith(b"Z] zot: a word")
    assert third == b"\xff\x1b[31mraw"
    assert fourth.endswith(rb"zot: two\nlines \x1b[2J \u202e")


def test_it_is_appended_to_and_private(tmp_path: Path) -> None:
    for text in (b"one\n", b"two\n"):
        log = ExtensionLog(log_path(tmp_path / "home", "a"))
        log.stderr(text)
        log.close()
    assert log.path.read_bytes() == b"one\ntwo\n"
    assert log.path.stat().st_mode & 0o777 == 0o600
    assert log.path.parent.stat().st_mode & 0o777 == 0o700


def test_it_is_bounded_whoever_else_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "MAX_BYTES", 1000)
    writers = [ExtensionLog(log_path(tmp_path, "a")) for _ in range(2)]
    for number in range(200):
        writers[number % 2].stderr(b"%03d" % number + b"x" * 26 + b"\n")
    writers[0].stderr(b"y" * 5000)
    sizes = {path.name: path.stat().st_size for path in (tmp_path / "logs").iterdir()}
    assert set(sizes) == {"ext-a.log", "ext-a.log.1"}
    assert max(sizes.values()) <= 1000
    for log in writers:
        log.close()


def test_a_log_that_cannot_be_written_costs_only_the_log(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    log = ExtensionLog(log_path(tmp_path / "file", "a"))
    log.say("a word")
    log.stderr(b"x")
    assert log.problem
