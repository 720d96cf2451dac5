"""Which skills there are now: found in their folders, read once for each version of a file, the first of a name wins.

Where there are none but zot's own, no file is read and nothing more is imported.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zot_core.config.paths import expand_path
from zot_core.config.resources import SHARED_SKILLS, roots
from zot_core.types.failure import ZotError
from zot_core.types.record import record

if TYPE_CHECKING:
    from zot_core.ctx.protocols import Context

FILE = "SKILL.md"
MAX_DEPTH = 5
MAX_FOLDERS = 2000
"""How deep and how far a folder is searched for skills."""
_KEPT = 4000
_Stamp = tuple[int, int, int]


@record(kw_only=True)
class Skill:
    """A skill as its fields tell it. `hidden` ones are not offered to models."""

    name: str
    description: str
    path: str
    license: str = ""
    compatibility: str = ""
    allowed_tools: tuple[str, ...] = ()
    metadata: Mapping[str, Any] | None = None
    hidden: bool = False

    @property
    def folder(self) -> str:
        """Where its files are."""
        return str(Path(self.path).parent)


OWN = Skill(
    name="zot-plugins",
    description=(
        "How to write a plugin or an extension for zot, this agent: tools, slash commands, guards and other hooks, "
        "panels, prompt templates, skills, themes. Load it before you write or change one."
    ),
    path=str(Path(__file__).parent / "builtin" / "zot-plugins" / FILE),
)
"""The skill that comes with zot; a test holds it to its file."""

_read: dict[str, tuple[_Stamp, Skill | None, tuple[str, ...]]] = {}


def skills_of(ctx: Context, home: str) -> list[Skill]:
    """The skills of a session in the order in which they were found. What is wrong is reported, each thing once."""
    found: dict[str, Skill] = {}
    seen: set[str] = set()
    for place, named in _places(ctx, home):
        for path in _files(place, named, ctx):
            real = os.path.realpath(path)
            if real in seen:
                continue
            seen.add(real)
            skill = _skill_at(path, ctx)
            if skill is not None:
                _join(found, skill, ctx)
    if not _only_named(ctx):
        _join(found, OWN, ctx)
    return list(found.values())


def _join(found: dict[str, Skill], skill: Skill, ctx: Context) -> None:
    other = found.setdefault(skill.name, skill)
    if other is not skill:
        ctx.report(f"{skill.path}: this skill {skill.name} is not used; {other.path} comes first")


def _only_named(ctx: Context) -> bool:
    return bool(ctx.flag("no-skills") or ctx.flag("no-skill"))


def _places(ctx: Context, home: str) -> Iterator[tuple[Path, bool]]:
    """Folders and files to look at; true for those that the command line names."""
    for text in ctx.flag("skill") or ():
        try:
            yield expand_path(text, base=ctx.cwd), True
        except ZotError as error:
            ctx.report(f"--skill {text}: {error}")
    if not _only_named(ctx):
        for path in roots(
            "skills",
            cwd=ctx.cwd,
            home=home,
            trusted=ctx.is_project_trusted(),
            brought=ctx.resources("skills"),
            shared=SHARED_SKILLS,
        ):
            yield path, False


def _files(place: Path, named: bool, ctx: Context) -> list[str]:
    """The skill files at `place`, sorted by path; a folder that is a skill is not searched further."""
    try:
        mode = place.stat().st_mode
    except OSError as error:
        if named:
            ctx.report(f"--skill {place}: {error.strerror or error}")
        elif not isinstance(error, (FileNotFoundError, NotADirectoryError)):
            ctx.report(f"{place}: skills here cannot be looked at: {error.strerror or error}")
        return []
    if not stat.S_ISDIR(mode):
        return [str(place)]
    files: list[str] = []
    folders, visited = [(str(place), 0)], {os.path.realpath(place)}
    while folders and len(visited) <= MAX_FOLDERS:
        folder, depth = folders.pop(0)
        file, below = _look_into(folder, ctx)
        if file:
            files.append(file)
        elif depth < MAX_DEPTH:
            for path in below:
                if (real := os.path.realpath(path)) not in visited:
                    visited.add(real)
                    folders.append((path, depth + 1))
    if named and not files:
        ctx.report(f"--skill {place}: there is no {FILE} in it")
    return sorted(files)


def _look_into(folder: str, ctx: Context) -> tuple[str, list[str]]:
    """The folder's skill file ("" for none) and the folders in it."""
    file, below = "", []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name == FILE or (entry.name.lower() == FILE.lower() and not file):
                    file = entry.path
                elif entry.is_dir() and not entry.name.startswith(".") and entry.name != "node_modules":
                    below.append(entry.path)
    except OSError as error:
        ctx.report(f"{folder}: skills here cannot be looked at: {error.strerror or error}")
    return file, below


def _skill_at(path: str, ctx: Context) -> Skill | None:
    try:
        about = Path(path).stat()
        now = (about.st_mtime_ns, about.st_size, about.st_ino)
        known = _read.get(path)
        if known is None or known[0] != now:
            from zot_plugins.skills.reading import read_skill  # only where there are skills: PyYAML takes its time

            if len(_read) >= _KEPT:
                _read.clear()
            known = _read[path] = (now, *read_skill(path, about))
    except OSError as error:
        ctx.report(f"{path}: this skill cannot be read: {error.strerror or error}")
        return None
    for problem in known[2]:
        ctx.report(problem)
    return known[1]
