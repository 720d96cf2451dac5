"""One-shot runs against a plain httpx script on the same server: first request, tool round trips, deltas, memory."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import ChatServer, call_answer, text_answer

SCRIPT = """
import asyncio, json, os, sys
import httpx

async def main():
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
    async with httpx.AsyncClient() as client:
        while True:
            call = None
            async with client.stream("POST", os.environ["URL"] + "/chat/completions", json=body) as answer:
                async for line in answer.aiter_lines():
                    if line.startswith("data: {"):
                        for choice in json.loads(line[6:])["choices"]:
                            sys.stdout.write(choice["delta"].get("content") or "")
                            call = call or choice["delta"].get("tool_calls")
            if not call:
                return
            text = open(json.loads(call[0]["function"]["arguments"])["path"]).read()
            body["messages"] += [
                {"role": "assistant", "tool_calls": call},
                {"role": "tool", "tool_call_id": call[0]["id"], "content": text},
            ]

asyncio.run(main())
"""


def commands(zot: str, server: ChatServer) -> tuple[list[str], list[str]]:
    """(zot, the script), asking the same server."""
    return [zot, "--base-url", server.url, "--model", "m", "--max-steps", "5000", "-p", "Hi"], [
        sys.executable,
        "-c",
        SCRIPT,
    ]


@pytest.mark.time_limit(120)
def test_first_request(compare: Any, child: Callable[..., Any], zot: str) -> None:
    with ChatServer([text_answer("Hello")]) as server:
        ours, script = commands(zot, server)

        def to_first_byte(command: list[str]) -> float:
            start = time.perf_counter()
            child(command, URL=server.url)
            return (server.received[-1].time - start) * 1000

        to_first_byte(ours)
        compare(
            "first request of -p, to its first byte",
            lambda: to_first_byte(ours),
            lambda: to_first_byte(script),
            rounds=15,
            ratio=1.6,
            at_most=210,
        )


@pytest.mark.time_limit(120)
def test_memory(compare: Any, peak_memory: Callable[..., float], zot: str) -> None:
    with ChatServer([text_answer("Hello")]) as server:
        ours, script = commands(zot, server)
        compare(
            "peak memory of a one-shot answer",
            lambda: peak_memory(ours),
            lambda: peak_memory(script, URL=server.url),
            rounds=3,
            unit="MB",
            at_most=60,
        )


@pytest.mark.time_limit(120)
def test_tool_round_trip(compare: Any, child: Callable[..., Any], zot: str, project: Path) -> None:
    (project / "a.txt").write_text("one line\n")
    path, count = str(project / "a.txt"), 200

    def cpu(command: Callable[[ChatServer], list[str]], turns: int) -> float:
        def answer(n: int) -> bytes:
            return call_answer("read", {"path": path}, f"call_{n}") if n < turns else text_answer("Done")

        with ChatServer(answer) as server:
            return float(child(command(server), URL=server.url).cpu)

    def per_turn(which: int) -> float:
        def command(server: ChatServer) -> list[str]:
            return commands(zot, server)[which]

        # Against a run with one call: what only the first call imports is no part of a round trip, and has its own row.
        return (cpu(command, count + 1) - cpu(command, 1)) / count

    def first_call(server_calls: int) -> float:
        return cpu(lambda server: commands(zot, server)[0], server_calls)

    ours, bare = min(per_turn(0) for _ in range(3)), min(per_turn(1) for _ in range(3))
    compare.keep("tool round trip, CPU", ours, bare)
    compare.keep("tool round trip, CPU of our own", ours - bare, at_most=1.2)
    once = min(first_call(1) for _ in range(3)) - min(first_call(0) for _ in range(3))
    compare.keep("the first tool call, CPU, imports included", once, bare)


@pytest.mark.time_limit(120)
def test_deltas(compare: Any, child: Callable[..., Any], zot: str) -> None:
    answer = text_answer(*("word " for _ in range(20_000)))
    with ChatServer([answer]) as server:
        ours, script = commands(zot, server)
        compare(
            "20,000 deltas to stdout, CPU",
            lambda: child(ours).cpu,
            lambda: child(script, URL=server.url).cpu,
            rounds=3,
            ratio=1.5,
        )


@pytest.mark.time_limit(300)
def test_long_run_stays_flat(compare: Any, child: Callable[..., Any], zot: str, project: Path) -> None:
    (project / "a.txt").write_text("one line\n")
    path = str(project / "a.txt")

    def answer(n: int) -> bytes:
        return call_answer("read", {"path": path}, f"call_{n}") if n < 1000 else text_answer("Done")

    def hundreds(which: int) -> tuple[float, float]:
        """Milliseconds a turn in the first hundred and in the last."""
        with ChatServer(answer) as server:
            child(commands(zot, server)[which], URL=server.url)
            times = [request.time for request in server.received]
        return (times[101] - times[1]) * 10, (times[1000] - times[900]) * 10

    runs = [(hundreds(0), hundreds(1)) for _ in range(3)]
    # The least of three for each hundred: what else the machine does only ever adds.
    ours, bare = (tuple(min(run[which][part] for run in runs) for part in (0, 1)) for which in (0, 1))
    # The body grows with the transcript for everybody; the bare loop encodes it whole each time and shows by how much.
    compare.keep("1,000 tool turns, a turn of a bare loop: last hundred", bare[1], bare[0])
    compare.keep("1,000 tool turns, a turn: last hundred", ours[1], ours[0], ratio=1.2)
