#!/usr/bin/env python3
"""Drives `zot rpc` from Python with asyncio alone: one prompt, its answer as it comes, and questions on the way.

Usage: python_client.py PROMPT [ZOT-ARGUMENT ...]
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from itertools import count
from typing import Any


class Zot:
    """One zot process. `request` waits for its response; events come from `events`, in order."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._ids = count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.events: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, *arguments: str) -> Zot:
        """Starts zot; its notices stay on this program's stderr."""
        process = await asyncio.create_subprocess_exec(
            os.environ.get("ZOT", "zot"),
            "rpc",
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=1 << 26,  # a line may be long
        )
        return cls(process)

    async def request(self, type: str, **fields: Any) -> Any:
        """Sends a request and answers the data of its response; raises RuntimeError with its error."""
        id = next(self._ids)
        self._waiting[id] = asyncio.get_running_loop().create_future()
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"id": id, "type": type, **fields}).encode() + b"\n")
        await self._process.stdin.drain()
        response = await self._waiting[id]
        if not response["success"]:
            raise RuntimeError(response["error"])
        return response["data"]

    async def close(self) -> int:
        """Lets zot finish and answers its exit code."""
        assert self._process.stdin
        self._process.stdin.close()
        await self._reading
        return await self._process.wait()

    async def _read(self) -> None:
        assert self._process.stdout
        async for raw in self._process.stdout:
            line = json.loads(raw)
            if line["type"] == "response" and line.get("id") in self._waiting:
                self._waiting.pop(line["id"]).set_result(line)
            else:
                self.events.put_nowait(line)
        self.events.put_nowait(None)
        for waiting in self._waiting.values():
            waiting.set_exception(RuntimeError("zot has ended"))


async def ask_person(zot: Zot, request: dict[str, Any]) -> None:
    """Answers a `ui_request`. This program says yes to what it is asked; a real one would ask a person."""
    answers: dict[str, dict[str, Any]] = {
        "confirm": {"confirmed": True},
        "approve": {"confirmed": True},
        "select": {"value": (request.get("options") or [""])[0]},
        "input": {"value": request.get("placeholder", "")},
    }
    answer = answers.get(request["method"], {"cancelled": True})
    await zot.request("ui_response", request_id=request["request_id"], **answer)


async def main(prompt: str, *arguments: str) -> int:
    """Runs one prompt; 1 when the run failed."""
    zot = await Zot.start(*arguments)
    hello = await zot.request("hello", token=os.environ.get("ZOTCORE_RPC_TOKEN", ""))
    print(f"zot {hello['version']}, {hello['provider']}/{hello['model']}", file=sys.stderr)
    await zot.request("prompt", message=prompt)
    failed = False
    while (event := await zot.events.get()) is not None and event["type"] != "done":
        if event["type"] == "text_delta":
            print(event["delta"], end="", flush=True)
        elif event["type"] == "tool_call":
            print(f"[{event['name']} {json.dumps(event['args'])}]", file=sys.stderr)
        elif event["type"] == "ui_request":
            await ask_person(zot, event)
        elif event["type"] == "error":
            failed = True
            print(f"error: {event['message']}", file=sys.stderr)
    print()
    return await zot.close() or int(failed)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(asyncio.run(main(*sys.argv[1:])))
