"""One version of an extension in the place of another: whole, and without losing what it keeps in its folder.

An extension's folder is also where it keeps its data. So files that did not come with the old version are carried over,
and one that did but was changed since stays as `NAME.old`. Of a linked extension the link is replaced alone.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from zot_core.config.paths import read_bytes
from zot_core.types.failure import ZotError
from zot_plugins.extension_bridge.cli.staging import RECORD, REPLACED, digest, walk
from zot_plugins.extension_bridge.finding import FILE, Found


def replace(target: Path, staged: Path, *, disabled: bool) -> list[str]:
    """Puts `staged` where `target` is; what was kept of it, for people. With `disabled` it stays switched off. Until
    the new one is whole nothing of the old one is touched. Raises OSError."""
    kept = [] if target.is_symlink() or not target.is_dir() else _carry(target, staged)
    if disabled:
        from zot_plugins.extension_bridge.cli.switch import set_enabled

        try:
            set_enabled(Found(folder=staged, name=target.name, tier=0), False)
            kept.append("it stays disabled, as the one before it was")
        except ZotError:
            kept.append("the one before it was disabled; this one is not, since its manifest cannot be edited")
    away = target.with_name(f"{REPLACED}{os.getpid()}-{target.name}")
    moved = False
    try:
        target.rename(away)
        moved = True
        staged.rename(target)
    except BaseException:
        if moved and not os.path.lexists(target):
            away.rename(target)
        raise
    if away.is_symlink() or not away.is_dir():
        away.unlink()
    else:
        shutil.rmtree(away, ignore_errors=True)
    return kept


def _carry(old: Path, new: Path) -> list[str]:
    """Copies into `new` what is the person's or the extension's own in `old`."""
    came = _record(old)
    kept = []
    for path in sorted(walk(old)):
        place = path.relative_to(old)
        name = place.as_posix()
        if name in (RECORD, FILE) or place.parts[0] == ".git" or "__pycache__" in place.parts:
            continue
        if name in came and digest(path) == came[name]:
            continue
        goal = new / place
        if os.path.lexists(goal):
            if digest(goal) == digest(path):
                continue
            goal = goal.with_name(f"{goal.name}.old")
            if os.path.lexists(goal):
                continue  # the new version has a file of this very name
        if not _can_be(goal.parent, new):
            continue
        goal.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or path.is_file():
            shutil.copy2(path, goal, follow_symlinks=False)
            kept.append(goal.relative_to(new).as_posix())
    return kept


def _can_be(parent: Path, root: Path) -> bool:
    """Whether a folder is or can be there, and is no link to elsewhere."""
    while parent != root:
        if parent.is_symlink() or (parent.exists() and not parent.is_dir()):
            return False
        parent = parent.parent
    return True


def _record(folder: Path) -> dict[str, str]:
    """The files that came with it; {} where nobody wrote that down: then all are taken for the person's own."""
    try:
        files = json.loads(read_bytes(folder / RECORD))["files"]
        return {str(name): str(value) for name, value in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
