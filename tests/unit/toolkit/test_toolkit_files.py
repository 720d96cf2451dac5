"""Paths, the mutation queue, diffs and process groups, as plugins use them."""

from __future__ import annotations

import asyncio
import difflib
import os
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tool_context import until

from zot_core.toolkit.diff import Region, unified
from zot_core.toolkit.errors import ToolError, shown, tool_errors
from zot_core.toolkit.mutation import MutationQueue
from zot_core.toolkit.paths import find_for_reading, locate, locate_elsewhere
from zot_core.toolkit.process import ProcessGroups
from zot_core.toolkit.proctable import descendants
from zot_core.toolkit.threads import run_to_end
from zot_core.types.specs import ToolResult

# --- paths ----------------------------------------------------------------------------------------------------------


def test_paths_are_relative_to_the_project(tmp_path: Path) -> None:
    assert locate(tmp_path, "a/./b") == f"{tmp_path}/a/b"
    assert locate(tmp_path, "/x") == "/x"
    assert locate("/p", "@~nobody-here/x") == "/p/~nobody-here/x"
    assert locate_elsewhere("/p", "@a") == "/p/a"
    assert locate_elsewhere("/p", "~/a") == "~/a"
    with pytest.raises(ToolError):
        locate(tmp_path, "a\0b")


def test_dots_behind_a_link_are_the_links(tmp_path: Path) -> None:
    (tmp_path / "far/deep").mkdir(parents=True)
    (tmp_path / "far/x").write_text("far")
    (tmp_path / "x").write_text("near")
    (tmp_path / "link").symlink_to("far/deep")
    assert Path(find_for_reading(tmp_path, "link/../x").path).read_text() == "far"


def test_a_lookalike_folder_is_found_too(tmp_path: Path) -> None:
    (tmp_path / "my\u00a0docs").mkdir()
    (tmp_path / "my\u00a0docs/it\u2019s").write_text("x")
    found = find_for_reading(tmp_path, "my docs/it's")
    assert Path(found.path).read_text() == "x"
    assert "\\u00a0" in found.note


def test_a_dangling_link_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("gone")
    with pytest.raises(ToolError, match="is a link to a file that does not exist"):
        find_for_reading(tmp_path, "link")


def test_shown_paths_can_be_printed() -> None:
    assert shown("a\nb\x1b[31m") == "a\\nb\\x1b[31m"
    assert shown(os.fsdecode(b"a\xff")) == "a\ufffd"


# --- errors and threads ---------------------------------------------------------------------------------------------


def test_only_tool_errors_become_results() -> None:
    @tool_errors
    async def execute(args: str, ctx: None) -> ToolResult:
        raise ToolError("no", {"why": args}) if args == "tool" else LookupError(args)

    result = asyncio.run(execute("tool", None))
    assert result.is_error
    assert result.details == {"why": "tool"}
    with pytest.raises(LookupError):
        asyncio.run(execute("fault", None))


def test_a_cancellation_waits_for_the_thread() -> None:
    begun, go = threading.Event(), threading.Event()
    done: list[bool] = []

    def work() -> None:
        begun.set()
        go.wait(10)
        done.append(True)

    async def main() -> None:
        task = asyncio.ensure_future(run_to_end(work))
        await until(begun.is_set)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        assert not task.done()
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert done == [True]


# --- the queue ------------------------------------------------------------------------------------------------------


def test_one_file_is_changed_by_one_at_a_time_in_order(tmp_path: Path) -> None:
    queue = MutationQueue()
    (tmp_path / "real").touch()
    (tmp_path / "link").symlink_to("real")
    order: list[str] = []

    async def change(name: str, path: str) -> None:
        async with queue.hold(tmp_path / path) as real:
            assert real == str((tmp_path / "real").resolve())
            order.append(f"{name} in")
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            order.append(f"{name} out")

    async def main() -> None:
        await asyncio.gather(change("a", "real"), change("b", "link"), change("c", "./real"))

    asyncio.run(main())
    assert order == ["a in", "a out", "b in", "b out", "c in", "c out"]
    assert len(queue) == 0


@pytest.mark.parametrize("other", ["caf\u00e9.txt", "CAFE\u0301.TXT"])
def test_names_that_a_file_system_may_take_for_one_share_a_queue(tmp_path: Path, other: str) -> None:
    queue = MutationQueue()

    async def main() -> None:
        async with queue.hold(tmp_path / "cafe\u0301.txt"), queue.hold(tmp_path / other) as real:
            assert len(queue) == 1
            assert real == str(tmp_path.resolve() / other)

    asyncio.run(main())


def test_other_files_do_not_wait_and_a_failure_frees_the_turn(tmp_path: Path) -> None:
    queue = MutationQueue()

    async def take(name: str) -> None:
        async with queue.hold(tmp_path / name):
            pass

    async def main() -> None:
        async with queue.hold(tmp_path / "a"):
            async with asyncio.timeout(1), queue.hold(tmp_path / "b"):
                assert len(queue) == 2
            async with asyncio.timeout(1), queue.hold(tmp_path / "a"):
                assert len(queue) == 1  # whoever holds a file may hold it again
            other = asyncio.ensure_future(take("a"))
            assert await asyncio.wait({other}, timeout=0.01) == (set(), {other})
        await other
        with pytest.raises(ValueError, match="x"):
            async with queue.hold(tmp_path / "a"):
                raise ValueError("x")
        async with asyncio.timeout(1), queue.hold(tmp_path / "a"):
            pass
        assert len(queue) == 0

    asyncio.run(main())


# --- diffs ----------------------------------------------------------------------------------------------------------

LINES = st.lists(st.sampled_from(["a", "b", "c", "", " x"]), max_size=14)


@given(LINES, LINES, st.booleans(), st.booleans())
def test_a_diff_leads_from_the_old_to_the_new_text(old: list[str], new: list[str], end: bool, new_end: bool) -> None:
    before = "\n".join(old) + ("\n" if end and old else "")
    after = "\n".join(new) + ("\n" if new_end and new else "")
    diff = unified(before, after, "f")
    assert patched(before, diff.text) == after
    assert (diff.text == "") == (before == after)


def patched(text: str, diff: str) -> str:
    """`text` with a unified diff applied, by hunk position and content."""
    lines = text.splitlines(keepends=True)
    out: list[str] = []
    at = 0
    rows = diff.split("\n")[2:-1]
    for n, row in enumerate(rows):
        mark, content = row[:1], row[1:]
        if row.startswith("@@"):
            start, _, count = row.split()[1][1:].partition(",")
            first = int(start) - (0 if count == "0" else 1)
            out += lines[at:first]
            at = first
            continue
        if mark == "\\":
            continue
        line = content + ("" if rows[n + 1 : n + 2] == ["\\ No newline at end of file"] else "\n")
        if mark in " -":
            assert lines[at] == line
            at += 1
        if mark in " +":
            out.append(line)
    return "".join(out + lines[at:])


def test_a_diff_is_as_difflib_writes_it() -> None:
    old = [f"{n}\n" for n in range(40)]
    new = [*old[:5], "x\n", *old[6:30], "y\n", "z\n", *old[30:]]
    assert unified("".join(old), "".join(new), "f").text == "".join(difflib.unified_diff(old, new, "f", "f"))


def test_known_regions_are_enough() -> None:
    old = "".join(f"{n}\n" for n in range(300_000))
    new = old.replace("\n7\n", "\nseven\n").replace("\n299998\n", "\nx\ny\n")
    at, end = old.index("7\n"), old.index("299998\n")
    regions = [Region(at, at + 1, at, at + 5), Region(end, end + 6, end + 4, end + 7)]
    diff = unified(old, new, "f", regions)
    assert diff == unified(old, new, "f")
    assert (diff.added, diff.removed, diff.first_line) == (3, 2, 8)
    assert diff.text.count("\n") < 30


@given(
    st.text("ab\n", max_size=60),
    st.lists(st.tuples(st.integers(0, 60), st.text("xa\n", max_size=4)), max_size=6),
    st.sampled_from([0, 1, 3]),
)
def test_regions_of_any_changes_lead_to_the_new_text(old: str, cuts: list[tuple[int, str]], context: int) -> None:
    places = sorted((min(at, len(old)), text) for at, text in cuts)
    new, at, regions = "", 0, []
    for (start, text), (end, _) in zip(places[::2], places[1::2], strict=False):
        new += old[at:start]
        regions.append(Region(start, end, len(new), len(new) + len(text)))
        new, at = new + text, end
    new += old[at:]
    diff = unified(old, new, "f", regions, context=context)
    assert patched(old, diff.text) == new
    assert (diff.text == "") == (old == new)


# --- process groups -------------------------------------------------------------------------------------------------

ENV = {"PATH": os.environ["PATH"]}


def test_a_group_is_ended_whole_and_forgotten(tmp_path: Path) -> None:
    async def main() -> None:
        groups = ProcessGroups()
        pipe = subprocess.PIPE
        group = await groups.spawn(
            ["sh", "-c", "sleep 300 & echo $!; cat"], cwd=tmp_path, env=ENV, stdin=pipe, stdout=pipe
        )
        assert group.process.stdout is not None and group.process.stdin is not None
        child = int(await group.process.stdout.readline())
        assert groups.live() == [group]
        group.process.stdin.close()
        assert await group.wait() == 0
        assert groups.live() == [group]  # the child goes on
        await groups.close(grace=1)
        assert groups.live() == []
        await until(lambda: not alive(child))

    asyncio.run(main())


def test_term_comes_before_kill(tmp_path: Path) -> None:
    async def main() -> None:
        groups = ProcessGroups()
        polite = await groups.spawn(
            ["sh", "-c", "trap 'echo bye > said; exit 7' TERM; touch ready; while true; do sleep 0.01; done"],
            cwd=tmp_path,
            env=ENV,
        )
        stubborn = await groups.spawn(
            ["sh", "-c", "trap '' TERM; touch set; while true; do sleep 1; done"], cwd=tmp_path, env=ENV
        )
        await until(lambda: (tmp_path / "ready").exists() and (tmp_path / "set").exists())
        await polite.end()
        assert polite.process.returncode == 7
        assert (tmp_path / "said").read_text() == "bye\n"
        await stubborn.end(grace=0.1)
        assert stubborn.process.returncode == -signal.SIGKILL
        assert groups.live() == []
        polite.kill()  # long gone: nothing happens

    asyncio.run(main())


def test_what_left_the_group_is_found(tmp_path: Path) -> None:
    async def main() -> None:
        groups = ProcessGroups()
        group = await groups.spawn(["sh", "-c", "setsid sleep 300 & wait"], cwd=tmp_path, env=ENV)
        await until(lambda: len(descendants(group.id)) == 1)
        (stray,) = descendants(group.id)
        await group.end(grace=1)
        await until(lambda: not alive(stray))

    asyncio.run(main())


def test_a_program_that_is_missing_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        asyncio.run(ProcessGroups().spawn(["no-such-program"], cwd=tmp_path, env=ENV))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
