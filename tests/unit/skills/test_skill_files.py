"""SK-01: whatever a SKILL.md looks like, it is loaded where its meaning is clear, else named with file and line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Put = Callable[..., Path]
LOADED = {
    "unquoted colon": ("---\nname: odd\ndescription: Do x: then y\n---\nB", "Do x: then y"),
    "tabs": ("---\nname:\todd\ndescription:\tDo it\nmetadata:\n\tauthor: me\n---\nB", "Do it"),
    "mark in the body": ("---\nname: odd\ndescription: Do it\n---\nB\n---\nC", "Do it"),
    "CRLF": ("---\r\nname: odd\r\ndescription: Do it\r\n---\r\nB\r\n", "Do it"),
    "BOM": (b"\xef\xbb\xbf---\nname: odd\ndescription: Do it\n---\nB", "Do it"),
    "number": ("---\nname: odd\ndescription: 42\n---\nB", "42"),
    "yes": ("---\nname: odd\ndescription: yes\n---\nB", "yes"),
    "folded": ("---\nname: odd\ndescription: >\n  Do it\n  well\n---\nB", "Do it well"),
    "unknown fields": ("---\nname: odd\ndescription: Do it\nflavour: [a, {b: c}]\n---\nB", "Do it"),
    "no name": ("---\ndescription: Do it\n---\nB", "Do it"),
    "only frontmatter": ("---\nname: odd\ndescription: Do it\n---", "Do it"),
    "controls": ('---\nname: odd\ndescription: "Do\\x1b[31m \\n it"\n---\nB', "Do[31m it"),
}
REFUSED = {
    "no end": ("---\nname: odd\ndescription: Do it\n\nB", 1, "no second line"),
    "duplicate": ("---\nname: odd\ndescription: a\nallowed-tools: Read\ndescription: b\n---\nB", 5, "twice"),
    "list": ("---\nname: odd\ndescription:\n  - a\n---\nB", 3, "must be text, not a list"),
    "empty description": ("---\nname: odd\ndescription:\n---\nB", 3, "no description"),
    "no description": ("---\nname: odd\n---\nB", 1, "no description"),
    "tag": ("---\nname: odd\ndescription: !!python/object/apply:os.system ['touch ran']\n---\nB", 3, "no YAML"),
    "empty file": ("", 1, "no frontmatter"),
    "no frontmatter": ("# Do it", 1, "no frontmatter"),
    "blank": ("---\nname: odd name\ndescription: Do it\n---\nB", 2, "letters"),
    "capitals": ("---\nname: Odd\ndescription: Do it\n---\nB", 2, "letters"),
    "dots": ("---\ndescription: Do it\nname: o.d\n---\nB", 3, "letters"),
    "slash": ("---\nname: ../odd\ndescription: Do it\n---\nB", 2, "letters"),
    "hyphens": ("---\nname: odd--x\ndescription: Do it\n---\nB", 2, "single hyphens"),
    "long": (f"---\nname: {'o' * 65}\ndescription: Do it\n---\nB", 2, "64"),
}  # fmt: skip


@pytest.mark.parametrize("case", LOADED)
def test_loaded(case: str, look: Any, put_skill: Put, zot_home: Path) -> None:
    text, description = LOADED[case]
    put_skill(zot_home / "skills/odd", text)
    put_skill(zot_home / "skills/well", description="Is well.")
    seen = asyncio.run(look())
    assert f"\n- odd: {description}\n" in seen.system + "\n"
    assert "\n- well: Is well." in seen.system
    assert seen.warnings == []


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_one_warning(case: str, look: Any, put_skill: Put, zot_home: Path, project: Path) -> None:
    text, line, word = REFUSED[case]
    file = put_skill(zot_home / "skills/odd", text)
    put_skill(zot_home / "skills/well", description="Is well.")
    seen = asyncio.run(look())
    assert "- odd" not in seen.system
    assert "\n- well: Is well." in seen.system
    (warning,) = seen.warnings
    assert warning.startswith(f"{file}:{line}: ") and word in warning
    assert not (project / "ran").exists()


def test_another_name_than_the_folder(look: Any, put_skill: Put, zot_home: Path) -> None:
    file = put_skill(zot_home / "skills/folder", name="other", description="Do it.")
    seen = asyncio.run(look())
    assert "\n- other: Do it." in seen.system
    assert seen.warnings == [f"{file}:2: the name other is not that of its folder, folder"]


def test_a_letter_is_a_letter_in_any_script(look: Any, put_skill: Put, zot_home: Path) -> None:
    put_skill(zot_home / "skills/größe-2", description="Do it.")
    seen = asyncio.run(look())
    assert "\n- größe-2: Do it." in seen.system
    assert seen.warnings == []


def test_a_description_of_20_kb_is_cut(look: Any, put_skill: Put, zot_home: Path) -> None:
    file = put_skill(zot_home / "skills/odd", description="word " * 4000)
    seen = asyncio.run(look())
    (line,) = [line for line in seen.system.splitlines() if line.startswith("- odd")]
    assert len(line) < 1100 and line.endswith("…")
    assert seen.warnings == [f"{file}:3: the description has 19999 characters; the first 1024 are used"]


def test_many_skills_stay_bounded(look: Any, put_skill: Put, zot_home: Path) -> None:
    for number in range(60):
        put_skill(zot_home / f"skills/s{number:02}", description="long " * 200)
    seen = asyncio.run(look())
    section = seen.system.partition("# Skills")[2]
    assert len(section) < 20_000
    assert "\n- s59" in section  # by name at least


@pytest.mark.parametrize("kind", ["folder", "unreadable", "binary"])
def test_what_is_no_text_file(kind: str, look: Any, put_skill: Put, zot_home: Path) -> None:
    put_skill(zot_home / "skills/well", description="Is well.")
    odd = zot_home / "skills/odd/SKILL.md"
    odd.parent.mkdir()
    if kind == "folder":
        odd.mkdir()
    elif kind == "unreadable":
        odd.symlink_to(odd)
    else:
        odd.write_bytes(b"---\nname: odd\ndescription: \x00\xff\n---\n")
    seen = asyncio.run(look())
    assert "\n- well: Is well." in seen.system
    assert len(seen.warnings) == 1 and str(odd) in seen.warnings[0]


def test_a_changed_file_counts_from_the_next_prompt(put_skill: Put, zot_home: Path, runtime: Any) -> None:
    async def scenario() -> list[str]:
        async with runtime() as app:
            texts = []
            for description in ("First.", "Second one."):
                put_skill(zot_home / "skills/odd", description=description)
                await app.prompt("Hi")
                texts.append(app.runtime.current_system_prompt())
            return texts

    first, second = asyncio.run(scenario())
    assert "- odd: First." in first
    assert "- odd: Second one." in second
