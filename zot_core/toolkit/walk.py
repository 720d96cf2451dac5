"""The files below a folder, in a fixed order: without what is ignored, hidden, or denied by a policy.

For where `rg` may not look itself: policies are asked before a folder is entered and for each file. Links are not
followed. Sync: it runs in a worker thread and stops when it is told to.
"""

# A hot path over names that may be no valid text.
# ruff: noqa: PTH118

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from zot_core.toolkit import ignore
from zot_core.toolkit.errors import in_words
from zot_core.toolkit.filesystem import Guard, PolicyDenied, allows, scanned
from zot_core.toolkit.filesystem import Operation as Operation
from zot_core.types.specs import FilesystemRequest


class Walk:
    """Yields paths relative to `root`, which is a real path. The counts are complete when it has ended.

    `left_out` counts what policies denied, `unreadable` says which folders could not be listed and why.
    """

    def __init__(
        self,
        root: str,
        *,
        guard: Guard,
        operation: Operation = "enumerate",
        hidden: bool = False,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self.left_out = 0
        self.unreadable: list[str] = []
        self._root = root
        self._guard = guard
        self._operation = operation
        self._hidden = hidden
        self._stopped = stopped
        self._ignoring = ignore.Ignoring(ignore.in_repository(root))

    def __iter__(self) -> Iterator[str]:
        """The files. Raises PolicyDenied if the root itself may not be listed."""
        self._guard.check("enumerate", self._root)
        yield from self._folder("", ignore.above(self._root))

    def _folder(self, relative: str, levels: tuple[ignore.Level, ...]) -> Iterator[str]:
        # A stack of its own: folders may be nested deeper than Python calls.
        stack = [self._entries(relative, levels)]
        while stack:
            for path, below in stack[-1]:
                if self._stopped():
                    return
                if below is not None:
                    stack.append(self._entries(path, below))
                    break
                yield path
            else:
                stack.pop()

    def _entries(
        self, relative: str, levels: tuple[ignore.Level, ...]
    ) -> Iterator[tuple[str, tuple[ignore.Level, ...] | None]]:
        folder = os.path.join(self._root, relative) if relative else self._root
        try:
            with scanned(folder, self._guard) as found:
                entries = sorted(map(_kind, found), key=lambda entry: os.fsencode(entry[0]))
        except PolicyDenied:
            if not relative:
                raise
            self.left_out += 1
            return
        except OSError as error:
            self.unreadable.append(f"{relative or '.'}: {in_words(error)}")
            return
        own = ignore.level(folder, relative, names=frozenset(name for name, *_ in entries))
        if own is not None:
            levels = (*levels, own)
        for name, is_folder, is_file in entries:
            if not is_folder and not is_file:
                continue
            path = f"{relative}/{name}" if relative else name
            if self._unwanted(levels, path, name, is_folder):
                continue
            if self._guard.policies and not self._allowed(os.path.join(folder, name), is_folder):
                self.left_out += 1
                continue
            yield path, levels if is_folder else None

    def _unwanted(self, levels: tuple[ignore.Level, ...], path: str, name: str, is_folder: bool) -> bool:
        if name == ".git":
            return True
        said = self._ignoring.ignores(levels, path, name, is_folder)
        # A rule that keeps a hidden file (`!.github`) is a request for it.
        return said if said is not None else not self._hidden and name.startswith(".")

    def _allowed(self, path: str, is_folder: bool) -> bool:
        operation: Operation = "enumerate" if is_folder else self._operation
        return allows(
            self._guard.policies,
            FilesystemRequest(operation=operation, path=path, tool_name=self._guard.tool_name),
        )


def _kind(entry: os.DirEntry[str]) -> tuple[str, bool, bool]:
    """Name, folder, plain file: asked while the folder is open."""
    return entry.name, entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False)
