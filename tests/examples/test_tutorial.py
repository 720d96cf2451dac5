"""The tutorial, walked from its first line to its last: each file written where it says, each command run as shown.

Left out is what needs a network: packages are taken from where they lie.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STEP = re.compile(r"`(?P<name>[\w./-]+)`[^`\n]*:\n\n<!-- include: \S+ -->\n```\w+\n(?P<text>.*?)^```$", re.S | re.M)
SHELL = re.compile(r"^```sh\n(?P<command>.*?)^```$", re.S | re.M)


class Walk:
    """A folder in which the tutorial's sections are done one after another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sections = dict(_sections())
        shims = folder / ".bin"
        shims.mkdir()
        for name, module in (("zot", "zot_cli"), ("pytest", "pytest"), ("twine", "twine")):
            (shims / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
            (shims / name).chmod(0o755)
        self.env = os.environ | {"PATH": f"{shims}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(folder / "site")}

    def do(self, number: int) -> str:
        """Does one section; returns what its commands said. Fails with the first command that fails."""
        text, said = self.sections[number], ""
        for step in re.finditer(f"{STEP.pattern}|{SHELL.pattern}", text, re.S | re.M):
            if step["name"]:
                file = self.folder / step["name"]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(step["text"], encoding="utf-8")
                continue
            command = _offline(step["command"], self.folder / "site")
            run = ["bash", "-e", "-c", command]
            done = subprocess.run(
                run, cwd=self.folder, env=self.env, capture_output=True, text=True, stdin=subprocess.DEVNULL
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
            said += done.stdout + done.stderr
        return said


def _sections() -> list[tuple[int, str]]:
    text = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (\d)\. .*$", text, flags=re.M)
    return [(int(number), body) for number, body in zip(parts[1::2], parts[2::2], strict=True)]


def _offline(command: str, site: Path) -> str:
    lines = []
    for line in command.splitlines():
        if line == "pip install -e ./zot-greet":
            options = f'-q --no-deps --no-build-isolation --no-index --target "{site}"'
            line = f'"{sys.executable}" -m pip install {options} ./zot-greet'
        elif line.startswith(("pip install", "twine")):
            continue
        lines.append(line.replace("python -m build", f'cd zot-greet && "{sys.executable}" -m build -n -w'))
    return "\n".join(lines)


@pytest.mark.time_limit(120)
def test_the_tutorial_as_written(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="building the package needs hatchling")
    walk = Walk(tmp_path)
    assert "hello_tool" in walk.do(1)
    assert "I said hello, loudly." in walk.do(2)
    assert "nobody allowed this rm" in walk.do(3)
    assert "guard" in walk.do(4)
    assert "Salut, Ada!" in walk.do(5)
    assert "3 passed" in walk.do(6)
    assert "zot_greet-0.1.0-py3-none-any.whl" in walk.do(7)
