"""`zot rpc`: what plugins ask, show and tell arrives at the client, and its answers at the plugin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.rpc_client import RpcClient

Start = Callable[..., RpcClient]
Plugin = Callable[..., str]

ASKS = """
import asyncio
from zot_core import Block, CommandSpec, hookimpl
from zot_core.types.panels import Panel

def command(name, busy="run"):
    def add(function):
        LIST.append(CommandSpec(name=name, handler=function, busy=busy))
        return function
    return add

LIST = []

@hookimpl
def commands():
    return LIST

@command("ask")
async def ask(args, ctx):
    method, _, timeout = args.partition(" ")
    limit = {"timeout": float(timeout)} if timeout else {}
    given = {"select": ("Which?", ["red", "green"]), "confirm": ("Sure?", "It is final."), "input": ("Name", "Ada"),
             "editor": ("Text", "begin"), "question": ([{"id": "q1", "header": "H", "question": "Why?"}],)}[method]
    return repr(await getattr(ctx.ui, method)(*given, **limit))

@command("screen")
async def screen(args, ctx):
    ctx.ui.set_status("build", "green")
    ctx.ui.set_status("build", None)
    ctx.ui.set_widget("todo", ["one", "two"], placement="below_editor", actions=[{"label": "Go", "command": "/go"}])
    ctx.ui.set_widget("todo", None)
    ctx.ui.set_widget("drawn", lambda *_: None)
    ctx.ui.set_title("busy")
    ctx.ui.set_editor_text("draft")
    ctx.ui.paste_to_editor("more")
    ctx.ui.set_footer(lambda *_: None)
    ctx.ui.set_working_message("hm")
    return repr([await ctx.ui.custom(lambda *_: None), ctx.ui.get_editor_text(), ctx.ui.theme, ctx.ui.set_theme("x")[0],
                 ctx.has_ui, ctx.mode])

@command("notes")
async def notes(args, ctx):
    ctx.ui.notify("look", "warn")
    ctx.ui.display("long text")
    ctx.ui.clear_notes()

handle = None

@command("panel")
async def panel(args, ctx):
    global handle
    def key(name, text):
        if name == "esc":
            handle.close()
        elif text == "!":
            raise RuntimeError("no such key")
        else:
            handle.update(Panel(id="todo", title="t", lines=(name, text), footer="f"))
    async def closed():
        ctx.ui.notify("closed")
    handle = ctx.ui.open_panel(Panel(id="todo", title="Todo", lines=("a", "b"), footer="esc"), key, closed)

@command("fails")
async def fails(args, ctx):
    raise RuntimeError("its own fault")

@hookimpl
async def tool_call(event, ctx):
    if event.tool_name == "bash":
        answer = await ctx.ui.approve(event)
        if not answer.allowed:
            return Block(answer.reason)
        ctx.ui.notify(answer.remember)

@hookimpl
def session_start(event, ctx):
    print("noise on stdout")
    async def double(data):
        return {"twice": data * 2}
    def broken(data):
        raise RuntimeError("cannot")
    async def emits(data):
        ctx.rpc.emit("progress", {"part": data})
    async def hangs(data):
        await asyncio.sleep(300)
    for name, function in {"double": double, "broken": broken, "emits": emits, "hangs": hangs}.items():
        ctx.rpc.handle(name, function)
"""


@pytest.fixture
def asks(rpc: Start, plugin: Plugin) -> RpcClient:
    return rpc("--plugin", plugin(ASKS, "asks"))


ANSWERS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("select", {"title": "Which?", "options": ["red", "green"]}, {"value": "green"}, "'green'"),
    ("confirm", {"title": "Sure?", "message": "It is final."}, {"confirmed": True}, "True"),
    ("confirm", {}, {"confirmed": False}, "False"),
    ("input", {"title": "Name", "placeholder": "Ada"}, {"value": "Grace"}, "'Grace'"),
    ("input", {}, {"value": ""}, "''"),
    ("editor", {"title": "Text", "prefill": "begin"}, {"value": "a\nb"}, repr("a\nb")),
    (
        "question",
        {"title": "H", "questions": [{"id": "q1", "header": "H", "question": "Why?"}]},
        {"value": {"q1": "so"}},
        "{'outcome': 'answered', 'answers': {'q1': 'so'}}",
    ),
    (
        "question",
        {},
        {"value": "in words"},
        "{'outcome': 'comment-submitted', 'answers': {}, 'comment': 'in words'}",
    ),
    ("select", {}, {"cancelled": True}, "None"),
    ("confirm", {}, {"cancelled": True}, "False"),
    ("input", {}, {"cancelled": True}, "None"),
    ("editor", {}, {"cancelled": True}, "None"),
    ("question", {}, {"cancelled": True}, "{'outcome': 'cancelled', 'answers': {}}"),
]


def test_every_dialog_goes_there_and_back(asks: RpcClient) -> None:
    ids = set()
    for method, fields, answer, result in ANSWERS:
        sent = asks.send("command", name="ask", args=method)
        request = asks.wait("ui_request")
        assert request["method"] == method and fields.items() <= request.items()
        ids.add(request["request_id"])
        assert asks.ok("ui_response", request_id=request["request_id"], **answer) == {}
        asks.response(sent)
        assert asks.of("ext_display")[-1] == {"type": "ext_display", "extension": "asks", "text": result}
    assert len(ids) == len(ANSWERS)


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("select", {"value": "blue"}),
    ("select", {"value": 1}),
    ("select", {"confirmed": True}),
    ("select", {}),
    ("select", {"value": "red", "cancelled": True}),
    ("select", {"cancelled": False}),
    ("select", {"value": None}),
    ("confirm", {"value": "yes"}),
    ("confirm", {"confirmed": "yes"}),
    ("input", {"value": ["x"]}),
    ("editor", {"confirmed": False}),
    ("question", {"value": 5}),
]


def test_answers_that_fit_no_dialog_are_refused_and_it_stays_open(asks: RpcClient) -> None:
    for method, answer in WRONG:
        sent = asks.send("command", name="ask", args=method)
        request_id = asks.wait("ui_request")["request_id"]
        assert asks.refused("ui_response", request_id=request_id, **answer)
        assert asks.ok("ui_response", request_id=request_id, cancelled=True) == {}
        asks.response(sent)


def test_late_unknown_and_second_answers_are_refused(asks: RpcClient) -> None:
    sent = asks.send("command", name="ask", args="input")
    request_id = asks.wait("ui_request")["request_id"]
    assert "no such" in asks.refused("ui_response", request_id="ui-999", value="x")
    asks.ok("ui_response", request_id=request_id, value="first")
    assert "no such" in asks.refused("ui_response", request_id=request_id, value="second")
    asks.response(sent)
    assert asks.of("ext_display")[-1]["text"] == "'first'"


def test_a_dialog_that_times_out_says_so_and_takes_no_answer(asks: RpcClient) -> None:
    for method, result in (("select", "None"), ("confirm", "False"), ("question", "timed_out")):
        sent = asks.send("command", name="ask", args=f"{method} 0.05")
        request = asks.wait("ui_request")
        assert request["timeout_ms"] == 50
        ended = asks.wait("ui_dismissed")
        assert ended == {"type": "ui_dismissed", "request_id": request["request_id"], "reason": "timeout"}
        asks.response(sent)
        assert result in asks.of("ext_display")[-1]["text"]
        assert asks.refused("ui_response", request_id=request["request_id"], cancelled=True)


def test_several_dialogs_are_open_at_once(asks: RpcClient) -> None:
    sent = [asks.send("command", name="ask", args=method) for method in ("input", "select", "confirm")]
    requests = {line["method"]: line["request_id"] for line in (asks.wait("ui_request") for _ in sent)}
    asks.ok("ui_response", request_id=requests["confirm"], confirmed=True)
    asks.ok("ui_response", request_id=requests["select"], value="red")
    asks.ok("ui_response", request_id=requests["input"], value="x")
    for id in sent:
        asks.response(id)
    assert [line["text"] for line in asks.of("ext_display")] == ["True", "'red'", "'x'"]


def test_dialogs_that_are_open_when_stdin_ends_are_cancelled(asks: RpcClient) -> None:
    sent = asks.send("command", name="ask", args="input")
    asks.wait("ui_request")
    assert asks.close() == 0
    assert asks.response(sent)["success"] is True and asks.of("ext_display")[-1]["text"] == "None"


CALL = {"tool_call": {"id": "c1", "name": "bash", "args": {"command": "echo ran > ran.txt"}}}


@pytest.mark.parametrize(
    ("answer", "ran", "told"),
    [
        ({"value": "once"}, True, "once"),
        ({"value": "tool"}, True, "tool"),
        ({"value": "session"}, True, "session"),
        ({"confirmed": True}, True, "once"),
        ({"confirmed": False, "reason": "not on Mondays"}, False, "not on Mondays"),
        ({"value": "no"}, False, "refused"),
        ({"cancelled": True}, False, "refused"),
    ],
)
def test_a_call_waits_for_approval(
    zot: Any, rpc: Start, plugin: Plugin, project: Path, answer: dict[str, Any], ran: bool, told: str
) -> None:
    zot.script([CALL], ["ok"])
    client = rpc("--plugin", plugin(ASKS, "asks"))
    client.send("prompt", message="x")
    request = client.wait("ui_request")
    assert request["method"] == "approve" and request["tool"] == "bash" and "echo ran" in request["preview"]
    assert request["choices"] == ["once", "tool", "session", "no"] and not (project / "ran.txt").exists()
    client.ok("ui_response", request_id=request["request_id"], **answer)
    client.wait("done")
    assert (project / "ran.txt").exists() is ran
    result = client.of("tool_result")[-1]
    assert result["is_error"] is not ran
    where = client.of("ext_notify")[-1]["message"] if ran else str(result["content"])
    assert told in where


def test_an_abort_takes_the_question_away(zot: Any, plugin: Plugin, rpc: Start, project: Path) -> None:
    zot.script([CALL], ["never"])
    client = rpc("--plugin", plugin(ASKS, "asks"))
    client.send("prompt", message="x")
    request_id = client.wait("ui_request")["request_id"]
    client.ok("abort")
    client.wait("done")
    assert client.of("ui_dismissed") == [{"type": "ui_dismissed", "request_id": request_id, "reason": "cancelled"}]
    assert client.of("turn_end")[-1]["stop"] == "aborted" and not (project / "ran.txt").exists()


def test_what_plugins_set_arrives_as_updates(asks: RpcClient) -> None:
    asks.ok("command", name="screen")
    updates = [{key: value for key, value in line.items() if key != "type"} for line in asks.of("ui_update")]
    action = {"label": "Go", "command": "/go"}
    below = {"placement": "below_editor", "actions": [action]}
    assert updates == [
        {"kind": "status", "key": "build", "text": "green"},
        {"kind": "status", "key": "build", "text": None},
        {"kind": "widget", "key": "todo", "lines": ["one", "two"], **below},
        {"kind": "widget", "key": "todo", "lines": None, "placement": "above_editor", "actions": []},
        {"kind": "title", "text": "busy"},
        {"kind": "editor_text", "text": "draft"},
        {"kind": "paste", "text": "more"},
    ]
    assert asks.of("ext_display")[-1]["text"] == "[None, '', None, False, True, 'rpc']"


def test_notes_carry_their_plugin(asks: RpcClient) -> None:
    asks.ok("command", name="notes")
    assert [line for line in asks.seen if line["type"].startswith("ext_")] == [
        {"type": "ext_notify", "extension": "asks", "level": "warning", "message": "look"},
        {"type": "ext_display", "extension": "asks", "text": "long text"},
        {"type": "ext_clear_notes", "extension": "asks"},
    ]


def test_a_plugin_that_prints_prints_elsewhere(asks: RpcClient) -> None:
    asks.ok("ping")
    assert asks.close() == 0
    assert "noise on stdout" in "".join(asks.errors)


def test_a_panel_is_opened_driven_and_closed_by_either_side(asks: RpcClient) -> None:
    asks.ok("command", name="panel")
    opened = asks.of("panel_open")[-1]
    shown = {"panel_id": "todo", "extension": "asks", "title": "Todo", "lines": ["a", "b"], "footer": "esc"}
    assert opened == {"type": "panel_open", **shown}
    for key, text in (("down", ""), ("rune", "é"), ("enter", "")):
        assert asks.ok("panel_key", panel_id="todo", key=key, text=text) == {}
        assert asks.wait("panel_render")["lines"] == [key, text]
    assert asks.refused("panel_key", panel_id="todo", key="F13")
    assert asks.refused("panel_key", panel_id="todo", key="rune")
    assert asks.refused("panel_key", panel_id="other", key="up")
    asks.ok("panel_key", panel_id="todo", key="rune", text="!")
    assert "no such key" in asks.wait("plugin_error")["message"]
    asks.ok("panel_key", panel_id="todo", key="esc")
    assert asks.wait("panel_close") == {"type": "panel_close", "panel_id": "todo", "extension": "asks"}
    assert asks.refused("panel_close", panel_id="todo")
    asks.ok("command", name="panel")
    assert asks.ok("panel_close", panel_id="todo") == {}
    assert asks.wait("ext_notify")["message"] == "closed"
    assert len(asks.of("panel_close")) == 1


def test_a_panel_ends_with_its_session_and_with_stdin(asks: RpcClient) -> None:
    asks.ok("command", name="panel")
    asks.ok("clear")
    assert asks.wait("panel_close")["panel_id"] == "todo"
    asks.ok("command", name="panel")
    assert asks.close() == 0
    assert asks.of("ext_notify")[-1]["message"] == "closed"


def test_plugins_answer_requests(asks: RpcClient) -> None:
    assert asks.ok("extension_request", name="double", data="ab") == {"twice": "abab"}
    assert "cannot" in asks.refused("extension_request", name="broken")
    assert "double" in asks.refused("extension_request", name="nobody")
    assert asks.of("plugin_error")[-1]["plugin"] == "asks"


def test_a_handler_that_hangs_holds_nothing_up_for_ever(asks: RpcClient) -> None:
    asks.send("extension_request", name="hangs")
    later = asks.send("set_reasoning", level="off")
    assert asks.ok("ping") == {"pong": True}
    assert asks.response(later)["success"] is True


def test_events_of_plugins_go_to_those_who_asked(asks: RpcClient) -> None:
    asks.ok("hello")
    asks.ok("extension_request", name="emits", data=1)
    assert asks.of("extension_event") == []
    asks.ok("hello", capabilities=["extension_events", "something_else"])
    asks.ok("extension_request", name="emits", data=2)
    assert asks.of("extension_event") == [
        {"type": "extension_event", "extension": "asks", "name": "progress", "data": {"part": 2}}
    ]


def test_commands_run_while_a_run_goes_on_and_say_how_they_failed(zot: Any, rpc: Start, plugin: Plugin) -> None:
    zot.script([{"text": ["x"]}, {"hang": True}])
    client = rpc("--plugin", plugin(ASKS, "asks"))
    client.send("prompt", message="x")
    client.wait("text_delta")
    assert client.ok("command", name="/notes") == {}
    assert client.ok("get_state")["busy"] is True
    assert "its own fault" in client.refused("command", name="fails")
    assert "known:" in client.refused("command", name="nothing")
    assert "prompt" in client.refused("command", name="skill:zot-plugins")
    client.ok("abort")


def test_a_prompt_may_be_a_command(asks: RpcClient) -> None:
    asks.ok("prompt", message="/notes")
    asks.wait("done")
    assert asks.types()[-4:] == ["ext_notify", "ext_display", "ext_clear_notes", "done"]
    asks.ok("prompt", message="/fails")
    asks.wait("done")
    assert asks.types()[-3:] == ["turn_end", "error", "done"] and "its own fault" in asks.of("error")[-1]["message"]
