"""Skills and templates on disk, and what a model is sent of them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import ChatServer, text_answer

from zot_core.testing.session import open_app
from zot_core.testing.session import run_prompt as run_one

HELLO = {"name": "hello", "description": "Says hello."}


@pytest.fixture
def put_skill() -> Callable[..., Path]:
    """`put_skill(folder, text)` or `put_skill(folder, name=..., description=...)` writes a SKILL.md, byte for byte."""

    def put(folder: Path, text: str | bytes | None = None, body: str = "Body of it.", **fields: str) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        if text is None:
            lines = (f"{key}: {value}" for key, value in ({"name": folder.name} | fields).items())
            text = "\n".join(["---", *lines, "---", body])
        file = folder / "SKILL.md"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    return put


@pytest.fixture
def put_template() -> Callable[[Path, str], Path]:
    """Writes a file and the folders above it."""

    def put(file: Path, text: str) -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    return put


@pytest.fixture
def runtime(isolated: Path) -> Any:
    """The kit's, in the home that the other fixtures write to."""
    return open_app


@pytest.fixture
def run_prompt(isolated: Path) -> Callable[..., Any]:
    """The kit's, in the home that the other fixtures write to."""
    return lambda text, **how: asyncio.run(run_one(text, **how))


@pytest.fixture
def look(isolated: Path) -> Callable[..., Any]:
    """`await look(trust=..., flags=..., plugins=[...])`: the system prompt, the notes and the names of a session."""

    async def looked(prompt: str = "Hi", **how: Any) -> Any:
        async with open_app(**how) as app:
            from zot_core.runtime.expanding import listed

            await app.prompt(prompt)
            front = app.front
            front.system = app.runtime.current_system_prompt()
            front.names = [one.name for one in listed(app.runtime)]
            front.sent = [text for text in map(_text, front.messages) if text is not None]
            front.warnings = [note.text for note in front.notes if note.level == "warning"]
            return front

    return looked


def _text(message: Any) -> str | None:
    return "".join(block.text for block in message.content) if message.role == "user" else None


@pytest.fixture
def wire() -> Callable[..., dict[str, Any]]:
    """The body of the first request that the installed command sends for a prompt, and what it says on stderr."""

    def send(prompt: str, *flags: str) -> dict[str, Any]:
        with ChatServer([text_answer("Hello")]) as server:
            line = [
                sys.executable,
                "-m",
                "zot_cli",
                "--base-url",
                server.url,
                "--model",
                "m",
                *flags,
                "-p",
                "--",
                prompt,
            ]
            done = subprocess.run(
                line, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=dict(os.environ), check=False
            )
        assert done.returncode == 0, done.stderr
        body = server.received[0].body
        return {
            "system": body["messages"][0]["content"],
            "user": _flat(body["messages"][-1]["content"]),
            "tools": [tool["function"]["name"] for tool in body["tools"]],
            "err": done.stderr,
        }

    return send


def _flat(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)
