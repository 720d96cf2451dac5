"""The strict mock as a process of its own: other programs can be tested against it too."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

SERVER = Path(__file__).parents[2] / "mock_provider" / "server.py"


def post(url: str, body: object, key: str = "k") -> tuple[int, str]:
    request = urllib.request.Request(
        f"{url}/chat/completions", json.dumps(body).encode(), {"authorization": f"Bearer {key}"}, method="POST"
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=10) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_it_answers_refuses_and_ends(tmp_path: Path) -> None:
    script = tmp_path / "replies.json"
    script.write_text(json.dumps(["hello", {"calls": [["1", "read", {"path": "x"}]]}]))
    command = [sys.executable, str(SERVER), "--script", str(script), "--key", "k"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            sound = {"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": True}
            assert post(url, sound, "wrong")[0] == 401
            assert post(url, {**sound, "messages": []})[0] == 400
            assert "hello" in post(url, sound)[1]
            assert '"name": "read"' in post(url, sound)[1]
            assert post(url, sound)[0] == 500
        finally:
            process.kill()
