"""`zot ext` as a person and a script call it: real folders, real git repositories, real processes, hostile trees."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pexpect
import pytest
from support.extension_scripts import script

Make = Callable[..., Path]


@pytest.fixture
def make(isolated: Path) -> Make:
    """Writes the source of an extension that would leave a mark if its program ever ran."""

    def write(name: str = "hello", folder: str = "", **manifest: Any) -> Path:
        path = isolated / "sources" / (folder or name)
        path.mkdir(parents=True)
        said = {"name": name, "version": "1.0.0", "exec": "./run.sh", "language": "sh"} | manifest
        (path / "extension.json").write_text(json.dumps(said), encoding="utf-8")
        (path / "run.sh").write_text(f"#!/bin/sh\ntouch '{isolated}/ran'\n", encoding="utf-8")
        (path / "run.sh").chmod(0o755)
        return path

    return write


@pytest.fixture
def extensions(zot_home: Path) -> Path:
    return zot_home / "extensions"


def git(folder: Path, *args: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *who, "-C", str(folder), *args], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path, *tags: str) -> str:
    if not (folder / ".git").exists():
        git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x", "--allow-empty")
    for tag in tags:
        git(folder, "tag", tag)
    return git(folder, "rev-parse", "HEAD")


def rows(zot: Any, *argv: str) -> dict[str, dict[str, Any]]:
    listed = zot(*argv, "ext", "list", "--json")
    assert listed.code == 0, listed.err
    return {row["name"]: row for row in json.loads(listed.out)}


def left_over(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")] if folder.is_dir() else []


# --- finding the command ----------------------------------------------------------------------------------------------


def test_the_help_page_knows_it_once_it_was_used(zot: Any) -> None:
    assert "List, check" not in zot("--help").out
    assert zot("ext", "list").code == 0
    # What has changed just now is not believed yet, so a snapshot may take two starts
    shown = [zot("--help").out for _ in range(2) if zot("ext", "list").code == 0]
    assert "ext       List, check" in shown[-1]


def test_neither_trust_nor_a_process_is_needed(zot: Any, make: Make, project: Path, isolated: Path) -> None:
    target = project / ".zot" / "extensions" / "hello"
    shutil.copytree(make(), target)
    child = pexpect.spawn(sys.executable, ["-m", "zot_cli", "ext", "list"], encoding="utf-8", timeout=15)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0 and "not trusted" in child.before and "Trust" not in child.before
    assert not (isolated / "ran").exists()
    assert rows(zot)["hello"]["state"] == "not trusted"
    assert rows(zot, "--trust")["hello"]["state"] == "enabled"
    shutil.rmtree(project / ".zot")
    assert rows(zot, "--ext", str(make("other")))["other"]["scope"] == "command line"


def test_a_prompt_may_begin_with_anything(zot: Any) -> None:
    zot.script(["as you like"])
    assert zot("-p", "ext", "list").out == "as you like\n"
    assert json.loads(zot("--json", "ext").out.splitlines()[0])["type"]


@pytest.mark.parametrize(
    ("words", "said"), [(["ext", "lst"], "did you mean list?"), (["ext", "list", "--jsn"], "--json")]
)
def test_a_misspelt_command_names_the_nearest(zot: Any, words: list[str], said: str) -> None:
    done = zot(*words)
    assert done.code == 2 and said in done.err and "zot ext" in done.err and done.err.count("\n") == 1


def test_a_misspelt_ext_is_no_prompt(zot: Any) -> None:
    assert "did you mean zot ext?" in zot("ex").err
    child = pexpect.spawn(sys.executable, ["-m", "zot_cli", "exts"], encoding="utf-8", timeout=15)
    child.expect("did you mean zot ext\\?")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 2


GREET = (
    "import click, os, sys\nfrom zot_core import CliSpec, hookimpl\n"
    "with open({said!r}, 'a') as file: file.write('x')\n"
    "@click.command()\n@click.pass_obj\ndef greet(console):\n    console.say('hello from ' + console.cwd)\n"
    "@hookimpl\ndef cli():\n    return [CliSpec(name='greet', help='Greets {text}.', command=greet)]\n"
)


def test_the_users_own_command_is_found_and_its_plugin_imported_once(zot: Any, zot_home: Path, isolated: Path) -> None:
    said, plugin = isolated / "said", zot_home / "plugins" / "mine.py"
    plugin.parent.mkdir()
    plugin.write_text(GREET.format(said=str(said), text="one"), encoding="utf-8")
    time.sleep(0.12)  # younger than this and the boot snapshot does not believe a file
    done = zot("greet")
    assert (done.code, done.out) == (0, f"hello from {isolated / 'project'}\n")
    assert "Greets one." in zot("--help").out
    said.unlink()
    zot.script(["ok"])
    assert zot("-p", "x").out == "ok\n" and said.read_text() == "x"
    said.unlink()
    child = pexpect.spawn(sys.executable, ["-m", "zot_cli", "--provider", "scripted", "fix it"], timeout=15)
    child.expect("ok")
    child.close(force=True)
    assert said.read_text() == "x"
    plugin.write_text(GREET.format(said=str(said), text="other"), encoding="utf-8")
    assert "Greets one." not in zot("--help").out


def test_a_plugin_that_is_not_wanted_brings_no_command(zot: Any, zot_home: Path) -> None:
    assert zot("--no-builtins", "ext", "list").code == 2
    (zot_home / "settings.json").write_text('{"disabled_plugins": ["extension_bridge"]}', encoding="utf-8")
    assert zot("ext", "list").code == 2


# --- list -------------------------------------------------------------------------------------------------------------


def test_every_state_is_a_row(zot: Any, make: Make, extensions: Path, project: Path) -> None:
    for name, more in (("on", {}), ("off", {"enabled": False}), ("twice", {"description": "the home's"})):
        shutil.copytree(make(name, **more), extensions / name)
    shutil.copytree(extensions / "twice", project / ".zot" / "extensions" / "twice")
    (extensions / "bad").mkdir()
    (extensions / "bad" / "extension.json").write_text('{"name": "bad", "exec": 1}')
    (extensions / "look").mkdir()
    (extensions / "look" / "theme.json").write_text("{}")
    (extensions / "look" / "extension.json").write_text('{"name": "look", "skills": ["skills"]}')
    listed = json.loads(zot("--trust", "ext", "list", "--json").out)
    states = {(row["name"], row["scope"]): (row["state"], row["kind"]) for row in listed}
    assert states == {
        ("on", "home"): ("enabled", "protocol"),
        ("off", "home"): ("disabled", "protocol"),
        ("bad", "home"): ("broken", ""),
        ("look", "home"): ("enabled", "theme and skills"),
        ("twice", "project"): ("enabled", "protocol"),
        ("twice", "home"): ("shadowed", "protocol"),
    }
    plain = zot("--trust", "ext", "list")
    assert plain.out.startswith("NAME ") and "\x1b" not in plain.out
    assert "exec: must be text, not a number" in plain.err and plain.code == 0
    assert [line.split()[0] for line in zot("--trust", "ext", "list", "--project").out.splitlines()] == [
        "NAME",
        "twice",
    ]


def test_what_a_manifest_says_cannot_reach_the_terminal_as_an_order(zot: Any, make: Make, extensions: Path) -> None:
    evil = "\x1b]0;owned\x07\x1b[31mred\x9b32m\u202egnp"
    shutil.copytree(make("evil", description=evil, version="\x1b[2J1"), extensions / "evil")
    (extensions / "a\x1b[31mb").mkdir()
    (extensions / "a\x1b[31mb" / "extension.json").write_text("no", encoding="utf-8")
    for argv in (["list"], ["list", "--json"], ["doctor"], ["doctor", "--json"]):
        done = zot("ext", *argv)
        assert not set("\x1b\x07\x9b\u202e") & set(done.out + done.err), argv
    assert rows(zot)["evil"]["description"] == evil


# --- install: folders -------------------------------------------------------------------------------------------------


def test_a_folder_is_copied_and_nothing_of_it_runs(zot: Any, make: Make, extensions: Path, isolated: Path) -> None:
    source = make(args=["--fast"], skills=["skills"])
    (source / "skills" / "deep").mkdir(parents=True)
    (source / "skills" / "deep" / "SKILL.md").write_text("x")
    (source / "run.link").symlink_to("run.sh")
    commit(source)
    done = zot("ext", "install", str(source))
    assert done.code == 0, done.err
    target = extensions / "hello"
    assert (target / "run.sh").stat().st_mode & 0o777 == 0o755 and (target / "run.link").readlink() == Path("run.sh")
    assert (target / "skills" / "deep" / "SKILL.md").read_text() == "x"
    assert not (target / ".git").exists() and not left_over(extensions) and not (isolated / "ran").exists()
    assert "runs: ./run.sh --fast" in done.out and "skills" in done.out and str(target) in done.out
    again = zot("ext", "install", str(source))
    assert again.code == 1 and "is there already" in again.err and "--force" in again.err


def test_a_relative_folder_and_a_manifest_are_named_as_well(zot: Any, make: Make, extensions: Path) -> None:
    source = make()
    assert zot("ext", "install", os.path.relpath(source)).code == 0
    assert zot("ext", "install", str(source / "extension.json"), "--force").code == 0
    assert zot("--cwd", str(source.parent), "ext", "install", "hello", "--project", "--json").code == 0
    assert (source.parent / ".zot" / "extensions" / "hello" / "run.sh").exists()


def test_the_project_has_its_own(zot: Any, make: Make, project: Path, extensions: Path) -> None:
    done = zot("ext", "install", str(make()), "--project")
    assert done.code == 0 and "not trusted" in done.out
    assert (project / ".zot" / "extensions" / "hello").is_dir() and not extensions.exists()
    wrong = zot("ext", "disable", "hello")
    assert wrong.code == 2 and "with --project" in wrong.err
    assert zot("ext", "disable", "hello", "--project").code == 0
    assert rows(zot, "--trust")["hello"]["state"] == "disabled"


def outside_link(source: Path) -> str:
    (source / "a").mkdir()
    (source / "a" / "out").symlink_to("../../secret")
    return "a/out"


def absolute_link(source: Path) -> str:
    (source / "abs").symlink_to("/etc/passwd")
    return "abs"


def link_through_a_link(source: Path) -> str:
    (source / "here").symlink_to(".")
    (source / "via").symlink_to("here/../../secret")
    return "via"


def linked_manifest(source: Path) -> str:
    (source / "extension.json").rename(source.parent / "elsewhere.json")
    (source / "extension.json").symlink_to("../elsewhere.json")
    return "extension.json"


def pipe(source: Path) -> str:
    os.mkfifo(source / "fifo")
    return "fifo"


def plug(source: Path) -> str:
    here = Path.cwd()
    os.chdir(source)  # the path of a socket has to be short
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("sock")
    finally:
        os.chdir(here)
    return "sock"


HOSTILE = [outside_link, absolute_link, link_through_a_link, linked_manifest, pipe, plug]


@pytest.mark.parametrize("spoil", HOSTILE)
def test_a_hostile_tree_is_refused_by_the_name_of_the_place(
    zot: Any, make: Make, extensions: Path, spoil: Callable[[Path], str]
) -> None:
    source = make()
    (source.parent / "secret").write_text("s3cret")
    place = spoil(source)
    done = zot("ext", "install", str(source))
    assert done.code == 1 and f"nothing was installed: {place} is" in done.err and done.err.count("\n") == 1
    assert list(extensions.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../../evil", "cannot be part of a file's name"),
        ("a/b", "cannot be part of a file's name"),
        (".", "cannot be part of a file's name"),
        ("..", "cannot be part of a file's name"),
        (".hidden", "cannot be part of a file's name"),
        ("a\x1b[31mb", "cannot be shown"),
        ("a\nb", "cannot be shown"),
        ("x" * 65, "longer than 64"),
        ("", "must not be empty"),
    ],
)
def test_a_name_that_is_no_name_is_refused(zot: Any, make: Make, extensions: Path, name: str, said: str) -> None:
    done = zot("ext", "install", str(make(name, folder="source")))
    assert done.code == 1 and said in done.err and "\x1b" not in done.err
    assert list(extensions.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "has no extension.json at its top"),
        ("{", "is not JSON"),
        ("[]", "must hold a JSON object"),
        ('{"name": "x"}', "there is nothing to load"),
    ],
)
def test_a_manifest_is_read_before_it_counts(
    zot: Any, make: Make, extensions: Path, text: str | None, said: str
) -> None:
    source = make()
    (source / "extension.json").unlink()
    if text is not None:
        (source / "extension.json").write_text(text)
    done = zot("ext", "install", str(source))
    assert done.code == 1 and said in done.err and str(source) in done.err
    assert list(extensions.iterdir()) == []


@pytest.mark.parametrize(
    ("source", "code", "said"),
    [
        ("nowhere", 2, "there is no folder nowhere"),
        ("--upload-pack=touch", 2, "--upload-pack"),
        ("ext::sh -c touch% x", 2, "zot clones by"),
        ("ext://x", 2, "zot clones by"),
        ("https://host/x@--upload-pack=x", 2, "no name of a branch"),
        ("https://host/x@", 2, "has to follow the @"),
        ("a\nb", 2, "neither a folder nor"),
    ],
)
def test_a_source_that_is_none(zot: Any, extensions: Path, source: str, code: int, said: str) -> None:
    done = zot("ext", "install", source)
    assert done.code == code and said in done.err
    dashed = zot("ext", "install", "--", source)
    assert dashed.code == code
    assert not extensions.exists() or list(extensions.iterdir()) == []


def test_a_folder_that_holds_the_home_is_refused(zot: Any, make: Make, isolated: Path) -> None:
    (isolated / "extension.json").write_text('{"name": "all", "exec": "x"}')
    done = zot("ext", "install", str(isolated))
    assert done.code == 1 and "holds the folder" in done.err


def test_what_may_not_be_read_or_written_is_named(zot: Any, make: Make, extensions: Path) -> None:
    source = make()
    (source / "run.sh").chmod(0)
    if os.access(source / "run.sh", os.R_OK):
        pytest.skip("nothing is forbidden to root")
    done = zot("ext", "install", str(source))
    assert done.code == 1 and "run.sh: Permission denied" in done.err
    (source / "run.sh").chmod(0o755)
    extensions.chmod(0o500)
    done = zot("ext", "install", str(source))
    extensions.chmod(0o700)
    assert done.code == 1 and "Permission denied" in done.err and str(extensions) in done.err
    assert list(extensions.iterdir()) == []


def test_a_full_or_odd_home_is_told(zot: Any, make: Make, zot_home: Path) -> None:
    (zot_home / "extensions").write_text("a file")
    done = zot("ext", "install", str(make()))
    assert done.code == 1 and done.err.startswith("zot: nothing was installed") and done.err.count("\n") == 1


def test_of_two_at_once_one_is_installed(zot: Any, make: Make, extensions: Path) -> None:
    source = make()
    for number in range(200):
        (source / f"file{number}").write_text("x" * 1000)
    both = [zot.start("ext", "install", str(source)) for _ in range(2)]
    ended = [(process.communicate(timeout=25)[1], process.returncode) for process in both]
    assert sorted(code for _, code in ended) == [0, 1]
    assert sum("is there already" in err for err, _ in ended) == 1
    assert len(list((extensions / "hello").glob("file*"))) == 200 and not left_over(extensions)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_an_install_that_is_killed_leaves_nothing_that_counts(
    zot: Any, make: Make, extensions: Path, number: signal.Signals
) -> None:
    source, big = make(), make("big")
    with (big / "large").open("wb") as file:
        file.truncate(1 << 30)  # has no blocks here and takes its time to be copied
    process = zot.start("ext", "install", str(big))
    while not list(extensions.glob(".installing-*/large")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    process.send_signal(number)
    process.communicate(timeout=25)
    assert process.returncode == {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 130}[number]
    assert rows(zot) == {}
    assert bool(left_over(extensions)) == (number == signal.SIGKILL)
    assert zot("ext", "install", str(source)).code == 0
    assert left_over(extensions) == [] and list(rows(zot)) == ["hello"]


# --- install: replacing -----------------------------------------------------------------------------------------------


def test_force_keeps_what_is_not_the_old_versions(zot: Any, make: Make, extensions: Path) -> None:
    source, target = make(), extensions / "hello"
    (source / "gone.txt").write_text("came with 1")
    (source / "set.json").write_text("shipped")
    assert zot("ext", "install", str(source)).code == 0
    (target / "data").mkdir()
    (target / "data" / "todos.json").write_text("mine")
    (target / "set.json").write_text("edited")
    assert zot("ext", "disable", "hello").code == 0
    (source / "gone.txt").unlink()
    (source / "set.json").write_text("shipped with 2")
    manifest = source / "extension.json"
    manifest.write_text(manifest.read_text().replace("1.0.0", "2.0.0"))
    done = zot("ext", "install", str(source), "--force")
    assert done.code == 0, done.err
    assert (target / "data" / "todos.json").read_text() == "mine"
    assert (target / "set.json").read_text() == "shipped with 2" and (target / "set.json.old").read_text() == "edited"
    assert not (target / "gone.txt").exists() and left_over(extensions) == []
    assert "data/todos.json" in done.out and "set.json.old" in done.out and "stays disabled" in done.out
    row = rows(zot)["hello"]
    assert (row["version"], row["state"]) == ("2.0.0", "disabled")


def test_force_with_a_bad_one_keeps_the_old_one(zot: Any, make: Make, extensions: Path) -> None:
    source = make()
    assert zot("ext", "install", str(source)).code == 0
    outside_link(source)
    (source / "run.sh").write_text("new")
    assert zot("ext", "install", str(source), "--force").code == 1
    assert "touch" in (extensions / "hello" / "run.sh").read_text()


def test_force_replaces_a_link_and_never_what_it_leads_to(zot: Any, make: Make, extensions: Path) -> None:
    work, source = make(folder="work"), make(version="2")
    extensions.mkdir()
    (extensions / "dev").symlink_to(work)
    assert zot("ext", "install", str(source)).code == 1
    assert zot("ext", "install", str(source), "--force").code == 0
    assert not (extensions / "dev").is_symlink() and rows(zot)["hello"]["version"] == "2"
    assert (work / "run.sh").exists()


# --- install: git -----------------------------------------------------------------------------------------------------


@pytest.mark.needs("git")
def test_a_repository_is_cloned_at_a_branch_a_tag_or_a_commit(zot: Any, make: Make, extensions: Path) -> None:
    source = make()
    first = commit(source, "v1")
    (source / "extension.json").write_text((source / "extension.json").read_text().replace("1.0.0", "2.0.0"))
    second = commit(source)
    git(source, "branch", "feature/x", first)
    url = source.as_uri()
    for given, version, at in (
        (url, "2.0.0", second),
        (f"{url}@v1", "1.0.0", first),
        (f"{url}@feature/x", "1.0.0", first),
        (f"{url}@main", "2.0.0", second),
        (f"{url}@{first}", "1.0.0", first),
        (f"{url}@{first[:10]}", "1.0.0", first),
        (f"{source}@v1", "1.0.0", first),
    ):
        done = zot("ext", "install", given, "--force", "--json")
        assert done.code == 0, (given, done.err)
        found = json.loads(done.out)
        assert (found["version"], found["commit"]) == (version, at), given
    target = extensions / "hello"
    assert not (target / ".git").exists() and (target / "run.sh").stat().st_mode & 0o111
    bare = source.parent / "hello.git"
    git(source, "clone", "-q", "--bare", str(source), str(bare))
    assert zot("ext", "install", str(bare), "--force").code == 0


@pytest.mark.needs("git")
def test_neither_hooks_nor_another_repository_have_a_part(
    zot: Any, make: Make, extensions: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, ran = make(), isolated / "ran"
    commit(source)
    hook = isolated / "hooks" / "post-checkout"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch '{ran}'\n")
    hook.chmod(0o755)
    config = isolated / "gitconfig"
    config.write_text(f"[core]\n\thooksPath = {hook.parent}\n[init]\n\ttemplateDir = {isolated}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    other = isolated / "other"
    other.mkdir()
    git(other, "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    done = zot("ext", "install", source.as_uri())
    assert done.code == 0, done.err
    assert not ran.exists() and list(other.iterdir()) == [other / ".git"]
    assert (extensions / "hello" / "run.sh").exists()


@pytest.mark.needs("git")
@pytest.mark.parametrize("spoil", [outside_link, absolute_link, link_through_a_link])
def test_a_hostile_repository_is_refused(zot: Any, make: Make, extensions: Path, spoil: Callable[[Path], str]) -> None:
    source = make()
    place = spoil(source)
    commit(source)
    done = zot("ext", "install", source.as_uri())
    assert done.code == 1 and f"{place} is" in done.err and list(extensions.iterdir()) == []


@pytest.mark.needs("git")
def test_what_git_says_is_the_reason_without_the_password(zot: Any, make: Make, extensions: Path) -> None:
    source = make()
    commit(source)
    for given in (f"{source.as_uri()}@nosuch", (source.parent / "no").as_uri(), "https://u:s3cret@127.0.0.1:1/x"):
        done = zot("ext", "install", given)
        assert done.code == 1 and "cannot be cloned: " in done.err and done.err.count("\n") == 1
        assert "s3cret" not in done.err
    assert list(extensions.iterdir()) == []


@pytest.mark.needs("git")
def test_a_server_that_asks_for_a_password_gets_none(zot: Any, extensions: Path) -> None:
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from threading import Thread

    class Closed(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Closed) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        argv = ["-m", "zot_cli", "ext", "install", f"http://127.0.0.1:{server.server_port}/x.git"]
        child = pexpect.spawn(sys.executable, argv, encoding="utf-8", timeout=20)
        child.expect(pexpect.EOF)
        child.close()
        server.shutdown()
    assert child.exitstatus == 1 and "it wants a password" in " ".join(child.before.split())


# --- remove, enable, disable ------------------------------------------------------------------------------------------


def test_remove_asks_in_a_terminal_and_wants_yes_elsewhere(zot: Any, make: Make, extensions: Path) -> None:
    assert zot("ext", "install", str(make())).code == 0
    assert zot("ext", "remove", "hello").code == 2 and (extensions / "hello").exists()
    for answer, there in (("n", True), ("y", False)):
        child = pexpect.spawn(sys.executable, ["-m", "zot_cli", "ext", "remove", "hello"], encoding="utf-8", timeout=15)
        child.expect("Remove .*hello")
        child.sendline(answer)
        child.expect(pexpect.EOF)
        child.close()
        assert (extensions / "hello").exists() == there and child.exitstatus == int(there)
    assert left_over(extensions) == []


def test_of_a_linked_extension_the_link_is_removed(zot: Any, make: Make, extensions: Path) -> None:
    work = make()
    extensions.mkdir()
    (extensions / "hello").symlink_to(work)
    assert rows(zot)["hello"]["link_to"] == str(work)
    done = zot("ext", "remove", "hello", "--yes")
    assert done.code == 0 and "the link" in done.out
    assert (work / "run.sh").exists() and list(extensions.iterdir()) == []


def test_one_whose_folder_has_another_name_goes_by_its_manifest(zot: Any, make: Make, extensions: Path) -> None:
    shutil.copytree(make("hello"), extensions / "folder")
    assert zot("ext", "remove", "folder", "--yes").code == 2
    assert zot("ext", "remove", "hello", "--yes").code == 0 and list(extensions.iterdir()) == []


def test_one_that_is_broken_can_be_removed(zot: Any, extensions: Path) -> None:
    (extensions / "bad").mkdir(parents=True)
    (extensions / "bad" / "extension.json").write_text("{")
    assert zot("ext", "disable", "bad").code == 1
    assert zot("ext", "remove", "bad", "--yes").code == 0 and list(extensions.iterdir()) == []


@pytest.mark.parametrize("name", ["helo", "../hello", "", "hello/", "\x1b[31m"])
def test_a_name_that_is_none_offers_the_near_ones(zot: Any, make: Make, extensions: Path, name: str) -> None:
    shutil.copytree(make(), extensions / "hello")
    for argv in (["remove", "--yes"], ["enable"], ["disable"], ["logs"], ["doctor"]):
        done = zot("ext", *argv, "--", name)
        assert done.code == 2 and "\x1b" not in done.err, (argv, done.err)
        assert name != "helo" or "did you mean hello?" in done.err
    assert (extensions / "hello" / "run.sh").exists()


def test_only_the_one_key_of_a_manifest_changes(zot: Any, make: Make, extensions: Path) -> None:
    text = '{\r\n    "name": "hello",\r\n  "odd" : [1,2],\r\n    "exec": "./run.sh"\r\n}'
    shutil.copytree(make(), extensions / "hello")
    file = extensions / "hello" / "extension.json"
    file.write_bytes(text.encode())
    file.chmod(0o640)
    assert zot("ext", "enable", "hello").out == "hello is enabled already\n"
    assert file.read_bytes() == text.encode()
    assert zot("ext", "disable", "hello").code == 0
    changed = file.read_bytes().decode()
    assert changed.startswith(text.removesuffix("\r\n}")) and '"enabled": false' in changed
    assert file.stat().st_mode & 0o777 == 0o640 and rows(zot)["hello"]["state"] == "disabled"
    assert zot("ext", "enable", "hello").code == 0
    assert file.read_bytes().decode() == changed.replace("false", "true")


# --- doctor -----------------------------------------------------------------------------------------------------------


def test_doctor_starts_all_and_leaves_nothing(zot: Any, extensions: Path, isolated: Path, make: Make) -> None:
    pids = isolated / "pids"
    note = f"\nimport os\nopen({str(pids)!r}, 'a').write(str(os.getpid()) + '\\n')\n"
    tool = 'emit("register_tool", name="look", description="x", schema={"type": "object"}); '
    command = 'emit("register_command", name="Go", description="x"); '
    events = 'emit("subscribe", events=["turn_end"], intercept=["tool_call"]); '
    for name, body in {
        "one": f'{note}hello(); {tool}{command}{events}emit("ready")\nfor frame in frames(): pass\n',
        "slow": f"{note}hello(); {command}\nfor frame in frames(): pass\n",
        "dies": f"{note}import sys; sys.exit(3)\n",
    }.items():
        script(extensions, name, body)
    shutil.copytree(make("off", enabled=False), extensions / "off")
    done = zot("ext", "doctor", "--json")
    found = json.loads(done.out)
    by_name = {row["name"]: row for row in found["extensions"]}
    assert done.code == 1 and found["ok"] is False
    assert {name: row["state"] for name, row in by_name.items()} == {
        "one": "ready",
        "slow": "auto-ready",
        "dies": "failed",
        "off": "disabled",
    }
    one = by_name["one"]
    assert (one["commands"], one["tools"], one["events"], one["intercepts"]) == (
        ["Go"],
        ["look"],
        ["turn_end"],
        ["tool_call"],
    )
    assert 0 <= one["hello_s"] <= one["ready_s"] and Path(one["log"]).is_file()
    assert "status 3" in by_name["dies"]["error"] and by_name["slow"]["conflicts"]
    for pid in pids.read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)
    assert not (isolated / "ran").exists() and not list((isolated / "home").glob("sessions/**/*.jsonl"))
    assert zot("ext", "doctor", "one").code == 0
    shown = zot("ext", "doctor")
    assert shown.code == 1 and "1 broken: dies" in shown.out and "ext-dies.log" in shown.out
    (extensions / "dies" / "extension.json").write_text("{")
    assert json.loads(zot("ext", "doctor", "dies", "--json").out)["extensions"][0]["state"] == "broken"


def test_doctor_says_what_is_not_trusted(zot: Any, make: Make, project: Path, isolated: Path) -> None:
    shutil.copytree(make(), project / ".zot" / "extensions" / "hello")
    done = zot("ext", "doctor")
    assert done.code == 0 and "not trusted" in done.out and not (isolated / "ran").exists()


# --- logs -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def log(zot_home: Path, make: Make, extensions: Path) -> Path:
    shutil.copytree(make(), extensions / "hello")
    path = zot_home / "logs" / "ext-hello.log"
    path.parent.mkdir()
    return path


def test_logs_are_shown_as_they_are_and_clean_in_a_terminal(zot: Any, log: Path) -> None:
    assert "has no log yet" in zot("ext", "logs", "hello").err
    log.with_name("ext-hello.log.1").write_text("older\n")
    log.write_text("one\n\x1b[31mtwo\x1b[0m\nthree")
    assert zot("ext", "logs", "hello").out == "older\none\n\x1b[31mtwo\x1b[0m\nthree"
    assert zot("ext", "logs", "hello", "-n", "1").out == "three"
    assert zot("ext", "logs", "hello", "-n", "0").out == ""
    shown = pexpect.run(f"{sys.executable} -m zot_cli ext logs hello", encoding="utf-8", timeout=15)
    assert shown == "older\r\none\r\ntwo\r\nthree\r\n"


def test_a_log_is_followed_over_the_change_of_files(zot: Any, log: Path) -> None:
    log.write_text("".join(f"{number}\n" for number in range(20)))
    process = zot.start("ext", "logs", "hello", "-f", "-n", "2")
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)] == ["18\n", "19\n"]
    with log.open("a") as file:
        file.write("more\n")
        file.flush()
        assert process.stdout.readline() == "more\n"
        file.write("last of the old\n")
    log.replace(f"{log}.1")
    log.write_text("first of the new\n")
    assert [process.stdout.readline() for _ in range(2)] == ["last of the old\n", "first of the new\n"]
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 130


# --- new --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "language",
    [
        "python",
        pytest.param("node", marks=pytest.mark.needs("node")),
        pytest.param("sh", marks=pytest.mark.needs("jq")),
        pytest.param("go", marks=pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")),
    ],
)
def test_a_new_extension_works(zot: Any, project: Path, language: str) -> None:
    made = zot("ext", "new", "My-Thing", "--lang", language)
    assert made.code == 0, made.err
    folder = project / "My-Thing"
    if language == "go":
        subprocess.run(["go", "build", "-o", "main", "."], cwd=folder, check=True, timeout=120)
    assert zot("ext", "install", str(folder)).code == 0
    row = json.loads(zot("ext", "doctor", "My-Thing", "--json").out)["extensions"][0]
    assert (row["state"], row["commands"], row["tools"]) == ("ready", ["my-thing"], ["my_thing_greet"])
    assert row["warnings"] == [] == row["conflicts"]
    assert "Hello, Ann!" in zot("-p", "/my-thing Ann").err + zot("-p", "/my-thing Ann").out
    zot.script([{"tool_call": {"name": "my_thing_greet", "args": {"name": "Bob"}}}], ["done"])
    ended = next(event for event in zot("--json", "x").events if event["type"] == "tool_result")
    assert "Hello, Bob!" in json.dumps(ended)


def test_a_new_one_never_overwrites(zot: Any, project: Path) -> None:
    assert zot("ext", "new", "x", "--dir", "deep/er").code == 0
    assert json.loads((project / "deep" / "er" / "extension.json").read_text())["name"] == "x"
    again = zot("ext", "new", "x", "--dir", "deep/er")
    assert again.code == 2 and "there already" in again.err
    for name in ("../x", "a b", "", "-x", "'", "$(x)"):
        assert zot("ext", "new", "--", name).code == 2
    assert [path.name for path in project.iterdir()] == ["deep"]
