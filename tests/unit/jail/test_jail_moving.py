"""The jail while folders move: at each step of a tool another program puts a link to outside in a folder's place."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support import sandboxes
from support.tool_context import FakeToolContext, run, said

from zot_core.types.specs import FilesystemPolicy, SessionFacts
from zot_plugins.jail.policy import policy

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="folders are held open by descriptor")

_watchers: list[Callable[[str, tuple[Any, ...]], None]] = []


def _hook(event: str, args: tuple[Any, ...]) -> None:
    for watcher in _watchers[:]:
        watcher(event, args)


@pytest.fixture(scope="module", autouse=True)
def auditing() -> None:
    sys.addaudithook(_hook)  # it can never be taken away again, so it is empty but during a call


@contextmanager
def swapped_at(step: int, folder: Path, outside: Path) -> Iterator[list[str]]:
    """Before the `step`-th thing that this process does with files, `folder` becomes a link to `outside`."""
    seen: list[str] = []
    state = {"busy": False}

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if state["busy"] or not event.startswith(("open", "os.", "subprocess.")):
            return
        if args and isinstance(args[0], str) and re.match(r"/proc(/\d|$)", args[0]):
            return  # the table of processes
        seen.append(event)
        if len(seen) == step:
            state["busy"] = True
            folder.rename(f"{folder}.aside")
            folder.symlink_to(outside)

    _watchers.append(watch)
    try:
        yield seen
    finally:
        _watchers.remove(watch)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], tuple[Path, Path]]]:
    made = iter(range(1000))

    def fresh() -> tuple[Path, Path]:
        root = tmp_path / str(next(made))
        outside, folder = root / "outside", root / "project" / "folder"
        outside.mkdir(parents=True)
        folder.mkdir(parents=True)
        (outside / "file").write_text("SECRET\n")
        (outside / "hidden_name").mkdir()
        (folder / "file").write_text("fine\n")
        return folder, outside

    yield fresh


def jail(project: Path) -> FilesystemPolicy:
    return policy(SessionFacts(cwd=str(project), flags={"jail": True}, settings={}, mode="print"))


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("write", {"path": "folder/file", "content": "written\n"}),
    ("write", {"path": "folder/new", "content": "written\n"}),
    ("write", {"path": "folder/deep/er/new", "content": "written\n"}),
    ("edit", {"path": "folder/file", "edits": [{"old_text": "fine", "new_text": "edited"}]}),
    ("read", {"path": "folder/file"}),
    ("ls", {"path": "folder"}),
    ("find", {"path": "folder", "pattern": "*"}),
    ("find", {"path": ".", "pattern": "*"}),
    ("grep", {"path": "folder", "pattern": "SECRET"}),
    ("grep", {"path": "folder/file", "pattern": "SECRET"}),
    ("grep", {"path": ".", "pattern": "SECRET"}),
]


@pytest.mark.parametrize("kind", ["bwrap", "landlock"])
@pytest.mark.parametrize(("tool", "args"), CALLS)
def test_nothing_outside_is_read_or_changed_whenever_a_folder_becomes_a_link(
    place: Any, monkeypatch: pytest.MonkeyPatch, tool: str, args: dict[str, Any], kind: str
) -> None:
    if kind != "bwrap" and tool != "grep":
        pytest.skip("no program is run")
    if tool == "grep":
        sandboxes.only(monkeypatch, kind)
    step = 0
    while True:
        step += 1
        folder, outside = place()
        ctx = FakeToolContext(folder.parent, policies=(jail(folder.parent),))
        with swapped_at(step, folder, outside) as seen:
            result = run(tool, ctx, **args)
        assert "SECRET" not in said(result), (step, seen)
        assert "hidden_name" not in said(result), (step, seen)
        assert sorted(path.name for path in outside.iterdir()) == ["file", "hidden_name"], (step, seen)
        assert (outside / "file").read_text() == "SECRET\n", (step, seen)
        if len(seen) < step:
            return
        assert step < 200


def test_grep_in_a_jail_still_finds_what_is_inside(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = place()
    ctx = FakeToolContext(folder.parent, policies=(jail(folder.parent),))
    for kind in ("bwrap", "landlock", "nothing"):
        sandboxes.only(monkeypatch, kind)
        for where in (".", "folder", "folder/file"):
            assert "1: fine" in said(run("grep", ctx, pattern="fine", path=where)), (kind, where)
        monkeypatch.setattr("zot_core.toolkit.ripgrep.programs", lambda path: [])
        assert run("grep", ctx, pattern="fine").details["engine"] == "python"
        assert "1: fine" in said(run("grep", ctx, pattern="fine"))
        monkeypatch.undo()
