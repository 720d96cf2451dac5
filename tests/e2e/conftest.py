"""The installed command as a person or a script calls it: a process, its pipes, its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.rpc_client import RpcClient

ZOT = [sys.executable, "-m", "zot_cli"]


@dataclass(frozen=True)
class Ended:
    """What a call of `zot` left."""

    code: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        """The JSON events on stdout."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def types(self) -> list[str]:
        """Their types, runs of deltas folded into one."""
        names: list[str] = []
        for event in self.events:
            if not (names and names[-1] == event["type"] and "delta" in event):
                names.append(event["type"])
        return names


class Zot:
    """Calls the command with the scripted provider; `script` says what it answers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: list[subprocess.Popen[str]] = []

    def script(self, *replies: Any) -> None:
        """Each reply a list of steps, as the scripted provider plays them."""
        path = self._folder / "script.json"
        path.write_text(json.dumps(list(replies)), encoding="utf-8")
        os.environ["ZOT_SCRIPT"] = str(path)

    def start(self, *argv: str, **options: Any) -> subprocess.Popen[str]:
        """A process that the test talks to; it is ended with the test."""
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        process = subprocess.Popen([*ZOT, "--provider", "scripted", *argv], text=True, **pipes)
        self._running.append(process)
        return process

    def __call__(self, *argv: str, text: str | None = None, **options: Any) -> Ended:
        process = self.start(*argv, **({"stdin": subprocess.PIPE} if text is not None else {}), **options)
        out, err = process.communicate(text, timeout=25)
        return Ended(process.returncode, out or "", err or "")

    def close(self) -> None:
        """Ends what still runs."""
        for process in self._running:
            if process.poll() is None:
                process.kill()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
            process.wait()


@pytest.fixture
def zot(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Zot]:
    """The command, in a project and a home of its own."""
    monkeypatch.setenv("ZOT_SCRIPT", "")
    caller = Zot(isolated)
    yield caller
    caller.close()


@pytest.fixture
def rpc(zot: Zot) -> Iterator[Callable[..., RpcClient]]:
    """Starts clients of `zot rpc`, which are ended with the test; `zot.script` says what the model answers."""
    clients: list[RpcClient] = []

    def start(*argv: str, **options: Any) -> RpcClient:
        clients.append(RpcClient(*argv, **options))
        return clients[-1]

    yield start
    for client in clients:
        client.kill()


@pytest.fixture
def plugin(isolated: Path) -> Callable[[str], str]:
    """Writes a plugin file and returns its path."""

    def write(source: str, name: str = "mine") -> str:
        path = isolated / f"{name}.py"
        path.write_text(source, encoding="utf-8")
        return str(path)

    return write
