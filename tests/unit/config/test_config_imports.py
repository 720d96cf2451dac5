"""PF-01: what a start pays for configuration is the standard library, once the snapshot is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("pydantic", "pydantic_core", "platformdirs", "filelock", "importlib.metadata", "subprocess", "asyncio")
MODULES = (
    "paths",
    "settings",
    "boot",
    "auth",
    "trust",
    "store",
    "models_json",
    "jsonc",
    "values",
    "objects",
    "files",
    "secrets",
)


def heavy_after(code: str, *arguments: str) -> set[str]:
    script = f"import sys\n{code}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
    return set(HEAVY) & set(done.stdout.split())


@pytest.mark.parametrize("module", MODULES)
def test_importing_is_light(module: str) -> None:
    assert heavy_after(f"import zot_core.config.{module}") == set()


START = """
from pathlib import Path
from zot_core.config.paths import Paths
from zot_core.config.boot import BootCache, entry_points
from zot_core.config.settings import load_settings
from zot_core.config.auth import Auth
from zot_core.config.models_json import read_models_json
import time
paths = Paths(Path(sys.argv[1]))
cache = BootCache(paths.boot, clock=lambda: time.time_ns() + 60_000_000_000)
assert load_settings(paths, cache=cache).values.model == "x"
entry_points(cache)
Auth(paths, {"K": "k"}).require("acme", ["K"])
read_models_json(paths.models)
assert not cache.save()
"""


def test_a_start_with_a_fresh_snapshot_is_light(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"model": "x"} // mine')
    assert heavy_after(START, str(tmp_path)) >= {"pydantic", "importlib.metadata"}
    assert heavy_after(START, str(tmp_path)) == set()


def test_a_start_without_settings_needs_no_pydantic_even_the_first_time(tmp_path: Path) -> None:
    code = START.replace('== "x"', '== ""')
    assert "pydantic" not in heavy_after(code, str(tmp_path))
