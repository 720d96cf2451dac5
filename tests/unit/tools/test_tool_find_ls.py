"""`find` and `ls`: which names, in which order, within which limits, and what policies hide."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tool_context import FakeToolContext, call, run, said, schema_of, spec_of

from zot_core.toolkit import globs, ripgrep
from zot_core.toolkit.filesystem import FileInfo
from zot_core.toolkit.listing import Entry
from zot_core.toolkit.operations import FoundPaths, Listing
from zot_core.types.specs import FilesystemPolicy, FilesystemRequest, ToolResult, resolve

NAMES = ("grep", "find", "ls")


@pytest.fixture(params=["rg", "python"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each test with it runs twice: with `rg`, and with the walk where no `rg` can run."""
    if request.param == "python":
        monkeypatch.setattr(ripgrep, "programs", lambda path: [])
    return str(request.param)


def make(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir() if name.endswith("/") else path.touch()
    return folder


def text(tool: str, folder: Path, **args: Any) -> str:
    result = run(tool, FakeToolContext(folder), **args)
    assert not result.is_error, said(result)
    return said(result)


def lines(tool: str, folder: Path, **args: Any) -> str:
    return text(tool, folder, **args).split("\n\n[")[0].replace("\n", " ")


# --- find -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*.py", "a.py src/b.py src/deep/c.py"),
        ("src/*.py", "src/b.py"),
        ("src/**/*.py", "src/b.py src/deep/c.py"),
        ("**/deep/*", "src/deep/-n.txt src/deep/c.py"),
        ("./src/*.py", "src/b.py"),
        ("/*.py", "a.py"),
        ("src", "src/"),
        ("deep/", "src/deep/"),
        ("*.{py,txt}", "a.py src/b.py src/deep/-n.txt src/deep/c.py"),
        ("-n*", "src/deep/-n.txt"),
        ("[ab].py", "a.py src/b.py"),
        ("[!a].py", "src/b.py src/deep/c.py"),
        ("?.py", "a.py src/b.py src/deep/c.py"),
        ("src/**", "src/b.py src/deep/ src/deep/-n.txt src/deep/c.py"),
        ("*", "a.py src/ src/b.py src/deep/ src/deep/-n.txt src/deep/c.py"),
    ],
)
@pytest.mark.parametrize("policies", [False, True])
def test_globs(tmp_path: Path, engine: str, pattern: str, names: str, policies: bool) -> None:
    make(tmp_path, "a.py", "src/b.py", "src/deep/c.py", "src/deep/-n.txt", ".hid/d.py", "out/e.py", "x.log")
    (tmp_path / ".gitignore").write_text("out/\n*.log\n")
    allow = FilesystemPolicy(name="all", check=lambda request: None)
    result = run("find", FakeToolContext(tmp_path, policies=(allow,) if policies else ()), pattern=pattern)
    assert said(result).replace("\n", " ") == names


@pytest.mark.parametrize("pattern", ["--pre=./evil.sh", "-x", "--files", "-"])
def test_a_glob_that_begins_with_a_dash_runs_nothing(tmp_path: Path, engine: str, pattern: str) -> None:
    """FT-11."""
    make(tmp_path, "-x", "-", "--files")
    (tmp_path / "evil.sh").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (tmp_path / "evil.sh").chmod(0o755)
    shown = text("find", tmp_path, pattern=pattern)
    assert shown == pattern if "evil" not in pattern else shown.startswith("Nothing found for --pre=./evil.sh")
    assert not (tmp_path / "ran").exists()


def test_below_a_folder_paths_are_as_read_takes_them(tmp_path: Path, engine: str) -> None:
    make(tmp_path, "-d/a.txt", "-d/b/c.txt", ".git/x.txt", ".h/y.txt")
    assert lines("find", tmp_path, pattern="*.txt", path="-d") == "-d/a.txt -d/b/c.txt"
    assert lines("find", tmp_path, pattern="*.txt", hidden=True) == "-d/a.txt -d/b/c.txt .h/y.txt"


def test_the_limit_says_how_many_more(tmp_path: Path, engine: str) -> None:
    make(tmp_path, *(f"f{n:03}" for n in range(50)))
    assert text("find", tmp_path, pattern="f*", limit=2) == (
        "f000\nf001\n\n[2 of 50, 48 more: raise limit, or narrow the pattern or path]"
    )


def test_nothing_found_says_how_to_find_more(tmp_path: Path, engine: str) -> None:
    said_so = text("find", tmp_path, pattern="abc")
    assert said_so.startswith("Nothing found for abc\n\n[*abc* finds names that contain it; names in .gitignore are")


def test_bad_globs_and_places_are_errors(tmp_path: Path) -> None:
    make(tmp_path, "file.txt")
    for args, word in (
        ({"pattern": "[a"}, "a [ is not closed"),
        ({"pattern": "{a"}, "a { is not closed"),
        ({"pattern": ""}, "it is empty"),
        ({"pattern": "x", "path": "file.txt"}, "is a file, not a folder"),
        ({"pattern": "x", "path": "fiel.txt"}, 'Close names there: "file.txt"'),
    ):
        result = run("find", FakeToolContext(tmp_path), **args)
        assert result.is_error and word in said(result)


def test_find_leaves_out_what_policies_deny(tmp_path: Path, engine: str) -> None:
    make(tmp_path, "a.txt", "secret/b.txt", "secret.txt")
    asked: list[str] = []

    def check(request: FilesystemRequest) -> str | None:
        asked.append(request.path)
        assert request.operation == "enumerate"
        return "no" if "secret" in request.path else None

    ctx = FakeToolContext(tmp_path, policies=(FilesystemPolicy(name="p", check=check),))
    assert said(run("find", ctx, pattern="*.txt")) == "a.txt\n\n[Left out by policy: 2]"
    assert not [path for path in asked if path.endswith("b.txt")]
    assert run("find", ctx, pattern="*", path="secret").is_error


def test_an_abort_ends_a_walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ripgrep, "programs", lambda path: [])
    make(tmp_path, *(f"d{n}/a" for n in range(20)))

    async def main() -> ToolResult:
        ctx = FakeToolContext(tmp_path)
        ctx.signal.abort("user")
        return await call("find", {"pattern": "*"}, ctx)

    result = asyncio.run(main())
    assert "[Aborted]" in said(result)


@pytest.mark.time_limit(120)
@settings(max_examples=300, deadline=None)
@given(
    pattern=st.text(st.sampled_from("ab*?[]!-."), min_size=1, max_size=8).filter(lambda text: "**" not in text),
    name=st.text(st.sampled_from("ab-.]!"), min_size=1, max_size=8),
)
def test_a_glob_for_names_is_fnmatchs(pattern: str, name: str) -> None:
    try:
        fits = globs.compiled(pattern)
    except globs.BadGlob:
        return
    if re.search(r"\[[^\]]*[-!]|\[!?\]", pattern):
        return  # ranges that run backwards and the like, on which everyone differs
    assert fits(name, False) == fnmatchcase(name, pattern)


def test_many_stars_take_no_time() -> None:
    assert not globs.compiled("*a" * 30 + "b")("a" * 250, False)


# --- ls -------------------------------------------------------------------------------------------------------------


def test_everything_is_listed_and_marked(tmp_path: Path) -> None:
    make(tmp_path, "b.txt", "A.txt", ".hid", "dir/", "ignored.log")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "to-dir").symlink_to("dir")
    (tmp_path / "to-file").symlink_to("b.txt")
    (tmp_path / "to-nothing").symlink_to("gone")
    os.mkfifo(tmp_path / "pipe")
    assert text("ls", tmp_path).split("\n") == [
        ".gitignore",
        ".hid",
        "A.txt",
        "b.txt",
        "dir/",
        "ignored.log",
        "pipe (fifo)",
        "to-dir -> dir/",
        "to-file -> b.txt",
        "to-nothing -> gone (missing)",
    ]
    assert "null (device)" in text("ls", tmp_path, path="/dev", limit=2000).split("\n")


def test_an_empty_folder_and_limits(tmp_path: Path) -> None:
    assert text("ls", tmp_path) == "[The folder is empty]"
    make(tmp_path, *(f"f{n:04}" for n in range(3000)))
    assert text("ls", tmp_path, limit=1) == (
        "f0000\n\n[1 of 3000 entries, 2999 more: raise limit, or use find with a pattern]"
    )
    assert text("ls", tmp_path, limit=2000).endswith("[2000 of 3000 entries, 1000 more: use find with a pattern]")


def test_what_is_no_folder_is_said(tmp_path: Path) -> None:
    make(tmp_path, "file.txt")
    for path, word in (("file.txt", "is a file, not a folder"), ("fil.txt", '"file.txt"'), ("x/y", "does not exist")):
        result = run("ls", FakeToolContext(tmp_path), path=path)
        assert result.is_error and word in said(result)


def test_ls_leaves_out_what_policies_deny(tmp_path: Path) -> None:
    make(tmp_path, "a.txt", "secret/b.txt")
    (tmp_path / "link").symlink_to("secret")
    check = lambda request: "no" if "secret" in request.path else None  # noqa: E731
    ctx = FakeToolContext(tmp_path, policies=(FilesystemPolicy(name="p", check=check),))
    assert said(run("ls", ctx)) == "a.txt\n\n[Left out by policy: 2]"
    result = run("ls", ctx, path="link")
    assert result.is_error and "Not allowed to enumerate" in said(result)


def test_a_folder_with_an_odd_name_can_be_listed_by_what_is_shown(tmp_path: Path) -> None:
    make(tmp_path, "two\nlines/x.txt")
    shown = text("ls", tmp_path)
    assert shown == '"two\\nlines/"'
    assert text("ls", tmp_path, path=json.loads(shown)) == "x.txt"


# --- all three ------------------------------------------------------------------------------------------------------


def test_a_plugins_operations_take_the_place_of_this_machine() -> None:
    class Elsewhere:
        async def info(self, path: str) -> FileInfo:
            return FileInfo("folder")

        async def list(self, path: str) -> Listing:
            return Listing(entries=[Entry(path), Entry("d", "folder")])

        async def find(self, folder: str, pattern: str, **options: Any) -> FoundPaths:
            return FoundPaths(paths=[f"{pattern}/{options['limit']}"], total=1)

    ctx = FakeToolContext(Path("/far"), supplied={"ls": Elsewhere(), "find": Elsewhere()})
    assert said(run("ls", ctx, path="x")) == "/far/x\nd/"
    assert said(run("find", ctx, path="x", pattern="p", limit=7)) == "x/p/7"


@pytest.mark.parametrize("name", NAMES)
def test_the_literal_schema_is_the_models(name: str) -> None:
    spec = spec_of(name)
    assert spec.parameters == schema_of(resolve(spec.arguments))
    assert callable(resolve(spec.execute)) and spec.workspace_effect == "read"


@pytest.mark.parametrize(
    ("name", "args", "shown"),
    [
        ("grep", {"pattern": 'a"b', "path": "src", "glob": "*.py"}, 'grep "a\\"b" in src (*.py)'),
        ("find", {"pattern": "*.py"}, "find *.py"),
        ("ls", {}, "ls ."),
    ],
)
def test_a_preview_says_what_a_call_will_do(name: str, args: dict[str, object], shown: str) -> None:
    spec = spec_of(name)
    assert resolve(spec.preview)(resolve(spec.arguments).model_validate(args)) == shown


def test_the_three_tools_are_told_in_few_bytes() -> None:
    specs: Sequence[Any] = [spec_of(name) for name in NAMES]
    told = [{"name": s.name, "description": s.description, "parameters": s.parameters} for s in specs]
    assert len(json.dumps(told, separators=(",", ":"))) < 1600
    assert all("\n" not in s.prompt_snippet and s.prompt_snippet for s in specs)
