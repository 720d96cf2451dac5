"""RPC: a request's way there and back over that of a bare pipe, and events beside `--json`."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

ECHO = "import sys\nfor line in sys.stdin.buffer:\n    sys.stdout.buffer.write(line)\n    sys.stdout.buffer.flush()\n"
PING = b'{"id":1,"type":"ping"}\n'


def talk(command: list[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **env}
    )


def round_trip(process: subprocess.Popen[bytes], times: int = 300) -> float:
    """The median of `times` pings, in ms."""
    assert process.stdin and process.stdout
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        process.stdin.write(PING)
        process.stdin.flush()
        process.stdout.readline()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1000


def end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin and process.stdout
    process.stdin.close()
    process.stdout.read()
    process.stdout.close()
    process.wait()


@pytest.mark.time_limit(120)
def test_a_ping(compare: Any, zot: str, installed: Mapping[str, str]) -> None:
    ours = talk([zot, "rpc", "--provider", "scripted"], installed)
    echo = talk([sys.executable, "-S", "-c", ECHO], installed)
    try:
        round_trip(ours, 50)
        floor = round_trip(echo)
        value = round_trip(ours)
        for _ in range(4):
            floor, value = min(floor, round_trip(echo)), min(value, round_trip(ours))
        compare.keep("ping over RPC, over an echo through a bare pipe", value, floor, at_most=1.0)
    finally:
        end(ours)
        end(echo)


@pytest.mark.time_limit(180)
def test_a_flood_of_deltas(compare: Any, zot: str, installed: Mapping[str, str], tmp_path: Path) -> None:
    count = 50_000
    script, requests = tmp_path / "script.json", b'{"type":"prompt","message":"x"}\n'
    script.write_text(json.dumps([[{"text": [f"word {number} " for number in range(count)]}]]), encoding="utf-8")

    def flood(*argv: str) -> float:
        """From the first delta to the last line, in ms: what starting costs is not the question."""
        process = talk([zot, *argv, "--provider", "scripted", "--no-session"], {**installed, "ZOT_SCRIPT": str(script)})
        assert process.stdin and process.stdout
        process.stdin.write(requests)
        process.stdin.close()
        deltas, first = 0, 0.0
        for line in process.stdout:
            if line.startswith(b'{"type":"text_delta"'):
                first = first or time.perf_counter()
                deltas += 1
            elif line == b'{"type":"done"}\n':
                break
        taken = (time.perf_counter() - first) * 1000
        end(process)
        assert deltas == count
        return taken

    compare(
        "50,000 deltas over RPC, over --json",
        lambda: flood("rpc"),
        lambda: flood("--json"),
        rounds=6,
        ratio=1.25,
    )
