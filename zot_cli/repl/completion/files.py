"""The project's files by name, for `@`: listed by `rg --files` in the background, kept for some seconds.

Knows no editor. Where no `rg` runs a plain walk stands in.
"""

from __future__ import annotations

import asyncio
import heapq
import os
import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from zot_cli.repl.completion.fuzzy import best

KEPT = 10.0
"""Seconds that a list of files is good for."""
MOST = 100_000
"""Files that are looked at; in a larger project the first ones."""
SHOWN = 50
NEAR = 500
"""Names that are compared at most, where very many hold the word."""


class Names:
    """Names with what a search needs of them, prepared once."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = list(names)
        self._low = [name.casefold() for name in self.names]
        self._last = [low.rfind("/", 0, -1) + 1 for low in self._low]
        self._narrowed: tuple[str, Sequence[int]] = ("", ())

    def matching(self, word: str) -> list[str]:
        """The names that fit a word, best first. Of very many the likely ones are looked at, and names that only have
        its letters in their order where few hold it as it is."""
        if not word:
            return self.names[:SHOWN]
        wanted, low = word.casefold(), self._low
        holding = [place for place, name in enumerate(low) if wanted in name]
        if len(holding) < SHOWN:
            holding = self._in_order(wanted)
        elif len(holding) > NEAR:
            holding = self._likely(wanted, holding)
        return best(word, (self.names[place] for place in holding), lambda name: name, SHOWN)

    def _in_order(self, wanted: str) -> list[int]:
        before, fitting = self._narrowed
        places = fitting if before and wanted.startswith(before) else range(len(self._low))
        letters = re.compile(".*?".join(map(re.escape, wanted)), re.S).search
        found = [place for place in places if letters(self._low[place])]
        self._narrowed = (wanted, found)  # what is typed on can only fit one of these
        return found

    def _likely(self, wanted: str, places: list[int]) -> list[int]:
        """Those whose last part begins with the word, else holds it, the shortest."""
        low, last = self._low, self._last
        found = [place for place in places if low[place].startswith(wanted, last[place])]
        if len(found) < SHOWN:
            found += [place for place in places if low[place].find(wanted, last[place]) > last[place]]
        return heapq.nsmallest(NEAR, found if len(found) >= SHOWN else places, key=lambda place: len(low[place]))


class ProjectFiles:
    """The files below a folder. The listing and the search run beside the loop: keys go on meanwhile."""

    def __init__(self) -> None:
        self._root = ""
        self._names = Names(())
        self._read_at = -KEPT
        self._listing: asyncio.Task[Names] | None = None

    async def matching(self, word: str, root: str) -> list[str]:
        """The files that fit `word`, best first, relative to `root`; folders end with a slash."""
        if root != self._root or time.monotonic() - self._read_at > KEPT:
            await self._list(root)
        return await asyncio.to_thread(self._names.matching, word)

    async def _list(self, root: str) -> None:
        """Lists once, however many ask: a look-up that is overtaken by the next key leaves the listing to that one."""
        if self._listing is None or root != self._root:
            self._listing = asyncio.get_running_loop().create_task(_listed(root), name="zot:files")
            self._root, self._read_at = root, -KEPT
        listing = self._listing
        try:
            self._names = await asyncio.shield(listing)
            self._read_at = time.monotonic()
        finally:
            if listing.done() and self._listing is listing:
                self._listing = None


async def _listed(root: str) -> Names:
    found: list[bytes] = []
    rest = b""

    def take(data: bytes) -> bool:
        nonlocal rest
        *whole, rest = (rest + data).split(b"\0")
        found.extend(whole)
        return len(found) < MOST

    from zot_core.toolkit.ripgrep import CannotRun, Runner  # not for the first frame

    try:
        await Runner(env=os.environ, timeout=5.0).rg(
            ["--files", "--hidden", "--glob=!.git", "--null", "--", "."], cwd=root, on_data=take
        )
    except CannotRun:
        return await asyncio.to_thread(_walked, root)
    return await asyncio.to_thread(_named, found[:MOST])


def _named(found: Sequence[bytes]) -> Names:
    """Names as they can be typed, and their folders; one with a line break or a control in it cannot."""
    names = [name.removeprefix(b"./").decode("utf-8", "replace") for name in found]
    return _with_folders(name for name in names if name.isprintable())


def _with_folders(names: Iterable[str]) -> Names:
    files = list(names)
    folders: set[str] = set()
    for name in files:
        folder = name.rpartition("/")[0]
        while folder and f"{folder}/" not in folders:
            folders.add(f"{folder}/")
            folder = folder.rpartition("/")[0]
    return Names(sorted([*files, *folders]))


def _walked(root: str) -> Names:
    found: list[str] = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        base = os.path.relpath(folder, root)
        found += [Path(base, name).as_posix() if base != "." else name for name in files]
        if len(found) >= MOST:
            break
    return _with_folders(name for name in found[:MOST] if name.isprintable())
