"""Golden transcripts: what a session said, with everything that differs from run to run replaced by stable words.

Knows no test framework; `plugin.py` gives it to tests.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
_ID_KEYS = frozenset({"id", "message_id", "call_id", "parent_id", "entry_id", "run_id", "session_id"})
_CLOCK_KEYS = frozenset({"time", "created", "started", "ended", "duration_s", "elapsed_s", "delay_s"})
"""Numbers under these keys come from a clock, such as how long a command of `bash` took."""
_MADE_UP = re.compile(r"^(?:[a-z]+[-_])?[0-9a-f]{8,}$")
"""An id that somebody drew at random: hex digits, perhaps behind a prefix. `call-1` of a script stays as it is."""


class Normaliser:
    """Replaces ids by `<id-1>`, `<id-2>` in order of appearance, times and durations by `<time>`, and each of `paths`
    by its word."""

    def __init__(self, paths: Mapping[str, str] | None = None) -> None:
        # Longest first: the home may lie below the project, or the other way round.
        self._paths = sorted((paths or {}).items(), key=lambda item: -len(item[0]))
        self._ids: dict[str, str] = {}

    def __call__(self, value: Any, key: str = "") -> Any:
        """`value` (JSON) with stable words; the same id gets the same word everywhere."""
        if isinstance(value, Mapping):
            return {name: self(item, str(name)) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self(item, key) for item in value]
        if isinstance(value, str):
            return self._text(value, key)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and key in _CLOCK_KEYS:
            return "<time>"
        return value

    def _text(self, text: str, key: str) -> str:
        if key in _ID_KEYS and _MADE_UP.match(text):
            return self._ids.setdefault(text, f"<id-{len(self._ids) + 1}>")
        for path, word in self._paths:
            text = text.replace(path, word)
        return _MOMENT.sub("<time>", text)


def normalise(lines: Iterable[Mapping[str, Any]], paths: Mapping[str, str] | None = None) -> str:
    """JSON lines of a transcript with stable words, one event a line. Runs of deltas are joined."""
    replace = Normaliser(paths)
    return "".join(json.dumps(replace(line), ensure_ascii=False) + "\n" for line in _joined(lines))


def _joined(lines: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    joined: list[dict[str, Any]] = []
    for line in lines:
        last = joined[-1] if joined else {}
        same = "delta" in line and last.get("type") == line["type"] and last.get("id") == line.get("id")
        if same:
            last["delta"] += line["delta"]
        else:
            joined.append(dict(line))
    return joined


def compare(path: Path, text: str, *, update: bool) -> None:
    """Holds `text` against the golden file at `path`; with `update` the file is written instead.

    Raises AssertionError with a diff, or with the way to make the file when it is missing.
    """
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return
    if not path.exists():
        raise AssertionError(f"there is no golden {path.name} yet; run pytest with --zot-update and read what it wrote")
    wanted = path.read_text(encoding="utf-8")
    if wanted != text:
        diff = difflib.unified_diff(wanted.splitlines(), text.splitlines(), "golden", "now", lineterm="")
        raise AssertionError("\n".join([f"{path.name} differs; --zot-update writes it anew", *diff]))
