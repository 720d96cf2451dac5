"""`zot --json` as cli.md has it: events, their order, and the end of a run that failed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

Plugin = Callable[..., str]


def test_a_run_with_a_tool_from_the_first_line_to_done(zot: Any, project: Path) -> None:
    (project / "a.txt").write_text("data", encoding="utf-8")
    usage = {"usage": {"input": 10, "output": 5}}
    call = {"tool_call": {"id": "c1", "name": "read", "args": {"path": "a.txt"}}}
    zot.script([{"thinking": ["Hm", "m"]}, {"text": ["Let me ", "look."]}, call, usage], ["Data.", usage])
    done = zot("--json", "Read", "it")
    assert (done.code, done.err) == (0, "")
    assert done.types == [
        "session",
        "user_message",
        "turn_start",
        "assistant_start",
        "thinking_delta",
        "text_delta",
        "tool_use_start",
        "tool_use_args",
        "tool_use_end",
        "usage",
        "assistant_message",
        "tool_call",
        "tool_result",
        "turn_end",
        "turn_start",
        "assistant_start",
        "text_delta",
        "usage",
        "assistant_message",
        "turn_end",
        "done",
    ]
    by_type = {event["type"]: event for event in done.events}
    assert by_type["session"]["cwd"] == str(project) and Path(by_type["session"]["path"]).exists()
    assert by_type["tool_call"] == {"type": "tool_call", "id": "c1", "name": "read", "args": {"path": "a.txt"}}
    assert by_type["usage"]["cumulative"]["input"] == 20
    assert by_type["turn_end"] == {"type": "turn_end", "stop": "end_turn"}
    steps = [event["step"] for event in done.events if event["type"] == "turn_start"]
    assert steps == [1, 2]


def test_without_a_session_there_is_no_session_line(zot: Any) -> None:
    zot.script(["ok"])
    assert zot("--json", "--no-session", "x").types[0] == "user_message"


def test_a_failed_run_prints_its_end_and_exits_as_ever(zot: Any) -> None:
    zot.script([{"error": {"kind": "overloaded", "message": "busy", "retryable": False}}])
    done = zot("--json", "x")
    assert done.code == 75 and done.err.startswith("zot: scripted: busy")
    said = done.err.removeprefix("zot: ").rstrip()
    assert done.events[-3:] == [
        {"type": "turn_end", "stop": "error", "error": said},
        {"type": "error", "message": said, "kind": "overloaded", "retryable": False},
        {"type": "done"},
    ]


def test_a_run_without_a_model_fails_with_the_same_end(zot: Any) -> None:
    done = zot("--json", "--no-session", "--provider", "openai", "x")
    assert done.code == 1
    assert done.types[-3:] == ["turn_end", "error", "done"]
    assert done.events[-2]["kind"] == "auth" and "scripted" in done.err


def test_arguments_that_do_not_parse_have_a_result_and_no_call(zot: Any) -> None:
    zot.script([{"tool_call": {"id": "c1", "name": "read", "raw": '{"path": '}}], ["sorry"])
    done = zot("--json", "x")
    calls = [event for event in done.events if event["type"] == "tool_call"]
    results = [event for event in done.events if event["type"] == "tool_result"]
    message = next(event for event in done.events if event["type"] == "assistant_message")
    assert calls == [] and len(results) == 1 and results[0]["is_error"] is True
    assert message["content"][-1]["args"] is None


def test_a_blocked_call_has_a_result_and_no_call(zot: Any, plugin: Plugin) -> None:
    path = plugin(
        "from zot_core import Block, hookimpl\n@hookimpl\ndef tool_call(event, ctx):\n    return Block('no bash')\n"
    )
    zot.script([{"tool_call": {"id": "c1", "name": "bash", "args": {"command": "ls"}}}], ["ok"])
    done = zot("--json", "x", "--plugin", path)
    assert "tool_call" not in done.types
    result = next(event for event in done.events if event["type"] == "tool_result")
    assert result["is_error"] is True and "no bash" in json.dumps(result)


def test_people_see_what_a_redactor_left(zot: Any, plugin: Plugin) -> None:
    path = plugin(
        "from zot_core import hookimpl\n"
        "@hookimpl\n"
        "async def assistant_message(event, ctx):\n"
        "    return event.replace(text=event.text.replace('secret', '***'))\n"
    )
    zot.script([{"text": ["the sec", "ret is out"]}])
    done = zot("--json", "x", "--plugin", path)
    assert "secret" not in done.out
    deltas = [event["delta"] for event in done.events if event["type"] == "text_delta"]
    assert deltas == ["the *** is out"]


def test_notes_are_events_and_come_after_the_session_line(zot: Any, plugin: Plugin) -> None:
    path = plugin(
        "from zot_core import hookimpl\n"
        "@hookimpl\n"
        "def session_start(event, ctx):\n    ctx.ui.notify('hello')\n    print('noise')\n"
    )
    zot.script(["ok"])
    done = zot("--json", "x", "--plugin", path)
    assert done.types[:2] == ["session", "ext_notify"]
    assert done.events[1] == {"type": "ext_notify", "extension": "mine", "level": "info", "message": "hello"}


def test_a_handled_prompt_is_done(zot: Any, plugin: Plugin) -> None:
    path = plugin("from zot_core import Handled, hookimpl\n@hookimpl\ndef input(event, ctx):\n    return Handled()\n")
    done = zot("--json", "--no-session", "x", "--plugin", path)
    assert (done.code, done.types) == (0, ["done"])


def test_lines_leave_as_they_come(zot: Any) -> None:
    """A consumer reads the first delta while the model still thinks about the second."""
    zot.script([{"text": "first"}, {"hang": True}])
    process = zot.start("--json", "x")
    for line in process.stdout:
        if json.loads(line) == {"type": "text_delta", "delta": "first"}:
            break
    else:
        raise AssertionError("the delta never came")
    process.terminate()
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 143
    assert [json.loads(line)["type"] for line in out.splitlines()][-2:] == ["turn_end", "done"]


def test_wrong_usage_prints_no_event(zot: Any) -> None:
    done = zot("--json", "x", "--modle", "y")
    assert (done.code, done.out) == (2, "")


def test_list_models_as_json(zot: Any) -> None:
    rows = json.loads(zot("--list-models", "--json").out)
    assert any(row["model"] == "scripted/scripted" and row["usable"] and row["chosen"] for row in rows)


def test_a_reader_that_goes_away_ends_the_run_quietly(zot: Any) -> None:
    """UI-07: no traceback, and the model is not asked for what nobody reads."""
    zot.script([{"text": ["x"] * 2000}, {"hang": True}])
    process = zot.start("--json", "x")
    process.stdout.readline()
    process.stdout.close()
    process.wait(timeout=20)
    assert process.returncode == 1
    assert process.stderr.read() == ""


def test_a_shell_pipe_ends_without_a_trace(zot: Any) -> None:
    zot.script([{"text": ["line\n"] * 5000}])
    import sys

    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m zot_cli --provider scripted --json x | head -1; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        timeout=25,
        stdin=subprocess.DEVNULL,
    )
    assert done.stdout.count("\n") == 1 and done.stderr == ""
    assert done.returncode in (0, 1)
