"""Which templates there are now: `*.md` in their folders, read once, the first of a name wins."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zot_core.config.resources import roots
from zot_core.toolkit.frontmatter import FrontmatterError, split
from zot_core.types.record import record
from zot_core.types.specs import ExpansionName
from zot_plugins.prompt_templates.arguments import filled

if TYPE_CHECKING:
    from zot_core.ctx.protocols import Context

MAX_BYTES = 1 << 20
"""What a template may have."""
MAX_DESCRIPTION = 200
_NAME = re.compile(r"[^\s/\\:]+")
_KEPT = 4000
_Stamp = tuple[int, int, int]


@record(kw_only=True)
class Template:
    """A template: its name, its text, and what a menu says of it."""

    name: str
    path: str
    body: str
    description: str = ""
    argument_hint: str = ""


_read: dict[str, tuple[_Stamp, Template | None, str]] = {}


def templates_of(ctx: Context, home: str) -> dict[str, Template]:
    """The templates of a session by name. What is wrong is reported, each thing once."""
    found: dict[str, Template] = {}
    seen: set[str] = set()
    brought = ctx.resources("prompts")
    for root in roots("prompts", cwd=ctx.cwd, home=home, trusted=ctx.is_project_trusted(), brought=brought):
        for path in _files(root, ctx):
            real = os.path.realpath(path)
            template = None if real in seen else _template_at(path, ctx)
            seen.add(real)
            if template is None:
                continue
            other = found.setdefault(template.name, template)
            if other is not template:
                ctx.report(f"{path}: this template /{template.name} is not used; {other.path} comes first")
    return found


def names(ctx: Context, home: str) -> list[ExpansionName]:
    """The names for menus."""
    return [
        ExpansionName(name=one.name, description=one.description, argument_hint=one.argument_hint)
        for one in templates_of(ctx, home).values()
    ]


def expand(text: str, ctx: Context, home: str) -> str | None:
    """What `/NAME ARGUMENTS` becomes; None for no template."""
    name, *rest = text[1:].split(maxsplit=1)
    template = templates_of(ctx, home).get(unicodedata.normalize("NFC", name))
    return None if template is None else filled(template.body, rest[0].rstrip() if rest else "")


def _files(root: Path, ctx: Context) -> list[str]:
    try:
        if not stat.S_ISDIR(root.stat().st_mode):
            return [str(root)]
        with os.scandir(root) as entries:
            return sorted(one.path for one in entries if one.name.endswith(".md") and not one.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        ctx.report(f"{root}: templates here cannot be looked at: {error.strerror or error}")
        return []


def _template_at(path: str, ctx: Context) -> Template | None:
    try:
        about = Path(path).stat()
        now = (about.st_mtime_ns, about.st_size, about.st_ino)
        known = _read.get(path)
        if known is None or known[0] != now:
            if len(_read) >= _KEPT:
                _read.clear()
            known = _read[path] = (now, *_read_template(path, about))
    except OSError as error:
        ctx.report(f"{path}: this template cannot be read: {error.strerror or error}")
        return None
    if known[2]:
        ctx.report(known[2])
    return known[1]


def _read_template(path: str, about: os.stat_result) -> tuple[Template | None, str]:
    """The template in a file, or None and why not. Raises OSError."""
    name = unicodedata.normalize("NFC", Path(path).name.removesuffix(".md"))
    if not stat.S_ISREG(about.st_mode) or about.st_size > MAX_BYTES:
        return None, f"{path}: this template is not used: it must be a regular file of at most {MAX_BYTES >> 20} MiB"
    if not _NAME.fullmatch(name):
        return None, f"{path}: this template is not used: nobody can type its name, which may have no blank, : or \\"
    with Path(path).open("rb") as file:
        text = file.read(MAX_BYTES).decode("utf-8", "replace")
    try:
        document = split(text)
        fields = document.fields()
    except FrontmatterError as error:
        return None, f"{path}:{error.line}: this template is not used: {error}"
    description = _line(fields.get("description")) or _line(document.body.strip().partition("\n")[0].lstrip("# "))
    hint = _line(fields.get("argument-hint"))
    return Template(name=name, path=path, body=document.body, description=description, argument_hint=hint), ""


def _line(value: Any) -> str:
    """A field for a menu; `[a, b]` without quotes is a list in YAML, and is meant as it was written."""
    if isinstance(value, list):
        value = f"[{', '.join(str(one) for one in value)}]"
    text = " ".join(value.split()) if isinstance(value, str) else ""
    text = "".join(one for one in text if one.isprintable())
    return text if len(text) <= MAX_DESCRIPTION else text[: MAX_DESCRIPTION - 1] + "…"
