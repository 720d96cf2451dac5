"""What policies together ask of commands, and how it is found out what can enforce it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from zot_core.toolkit import confine, landlock
from zot_core.types.specs import FilesystemPolicy


def policy(**more: Any) -> FilesystemPolicy:
    return FilesystemPolicy(name=more.pop("name", "p"), check=lambda request: None, **more)


def test_policies_that_name_no_folder_ask_nothing_of_commands() -> None:
    assert confine.demands([policy(), policy()]) is None


def test_demands_add_up(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "one" / "two"
    two.mkdir(parents=True)
    (tmp_path / "link").symlink_to(two)
    asked = confine.demands(
        [
            policy(roots=(str(one),)),
            policy(name="q", roots=(str(tmp_path / "link"), "/else"), denied_roots=("/x", "/x")),
        ]
    )
    assert asked is not None
    assert asked.roots == (str(two),)
    assert asked.denied == ("/x",)
    assert asked.by == "p, q"


def test_roots_that_exclude_each_other_leave_nothing() -> None:
    asked = confine.demands([policy(roots=("/a",)), policy(roots=("/b", "/abc"))])
    assert asked is not None and asked.roots == ()


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n", "No permissions to create"),
        ("#!/bin/sh\nexec sleep 60\n", "does not answer"),
        ("no program\n", "cannot be started"),
    ],
)
def test_a_bubblewrap_that_does_not_work_is_not_used(
    tmp_path: Path, program: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bwrap"
    path.write_text(program)
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(confine, "_found", [])
    monkeypatch.setattr(confine, "_PROBE_S", 0.5)
    found = asyncio.run(confine.sandbox())
    assert found.bwrap == ""
    assert why in found.why


def test_no_bubblewrap_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confine, "_found", [])
    monkeypatch.setattr(confine.shutil, "which", lambda name: None)
    monkeypatch.setattr(landlock, "abi", lambda: 1)
    found = asyncio.run(confine.sandbox())
    assert found == confine.Sandbox("", False, "bubblewrap is not installed; Landlock is too old")


def test_the_script_of_landlock_needs_nothing_of_zot(tmp_path: Path) -> None:
    if landlock.abi() < landlock.NEEDED_ABI:
        pytest.skip(f"Landlock of version {landlock.abi()} is too old")
    (tmp_path / "in").mkdir()
    rules = f'{{"read": ["/usr", "/bin", "/lib", "/lib64"], "write": ["{tmp_path}/in"], "denied": []}}'
    command = f"echo x > {tmp_path}/in/made; echo x > {tmp_path}/out; cat /etc/passwd"
    argv = [sys.executable, "-I", "-S", landlock.__file__, rules, "/bin/sh", "-c", command]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert (tmp_path / "in" / "made").exists()
    assert not (tmp_path / "out").exists()
    assert done.stdout == ""
    assert "ermission denied" in done.stderr
