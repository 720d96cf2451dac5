"""Small extensions for tests: programs of a few lines without an SDK, that note each frame they get in a file.

A script's body has `emit(type, **fields)`, `hello(**fields)` (which waits for `hello_ack`), `frames()` (which notes,
answers `shutdown` and ends) and `note(**anything)`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PRELUDE = """\
import json, os, signal, subprocess, sys, time
NAME = {name!r}
HERE = os.path.dirname(os.path.abspath(__file__))
out = sys.stdout.buffer
def note(**row):
    with open(os.path.join(HERE, "seen.jsonl"), "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\\n")
def raw(data):
    out.write(data)
    out.flush()
def emit(type, **fields):
    raw(json.dumps({{"type": type, **fields}}).encode() + b"\\n")
def read():
    line = sys.stdin.buffer.readline()
    if not line:
        return None
    frame = json.loads(line)
    note(**frame)
    return frame
def hello(**fields):
    emit("hello", **{{"name": NAME, "version": "1.2.3", "capabilities": ["commands", "tools"], **fields}})
    return read()
def frames():
    while (frame := read()) is not None:
        if frame["type"] == "shutdown":
            emit("shutdown_ack")
            return
        yield frame
"""


class Extension:
    """One such extension: `folder` is what `--ext` takes."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name

    @property
    def seen(self) -> list[dict[str, Any]]:
        """The frames that it got, in order, and what it noted itself."""
        path = self.folder / "seen.jsonl"
        return [json.loads(line) for line in path.read_bytes().split(b"\n") if line] if path.exists() else []

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The frames of one type that it got."""
        return [frame for frame in self.seen if frame.get("type") == kind]

    @property
    def explicit(self) -> tuple[tuple[str, str], ...]:
        """What `Options.explicit` takes."""
        return (("ext", str(self.folder)),)

    @property
    def plugin(self) -> str:
        """The name of its plugin."""
        return f"ext:{self.name}"


def script(folder: Path, name: str, body: str, **manifest: Any) -> Extension:
    """Writes an extension into `folder/name`: the prelude, then `body`."""
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    program = home / "main.py"
    program.write_text(f"#!{sys.executable} -S\n{PRELUDE.format(name=name)}\n{body}\n", encoding="utf-8")
    program.chmod(0o755)
    (home / "extension.json").write_text(json.dumps({"name": name, "exec": "./main.py", **manifest}), encoding="utf-8")
    return Extension(home, name)
