"""Model servers that other people wrote, from the package registry, run as processes of an environment of their own.

llama.cpp's server (`xllamacpp`) with a model file made here, and LLMock, which plays four vendors and their faults.
`.ci/third-party.txt` names the packages; `THIRD_PARTY_PYTHON` names the interpreter that has them.
"""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from support import tiny_gguf

VARIABLE = "THIRD_PARTY_PYTHON"
KEY = "key-of-the-tiny-server"
MODEL = "tiny"
CONTEXT = 16_384
TEMPLATE = """\
{%- if tools %}<|system|>{% for tool in tools %}{{ tool | tojson }}
{% endfor %}Answer a call as JSON with name and arguments within <tool_call></tool_call>.<|end|>{% endif -%}
{%- for message in messages %}<|{{ message.role }}|>
{% if message.reasoning_content %}<think>{{ message.reasoning_content }}</think>{% endif %}
{%- if message.role == 'tool' %}<tool_response>{{ message.content }}</tool_response>
{%- else %}{{ message.content or '' }}{% endif %}
{%- for call in message.tool_calls or [] %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|end|>
{% endfor -%}
{%- set last = messages[-1] %}
{%- if add_generation_prompt %}<|assistant|>
{% if last.role == 'tool' %}<|after|>
{%- elif 'for ever' in last.content %}<|ever|>
{%- elif 'Read' in last.content %}<|call|>
{%- elif 'Think' in last.content %}<|think|>
{%- else %}<|say|>{% endif %}{% endif -%}
"""
"""The model's script: by the last message, the answer begins with one of the keys below."""
ANSWERS = {
    "<|say|>": ["Hello", " from", " a", " file 👍"],
    "<|after|>": ["It", " says", " data."],
    "<|call|>": ["<tool_call>", '\n{"name": "read", "arguments": {"path"', ': "a.txt"}}\n', "</tool_call>"],
    "<|think|>": ["<think>", "Let me", " see.", "</think>", "\n\nI", " have", " thought."],
    "<|ever|>": [" on", " and", "…"],
}
LLAMA = """
import sys, threading
import xllamacpp

params = xllamacpp.CommonParams()
params.model.path, key, params.n_ctx = sys.argv[1], sys.argv[2], int(sys.argv[3])
params.model_alias, params.api_keys = ["tiny"], [key]
params.port, params.n_parallel, params.n_gpu_layers, params.warmup, params.verbosity = 0, 1, 0, False, 1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
threading.Event().wait()
"""
LLMOCK = """
import socket
import uvicorn
from llmock.main import create_app

listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
print("http://127.0.0.1:%d" % listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(create_app(), log_level="error")).run(sockets=[listener])
"""


class ThirdParty:
    """One such server; a context manager. `url` is its address without a path."""

    def __init__(self, script: str, *argv: str) -> None:
        self._command = [interpreter(), "-c", script, *argv]
        self._process: subprocess.Popen[str] | None = None
        self.url = ""

    def __enter__(self) -> ThirdParty:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        if not self.url:
            self.kill()
            raise RuntimeError(f"the server did not start: {self._command[0]}, code {self._process.returncode}")
        return self

    def __exit__(self, *exc: object) -> None:
        self.kill()

    def kill(self) -> None:
        """Ends it as a power failure would."""
        process = self._process
        if process is not None and process.stdout is not None:
            process.kill()
            process.wait()
            process.stdout.close()


class Llama(ThirdParty):
    """llama.cpp's server with the model of this module."""

    def __init__(self, folder: Path) -> None:
        path = folder / "tiny.gguf"
        tiny_gguf.write(path, TEMPLATE, ANSWERS, CONTEXT)
        super().__init__(LLAMA, str(path), KEY, str(CONTEXT))


class LLMock(ThirdParty):
    """LLMock, told by its own control address what to answer and what to break."""

    def __init__(self) -> None:
        super().__init__(LLMOCK)

    def plays(self, *behaviors: dict[str, Any]) -> None:
        """Forgets what was, and queues these."""
        self._call("reset", {})
        self._call("scenario", {"behaviors": list(behaviors)})

    def verdict(self) -> list[str]:
        """What it found wrong with its client, as codes."""
        return [finding["code"] for finding in self._call("verdict")["findings"]]

    def requests(self) -> list[dict[str, Any]]:
        """The model requests that came since the last script."""
        rows: list[dict[str, Any]] = self._call("requests")["requests"]
        return [row for row in rows if row["method"] == "POST"]

    def _call(self, name: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/_llmock/{name}", data, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)


def interpreter() -> str:
    """The interpreter that has the servers. Without one the test is skipped, in CI it fails."""
    path = os.environ.get(VARIABLE, "")
    if not path:
        reason = (
            f"no servers of others: put `.ci/third-party.txt` into an environment, and name its python in {VARIABLE}"
        )
        pytest.fail(reason, pytrace=False) if os.environ.get("CI") else pytest.skip(reason)
    return path
