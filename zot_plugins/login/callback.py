"""The loopback server that the browser comes back to: it reads one answer, shows one page, and is gone.

What has not the right path and state is turned away and waited past: any page can send a browser here.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from contextlib import suppress
from types import TracebackType
from urllib.parse import parse_qs, urlsplit

from zot_core.types.failure import Failure, RunFailed
from zot_core.types.login import OAuthSpec
from zot_plugins.login.answers import failed

READ_S = 5.0
LARGEST = 16 << 10
"""Bytes of a request's head."""


class Callback:
    """Listens while its `async with` lasts. `redirect_uri` is where the browser is sent, `code` waits for it.

    `short` is an address that fits a line and leads on to `page`; nobody can guess it.
    """

    def __init__(self, provider: str, oauth: OAuthSpec, state: str) -> None:
        self._provider = provider
        self._oauth = oauth
        self._state = state
        self._path = oauth.redirect_path
        if oauth.state_in == "path":
            self._path = f"{self._path.rstrip('/')}/{state}"
        self._servers: list[asyncio.Server] = []
        self._open: set[asyncio.Task[None]] = set()
        self._answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._short = f"/{secrets.token_urlsafe(8)}"
        self.redirect_uri = self.short = self.page = ""

    async def __aenter__(self) -> Callback:
        port = self._oauth.redirect_port
        try:
            self._servers.append(await asyncio.start_server(self._serve, "127.0.0.1", port, limit=LARGEST))
        except OSError as error:
            why = f"port {port} of this machine, which {self._provider} sends the browser to, is taken"
            message = f"the login to {self._provider} cannot begin: {why if port else error.strerror or error}"
            raise RunFailed(Failure(kind="auth", message=message)) from error
        port = self._servers[0].sockets[0].getsockname()[1]
        if self._oauth.redirect_host == "localhost":
            with suppress(OSError):  # a machine without IPv6; browsers then take the other address
                self._servers.append(await asyncio.start_server(self._serve, "::1", port, limit=LARGEST))
        self.short = f"http://127.0.0.1:{port}{self._short}"
        self.redirect_uri = f"http://{self._oauth.redirect_host}:{port}{self._path}"
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        for server in self._servers:
            server.close()
        for task in self._open:
            task.cancel()
        if self._open:
            await asyncio.wait(self._open)
        self._answer.cancel()

    async def code(self) -> str:
        """The code that the browser brings. Raises RunFailed (kind auth) when the person or the vendor refused."""
        return await asyncio.shield(self._answer)

    def read(self, text: str) -> str:
        """The code in what a person pasted: the whole address, its query, or the code alone. Raises ValueError for
        another login's, RunFailed for a refusal."""
        text = text.strip()
        parts = urlsplit(text)
        if "://" in text:
            return self._code_in(parts.path, parts.query)
        if "code=" in text or "error=" in text:
            return self._code_in(self._path, text.lstrip("?"))
        code, _, state = text.partition("#")
        if not code or any(char.isspace() for char in code):
            raise ValueError("that is neither an address nor a code")
        if state and not hmac.compare_digest(state.encode(), self._state.encode()):
            raise ValueError("that is the answer to another login")
        return code

    def _code_in(self, path: str, query: str) -> str:
        fields = {name: values[-1] for name, values in parse_qs(query, max_num_fields=50).items()}
        if self._oauth.state_in == "path":
            right = hmac.compare_digest(path.encode(), self._path.encode())
        else:
            right = hmac.compare_digest(fields.get("state", "").encode(), self._state.encode())
        if not right:
            raise ValueError("that is the answer to another login")
        if "error" in fields:
            raise failed(self._provider, fields)
        if not fields.get("code"):
            raise ValueError("there is no code in it")
        return fields["code"]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            await self._converse(reader, writer)
        except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # no browser, or one that went away: the login waits for the next one
        except asyncio.CancelledError:
            pass  # the login is over; nobody awaits this task
        finally:
            self._open.discard(task)
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(READ_S):
            head = await reader.readuntil(b"\r\n\r\n")
        method, target, *_ = head.split(b"\r\n", 1)[0].decode("ascii").split(" ")
        parts = urlsplit(target)
        if method != "GET":
            await _say(writer, 405, "Only GET.")
        elif self.page and hmac.compare_digest(parts.path.encode(), self._short.encode()):
            await _say(writer, 302, "Go on to the login.", f"location: {self.page}\r\n")
        elif not hmac.compare_digest(parts.path.encode(), self._path.encode()):
            await _say(writer, 404, "There is nothing here.")
        elif self._answer.done():
            await _say(writer, 200, "zot has its answer already. You can close this page.")
        else:
            await self._decide(parts.path, parts.query, writer)

    async def _decide(self, path: str, query: str, writer: asyncio.StreamWriter) -> None:
        try:
            code = self._code_in(path, query)
        except ValueError:
            await _say(writer, 400, "This is not the answer that zot waits for.")
            return
        except RunFailed as error:
            try:
                await _say(writer, 200, "The login was refused. You can close this page and go back to zot.")
            finally:
                if not self._answer.done():
                    self._answer.set_exception(error)
                    self._answer.exception()  # whoever waits sees it; where nobody does, it is no fault
            return
        try:
            await _say(writer, 200, "zot has its answer. You can close this page and go back to it.")
        finally:
            if not self._answer.done():
                self._answer.set_result(code)


async def _say(writer: asyncio.StreamWriter, status: int, text: str, more: str = "") -> None:
    """A page of fixed words: nothing that came with the request is in it."""
    page = f"<!doctype html><html lang=en><meta charset=utf-8><title>zot</title><p>{text}</p></html>\n".encode()
    words = {200: "OK", 302: "Found", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed"}
    head = (
        f"HTTP/1.1 {status} {words[status]}\r\ncontent-type: text/html; charset=utf-8\r\n"
        f"content-length: {len(page)}\r\ncache-control: no-store\r\nreferrer-policy: no-referrer\r\n"
        f"content-security-policy: default-src 'none'\r\n{more}connection: close\r\n\r\n"
    )
    writer.write(head.encode() + page)
    async with asyncio.timeout(READ_S):
        await writer.drain()
