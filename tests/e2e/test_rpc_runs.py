"""`zot rpc`: prompts, the order in which requests act, steering, aborting, as cli.md has it."""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.rpc_client import RpcClient

Start = Callable[..., RpcClient]
Plugin = Callable[..., str]
WAITS = {"tool_call": {"id": "c1", "name": "bash", "args": {"command": "cat gate"}}}
"""A call that goes on until somebody writes into the fifo `gate`."""


@pytest.fixture
def gate(project: Path) -> Callable[[str], None]:
    """Opens the gate that WAITS waits for, once."""
    os.mkfifo(project / "gate")
    return lambda text="open": (project / "gate").write_text(text)


def said(client: RpcClient) -> list[str]:
    """The texts of all assistant messages."""
    messages = client.of("assistant_message")
    return ["".join(block.get("text", "") for block in message["content"]) for message in messages]


def asked(client: RpcClient) -> list[str]:
    """The texts of all user messages."""
    return [message["content"][0]["text"] for message in client.of("user_message")]


@pytest.mark.parametrize("spelling", ["rpc", "--rpc", "--mode=rpc"])
def test_a_prompt_from_its_response_to_done(zot: Any, rpc: Start, spelling: str) -> None:
    zot.script(["ok"])
    client = rpc(word=spelling)
    assert client.ok("hello") == {
        "protocol_version": 1,
        "version": client.ok("hello")["version"],
        "provider": "scripted",
        "model": "scripted",
    }
    before = len(client.seen)
    assert client.ok("prompt", message="hi") == {"started": True}
    client.wait("done")
    assert client.types(before) == [
        "response",
        "user_message",
        "turn_start",
        "assistant_start",
        "text_delta",
        "assistant_message",
        "turn_end",
        "done",
    ]
    assert client.close() == 0


def test_ids_are_echoed_as_they_were(rpc: Start) -> None:
    client = rpc()
    for id in ("a", "", 7, 1.5, -3, 10**30, "1" * 1000):
        client.write(json.dumps({"type": "ping", "id": id}).encode() + b"\n")
        line = client.next()
        assert line == {"type": "response", "id": id, "command": "ping", "success": True, "data": {"pong": True}}
    client.write(b'{"type":"ping"}\n')
    assert "id" not in client.next()


def test_queued_prompts_run_in_order_and_do_not_hold_up_what_follows(zot: Any, rpc: Start, gate: Any) -> None:
    zot.script([WAITS], ["first"], ["second"], ["third"])
    client = rpc()
    one = client.send("prompt", message="one")
    client.wait("tool_call")
    two, three = client.send("prompt", message="two"), client.send("prompt", message="three")
    assert client.ok("set_reasoning", level="off") == {"reasoning": "off"}
    assert client.ok("get_state")["queue"]["prompts"] == ["two", "three"]
    assert client.ok("get_state")["busy"] is True
    gate()
    for _ in range(3):
        client.wait("done")
    order = [line["id"] for line in client.seen if line.get("command") == "prompt"]
    assert order == [one, two, three] and asked(client) == ["one", "two", "three"]
    assert said(client)[1:] == ["first", "second", "third"]
    starts = [client.seen.index(client.response(id)) for id in (two, three)]
    ends = [place for place, line in enumerate(client.seen) if line["type"] == "done"]
    assert ends[0] < starts[0] < ends[1] < starts[1] < ends[2]


def test_a_steer_in_the_middle_of_a_tool_joins_after_it(zot: Any, rpc: Start, gate: Any) -> None:
    zot.script([WAITS], ["steered"])
    client = rpc()
    client.send("prompt", message="one")
    client.wait("tool_call")
    assert client.ok("steer", message="also this") == {"queued": True}
    assert client.ok("follow_up", message="and then") == {"queued": True}
    assert client.ok("prompt", message="at once", mode="steer") == {"queued": True}
    queue = client.ok("get_state")["queue"]
    assert queue == {"prompts": [], "steer": ["also this", "at once"], "follow_up": ["and then"]}
    before = len(client.seen)
    gate()
    client.wait("done")
    assert asked(client) == ["one", "also this", "at once", "and then"]
    types = client.types(before)
    assert types.index("tool_result") < types.index("user_message") < types.index("turn_start")


def test_a_steer_without_a_run_is_a_prompt(zot: Any, rpc: Start) -> None:
    zot.script(["one"], ["two"])
    client = rpc()
    assert client.ok("steer", message="hi") == {"queued": True}
    client.wait("done")
    assert client.ok("follow_up", message="ho") == {"queued": True}
    client.wait("done")
    assert asked(client) == ["hi", "ho"] and said(client) == ["one", "two"]


def test_a_steer_right_behind_its_prompt_steers_it(zot: Any, rpc: Start, gate: Any) -> None:
    zot.script([WAITS], ["both"])
    client = rpc()
    client.write(b'{"type":"prompt","message":"one"}\n{"type":"steer","id":"s","message":"two"}\n')
    assert client.response("s")["success"] is True
    gate()
    client.wait("done")
    assert asked(client) == ["one", "two"]
    assert len(client.of("done")) == 1


def test_session_commands_wait_for_idle_and_prompts_behind_them_too(zot: Any, rpc: Start, gate: Any) -> None:
    zot.script([WAITS], ["first"])
    client = rpc()
    client.send("prompt", message="one")
    client.wait("tool_call")
    clear, two = client.send("clear"), client.send("prompt", message="two")
    assert client.ok("ping") == {"pong": True}
    assert all(line.get("id") not in (clear, two) for line in client.seen)
    gate()
    client.wait("done")
    assert client.response(clear)["success"] is True
    client.response(two)
    client.wait("tool_call")  # the script of a new session begins at its first reply
    gate()
    client.wait("done")
    assert client.ok("get_state")["message_count"] == 4


def test_abort_keeps_what_came_and_gives_back_what_waits(zot: Any, rpc: Start, gate: Any) -> None:
    zot.script([{"text": ["half ", "an answer"]}, WAITS], ["going on"])
    client = rpc()
    client.send("prompt", message="one")
    client.wait("tool_call")
    picture = {"mime_type": "image/png", "data": "iVBORw0KGgo="}
    two = client.send("prompt", message="two", images=[picture])
    client.ok("steer", message="three")
    client.ok("follow_up", message="four")
    clear, five = client.send("clear"), client.send("prompt", message="five")
    answer = client.ok("abort")
    assert answer["aborted"] is True
    assert answer["returned"] == [
        {"kind": "prompt", "message": "two", "id": two, "images": [picture]},
        {"kind": "prompt", "message": "five", "id": five},
        {"kind": "steer", "message": "three"},
        {"kind": "follow_up", "message": "four"},
    ]
    client.wait("done")
    assert client.types()[-3:] == ["tool_result", "turn_end", "done"]
    assert client.of("turn_end")[-1]["stop"] == "aborted" and said(client) == ["half an answer"]
    assert [client.response(id)["success"] for id in (two, five)] == [False, False]
    assert client.response(clear)["success"] is True
    assert client.ok("get_state")["busy"] is False
    assert len(client.of("done")) == 1 and asked(client) == ["one"]


def test_abort_of_nothing_changes_nothing(zot: Any, rpc: Start) -> None:
    zot.script(["ok"])
    client = rpc()
    assert client.ok("abort") == {"aborted": False, "returned": []}
    client.ok("prompt", message="x")
    client.wait("done")
    assert said(client) == ["ok"]


def test_prompts_and_an_abort_in_one_write(zot: Any, rpc: Start) -> None:
    zot.script([{"text": ["x"]}, {"hang": True}], ["later"])
    client = rpc()
    client.ok("ping")
    client.write(
        b'{"type":"prompt","id":"p","message":"one"}\n{"type":"prompt","id":"q","message":"two"}\n'
        b'{"type":"abort","id":"a"}\n'
    )
    returned = client.response("a")["data"]["returned"]
    assert [row["message"] for row in returned] == ["one", "two"]
    assert [client.response(id)["success"] for id in "pq"] == [False, False]
    assert client.ok("get_state")["message_count"] == 0


STOPS = """
import asyncio
from zot_core import CommandSpec, hookimpl

WATCHED = ("input before_agent_start agent_start turn_start message_start message_update message_end assistant_message "
           "tool_execution_start tool_call tool_result tool_execution_update tool_execution_end turn_end agent_end "
           "agent_before_settle agent_settled context").split()
left = 0

@hookimpl
def session_start(event, ctx):
    for name in WATCHED:
        ctx.on(name, lambda event, ctx, name=name: stop(name, ctx))

async def stop(name, ctx):
    global left
    left -= 1
    if left == 0:
        ctx.rpc.emit("here", name)
        await asyncio.sleep(300)

@hookimpl
def commands():
    async def at(args, ctx):
        global left
        left = int(args)
    return [CommandSpec(name="stop-at", handler=at)]
"""


@pytest.mark.time_limit(120)
def test_abort_at_every_moment_of_a_run(zot: Any, rpc: Start, plugin: Plugin, project: Path) -> None:
    (project / "a.txt").write_text("data", encoding="utf-8")
    call = {"tool_call": {"id": "c1", "name": "read", "args": {"path": "a.txt"}}}
    zot.script([{"thinking": ["Hm"]}, {"text": ["Let me ", "look."]}, call], ["Data."])
    client = rpc("--plugin", plugin(STOPS))
    client.ok("hello", capabilities=["extension_events"])
    moments: list[str] = []
    for number in range(1, 200):
        client.ok("clear")
        client.ok("command", name="stop-at", args=str(number))
        before = len(client.seen)
        client.ok("prompt", message="read it")
        line = client.wait(lambda line: line["type"] in ("extension_event", "done"))
        if line["type"] == "done":
            client.ok("abort")  # the moment is `agent_settled`, which is told after `done`; or all were tried
            assert client.ok("get_messages")["messages"][-1]["content"][0]["text"] == "Data."
            break
        moments.append(line["data"])
        returned = [row["message"] for row in client.ok("abort")["returned"]]
        if "done" not in client.types(before):
            client.wait("done")
        seen = client.seen[before:]
        calls = [line["id"] for line in seen if line["type"] == "tool_call"]
        results = [line["id"] for line in seen if line["type"] == "tool_result"]
        ends = [line for line in seen if line["type"] in ("turn_end", "done")]
        assert set(calls) <= set(results) and len(results) == len(set(results)), (line["data"], seen)
        assert [end["type"] for end in ends[-2:]] == ["turn_end", "done"], (line["data"], seen)
        assert [end["type"] for end in ends].count("done") == 1, (line["data"], seen)
        assert (
            ends[-2]["stop"] == "aborted"
            or moments[-1] in ("agent_end", "agent_before_settle", "agent_settled")
            or (ends[-2]["stop"] == "end_turn")
        ), (line["data"], seen)
        assert client.ok("get_state")["busy"] is False
        messages = client.ok("get_messages")["messages"]
        kept = [row["content"][0]["text"] for row in messages if row["role"] == "user"]
        assert returned + kept == ["read it"], (line["data"], returned, kept)
        made = [block["id"] for row in messages for block in row["content"] if block["type"] == "tool_call"]
        assert made == [row["call_id"] for row in messages if row["role"] == "tool"], (line["data"], messages)
    assert len(moments) > 20 and {"input", "message_update", "tool_call", "turn_end"} <= set(moments)


def test_a_thousand_pings_while_a_run_goes_on(zot: Any, rpc: Start, gate: Any) -> None:
    zot.script([WAITS], ["over"])
    client = rpc()
    client.send("prompt", message="one")
    client.wait("tool_call")
    client.write(b"".join(b'{"type":"ping","id":"p%d"}\n' % number for number in range(1000)))
    answered = [client.next() for _ in range(1000)]
    assert [line["id"] for line in answered] == [f"p{number}" for number in range(1000)]
    gate()
    client.wait("done")
    assert said(client)[-1] == "over"


def test_what_needs_no_turn_answers_before_what_does(zot: Any, rpc: Start) -> None:
    zot.script(["ok"])
    client = rpc()
    client.ok("hello")
    client.write(
        b'{"type":"set_reasoning","id":1,"level":"off"}\n{"type":"prompt","id":2,"message":"x"}\n'
        b'{"type":"set_session_name","id":3,"name":"n"}\n{"type":"get_state","id":4}\n{"type":"ping","id":5}\n'
    )
    client.response(3)
    assert [line["id"] for line in client.seen if line["type"] == "response"][1:] == [4, 5, 1, 2, 3]


def test_a_failed_run_is_told_and_the_process_goes_on(zot: Any, rpc: Start) -> None:
    zot.script([{"error": {"kind": "overloaded", "message": "busy", "retryable": False}}], ["better"])
    client = rpc()
    client.ok("prompt", message="x")
    client.wait("done")
    assert client.types()[-3:] == ["turn_end", "error", "done"]
    assert client.of("error")[0]["kind"] == "overloaded"
    client.ok("prompt", message="y")
    client.wait("done")
    assert said(client) == ["better"] and client.close() == 0


def test_stdin_may_end_at_once_and_everything_is_still_done(zot: Any, rpc: Start) -> None:
    zot.script(["one"], ["two"])
    client = rpc()
    client.send("prompt", message="a")
    client.send("prompt", message="b")
    client.send("get_state")
    assert client.close() == 0
    assert said(client) == ["one", "two"] and len(client.of("done")) == 2 and len(client.of("response")) == 3


def test_requests_may_come_from_a_file(zot: Any, project: Path) -> None:
    zot.script(["from a file"])
    (project / "in.jsonl").write_text('{"type":"prompt","message":"x"}\n{"type":"ping","id":1}', encoding="utf-8")
    with (project / "in.jsonl").open() as file:
        process = zot.start("rpc", stdin=file)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0 and err == ""
    assert '"delta":"from a file"' in out and '"pong":true' in out


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_run_well(zot: Any, rpc: Start, gate: Any, number: int, code: int) -> None:
    zot.script([{"text": ["half"]}, WAITS], ["never"])
    client = rpc()
    client.send("prompt", message="x")
    client.wait("tool_call")
    waiting = client.send("prompt", message="y")
    client.ok("ping")
    client.process.send_signal(number)
    assert client.ended() == code
    assert client.response(waiting)["success"] is False
    assert client.types()[-3:] == ["tool_result", "turn_end", "done"]
    assert client.of("turn_end")[-1]["stop"] == "aborted"


def test_no_session_file_unless_asked(zot: Any, rpc: Start, zot_home: Path, project: Path) -> None:
    zot.script(["ok"], ["ok"], ["ok"])
    kept = lambda: list((zot_home / "sessions").rglob("*.jsonl")) if (zot_home / "sessions").exists() else []  # noqa: E731
    client = rpc("--session-dir", "elsewhere")
    client.ok("prompt", message="x")
    client.wait("done")
    assert client.ok("get_state")["session"] is None and client.ok("clear")["path"] is None
    assert client.close() == 0 and kept() == [] and not (project / "elsewhere").exists()
    client = rpc()
    path = Path(client.ok("new_session")["path"])
    client.ok("prompt", message="x")
    client.wait("done")
    first = client.ok("get_state")["session"]
    assert first["path"] == str(path) and path in kept()
    cleared = client.ok("clear")
    assert cleared["path"] not in (None, str(path)) and path.exists()
    assert client.ok("switch_session", path=str(path))["id"] == first["id"]
    entry = client.ok("get_messages")["messages"][0]["message_id"]
    assert client.ok("fork", entry_id=entry, position="at")["id"] != first["id"]
    assert client.ok("get_state")["message_count"] == 1
    before = client.ok("fork", entry_id=entry, position="before")
    assert before["editor_text"] == "x" and client.ok("get_state")["message_count"] == 0
    assert client.ok("set_session_name", name="mine")["name"] == "mine"
    assert "nothing" in client.refused("fork", entry_id="nothing")
    assert client.close() == 0


def test_session_names_a_new_file(zot: Any, rpc: Start, project: Path) -> None:
    zot.script(["ok"])
    client = rpc("--session", "new.jsonl")
    client.ok("prompt", message="x")
    client.wait("done")
    assert client.close() == 0
    client = rpc("--session", str(project / "new.jsonl"))
    assert client.ok("get_state")["message_count"] == 2


MODELS = """
from zot_core import hookimpl
from zot_core.types.specs import ModelSpec, ProviderSpec

@hookimpl
def session_start(event, ctx):
    ctx.models.add(ProviderSpec(id="scripted", models=(ModelSpec(id="two", provider="scripted"),)), keep_models=True)
"""


def test_the_model_changes_from_the_next_call(zot: Any, rpc: Start, gate: Any, plugin: Plugin) -> None:
    zot.script([WAITS], ["over"])
    client = rpc("--plugin", plugin(MODELS))
    client.send("prompt", message="x")
    client.wait("tool_call")
    other = "two"
    assert client.ok("set_model", model=other, provider="scripted")["model"] == other
    gate()
    client.wait("done")
    answers = [row for row in client.ok("get_messages")["messages"] if row["role"] == "assistant"]
    assert [row["model"] for row in answers] == ["scripted", other]
    assert "nonsense" in client.refused("set_model", model="nonsense")
    assert client.refused("set_model", model="gpt-4o", provider="openai")
    assert client.ok("get_state")["model"] == other


def test_the_catalogs_say_what_there_is(rpc: Start, plugin: Plugin, project: Path) -> None:
    client = rpc("--plugin", plugin(STOPS))
    tools = {row["name"]: row for row in client.ok("get_tools")["tools"]}
    assert tools["read"]["active"] is True and tools["read"]["plugin"] == "tool_read"
    assert tools["read"]["parameters"]["properties"]["path"]
    commands = client.ok("get_commands")["commands"]
    names = [row["name"] for row in commands]
    assert "stop-at" in names and any(name.startswith("skill:") for name in names)
    assert names.index("stop-at") < next(place for place, name in enumerate(names) if name.startswith("skill:"))
    model = next(row for row in client.ok("get_models")["models"] if row["provider"] == "scripted")
    assert {"id", "provider", "context_window", "max_output", "reasoning"} <= set(model) and model["usable"] is True


def test_compact_is_told_from_start_to_done(zot: Any, rpc: Start) -> None:
    zot.script(["one"], ["two"], ["summary"], ["three"])
    client = rpc()
    assert "nothing" in client.refused("compact")
    for text in ("a" * 4000, "b" * 4000):
        client.ok("prompt", message=text)
        client.wait("done")
    assert client.ok("compact", instructions="short") == {"started": True}
    done = client.wait("compact_done")
    assert done["summary"] and client.of("compact_start")
    client.ok("prompt", message="go on")
    client.wait("done")


def test_a_compaction_can_be_aborted(zot: Any, rpc: Start) -> None:
    zot.script(["one"], ["two"], [{"text": ["x"]}, {"hang": True}], ["three"])
    client = rpc()
    for text in ("a" * 4000, "b" * 4000):
        client.ok("prompt", message=text)
        client.wait("done")
    client.ok("compact")
    waiting = client.send("prompt", message="go on")
    assert client.ok("abort")["aborted"] is True
    assert "abort" in client.wait("compact_failed")["message"]
    assert client.response(waiting)["success"] is False
    assert client.ok("get_state")["message_count"] == 4


ADMITS = """
from zot_core import Block, Handled, hookimpl

@hookimpl
def input(event, ctx):
    if event.text == "handled":
        return Handled()
    if event.text == "blocked":
        return Block("not this")
    if event.text == "source":
        return event.replace(text=event.source)
"""


def test_every_prompt_has_one_end_whatever_becomes_of_it(zot: Any, rpc: Start, plugin: Plugin, gate: Any) -> None:
    zot.script(["one"], ["two"], [WAITS], ["three"])
    client = rpc("--plugin", plugin(ADMITS))
    ends = {
        "source": ["turn_end", "done"],
        "handled": ["done"],
        "blocked": ["turn_end", "error", "done"],
        "again": ["turn_end", "done"],
    }
    for text, end in ends.items():
        before = len(client.seen)
        client.ok("prompt", message=text)
        client.wait("done")
        assert client.types(before)[-len(end) :] == end, text
        assert client.ok("get_state")["busy"] is False
        assert client.types(before).count("done") == 1, text
    assert client.types().count("error") == 1 and asked(client) == ["rpc", "again"]
    client.ok("prompt", message="last")
    client.wait("tool_call")
    assert "not this" in client.refused("steer", message="blocked")
    assert client.ok("steer", message="handled") == {"queued": True}
    gate()
    client.wait("done")
    assert said(client)[-1] == "three"


ASKS_FOR_A_RUN = """
import asyncio
from zot_core import hookimpl

@hookimpl
async def session_info_changed(event, ctx):
    ctx.send_user_message("from a plugin")
    await asyncio.sleep(0.05)
"""


def test_a_run_that_a_handler_asks_for_has_its_place(zot: Any, rpc: Start, plugin: Plugin) -> None:
    zot.script(["one"], ["two"])
    client = rpc("--plugin", plugin(ASKS_FOR_A_RUN))
    client.ok("hello")
    client.send("set_session_name", name="x")
    client.send("prompt", message="mine")
    client.send("clear")
    client.wait("done")
    client.wait("done")
    assert sorted(asked(client)) == ["from a plugin", "mine"]
    assert client.close() == 0


def test_trees_come_later_and_say_so(rpc: Start) -> None:
    client = rpc()
    assert "not there yet" in client.refused("get_tree")
    assert "not there yet" in client.refused("navigate", entry_id="x")


def test_reload_says_what_failed(rpc: Start, zot_home: Path) -> None:
    folder = zot_home / "plugins"
    folder.mkdir()
    (folder / "mine.py").write_text("x = 1\n", encoding="utf-8")
    client = rpc()
    assert "mine" in client.ok("reload")["loaded"]
    (folder / "mine.py").write_text("raise RuntimeError('broken now')\n", encoding="utf-8")
    report = client.ok("reload", what="all")
    assert [row["name"] for row in report["failed"]] == ["mine"] and "broken now" in report["failed"][0]["reason"]
    (folder / "mine.py").write_text("y = 2\n", encoding="utf-8")
    assert client.ok("reload", what="extensions")["failed"] == []


LATE = """
import asyncio
from zot_core import CommandSpec, hookimpl

go = asyncio.Event()
runs = 0

@hookimpl
async def agent_settled(event, ctx):
    ctx.rpc.emit("here", "settled")
    await go.wait()

@hookimpl
async def before_agent_start(event, ctx):
    global runs
    runs += 1
    if runs == 2:
        ctx.rpc.emit("here", "late run")
        await asyncio.sleep(300)

@hookimpl
def commands():
    async def goes(args, ctx):
        go.set()
    return [CommandSpec(name="go", handler=goes, busy="run")]
"""


def test_an_abort_gives_back_what_was_about_to_have_a_run_of_its_own(zot: Any, rpc: Start, plugin: Plugin) -> None:
    zot.script(["one"], ["two"], ["three"])
    client = rpc("--plugin", plugin(LATE))
    client.ok("hello", capabilities=["extension_events"])
    client.ok("prompt", message="first")
    client.wait(lambda line: line.get("data") == "settled")
    client.ok("follow_up", message="late")
    client.ok("follow_up", message="later")
    client.send("command", name="go")
    client.wait(lambda line: line.get("data") == "late run")
    returned = client.ok("abort")["returned"]
    assert [(row["kind"], row["message"]) for row in returned] == [("follow_up", "late"), ("follow_up", "later")]
    client.ok("prompt", message="next")
    client.wait("done")
    assert asked(client) == ["first", "next"]


HOLDS_THE_END = """
import asyncio
from zot_core import CommandSpec, hookimpl

go = asyncio.Event()

@hookimpl
async def session_shutdown(event, ctx):
    if event.reason == "new":
        ctx.rpc.emit("here", "at the end")
        await go.wait()

@hookimpl
def commands():
    async def goes(args, ctx):
        go.set()
    async def fresh(args, ctx):
        await ctx.new_session()
    return [
        CommandSpec(name="go", handler=goes, busy="run"),
        CommandSpec(name="fresh", handler=fresh, busy="run"),
    ]

@hookimpl
async def before_agent_start(event, ctx):
    if event.prompt == "slow":
        ctx.rpc.emit("here", "about to run")
        await asyncio.sleep(300)
"""


def test_what_comes_while_a_session_is_replaced_waits_for_the_next(zot: Any, rpc: Start, plugin: Plugin) -> None:
    zot.script(["one"], ["two"], ["three"], ["four"])
    client = rpc("--plugin", plugin(HOLDS_THE_END))
    client.ok("hello", capabilities=["extension_events"])
    client.ok("prompt", message="before")
    client.wait("done")
    clear = client.send("clear")
    client.wait(lambda line: line.get("data") == "at the end")
    assert client.ok("follow_up", message="followed") == {"queued": True}
    late = [client.send("steer", message="steered"), client.send("prompt", message="prompted")]
    client.ok("ping")
    assert asked(client) == ["before"]
    client.send("command", name="go")
    assert client.response(clear)["success"]
    assert all(client.response(id)["success"] for id in late)
    assert client.close() == 0
    assert sorted(asked(client)) == ["before", "followed", "prompted", "steered"]


def test_a_prompt_that_a_new_session_stopped_from_running_says_so(zot: Any, rpc: Start, plugin: Plugin) -> None:
    zot.script(["one"], ["two"])
    client = rpc("--plugin", plugin(HOLDS_THE_END.replace('== "new"', '== "never"')))
    client.ok("hello", capabilities=["extension_events"])
    client.ok("prompt", message="slow")
    client.wait(lambda line: line.get("data") == "about to run")
    fresh = client.send("command", name="fresh")
    assert "session is replaced" in client.wait("error")["message"]
    client.wait("done")
    assert client.response(fresh)["success"]
    client.ok("prompt", message="next")
    client.wait("done")
    assert asked(client) == ["next"]


@pytest.mark.parametrize("seed", range(4))
def test_every_request_has_one_response_in_any_mixture(zot: Any, rpc: Start, seed: int) -> None:
    call = {"tool_call": {"name": "ls", "args": {}}}
    zot.script(*[[{"text": ["a ", "b"]}, call] if number % 3 else ["text"] for number in range(400)])
    client, chance = rpc(), random.Random(seed)
    sent, spoken = [], {}
    for number in range(150):
        kind = chance.choice(["prompt", "prompt", "steer", "follow_up", "abort", "get_state", "clear", "set_reasoning"])
        fields: dict[str, Any] = {"message": f"m{number}"} if kind in ("prompt", "steer", "follow_up") else {}
        if kind == "prompt" and chance.random() < 0.3:
            fields["mode"] = chance.choice(["steer", "follow_up"])
        if kind == "set_reasoning":
            fields["level"] = "off"
        sent.append(client.send(kind, **fields))
        spoken.update({sent[-1]: fields["message"]} if "message" in fields else {})
        if chance.random() < 0.4:
            client.response(chance.choice(sent[-3:]) if chance.random() < 0.1 else client.send("ping"))
    assert client.close() == 0
    answered = [line["id"] for line in client.of("response")]
    assert len(answered) == len(set(answered)) and set(sent) <= set(answered)
    returned = [row["message"] for line in client.of("response") for row in line.get("data", {}).get("returned", [])]
    texts = asked(client)
    assert len(texts) == len(set(texts)) and not set(texts) & set(returned)
    taken = {text for id, text in spoken.items() if client.response(id).get("data", {}).get("queued")}
    assert taken <= {*texts, *returned}
    assert client.types()[-1] in ("done", "response") and "Traceback" not in "".join(client.errors)
