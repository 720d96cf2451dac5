"""What `zot ext install` says and refuses beyond the tree itself: names, places, sizes, forged lines, full disks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pexpect
import pytest

Source = Callable[..., Path]


@pytest.fixture
def source(isolated: Path) -> Source:
    """Writes a folder with a manifest and nothing else."""

    def write(folder: str = "one", **manifest: Any) -> Path:
        path = isolated / "sources" / folder
        path.mkdir(parents=True)
        (path / "extension.json").write_text(json.dumps({"name": folder, "exec": "./run"} | manifest), encoding="utf-8")
        return path

    return write


@pytest.fixture
def extensions(zot_home: Path) -> Path:
    return zot_home / "extensions"


@pytest.mark.parametrize("name", ["_mine", "con", "NUL", "com1.x", "ends."])
def test_a_name_that_no_folder_may_have_is_refused(zot: Any, source: Source, extensions: Path, name: str) -> None:
    """One that begins with `_` would be installed and never found."""
    done = zot("ext", "install", str(source("x", name=name)))
    assert done.code == 1 and "cannot be the name of a folder here" in done.err
    assert list(extensions.iterdir()) == []


def test_the_folder_of_another_one_is_never_replaced(zot: Any, source: Source, extensions: Path) -> None:
    assert zot("ext", "install", str(source("other"))).code == 0
    (extensions / "other").rename(extensions / "one")
    for flags in ((), ("--force",)):
        done = zot("ext", "install", str(source(f"v{len(flags)}", name="one")), *flags)
        assert done.code == 1 and "holds another extension, other" in done.err
    assert [row["name"] for row in json.loads(zot("ext", "list", "--json").out)] == ["other"]


def test_a_manifest_cannot_forge_lines(zot: Any, source: Source) -> None:
    sly = "./run\n  installed safely\r\x1b[31m"
    done = zot("ext", "install", str(source(exec=sly, version="1\n2", args=["a\u2028b"], skills=["x\ny"])))
    assert done.code == 0 and "\x1b" not in done.out and "\r" not in done.out
    assert not any(line.strip().startswith(("installed safely", "2 ", "y")) for line in done.out.split("\n"))
    assert "installed one 1 2 from" in done.out


def test_what_lies_outside_of_its_folder_is_said(zot: Any, source: Source) -> None:
    done = zot("ext", "install", str(source(exec="../../bin/sh", skills=["/etc", "mine"])))
    assert done.code == 0
    said = [line.strip() for line in done.out.splitlines() if "outside:" in line]
    assert [line.split()[1] for line in said] == ["../../bin/sh", "/etc"]
    assert "outside:" not in zot("ext", "install", str(source("two", exec="python3"))).out


def test_the_size_is_said(zot: Any, source: Source) -> None:
    folder = source()
    (folder / "data").write_bytes(b"x" * 12_345)
    assert "(2 files, 12.4 kB)" in zot("ext", "install", str(folder)).out
    found = json.loads(zot("ext", "install", str(folder), "--force", "--json").out)
    assert found["files"] == 2 and found["bytes"] > 12_345


def test_a_folder_of_extensions_is_no_extension(zot: Any, source: Source) -> None:
    parent = source("one").parent
    source("two")
    done = zot("ext", "install", str(parent))
    assert done.code == 1 and "has no extension.json at its top; there is one in each of: one, two" in done.err


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX")
def test_a_disk_that_is_full_leaves_nothing(zot: Any, source: Source, extensions: Path) -> None:
    """Files can be no larger than the limit of the process: as a full disk, an error in the middle of a write."""
    folder = source()
    (folder / "big").write_bytes(b"x" * 3_000_000)
    limit = "import resource, signal, os, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000)); os.execv(sys.argv[1], sys.argv[1:])"
    argv = [sys.executable, "-c", limit, sys.executable, "-m", "zot_cli", "ext", "install", str(folder)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=25)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert f"{folder / 'big'} cannot be copied to" in done.stderr and "File too large" in done.stderr
    assert list(extensions.iterdir()) == []


def test_what_python_compiled_is_nobodys_data(zot: Any, source: Source, extensions: Path) -> None:
    folder = source()
    assert zot("ext", "install", str(folder)).code == 0
    (extensions / "one" / "__pycache__").mkdir()
    (extensions / "one" / "__pycache__" / "a.pyc").write_bytes(b"x")
    done = zot("ext", "install", str(folder), "--force")
    assert done.code == 0 and "kept" not in done.out and not (extensions / "one" / "__pycache__").exists()


def test_new_leaves_a_strangers_folders_alone(zot: Any, project: Path) -> None:
    """Install tidies up in zot's own folder; the place of a new extension is the person's."""
    for name in (".removed-99999999-photos", ".installing-99999999-x", ".replaced-99999999-y"):
        (project / name).mkdir()
    before = {path.name for path in project.iterdir()}
    assert zot("ext", "new", "mine").code == 0
    assert {path.name for path in project.iterdir()} == before | {"mine"}


@pytest.mark.needs("git")
def test_a_commit_that_is_nowhere_is_said(zot: Any, source: Source) -> None:
    folder = source()
    who = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
    for args in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "x"]):
        subprocess.run(["git", "-C", str(folder), *args], check=True)
    done = zot("ext", "install", f"{folder}@deadbeef")
    assert done.code == 1 and "there is no branch, tag or commit deadbeef" in done.err


@pytest.mark.parametrize("columns", [40, 80])
def test_no_word_is_broken_in_a_terminal(source: Source, isolated: Path, columns: int) -> None:
    argv = ["-m", "zot_cli", "ext", "install", os.path.relpath(source())]
    child = pexpect.spawn(sys.executable, argv, encoding="utf-8", timeout=20, dimensions=(24, columns))
    child.expect(pexpect.EOF)
    rows = child.before.replace("\r", "").split("\n")
    assert all(len(row) < columns or " " not in row.strip() for row in rows), rows
    assert "outside of every jail" in " ".join(child.before.split())
    child.close()
    assert child.exitstatus == 0


# --- finding the command, where nothing may be started ----------------------------------------------------------------


def test_a_word_that_is_no_command_starts_no_extension(zot: Any, isolated: Path, extensions: Path) -> None:
    for folder in (extensions / "eager", isolated / "line"):
        folder.mkdir(parents=True)
        (folder / "extension.json").write_text(json.dumps({"name": folder.name, "exec": "./run"}))
        (folder / "run").write_text(f"#!/bin/sh\ntouch '{isolated}/ran'\n")
        (folder / "run").chmod(0o755)
    done = zot("--ext", str(isolated / "line"), "exts")
    assert done.code == 2 and "did you mean zot ext?" in done.err
    assert not (isolated / "ran").exists()


def test_the_help_page_lists_what_can_be_called(zot: Any, zot_home: Path) -> None:
    (zot_home / "plugins").mkdir()
    (zot_home / "plugins" / "mine.py").write_text(
        "import click\nfrom zot_core import CliSpec, hookimpl\n@click.command()\ndef hail(): click.echo('hail')\n"
        "@hookimpl\ndef cli():\n"
        "    names = ('hail', 'rpc', 'doctor', 'two words')\n"
        "    return [CliSpec(name=name, help='Hails.\\x1b[31m\\nred', command=hail) for name in names]\n"
    )
    os.utime(zot_home / "plugins" / "mine.py", (1, 1))
    deadline = time.monotonic() + 20
    while "Hails." not in (page := zot("--help").out):
        assert time.monotonic() < deadline
        assert zot("hail").out == "hail\n"
    listed = page.partition("Commands:")[2]
    assert "  hail" in listed and "Hails. red" in listed and "\x1b" not in listed
    assert "two words" not in listed and "  rpc" not in listed and listed.count("  doctor") == 1
