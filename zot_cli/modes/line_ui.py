"""`ctx.ui` of the line loop: questions are asked in a line and answered by the next line typed.

One question at a time, in the order asked; Ctrl-C, Ctrl-D and a timeout dismiss it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from zot_cli.plain import clean
from zot_core.ctx.null_ui import Approved, NullUi
from zot_core.frontend import Note


class LineUi(NullUi):
    """Asks through `say` (text for the terminal); `answer` is given the typed line by the loop while `asking`."""

    def __init__(self, send: Callable[[Note], None], say: Callable[[str], None]) -> None:
        super().__init__(send, "repl")
        self._say = say
        self._turn = asyncio.Lock()
        self._waiting: asyncio.Future[str | None] | None = None

    @property
    def asking(self) -> bool:
        """Whether the next line typed is an answer."""
        return self._waiting is not None and not self._waiting.done()

    def answer(self, line: str | None) -> None:
        """Gives the line to whoever asked; None dismisses the question."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(line)

    async def select(self, title: str, options: Sequence[str], *, timeout: float | None = None) -> str | None:
        """One of `options`, by its number or its text."""
        numbered = "\n".join(f"  {number}  {option}" for number, option in enumerate(options, 1))
        line = await self._ask(f"{title}\n{numbered}\nWhich? ", timeout)
        if line is None:
            return None
        if line.strip().isdigit() and 1 <= int(line) <= len(options):
            return options[int(line) - 1]
        return next((option for option in options if option == line.strip()), None)

    async def confirm(self, title: str, message: str = "", *, timeout: float | None = None) -> bool:
        """Yes only for `y` or `yes`."""
        line = await self._ask(f"{title}{': ' if message else ''}{message} [y/N] ", timeout)
        return line is not None and line.strip().lower() in ("y", "yes")

    async def input(self, title: str, placeholder: str = "", *, timeout: float | None = None) -> str | None:
        """The line typed."""
        return await self._ask(f"{title}{f' ({placeholder})' if placeholder else ''}: ", timeout)

    async def editor(self, title: str, prefill: str = "", *, timeout: float | None = None) -> str | None:
        """One line; an empty one keeps `prefill`."""
        line = await self._ask(f"{title}\n{prefill}\n(enter keeps this) ", timeout)
        return prefill if line == "" else line

    async def approve(self, call_id: str, tool_name: str, preview: str) -> Approved:
        """Asks whether the call may run: once, for this tool, or not."""
        line = await self._ask(f"{tool_name}: {preview}\nRun it? [y]es, [a]lways {tool_name}, [N]o: ", None)
        word = (line or "").strip().lower()
        if word in ("a", "always"):
            return Approved(allowed=True, remember="tool")
        if word in ("y", "yes"):
            return Approved(allowed=True)
        return Approved(allowed=False, reason="the user refused this call")

    async def _ask(self, text: str, timeout: float | None) -> str | None:
        async with self._turn:
            self._say(clean(text))
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                async with asyncio.timeout(timeout):
                    return await self._waiting
            except TimeoutError:
                return None
            finally:
                self._waiting = None
