"""Reads a SKILL.md: its fields by the rules of the Agent Skills standard, its body as it stands."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zot_core.toolkit.frontmatter import Document, FrontmatterError, split
from zot_plugins.skills.catalog import FILE, Skill

MAX_BYTES = 1 << 20
"""What a skill file may have."""
MAX_NAME = 64
MAX_DESCRIPTION = 1024
"""Characters, as the standard says."""


def document(path: str) -> Document:
    """The file's two parts. Raises OSError, or FrontmatterError."""
    with Path(path).open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise FrontmatterError(1, f"the file is longer than {MAX_BYTES >> 20} MiB")
    return split(data.decode("utf-8", "replace"))


def read_skill(path: str, about: os.stat_result) -> tuple[Skill | None, tuple[str, ...]]:
    """The skill in a file, or None, and what is wrong with it, each with file and line. Raises OSError."""
    if not stat.S_ISREG(about.st_mode):
        return None, (f"{path}: this is not a skill: it is not a regular file",)
    try:
        text = document(path)
        if not text.line:
            raise FrontmatterError(1, "it has no frontmatter with name and description")
        skill, problems = _skill(path, text)
    except FrontmatterError as error:
        return None, (f"{path}:{error.line}: this skill is not used: {error}",)
    return skill, tuple(f"{path}:{line}: {problem}" for line, problem in problems)


def _skill(path: str, text: Document) -> tuple[Skill, list[tuple[int, str]]]:
    fields, problems = text.fields(), []
    folder = Path(path).parent.name if Path(path).name == FILE else ""
    name = unicodedata.normalize("NFKC", _text(fields, "name", text) or folder)
    if wrong := _wrong_name(name):
        raise FrontmatterError(_line_of("name", text), f"the name {name!r} {wrong}")
    if folder and name != unicodedata.normalize("NFKC", folder):
        problems.append((_line_of("name", text), f"the name {name} is not that of its folder, {folder}"))
    description = " ".join(_text(fields, "description", text).split())
    if not description:
        raise FrontmatterError(_line_of("description", text), "it has no description, so no model could choose it")
    if len(description) > MAX_DESCRIPTION:
        shown = f"the description has {len(description)} characters; the first {MAX_DESCRIPTION} are used"
        problems.append((_line_of("description", text), shown))
        description = description[: MAX_DESCRIPTION - 1].rstrip() + "…"
    metadata = fields.get("metadata")
    return Skill(
        name=name,
        description="".join(one for one in description if one.isprintable()),
        path=path,
        license=_loose(fields, "license"),
        compatibility=_loose(fields, "compatibility")[:500],
        allowed_tools=_tools(fields.get("allowed-tools", "")),
        metadata=metadata if isinstance(metadata, dict) else None,
        hidden=_loose(fields, "disable-model-invocation").lower() in ("true", "yes", "on"),
    ), problems


def _wrong_name(name: str) -> str:
    if not name:
        return "is empty"
    if len(name) > MAX_NAME:
        return f"is longer than {MAX_NAME} characters"
    if name != name.lower() or not all(one.isalnum() or one == "-" for one in name):
        return "may have lower-case letters, digits and hyphens only"
    if name.startswith("-") or name.endswith("-") or "--" in name:
        return "may have single hyphens only, and none at its ends"
    return ""


def _text(fields: Mapping[str, Any], key: str, text: Document) -> str:
    value = fields.get(key, "")
    if not isinstance(value, str):
        raise FrontmatterError(_line_of(key, text), f"the field {key} must be text, not a {_kind(value)}")
    return value.strip()


def _loose(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key, "")
    return " ".join(value.split()) if isinstance(value, str) else ""


def _kind(value: Any) -> str:
    return "list" if isinstance(value, list) else "mapping" if isinstance(value, dict) else type(value).__name__


def _tools(value: Any) -> tuple[str, ...]:
    """`Bash(git:*) Read`, `Bash(git add *), Read` or a list; blanks within parentheses belong to the name."""
    if isinstance(value, list):
        return tuple(str(one) for one in value)
    return tuple(re.findall(r"[^\s,()]+(?:\([^)]*\))?", value)) if isinstance(value, str) else ()


def _line_of(key: str, text: Document) -> int:
    """The line of a field, else that of the first mark."""
    for number, line in enumerate(text.head.split("\n")):
        if re.match(rf"{re.escape(key)}[ \t]*:", line):
            return text.line + number
    return max(1, text.line - 1)
