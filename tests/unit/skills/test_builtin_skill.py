"""What the built-in skill shows the model works: its plugin and its extension are run as they stand."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
SKILL = ROOT / "zot_plugins/skills/builtin/zot-plugins/SKILL.md"
SDK = ROOT / "zot_plugins/extension_bridge/sdk/zot_ext.py"


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", SKILL.read_text(encoding="utf-8"), re.S | re.M)


def run(world: Any, *argv: str) -> str:
    line = [sys.executable, "-m", "zot_cli", "--provider", "scripted", *argv]
    done = subprocess.run(line, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=world.project)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_plugin_is_loaded_and_its_command_answers(world: Any) -> None:
    file = world.project / "mine.py"
    file.write_text(blocks("python")[0])
    assert run(world, "--plugin", str(file), "-p", "/hello Ann") == "Hello, Ann!\n"


def test_the_extension_is_loaded_and_its_command_answers(world: Any) -> None:
    folder = world.project / "helper"
    folder.mkdir()
    (folder / "extension.json").write_text(blocks("json")[0])
    program = folder / "helper.py"
    program.write_text(blocks("python")[1])
    program.chmod(0o755)
    shutil.copy(SDK, folder)
    assert run(world, "--ext", str(folder), "-p", "/hello Ann") == "Hello, Ann!\n"
    assert "word_count" in run(world, "plugins", "--ext", str(folder))
