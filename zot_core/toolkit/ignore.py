"""Which files git and ripgrep ignore: `.gitignore`, `.ignore`, `.rgignore`, `info/exclude`, the global file.

The same answers as those of `rg`, which here reads `.gitignore` outside of repositories too, for walks that `rg` cannot
do. Only text of ignore files is read.
"""

# Many small files on a hot path; names may be no valid text.
# ruff: noqa: PTH111, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from zot_core.toolkit import globs

_OWN = (".rgignore", ".ignore")
_EXCLUDES = re.compile(r"^\s*excludesfile\s*=\s*\"?\s*(\S.*?)\s*\"?\s*$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Rule:
    match: re.Pattern[str]
    keeps: bool
    folders_only: bool
    whole_path: bool


@dataclass(frozen=True, slots=True)
class Rules:
    """One ignore file's rules; the last that fits decides."""

    rules: tuple[_Rule, ...] = ()

    def ignores(self, path: str, name: str, folder: bool) -> bool | None:
        """Whether `path`, relative to the file's folder, is ignored; None if no rule fits."""
        for rule in reversed(self.rules):
            if (folder or not rule.folders_only) and rule.match.fullmatch(path if rule.whole_path else name):
                return not rule.keeps
        return None


def parse(text: str) -> Rules:
    """The rules of an ignore file; lines that mean nothing are passed over, as git does."""
    rules = [_rule(line) for line in text.removeprefix("\ufeff").split("\n")]
    return Rules(tuple(rule for rule in rules if rule is not None))


def _rule(line: str) -> _Rule | None:
    line = line.removesuffix("\r")
    if line.startswith("#"):
        return None
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    keeps = line.startswith("!")
    line = line[keeps:]
    folders_only = line.endswith("/")
    line = line[:-1] if folders_only else line
    if not line.strip("/"):
        return None
    whole_path = "/" in line
    try:
        expression = globs.path_expression(line.lstrip("/")) if whole_path else globs.segment(line)
        return _Rule(re.compile(expression, re.DOTALL), keeps, folders_only, whole_path)
    except (globs.BadGlob, re.error):
        return None


def _load(path: str) -> Rules | None:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return parse(file.read())
    except (OSError, ValueError):
        return None  # most folders have none


@dataclass(frozen=True, slots=True)
class Level:
    """A folder's ignore files. `prefix` is the walk's root as seen from this folder, for folders above the root."""

    depth_from: int
    prefix: str
    own: tuple[Rules | None, ...]
    git: Rules | None
    exclude: Rules | None
    is_repository: bool

    def seen_from_here(self, path: str) -> str:
        """`path`, relative to the walk's root, as relative to this folder."""
        return self.prefix + path if self.prefix else path[self.depth_from :]


def level(folder: str, relative: str = "", prefix: str = "", names: frozenset[str] | None = None) -> Level | None:
    """The ignore files in `folder`; None if there are none. `names` are the folder's names where they are known."""

    def load(name: str) -> Rules | None:
        return _load(os.path.join(folder, name)) if names is None or name in names else None

    repository = ".git" in names if names is not None else os.path.lexists(os.path.join(folder, ".git"))
    own = tuple(load(name) for name in _OWN)
    git = load(".gitignore")
    exclude = _load(os.path.join(folder, ".git", "info", "exclude")) if repository else None
    if not repository and git is None and not any(own):
        return None
    return Level(len(relative) + 1 if relative else 0, prefix, own, git, exclude, repository)


def above(root: str) -> tuple[Level, ...]:
    """The levels of the folders above `root`, outermost first."""
    found: list[Level] = []
    folder, prefix = root, ""
    while (parent := os.path.dirname(folder)) != folder:
        prefix = f"{os.path.basename(folder)}/{prefix}"
        folder = parent
        if one := level(folder, prefix=prefix):
            found.append(one)
    return tuple(reversed(found))


def in_repository(folder: str) -> bool:
    """Whether git knows the folder, as a part of a repository or of one of its work trees."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return False
        folder = parent
    return True


@dataclass(frozen=True, slots=True)
class Ignoring:
    """All rules that hold for a walk; `levels` go from the outermost folder to the present one."""

    repository: bool = True
    """Whether the walk's root lies in a repository; outside of one, rules reach into those that it comes by."""
    everywhere: Rules | None = field(default_factory=lambda: global_rules())

    def ignores(self, levels: Sequence[Level], path: str, name: str, folder: bool) -> bool | None:
        """Whether the entry is ignored: True, False if a rule keeps it, None if no rule speaks of it."""
        for kind in range(len(_OWN)):
            for one in reversed(levels):
                rules = one.own[kind]
                if rules and (said := rules.ignores(one.seen_from_here(path), name, folder)) is not None:
                    return said
        if (said := self._git(levels, path, name, folder)) is not None:
            return said
        return self.everywhere.ignores(path, name, folder) if self.everywhere else None

    def _git(self, levels: Sequence[Level], path: str, name: str, folder: bool) -> bool | None:
        excluded: bool | None = None
        for one in reversed(levels):
            seen = one.seen_from_here(path)
            if one.git and (said := one.git.ignores(seen, name, folder)) is not None:
                return said
            if excluded is None and one.exclude:
                excluded = one.exclude.ignores(seen, name, folder)
            if one.is_repository and self.repository:
                break  # a repository knows nothing of what is around it
        return excluded


def global_rules() -> Rules | None:
    """The person's own ignore file, as git's settings name it."""
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    for path in (os.path.expanduser("~/.gitconfig"), os.path.join(config, "git", "config")):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                found = _EXCLUDES.search(file.read())
        except OSError:
            continue  # not everyone has both
        if found:
            return _load(os.path.expanduser(found[1]))
    return _load(os.path.join(config, "git", "ignore"))
