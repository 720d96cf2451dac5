"""What the footer tells of the session, gathered from the App; the git branch is looked up beside, and rarely."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zot_cli.repl.chrome import Facts
from zot_core.types.messages import AssistantMessage, Message

if TYPE_CHECKING:
    from zot_core.app import App

LOOK_AGAIN = 2.0
"""Seconds after which the branch is read again."""


class FactSource:
    """Reads the facts anew for each frame; cheap, because nothing but the branch touches the disk."""

    def __init__(self) -> None:
        self._branch = ""
        self._read_at = -LOOK_AGAIN
        self._cwd = ""
        self._counted: tuple[int, str, float] = (-1, "", 0.0)

    def read(self, app: App | None) -> Facts:
        """The facts of now; nearly none before the session is open."""
        if app is None:
            return Facts(cwd=_short(str(Path.cwd())), model="starting")
        runtime = app.runtime
        model = runtime.choice.model
        usage = runtime.context_usage()
        return Facts(
            cwd=_short(runtime.cwd),
            branch=self._branch_of(runtime.cwd),
            model=f"{model.provider}/{model.id}" if model else "",
            level=runtime.choice.thinking if model and model.reasoning else "",
            tokens=usage.tokens,
            window=usage.window,
            cost=self._cost_of(runtime.state.messages),
            session=runtime.session.name or "",
        )

    def _cost_of(self, messages: Sequence[Message]) -> float:
        """What the conversation cost; messages are only ever added, or all replaced."""
        if not messages or self._counted[:2] != (len(messages), messages[-1].id):
            used = [message.usage for message in messages if isinstance(message, AssistantMessage) and message.usage]
            cost = sum(usage.cost for usage in used)
            self._counted = (len(messages), messages[-1].id if messages else "", cost)
        return self._counted[2]

    def _branch_of(self, cwd: str) -> str:
        now = time.monotonic()
        if cwd != self._cwd or now - self._read_at > LOOK_AGAIN:
            self._cwd, self._read_at = cwd, now
            self._branch = _branch(Path(cwd))
        return self._branch


def _branch(folder: Path) -> str:
    """The branch of the repository around `folder`, a short commit when detached, "" outside of one."""
    for place in (folder, *folder.parents):
        git = place / ".git"
        try:
            if git.is_file():  # a worktree: `gitdir: PATH`
                git = place / git.read_text(encoding="utf-8").partition(":")[2].strip()
            head = (git / "HEAD").read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            continue
        return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else head[:8]
    return ""


def _short(path: str) -> str:
    home = str(Path.home())
    return "~" + path[len(home) :] if path == home or path.startswith(home + "/") else path
