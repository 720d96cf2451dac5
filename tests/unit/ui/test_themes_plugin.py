"""The plugin `themes` through the command: what is listed where, and that a broken file is named."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

MINE = {"name": "mine", "description": "my own", "colors": {"accent": "#ff0000", "text": "#eeeeee"}}


def put(path: Path, data: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))
    return path


@pytest.fixture
def zot(isolated: Path) -> Any:
    """Runs the command in a project; gives what it printed."""
    project = isolated / "project"

    def zot(*args: str, status: int = 0) -> str:
        command = [sys.executable, "-m", "zot_cli", "--provider", "scripted", *args]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=project)
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr

    zot.project, zot.home = project, isolated / "home"  # type: ignore[attr-defined]
    return zot


def test_the_built_in_themes_are_listed(zot: Any) -> None:
    said = zot("-p", "/themes").splitlines()
    assert [line.split()[:2] for line in said] == [["dark", "dark"], ["light", "light"]]
    assert all(".json" in line for line in said)


def test_themes_of_the_home_and_of_a_trusted_project(zot: Any) -> None:
    put(zot.home / "themes" / "mine.json", MINE)
    put(zot.home / "themes" / "dark.json", {"name": "dark", "colors": {"accent": 5}})
    put(zot.project / ".zot" / "themes" / "ours.json", {"name": "ours"})
    said = zot("-p", "/themes")
    assert [line.split()[0] for line in said.splitlines() if "  " in line][:3] == ["dark", "mine", "light"]
    assert "ours" not in said.replace(".zot/themes", "")
    assert "not used; " in said and "dark.json comes first" in said  # the built-in one is covered
    assert "ours" in zot("--trust", "-p", "/themes")


def test_a_broken_theme_is_named_with_its_token(zot: Any) -> None:
    bad = put(zot.home / "themes" / "bad.json", {"colors": {"acent": 1, "error": "redd"}})
    said = zot("-p", "/themes")
    assert f"error: {bad}:1: colors.error: vars has no 'redd'" in said
    assert "colors.acent: there is no such token; did you mean accent?" in said
    assert "dark" in said


def test_one_theme_is_looked_at(zot: Any) -> None:
    put(zot.home / "themes" / "mine.json", MINE)
    said = zot("-p", "/themes mine")
    assert said.startswith("mine: dark, 2 of 51 colours of its own\n")
    assert "taken from the built-in theme dark" in said
    sunset = Path(__file__).parents[3] / "examples" / "extensions" / "sunset" / "theme.json"
    said = zot("-p", f"/themes {sunset}")
    assert said.startswith("sunset: dark, ") and "\nerror:" not in said and "\nwarning:" not in said
    assert "there is no theme nothing; there are mine, dark, light" in zot("-p", "/themes nothing", status=2)


def test_no_theme_is_read_and_no_pydantic_loaded_before_somebody_asks(zot: Any) -> None:
    put(zot.home / "themes" / "bad.json", {"colors": {"error": "redd"}})
    assert "bad.json" not in zot("-p", "hello")
