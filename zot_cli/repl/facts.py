"""What the footer tells of the session, gathered from the App; the git branch is looked up beside, and rarely."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zot_cli.repl.footer import Facts
from zot_core.types.messages import AssistantMessage, Message, ToolResultMessage
from zot_core.types.usage import Usage

if TYPE_CHECKING:
    from zot_core.app import App

LOOK_AGAIN = 2.0
"""Seconds after which the branch is read again."""
NEARLY = 90
"""Percent of the window from which on it is said that it is nearly full: compaction by itself comes before."""
TIME_TO_SAY = 60
"""Percent of the window from which on it is said that nobody will compact it."""


class FactSource:
    """Reads the facts anew for each frame; cheap, because nothing but the branch touches the disk."""

    def __init__(self) -> None:
        self._branch = ""
        self._read_at = -LOOK_AGAIN
        self._cwd = ""
        self._counted: tuple[int, str, Usage] = (-1, "", Usage())

    def read(self, app: App | None) -> Facts:
        """The facts of now; nearly none before the session is open."""
        if app is None:
            return Facts(cwd=_short(str(Path.cwd())), model="starting")
        runtime = app.runtime
        model = runtime.choice.model
        usage, used = runtime.context_usage(), self._used_by(runtime.state.messages)
        return Facts(
            cwd=_short(runtime.cwd),
            branch=self._branch_of(runtime.cwd),
            model=f"{model.provider}/{model.id}" if model else "",
            level=runtime.choice.thinking if model and model.reasoning else "",
            tokens=usage.tokens,
            window=usage.window,
            cost=used.cost,
            used=used,
            session=runtime.session.name or "",
            warnings=tuple(_warnings(app, 100 * usage.tokens / usage.window if usage.window else 0.0)),
        )

    def _used_by(self, messages: Sequence[Message]) -> Usage:
        """What the conversation used, tools that asked a model included; messages are only ever added, or all
        replaced."""
        if not messages or self._counted[:2] != (len(messages), messages[-1].id):
            counted = [one.usage for one in messages if isinstance(one, AssistantMessage | ToolResultMessage)]
            used = sum((usage for usage in counted if usage is not None), Usage())
            self._counted = (len(messages), messages[-1].id if messages else "", used)
        return self._counted[2]

    def _branch_of(self, cwd: str) -> str:
        now = time.monotonic()
        if cwd != self._cwd or now - self._read_at > LOOK_AGAIN:
            self._cwd, self._read_at = cwd, now
            self._branch = _branch(Path(cwd))
        return self._branch


def _warnings(app: App, share: float) -> Iterator[str]:
    """What is wrong for as long as it is, in a few words, the worst first. `share` of the window is in use, percent."""
    if failed := app.diagnostics.failed:
        yield f"{f'{len(failed)} plugins' if len(failed) > 1 else '1 plugin'} failed: /plugins"
    if app.runtime.session.repair is not None:
        yield "the session was damaged and mended"
    if share > NEARLY:
        yield "the window is nearly full: /compact"
    elif share > TIME_TO_SAY and app.runtime.plugin_settings("compaction").get("enabled") is False:
        yield "nothing compacts by itself: /compact"


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
