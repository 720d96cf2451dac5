"""A small, quick server of Chat Completions on loopback, in a thread: canned streams, requests kept with their times.

It checks nothing, so that it costs nothing beside what is measured; refusing is the strict mock's trade.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Received:
    """One request: when its first byte came (perf_counter), and its body as it was sent."""

    time: float
    data: bytes

    @property
    def body(self) -> dict[str, Any]:
        """The JSON of the body, parsed when asked for: the server's own work shall not show in what is measured."""
        return dict(json.loads(self.data))


def chunk(delta: dict[str, Any], finish: str | None = None, usage: dict[str, int] | None = None) -> bytes:
    """One server-sent event of a streamed answer."""
    choices = [] if usage else [{"index": 0, "delta": delta, "finish_reason": finish}]
    data = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "m",
        "choices": choices,
        "usage": usage,
    }
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def text_answer(*deltas: str) -> bytes:
    """A whole answer of text."""
    return _answer([chunk({"content": delta}) for delta in deltas], "stop")


def call_answer(name: str, args: dict[str, Any], call_id: str = "call_1") -> bytes:
    """A whole answer that calls one tool."""
    function = {"name": name, "arguments": json.dumps(args)}
    call = {"index": 0, "id": call_id, "type": "function", "function": function}
    return _answer([chunk({"role": "assistant", "tool_calls": [call]})], "tool_calls")


def _answer(parts: list[bytes], finish: str) -> bytes:
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return b"".join([*parts, chunk({}, finish), chunk({}, usage=usage), b"data: [DONE]\n\n"])


class ChatServer:
    """Answers the n-th request with `answer(n)` (from 0). A context manager; `url` is its base URL."""

    def __init__(self, answer: Callable[[int], bytes] | Sequence[bytes]) -> None:
        self._answer = answer if callable(answer) else lambda n: answer[min(n, len(answer) - 1)]
        self.received: list[Received] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"

    def __enter__(self) -> ChatServer:
        self._start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()

    def _start(self, target: Callable[..., None], *args: Any) -> None:
        threading.Thread(target=target, args=args, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as stream:
            try:
                while self._one(connection, stream):
                    pass
            except (ConnectionError, TimeoutError):
                return

    def _one(self, connection: socket.socket, stream: Any) -> bool:
        line = stream.readline()
        if not line:
            return False
        now = time.perf_counter()
        length = 0
        while (header := stream.readline()) not in (b"\r\n", b""):
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        body = stream.read(length)
        self.received.append(Received(now, body))
        data = self._answer(len(self.received) - 1)
        connection.sendall(HEAD + f"{len(data):x}\r\n".encode() + data + b"\r\n0\r\n\r\n")
        return True
