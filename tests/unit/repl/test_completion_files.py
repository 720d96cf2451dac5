"""Files after `@` and paths by Tab: what is offered, how it is written, and that a large project stays quick."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from zot_cli.repl.completion import files as module
from zot_cli.repl.completion.files import Names, ProjectFiles
from zot_cli.repl.completion.sources import BuiltIn
from zot_core.toolkit.ripgrep import CannotRun, Runner
from zot_core.ui.completion import Found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with hidden, ignored and awkward names."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for name in (
        "src/deep/configuration.py",
        "src/config.py",
        ".hidden/notes.md",
        "my docs/read me.txt",
        "build/out.o",
        "\u6f22\u5b57.txt",
        "evil\x1b[2J.txt",
        "two\nlines.txt",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / ".gitignore").write_text("build/\n")
    return tmp_path


def matching(word: str, root: Path) -> list[str]:
    return asyncio.run(ProjectFiles().matching(word, str(root)))


def suggested(text: str, cwd: Path, *, forced: bool = False) -> list[str]:
    """The values that are offered after a text of one line."""
    commands = SimpleNamespace(items=dict, row=lambda name: None, aliases=tuple)
    app = cast("Any", SimpleNamespace(runtime=SimpleNamespace(cwd=str(cwd), commands=commands)))
    found: Found | None = asyncio.run(BuiltIn(lambda: app).get_suggestions([text], 0, len(text), forced=forced))
    if found is not None:
        assert text.endswith(found.prefix)
    return [item.value for item in found.items] if found is not None else []


@pytest.mark.parametrize("without_rg", [False, True])
def test_what_is_listed(project: Path, monkeypatch: pytest.MonkeyPatch, without_rg: bool) -> None:
    if without_rg:

        async def cannot(*_: Any, **__: Any) -> None:
            raise CannotRun("there is no rg")

        monkeypatch.setattr(Runner, "rg", cannot)
    listed = set(matching("", project)) | set(matching("o", project))
    assert {
        "src/",
        "src/deep/",
        "src/config.py",
        ".hidden/notes.md",
        "my docs/read me.txt",
        "\u6f22\u5b57.txt",
    } <= listed
    assert not any(".git/" in name for name in listed)
    assert ("build/out.o" in listed) == without_rg, "what is ignored is rg's to know"
    assert not any(not name.isprintable() for name in listed)


def test_the_best_come_first(project: Path) -> None:
    assert matching("config", project)[:2] == ["src/config.py", "src/deep/configuration.py"]
    assert matching("sdconf", project) == ["src/deep/configuration.py"]
    assert matching("CONFIG.py", project)[0] == "src/config.py"
    assert matching("zzz", project) == []


def test_typing_on_narrows_and_going_back_widens() -> None:
    names = Names(["abc", "axbxc", "abd"])
    assert names.matching("abc") == ["abc", "axbxc"]
    assert names.matching("ab") == ["abc", "abd", "axbxc"]
    assert names.matching("x") == ["axbxc"]


def test_among_very_many_the_likely_ones_are_found() -> None:
    names = Names(f"folder{n % 100}/engine_{n}.py" for n in range(20_000))
    assert len(names.matching("e")) == module.SHOWN
    assert names.matching("engine_19999")[0] == "folder99/engine_19999.py"
    assert names.matching("f7/e19977") == ["folder77/engine_19977.py"]


def test_names_with_blanks_are_quoted_and_folders_stay_open(project: Path) -> None:
    assert suggested("see @read", project)[0] == '@"my docs/read me.txt" '
    assert suggested('see @"my docs/re', project)[0] == '@"my docs/read me.txt" '
    assert '@"my docs/' in suggested("see @my", project)
    assert "@src/" in suggested("(@src", project)
    assert suggested("mail me@src", project) == [], "no mention within a word"
    assert suggested("/unknown words @config.py", project)[0] == "@src/config.py "


@pytest.mark.parametrize("word", ["~/", "./", "../", "/"])
def test_paths_outside_the_project_are_read_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    home = tmp_path / "home"
    (home / "inner").mkdir(parents=True)
    (home / "inner" / "plan.md").write_text("x")
    (home / "inner" / ".secret").write_text("x")
    monkeypatch.setenv("HOME", str(home))
    start = {"~/": "~/inner/", "./": "./", "../": "../inner/", "/": f"{home}/inner/"}[word]
    cwd = home / "inner"
    assert suggested(f"read {start}pl", cwd, forced=True) == [f"{start}plan.md"]
    assert suggested(f"read @{start}pl", cwd) == [f"@{start}plan.md "]
    assert suggested(f"read {start}.se", cwd, forced=True) == [f"{start}.secret"]
    assert suggested(f"read {start}", cwd, forced=True) == [f"{start}plan.md"], "hidden ones when their dot is typed"


def test_a_path_with_a_blank_is_gone_through(project: Path) -> None:
    assert suggested("cat my", project, forced=True) == ['"my docs/']
    assert suggested('cat "my docs/', project, forced=True) == ['"my docs/read me.txt"']


@pytest.mark.parametrize("word", ["~nobody-of-this-name/x", "no/such/folder", "nul\0/x"])
def test_no_such_place_offers_nothing(project: Path, word: str) -> None:
    assert suggested(f"read {word}", project, forced=True) == []


def test_a_listing_that_is_overtaken_by_typing_goes_on(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = 0
    real = module._listed

    async def counted(root: str) -> Names:
        nonlocal runs
        runs += 1
        return await real(root)

    monkeypatch.setattr(module, "_listed", counted)

    async def typing() -> list[str]:
        files = ProjectFiles()
        for word in ("c", "co", "con"):
            asking = asyncio.create_task(files.matching(word, str(project)))
            await asyncio.sleep(0)
            asking.cancel()
        return await files.matching("conf", str(project))

    assert asyncio.run(typing())[0] == "src/config.py"
    assert runs == 1
