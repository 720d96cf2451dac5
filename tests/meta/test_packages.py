"""What the distribution carries. Building is `.ci/run`'s part; here is what can be told from the tree."""

from __future__ import annotations

import tomllib
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_name_command_and_licence() -> None:
    project = PROJECT["project"]
    assert project["name"] == "zot-agent"
    assert project["scripts"] == {"zot": "zot_cli.__main__:main"}
    assert project["license"] == "MIT" and (ROOT / "LICENSE").exists()
    assert project["requires-python"] == ">=3.11"


def test_the_three_packages_are_typed() -> None:
    packages = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert packages == ["zot_core", "zot_plugins", "zot_cli"]
    assert all((ROOT / package / "py.typed").exists() for package in packages)


def test_the_testing_kit_is_no_pytest_plugin_of_everybody() -> None:
    assert "pytest11" not in {point.group for point in distribution("zot-agent").entry_points}


def test_what_is_needed_to_run_is_not_what_is_needed_to_develop() -> None:
    needed = {line.partition(">")[0] for line in PROJECT["project"]["dependencies"]}
    assert not needed & {"pytest", "mypy", "ruff", "build", "hypothesis"}
    assert PROJECT["project"]["optional-dependencies"]["testing"] == ["pytest>=8.3"]
