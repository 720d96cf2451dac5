"""Where skills come from and which one of a name counts (SK-05)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zot_core import hookimpl
from zot_core.events.session import Resources
from zot_core.types.specs import ResourcePath

Put = Callable[..., Path]


@pytest.fixture
def user(isolated: Path) -> Path:
    return isolated / "user"


def test_every_place(look: Any, put_skill: Put, zot_home: Path, project: Path, user: Path) -> None:
    inner = project / "a/b"
    inner.mkdir(parents=True)
    (project / ".git").mkdir()
    for name, folder in {
        "one": inner / ".zot/skills", "two": inner / ".agents/skills", "three": inner / ".claude/skills",
        "four": project / "a/.agents/skills", "five": project / ".claude/skills", "six": zot_home / "skills/deep/er",
        "seven": user / ".agents/skills", "eight": user / ".claude/skills",
    }.items():  # fmt: skip
        put_skill(folder / name, description=f"From {name}.")
    put_skill(project.parent / ".agents/skills/outside", description="Above the repository.")
    seen = asyncio.run(look(cwd=inner, trust=True))
    names = "one two three four five six seven eight zot-plugins".split()
    assert seen.names == [f"skill:{name}" for name in names]
    assert all(f"- {name}: " in seen.system for name in names)
    assert seen.warnings == []


def test_a_project_that_is_not_trusted(wire: Any, put_skill: Put, project: Path, user: Path) -> None:
    inner = project / "a"
    inner.mkdir()
    (project / ".git").mkdir()
    put_skill(inner / ".zot/skills/one", description="From one.")
    put_skill(inner / ".claude/skills/two", description="From two.")
    put_skill(project / ".agents/skills/three", description="From three.")
    put_skill(user / ".claude/skills/mine", description="From me.")
    seen = wire("Hi", "--cwd", str(inner))
    assert "From one" not in seen["system"] and "From two" not in seen["system"] and "From three" not in seen["system"]
    assert "- mine: From me." in seen["system"]
    for name in (".zot/skills", ".claude/skills", "../.agents/skills"):
        assert name in seen["err"]
    assert seen["err"].count("not trusted") == 1
    assert "- three: From three." in wire("Hi", "--cwd", str(inner), "--trust")["system"]


def test_the_first_of_a_name_counts(
    look: Any, put_skill: Put, zot_home: Path, project: Path, user: Path, tmp_path: Path
) -> None:
    places = [project / ".zot", project / ".agents", zot_home, user / ".agents", tmp_path / "plugin"]
    files = [put_skill(place / "skills/same", description=f"From {place.name}.") for place in places]

    class Brings:
        @hookimpl
        def skills(self) -> str:
            return str(tmp_path / "plugin/skills")

    seen = asyncio.run(look(trust=True, plugins=[Brings()]))
    assert seen.system.count("- same: ") == 1 and "- same: From .zot." in seen.system
    assert seen.names == ["skill:same", "skill:zot-plugins"]
    assert seen.warnings == [f"{file}: this skill same is not used; {files[0]} comes first" for file in files[1:]]


def test_one_folder_under_two_names_is_no_clash(look: Any, put_skill: Put, project: Path) -> None:
    put_skill(project / ".claude/skills/same", description="Once.")
    (project / ".agents").symlink_to(project / ".claude")
    seen = asyncio.run(look(trust=True))
    assert seen.names.count("skill:same") == 1
    assert seen.warnings == []


def test_the_home_as_project(
    look: Any, put_skill: Put, monkeypatch: pytest.MonkeyPatch, user: Path, isolated: Path
) -> None:
    put_skill(user / ".claude/skills/mine", description="Mine.")
    put_skill(user / ".zot/skills/own", description="Own.")
    monkeypatch.setenv("ZOT_HOME", str(user / ".zot"))
    monkeypatch.chdir(user)
    (user / ".zot").chmod(0o700)
    seen = asyncio.run(look())
    assert "- mine: Mine." in seen.system and "- own: Own." in seen.system
    assert seen.warnings == []


def test_folders_of_plugins(look: Any, put_skill: Put, tmp_path: Path) -> None:
    for name in ("contributed", "discovered", "scoped"):
        put_skill(tmp_path / name / f"s-{name}", description=f"From {name}.")
    plugin = tmp_path / "brings.py"
    plugin.write_text(
        "from zot_core import hookimpl\nfrom zot_core.events.session import Resources\n"
        "@hookimpl\ndef skills():\n    return 'contributed'\n"
        "@hookimpl\nasync def resources_discover(event, ctx):\n    return Resources(skills=('discovered',))\n"
    )

    class Scoped:
        @hookimpl
        def resources_discover(self) -> Resources:
            return Resources(skills=(ResourcePath(path=str(tmp_path / "scoped"), scope="temporary"),))

    seen = asyncio.run(look(plugins=[plugin, Scoped()]))
    assert seen.names == ["skill:s-scoped", "skill:s-contributed", "skill:s-discovered", "skill:zot-plugins"]


def test_flags(wire: Any, put_skill: Put, zot_home: Path, tmp_path: Path, project: Path) -> None:
    put_skill(zot_home / "skills/homely", description="At home.")
    put_skill(tmp_path / "x/named", description="Named.")
    single = put_skill(project / "rel/other", description="Other.")
    assert "- homely: " in wire("Hi", "--with-skills")["system"]
    none = wire("Hi", "--no-skills")
    assert "# Skills" not in none["system"] and "skill" not in none["tools"]
    assert "# Skills" not in wire("Hi", "--no-skill")["system"]
    both = wire("Hi", "--no-skills", "--skill", str(tmp_path / "x"), "--skill", "rel/other/SKILL.md")
    assert "- named: Named." in both["system"] and "- other: Other." in both["system"]
    assert "homely" not in both["system"] and "zot-plugins" not in both["system"]
    assert single.exists()
    missing = wire("Hi", "--skill", "nowhere")
    assert f"--skill {project / 'nowhere'}: No such file or directory" in missing["err"]


def test_links_that_go_round(look: Any, put_skill: Put, zot_home: Path) -> None:
    put_skill(zot_home / "skills/group/one", description="One.")
    (zot_home / "skills/group/again").symlink_to(zot_home / "skills")
    seen = asyncio.run(look())
    assert seen.names == ["skill:one", "skill:zot-plugins"]
    assert seen.warnings == []


def test_a_repository_may_be_a_worktree(look: Any, put_skill: Put, project: Path) -> None:
    (project / ".git").write_text("gitdir: elsewhere\n")
    put_skill(project / ".agents/skills/one", description="One.")
    inner = project / "deep"
    inner.mkdir()
    assert "skill:one" in asyncio.run(look(cwd=inner, trust=True)).names
