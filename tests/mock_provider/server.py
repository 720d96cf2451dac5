"""A strict model server on 127.0.0.1 for tests: in a thread, or as a process of its own.

It plays one `Reply` a request, in order, records what it was sent, and first refuses with 400 what real servers refuse.
Raw asyncio streams and no HTTP library, so that every byte, cut and pause is the test's. Pauses are events, not sleeps.

    with MockServer(replies=[text("Hello")]) as server: ...server.url, server.requests
    python tests/mock_provider/server.py --script replies.json     prints its URL, runs until it is killed
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mock_provider import clouds, strict_anthropic, strict_chat, strict_google, strict_responses
from mock_provider.strict_chat import Refused

PATIENCE = 30.0
"""Seconds after which a test that never lets a hold go is given up on."""


class Hold:
    """A point in a reply at which the server waits until the test says `release()`; `reached` waits for the server."""

    def __init__(self) -> None:
        self._go = threading.Event()
        self._here = threading.Event()

    def release(self) -> None:
        self._go.set()

    def reached(self) -> None:
        """Blocks until the server stands here. Raises TimeoutError if it never comes."""
        if not self._here.wait(PATIENCE):
            raise TimeoutError("the server did not come to this point")

    async def wait(self) -> None:
        self._here.set()
        await asyncio.to_thread(self._go.wait, PATIENCE)


@dataclass(kw_only=True)
class Reply:
    """One response. `body` is bytes, text, JSON objects (each one event) and holds, in order.

    `piece` is the size of a write in bytes (0: a write for each element); `cut` ends the connection without the end of
    the body; `done` adds the end marker after a body of events.
    """

    body: Sequence[bytes | str | Mapping[str, Any] | Hold] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "text/event-stream"
    piece: int = 0
    cut: bool = False
    done: bool = True
    crlf: bool = False
    strict: bool = True


@dataclass(kw_only=True)
class Received:
    """One request as it came: header names in lower case, `body` decoded JSON or None."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    body: Any
    refused: str = ""
    connection: int = 0


def chunk(delta: Mapping[str, Any] | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """One chunk of a Chat Completions stream."""
    choice = {"index": 0, "delta": {} if delta is None else dict(delta), "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "mock",
        "choices": [choice],
        **more,
    }


def usage(prompt: int = 10, completion: int = 5, cached: int = 0) -> dict[str, Any]:
    """The chunk that brings the usage, with no choices."""
    counts = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "mock", "choices": [], "usage": counts}


def text(*pieces: str, finish: str = "stop", **options: Any) -> Reply:
    """A reply that says `pieces`."""
    first = [chunk({"role": "assistant", "content": ""})]
    return Reply(
        body=[*first, *(chunk({"content": piece}) for piece in pieces), chunk(finish=finish), usage()], **options
    )


def calls(*wanted: tuple[str, str, Mapping[str, Any]], say: str = "", **options: Any) -> Reply:
    """A reply that calls tools, each (id, name, args), as OpenAI sends them: start, then arguments in fragments."""
    body: list[Any] = [chunk({"role": "assistant", "content": say or None})]
    for index, (call_id, name, args) in enumerate(wanted):
        start = {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
        body.append(chunk({"tool_calls": [start]}))
        raw = json.dumps(args, ensure_ascii=False)
        half = len(raw) // 2
        for piece in (raw[:half], raw[half:]):
            body.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
    return Reply(body=[*body, chunk(finish="tool_calls"), usage()], **options)


def error(status: int, message: str, code: str = "", kind: str = "", **options: Any) -> Reply:
    """A refusal in OpenAI's form."""
    body = json.dumps({"error": {"message": message, "type": kind or None, "code": code or None, "param": None}})
    return Reply(body=[body.encode()], status=status, content_type="application/json", done=False, **options)


def _google_error(status: int, message: str, code: str = "", kind: str = "") -> Reply:
    names = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 404: "NOT_FOUND"}
    body = json.dumps({"error": {"code": status, "message": message, "status": names.get(status, "INTERNAL")}})
    return Reply(body=[body.encode()], status=status, content_type="application/json", done=False)


def _anthropic_error(status: int, message: str, code: str = "", kind: str = "") -> Reply:
    kinds = {401: "authentication_error", 500: "api_error"}
    body = {"type": "error", "error": {"type": kinds.get(status, "invalid_request_error"), "message": message}}
    return Reply(body=[json.dumps(body).encode()], status=status, content_type="application/json", done=False)


@dataclass(frozen=True, kw_only=True)
class Route:
    """One format that the server speaks: which paths are its, what it refuses, in which form, and where its key is.

    `check` gets the body, and the path too if `wants_path`; it raises an exception of class `refused`. `admit` looks at
    the whole request before, in the place of header and key, and answers in the server's stead, or None to go on.
    """

    matches: Callable[[str], bool]
    check: Callable[..., None]
    refused: type[Exception] = Refused
    error: Callable[..., Reply] = error
    header: str = "authorization"
    scheme: str = "Bearer "
    wants_path: bool = False
    admit: Callable[[Received], Reply | None] | None = None


def _aws_error(status: int, message: str, code: str = "", kind: str = "") -> Reply:
    body, name = json.dumps({"message": message}), kind or "ValidationException"
    headers = {"x-amzn-errortype": f"{name}:http://internal.amazon.com/"}
    return Reply(body=[body.encode()], status=status, content_type="application/json", done=False, headers=headers)


def _aws_admits(received: Received) -> Reply | None:
    why = clouds.check_signature(received.method, received.path, received.headers, received.raw)
    kind, _, message = why.partition(": ")
    return _aws_error(403, message, kind=kind) if why else None


def _google_admits(received: Received) -> Reply | None:
    if received.headers.get("authorization") != f"Bearer {clouds.TOKEN}":
        return _google_error(401, "Request had invalid authentication credentials.")
    return None


def _token(received: Received) -> Reply:
    answer = clouds.token_answer(received.raw)
    body = json.dumps(answer or {"error": "invalid_grant", "error_description": "Invalid grant"})
    status = 200 if answer else 400
    return Reply(body=[body.encode()], status=status, content_type="application/json", done=False)


ROUTES: list[Route] = [
    Route(matches=clouds.is_bedrock, check=clouds.check_bedrock, error=_aws_error, wants_path=True, admit=_aws_admits),
    Route(
        matches=clouds.is_vertex, check=clouds.check_vertex, error=_google_error, wants_path=True, admit=_google_admits
    ),
    Route(matches=lambda path: path == "/token", check=lambda body: None, admit=_token),
    Route(matches=lambda path: path.endswith("/chat/completions"), check=strict_chat.check),
    Route(matches=lambda path: path.endswith("/responses"), check=strict_responses.check),
    Route(
        matches=lambda path: path.endswith("/messages"),
        check=strict_anthropic.check,
        error=_anthropic_error,
        header="x-api-key",
        scheme="",
    ),
    Route(
        matches=lambda path: path.endswith(":streamGenerateContent"),
        check=strict_google.check,
        error=_google_error,
        header="x-goog-api-key",
        scheme="",
        wants_path=True,
    ),
]


class MockServer:
    """The server; a context manager that runs it in a thread. `replies` may be extended while it runs."""

    def __init__(self, replies: Iterable[Reply] = (), port: int = 0, key: str = "") -> None:
        self.replies: list[Reply] = list(replies)
        self.requests: list[Received] = []
        self.connections = 0
        self.key = key
        """If set, requests with another bearer key get 401."""
        self.port = port
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stop: asyncio.Event | None = None
        self._ready = threading.Event()

    @property
    def url(self) -> str:
        """The base URL, ending in /v1."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def bodies(self) -> list[Any]:
        """The JSON of every request."""
        return [request.body for request in self.requests]

    @property
    def refusals(self) -> list[str]:
        """What was refused, which a test of a good client wants empty."""
        return [request.refused for request in self.requests if request.refused]

    def __enter__(self) -> MockServer:
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)
        self._thread.start()
        if not self._ready.wait(PATIENCE):
            raise RuntimeError("the mock server did not start")
        return self

    def __exit__(self, *exc: object) -> None:
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread is not None:
            self._thread.join(PATIENCE)

    async def serve(self) -> None:
        """Serves until the context ends, or for ever."""
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        tasks: set[asyncio.Task[None]] = set()

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            self.connections += 1
            try:
                await self._connection(reader, writer, self.connections)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass  # clients come and go
            finally:
                writer.close()
                tasks.discard(task)

        server = await asyncio.start_server(accept, "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, path, _ = head[0].split(" ", 2)
            headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
            raw = await reader.readexactly(int(headers.get("content-length", "0")))
            try:
                body = json.loads(raw)
            except ValueError:
                body = None
            received = Received(method=method, path=path, headers=headers, raw=raw, body=body, connection=number)
            self.requests.append(received)
            reply = self._reply(received)
            await _send(writer, reply)
            if reply.cut:
                return

    def _reply(self, received: Received) -> Reply:
        path = received.path.partition("?")[0]
        route = next((route for route in ROUTES if route.matches(path)), None)
        if route is None:
            return error(404, f"Invalid URL ({received.method} {received.path})", "", "invalid_request_error")
        sent = received.headers.get(route.header, "")
        if route.admit is not None:
            if (instead := route.admit(received)) is not None:
                return instead
        elif self.key and sent != f"{route.scheme}{self.key}":
            sent = sent.removeprefix(route.scheme)
            return route.error(
                401, f"Incorrect API key provided: {sent}.", code="invalid_api_key", kind="invalid_request_error"
            )
        if not self.replies or self.replies[0].strict:
            try:
                route.check(received.body, *([received.path] if route.wants_path else []))
            except route.refused as refusal:
                received.refused = str(refusal)
                kind = "" if route.error is _aws_error else "invalid_request_error"
                return route.error(400, str(refusal), code="invalid_value", kind=kind)
        if not self.replies:
            return route.error(500, "the mock has no reply left", kind="server_error")
        return self.replies.pop(0)


async def _send(writer: asyncio.StreamWriter, reply: Reply) -> None:
    head = [f"HTTP/1.1 {reply.status} Mock", f"content-type: {reply.content_type}", "transfer-encoding: chunked"]
    head.extend(f"{name}: {value}" for name, value in reply.headers.items())
    writer.write("\r\n".join([*head, "", ""]).encode("latin-1"))
    await writer.drain()
    for element in (*reply.body, *(["data: [DONE]\n\n"] if reply.done and not reply.cut else [])):
        if isinstance(element, Hold):
            await element.wait()
            continue
        data = _encoded(element)
        if reply.crlf:
            data = data.replace(b"\n", b"\r\n")
        size = reply.piece or len(data) or 1
        for start in range(0, len(data), size):
            piece = data[start : start + size]
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await writer.drain()
            if reply.piece:
                await asyncio.sleep(0)
    if reply.cut:
        writer.transport.abort()
        return
    writer.write(b"0\r\n\r\n")
    await writer.drain()


def _encoded(element: Any) -> bytes:
    if isinstance(element, bytes):
        return element
    if isinstance(element, str):
        return element.encode()
    return f"data: {json.dumps(element, ensure_ascii=False)}\n\n".encode()


def replies_of(value: Any) -> list[Reply]:
    """Replies from JSON, for the process: a text, or an object with `text`, `calls`, `error`, or Reply's fields."""
    replies = []
    for row in value:
        if isinstance(row, str):
            replies.append(text(row))
        elif "text" in row:
            replies.append(text(*([row["text"]] if isinstance(row["text"], str) else row["text"])))
        elif "calls" in row:
            replies.append(calls(*(tuple(call) for call in row["calls"])))
        elif "error" in row:
            replies.append(error(**row["error"]))
        else:
            replies.append(Reply(**row))
    return replies


def main() -> None:
    """The server as a process: the URL is the first line on stdout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path, help="JSON list of replies")
    parser.add_argument("--key", default="")
    options = parser.parse_args()
    replies = replies_of(json.loads(options.script.read_text())) if options.script else []

    async def run() -> None:
        server = MockServer(replies, options.port, options.key)
        task = asyncio.create_task(server.serve())
        while not server._ready.is_set():
            await asyncio.sleep(0.01)
        print(server.url, flush=True)
        await task

    asyncio.run(run())


if __name__ == "__main__":
    main()
