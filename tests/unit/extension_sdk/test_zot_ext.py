"""The Python SDK as an author and a host see it: real processes, every frame checked by a strict host."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.extension_host import ExtensionHost

from zot_plugins.extension_bridge.sdk import zot_ext

Start = Callable[..., ExtensionHost]
SDK = Path(zot_ext.__file__)


# --- starting and ending ------------------------------------------------------------------------------------------


def test_an_extension_without_anything_is_one(extension: Start) -> None:
    host = extension("")
    assert (host.commands, host.tools, host.events, host.intercepts) == ({}, {}, [], [])
    assert host.stop() == 0


def test_what_it_is_told_of_its_host(extension: Start, tmp_path: Path) -> None:
    code = """
        @ext.on_hello
        def ready(host):
            @ext.command("late")
            def late(args):
                return repr((ext.host == host, host.provider, host.model, host.cwd, host.data_dir, host.zot_version))

        @ext.on_hello
        def broken(host):
            raise LookupError("not today")
    """
    host = extension(code, cwd=tmp_path)
    known = (True, "scripted", "echo", str(tmp_path), str(host.data_dir), "1.0.0")
    assert host.invoke("late")["display"] == repr(known)
    assert host.stop() == 0
    assert "on_hello failed" in host.log and "LookupError: not today" in host.log


def test_registrations_after_ready_are_sent_and_late_subscriptions_are_not(extension: Start) -> None:
    code = """
        @ext.command("more")
        def more(args):
            @ext.command("extra")
            def extra(args):
                return "there"
            @ext.tool
            def later() -> str:
                "Later."
                return "there"
            ext.on("turn_end")(print)
    """
    host = extension(code)
    assert "subscriptions are sent once" in host.invoke("more")["error"]
    assert host.invoke("extra")["display"] == "there"
    assert host.text("later") == "there"


def test_the_last_events_are_handled_before_the_answer_to_shutdown(extension: Start) -> None:
    code = """
        import time
        seen = []

        @ext.on("assistant_message", "turn_end")
        def slow(event):
            time.sleep(0.2)
            seen.append(event.event)

        @ext.on_shutdown
        def last():
            ext.log("seen", seen)
    """
    host = extension(code)
    host.tell("assistant_message", text="Bye")
    host.tell("turn_end", stop="end_turn")
    assert host.stop() == 0
    assert "seen ['assistant_message', 'turn_end']" in host.log


def test_a_handler_that_never_returns_does_not_hold_up_the_end(extension: Start) -> None:
    code = """
        import threading

        @ext.tool
        def forever():
            "Waits."
            threading.Event().wait()

        @ext.on("turn_start")
        def stuck(event):
            threading.Event().wait()
    """
    host = extension(code)
    host.begin_call("forever")
    host.tell("turn_start", step=1)
    assert host.stop() == 0
    assert "a handler still ran" in host.log


def test_an_answer_that_comes_after_the_end_is_not_sent(extension: Start) -> None:
    code = """
        import threading
        ended, said = threading.Event(), threading.Event()

        @ext.tool
        def late() -> str:
            "Answers when it is over."
            ended.wait(10)
            return "x"

        log = ext.log
        ext.log = lambda *parts: (log(*parts), said.set())
        ext.run()
        ended.set()
        said.wait(10)
    """
    host = extension(code, run=False)
    host.begin_call("late")
    assert host.stop() == 0
    assert "tool_result came too late to be sent" in host.log


def test_the_end_of_stdin_ends_it(extension: Start) -> None:
    host = extension("ext.on_shutdown(lambda: ext.log('closed'))")
    assert host.process.stdin is not None
    host.process.stdin.close()
    assert host.process.wait(10) == 0
    host._threads[1].join(10)
    assert "closed" in host.log


# --- the pipe -----------------------------------------------------------------------------------------------------


def test_prints_and_children_do_not_reach_the_pipe(begin: Start) -> None:
    code = """
        import os, subprocess, sys
        print("before")

        @ext.command("noise")
        def noise(args):
            print("print", args)
            sys.stdout.write("write\\n")
            os.write(1, b"descriptor\\n")
            child = "import sys; print('child', repr(sys.stdin.read()))"
            subprocess.run([sys.executable, "-c", child], check=True)
            return "done"
    """
    host = begin(code).start()
    assert host.invoke("noise", "ü")["display"] == "done"
    assert host.stop() == 0
    for line in ("before", "print ü", "write", "descriptor", "child ''"):
        assert f"{line}\n" in host.log


def test_any_locale_and_any_character(extension: Start) -> None:
    code = """
        @ext.tool
        def echo(text: str) -> str:
            "Says it again."
            print(text)
            return text
    """
    odd = "a\u2028b\u2029c\x85d\re\x0bf\x1cg ü 漢 \U0001f600 \x00"
    host = extension(
        code, env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}
    )
    assert host.text("echo", text=odd) == odd
    host.write(b'{"type":"tool_call","id":"x","name":"echo","args":{"text":"\\ud800"}}\n')
    host._open["x"] = "tool_result"
    assert host.result("x")["content"][0]["text"] == "?"


def test_what_is_no_frame_is_skipped_and_said(extension: Start) -> None:
    host = extension("ext.command('ping')(lambda args: 'pong')")
    for line in (b"\n", b"not json\n", b"[1]\n", b'{"no":"type"}\n', b'{"type":"of_tomorrow"}\n', b"\xff\xfe\n"):
        host.write(line)
    assert host.invoke("ping")["display"] == "pong"
    assert host.stop() == 0
    assert host.log.count("not a frame") == 5


def test_what_cannot_be_sent_is_an_error_that_says_so(extension: Start) -> None:
    code = """
        @ext.tool
        def much() -> str:
            "Too much."
            return "x" * (5 << 20)

        @ext.command("much")
        def much_too(args):
            return "x" * (5 << 20)

        @ext.command("odd")
        def odd(args):
            return Response({"action": "display", "display": float("nan")})

        @ext.intercept_before_agent_start
        def prompt_of_megabytes(event):
            return "x" * (5 << 20)
    """
    host = extension(code)
    answer = host.call("much")
    assert answer["is_error"] and "4194304 at most" in answer["content"][0]["text"]
    assert "at most" in host.invoke("much")["error"]
    assert "JSON" in host.invoke("odd")["error"] or "nan" in host.invoke("odd")["error"]
    assert host.intercept("before_agent_start", system_prompt="") == {}


def test_nothing_is_sent_before_run() -> None:
    with pytest.raises(RuntimeError, match="before run"):
        zot_ext.Extension("x").notify("hello")


# --- commands -----------------------------------------------------------------------------------------------------


def test_every_answer_of_a_command(extension: Start) -> None:
    code = """
        answers = {"prompt": prompt("p"), "insert": insert("i"), "display": display("d"), "noop": noop(), "none": None,
                   "error": error("e"), "text": "t", "panel": panel(ext.panel("one", "One", ["a"], "f")),
                   "bare": ext.panel("two")}

        @ext.command("Say", "answers")
        def say(args):
            return answers[args]
    """
    host = extension(code)
    assert host.commands["Say"]["description"] == "answers"

    def said(args: str) -> dict[str, Any]:
        return {key: value for key, value in host.invoke("Say", args).items() if key not in ("type", "id")}

    assert said("prompt") == {"action": "prompt", "prompt": "p"}
    assert said("insert") == {"action": "insert", "insert": "i"}
    assert said("display") == {"action": "display", "display": "d"}
    assert said("text") == {"action": "display", "display": "t"}
    assert said("noop") == said("none") == {"action": "noop"}
    assert said("error") == {"action": "noop", "error": "e"}
    one = {"id": "one", "title": "One", "lines": ["a"], "footer": "f"}
    assert said("panel") == {"action": "open_panel", "open_panel": one}
    assert said("bare")["open_panel"]["id"] == "two"
    assert said("nothing of this")["error"] == "/Say: KeyError: 'nothing of this'"


def test_a_command_that_exits_is_an_error_and_the_next_one_works(extension: Start) -> None:
    code = """
        import sys

        @ext.command("leave")
        def leave(args):
            sys.exit(3)

        @ext.command("stay")
        async def stay(args):
            return args.upper()
    """
    host = extension(code)
    assert host.invoke("leave")["error"] == "/leave: SystemExit: 3"
    assert host.invoke("stay", "here")["display"] == "HERE"


def test_a_name_is_taken_once() -> None:
    ext = zot_ext.Extension("x")
    ext.command("Hello")(print)
    with pytest.raises(ValueError, match="there is a command 'hello' already"):
        ext.command("hello")(print)


# --- tools --------------------------------------------------------------------------------------------------------


def test_every_answer_of_a_tool(extension: Start) -> None:
    code = """
        answers = {
            "text": "t", "none": None, "number": 7, "data": {"a": [1, "ü"]}, "list": [1, 2], "empty": [],
            "block": text("b"), "mixed": ["a", image(b"png", "image/png")],
            "error": ToolResult("no", is_error=True), "more": ToolResult(text("m"), activate_tools={"hidden"}),
        }

        @ext.tool
        def answer(kind: str):
            "Answers."
            return answers[kind]

        @ext.tool(deferred=True)
        async def hidden() -> str:
            "Hidden."
            return "found"
    """
    host = extension(code)
    assert host.tools["hidden"]["deferred"] is True and "deferred" not in host.tools["answer"]

    def said(kind: str) -> list[Any]:
        return [block.get("text", block) for block in host.call("answer", kind=kind)["content"]]

    assert [said(kind) for kind in ("text", "none", "number", "block")] == [["t"], ["(no output)"], ["7"], ["b"]]
    assert [said(kind) for kind in ("data", "list", "empty")] == [['{"a": [1, "ü"]}'], ["[1, 2]"], ["[]"]]
    assert said("mixed") == ["a", {"type": "image", "mime_type": "image/png", "data": "cG5n"}]
    assert host.call("answer", kind="error")["is_error"] is True
    assert host.call("answer", kind="more")["activate_tools"] == ["hidden"]
    assert host.text("hidden") == "found"
    failed = host.call("answer", kind="what")
    assert failed["is_error"] and failed["content"][0]["text"] == "KeyError: 'what'"
    host._open["x"] = "tool_result"
    host.send("tool_call", id="x", name="unheard", args={})
    assert "has no tool 'unheard'" in host.result("x")["content"][0]["text"]


def test_a_slow_tool_holds_up_neither_tools_nor_intercepts_nor_commands(extension: Start) -> None:
    code = """
        import threading
        go = threading.Event()

        @ext.tool
        def wait() -> str:
            "Waits."
            return str(go.wait(10))

        @ext.tool(name="go")
        def go_on() -> str:
            "Lets it go."
            go.set()
            return "gone"

        @ext.intercept_tool_call
        def guard(tool, args):
            return True

        ext.command("ping")(lambda args: "pong")
    """
    host = extension(code)
    waiting = host.begin_call("wait")
    assert host.intercept("tool_call", tool_id="1", tool_name="bash", tool_args={}) == {}
    assert host.invoke("ping")["display"] == "pong"
    assert host.text("go") == "gone"
    assert host.result(waiting)["content"] == [{"type": "text", "text": "True"}]


def test_tools_in_order_take_their_turn(extension: Start) -> None:
    code = """
        import time
        log = []

        @ext.tool(in_order=True)
        def add(number: int) -> str:
            "Adds."
            time.sleep(0.05 if number == 0 else 0)
            log.append(number)
            return str(log)

        ext.command("log")(lambda args: str(log))
    """
    host = extension(code)
    calls = [host.begin_call("add", number=number) for number in range(5)]
    assert host.invoke("log")["display"] == "[0, 1, 2, 3, 4]"
    assert host.result(calls[0])["content"] == [{"type": "text", "text": "[0]"}]


def test_a_given_schema_means_one_dict(extension: Start) -> None:
    code = """
        @ext.tool(name="raw", description="Raw.", schema={"type": "object", "properties": {"a": {"type": "integer"}}})
        def raw(args) -> str:
            return repr(args)
    """
    host = extension(code)
    assert host.tools["raw"]["schema"] == {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert host.text("raw", a=1, b="2") == "{'a': 1, 'b': '2'}"


SHAPES = """
    from __future__ import annotations
    from typing import Annotated, Any, Dict, List, Literal, Optional, TypedDict, Union

    class Spot(TypedDict):
        x: int
        y: float

    def shaped(
        name: Annotated[str, "who"],
        kind: Literal["a", "b"],
        spots: List[Spot],
        extra: Any,
        either: Union[int, str],
        maybe: Optional[str] = None,
        needed: Optional[int] = 3,
        table: Dict[str, bool] = {},
        flag: bool = False,
    ): ...
"""


def shaped() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile("\n".join(line[4:] for line in SHAPES.splitlines()), "shapes", "exec"), names)
    sys.modules["shapes"] = type(sys)("shapes")
    return zot_ext.schema_of(names["shaped"])


def test_type_hints_become_a_schema() -> None:
    schema = shaped()
    spot = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "number"}}, "required": ["x", "y"]}
    assert schema["properties"] == {
        "name": {"type": "string", "description": "who"},
        "kind": {"enum": ["a", "b"]},
        "spots": {"type": "array", "items": spot},
        "extra": {},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "maybe": {"type": "string"},
        "needed": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 3},
        "table": {"type": "object", "additionalProperties": {"type": "boolean"}, "default": {}},
        "flag": {"type": "boolean", "default": False},
    }
    assert schema["required"] == ["name", "kind", "spots", "extra", "either"]
    assert schema["additionalProperties"] is False


RIGHT = {"name": "n", "kind": "a", "spots": [{"x": 1, "y": 2}], "extra": None, "either": 1}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, None),
        ({"needed": None, "table": {"a": True}}, None),
        ({"name": 1}, "name must be of type string, not int"),
        ({"either": 1.5}, "either must be of type integer, not float or either must be of type string, not float"),
        ({"flag": 1}, "flag must be of type boolean, not int"),
        ({"needed": True}, "needed must be of type integer, not bool or needed must be of type null, not bool"),
        ({"kind": "c"}, "kind is 'c', not one of 'a', 'b'"),
        ({"spots": [{"x": 1, "y": 2}, {"x": 1}]}, "y missing in spots[1]"),
        ({"spots": [{"x": "1", "y": 2}]}, "spots[0].x must be of type integer, not str"),
        ({"table": {"a": 1}}, "table.a must be of type boolean, not int"),
        ({"nmae": "n"}, "nmae is unknown; there are name, kind, spots, extra, either, maybe, needed, table, flag"),
    ],
)
def test_arguments_are_checked(change: dict[str, Any], said: str | None) -> None:
    assert zot_ext.problem(RIGHT | change, shaped()) == said


def test_wrong_arguments_are_told_to_the_model(extension: Start) -> None:
    code = """
        @ext.tool
        def greet(name: str, loud: bool = False, times: int = 1) -> str:
            "Greets."
            return name * times
    """
    host = extension(code)
    assert host.text("greet", name="Ada", loud=None) == "Ada"
    for args, said in (({}, "name missing in the arguments"), ({"name": 1}, "name must be of type string, not int")):
        answer = host.call("greet", **args)
        assert answer["is_error"] and answer["content"][0]["text"] == f"ValueError: {said}"


def test_what_json_has_no_word_for_is_refused_when_it_is_written() -> None:
    def odd(when: complex) -> None: ...

    def many(*paths: str) -> None: ...

    with pytest.raises(TypeError, match=r"odd: when: .*complex.* has no form in JSON; .* give schema="):
        zot_ext.schema_of(odd)
    with pytest.raises(TypeError, match=r"many: .*paths.* cannot be given by name"):
        zot_ext.schema_of(many)


# --- events and interceptors --------------------------------------------------------------------------------------


def test_events_and_questions_come_in_the_order_in_which_they_were_sent(extension: Start) -> None:
    code = """
        log = []

        @ext.on("session_start", "turn_start", "tool_call", "tool_confirmation_requested", "turn_end")
        async def note(event):
            log.append((event.event, event.step, event.tool_name, event.tool_args, event.tool_preview, event.stop))

        @ext.on("turn_start")
        def broken(event):
            raise LookupError("lost")

        @ext.intercept_tool_call
        def ask(tool, args):
            log.append(("asked", tool, args))
            return False, repr(log)
    """
    host = extension(code)
    host.tell("session_start")
    host.tell("turn_start", step=2)
    host.tell("tool_call", tool_id="1", tool_name="read", tool_args={"path": "x"})
    host.tell("tool_confirmation_requested", tool_id="1", tool_name="read", tool_preview="x")
    host.tell("turn_end", stop="end_turn")
    answer = host.intercept("tool_call", tool_id="1", tool_name="read", tool_args={"path": "x"})
    assert answer["block"] is True
    assert ast.literal_eval(answer["reason"]) == [
        ("session_start", 0, "", {}, "", ""),
        ("turn_start", 2, "", {}, "", ""),
        ("tool_call", 0, "read", {"path": "x"}, "", ""),
        ("tool_confirmation_requested", 0, "read", {}, "x", ""),
        ("turn_end", 0, "", {}, "", "end_turn"),
        ("asked", "read", {"path": "x"}),
    ]
    assert host.stop() == 0
    assert "a handler of turn_start failed" in host.log and "LookupError: lost" in host.log


@pytest.mark.parametrize(
    ("code", "event", "sent", "answer"),
    [
        ("ext.intercept_tool_call(lambda tool, args: None)", "tool_call", {}, {}),
        ("ext.intercept_tool_call(lambda tool, args: True)", "tool_call", {}, {}),
        ("ext.intercept_tool_call(lambda tool, args: False)", "tool_call", {}, {"block": True, "reason": ""}),
        ("ext.intercept_tool_call(lambda tool, args: (True, 'x'))", "tool_call", {}, {}),
        ("ext.intercept_tool_call(lambda tool, args: modify({'a': 1}))", "tool_call", {}, {"modified_args": {"a": 1}}),
        (
            "ext.decide_tool_call(lambda call: block(call.tool_id + call.tool_name + call.tool_args['a']))",
            "tool_call",
            {"tool_id": "1", "tool_name": "bash", "tool_args": {"a": "x"}},
            {"block": True, "reason": "1bashx"},
        ),
        ("ext.decide_tool_call(lambda call: modify({'b': 2}))", "tool_call", {}, {"modified_args": {"b": 2}}),
        (
            "ext.intercept_turn_start(lambda step: block(str(step)))",
            "turn_start",
            {"step": 3},
            {"block": True, "reason": "3"},
        ),
        ("ext.intercept_turn_start(lambda step: None)", "turn_start", {"step": 3}, {}),
        ("ext.intercept_assistant_message(str.upper)", "assistant_message", {"text": "a"}, {"replace_text": "A"}),
        ("ext.intercept_assistant_message(replace)", "assistant_message", {"text": "a"}, {"replace_text": "a"}),
        ("ext.intercept_assistant_message(block)", "assistant_message", {"text": "a"}, {"block": True, "reason": "a"}),
        ("ext.intercept_before_agent_start(lambda e: None)", "before_agent_start", {"system_prompt": "a"}, {}),
        (
            "ext.intercept_before_agent_start(lambda e: '')",
            "before_agent_start",
            {"system_prompt": "a"},
            {"system_prompt": ""},
        ),
        (
            "ext.intercept_before_agent_start(lambda e: e.system_prompt + e.session_id + e.agent_run_id + e.model)",
            "before_agent_start",
            {"system_prompt": "a", "session_id": "s", "agent_run_id": "r", "cwd": "/", "provider": "p", "model": "m"},
            {"system_prompt": "asrm"},
        ),
        ("ext.intercept_turn_start(lambda step: 1 / 0)", "turn_start", {"step": 1}, {}),
        ("ext.intercept_turn_start(lambda step: 'no')", "turn_start", {"step": 1}, {}),
        ("ext.intercept_assistant_message(lambda text: exit(1))", "assistant_message", {"text": "a"}, {}),
    ],
)
def test_what_interceptors_answer(extension: Start, code: str, event: str, sent: dict[str, Any], answer: Any) -> None:
    host = extension(code)
    assert host.intercepts == [event] and host.events == []
    assert host.intercept(event, **sent) == answer
    assert host.stop() == 0
    assert ("failed" in host.log) == any(word in code for word in ("1 / 0", "'no'", "exit(1)"))


def test_a_misspelt_event_and_a_second_interceptor_are_refused() -> None:
    ext = zot_ext.Extension("x")
    with pytest.raises(ValueError, match=r"no event 'turn_strat'; there are session_start"):
        ext.on("turn_strat")
    ext.intercept_tool_call(lambda tool, args: True)
    with pytest.raises(ValueError, match="already"):
        ext.decide_tool_call(lambda call: None)


# --- panels, notes ------------------------------------------------------------------------------------------------

PANEL = """
    shown = ext.panel("p", "Keys", ["none"], "esc")
    keys = []

    @shown.on_key
    def key(name, text):
        keys.append(text or name)
        if text == "!":
            raise LookupError("bang")
        if name == "enter":
            shown.close()
        shown.update(keys, title=str(len(keys)))

    @shown.on_close
    def closed():
        ext.notify(f"closed after {len(keys)}", "success")
        shown.update(["too late"])

    @ext.command("open")
    def open_it(args):
        keys.clear()
        shown.update(["fresh\\nair"])
        return shown
"""


def test_keys_of_a_panel_come_in_order_and_redraw_it(extension: Start) -> None:
    host = extension(PANEL)
    host.key("p", "up")  # it is not open yet
    opened = host.invoke("open")["open_panel"]
    assert opened == {"id": "p", "title": "Keys", "lines": ["fresh", "air"], "footer": "esc"}
    for number in range(100):
        host.key("p", "rune", str(number % 10))
    frames = [host.next("panel_render") for _ in range(100)]
    assert frames[-1]["lines"] == [str(number % 10) for number in range(100)]
    assert [frame["title"] for frame in frames] == [str(number) for number in range(1, 101)]
    host.key("other", "up")
    host.send("panel_close", panel_id="p")
    host.next("notify")
    assert host.notes == [("success", "closed after 100")]
    host.key("p", "down")
    assert host.stop() == 0
    assert not [frame for frame in host._kept if frame["type"] == "panel_render"]


def test_a_panel_that_its_extension_closes_is_closed(extension: Start) -> None:
    host = extension(PANEL)
    host.invoke("open")
    host.key("p", "rune", "!")
    host.key("p", "enter")
    assert host.next("panel_close")["panel_id"] == "p"
    assert host.invoke("open")["open_panel"]["lines"] == ["fresh", "air"]
    assert host.stop() == 0
    assert host.notes == [] and "on_key failed" in host.log


def test_notes_and_prompts_at_any_time(extension: Start) -> None:
    code = """
        import threading

        @ext.command("go")
        def go(args):
            ext.notify("one")
            ext.notify(2, "warn")
            ext.clear_notes()
            threading.Timer(0.05, ext.submit, ["and then?"]).start()
            ext.notify("three", "fatal")
    """
    host = extension(code)
    assert "one of info, success, warn, error, not 'fatal'" in host.invoke("go")["error"]
    assert host.notes == [("info", "one"), ("warn", "2")]
    host.next("clear_notes")
    assert host.next("submit")["text"] == "and then?"


# --- the file itself ----------------------------------------------------------------------------------------------


def test_the_file_stands_alone_and_is_quick() -> None:
    tree = ast.parse(SDK.read_text(encoding="utf-8"), feature_version=(3, 9))
    imported = {
        (node.module or "").partition(".")[0] if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    assert imported <= sys.stdlib_module_names
    code = f"import sys; sys.path.insert(0, {os.fspath(SDK.parent)!r}); import zot_ext; print('asyncio' in sys.modules)"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_it_speaks_the_version_that_the_codec_knows() -> None:
    assert zot_ext.PROTOCOL_VERSION == 1
    assert f"version {zot_ext.PROTOCOL_VERSION} of zot's protocol" in (zot_ext.__doc__ or "")
    assert json.loads(json.dumps(zot_ext.EVENTS)) == list(zot_ext.EVENTS)
