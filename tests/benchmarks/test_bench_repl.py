"""The interactive mode's costs: first paint, streaming, echo while streaming, resuming, and doing nothing."""

from __future__ import annotations

import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.pty_screen import PtyScreen

DELTAS = 20_000
WORDS = "Some **words** with `code` and more text to read. "
IDLE_S = 10.0


class Raw(PtyScreen):
    """A terminal that keeps bytes and draws nothing, so that nothing but zot is measured."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._stream = self  # type: ignore[assignment]

    def feed(self, data: bytes) -> None:
        """Takes bytes for nothing."""

    def until(self, mark: bytes, since: int = 0, limit: float = 30.0) -> None:
        """Reads until `mark` has come after `since` bytes."""
        end = time.monotonic() + limit
        while mark not in self.raw[since:]:
            assert self._read(max(end - time.monotonic(), 0.01)), self.raw[-500:]


@pytest.fixture
def desk(tmp_path: Path, installed: Mapping[str, str]) -> Any:
    """Home, project and environment; `desk(script)` gives the environment with a script of the model."""
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir(mode=0o700)
    project.mkdir()
    env = {name: value for name, value in os.environ.items() if not name.startswith(("ZOT_", "COLOR", "TMUX"))}
    env |= {**installed, "ZOT_HOME": str(home), "TERM": "xterm-256color", "COLORFGBG": "15;0"}

    def start(*argv: str, script: Any = None) -> Raw:
        path = tmp_path / "script.json"
        if script is not None:
            path.write_text(json.dumps(script), encoding="utf-8")
        line = [sys.executable, "-m", "zot_cli", "--provider", "scripted", *argv]
        return Raw(line, cwd=project, env={**env, "ZOT_SCRIPT": str(path)} if script is not None else env)

    start.env, start.project, start.script = env, project, tmp_path / "script.json"  # type: ignore[attr-defined]
    return start


def spent() -> float:
    """CPU seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def leave(screen: Raw) -> None:
    screen.press("ctrl+d")
    screen.wait_end()


def test_first_paint(desk: Any, compare: Any, child: Any) -> None:
    def paint() -> float:
        start = time.perf_counter()
        with desk() as screen:
            screen.until("›".encode())
            took = (time.perf_counter() - start) * 1000
            leave(screen)
        return took

    paint()
    bare = [sys.executable, "-c", "pass"]
    compare("repl: first paint", paint, lambda: child(bare).wall, rounds=7, at_most=250)


def test_streaming_against_print_mode(desk: Any, compare: Any, child: Any) -> None:
    text = "".join(f"Paragraph {n} {WORDS * 3}\n\n" if n % 5 else "```python\nx = 1\n```\n\n" for n in range(520))
    pieces = [text[start : start + 4] for start in range(0, DELTAS * 4, 4)]
    script = [[{"text": [*pieces, "\n\nThe very end."]}]]

    def screen() -> float:
        before = spent()
        with desk("go", script=script) as found:
            found.until(b"The very end.")
            leave(found)
        return (spent() - before) * 1000

    def printed() -> float:
        env = {**desk.env, "ZOT_SCRIPT": str(desk.script)}
        line = [sys.executable, "-m", "zot_cli", "--provider", "scripted", "-p", "go"]
        return float(child(line, **env).cpu)

    screen()
    compare("repl: 20,000 deltas, CPU against -p", screen, printed, rounds=5, ratio=3.0)


def test_echo_while_streaming(desk: Any, compare: Any) -> None:
    steps: list[Any] = []
    for _ in range(400):
        steps += [{"text": [WORDS]}, {"delay": 0.01}]
    with desk("go", script=[steps]) as screen:
        screen.until(b"Working")
        took = []
        for number in range(100):
            letter = "abcdefghij"[number % 10]
            seen, start = len(screen.raw), time.perf_counter()
            screen.type(letter)
            screen.until(letter.encode(), since=seen)
            took.append((time.perf_counter() - start) * 1000)
        os.kill(screen.pid, 9)
    compare.keep("repl: key to echo while streaming, p95", statistics.quantiles(took, n=20)[18], at_most=20)


def test_resume_of_a_long_session(desk: Any, compare: Any) -> None:
    from zot_core.session.session import Session
    from zot_core.types.content import Text
    from zot_core.types.messages import AssistantMessage, UserMessage

    session = Session.create(desk.env["ZOT_HOME"] + "/sessions", str(desk.project))
    for number in range(1000):
        session.append_message(UserMessage(content=(Text(f"Question {number}"),)))
        session.append_message(AssistantMessage(content=(Text(f"Answer {number}: {WORDS * 4}"),)))
    session.close()

    def paint(*argv: str) -> float:
        start = time.perf_counter()
        with desk(*argv) as screen:
            screen.until(b"Answer 999" if argv else "›".encode())
            took = (time.perf_counter() - start) * 1000
            leave(screen)
        return took

    paint("-c")
    compare("repl: a session of 2,000 messages is shown", lambda: paint("-c"), paint, rounds=3, at_most=500)


@pytest.mark.time_limit(60)
def test_idle(desk: Any, compare: Any) -> None:
    def used(seconds: float) -> float:
        before = spent()
        with desk() as screen:
            screen.until(b"of 1M")
            end = time.monotonic() + seconds
            while (left := end - time.monotonic()) > 0:
                screen._read(left)
            leave(screen)
        return (spent() - before) * 1000

    used(0)
    short = min(used(0.5) for _ in range(3))
    compare.keep("repl: doing nothing, CPU a minute", max(used(IDLE_S) - short, 0) * 60 / IDLE_S, at_most=200)
