"""The clients of examples/rpc, run as they stand against the installed command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "rpc"
CLIENTS = [
    pytest.param([sys.executable, str(FOLDER / "python_client.py")], id="python"),
    pytest.param(["node", str(FOLDER / "node_client.mjs")], id="node", marks=pytest.mark.needs("node")),
    pytest.param(["sh", str(FOLDER / "shell_client.sh")], id="shell"),
]
ASKS = """
from zot_core import Block, hookimpl

@hookimpl
async def tool_call(event, ctx):
    if not await ctx.ui.confirm("Run it?", event.tool_name):
        return Block("the client said no")
"""


def run(client: list[str], prompt: str, *argv: str, **env: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [*client, prompt, "--provider", "scripted", *argv],
        env={**os.environ, "PATH": path, **env},
        capture_output=True,
        text=True,
        timeout=25,
        stdin=subprocess.DEVNULL,
    )


def script(folder: Path, *replies: object) -> str:
    path = folder / "script.json"
    path.write_text(json.dumps(list(replies)), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_prompt_with_a_tool_a_question_and_odd_text(client: list[str], project: Path, tmp_path: Path) -> None:
    call = {"tool_call": {"id": "c1", "name": "bash", "args": {"command": "echo x > ran.txt"}}}
    path = script(tmp_path, [call], [{"text": ["Grüße,\u2028 ", "“you”."]}])
    (tmp_path / "asks.py").write_text(ASKS, encoding="utf-8")
    prompt = 'say "hi"\nto C:\\temp\tand é'
    done = run(client, prompt, "--plugin", str(tmp_path / "asks.py"), "--session", "s.jsonl", ZOT_SCRIPT=path)
    assert done.returncode == 0, done.stderr
    assert "Grüße" in done.stdout and "“you”." in done.stdout
    assert (project / "ran.txt").exists() is ("sh" not in client)
    first = next(line for line in (project / "s.jsonl").read_text().splitlines() if '"role":"user"' in line)
    assert json.loads(first)["message"]["content"][0]["text"] == prompt


@pytest.mark.parametrize("client", CLIENTS)
def test_a_token_and_a_run_that_fails(client: list[str], tmp_path: Path) -> None:
    path = script(tmp_path, [{"error": {"kind": "auth", "message": "no such key", "retryable": False}}])
    done = run(client, "x", ZOT_SCRIPT=path, ZOTCORE_RPC_TOKEN="open-sesame")
    assert done.returncode == 1 and "no such key" in done.stderr
