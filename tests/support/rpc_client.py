"""A client of `zot rpc` for tests: the installed command, real pipes, and lines waited for instead of slept for."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

ZOT = (sys.executable, "-m", "zot_cli", "--provider", "scripted")
PATIENCE = 20.0
Line = dict[str, Any]


class RpcClient:
    """One process. `seen` are all lines so far; `wait` goes on after those that were waited for before."""

    def __init__(self, *argv: str, env: Mapping[str, str] | None = None, reading: bool = True, word: str = "rpc"):
        self.process = subprocess.Popen(
            [*ZOT, word, *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
        )
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.seen: list[Line] = []
        self.errors: list[str] = []
        self._lines: queue.Queue[Line | None] = queue.Queue()
        self._next_id = 0
        self._readers: list[threading.Thread] = []
        self._start(self._drain_errors)
        if reading:
            self.read()

    def read(self) -> None:
        """Begins to read stdout."""
        self._start(self._read)

    def write(self, data: bytes) -> None:
        """Bytes as they are."""
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, type: str, **fields: Any) -> int:
        """A request; answers its id."""
        self._next_id += 1
        self.write(json.dumps({"id": self._next_id, "type": type, **fields}).encode() + b"\n")
        return self._next_id

    def call(self, type: str, **fields: Any) -> Line:
        """A request and its response."""
        return self.response(self.send(type, **fields))

    def ok(self, type: str, **fields: Any) -> Any:
        """The data of a request that has to succeed."""
        response = self.call(type, **fields)
        assert response["success"] is True, response
        return response["data"]

    def refused(self, type: str, **fields: Any) -> str:
        """The error of a request that has to fail."""
        response = self.call(type, **fields)
        assert response["success"] is False, response
        return str(response["error"])

    def response(self, id: int | str | float) -> Line:
        """The response to the request of that id, which may have come already."""
        is_it = lambda line: line["type"] == "response" and line.get("id") == id  # noqa: E731
        return next((line for line in self.seen if is_it(line)), None) or self.wait(is_it)

    def next(self) -> Line:
        """The next line."""
        line = self._lines.get(timeout=PATIENCE)
        if line is None:
            raise AssertionError(f"zot ended: {self.process.wait()}, {self.errors}; after {self.seen[-5:]}")
        self.seen.append(line)
        return line

    def wait(self, wanted: str | Callable[[Line], bool], **fields: Any) -> Line:
        """The next line of that type with those fields, or for which `wanted` is true."""
        if isinstance(wanted, str):
            name = wanted
            wanted = lambda line: line["type"] == name and fields.items() <= line.items()  # noqa: E731
        while True:
            line = self.next()
            if wanted(line):
                return line

    def types(self, since: int = 0) -> list[str]:
        """Types of the lines seen, runs of deltas folded into one."""
        names: list[str] = []
        for line in self.seen[since:]:
            if not (names and names[-1] == line["type"] and "delta" in line):
                names.append(line["type"])
        return names

    def of(self, type: str) -> list[Line]:
        """The lines of a type so far."""
        return [line for line in self.seen if line["type"] == type]

    def close(self) -> int:
        """Closes stdin and answers the exit code; the lines that still came are in `seen`."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.ended()

    def ended(self) -> int:
        """The exit code of a process that ends by itself."""
        while (line := self._lines.get(timeout=PATIENCE)) is not None:
            self.seen.append(line)
        code = self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        return code

    def kill(self) -> None:
        """Ends what still runs."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        for reader in self._readers:
            reader.join(PATIENCE)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe
            try:
                pipe.close()
            except BrokenPipeError:
                pass  # what was not written any more

    def _start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        self._readers.append(thread)

    def _read(self) -> None:
        assert self.process.stdout
        for raw in self.process.stdout:
            line = json.loads(raw)
            assert next(iter(line)) == "type" and raw.endswith(b"\n"), raw
            self._lines.put(line)
        self._lines.put(None)

    def _drain_errors(self) -> None:
        assert self.process.stderr
        for raw in self.process.stderr:
            self.errors.append(raw.decode())
