"""The project's files by name, for `@`: listed by `rg --files` in the background, kept for some seconds.

Knows no editor. Where no `rg` runs a plain walk stands in.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from zot_cli.repl.completion.fuzzy import best
from zot_core.toolkit.ripgrep import CannotRun, Runner

KEPT = 10.0
"""Seconds that a list of files is good for."""
MOST = 100_000
"""Files that are looked at; in a larger project the first ones."""
SHOWN = 50


class ProjectFiles:
    """The files below a folder."""

    def __init__(self) -> None:
        self._root = ""
        self._files: list[str] = []
        self._read_at = -KEPT

    async def matching(self, word: str, root: str) -> list[str]:
        """The files that fit `word`, best first, relative to `root`; folders end with a slash."""
        if root != self._root or time.monotonic() - self._read_at > KEPT:
            self._files = await _listed(root)
            self._root, self._read_at = root, time.monotonic()
        return best(word, self._files, lambda name: name, SHOWN)


async def _listed(root: str) -> list[str]:
    found: list[bytes] = []
    rest = b""

    def take(data: bytes) -> bool:
        nonlocal rest
        *whole, rest = (rest + data).split(b"\0")
        found.extend(whole)
        return len(found) < MOST

    try:
        await Runner(env=os.environ, timeout=5.0).rg(
            ["--files", "--hidden", "--glob=!.git", "--null", "--", "."], cwd=root, on_data=take
        )
    except CannotRun:
        return _walked(root)
    files = [name.removeprefix(b"./").decode("utf-8", "replace") for name in found[:MOST]]
    folders = {f"{folder}/" for name in files for folder in _folders(name)}
    return sorted([*files, *folders])


def _folders(name: str) -> list[str]:
    parts = name.split("/")[:-1]
    return ["/".join(parts[: place + 1]) for place in range(len(parts))]


def _walked(root: str) -> list[str]:
    found: list[str] = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        base = os.path.relpath(folder, root)
        found += [str(Path(base, name)) if base != "." else name for name in files]
        if len(found) >= MOST:
            break
    return sorted(found[:MOST])
