"""`ctx.ui` of the line loop: questions are asked in a line and answered by the next line typed.

One question at a time, in the order asked, and again until the answer is understood; Ctrl-C, Ctrl-D and a timeout
dismiss it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

from zot_cli.modes.echo import unechoed
from zot_cli.plain import clean, one_line
from zot_cli.stdio import fitted
from zot_core.ctx.null_ui import Approved, NullUi
from zot_core.frontend import Note

T = TypeVar("T")


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
        """One of `options`, by its number or its text; Enter alone takes the first."""
        if not options:
            return None
        numbered = "\n".join(f"  {number}  {option}" for number, option in enumerate(options, 1))

        def meant(typed: str) -> str:
            line = typed.strip()
            if line.isdecimal() and 1 <= int(line) <= len(options):
                return options[int(line) - 1]
            named = [option for option in options if option.strip().casefold() == line.casefold()]
            if line and not named:
                raise _Unclear(f"a number from 1 to {len(options)}, or Enter for 1")
            return named[0] if named else options[0]

        return await self._ask(f"{title}\n{numbered}\nWhich? [1] ", timeout, meant)

    async def confirm(self, title: str, message: str = "", *, timeout: float | None = None) -> bool:
        """Yes only for `y` or `yes`."""
        colon = "" if title.rstrip().endswith(("?", "!", ":", ".", "…")) else ":"
        asked = f"{title.rstrip()}{colon} {message}" if message else title
        return await self._ask(f"{asked} [y/N] ", timeout, _yes) or False

    async def input(
        self, title: str, placeholder: str = "", *, timeout: float | None = None, hidden: bool = False
    ) -> str | None:
        """The line typed; the terminal does not echo a hidden one."""
        asked = f"{title}{f' ({placeholder})' if placeholder else ''}: "
        return await self._ask(asked, timeout, str, unechoed if hidden else nullcontext)

    async def editor(self, title: str, prefill: str = "", *, timeout: float | None = None) -> str | None:
        """One line; an empty one keeps `prefill`."""
        line = await self._ask(f"{title}\n{prefill}\n(enter keeps this) ", timeout, str)
        return prefill if line == "" else line

    async def approve(self, call_id: str, tool_name: str, preview: str) -> Approved:
        """Asks whether the call may run: once, for this tool, or not."""
        asked = f"{tool_name}: {preview}\nRun it? [y]es, [a]lways {tool_name}, [N]o: "
        return await self._ask(asked, None, _approved) or _REFUSED

    async def _ask(
        self,
        text: str,
        timeout: float | None,
        meant: Callable[[str], T],
        around: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> T | None:
        """What the answer means; asked again for one that is not understood. None when nobody answered."""
        async with self._turn:
            try:
                with around():
                    self._put(text)
                    async with asyncio.timeout(timeout):
                        while (line := await self._next()) is not None:
                            try:
                                return meant(line)
                            except _Unclear as hint:
                                self._put(f"{one_line(line, 40)!r} is not understood; {hint}: ")
                        return None
            except TimeoutError:
                return None

    async def _next(self) -> str | None:
        self._waiting = asyncio.get_running_loop().create_future()
        try:
            return await self._waiting
        finally:
            self._waiting = None

    def _put(self, text: str) -> None:
        # The blank before the cursor is no end of a line.
        text = clean(text)
        asked = text.rstrip(" ")
        self._say(fitted(asked, 1) + text[len(asked) :])


class _Unclear(Exception):
    """A line that is no answer; its text says what would be one."""


_REFUSED = Approved(allowed=False, reason="the user refused this call")


def _yes(line: str) -> bool:
    word = line.strip().lower()
    if word not in ("y", "yes", "n", "no", ""):
        raise _Unclear("y or n")
    return word in ("y", "yes")


def _approved(line: str) -> Approved:
    if line.strip().lower() in ("a", "always"):
        return Approved(allowed=True, remember="tool")
    try:
        return Approved(allowed=True) if _yes(line) else _REFUSED
    except _Unclear:
        raise _Unclear("y, a or n") from None
