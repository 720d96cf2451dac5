"""Misbehaving extensions among others, and by other doors: many at once, clashing names, signals, RPC."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from support.chaos import (
    ANSWER,
    FINE,
    GREETED,
    NO_COMPACTION,
    SHORT,
    SLEEPER,
    TOOL,
    exts,
    logged,
    needs_proc,
    on_ask,
    on_call,
    one_call,
)
from support.extension_scripts import script
from support.marked import MARK, alive, children_of, left_over, state_of

from zot_core.testing import Script

pytestmark = needs_proc


def test_ten_broken_ones_at_once(zot: Any, tmp_path: Path, zot_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARK, str(tmp_path))
    (zot_home / "settings.json").write_text(json.dumps(SHORT))
    bodies = {
        "exits": "sys.exit(3)",
        "killed": "os.kill(os.getpid(), signal.SIGKILL)",
        "misnamed": "hello(name='x'); time.sleep(600)",
        "mute": "time.sleep(600)",
        "half": "hello(); time.sleep(600)",
        "noisy": "while True: raw(b'noise' * 100 + b'\\n')",
        "loud": "hello(); emit('ready')\nwhile True: os.write(2, b'e' * 10000)",
        "big": "hello(); emit('ready'); raw(b'x' * (5 << 20)); time.sleep(600)",
        "wild": on_call("pass").replace("emit('ready')", "emit('subscribe', events=['tool_call']); emit('ready')"),
        "stubborn": f"signal.signal(15, signal.SIG_IGN); subprocess.Popen({SLEEPER}); hello(); emit('ready')\n"
        "while True: time.sleep(600)",
    }
    many = [script(tmp_path, name, body) for name, body in bodies.items()]
    zot.script(*one_call().replies)
    began = time.monotonic()
    done = zot("-p", *exts(*many), "Go")
    assert (done.code, done.out) == (0, "Done.\n"), done.err
    assert time.monotonic() - began < 12.0
    assert left_over(str(tmp_path)) == []
    for name in ("exits", "killed", "misnamed", "mute", "half", "noisy", "big"):
        assert f"{name}: " in done.err and f"ext-{name}.log" in done.err.replace("\n", ""), (name, done.err)
    for name in bodies:
        assert logged(name, zot_home)
    assert "Traceback" not in done.err


def test_broken_ones_leave_a_good_one_alone(zot: Any, tmp_path: Path, zot_home: Path) -> None:
    good = script(tmp_path, "good", FINE)
    exits = script(tmp_path, "exits", "sys.exit(3)")
    dies = script(tmp_path, "dies", on_ask("tool_call", "os._exit(1)").replace(TOOL, "0"))
    zot.script(*one_call().replies)
    done = zot("--json", *exts(exits, dies, good), "Go")
    assert done.code == 0
    results = [event for event in done.events if event["type"] == "tool_result"]
    assert [(result["is_error"], result["content"][0]["text"]) for result in results] == [(False, "fog")]
    assert good.of("shutdown")


def test_of_two_with_one_name_the_first_is_started(zot: Any, tmp_path: Path, zot_home: Path) -> None:
    first, second = script(tmp_path / "a", "twin", FINE), script(tmp_path / "b", "twin", FINE)
    zot.script(*one_call().replies)
    done = zot("-p", *exts(first, second), "Go")
    assert (done.code, done.out) == (0, "Done.\n")
    assert first.of("tool_call") and not second.seen
    assert "twin" in done.err and str(second.folder) in done.err.replace("\n", "")


@pytest.mark.parametrize("late", ["first", "second"])
def test_who_loses_a_name_reads_it_in_its_own_log(zot: Any, tmp_path: Path, zot_home: Path, late: str) -> None:
    waits = f"while not os.path.exists({str(tmp_path / 'there')!r}): time.sleep(0.005)\n"
    says = f"open({str(tmp_path / 'there')!r}, 'w').close()\n"
    body = (
        "hello(); emit('register_command', name='NAME'); "
        f"{TOOL}; emit('register_tool', name='read', schema={{}}); emit('ready')\n"
    )
    loop = f"for frame in frames():\n    if frame['type'] == 'tool_call': {ANSWER}\n"
    made = {
        name: script(
            tmp_path,
            name,
            (waits + body if name == late else body + says).replace("NAME", "go" if name == "first" else "GO") + loop,
        )
        for name in ("first", "second")
    }
    zot.script(*one_call().replies)
    done = zot("-p", *exts(made["first"], made["second"]), "Go")
    assert (done.code, done.out) == (0, "Done.\n"), done.err
    assert made["first"].of("tool_call") and not made["second"].of("tool_call")
    won, lost = logged("first", zot_home), logged("second", zot_home)
    for words in ("tool weather", "command GO"):
        assert words in lost, (words, lost)
    for words in ("tool weather", "command go"):
        assert f"its {words} is not used" not in won and f"its {words} has the name" not in won, won
    for log in (won, lost):
        assert "its tool read has the name of the built-in tool; it is not used" in log


def test_events_that_nobody_reads_end_at_the_limit(zot: Any, tmp_path: Path, zot_home: Path) -> None:
    deaf = script(tmp_path, "deaf", "hello(); emit('subscribe', events=['tool_call']); emit('ready')\ntime.sleep(600)")
    (zot_home / "settings.json").write_text(json.dumps(NO_COMPACTION))
    replies = Script()
    for number in range(6):
        replies = replies.tool_call("write", path=f"{number}.txt", content="z" * 1_000_000).then()
    zot.script(*replies.text("Done.").replies)
    began = time.monotonic()
    done = zot("-p", *exts(deaf), "Go")
    assert (done.code, done.out) == (0, "Done.\n")
    assert time.monotonic() - began < 8.0
    assert "deaf: is told and asked nothing more, until extensions are reloaded: it does not read" in done.err
    assert "it does not read" in logged("deaf", zot_home)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_nothing_outlives_zot(zot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setenv(MARK, str(tmp_path))
    body = f"signal.signal(15, signal.SIG_IGN); subprocess.Popen({SLEEPER}); {GREETED}" + (
        f"subprocess.Popen({SLEEPER}, start_new_session=True); note(up=True)\nwhile True: time.sleep(600)"
    )
    many = [script(tmp_path, name, body) for name in ("one", "two", "three")]
    zot.script([{"hang": True}])
    process = zot.start("-p", *exts(*many), "Go")
    deadline = time.monotonic() + 10.0
    while not all(any("up" in row for row in one.seen) for one in many):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert len(alive(str(tmp_path))) >= 10  # zot, and three with two children each
    process.send_signal(number)
    process.wait(15)
    assert left_over(str(tmp_path), 8.0) == []


def test_an_abort_frees_from_a_call_that_hangs(rpc: Any, zot: Any, tmp_path: Path, zot_home: Path) -> None:
    stuck = script(tmp_path, "stuck", on_call("emit('notify', message='called')"))
    zot.script(*one_call().replies)
    client = rpc(*exts(stuck))
    client.ok("prompt", message="Go")
    client.wait("ext_notify", message="called")
    began = time.monotonic()
    client.ok("abort")
    client.wait("turn_end", stop="aborted")
    client.wait("done")
    assert time.monotonic() - began < 2.0
    assert client.of("tool_result")[0]["is_error"]
    assert client.close() == 0


def test_one_that_dies_between_prompts_is_told_once_and_comes_back_by_a_reload(
    rpc: Any, zot: Any, tmp_path: Path, zot_home: Path
) -> None:
    mortal = script(
        tmp_path,
        "mortal",
        "hello(); " + TOOL + "; emit('register_command', name='die'); emit('ready')\nfor frame in frames():\n"
        f"    if frame['type'] == 'tool_call': {ANSWER}\n"
        "    else:\n"
        "        emit('command_response', id=frame['id'], action='noop'); os._exit(5)\n",
    )
    zot.script(*one_call().replies, *one_call().replies)
    client = rpc(*exts(mortal))
    client.ok("command", name="die")
    client.wait(lambda line: line["type"] == "ext_notify" and "it exited with status 5" in line["message"])
    client.ok("prompt", message="Go")
    client.wait("done")
    assert "The extension mortal is gone: it exited with status 5" in client.of("tool_result")[0]["content"][0]["text"]
    report = client.ok("reload", what="extensions")
    assert report["failed"] == []
    client.ok("prompt", message="Go")
    client.wait("done")
    assert client.of("tool_result")[1]["content"][0]["text"] == "fog"
    assert client.close() == 0
    assert sum("ended unexpectedly" in line["message"] for line in client.of("ext_notify")) == 1


@pytest.mark.time_limit(60)
def test_twenty_reloads_leave_one_process_of_each(
    rpc: Any, zot: Any, tmp_path: Path, zot_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MARK, str(tmp_path))
    parent = script(tmp_path, "parent", f"subprocess.Popen(['sleep', '600'], start_new_session=True)\n{FINE}")
    zot.script(*one_call().replies)
    client = rpc(*exts(parent))
    for _ in range(20):
        assert client.ok("reload", what="extensions")["failed"] == []
    deadline = time.monotonic() + 5.0
    while len(alive(str(tmp_path))) > 3:  # zot, the extension and what it started
        assert time.monotonic() < deadline, alive(str(tmp_path))
        time.sleep(0.01)
    assert [pid for pid in children_of(client.process.pid) if state_of(pid) == "Z"] == []
    client.ok("prompt", message="Go")
    client.wait("done")
    assert client.of("tool_result")[0]["content"][0]["text"] == "fog"
    assert client.close() == 0
    assert left_over(str(tmp_path)) == []
