"""Extensions over sessions and reloads: which process goes on, which is new, and what is said where."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.extension_scripts import Extension, script

from zot_core.testing import Script
from zot_core.testing.front import RecordingFrontEnd
from zot_core.types.panels import Panel
from zot_plugins.extension_bridge import handshake

Open = Callable[..., Any]
FULL = """
hello()
emit("register_tool", name="weather", description="w", schema={"type": "object"})
emit("register_command", name="go", description="g")
emit("subscribe", events=["session_start", "turn_end"], intercept=["tool_call"])
emit("ready")
for frame in frames():
    if frame["type"] == "tool_call":
        emit("tool_result", id=frame["id"], content=[{"type": "text", "text": TEXT}])
    if frame["type"] == "event_intercept":
        emit("event_intercept_response", id=frame["id"])
    if frame["type"] == "command_invoked":
        emit("command_response", id=frame["id"], action="display", display="went")
"""


def remote(app: Any, extension: Extension) -> Any:
    return app.runtime.host.plugins[extension.plugin].plugin


def play(runtime: Open, extension: Extension, story: Any, **how: Any) -> Any:
    """Runs `story(app)` in an App with the extension; gives what it gives."""

    async def main() -> Any:
        async with runtime(explicit=extension.explicit, **how) as app:
            return await story(app)

    return asyncio.run(main())


def test_the_process_goes_on_in_a_new_session_with_all_it_registered(runtime: Open, tmp_path: Path, world: Any) -> None:
    ext = script(tmp_path, "lasting", f"TEXT = 'fog'\n{FULL}")

    async def story(app: Any) -> Any:
        await remote(app, ext).settled()
        first = remote(app, ext).status().pid
        await app.new_session()
        await app.prompt("Go")
        await app.prompt("/go")
        return first, remote(app, ext).status().pid, app.front.tool_results(), app.front.notes

    first, second, results, notes = play(runtime, ext, story, script=Script().tool_call("weather").then().text("Fog."))
    assert first == second
    assert results[0].content[0].text == "fog"
    assert [note.text for note in notes] == ["went"]
    assert [frame["event"] for frame in ext.of("event")] == ["session_start", "session_start", "turn_end", "turn_end"]
    assert len(ext.of("hello_ack")) == 1
    assert len(ext.of("event_intercept")) == 1
    assert len(ext.of("shutdown")) == 1


def test_a_reload_starts_a_new_process_beside_the_old_one(runtime: Open, tmp_path: Path, world: Any) -> None:
    body = f"TEXT = os.environ.get('ZOT_RELOAD', 'first')\nnote(begin=os.getpid())\n{FULL}\nnote(end=os.getpid())"
    ext = script(tmp_path, "lasting", body)

    async def story(app: Any) -> Any:
        await remote(app, ext).settled()
        old = remote(app, ext).status().pid
        report = await app.reload("extensions")
        await app.prompt("Go")
        return old, remote(app, ext).status().pid, report, app.front.tool_results()

    replies = Script().tool_call("weather").then().text("Fog.")
    old, new, report, results = play(runtime, ext, story, script=replies)
    assert old != new
    assert report.failed == () and ext.plugin in report.loaded
    assert results[0].content[0].text == "1"
    marks = [(key, row[key]) for row in ext.seen for key in ("begin", "end") if key in row]
    assert marks == [("begin", old), ("begin", new), ("end", old), ("end", new)]


LOCKED = """
lock = os.path.join(HERE, "lock")
held = False
def take():
    try:
        os.mkdir(lock)
    except OSError:
        sys.exit(7)
hello(); take()
emit("ready")
for frame in frames(): pass
os.rmdir(lock)
"""


def test_what_only_one_process_can_have_is_given_over(runtime: Open, tmp_path: Path, world: Any) -> None:
    ext = script(tmp_path, "locked", LOCKED)

    async def story(app: Any) -> Any:
        await remote(app, ext).settled()
        report = await app.reload("extensions")
        return report, remote(app, ext).status().state, [note.text for note in app.front.notes]

    report, state, notes = play(runtime, ext, story)
    assert report.failed == ()
    assert state == "ready"
    assert notes == []


def test_a_new_program_that_fails_leaves_the_old_one_out_but_the_rest_goes_on(
    runtime: Open, tmp_path: Path, world: Any
) -> None:
    ext = script(tmp_path, "lasting", f"TEXT = 'fog'\n{FULL}")

    async def story(app: Any) -> Any:
        await remote(app, ext).settled()
        script(tmp_path, "lasting", "sys.exit(9)")
        report = await app.reload("extensions")
        return report, [note.text for note in app.front.notes if note.level == "error"]

    report, notes = play(runtime, ext, story)
    [(plugin, reason)] = report.failed
    assert plugin == ext.plugin
    assert "it exited with status 9 before its hello" in reason and "could not be started again" in reason
    assert ext.plugin not in report.loaded
    assert len(notes) == 1


def test_one_that_starts_only_by_its_old_manifest_comes_back(runtime: Open, tmp_path: Path, world: Any) -> None:
    body = f"TEXT = 'fog'\nif sys.argv[1:]: sys.exit(9)\n{FULL}"
    ext = script(tmp_path, "lasting", body)

    async def story(app: Any) -> Any:
        await remote(app, ext).settled()
        script(tmp_path, "lasting", body, args=["--new"])
        report = await app.reload("extensions")
        await app.prompt("Go")
        return report, app.front.tool_results()

    report, results = play(runtime, ext, story, script=Script().tool_call("weather").then().text("Fog."))
    [(_, reason)] = report.failed
    assert "the one before was started again" in reason
    assert ext.plugin in report.loaded
    assert results[0].content[0].text == "fog"


def test_a_program_that_is_not_there_any_more_leaves_the_old_one_at_work(
    runtime: Open, tmp_path: Path, world: Any
) -> None:
    ext = script(tmp_path, "lasting", f"TEXT = 'fog'\n{FULL}")

    async def story(app: Any) -> Any:
        await remote(app, ext).settled()
        pid = remote(app, ext).status().pid
        (ext.folder / "main.py").unlink()
        report = await app.reload("extensions")
        await app.prompt("Go")
        return report, app.front.tool_results(), remote(app, ext).status().pid == pid

    report, results, same = play(runtime, ext, story, script=Script().tool_call("weather").then().text("Fog."))
    assert "there is no file" in report.failed[0][1]
    assert same
    assert results[0].content[0].text == "fog"


def test_what_is_registered_late_joins_the_next_request(runtime: Open, tmp_path: Path, world: Any) -> None:
    body = """
hello(); emit("register_command", name="more"); emit("ready")
for frame in frames():
    if frame["type"] == "command_invoked":
        emit("register_tool", name="late", schema={"type": "object"})
        emit("subscribe", events=["session_start"])
        emit("command_response", id=frame["id"], action="noop")
"""
    ext = script(tmp_path, "grower", body)

    async def story(app: Any) -> Any:
        before = app.runtime.toolbox.active_names()
        await app.prompt("/more")
        return before, app.runtime.toolbox.active_names()

    before, after = play(runtime, ext, story)
    assert set(after) - set(before) == {"late"}
    assert [frame["event"] for frame in ext.of("event")] == ["session_start"]


def test_names_that_are_taken_are_logged_and_not_used(runtime: Open, tmp_path: Path, world: Any) -> None:
    body = """
hello()
for name in ("read", "own", "own", "no spaces", "tool_search"):
    emit("register_tool", name=name, schema={"type": "object"})
emit("register_tool", name="array", schema={"type": "array"})
for name in ("Mine", "mINE", "two words", ""): emit("register_command", name=name)
emit("ready")
for frame in frames(): pass
"""
    ext = script(tmp_path, "clasher", body)

    async def story(app: Any) -> Any:
        await remote(app, ext).settled()
        return remote(app, ext).status(), app.runtime.toolbox.owner_of("read"), app.runtime.commands.names()

    status, owner, commands = play(runtime, ext, story)
    assert owner == "tool_read"
    assert "Mine" in commands
    said = status.log.read_text()
    expected = [
        "its tool read has the name of the built-in tool; it is not used",
        "its tool own is there already",
        "the tool name 'no spaces' is not used",
        "the tool name tool_search is reserved",
        "its schema is of type 'array', not object",
        "its command mINE is there already as Mine",
        "the command name 'two words' cannot be typed",
        "the command name '' cannot be typed",
    ]
    assert len(status.conflicts) == len(expected)
    for words, conflict in zip(expected, status.conflicts, strict=True):
        assert words in conflict
        assert conflict in said


NOTES = """
hello(); emit("ready")
for level in ("info", "success", "warn", "error", "loud"): emit("notify", level=level, message=level)
emit("clear_notes")
emit("submit", text="Hello there")
emit("submit", text="   ")
for frame in frames(): pass
"""


@pytest.mark.parametrize("mode", ["json", "repl"])
def test_notes_and_submitted_prompts(runtime: Open, tmp_path: Path, world: Any, mode: Any) -> None:
    ext = script(tmp_path, "talker", NOTES)
    front = RecordingFrontEnd(mode)
    told = asyncio.Event()
    note, event = front.note, front.event
    front.note = lambda one: (note(one), told.set() if one.kind == "clear" else None)[0]  # type: ignore[method-assign]

    async def story(app: Any) -> None:
        await told.wait()
        if mode == "repl":
            while not front.of("agent_settled"):
                await asyncio.sleep(0.01)

    play(runtime, ext, story, front=front, script=Script().text("Hi."))
    levels = [(one.text, one.level) for one in front.notes if one.kind == "notify"]
    assert levels == [
        ("info", "info"),
        ("success", "success"),
        ("warn", "warning"),
        ("error", "error"),
        ("loud", "info"),
    ]
    users = [message.content[0].text for message in front.messages if message.role == "user"]
    assert users == (["Hello there"] if mode == "repl" else [])
    assert event is not None


PANEL = """
hello(); emit("register_command", name="list"); emit("ready")
for frame in frames():
    if frame["type"] == "command_invoked":
        emit("command_response", id=frame["id"], action="open_panel",
             open_panel={"id": "main", "title": "T", "lines": ["a", "b"], "footer": "F"})
    if frame["type"] == "panel_key":
        if frame["key"] == "enter":
            emit("panel_render", panel_id="main", lines=["c"])
            emit("panel_render", panel_id="other", lines=["c"])
        elif frame["key"] == "x":
            pass
        elif frame["key"] == "delete":
            sys.exit(0)
        elif frame["key"] == "end":
            emit("panel_close", panel_id="main")
"""


class Handle:
    """What a front end with a screen gives for an open panel."""

    def __init__(self, panel: Panel, on_key: Any, on_close: Any) -> None:
        self.shown = [panel]
        self.on_key, self.on_close = on_key, on_close
        self.changed = asyncio.Event()
        self.closed = asyncio.Event()

    def update(self, panel: Panel) -> None:
        self.shown.append(panel)
        self.changed.set()

    def close(self) -> None:
        self.closed.set()


def test_a_panel_shows_redraws_hears_keys_and_closes(runtime: Open, tmp_path: Path, world: Any) -> None:
    ext = script(tmp_path, "todo", PANEL)
    front = RecordingFrontEnd("repl")
    handles: list[Handle] = []

    def open_panel(plugin: str, panel: Panel, on_key: Any, on_close: Any) -> Handle:
        assert plugin == "ext:todo"
        handles.append(Handle(panel, on_key, on_close))
        return handles[-1]

    front.ui.open_panel = open_panel  # type: ignore[method-assign,assignment]

    async def story(app: Any) -> None:
        await app.prompt("/list")
        handles[0].on_key("down", "")
        handles[0].on_key("rune", "é")
        handles[0].on_key("enter", "")
        await handles[0].changed.wait()
        handles[0].on_close()
        await app.prompt("/list")
        handles[1].on_key("end", "")
        await handles[1].closed.wait()
        await app.prompt("/list")
        handles[2].on_key("delete", "")
        await handles[2].closed.wait()

    play(runtime, ext, story, front=front)
    first, second = handles[0].shown
    assert first == Panel(id="main", title="T", lines=("a", "b"), footer="F")
    assert second == Panel(id="main", title="T", lines=("c",), footer="F")
    keys = [{k: v for k, v in f.items() if k != "type"} for f in ext.seen if f["type"] in ("panel_key", "panel_close")]
    assert keys[:4] == [
        {"panel_id": "main", "key": "down"},
        {"panel_id": "main", "key": "rune", "text": "é"},
        {"panel_id": "main", "key": "enter"},
        {"panel_id": "main"},
    ]
    assert "'other', which is not open" in (world.home / "logs" / "ext-todo.log").read_text()


def test_a_prompt_pass_that_is_overtaken_drops_the_late_answer(
    runtime: Open, tmp_path: Path, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = """
hello(); emit("subscribe", intercept=["before_agent_start"]); emit("ready")
for number, frame in enumerate(frames()):
    if number == 0:
        emit("notify", message="asked")
        waiting = frame
    else:
        emit("event_intercept_response", id=waiting["id"], system_prompt="late")
        emit("event_intercept_response", id=frame["id"], system_prompt="second")
"""
    ext = script(tmp_path, "prompter", body)
    front = RecordingFrontEnd()

    async def story(app: Any) -> Any:
        note = front.note

        def overtaken(one: Any) -> None:
            note(one)
            if one.text == "asked":
                app.runtime.state.prompt.raise_epoch("test")

        front.note = overtaken  # type: ignore[method-assign]
        await app.prompt("Go")
        return app.runtime.current_system_prompt()

    assert play(runtime, ext, story, front=front, script=Script().text("Yes.")) == "second"
    first, second = ext.of("event_intercept")
    assert first["agent_run_id"] != second["agent_run_id"]
    assert first["system_prompt"] == second["system_prompt"]


def test_ten_start_in_the_time_of_the_slowest(runtime: Open, tmp_path: Path, world: Any) -> None:
    many = [
        script(tmp_path, f"e{n}", "time.sleep(0.5); hello(); emit('ready')\nfor f in frames(): pass") for n in range(10)
    ]
    explicit = tuple(row for one in many for row in one.explicit)

    async def main() -> float:
        began = time.monotonic()
        async with runtime(explicit=explicit) as app:
            await asyncio.gather(*(remote(app, one).settled() for one in many))
            assert all(remote(app, one).status().state == "ready" for one in many)
            return time.monotonic() - began

    assert asyncio.run(main()) < 3.0


def test_bundles_start_nothing_and_bring_what_they_carry(runtime: Open, tmp_path: Path, world: Any) -> None:
    home = world.home / "extensions"
    for name, files, manifest in (
        ("sunset", {"theme.json": "{}"}, {}),
        ("dawn", {"themes/theme.json": "{}"}, {}),
        ("review", {"skills/r/SKILL.md": "---\nname: r\ndescription: d\n---\nx"}, {"skills": ["skills"]}),
    ):
        for path, text in files.items():
            (home / name / path).parent.mkdir(parents=True, exist_ok=True)
            (home / name / path).write_text(text)
        (home / name / "extension.json").write_text(json.dumps({"name": name, **manifest}))

    async def main() -> Any:
        async with runtime() as app:
            ctx = app.runtime.context("ext:review")
            return [
                [(plugin, path.path) for plugin, path in ctx.resources(kind) if plugin.startswith("ext:")]
                for kind in ("themes", "skills")
            ]

    themes, skills = asyncio.run(main())
    assert themes == [
        ("ext:dawn", str(home / "dawn/themes/theme.json")),
        ("ext:sunset", str(home / "sunset/theme.json")),
    ]
    assert skills == [("ext:review", str(home / "review/skills"))]
    assert not (world.home / "logs").exists()


@pytest.mark.parametrize("trusted", [True, False])
def test_the_project_comes_before_the_home_where_it_is_trusted(
    runtime: Open, tmp_path: Path, world: Any, trusted: bool
) -> None:
    body = "hello(); emit('ready')\nfor frame in frames(): pass"
    script(world.project / ".zot" / "extensions", "same", body)
    script(world.home / "extensions", "same", body)
    script(world.home / "extensions", "off", body, enabled=False)

    async def main() -> Any:
        async with runtime(trust=trusted) as app:
            plugins = app.runtime.host.plugins
            return {name: plugins[name].origin for name in plugins if name.startswith("ext:")}

    folder = world.project / ".zot" if trusted else world.home
    assert asyncio.run(main()) == {"ext:same": str(folder / "extensions" / "same")}


def test_no_ext_leaves_only_those_of_the_line(runtime: Open, tmp_path: Path, world: Any) -> None:
    body = "hello(); emit('ready')\nfor frame in frames(): pass"
    script(world.home / "extensions", "other", body)
    mine = script(tmp_path, "mine", body, enabled=False)

    async def main() -> Any:
        async with runtime(explicit=mine.explicit, no_ext=True) as app:
            await remote(app, mine).settled()
            return [name for name in app.runtime.host.plugins if name.startswith("ext:")]

    assert asyncio.run(main()) == ["ext:mine"]


def test_a_manifest_that_cannot_be_used_is_told_and_the_rest_goes_on(runtime: Open, tmp_path: Path, world: Any) -> None:
    (world.home / "extensions" / "bad").mkdir(parents=True)
    (world.home / "extensions" / "bad" / "extension.json").write_text('{"name": "bad", "exec": 3}')

    async def main() -> Any:
        async with runtime(script=Script().text("Fine.")) as app:
            await app.prompt("Hi")
            return app.front.answer, [note.text for note in app.front.notes]

    answer, notes = asyncio.run(main())
    assert answer == "Fine."
    assert len(notes) == 1 and "bad/extension.json: exec: must be text, not a number" in notes[0]


def test_a_command_waits_for_an_extension_that_is_still_starting(runtime: Open, tmp_path: Path, world: Any) -> None:
    ext = script(tmp_path, "slow", "time.sleep(0.4)\nTEXT = ''\n" + FULL)

    async def story(app: Any) -> Any:
        await app.prompt("/go")
        return [note.text for note in app.front.notes]

    assert play(runtime, ext, story) == ["went"]
    assert handshake.READY_S > 0.4


def test_the_order_of_the_line_decides_a_clash_whoever_is_faster(runtime: Open, tmp_path: Path, world: Any) -> None:
    body = "hello(); emit('register_command', name='{}'); emit('ready')\nfor frame in frames(): pass"
    slow = script(tmp_path, "slow", "time.sleep(0.4); " + body.format("Same"))
    fast = script(tmp_path, "fast", body.format("same"))

    async def main() -> Any:
        async with runtime(explicit=(*slow.explicit, *fast.explicit)) as app:
            await asyncio.gather(*(remote(app, one).settled() for one in (slow, fast)))
            row = app.runtime.commands.row("same")
            return row.owner.name, [remote(app, one).status().conflicts for one in (slow, fast)]

    owner, (of_slow, of_fast) = asyncio.run(main())
    assert owner == "ext:slow"
    assert of_slow == ()
    assert of_fast == ("its command same is not used: another has that name",)


def test_two_of_one_name_on_the_line_are_told(runtime: Open, tmp_path: Path, world: Any) -> None:
    body = "hello(); emit('ready')\nfor frame in frames(): pass"
    first, second = script(tmp_path / "a", "same", body), script(tmp_path / "b", "same", body)

    async def main() -> Any:
        async with runtime(explicit=(*first.explicit, *second.explicit)) as app:
            return app.runtime.host.plugins["ext:same"].origin, [note.text for note in app.front.notes]

    origin, notes = asyncio.run(main())
    assert origin == str(first.folder)
    assert notes == [f"{second.folder} is not used: {first.folder} has the name ext:same"]
    assert not second.seen


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors are counted in /proc")
def test_reloads_leave_no_process_and_no_descriptor(runtime: Open, tmp_path: Path, world: Any) -> None:
    ext = script(tmp_path, "lasting", f"TEXT = 'fog'\nnote(begin=os.getpid())\n{FULL}")

    async def story(app: Any) -> Any:
        await remote(app, ext).settled()
        counts = []
        for _ in range(8):
            await app.reload("extensions")
            counts.append(len(list(Path("/proc/self/fd").iterdir())))
        return counts

    counts = play(runtime, ext, story)
    assert counts[-1] <= counts[1]
    begun = [row["begin"] for row in ext.seen if "begin" in row]
    assert len(begun) == 9
    assert [pid for pid in begun if Path(f"/proc/{pid}").exists()] == []


def test_tools_of_extensions_may_be_named_on_the_line(runtime: Open, tmp_path: Path, world: Any) -> None:
    ext = script(tmp_path, "slow", "time.sleep(0.3)\nTEXT = 'fog'\n" + FULL)

    async def story(app: Any) -> Any:
        return app.runtime.toolbox.active_names()

    assert play(runtime, ext, story, tools=("weather", "read")) == ["read", "weather"]
