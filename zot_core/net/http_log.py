"""`ZOT_LOG_HTTP=FILE`: every request and reply in a private file, one JSON object a line, secrets removed.

Imported only when the variable is set. A log that cannot be written is said once, and the requests go on.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from zot_core.net.client import HttpClient, HttpResponse, NetError, Timeouts
from zot_core.net.redact import clean_body, clean_headers, clean_text, clean_url, secrets_in

LONGEST_LINE: Final = 1 << 20
"""Bytes of a body's line that are kept; the rest of a longer one is left out."""


class LoggedClient(HttpClient):
    """A client that writes down what it sends and gets.

    A request has `request` (method, url, headers, body), then `response` (status, headers), a `line` for each line of
    the body as it comes, and `end`, with the error if there was one; `n` numbers the requests of the process.
    """

    def __init__(
        self,
        path: str,
        warn: Callable[[str], None],
        timeouts: Timeouts | None = None,
        *,
        proxy: str = "",
        verify: bool = True,
    ) -> None:
        super().__init__(timeouts, proxy=proxy, verify=verify)
        self._log = _Log(path, warn)
        self._count = 0
        self._secrets: set[str] = set()

    @asynccontextmanager
    async def stream(
        self, method: str, url: str, *, headers: Mapping[str, str], content: bytes | None = None
    ) -> AsyncIterator[HttpResponse]:
        self._count += 1
        number = self._count
        self._secrets |= secrets_in(headers)
        kind = next((value for name, value in headers.items() if name.lower() == "content-type"), "")
        self._write(
            number,
            "request",
            method=method,
            url=clean_url(url, self._secrets),
            headers=clean_headers(headers, self._secrets),
            body=clean_body((content or b"").decode("utf-8", "replace"), kind, self._secrets),
        )
        error = ""
        try:
            async with super().stream(method, url, headers=headers, content=content) as response:
                self._secrets |= secrets_in(response.headers)
                self._write(
                    number,
                    "response",
                    status=response.status,
                    headers=clean_headers(response.headers, self._secrets),
                )
                lines = _Lines(lambda line: self._line(number, line))
                response.watch(lines.feed)
                try:
                    yield response
                finally:
                    lines.finish()
        except NetError as failure:
            error = f"{failure.kind}: {failure}"
            raise
        except BaseException as failure:
            error = type(failure).__name__
            raise
        finally:
            self._write(number, "end", **({"error": clean_text(error, self._secrets)} if error else {}))

    async def aclose(self) -> None:
        await super().aclose()
        self._log.close()

    def _line(self, number: int, line: bytes) -> None:
        self._write(number, "line", text=clean_body(line.decode("utf-8", "replace"), secrets=self._secrets))

    def _write(self, number: int, what: str, **fields: Any) -> None:
        self._log.write({"time": round(time.time(), 3), "n": number, "what": what, **fields})


class _Lines:
    """Cuts a body into lines, so that a secret is never cut in two before it is looked for."""

    def __init__(self, take: Callable[[bytes], None]) -> None:
        self._take = take
        self._rest = bytearray()
        self._too_long = False

    def feed(self, chunk: bytes) -> None:
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            self._add(line)
            self.finish()
        self._add(rest)

    def finish(self) -> None:
        line = bytes(self._rest).removesuffix(b"\r")
        if self._too_long:
            # What is cut off may be the rest of a secret; its beginning would stand at the very end
            line = line[:-256] + b" [the rest of this line is left out]"
        if line:
            self._take(line)
        self._rest.clear()
        self._too_long = False

    def _add(self, piece: bytes) -> None:
        room = LONGEST_LINE - len(self._rest)
        self._too_long = self._too_long or len(piece) > room
        self._rest += piece[:room]


class _Log:
    """The file: made private, appended to, given up with one warning."""

    def __init__(self, path: str, warn: Callable[[str], None]) -> None:
        self._path = os.path.expanduser(path)  # noqa: PTH111 - no Path where a start has none yet
        self._warn = warn
        self._descriptor: int | None = None
        self._broken = False

    def write(self, row: Mapping[str, Any]) -> None:
        if self._broken:
            return
        try:
            if self._descriptor is None:
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
                # A named pipe that nobody reads would hold the first request for ever
                self._descriptor = os.open(self._path, flags | getattr(os, "O_NONBLOCK", 0), 0o600)
                if hasattr(os, "O_NONBLOCK"):
                    os.set_blocking(self._descriptor, True)
                if hasattr(os, "fchmod"):
                    os.fchmod(self._descriptor, 0o600)
            os.write(self._descriptor, json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        except OSError as error:
            self._broken = True
            self._warn(f"ZOT_LOG_HTTP: {self._path} cannot be written: {error.strerror or error}")

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
