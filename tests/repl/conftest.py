"""The interactive mode in a real pseudo-terminal, with the scripted model."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from support.pty_screen import PtyScreen

Start = Callable[..., PtyScreen]


class Desk:
    """A home, a project, a script of the model, and terminals that are ended with the test."""

    def __init__(self, root: Path, stack: ExitStack) -> None:
        self.home = root / "home"
        self.project = root / "project"
        self.home.mkdir(mode=0o700)
        self.project.mkdir()
        self._stack = stack
        self._script = root / "script.json"
        self.env = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ZOT_", "COLOR", "TMUX", "TERM_", "KITTY_", "LC_TERMINAL"))
            and not name.endswith(("_API_KEY", "_TOKEN"))
        }
        self.env |= {"ZOT_HOME": str(self.home), "TERM": "xterm-256color", "COLORFGBG": "15;0", "LANG": "C.UTF-8"}

    def script(self, *replies: Any) -> None:
        """Each reply a list of steps, as the scripted provider plays them."""
        self._script.write_text(json.dumps(list(replies)), encoding="utf-8")
        self.env["ZOT_SCRIPT"] = str(self._script)

    def zot(self, *argv: str, columns: int = 80, rows: int = 24, **env: str) -> PtyScreen:
        """`zot` in a terminal, once its footer is there."""
        line = [sys.executable, "-m", "zot_cli", "--provider", "scripted", *argv]
        screen = PtyScreen(line, cwd=self.project, env={**self.env, **env}, columns=columns, rows=rows)
        self._stack.enter_context(screen)
        return screen.wait("scripted/scripted")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A fresh desk."""
    with ExitStack() as stack:
        yield Desk(tmp_path.resolve(), stack)
