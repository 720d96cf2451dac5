"""No child of zot sees a credential: neither commands of the model nor extensions, whatever names the variable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.extension_scripts import script

HIDDEN = {
    "OPENAI_API_KEY": "a-provider's",
    "AWS_BEARER_TOKEN_BEDROCK": "a-cloud's",
    "LLAMA_API_KEY": "a-local-server's",
    "LM_API_TOKEN": "a-local-server's",
    "MINE_KEY": "apiKey",
    "MINE_TOKEN": "header",
    "MINE_MODEL": "a-model's-header",
    "MINE_CHANGE": "a-change's-header",
}
SHOWN = {
    "AWS_REGION": "us-east-1",
    "AWS_PROFILE": "work",
    "AWS_ACCESS_KEY_ID": "the-person's other programs'",  # zot's own only while Bedrock answers: test_bedrock_print
    "TEAM_ROOM": "42",
    "MINE_COMMAND": "the-shell's",
}
MODELS = {
    "providers": {
        "mine": {
            "api": "openai-completions",
            "baseUrl": "http://127.0.0.1:9/v1",
            "apiKey": "$MINE_KEY",
            "headers": {"x-a": "Bearer ${MINE_TOKEN}", "x-home": "$HOME", "x-plain": "$$TEAM_ROOM costs"},
            "models": [{"id": "m", "headers": {"x-b": "$MINE_MODEL"}}],
        },
        "openai": {"modelOverrides": {"gpt-6.2-sol": {"headers": {"x-c": "${MINE_CHANGE}"}}}},
        "other": {"baseUrl": "http://127.0.0.1:9/v1", "apiKey": "!echo $MINE_COMMAND"},
    }
}
EXTENSION = """
hello()
note(type="environment", names=sorted(os.environ))
emit("ready")
for frame in frames():
    pass
"""


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, zot_home: Path) -> None:
    for name, value in {**HIDDEN, **SHOWN}.items():
        monkeypatch.setenv(name, value)
    (zot_home / "models.json").write_text(json.dumps(MODELS), encoding="utf-8")


def test_commands_see_no_credential_and_all_the_rest(zot: Any, project: Path) -> None:
    zot.script([{"tool_call": {"name": "bash", "args": {"command": "env > seen.txt"}}}], ["Done."])
    done = zot("-p", "Look around")
    assert (done.code, done.err) == (0, "")
    seen = dict(line.split("=", 1) for line in (project / "seen.txt").read_text().splitlines() if "=" in line)
    assert not seen.keys() & HIDDEN.keys()
    assert SHOWN.items() <= seen.items()
    assert {"HOME", "PATH"} <= seen.keys()


def test_extensions_see_no_credential_and_all_the_rest(zot: Any, isolated: Path) -> None:
    extension = script(isolated / "extensions", "watcher", EXTENSION)
    zot.script(["Done."])
    done = zot("--ext", str(extension.folder), "-p", "Hello")
    assert (done.code, done.err) == (0, "")
    (seen,) = extension.of("environment")
    assert not set(seen["names"]) & HIDDEN.keys()
    assert SHOWN.keys() | {"HOME", "PATH"} <= set(seen["names"])
