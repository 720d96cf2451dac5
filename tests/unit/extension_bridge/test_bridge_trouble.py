"""Extensions that misbehave, as real processes: what is pending ends, the turn goes on, log and person know why."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.extension_scripts import Extension, script

from zot_core.testing import Script
from zot_core.wire import frames
from zot_plugins.extension_bridge import ending, handshake, requests

Open = Callable[..., Any]
WEATHER = 'emit("register_tool", name="weather", description="w", schema={"type": "object"})'


def remote(app: Any, extension: Extension) -> Any:
    return app.runtime.host.plugins[extension.plugin].plugin


def log(extension: Extension, world: Any) -> str:
    path: Path = world.home / "logs" / f"ext-{extension.name}.log"
    return path.read_text(encoding="utf-8", errors="replace")


def told(app: Any, level: str = "error") -> list[str]:
    return [note.text for note in app.front.notes if note.level == level]


def gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"  # ended; its new parent has not looked yet


def play(runtime: Open, extension: Extension, story: Any, **how: Any) -> Any:
    """Runs `story(app)` in an App with the extension; gives what it gives."""

    async def main() -> Any:
        async with runtime(explicit=extension.explicit, **how) as app:
            return await story(app)

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("sys.exit(3)", "it exited with status 3 before its hello"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "it was ended by SIGKILL before its hello"),
        ("hello(name='other'); time.sleep(60)", "it says hello as 'other', and its manifest names it"),
        ("hello(); sys.exit(0)", "it exited with status 0 before it was ready"),
        ("os.close(1); time.sleep(60)", "it has closed its output before its hello"),
    ],
)
def test_one_that_does_not_start_is_told_with_its_log(
    runtime: Open, tmp_path: Path, world: Any, body: str, words: str
) -> None:
    ext = script(tmp_path, "broken", body)

    async def story(app: Any) -> Any:
        await remote(app, ext).settled()
        await app.prompt("Hi")
        return remote(app, ext).status(), told(app), app.front.answer

    status, notes, answer = play(runtime, ext, story, script=Script().text("Hello."))
    assert answer == "Hello."
    assert status.state == "failed"
    assert words in status.error
    assert notes == [f"could not be loaded: {status.error} (log: {status.log})"]
    assert words in log(ext, world)
    assert gone(status.pid)


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ({"exec": "./nothing"}, "there is no file"),
        ({"exec": "./extension.json"}, "chmod +x"),
        ({"exec": "./bare"}, "a first line"),
        ({"exec": "./lost"}, "the program that its first line names is not there"),
    ],
)
def test_a_program_that_cannot_be_started_says_how_to_mend_it(
    runtime: Open, tmp_path: Path, world: Any, manifest: Any, words: str
) -> None:
    ext = script(tmp_path, "broken", "", **manifest)
    for name, text in (("bare", "print(1)\n"), ("lost", "#!/no/such/program\n")):
        (ext.folder / name).write_text(text)
        (ext.folder / name).chmod(0o755)

    async def story(app: Any) -> Any:
        return told(app)

    notes = play(runtime, ext, story)
    assert len(notes) == 1
    assert words in notes[0] and f"{world.home}/logs/ext-broken.log" in notes[0]


def test_silence_before_hello_is_given_up(
    runtime: Open, tmp_path: Path, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshake, "HELLO_S", 0.5)
    ext = script(tmp_path, "mute", "emit('hello', name=NAME, version=1); time.sleep(60)")

    async def story(app: Any) -> Any:
        await remote(app, ext).settled()
        return remote(app, ext).status(), told(app)

    status, notes = play(runtime, ext, story)
    assert status.state == "failed"
    assert "did not say hello within" in notes[0]
    assert "malformed `hello`: version: Input should be a valid string" in notes[0]
    assert gone(status.pid)


def test_the_first_request_waits_no_longer_than_its_time(
    runtime: Open, tmp_path: Path, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshake, "READY_S", 0.2)
    late = f"time.sleep(1.5); hello(); {WEATHER}; emit('ready')\nfor frame in frames(): pass"
    ext = script(tmp_path, "late", late)

    async def story(app: Any) -> Any:
        await app.prompt("One")
        first = app.runtime.toolbox.active_names()
        await remote(app, ext).settled()
        await app.prompt("Two")
        return first, app.runtime.toolbox.active_names()

    first, second = play(runtime, ext, story, script=Script().text("1").then().text("2"))
    assert "weather" not in first
    assert "weather" in second


@pytest.mark.parametrize(
    ("body", "seconds"),
    [("hello(); " + WEATHER, handshake.SILENCE_S), ("hello()", handshake.READY_S)],
)
def test_without_ready_silence_counts_as_ready(
    runtime: Open, tmp_path: Path, world: Any, body: str, seconds: float
) -> None:
    ext = script(tmp_path, "old", f"{body}\nfor frame in frames(): pass")

    async def story(app: Any) -> Any:
        await remote(app, ext).settled()
        return remote(app, ext).status()

    status = play(runtime, ext, story)
    assert status.state == "auto-ready"
    assert seconds <= status.ready_s - status.hello_s < seconds + 1.0


NOISE = r"""
raw(b"banner\n\n null\n[]\n42\n\xff\xfe\n")
emit("notify", message="too early")
emit("hello", name=NAME); read()
raw(b'{"type":"register_tool","na'); time.sleep(0.05); raw(b'me":"weather","schema":{"type":"object"}}\r\n')
raw(b'{"type":"dance"}\n{"type":"notify","message":7}\n{"no":1}\n' + b"[" * 100000 + b"\n")
for number in range(500): raw(b"debug %d\n" % number)
emit("ready")
for frame in frames():
    print("more noise")
    sys.stdout.flush()
    emit("tool_result", id="nobody's", content=[])
    emit("tool_result", id=frame["id"], content=[{"type": "text", "text": "fog"}])
"""


def test_noise_on_stdout_is_skipped_and_logged_once_a_kind(runtime: Open, tmp_path: Path, world: Any) -> None:
    ext = script(tmp_path, "noisy", NOISE)

    async def story(app: Any) -> Any:
        await app.prompt("Go")
        return app.front.tool_results()[0], list(app.front.notes)

    result, notes = play(runtime, ext, story, script=Script().tool_call("weather").then().text("Fog."))
    assert result.content[0].text == "fog"
    assert notes == []
    said = log(ext, world)
    assert said.count("is not JSON") == 1
    for words in (
        "'banner'",
        "is not UTF-8",
        "but no object",
        "before `hello`",
        "'dance'",
        "message: Input should",
        "has no `type`",
        "which nobody waits for",
    ):
        assert words in said, words
    assert len(said.splitlines()) < 20


def test_a_flood_of_stderr_neither_blocks_nor_fills_the_disk(runtime: Open, tmp_path: Path, world: Any) -> None:
    flood = "sys.stderr.buffer.write(b'x' * 3_000_000); sys.stderr.flush()"
    answer = "emit('tool_result', id=frame['id'], content=[])"
    body = f"{flood}; hello(); {WEATHER}; emit('ready')\nfor frame in frames(): {flood}; {answer}"
    ext = script(tmp_path, "loud", body)

    async def story(app: Any) -> Any:
        await app.prompt("Go")
        return app.front.tool_results()[0]

    assert not play(runtime, ext, story, script=Script().tool_call("weather").then().text("Ok.")).is_error
    sizes = [path.stat().st_size for path in (world.home / "logs").iterdir()]
    assert len(sizes) == 2
    assert max(sizes) <= 1 << 20


def test_one_that_dies_fails_what_is_pending_at_once_and_is_told_once(
    runtime: Open, tmp_path: Path, world: Any
) -> None:
    body = (
        f"hello(); {WEATHER}; emit('register_command', name='go')\n"
        "emit('subscribe', intercept=['assistant_message', 'tool_call', 'before_agent_start'])\nemit('ready')\n"
        "for frame in frames():\n"
        "    if frame['type'] == 'event_intercept': emit('event_intercept_response', id=frame['id'])\n"
        "    if frame['type'] == 'tool_call': os.kill(os.getpid(), signal.SIGTERM)"
    )
    ext = script(tmp_path, "mortal", body)

    async def story(app: Any) -> Any:
        began = time.monotonic()
        await app.prompt("Go")
        await app.prompt("Again")
        with pytest.raises(Exception, match="the extension mortal is gone: it was ended by SIGTERM"):
            await app.prompt("/go")
        assert not app.runtime.host.pipeline.intercepts("assistant_message")
        return (
            time.monotonic() - began,
            app.front.tool_results(),
            told(app),
            remote(app, ext).status(),
            app.front.answer,
        )

    replies = Script().tool_call("weather").then().text("1").then().tool_call("weather").then().text("2")
    seconds, results, notes, status, answer = play(runtime, ext, story, script=replies)
    assert seconds < 3.0
    assert answer == "2"
    for result in results:
        assert result.is_error
        assert f"The extension mortal is gone: it was ended by SIGTERM (log: {status.log})" in result.content[0].text
    assert len(notes) == 1
    assert "ended unexpectedly: it was ended by SIGTERM" in notes[0]
    assert status.state == "ended"


ASKED = """
hello()
emit("subscribe", intercept=[EVENT])
emit("ready")
for frame in frames():
    if frame["type"] == "event_intercept":
        DO(frame)
"""


@pytest.mark.parametrize("event", ["before_agent_start", "turn_start", "tool_call", "assistant_message"])
@pytest.mark.parametrize(
    ("act", "words"),
    [
        ("time.sleep(1)", "did not answer within 0.2 s"),
        ("emit('event_intercept_response', id=frame['id'], block='yes')", "malformed `event_intercept_response`"),
        ("emit('tool_result', id=frame['id'], content=[])", "answered with a `tool_result`"),
        ("sys.exit(1)", "is gone: it exited with status 1"),
    ],
)
def test_an_event_without_an_answer_goes_on_unchanged(
    runtime: Open,
    tmp_path: Path,
    world: Any,
    monkeypatch: pytest.MonkeyPatch,
    event: str,
    act: str,
    words: str,
) -> None:
    monkeypatch.setattr("zot_plugins.extension_bridge.hooks.INTERCEPT_S", 0.2)
    ext = script(tmp_path, "guard", f"EVENT = {event!r}\ndef DO(frame): {act}\n{ASKED}")

    async def story(app: Any) -> Any:
        await app.prompt("Go")
        return app.front.tool_results()[0], app.front.answer, app.front.notes

    replies = Script().tool_call("ls", path=".").then().text("Done.")
    result, answer, notes = play(runtime, ext, story, script=replies)
    assert not result.is_error
    assert answer == "Done."
    assert words in log(ext, world)
    assert [note.level for note in notes] in (["warning"], ["error"])


@pytest.mark.parametrize("event", ["before_agent_start", "assistant_message"])
def test_a_request_that_nobody_reads_closes_the_pipe(
    runtime: Open, tmp_path: Path, world: Any, monkeypatch: pytest.MonkeyPatch, event: str
) -> None:
    monkeypatch.setattr("zot_plugins.extension_bridge.hooks.INTERCEPT_S", 0.2)
    body = f"hello(); emit('subscribe', intercept=[{event!r}]); emit('ready')\ntime.sleep(60)"
    ext = script(tmp_path, "deaf", body)

    async def story(app: Any) -> Any:
        began = time.monotonic()
        await app.prompt("Go")
        seconds = time.monotonic() - began
        return seconds, app.front.answer, app.front.notes, remote(app, ext).lost

    how = {"script": Script().text("d" * 300_000), "system_prompt": "y" * 300_000}
    seconds, answer, notes, lost = play(runtime, ext, story, **how)
    assert answer == "d" * 300_000
    assert seconds < 5.0
    assert "has not read for 0.2 s" in lost
    assert any("is told and asked nothing more" in note.text for note in notes)
    assert "has not read" in log(ext, world)


@pytest.mark.parametrize(("event", "taken"), [("before_agent_start", False), ("assistant_message", True)])
def test_the_time_includes_the_write_for_the_prompt_alone(
    runtime: Open, tmp_path: Path, world: Any, monkeypatch: pytest.MonkeyPatch, event: str, taken: bool
) -> None:
    monkeypatch.setattr("zot_plugins.extension_bridge.hooks.INTERCEPT_S", 1.0)
    body = (
        f"import select\nhello(); emit('subscribe', intercept=[{event!r}]); emit('ready')\n"
        "select.select([0], [], []); time.sleep(0.7)\n"
        "for frame in frames():\n"
        "    time.sleep(0.5)\n"
        "    emit('event_intercept_response', id=frame['id'], replace_text='new', system_prompt='new')"
    )
    ext = script(tmp_path, "slow", body)

    async def story(app: Any) -> Any:
        await app.prompt("Go")
        return app.front.answer, app.runtime.current_system_prompt()

    how = {"script": Script().text("d" * 300_000), "system_prompt": "y" * 300_000}
    answer, prompt = play(runtime, ext, story, **how)
    assert (answer == "new") is taken
    assert prompt != "new"
    assert ("did not answer within 1 s" in log(ext, world)) is not taken


def test_a_flood_of_notes_is_cut_and_the_turn_goes_on(runtime: Open, tmp_path: Path, world: Any) -> None:
    body = 'hello(); emit(\'ready\')\nwhile True: raw(b\'{"type":"notify","message":"x"}\\n\' * 1000)'
    ext = script(tmp_path, "flood", body)

    async def story(app: Any) -> Any:
        while not told(app, "warning"):
            await asyncio.sleep(0.01)
        await app.prompt("Go")
        return app.front.answer, told(app, "warning"), len(app.front.notes)

    answer, warnings, count = play(runtime, ext, story, script=Script().text("Done."))
    assert answer == "Done."
    assert len(warnings) == 1 and "those beyond are dropped" in warnings[0]
    assert 1000 <= count < 3000


def test_events_that_nobody_reads_disconnect_at_the_limit(
    runtime: Open, tmp_path: Path, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zot_plugins.extension_bridge.process.MAX_LINE", 1 << 16)
    body = "hello(); emit('subscribe', events=['tool_call']); emit('ready')\ntime.sleep(60)"
    ext = script(tmp_path, "deaf", body)

    async def story(app: Any) -> Any:
        await app.prompt("Go")
        return app.front.answer, told(app), remote(app, ext).lost

    replies = Script()
    for _ in range(6):
        replies = replies.tool_call("write", path="x.txt", content="z" * 40_000).then()
    answer, notes, lost = play(runtime, ext, story, script=replies.text("Done."))
    assert answer == "Done."
    assert "it does not read" in lost
    assert len(notes) == 1 and "is told and asked nothing more" in notes[0]


@pytest.mark.parametrize("ending_with", ["\\n", ""])
def test_a_frame_over_four_mebibytes_cuts_the_extension_off(
    runtime: Open, tmp_path: Path, world: Any, ending_with: str
) -> None:
    body = f"hello(); {WEATHER}; emit('ready')\nfor frame in frames(): raw(b'x' * (4 << 20) + b'{ending_with}')"
    ext = script(tmp_path, "big", body)

    async def story(app: Any) -> Any:
        await app.prompt("Go")
        return app.front.tool_results()[0], app.front.answer, told(app), remote(app, ext).status()

    replies = Script().tool_call("weather").then().text("Done.")
    result, answer, notes, status = play(runtime, ext, story, script=replies)
    assert answer == "Done."
    assert "it sent a frame over 4 MiB" in result.content[0].text
    assert len(notes) == 1 and "it sent a frame over 4 MiB" in notes[0]
    assert gone(status.pid)


def test_a_frame_of_just_four_mebibytes_is_taken(runtime: Open, tmp_path: Path, world: Any) -> None:
    body = (
        f"hello(); {WEATHER}; emit('ready')\n"
        "for frame in frames():\n"
        '    head = \'{"type":"tool_result","id":"\' + frame[\'id\'] + \'","content":[{"type":"text","text":"\'\n'
        "    tail = '\"}]}\\n'\n"
        "    raw((head + 'x' * ((4 << 20) - len(head) - len(tail)) + tail).encode())"
    )
    ext = script(tmp_path, "big", body)

    async def story(app: Any) -> Any:
        await app.prompt("Go")
        return app.front.tool_results()[0]

    result = play(runtime, ext, story, script=Script().tool_call("weather").then().text("Done."))
    assert not result.is_error
    saved = result.content[-1].text.partition("All of it: ")[2].removesuffix("]")
    assert Path(saved).stat().st_size > 4_000_000


def test_a_tool_has_its_time(runtime: Open, tmp_path: Path, world: Any) -> None:
    (world.home / "settings.json").write_text('{"plugins": {"extension_bridge": {"tool_timeout_s": 0.2}}}')
    ext = script(tmp_path, "slow", f"hello(); {WEATHER}; emit('ready')\nfor frame in frames(): pass")

    async def story(app: Any) -> Any:
        await app.prompt("Go")
        return app.front.tool_results()[0]

    result = play(runtime, ext, story, script=Script().tool_call("weather").then().text("Done."))
    assert result.is_error
    assert "The extension slow did not answer within 0.2 s" in result.content[0].text


def test_the_limits_are_the_protocols() -> None:
    assert (handshake.HELLO_S, handshake.READY_S, handshake.SILENCE_S) == (10.0, 3.0, 0.3)
    assert (requests.INTERCEPT_S, requests.COMMAND_S, requests.TOOL_S) == (5.0, 30.0, 60.0)
    assert ending.SHUTDOWN_S == 2.0


def test_one_that_does_not_end_is_killed_with_all_that_it_started(
    runtime: Open, tmp_path: Path, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "SHUTDOWN_S", 0.2)
    monkeypatch.setattr(ending, "ANNOUNCE_S", 0.1)
    monkeypatch.setattr("zot_plugins.extension_bridge.process.TERM_GRACE_S", 0.2)
    body = (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-S', '-c', "
        "'import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)'], start_new_session=True)\n"
        "note(child=child.pid)\nhello(); emit('ready')\nwhile True: time.sleep(1)"
    )
    ext = script(tmp_path, "holdout", body)

    async def story(app: Any) -> Any:
        await remote(app, ext).settled()
        return remote(app, ext).status().pid

    pid = play(runtime, ext, story)
    assert gone(pid)
    assert gone(next(row["child"] for row in ext.seen if "child" in row))
    assert "no `shutdown_ack` within" in log(ext, world)


def test_credentials_and_the_reload_mark_stay_out_of_its_environment(
    runtime: Open, tmp_path: Path, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("ZOT_RELOAD", "1")
    monkeypatch.setenv("PLAIN", "yes")
    body = "note(env=dict(os.environ), cwd=os.getcwd()); hello(); emit('ready')\nfor frame in frames(): pass"
    ext = script(tmp_path, "nosy", body)

    async def story(app: Any) -> None:
        await remote(app, ext).settled()

    play(runtime, ext, story)
    seen = ext.seen[0]
    assert "OPENAI_API_KEY" not in seen["env"]
    assert "ZOT_RELOAD" not in seen["env"]
    assert seen["env"]["PLAIN"] == "yes"
    assert seen["cwd"] == str(ext.folder)


def test_what_a_dead_extension_left_behind_is_ended_too(runtime: Open, tmp_path: Path, world: Any) -> None:
    body = (
        "hello(); emit('register_command', name='go'); emit('ready')\n"
        "for frame in frames():\n"
        "    note(child=subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(60)']).pid)\n"
        "    os._exit(0)"
    )
    ext = script(tmp_path, "parent", body)

    async def story(app: Any) -> Any:
        began = time.monotonic()
        with pytest.raises(Exception, match="is gone: it exited with status 0"):
            await app.prompt("/go")
        return time.monotonic() - began, told(app)

    seconds, notes = play(runtime, ext, story)
    assert seconds < 2.0
    assert len(notes) == 1
    assert gone(next(row["child"] for row in ext.seen if "child" in row))


def test_one_that_closes_its_input_is_told_once(runtime: Open, tmp_path: Path, world: Any) -> None:
    body = f"hello(); {WEATHER}; emit('ready')\nread(); os.close(0); emit('notify', message='closed')\ntime.sleep(60)"
    ext = script(tmp_path, "closer", body)

    async def story(app: Any) -> Any:
        await remote(app, ext).settled()
        remote(app, ext).send(frames.Shutdown())
        while not remote(app, ext).child.channel.closed_because:
            await asyncio.sleep(0.01)
        await app.prompt("Go")
        while not told(app):
            await asyncio.sleep(0.01)
        return app.front.tool_results()[0], told(app)

    replies = Script().tool_call("weather").then().text("Done.")
    result, notes = play(runtime, ext, story, script=replies)
    assert "cannot be reached: it has closed its input" in result.content[0].text
    assert len(notes) == 1 and "is told and asked nothing more" in notes[0]


def test_an_aborted_call_leaves_the_extension_at_work(runtime: Open, tmp_path: Path, world: Any) -> None:
    body = (
        f"hello(); {WEATHER}; emit('ready')\n"
        "for number, frame in enumerate(frames()):\n"
        "    if number == 0: emit('notify', message='called'); late = frame['id']\n"
        "    else:\n"
        "        emit('tool_result', id=late, content=[{'type': 'text', 'text': 'old'}])\n"
        "        emit('tool_result', id=frame['id'], content=[{'type': 'text', 'text': 'new'}])"
    )
    ext = script(tmp_path, "slow", body)

    async def story(app: Any) -> Any:
        run = asyncio.create_task(app.prompt("Go"))
        while not any(note.text == "called" for note in app.front.notes):
            await asyncio.sleep(0.01)
        app.abort()
        await run
        await app.prompt("Again")
        return [result.content[0].text for result in app.front.tool_results()]

    replies = Script().tool_call("weather").then().tool_call("weather").then().text("Done.")
    first, second = play(runtime, ext, story, script=replies)
    assert "new" not in first and "old" not in first
    assert second == "new"
    assert "which nobody waits for" in log(ext, world)


@pytest.mark.parametrize("event", ["before_agent_start", "turn_start", "tool_call", "assistant_message"])
def test_an_abort_does_not_wait_for_an_answer(runtime: Open, tmp_path: Path, world: Any, event: str) -> None:
    body = (
        f"hello(); emit('subscribe', intercept=[{event!r}]); emit('ready')\n"
        "for frame in frames(): emit('notify', message='asked')"
    )
    ext = script(tmp_path, "silent", body)

    async def story(app: Any) -> Any:
        run = asyncio.create_task(app.prompt("Go"))
        while not any(note.text == "asked" for note in app.front.notes):
            await asyncio.sleep(0.01)
        began = time.monotonic()
        app.abort()
        await run
        return time.monotonic() - began, app.front.answer

    replies = Script().text("First.").tool_call("ls", path=".").then().text("Done.")
    seconds, answer = play(runtime, ext, story, script=replies)
    assert seconds < 2.0
    assert answer != "Done."
