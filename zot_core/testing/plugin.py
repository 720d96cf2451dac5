"""Fixtures for tests of plugins. Name it in conftest.py: `pytest_plugins = ["zot_core.testing.plugin"]`.

The only module of the kit that needs pytest. It is no entry point: a project that does not name it does not load it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from zot_core.testing.front import RecordingFrontEnd
from zot_core.testing.golden import compare, normalise

if TYPE_CHECKING:
    from zot_core.app import App

_FOREIGN = ("_API_KEY", "_BASE_URL")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--zot-update`."""
    parser.addoption(
        "--zot-update", action="store_true", help="write golden transcripts anew instead of comparing them"
    )


@dataclass(frozen=True, slots=True)
class World:
    """Where a test's zot lives: `home` is ZOT_HOME, `project` the cwd."""

    home: Path
    project: Path

    @property
    def paths(self) -> dict[str, str]:
        """Path -> the stable word that goldens have for it."""
        return {str(self.home): "<home>", str(self.project): "<project>"}


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> World:
    """A home and an empty project of this test's own; keys and endpoints are taken out of the environment."""
    root = tmp_path_factory.mktemp("zot").resolve()
    made = World(root / "home", root / "project")
    made.home.mkdir(mode=0o700)
    made.project.mkdir()
    for name in list(os.environ):
        if name.upper().startswith("ZOT_") or name.upper().endswith(_FOREIGN):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ZOT_HOME", str(made.home))
    monkeypatch.chdir(made.project)
    return made


@pytest.fixture
def runtime(world: World) -> Callable[..., AbstractAsyncContextManager[App]]:
    """`async with runtime(script=..., plugins=[...]) as app:` an App over a record, `app.front`."""
    from zot_core.testing.session import open_app

    return open_app


@pytest.fixture
def run_prompt(world: World) -> Callable[..., RecordingFrontEnd]:
    """`run_prompt("Hi", script=..., plugins=[...])` runs a prompt to its end and gives the record. For sync tests."""
    from zot_core.testing import session

    def run(text: str, **how: Any) -> RecordingFrontEnd:
        return asyncio.run(session.run_prompt(text, **how))

    return run


@pytest.fixture
def golden(request: pytest.FixtureRequest, world: World) -> Callable[..., None]:
    """`golden("name", ran)` holds a record's JSON events against `goldens/name.jsonl` beside the test."""

    def check(name: str, ran: RecordingFrontEnd) -> None:
        path = request.path.parent / "goldens" / f"{name}.jsonl"
        compare(path, normalise(ran.lines, world.paths), update=bool(request.config.getoption("--zot-update")))

    return check
