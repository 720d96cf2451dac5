"""A small strict host of the extension protocol: starts an extension as zot would and checks every frame it sends.

Knows the frames of the protocol, nothing of zot. A frame that the protocol does not have, a field too many, an answer
to no question or a second one, a word before `hello`: each fails the test that sees it.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any

TIMEOUT = 15.0
STEP = {"type": str}
ACTIONS = {"prompt": "prompt", "insert": "insert", "display": "display", "open_panel": "open_panel", "noop": None}
FRAMES: dict[str, tuple[dict[str, type], dict[str, type]]] = {
    "hello": ({"name": str, "version": str, "capabilities": list}, {}),
    "register_command": ({"name": str, "description": str}, {}),
    "register_tool": ({"name": str, "description": str, "schema": dict}, {"deferred": bool}),
    "subscribe": ({}, {"events": list, "intercept": list}),
    "ready": ({}, {}),
    "command_response": (
        {"id": str, "action": str},
        {"prompt": str, "insert": str, "display": str, "open_panel": dict, "error": str},
    ),
    "tool_result": ({"id": str, "content": list}, {"is_error": bool, "activate_tools": list}),
    "event_intercept_response": (
        {"id": str},
        {"block": bool, "reason": str, "modified_args": dict, "replace_text": str, "system_prompt": str},
    ),
    "submit": ({"text": str}, {}),
    "panel_render": ({"panel_id": str, "title": str, "lines": list, "footer": str}, {}),
    "panel_close": ({"panel_id": str}, {}),
    "notify": ({"level": str, "message": str}, {}),
    "clear_notes": ({}, {}),
    "shutdown_ack": ({}, {}),
}
"""What an extension may say: required fields, then optional ones."""
EVENTS = {"session_start", "turn_start", "turn_end", "tool_call", "tool_confirmation_requested", "assistant_message"}
INTERCEPTS = {"before_agent_start", "tool_call", "turn_start", "assistant_message"}


class ExtensionHost:
    """An extension's process with its pipes. Use as a context manager: it ends the process whatever happened."""

    def __init__(self, folder: Path, *, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.manifest = json.loads((folder / "extension.json").read_text(encoding="utf-8"))
        self.cwd = cwd or folder
        self.commands: dict[str, dict[str, Any]] = {}
        self.tools: dict[str, dict[str, Any]] = {}
        self.events: list[str] = []
        self.intercepts: list[str] = []
        self.notes: list[tuple[str, str]] = []
        self.data_dir = folder
        self._frames: queue.Queue[dict[str, Any] | str | None] = queue.Queue()
        self._kept: list[dict[str, Any]] = []
        self._open: dict[str, str] = {}
        self._count = 0
        self._seen: set[str] = set()
        self.stderr = b""
        self.process = subprocess.Popen(
            [str(folder / self.manifest["exec"]), *self.manifest.get("args", [])],
            cwd=folder,
            env={**os.environ, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._threads = [threading.Thread(target=read, daemon=True) for read in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> ExtensionHost:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join(TIMEOUT)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                pass
        if error is not None:
            print(self.log, file=sys.stderr)

    @property
    def log(self) -> str:
        """What the extension wrote to stderr so far."""
        return self.stderr.decode("utf-8", "replace")

    # Speaking

    def send(self, kind: str, **fields: Any) -> None:
        """One frame to the extension."""
        self.write(json.dumps({"type": kind, **fields}, ensure_ascii=False).encode() + b"\n")

    def write(self, line: bytes) -> None:
        """Bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def start(self, **host: Any) -> ExtensionHost:
        """Shakes hands and takes what is registered, up to `ready`."""
        hello = self.next("hello")
        assert hello["name"] == self.manifest["name"]
        assert set(hello["capabilities"]) <= {"commands", "tools", "panels"}
        folder = str(self.data_dir)
        known = {"zot_version": "1.0.0", "provider": "scripted", "model": "echo", "cwd": str(self.cwd)}
        self.send("hello_ack", protocol_version=1, **{**known, "extension_dir": folder, "data_dir": folder, **host})
        self.next("ready")
        return self

    def invoke(self, name: str, args: str = "") -> dict[str, Any]:
        """The answer to a command, by its canonical name."""
        assert name in self.commands
        return self._asked("command_invoked", "command_response", name=name, args=args)

    def call(self, name: str, /, **args: Any) -> dict[str, Any]:
        """The answer to a call of a tool."""
        return self.result(self.begin_call(name, **args))

    def begin_call(self, name: str, /, **args: Any) -> str:
        """Calls a tool without waiting; `result` takes the answer."""
        assert name in self.tools
        return self._ask("tool_call", "tool_result", name=name, args=args)

    def result(self, id: str) -> dict[str, Any]:
        """The answer to the request with that id, whichever comes first."""
        return self._next(lambda frame: frame.get("id") == id, f"an answer to {id}")

    def text(self, name: str, /, **args: Any) -> str:
        """The text that a tool answers; it must not be an error."""
        answer = self.call(name, **args)
        assert not answer.get("is_error"), answer
        return "\n".join(block["text"] for block in answer["content"])

    def tell(self, event: str, **fields: Any) -> None:
        """An event that it subscribed to."""
        assert event in self.events
        self.send("event", event=event, **fields)

    def intercept(self, event: str, **fields: Any) -> dict[str, Any]:
        """The answer to an intercept, without type and id."""
        assert event in self.intercepts
        answer = self._asked("event_intercept", "event_intercept_response", event=event, **fields)
        return {key: value for key, value in answer.items() if key not in ("type", "id")}

    def key(self, panel_id: str, key: str, text: str = "") -> None:
        """A key for a panel."""
        self.send("panel_key", panel_id=panel_id, key=key, **({"text": text} if key == "rune" else {}))

    def stop(self) -> int:
        """Says `shutdown`, wants the answer and the end of the process within two seconds, and gives its status."""
        began = time.monotonic()
        self.send("shutdown")
        self.next("shutdown_ack")
        status = self.process.wait(TIMEOUT)
        assert time.monotonic() - began < 2.0, "zot would have killed it"
        assert self._frames.get(timeout=TIMEOUT) is None, "something was said after the end"
        return status

    # Hearing

    def next(self, kind: str) -> dict[str, Any]:
        """The next frame of that kind; others are kept for who asks for them."""
        return self._next(lambda frame: frame["type"] == kind, kind)

    def _ask(self, kind: str, answer: str, **fields: Any) -> str:
        self._count += 1
        id = f"{kind}-{self._count}"
        self._open[id] = answer
        self.send(kind, id=id, **fields)
        return id

    def _asked(self, kind: str, answer: str, **fields: Any) -> dict[str, Any]:
        return self.result(self._ask(kind, answer, **fields))

    def _next(self, wanted: Any, called: str) -> dict[str, Any]:
        for frame in self._kept:
            if wanted(frame):
                self._kept.remove(frame)
                return frame
        while True:
            try:
                frame = self._frames.get(timeout=TIMEOUT)
            except queue.Empty:
                raise AssertionError(f"no {called} in {TIMEOUT:.0f} s; its log:\n{self.log}") from None
            assert frame is not None, f"it ended ({self.process.wait()}) before {called}; its log:\n{self.log}"
            assert not isinstance(frame, str), frame
            self._checked(frame)
            if wanted(frame):
                return frame
            self._kept.append(frame)

    def _checked(self, frame: dict[str, Any]) -> None:
        kind = frame.get("type", "")
        assert kind in FRAMES, f"there is no such frame: {frame}"
        assert self._seen or kind == "hello", f"before hello: {frame}"
        required, optional = FRAMES[kind]
        fields = {key: value for key, value in frame.items() if key != "type"}
        assert required.keys() <= fields.keys() <= required.keys() | optional.keys(), frame
        for key, value in fields.items():
            assert isinstance(value, (required | optional)[key]), f"{key}: {frame}"
        if kind in ("hello", "ready", "subscribe", "shutdown_ack"):
            assert kind not in self._seen, f"twice: {frame}"
        self._seen.add(kind)
        if "id" in fields:
            assert self._open.pop(frame["id"], None) == kind, f"the answer to no question: {frame}"
        check = getattr(self, f"_take_{kind}", None)
        if check is not None:
            check(frame)

    def _take_register_command(self, frame: dict[str, Any]) -> None:
        assert frame["name"].lower() not in {name.lower() for name in self.commands}
        assert frame["name"] and "/" not in frame["name"] and " " not in frame["name"]
        self.commands[frame["name"]] = frame

    def _take_register_tool(self, frame: dict[str, Any]) -> None:
        assert frame["name"] not in self.tools
        assert frame["description"] and frame["schema"].get("type") == "object"
        self.tools[frame["name"]] = frame

    def _take_subscribe(self, frame: dict[str, Any]) -> None:
        assert "ready" not in self._seen
        self.events, self.intercepts = frame.get("events", []), frame.get("intercept", [])
        assert set(self.events) <= EVENTS and set(self.intercepts) <= INTERCEPTS

    def _take_notify(self, frame: dict[str, Any]) -> None:
        assert frame["level"] in ("info", "success", "warn", "error")
        self.notes.append((frame["level"], frame["message"]))

    def _take_command_response(self, frame: dict[str, Any]) -> None:
        field = ACTIONS[frame["action"]]
        given = frame.keys() & {"prompt", "insert", "display", "open_panel"}
        assert given == ({field} if field else set()), frame
        if field == "open_panel":
            self._take_panel(frame["open_panel"], "id")

    def _take_panel_render(self, frame: dict[str, Any]) -> None:
        self._take_panel({key: value for key, value in frame.items() if key != "type"}, "panel_id")

    def _take_panel(self, panel: dict[str, Any], key: str) -> None:
        assert panel.keys() == {key, "title", "lines", "footer"}
        assert all(isinstance(line, str) and "\n" not in line for line in panel["lines"])

    def _take_tool_result(self, frame: dict[str, Any]) -> None:
        assert frame["content"]
        for block in frame["content"]:
            names = {"text": {"type", "text"}, "image": {"type", "mime_type", "data"}}[block["type"]]
            assert block.keys() == names and all(isinstance(value, str) for value in block.values())

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                assert line.endswith(b"\n") and len(line) <= 4 << 20
                frame = json.loads(line.decode("utf-8"))
                assert isinstance(frame, dict)
                self._frames.put(frame)
            except (AssertionError, ValueError) as wrong:
                self._frames.put(f"no frame ({wrong!r}): {line[:300]!r}")
        self._frames.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.stderr += line
