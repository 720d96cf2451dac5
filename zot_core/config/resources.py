"""Folders that hold skills and prompt templates, in the order in which a name is looked up.

Looks at no file in them. What plugins bring is passed in, with the scope that it counts as.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from zot_core.config.paths import PROJECT_DIR
from zot_core.types.specs import ResourcePath

SHARED_SKILLS = (".agents/skills", ".claude/skills")
"""Where agents of all makers look, below a project's folders and below the person's home."""


def shared_folders(cwd: Path) -> list[Path]:
    """The folders of a project that may hold what agents share: `cwd` and those above it up to the repository's root.
    Outside of a repository only `cwd`. The person's home is none of them: what lies there is the person's own."""
    folders = [cwd, *cwd.parents]
    root = next((index for index, folder in enumerate(folders) if os.path.lexists(folder / ".git")), 0)
    home = os.path.realpath(Path("~").expanduser())
    return [folder for folder in folders[: root + 1] if os.path.realpath(folder) != home]


def roots(
    kind: str,
    *,
    cwd: Path,
    home: str,
    trusted: bool,
    brought: Iterable[tuple[str, ResourcePath]] = (),
    shared: Sequence[str] = (),
) -> list[Path]:
    """Folders (or files) of `kind`, such as "skills": temporary ones, the project's if it is trusted, the person's, the
    other plugins'. `shared` are names below the project's folders and the person's home. One folder comes once."""
    by_scope: dict[str | None, list[Path]] = {}
    for _, path in brought:
        by_scope.setdefault(path.scope or "system", []).append(Path(path.path))
    found = by_scope.get("temporary", [])
    if trusted:
        found = [*found, cwd / PROJECT_DIR / kind]
        if shared:
            found += [folder / name for folder in shared_folders(cwd) for name in shared]
    found = [*found, *by_scope.get("project", [])]
    if home:
        found.append(Path(home) / kind)
    if shared:
        own = Path("~").expanduser()
        found += [own / name for name in shared]
    found += [*by_scope.get("user", []), *by_scope.get("system", [])]
    return list({os.path.realpath(path): path for path in reversed(found)}.values())[::-1]
