"""A plugin that breaks out of its bounds: the run ends its own way, whatever it raises, returns or holds up."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HOOK = "import asyncio, pathlib, time\nfrom zot_core import hookimpl\n"
CALL = [{"tool_call": {"id": "c1", "name": "bash", "args": {"command": "echo hi"}}}]


def wait_for(path: Path) -> None:
    end = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < end, f"{path} never came"
        time.sleep(0.02)


@pytest.mark.parametrize(
    "error", ["GeneratorExit", "__import__('asyncio').CancelledError", "BaseExceptionGroup('x', [SystemExit(2)])"]
)
def test_whatever_an_import_raises_is_the_plugins(zot: Any, plugin: Callable[[str], str], error: str) -> None:
    zot.script(["ok"])
    ended = zot("-p", "x", "--plugin", plugin(f"raise {error}"))
    assert (ended.code, ended.out) == (0, "ok\n")
    assert "mine" in ended.err and "could not be loaded" in ended.err and "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("hook", "answer", "said"),
    [
        ("tool_result", "event.replace(content=5)", "content must be a tuple of Text or Image, not int"),
        ("tool_result", "event.replace(content=(5,))", "not a tuple of int"),
        ("context", "event.replace(messages=[1, 2])", "messages must be a tuple of"),
        ("turn_end", "event.replace(entries=[5])", "entries must be a tuple of DraftEntry"),
        ("turn_end", "event.replace(entries=None)", "entries must be a tuple of DraftEntry"),
        ("turn_end", "event.replace(continue_run='x')", "continue_run must be bool, not str"),
        ("input", "event.replace(text=None)", "text must be str, not NoneType"),
        ("before_agent_start", "event.replace(messages=[5])", "messages must be a tuple of CustomMessage"),
    ],
)
def test_a_rewrite_of_the_wrong_type_is_refused(
    zot: Any, plugin: Callable[[str], str], hook: str, answer: str, said: str
) -> None:
    zot.script(CALL, ["ok"])
    ended = zot("-p", "x", "--plugin", plugin(f"{HOOK}@hookimpl\ndef {hook}(event):\n    return {answer}\n"))
    assert (ended.code, ended.out) == (0, "ok\n")
    assert f"plugin mine failed in {hook}: " in ended.err and said in ended.err


@pytest.mark.parametrize(
    "details",
    ["{'n': 10**5000, 'f': float('nan')}", "{'b': Bad()}", "cycle", "{'a': cycle, 'b': [cycle, cycle]}", "{'s': {1}}"],
)
def test_details_that_json_does_not_have_break_nothing(zot: Any, plugin: Callable[[str], str], details: str) -> None:
    source = (
        f"{HOOK}class Bad:\n    def __str__(self): raise SystemExit\n    __repr__ = __str__\n"
        "cycle = {}\ncycle['one'] = cycle['two'] = cycle\n"
        f"@hookimpl\ndef tool_result(event):\n    return event.replace(details={details})\n"
    )
    zot.script(CALL, ["ok"])
    ended = zot("--json", "x", "--plugin", plugin(source))
    assert ended.code == 0 and "Traceback" not in ended.err
    assert ended.types[-1] == "done"
    assert [event["id"] for event in ended.events if event["type"] == "tool_result" and event["details"]] == ["c1"]
    zot.script(["again"])
    assert zot("-c", "-p", "y").out == "again\n"


def test_an_error_that_cannot_be_read_is_reported(zot: Any, plugin: Callable[[str], str]) -> None:
    source = "class E(Exception):\n    def __str__(self): raise ValueError\n"
    zot.script(CALL, ["ok"])
    ended = zot("-p", "x", "--plugin", plugin(f"{HOOK}{source}@hookimpl\ndef tool_call(event):\n    raise E\n"))
    assert (ended.code, ended.out) == (0, "ok\n")
    assert "plugin mine failed in tool_call" in ended.err


@pytest.mark.parametrize(
    "body",
    ["asyncio.current_task().cancel(); await asyncio.sleep(0)", "raise KeyboardInterrupt"],
)
def test_a_handler_that_ends_the_task_of_the_run(zot: Any, plugin: Callable[[str], str], body: str) -> None:
    zot.script(CALL, ["ok"])
    ended = zot("--json", "x", "--plugin", plugin(f"{HOOK}@hookimpl\nasync def tool_call(event):\n    {body}\n"))
    assert ended.code == 1 and "Traceback" not in ended.err
    assert ended.types[-2:] == ["turn_end", "done"]
    assert ended.events[-2]["stop"] == "aborted"


@pytest.mark.parametrize(
    ("body", "said"), [("raise SystemExit(3)", "SystemExit: 3"), ("raise ValueError('lost')", "ValueError: lost")]
)
def test_a_task_that_a_plugin_started_by_itself(zot: Any, plugin: Callable[[str], str], body: str, said: str) -> None:
    source = f"{HOOK}async def own():\n    {body}\n@hookimpl\nasync def session_start(event):\n"
    zot.script(CALL, ["ok"])
    ended = zot("--json", "x", "--plugin", plugin(f"{source}    asyncio.create_task(own())\n"))
    assert ended.code in (0, 1) and ended.types[-1] == "done"
    assert said in ended.err and "Traceback" not in ended.err


HELD_UP = {
    "import": "pathlib.Path('began').touch()\ntime.sleep(300)\n",
    "spin": "pathlib.Path('began').touch()\nwhile True: pass\n",
    "handler": "@hookimpl\ndef turn_start(event):\n    pathlib.Path('began').touch()\n    time.sleep(300)\n",
    "shutdown": "@hookimpl\ndef session_shutdown(event):\n    pathlib.Path('began').touch()\n    time.sleep(300)\n",
}
STUBBORN = (
    "async def stay():\n    pathlib.Path('began').touch()\n    while True:\n        try: await asyncio.sleep(300)\n"
    "        except asyncio.CancelledError: pass\n"
)


@pytest.mark.parametrize("where", HELD_UP)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_code_that_holds_up_the_loop_does_not_hold_up_the_end(
    zot: Any, plugin: Callable[[str], str], project: Path, where: str, number: int, code: int
) -> None:
    zot.script(["ok"])
    process = zot.start("--json", "x", "--plugin", plugin(HOOK + HELD_UP[where]))
    wait_for(project / "began")
    process.send_signal(number)
    out, err = process.communicate(timeout=15)
    assert process.returncode == code and "Traceback" not in err
    assert out.splitlines()[-1] == '{"type":"done"}'


def test_a_handler_that_swallows_its_cancellation(zot: Any, plugin: Callable[[str], str], project: Path) -> None:
    zot.script(["ok"])
    source = f"{HOOK}{STUBBORN}@hookimpl\nasync def turn_start(event):\n    await stay()\n"
    process = zot.start("--json", "x", "--plugin", plugin(source))
    wait_for(project / "began")
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 143 and "Traceback" not in err
    assert out.splitlines()[-1] == '{"type":"done"}'


@pytest.mark.parametrize(
    "start", ["asyncio.create_task(stay())", "asyncio.get_running_loop().run_in_executor(None, time.sleep, 300)"]
)
def test_what_a_plugin_left_behind_is_not_waited_for(zot: Any, plugin: Callable[[str], str], start: str) -> None:
    zot.script(["ok"])
    ended = zot("-p", "x", "--plugin", plugin(f"{HOOK}{STUBBORN}@hookimpl\nasync def agent_end(event):\n    {start}\n"))
    assert (ended.code, ended.out) == (0, "ok\n") and "Traceback" not in ended.err
