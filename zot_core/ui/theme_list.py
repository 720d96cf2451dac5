"""Which themes there are: files found in folders, the first of a name wins, a broken one is named and left out.

Knows no place: `zot_core.config.resources.roots` says where to look.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from zot_core.config.problems import Problem
from zot_core.types.record import record
from zot_core.ui.theme import Appearance, Theme, ThemeError, load_theme

MAX_FILES = 500
"""How many files of one folder are looked at."""


@record(kw_only=True)
class Themes:
    """What was found: themes by name, and everything that is wrong, theirs included."""

    by_name: dict[str, Theme]
    problems: tuple[Problem, ...] = ()


def find_themes(roots: Iterable[Path], *, terminal: Appearance = "dark") -> Themes:
    """The themes in `roots`, files or folders of `*.json`, in that order. One file counts once."""
    found: dict[str, Theme] = {}
    problems: list[Problem] = []
    seen: set[str] = set()
    for root in roots:
        for path in _files(root, problems):
            real = os.path.realpath(path)
            if real in seen:
                continue
            seen.add(real)
            try:
                theme = load_theme(path, terminal=terminal)
            except ThemeError as broken:
                problems += broken.problems
                continue
            problems += theme.problems
            other = found.setdefault(theme.name, theme)
            if other is not theme:
                said = f"this theme {theme.name} is not used; {other.path} comes first"
                problems.append(Problem("warning", path, None, said))
    return Themes(by_name=found, problems=tuple(problems))


def _files(root: Path, problems: list[Problem]) -> list[str]:
    try:
        if not stat.S_ISDIR(root.stat().st_mode):
            return [str(root)]
        with os.scandir(root) as entries:
            files = sorted(one.path for one in entries if one.name.endswith(".json") and not one.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        said = f"themes here cannot be looked at: {error.strerror or error}"
        problems.append(Problem("warning", str(root), None, said))
        return []
    if len(files) > MAX_FILES:
        problems.append(Problem("warning", str(root), None, f"only {MAX_FILES} of {len(files)} themes are looked at"))
    return files[:MAX_FILES]
