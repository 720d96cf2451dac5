"""What people are told of themes: a line each, and what is wrong with which file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from zot_core.config.paths import expand_path
from zot_core.config.problems import Problem
from zot_core.config.resources import roots
from zot_core.types.failure import UsageError
from zot_core.ui.theme import Theme, ThemeError, load_theme
from zot_core.ui.theme_list import Themes, find_themes
from zot_core.ui.tokens import TOKENS

if TYPE_CHECKING:
    from zot_core.ctx.protocols import Context


def themes_of(ctx: Context, home: str) -> Themes:
    """The themes of a session: the project's if it is trusted, the person's, those of extensions and plugins."""
    trusted, brought = ctx.is_project_trusted(), ctx.resources("themes")
    return find_themes(roots("themes", cwd=Path(ctx.cwd), home=home, trusted=trusted, brought=brought))


def listing(args: str, ctx: Context, home: str) -> str:
    """The answer to `/themes` and `/themes NAME`. Raises UsageError for a name or file that there is not."""
    found = themes_of(ctx, home)
    if args:
        return _one(args, found, ctx)
    width = max(len(name) for name in found.by_name) if found.by_name else 0
    lines = [f"{theme.name:{width}}  {theme.appearance:5}  {_about(theme)}" for theme in found.by_name.values()]
    return "\n".join([*(lines or ["There are no themes."]), *_said(found.problems, but="info")])


def _one(wanted: str, found: Themes, ctx: Context) -> str:
    theme = found.by_name.get(wanted)
    if theme is None:
        path = expand_path(wanted, base=ctx.cwd)
        if not path.is_file():
            raise UsageError(f"there is no theme {wanted}; there are {', '.join(found.by_name)}")
        try:
            theme = load_theme(path)
        except ThemeError as broken:
            return "\n".join(_said(broken.problems))
    own = len(TOKENS) - len(theme.missing)
    lines = [f"{theme.name}: {theme.appearance}, {own} of {len(TOKENS)} colours of its own", theme.path]
    return "\n".join([*lines, *_said(theme.problems)])


def _about(theme: Theme) -> str:
    path, home = theme.path, str(Path("~").expanduser())
    path = f"~{path[len(home) :]}" if path.startswith(home + os.sep) else path
    return f"{path}  {theme.description}" if theme.description else path


def _said(problems: Iterable[Problem], but: str = "") -> list[str]:
    return [f"{problem.level}: {problem}" for problem in problems if problem.level != but]
