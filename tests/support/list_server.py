"""A server on loopback that answers GET requests with JSON by path, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


class ListServer:
    """`pages` are answers by path (without the query); a number is a status, bytes are a body as it is.

    `go`, when given, is waited for before each answer.
    """

    def __init__(self, pages: Mapping[str, Any], go: threading.Event | None = None) -> None:
        self.pages = dict(pages)
        self.asked: list[tuple[str, dict[str, str]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
                if go is not None:
                    go.wait(20)
                page = outer.pages.get(self.path.partition("?")[0], 404)
                body = (
                    b"{}" if isinstance(page, int) else page if isinstance(page, bytes) else json.dumps(page).encode()
                )
                self.send_response(page if isinstance(page, int) else 200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:
                    pass  # the client went away

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing is printed."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [path for path, _ in self.asked]

    def __enter__(self) -> ListServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
