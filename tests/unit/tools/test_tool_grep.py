"""`grep`: what is found and how it is said, that nothing of a model is an option, and what policies hide."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.tool_context import FakeToolContext, call, descriptors, run, said

from zot_core.toolkit import ripgrep
from zot_core.toolkit.ripgrep import Runner
from zot_core.types.specs import FilesystemPolicy, FilesystemRequest

ENGINES = ("rg", "python")


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each test with it runs twice: with `rg`, and with the stand-in where no `rg` can run."""
    if request.param == "python":
        monkeypatch.setattr(ripgrep, "programs", lambda path: [])
    return str(request.param)


def found(folder: Path, pattern: str, **args: Any) -> str:
    result = run("grep", FakeToolContext(folder), pattern=pattern, **args)
    assert not result.is_error, said(result)
    return said(result)


def body(text: str) -> str:
    """The result without its notices."""
    return "\n\n".join(part for part in text.split("\n\n") if not part.startswith("[") and part != "No matches")


def fill(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


# --- what is found --------------------------------------------------------------------------------------------------


def test_matches_are_shown_by_file_in_order(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, {"b.txt": "x\nneedle  \n", "a/z.txt": "needle 1\n", "a.txt": "no\n", "a-b.txt": "\n\nneedle"})
    assert found(tmp_path, "needle") == "a/z.txt\n1: needle 1\n\na-b.txt\n3: needle\n\nb.txt\n2: needle  "


def test_the_engine_is_the_one_that_was_meant(tmp_path: Path, engine: str) -> None:
    details = run("grep", FakeToolContext(tmp_path), pattern="x").details
    assert details is not None and details["engine"] == engine


def test_context_lines_and_gaps(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, {"a.txt": "1\n2 hit\n3\n4\n5\n\n7 hit\n8\n"})
    text = "a.txt\n1- 1\n2: 2 hit\n3- 3\n--\n6-\n7: 7 hit\n8- 8"
    assert found(tmp_path, "hit", context=1) == text
    assert found(tmp_path, "hit", context=1, limit=1).split("\n\n[")[0] == "a.txt\n1- 1\n2: 2 hit\n3- 3"


def test_case_literal_and_multiline(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, {"a.txt": "Foo(1)\nfoo\nbar\n\nfoo.*\n"})
    assert body(found(tmp_path, "foo")) == "a.txt\n2: foo\n5: foo.*"
    assert body(found(tmp_path, "foo", ignore_case=True)) == "a.txt\n1: Foo(1)\n2: foo\n5: foo.*"
    assert body(found(tmp_path, "foo.*", literal=True)) == "a.txt\n5: foo.*"
    assert body(found(tmp_path, "Foo(", literal=True)) == "a.txt\n1: Foo(1)"
    assert body(found(tmp_path, "foo.bar", multiline=True)) == "a.txt\n2: foo\n3: bar"
    assert body(found(tmp_path, "foo.bar")) == ""
    assert body(found(tmp_path, r"foo\nbar")) == "a.txt\n2: foo\n3: bar"
    assert body(found(tmp_path, "foo\nbar", literal=True)) == "a.txt\n2: foo\n3: bar"
    assert body(found(tmp_path, r"(?<=o)\.", limit=5)) == "a.txt\n5: foo.*"


def test_line_ends_of_windows_are_line_ends(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, {"a.txt": "one\r\ntwo\r\n"})
    assert found(tmp_path, "one$") == "a.txt\n1: one"


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16-le", "utf-16-be"])
def test_the_first_line_begins_behind_the_mark(tmp_path: Path, engine: str, codec: str) -> None:
    """FT-03."""
    text = "hello\ngrüße\n"
    fill(tmp_path, {"a.txt": text.encode(codec) if "8" in codec else ("\ufeff" + text).encode(codec)})
    assert found(tmp_path, "^hello") == "a.txt\n1: hello"
    assert found(tmp_path, "^grüße$") == "a.txt\n2: grüße"


def test_a_mark_that_an_edit_kept_is_still_passed_over(tmp_path: Path) -> None:
    """FT-03, from edit to grep."""
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfhello\n\xc3\xa9\n")
    ctx = FakeToolContext(tmp_path)
    edits = [{"old_text": "hello", "new_text": "hello2"}]
    assert not run("edit", ctx, path="a.txt", edits=edits).is_error
    assert (tmp_path / "a.txt").read_bytes()[:3] == b"\xef\xbb\xbf"
    assert found(tmp_path, "^hello2") == "a.txt\n1: hello2"


def test_lines_that_are_no_utf_8_are_shown(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, {"a.txt": "größe hit\n".encode("latin-1")})
    assert found(tmp_path, "hit") == "a.txt\n1: größe hit"


def test_binaries_that_match_are_named_and_not_shown(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, {"a.bin": b"\0\1needle\0", "b.txt": "needle"})
    assert found(tmp_path, "needle") == "b.txt\n1: needle\n\n[Binary files that match: a.bin]"


def test_control_characters_do_not_get_through(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, {"a.txt": "\x1b[31mred\x1b[0m\rhit\tx\n"})
    assert found(tmp_path, "hit") == "a.txt\n1: red␍hit\tx"


def test_nothing_found_says_what_was_not_searched(tmp_path: Path, engine: str) -> None:
    text = found(tmp_path, "x")
    assert text.startswith("No matches\n\n[Not searched: files in .gitignore and, without hidden=true, hidden ones")


# --- which files ----------------------------------------------------------------------------------------------------

TREE: dict[str, str | bytes] = {
    ".gitignore": "*.log\n/build/\n!keep.log\nsub/*.tmp\n",
    ".hidden/h.txt": "hit",
    ".git/config": "hit",
    "keep.log": "hit",
    "drop.log": "hit",
    "build/out.txt": "hit",
    "sub/build/in.txt": "hit",
    "sub/a.tmp": "hit",
    "sub/deep/b.tmp": "hit",
    "sub/.gitignore": "deep/*.py\n",
    "sub/deep/c.py": "hit",
    "sub/c.py": "hit",
    "src/one.ts": "hit",
    "src/x/two.tsx": "hit",
    "src/x/three.py": "hit",
    "[odd].txt": "hit",
    "other/.ignore": "skip.txt\n",
    "other/skip.txt": "hit",
    "other/stay.txt": "hit",
}
VISIBLE = (
    "[odd].txt keep.log other/stay.txt src/one.ts src/x/three.py src/x/two.tsx sub/build/in.txt sub/c.py sub/deep/b.tmp"
)
GLOBS = [
    ("", VISIBLE),
    ("*.py", "src/x/three.py sub/c.py"),
    ("*.{ts,tsx}", "src/one.ts src/x/two.tsx"),
    ("src/**/*.ts", "src/one.ts"),
    ("src/**", "src/one.ts src/x/three.py src/x/two.tsx"),
    ("src/", "src/one.ts src/x/three.py src/x/two.tsx"),
    ("{src,sub}/*", "src/one.ts sub/c.py"),
    ("*.log", "keep.log"),
    ("!*.py", VISIBLE.replace(" src/x/three.py", "").replace(" sub/c.py", "")),
    ("!sub", "[odd].txt keep.log other/stay.txt src/one.ts src/x/three.py src/x/two.tsx"),
    (r"\[odd\].txt", "[odd].txt"),
    ("[a-k]*.log", "keep.log"),
    ("t?o.*", "src/x/two.tsx"),
    ("-x", ""),
]


def files_in(text: str) -> str:
    names = [part.split("\n")[0] for part in body(text).split("\n\n") if part]
    return " ".join(name[1:-1] if name.startswith('"') else name for name in names)


@pytest.mark.parametrize("policies", [False, True])
@pytest.mark.parametrize(("glob", "names"), GLOBS)
def test_globs_and_gitignore(tmp_path: Path, engine: str, glob: str, names: str, policies: bool) -> None:
    fill(tmp_path, TREE)
    allow = FilesystemPolicy(name="all", check=lambda request: None)
    ctx = FakeToolContext(tmp_path, policies=(allow,) if policies else ())
    result = run("grep", ctx, pattern="hit", glob=glob)
    assert files_in(said(result)) == names


def test_hidden_files_on_request_and_never_gits_own(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, TREE)
    assert files_in(found(tmp_path, "hit", hidden=True)) == ".hidden/h.txt " + VISIBLE


def test_an_ignored_folder_is_searched_when_it_is_named(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, TREE)
    assert files_in(found(tmp_path, "hit", path="build")) == "build/out.txt"
    assert files_in(found(tmp_path, "hit", path="drop.log")) == "drop.log"


def test_the_rules_of_folders_above_hold_up_to_the_repository(tmp_path: Path, engine: str) -> None:
    fill(
        tmp_path, {".gitignore": "*.txt", "repo/.git/HEAD": "", "repo/.gitignore": "/in/x.md\n", "repo/in/a.txt": "hit"}
    )
    fill(tmp_path, {"repo/in/x.md": "hit", "repo/.git/info/exclude": "*.rst", "repo/in/c.rst": "hit"})
    assert files_in(found(tmp_path, "hit", path="repo/in")) == "repo/in/a.txt"


def test_paths_are_as_read_takes_them(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, {"project/a/b.txt": "hit", "other/c.txt": "hit"})
    project = tmp_path / "project"
    assert files_in(found(project, "hit", path="a")) == "a/b.txt"
    assert files_in(found(project, "hit", path="a/b.txt")) == "a/b.txt"
    assert files_in(found(project, "hit", path=str(tmp_path / "other"))) == str(tmp_path / "other/c.txt")
    assert not run("read", FakeToolContext(project), path=files_in(found(project, "hit", path="../other"))).is_error


def test_links_are_not_followed_but_may_be_named(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, {"real/a.txt": "hit"})
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "link.txt").symlink_to("real/a.txt")
    assert files_in(found(tmp_path, "hit")) == "real/a.txt"
    assert files_in(found(tmp_path, "hit", path="link")) == "link/a.txt"
    assert files_in(found(tmp_path, "hit", path="link.txt")) == "link.txt"


# --- FT-11: nothing is an option ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        ("->", "1: a -> b"),
        ("--flag", "2: --flag"),
        ("-e", "3: -e"),
        ("--pre=./evil.sh", "4: --pre=./evil.sh"),
        ("--", "2: --flag\n4: --pre=./evil.sh\n5: --"),
        ("-f/etc/passwd", ""),
        ("--version", ""),
    ],
)
@pytest.mark.parametrize("literal", [False, True])
def test_a_pattern_is_never_an_option(tmp_path: Path, engine: str, pattern: str, lines: str, literal: bool) -> None:
    evil = tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    evil.chmod(0o755)
    fill(tmp_path, {"-dash/a.txt": "a -> b\n--flag\n-e\n--pre=./evil.sh\n--\n"})
    text = body(found(tmp_path, pattern, path="-dash", literal=literal))
    assert text == (f"-dash/a.txt\n{lines}" if lines else "")
    assert text == body(found(tmp_path, pattern, path="-dash/a.txt", literal=literal))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["--pre=.", "-e", "--files", "-"])
def test_a_path_or_glob_that_begins_with_a_dash_is_one(tmp_path: Path, engine: str, name: str) -> None:
    fill(tmp_path, {f"{name}/{name}": "hit\n", "else.txt": "hit\n"})
    assert body(found(tmp_path, "hit", path=name)) == f"{name}/{name}\n1: hit"
    assert body(found(tmp_path, "hit", glob=name)) == f"{name}/{name}\n1: hit"


def test_no_settings_of_the_person_add_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, {"rc": f"--pre={tmp_path}/evil.sh\n--files\n", "evil.sh": f"#!/bin/sh\ntouch {tmp_path}/ran\n"})
    (tmp_path / "evil.sh").chmod(0o755)
    fill(tmp_path, {"in/a.txt": "hit\n"})
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rc"))
    assert found(tmp_path, "hit", path="in") == "in/a.txt\n1: hit"
    assert not (tmp_path / "ran").exists()


def test_a_projects_own_rg_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, {"rg": f"#!/bin/sh\ntouch {tmp_path}/ran\n", "a.txt": "hit\n"})
    (tmp_path / "rg").chmod(0o755)
    monkeypatch.setenv("PATH", f".::{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    assert body(found(tmp_path, "^hit")) == "a.txt\n1: hit"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("script", ["exit 126", "kill -9 $$", "echo 'error: unexpected argument' >&2; exit 2"])
def test_an_rg_that_does_not_work_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    fill(tmp_path, {"bin/rg": f"#!/bin/sh\n{script}\n", "p/a.txt": "hit\n"})
    (tmp_path / "bin/rg").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    assert found(tmp_path / "p", "hit") == "a.txt\n1: hit"
    assert said(run("find", FakeToolContext(tmp_path / "p"), pattern="*")) == "a.txt"


# --- limits ---------------------------------------------------------------------------------------------------------


def test_the_limit_counts_the_rest_and_takes_the_first(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, {f"f{n:02}.txt": "hit\n" * 10 for n in range(30)})
    text = found(tmp_path, "hit", limit=15)
    assert text.count(": hit") == 15
    assert files_in(text) == "f00.txt f01.txt"
    assert text.endswith(
        "[15 of 300 matching lines, in 2 of 30 files, 285 more: raise limit, or narrow with path, glob or pattern]"
    )


def test_fifty_kilobytes_at_most(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, {"a.txt": ("x" * 99 + "\n") * 2000})
    text = found(tmp_path, "x", limit=2000)
    assert len(text) < 50 * 1024 + 300
    assert "of 2000 matching lines" in text and "raise limit" not in text


def test_a_search_that_finds_too_much_still_gives_the_first(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, {f"f{n:02}.txt": "0123456789" * 40 + "\n" for n in range(10)})
    fill(tmp_path, {"z.txt": ("0123456789" * 40 + "\n") * 60_000})
    text = found(tmp_path, "9", limit=11)
    assert files_in(text) == " ".join([*(f"f{n:02}.txt" for n in range(10)), "z.txt"])
    assert "[The first 11 matching lines; there are very many more: raise limit" in text


def test_a_long_line_is_cut_around_its_match(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, {"a.js": "é" * 3_000_000 + "needle" + "ü" * 3_000_000 + "\nneedle\n", "b.js": "needle" + "ö" * 600})
    text = found(tmp_path, "needle")
    first, second = text.split("\n")[1:3]
    assert first.startswith("1: …é") and first.endswith("ü…") and "éneedleü" in first and "\ufffd" not in first
    assert len(first) < 520
    assert second == "2: needle"
    assert "b.js\n1: needle" + "ö" * 494 + "…" in text
    assert text.endswith("[Lines over 500 characters are shown in part, with … where they go on]")


# --- names: FT-15 ---------------------------------------------------------------------------------------------------

NAMES = [
    b"shot 1\xe2\x80\xafPM.png.txt",
    b"shot 1 PM.png.txt",
    "cafe\u0301.txt".encode(),
    "it’s.txt".encode(),
    b"@at.txt",
    b" blanks ",
    b"~",
    b"two\nlines.txt",
    b"bad\xff.txt",
    b"-dash",
    b"12: x",
    b'"quoted".txt',
    b"a -> b",
    b"pipe (fifo)",
    "日本語.txt".encode(),
]


@pytest.mark.parametrize("tool", ["ls", "grep", "find"])
def test_every_name_is_shown_so_that_read_opens_it(tmp_path: Path, engine: str, tool: str) -> None:
    import json

    for name in NAMES:
        (tmp_path / os.fsdecode(name)).write_bytes(b"hit " + name.replace(b"\n", b" "))
    ctx = FakeToolContext(tmp_path)
    if tool == "grep":
        result = run("grep", ctx, pattern="^hit", limit=500)
        shown = [part.split("\n")[0] for part in said(result).split("\n\n")]
    else:
        shown = said(run(tool, ctx, **({"pattern": "*"} if tool == "find" else {}))).split("\n")
    assert len(shown) == len(NAMES), shown
    opened = [json.loads(name) if name.startswith('"') else name for name in shown]
    assert sorted(map(os.fsencode, opened)) == sorted(NAMES)
    for name in opened:
        result = run("read", ctx, path=name)
        assert said(result).startswith("hit ") and "No file has" not in said(result)
        assert files_in(said(run("grep", ctx, pattern="^hit", path=name)))


def test_a_place_is_found_by_a_lookalike_and_said(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, {"cafe\u0301/a.txt": "hit"})
    text = found(tmp_path, "hit", path="caf\u00e9")
    assert text.startswith('"cafe\\u0301/a.txt"\n1: hit\n\n[No file has exactly this name')


# --- errors ---------------------------------------------------------------------------------------------------------


def error(folder: Path, pattern: str, **args: Any) -> str:
    result = run("grep", FakeToolContext(folder), pattern=pattern, **args)
    assert result.is_error
    return said(result)


def test_a_broken_pattern_says_why_and_what_to_do(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, {"a.txt": "foo("})
    text = error(tmp_path, "foo(")
    assert text.startswith("Not a valid search: ") and text.endswith("set literal=true.")
    assert "unclosed group" in text or "unterminated subpattern" in text
    assert "Not a valid glob" in error(tmp_path, "x", glob="[a")
    assert "pattern is empty" in error(tmp_path, "")
    assert "cannot be passed" in error(tmp_path, "a\0b") if engine == "rg" else True


def test_a_missing_place_names_close_ones(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    assert error(tmp_path, "x", path="sorce") == 'Not found: sorce. Close names there: "source".'


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is a fifo" in error(tmp_path, "x", path="pipe")
    assert body(found(tmp_path, "x")) == ""


def test_unreadable_files_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "printf './a.txt\\0001:1:hit\\n'; echo 'rg: ./b.txt: Permission denied (os error 13)' >&2; exit 2"
    fill(tmp_path, {"rg": f"#!/bin/sh\n{script}\n"})
    (tmp_path / "rg").chmod(0o755)
    monkeypatch.setattr(ripgrep, "programs", lambda path: [str(tmp_path / "rg")])
    assert found(tmp_path, "hit") == (
        "a.txt\n1: hit\n\n[Not readable: 1, such as b.txt: Permission denied (os error 13)]"
    )


def test_many_searches_leave_nothing_behind(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, {"a.txt": "hit\n" * 100})

    async def main() -> None:
        ctx = FakeToolContext(tmp_path)
        await call("grep", {"pattern": "hit"}, ctx)
        before = descriptors()
        for _ in range(10):
            searches = [call("grep", {"pattern": "hit"}, ctx), call("find", {"pattern": "*"}, ctx)]
            tasks = [asyncio.ensure_future(search) for search in searches]
            await asyncio.sleep(0)
            tasks[0].cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.05)
        assert descriptors() <= before
        assert ctx.processes.live() == []

    asyncio.run(main())


def test_an_abort_ends_the_search_and_its_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, {"bin/rg": "#!/bin/sh\nsleep 60 & sleep 60\n", "p/a.txt": "hit\n"})
    (tmp_path / "bin/rg").chmod(0o755)
    monkeypatch.setattr(ripgrep, "programs", lambda path: [str(tmp_path / "bin/rg")])

    async def main() -> None:
        ctx = FakeToolContext(tmp_path / "p")
        asyncio.get_running_loop().call_later(0.2, ctx.signal.abort, "user")
        async with asyncio.timeout(10):
            result = await call("grep", {"pattern": "x"}, ctx)
        assert result.is_error and said(result) == "[Aborted]"
        assert ctx.processes.live() == []

    asyncio.run(main())


def test_a_time_out_ends_a_pattern_that_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, {"a.txt": "a" * 40 + "!"})
    monkeypatch.setattr(ripgrep, "programs", lambda path: [])
    monkeypatch.setattr(Runner, "__init__", _with_timeout(Runner.__init__, 0.5))
    assert error(tmp_path, "(a+)+$").startswith("[Timed out")


def _with_timeout(init: Any, seconds: float) -> Any:
    def short(self: Any, **fields: Any) -> None:
        init(self, **{**fields, "timeout": seconds})

    return short


# --- policies -------------------------------------------------------------------------------------------------------


def test_what_policies_deny_is_neither_entered_nor_shown(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, {"a.txt": "hit", "secret/b.txt": "hit", "secret.txt": "hit", "-c.txt": "hit"})
    asked: list[FilesystemRequest] = []

    def check(request: FilesystemRequest) -> str | None:
        asked.append(request)
        return "secret" if "secret" in request.path else None

    ctx = FakeToolContext(tmp_path, policies=(FilesystemPolicy(name="p", check=check),))
    assert said(run("grep", ctx, pattern="hit")) == "-c.txt\n1: hit\n\na.txt\n1: hit\n\n[Left out by policy: 2]"
    assert {request.operation for request in asked if request.path.endswith("a.txt")} == {"read"}
    assert not [request for request in asked if request.path.endswith("b.txt")]
    for path in ("secret", "secret.txt"):
        result = run("grep", ctx, pattern="hit", path=path)
        assert result.is_error and "Not allowed to" in said(result)


def test_many_files_behind_a_policy(tmp_path: Path) -> None:
    long = "x" * 200
    fill(tmp_path, {f"{n:04}{long}": "hit\n" for n in range(1200)})
    ctx = FakeToolContext(tmp_path, policies=(FilesystemPolicy(name="p", check=lambda request: None),))
    result = run("grep", ctx, pattern="hit", limit=1)
    assert "1 of 1200 matching lines" in said(result)


# --- any literal in any content -------------------------------------------------------------------------------------

LINES = st.text(st.characters(codec="utf-8", exclude_characters="\0\n\r\ufeff"), max_size=20)


@pytest.mark.time_limit(120)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(LINES, max_size=8),
    wanted=st.text(st.sampled_from("ab-.*(["), min_size=1, max_size=3),
    pick=st.data(),
)
def test_a_literal_is_found_where_it_is(
    tmp_path_factory: pytest.TempPathFactory, engine: str, lines: list[str], wanted: str, pick: st.DataObject
) -> None:
    texts = [line for line in lines if line]
    if texts and pick.draw(st.booleans()):
        line = pick.draw(st.sampled_from(texts))
        start = pick.draw(st.integers(0, len(line) - 1))
        wanted = line[start : start + 3]
    folder = fill(tmp_path_factory.mktemp("any"), {"a.txt": "\n".join([*lines, "-a.*b([", ""])})
    result = run("grep", FakeToolContext(folder), pattern=wanted, literal=True)
    assert not result.is_error
    rows = body(said(result)).split("\n")[1:] if "a.txt" in said(result) else []
    expected = [at for at, line in enumerate([*lines, "-a.*b(["], 1) if wanted in line]
    assert [int(row.partition(":")[0]) for row in rows if row[:1].isdigit()] == expected


def test_the_stand_in_is_a_program_of_its_own(tmp_path: Path) -> None:
    import zot_plugins.tool_grep.stand_in as stand_in

    source = Path(stand_in.__file__ or "").read_text(encoding="utf-8")
    assert "zot_core" not in source
    done = subprocess.run([sys.executable, "-I", "-S", str(stand_in.__file__), "{"], capture_output=True, check=False)
    assert done.returncode == 1
