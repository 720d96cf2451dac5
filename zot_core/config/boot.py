"""The boot snapshot: what a start would have to compute again and again, kept in `cache/boot.json` as plain JSON.

A section is believed while every file that it was made from is the same (path, inode, times, size) and zot and Python
are too. Anything else, a broken snapshot included, is as if it were not there. Knows no format but its own.
"""

from __future__ import annotations

import json
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from zot_core._version import __version__
from zot_core.config.files import write_whole
from zot_core.config.paths import make_private, read_bytes, reason
from zot_core.config.problems import Problem

FORMAT = 1
MAX_SECTIONS = 64
"""More than this and the oldest are dropped: every project that was ever opened leaves a section."""
_RACY_NS = 100_000_000
_COARSE_NS = 2_000_000_000

Stamp = list[Any]


def stamp(path: str | Path) -> Stamp:
    """What tells one state of a file or folder from another; one that is not there has only its path."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a start stamps dozens of paths, and os.stat is several times cheaper
    except OSError:
        return [str(path)]
    return [str(path), found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns]


class BootCache:
    """Sections by name, read once and written once.

    `BootCache(paths.boot)` reads nothing yet and never fails; `save` is for when the first request is on its way.
    """

    def __init__(self, path: Path, version: str = __version__, clock: Callable[[], int] = time.time_ns) -> None:
        self._path = path
        self._clock = clock
        self._version = version
        self._read: dict[str, Any] | None = None
        self._fresh: dict[str, Any] = {}

    def cached(self, name: str, sources: Iterable[str | Path], build: Callable[[], Any]) -> Any:
        """What the section `name` holds if its `sources` did not change, else what `build` makes of them now.

        `build` returns JSON. A source that changed just now is not believed yet: its next change could look the same.
        """
        return self.cached_with(name, sources, lambda: (build(), ()))

    def cached_with(
        self, name: str, sources: Iterable[str | Path], build: Callable[[], tuple[Any, Iterable[str | Path]]]
    ) -> Any:
        """As `cached`, for a `build` that learns as it goes which further files it was made from: it returns its value
        and their paths."""
        # Stamped before `build` reads: a change meanwhile makes the section stale rather than wrong.
        stamps = [stamp(source) for source in sources]
        if (section := self._believed(name, stamps)) is not None:
            return section["value"]
        value, further = build()
        also = [stamp(path) for path in further]
        now = self._clock()
        if not any(_racy(item, now) for item in (*stamps, *also)):
            self._fresh[name] = {"sources": stamps, "also": also, "value": value}
        return value

    def kept(self, name: str, sources: Iterable[str | Path]) -> Any:
        """What `cached` would return without building; None where it would have to."""
        section = self._believed(name, [stamp(source) for source in sources])
        return None if section is None else section["value"]

    def _believed(self, name: str, stamps: list[Stamp]) -> dict[str, Any] | None:
        section = self._fresh.get(name) or self._sections().get(name)
        if not isinstance(section, dict) or section.get("sources") != stamps or "value" not in section:
            return None
        also = section.get("also", [])
        fits = isinstance(also, list) and all(
            isinstance(item, list) and item == stamp(item[0]) for item in also if item
        )
        return section if fits else None

    def forget(self, name: str) -> None:
        """Drop a section whose value turned out to be unusable."""
        self._fresh.pop(name, None)
        self._sections().pop(name, None)

    @property
    def dirty(self) -> bool:
        """Whether `save` has something to write."""
        return bool(self._fresh)

    def save(self) -> list[Problem]:
        """Write new sections. Several processes may do so at once: the file is always whole, the last one counts.

        A home that cannot be written to is a warning; the run does not need it.
        """
        if not self._fresh:
            return []
        # Another zot may have added sections since; they are kept.
        self._read = None
        sections = self._sections() | {}
        for name, section in self._fresh.items():
            sections.pop(name, None)
            sections[name] = section
        sections = dict(list(sections.items())[-MAX_SECTIONS:])
        try:
            text = json.dumps({"made_by": self._maker(), "sections": sections})
            make_private(self._path.parent.parent)
            make_private(self._path.parent)
            write_whole(self._path, text, 0o600)
        except OSError as error:
            return [Problem("warning", str(self._path), None, f"the boot snapshot cannot be written: {reason(error)}")]
        except (TypeError, ValueError) as error:
            return [Problem("warning", str(self._path), None, f"the boot snapshot cannot be made: {error}")]
        self._read, self._fresh = sections, {}
        return []

    def _maker(self) -> list[Any]:
        return [FORMAT, self._version, sys.version]

    def _sections(self) -> dict[str, Any]:
        if self._read is None:
            self._read = {}
            try:
                data = json.loads(read_bytes(self._path))
            except (OSError, ValueError, RecursionError):
                return self._read
            if isinstance(data, dict) and data.get("made_by") == self._maker():
                sections = data.get("sections")
                self._read = sections if isinstance(sections, dict) else {}
        return self._read


def _racy(item: Stamp, now: int) -> bool:
    if len(item) < 2:
        return False
    # A whole second as the time of a change means a file system that keeps no finer ones.
    margin = _COARSE_NS if item[1] % 1_000_000_000 == 0 else _RACY_NS
    return bool(-margin < now - max(item[1], item[4]) < margin)


def entry_points(cache: BootCache, group: str = "zot", path: list[str] | None = None) -> list[tuple[str, str, str]]:
    """The entry points of `group` in the order of `sys.path`, as (name, value, distribution's name).

    Installing or removing a package changes a folder of the path, which is how the snapshot learns of it. Of two
    installed copies of one distribution the first counts.
    """
    folders = list(sys.path if path is None else path)

    def build() -> list[list[str]]:
        from importlib.metadata import distributions

        seen: set[str] = set()
        found = []
        for distribution in distributions(path=folders):
            name = distribution.name or ""
            if name in seen:
                continue
            seen.add(name)
            for point in distribution.entry_points:
                if point.group == group:
                    found.append([point.name, point.value, name])
        return found

    sources = [folder or "." for folder in folders]
    # Each path has a section of its own: two ways of starting zot would else throw each other's out, time and again.
    section = f"entry_points:{group}:{zlib.crc32(chr(0).join(sources).encode(errors='surrogateescape')):08x}"
    rows = cache.cached(section, sources, build)
    try:
        return [(str(name), str(value), str(owner)) for name, value, owner in rows]
    except (TypeError, ValueError):
        cache.forget(section)
        return [(name, value, owner) for name, value, owner in build()]
