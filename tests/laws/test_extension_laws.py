"""The laws of extensions run twice: what a Python plugin and a real child process do has to come to the same.

A row is actors, what a person does and what a model answers, and what must come of it. Where the two kinds are meant
to differ, the rows at the end say how.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from support.both_kinds import KINDS, Actor, Kind, Step, played, write_actors

from zot_core import Image
from zot_core.testing import Script

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def said(*texts: str) -> Script:
    """One answer after another."""
    replies = Script()
    for number, text in enumerate(texts):
        replies = (replies.then() if number else replies).text(text)
    return replies


def calls(tool: str, then: str = "Done.", **args: Any) -> Script:
    """A call, then an answer."""
    return Script().tool_call(tool, call_id="c1", **args).then().text(then)


def text_tool(name: str, text: str, **more: Any) -> dict[str, Any]:
    """A tool that answers with a text."""
    answer = {"content": [{"type": "text", "text": text}], **more}
    deferred = answer.pop("deferred", False)
    return {"name": name, "deferred": deferred, "answer": answer}


@dataclass
class Law:
    """`expect` names attributes of the outcome."""

    name: str
    actors: Sequence[Actor]
    replies: Script
    expect: dict[str, Any]
    steps: Sequence[Step] = ("Go",)
    told: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """All that an actor saw, in order."""


def rewriter(name: str, path: str, **more: Any) -> Actor:
    return Actor(name, asks={"tool_call": {"modified_args": {"path": path}}}, **more)


def prompter(name: str, *answers: Any, **more: Any) -> Actor:
    return Actor(name, asks={"before_agent_start": list(answers) if len(answers) > 1 else answers[0]}, **more)


async def new_session(app: Any) -> None:
    await app.new_session()


async def other_model(app: Any) -> None:
    assert await app.runtime.choice.set_model("recorded/two")


ORDER = [
    Law(
        "explicit before project before home, names within one, whatever started first",
        [
            rewriter("zeta", "1", place="explicit", after="home-a"),
            rewriter("alpha", "2", place="explicit", after="zeta"),
            rewriter("project-b", "4", place="project"),
            rewriter("project-a", "3", place="project", after="project-b"),
            rewriter("home-b", "6", place="home"),
            rewriter("home-a", "5", place="home"),
        ],
        calls("ls", path="0"),
        {"asked": [f"{name}:tool_call" for name in ("zeta", "alpha", "project-a", "project-b", "home-a", "home-b")]},
        told={
            "zeta": [{"asked": "tool_call", "tool_id": "c1", "tool_name": "ls", "tool_args": {"path": "0"}}],
            "project-a": [{"asked": "tool_call", "tool_id": "c1", "tool_name": "ls", "tool_args": {"path": "2"}}],
            "home-b": [{"asked": "tool_call", "tool_id": "c1", "tool_name": "ls", "tool_args": {"path": "5"}}],
        },
    ),
    Law(
        "the first of one name has it: explicit before project before home",
        [
            Actor("same", place="home", asks={"turn_start": {"block": True, "reason": "home"}}),
            Actor("same", place="project", asks={"turn_start": {"block": True, "reason": "project"}}),
        ],
        said("Yes."),
        {"reasons": ["same: project"], "ends": ["blocked"]},
    ),
]
CALLS = [
    Law(
        "the tool gets the arguments that the last rewrite left",
        [
            rewriter("first", "wrong.txt"),
            rewriter("second", "right.txt", tools=[text_tool("weather", "fog")]),
        ],
        calls("weather", path="asked.txt"),
        {"results": [(False, ["fog"])], "transcript": [
            ("user", "Go"), ("assistant", "", 'weather {"path": "asked.txt"}'), ("tool", "fog"),
        ]},
        told={
            "second": [
                {"asked": "tool_call", "tool_id": "c1", "tool_name": "weather", "tool_args": {"path": "wrong.txt"}},
                {"called": "weather", "args": {"path": "right.txt"}},
            ]
        },
    ),
    Law(
        "the first block wins: those behind it are not asked, the model reads the reason",
        [
            rewriter("rewriter", "x"),
            Actor("first", asks={"tool_call": {"block": True, "reason": "not today", "modified_args": {"path": "y"}}}),
            Actor("second", asks={"tool_call": {"block": True, "reason": "never"}}),
        ],
        calls("ls", path="."),
        {
            "asked": ["rewriter:tool_call", "first:tool_call"],
            "ends": ["end_turn"],
            "reasons": ["first: not today"],
            "shown": ["Done."],
        },
    ),
    Law(
        "each call of a batch is asked about, in the assistant's order, before any runs",
        [
            Actor(
                "guard",
                tools=[text_tool("weather", "fog")],
                asks={"tool_call": [{"block": True, "reason": "no"}, {}, {}]},
            )
        ],
        Script()
        .tool_call("weather", call_id="c1", n=1)
        .tool_call("weather", call_id="c2", n=2)
        .tool_call("weather", call_id="c3", n=3)
        .then()
        .text("Done."),
        {"asked": ["guard:tool_call"] * 3, "shown": ["Done."]},
    ),
    Law(
        "an answer that says nothing changes nothing",
        [Actor("mild", asks={"tool_call": {}, "turn_start": {}, "assistant_message": {}, "before_agent_start": {}})],
        calls("ls", then="Done.", path="."),
        {
            "asked": [
                f"mild:{event}"
                for event in ("before_agent_start", "turn_start", "tool_call", "turn_start", "assistant_message")
            ],
            "ends": ["end_turn"],
            "shown": ["Done."],
            "reasons": [],
        },
    ),
    Law(
        "observers are told the call as sent, before the chain, and one that does both is told first",
        [
            rewriter("changer", "b"),
            Actor("watcher", tells=["tool_call"]),
            Actor("both", tells=["tool_call"], asks={"tool_call": {}}),
        ],
        calls("ls", path="a"),
        {"asked": ["changer:tool_call", "both:tool_call"]},
        told={
            "watcher": [{"told": "tool_call", "tool_id": "c1", "tool_name": "ls", "tool_args": {"path": "a"}}],
            "both": [
                {"told": "tool_call", "tool_id": "c1", "tool_name": "ls", "tool_args": {"path": "a"}},
                {"asked": "tool_call", "tool_id": "c1", "tool_name": "ls", "tool_args": {"path": "b"}},
            ],
        },
    ),
    Law(
        "an observer is told of a call that is blocked",
        [Actor("guard", asks={"tool_call": {"block": True, "reason": "no"}}), Actor("watcher", tells=["tool_call"])],
        calls("ls", path="a"),
        {"reasons": ["guard: no"]},
        told={"watcher": [{"told": "tool_call", "tool_id": "c1", "tool_name": "ls", "tool_args": {"path": "a"}}]},
    ),
]
TEXT = "The key is 7."
SHOWN = [
    Law(
        "what people see is replaced, one after another; the model keeps its word",
        [
            Actor("first", asks={"assistant_message": {"replace_text": "The key is *."}}),
            Actor("second", asks={"assistant_message": {"replace_text": "[redacted]"}}),
            Actor("watcher", tells=["assistant_message"]),
        ],
        said(TEXT, "Again."),
        {
            "shown": ["[redacted]", "[redacted]"],
            "withheld": 0,
            "transcript": [("user", "Go"), ("assistant", TEXT), ("user", "On")],
        },
        steps=("Go", "On"),
        told={
            "second": [{"asked": "assistant_message", "text": "The key is *."}] * 2,
            "watcher": [
                {"told": "assistant_message", "text": TEXT},
                {"told": "assistant_message", "text": "Again."},
            ],
        },
    ),
    Law(
        "an empty replacement shows nothing, and withholds nothing",
        [Actor("eraser", asks={"assistant_message": {"replace_text": ""}})],
        said(TEXT),
        {"shown": [], "withheld": 0, "ends": ["end_turn"]},
    ),
    Law(
        "a withheld message is not shown, the run goes on, the model keeps its word, the reason is told",
        [
            Actor("censor", asks={"assistant_message": [{"block": True, "reason": "private", "replace_text": "x"}, {}]}),
            Actor("later", asks={"assistant_message": {"replace_text": "later"}}),
        ],
        said(TEXT, "Plain."),
        {
            "shown": ["later"],
            "withheld": 1,
            "ends": ["end_turn", "end_turn"],
            "reasons": ["censor: private"],
            "asked": ["censor:assistant_message", "censor:assistant_message", "later:assistant_message"],
            "transcript": [("user", "Go"), ("assistant", TEXT), ("user", "On")],
        },
        steps=("Go", "On"),
    ),
    Law(
        "an answer without text is no message to ask about",
        [Actor("censor", asks={"assistant_message": {"replace_text": "x"}}, tells=["assistant_message"])],
        calls("ls", then="Done.", path="."),
        {"shown": ["x"], "asked": ["censor:assistant_message"]},
    ),
]
TURNS = [
    Law(
        "a blocked turn asks no model, ends with stop blocked, and leaves the rest of the session to go on",
        [
            Actor("hours", asks={"turn_start": [{"block": True, "reason": "after hours"}, {}]}, tells=["turn_end"]),
            Actor("behind", asks={"turn_start": {}}),
        ],
        said("Yes."),
        {
            "ends": ["blocked", "end_turn"],
            "reasons": ["hours: after hours"],
            "asked": ["hours:turn_start", "hours:turn_start", "behind:turn_start"],
            "shown": ["Yes."],
        },
        steps=("Go", "On"),
        told={
            "hours": [
                {"asked": "turn_start", "step": 1},
                {"told": "turn_end", "stop": "blocked", "error": "after hours"},
                {"asked": "turn_start", "step": 1},
                {"told": "turn_end", "stop": "end_turn"},
            ]
        },
    ),
    Law(
        "a turn after a tool call can be blocked too: the call has its result",
        [Actor("limit", asks={"turn_start": [{}, {"block": True, "reason": "one is enough"}]})],
        calls("ls", path="."),
        {"ends": ["blocked"], "reasons": ["limit: one is enough"], "shown": []},
    ),
    Law(
        "events come in order, steps count from one in each prompt, the last come before the end",
        [Actor("watcher", tells=["session_start", "turn_start", "turn_end", "tool_call", "assistant_message"])],
        Script().text("I look.").tool_call("ls", call_id="c1", path=".").then().text("Done.").then().text("Bye."),
        {"ends": ["end_turn", "end_turn"]},
        steps=("Go", "On"),
        told={
            "watcher": [
                {"told": "session_start"},
                {"told": "turn_start", "step": 1},
                {"told": "assistant_message", "text": "I look."},
                {"told": "tool_call", "tool_id": "c1", "tool_name": "ls", "tool_args": {"path": "."}},
                {"told": "turn_end", "stop": "tool_use"},
                {"told": "turn_start", "step": 2},
                {"told": "assistant_message", "text": "Done."},
                {"told": "turn_end", "stop": "end_turn"},
                {"told": "turn_start", "step": 1},
                {"told": "assistant_message", "text": "Bye."},
                {"told": "turn_end", "stop": "end_turn"},
            ]
        },
    ),
]
PROMPTS = [
    Law(
        "the prompt is replaced exactly, one after another",
        [prompter("first", {"system_prompt": " A \n"}), prompter("second", {"system_prompt": "  B\u2028\n\n"})],
        said("Yes."),
        {"prompts": ["  B\u2028\n\n"]},
        told={"second": [{"asked": "before_agent_start", "system_prompt": " A \n"}]},
    ),
    Law(
        "an empty prompt removes it",
        [prompter("remover", {"system_prompt": ""}), prompter("behind", {})],
        said("Yes."),
        {"prompts": [None]},
        told={"behind": [{"asked": "before_agent_start", "system_prompt": ""}]},
    ),
    Law(
        "the result holds over prompts, retries and the steps of a run",
        [prompter("once", {"system_prompt": "One."}, {"system_prompt": "Two."})],
        Script()
        .tool_call("ls", path=".")
        .then()
        .error("overloaded", retry_after=0)
        .then()
        .text("Done.")
        .then()
        .text("Again."),
        {"prompts": ["One."] * 4, "asked": ["once:before_agent_start"]},
        steps=("Go", "On"),
    ),
    Law(
        "another model begins anew from the base",
        [prompter("twice", {"system_prompt": "One."}, {})],
        said("Yes.", "No."),
        {"asked": ["twice:before_agent_start"] * 2},
        steps=("Go", other_model, "On"),
    ),
    Law(
        "another session begins anew",
        [prompter("twice", {"system_prompt": "One."}, {"system_prompt": "Two."})],
        said("Yes.", "No."),
        {"prompts": ["One.", "Two."]},
        steps=("Go", new_session, "On"),
    ),
]
TOOLS = [
    Law(
        "a tool is offered, called with its arguments, and answers text and pictures",
        [
            Actor(
                "sky",
                tools=[
                    {
                        "name": "weather",
                        "answer": {
                            "content": [
                                {"type": "text", "text": "16 °C \u2028 fog"},
                                {"type": "image", "mime_type": "image/png", "data": PIXEL},
                            ]
                        },
                    }
                ],
            )
        ],
        calls("weather", city="Köln", deep={"a": [1, None, True]}),
        {"offered": [["weather"]] * 2, "results": [(False, ["16 °C \u2028 fog", Image("image/png", PIXEL)])]},
        told={"sky": [{"called": "weather", "args": {"city": "Köln", "deep": {"a": [1, None, True]}}}]},
    ),
    Law(
        "a tool's error reaches the model as an error, and the run goes on",
        [Actor("sky", tools=[text_tool("weather", "no such city", is_error=True)])],
        calls("weather"),
        {"results": [(True, ["no such city"])], "ends": ["end_turn"], "shown": ["Done."]},
    ),
    Law(
        "a deferred tool is offered from the result on that names it; unknown names are let be",
        [
            Actor(
                "loader",
                tools=[
                    text_tool("load", "Loaded.", activate_tools=["weather", "nothing"]),
                    text_tool("weather", "fog", deferred=True),
                    text_tool("hidden", "?", deferred=True),
                ],
            )
        ],
        Script().tool_call("load").then().tool_call("weather").then().text("Fog.").then().text("Still."),
        {
            "offered": [["load"], ["load", "weather"], ["load", "weather"], ["load", "weather"]],
            "results": [(False, ["Loaded."]), (False, ["fog"])],
        },
        steps=("Go", "On"),
    ),
    Law(
        "of two tools of one name the first by rank stays, whichever started first",
        [
            Actor("loser", place="home", tools=[text_tool("weather", "from home")]),
            Actor("winner", place="explicit", tools=[text_tool("weather", "from the line")], after="loser"),
        ],
        calls("weather"),
        {"offered": [["weather"]] * 2, "results": [(False, ["from the line"])]},
    ),
]
COMMANDS = [
    Law(
        "a command's prompt is sent as the person's; its name is matched in any case and its text trimmed",
        [Actor("greeter", commands={"Greet": {"action": "prompt", "prompt": "Greet me."}})],
        said("Hello."),
        {"shown": ["Hello."], "transcript": [("user", "Greet me.")]},
        steps=("/gREET   in  short  ",),
        told={"greeter": [{"command": "Greet", "args": "in  short"}]},
    ),
    Law(
        "what a command displays is a note, and no part of the conversation",
        [Actor("shower", commands={"show": {"action": "display", "display": "Look \u2028 here."}})],
        said("Yes."),
        {
            "notes": [("shower", "display", "Look \u2028 here.")],
            "ends": ["done", "end_turn"],
            "transcript": [("user", "Go")],
        },
        steps=("/show", "Go"),
    ),
    Law(
        "notes have four levels, and are taken back by who showed them",
        [
            Actor(
                "noter",
                commands={
                    "note": {
                        "notes": [[level, f"a {level}"] for level in ("info", "success", "warn", "error")],
                        "clear": True,
                        "action": "noop",
                    }
                },
            )
        ],
        said("Yes."),
        {
            "notes": [
                ("noter", "info", "a info"),
                ("noter", "success", "a success"),
                ("noter", "warning", "a warn"),
                ("noter", "error", "a error"),
                ("noter", "clear", ""),
            ],
            "ends": ["done"],
        },
        steps=("/note",),
    ),
]
LAWS = [*ORDER, *CALLS, *SHOWN, *TURNS, *PROMPTS, *TOOLS, *COMMANDS]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_law(law: Law, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = [
        asyncio.run(played(kind, law.actors, law.steps, law.replies, tmp_path / kind, monkeypatch)) for kind in KINDS
    ]
    for outcome in outcomes:
        for name, expected in law.expect.items():
            assert getattr(outcome, name) == expected, (outcome.kind, name)
        for who, rows in law.told.items():
            assert outcome.of(who) == rows, outcome.kind
    native, child = outcomes
    assert child.comparable() == native.comparable()


# --- where the two kinds are meant to differ --------------------------------------------------------------------------

NATIVE_HEAD = "from zot_core import CommandSpec, ToolSpec, hookimpl, tool\n"
NATIVE_LS = (
    NATIVE_HEAD
    + """
@tool
async def ls(path: str = ".") -> str:
    "Lists."
    return "mine"
@hookimpl
def tools(): return [ls]
"""
)
CHILD_LOOP = "\nemit('ready')\nfor frame in frames():\n"
CHILD_LS = f"hello(); emit('register_tool', name='ls', schema={{'type': 'object'}}){CHILD_LOOP}    pass"
NATIVE_BROKEN = (
    NATIVE_HEAD
    + """
@hookimpl
def tool_call(event): raise ValueError("boom")
"""
)
CHILD_BROKEN = f"hello(); emit('subscribe', intercept=['tool_call']){CHILD_LOOP}    sys.exit(1)"
NATIVE_STRICT = (
    NATIVE_HEAD
    + """
@tool
async def count(number: int) -> str:
    "Counts."
    return f"counted {number}"
@hookimpl
def tools(): return [count]
"""
)
CHILD_STRICT = """
schema = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
hello(); emit("register_tool", name="count", schema=schema); emit("ready")
for frame in frames():
    emit("tool_result", id=frame["id"], content=[{"type": "text", "text": f"got {frame['args']}"}])
"""
NATIVE_SUBMIT = (
    NATIVE_HEAD
    + """
async def more(args, ctx): ctx.send_user_message("And more.")
@hookimpl
def commands(): return [CommandSpec(name="more", handler=more)]
"""
)
CHILD_SUBMIT = f"""hello(); emit("register_command", name="more"){CHILD_LOOP}
    emit("submit", text="And more."); emit("command_response", id=frame["id"], action="noop")
"""
NATIVE_EACH_RUN = (
    NATIVE_HEAD
    + """
@hookimpl
def before_agent_start(event):
    seen(asked="before_agent_start")
    return event.replace(system_prompt="Native.")
"""
)
CHILD_EACH_RUN = f"""hello(); emit("subscribe", intercept=["before_agent_start"]){CHILD_LOOP}
    seen(asked=frame["event"]); emit("event_intercept_response", id=frame["id"], system_prompt="Child.")
"""
NATIVE_REFUSES = (
    NATIVE_HEAD
    + """
from zot_core import Block
@hookimpl
def prepare_system_prompt(event): return Block("no")
"""
)
CHILD_REFUSES = f"""hello(); emit("subscribe", intercept=["before_agent_start"]){CHILD_LOOP}
    emit("event_intercept_response", id=frame["id"], block=True, reason="no")
"""


@dataclass
class Difference:
    """A law that is another for each kind. `logged` stands in the extension's log."""

    name: str
    actors: Sequence[Actor]
    replies: Script
    native: dict[str, Any]
    child: dict[str, Any]
    steps: Sequence[Step] = ("Go",)
    logged: tuple[str, str] = ("", "")


def own(name: str, native: str, child: str, **more: Any) -> Actor:
    return Actor(name, native=native, child=child, **more)


DIFFERENCES = [
    Difference(
        "a tool named like a built-in: a Python plugin's overrides it, an extension's is not used, and logged",
        [own("lister", NATIVE_LS, CHILD_LS)],
        calls("ls", path="."),
        {"results": [(False, ["mine"])]},
        {"results": [(False, ["[The folder is empty]"])]},
        logged=("lister", "its tool ls has the name of the built-in tool; it is not used"),
    ),
    Difference(
        "two commands of one name: of Python plugins both stay, numbered; of extensions the first, whatever the case",
        [
            Actor("one", commands={"go": {"action": "display", "display": "one"}}),
            Actor("two", commands={"GO": {"action": "display", "display": "two"}}),
        ],
        said("As text."),
        {"notes": [("one", "display", "one"), ("two", "display", "two")], "ends": ["done", "done"]},
        {"notes": [("one", "display", "one")], "ends": ["done", "end_turn"]},
        steps=("/go", "/go:2"),
        logged=("two", "its command GO"),
    ),
    Difference(
        "a broken guard: a Python plugin's blocks the call, an extension's lets it run unchanged",
        [own("guard", NATIVE_BROKEN, CHILD_BROKEN)],
        calls("ls", path="."),
        {"reasons": ["guard: plugin guard failed: ValueError: boom"]},
        {"reasons": [], "results": [(False, ["[The folder is empty]"])]},
        logged=("guard", "it exited with status 1; it goes on unchanged"),
    ),
    Difference(
        "arguments: zot checks those of a Python tool, an extension's tool checks its own",
        [own("counter", NATIVE_STRICT, CHILD_STRICT)],
        calls("count", number="many"),
        {"ends": ["end_turn"], "results": [(True, [ANY])]},
        {"results": [(False, ["got {'number': 'many'}"])]},
    ),
    Difference(
        "a prompt sent unasked: a Python plugin's runs in every mode, an extension's `submit` only where one types",
        [own("pusher", NATIVE_SUBMIT, CHILD_SUBMIT)],
        said("More."),
        {"shown": ["More."], "transcript": [("user", "And more.")]},
        {"shown": [], "ends": ["done"]},
        steps=("/more",),
        logged=("pusher", "a `submit`, which json mode does not take"),
    ),
    Difference(
        "before_agent_start: in Python for each run, on the wire once until the prompt is prepared anew",
        [own("preparer", NATIVE_EACH_RUN, CHILD_EACH_RUN)],
        said("1", "2"),
        {"prompts": ["Native."] * 2, "asked": ["preparer:before_agent_start"] * 2},
        {"prompts": ["Child."] * 2, "asked": ["preparer:before_agent_start"]},
        steps=("Go", "On"),
    ),
    Difference(
        "a refusal of the prompt's preparation changes nothing: a Python plugin's is its error, an extension's a warning",
        [own("refuser", NATIVE_REFUSES, CHILD_REFUSES)],
        said("Yes."),
        {"shown": ["Yes."], "reasons": []},
        {"shown": ["Yes."], "reasons": []},
        logged=("refuser", "its answer to before_agent_start was not used: `block` does not stop it"),
    ),
    Difference(
        "a command that fails names what it belongs to",
        [Actor("failing", commands={"fail": {"action": "noop", "error": "no luck"}})],
        said("Yes."),
        {"ends": ["ZotError: no luck"]},
        {"ends": ["ExtensionError: /fail: the extension failing says: no luck"]},
        steps=("/fail",),
    ),
]


@pytest.mark.parametrize("row", DIFFERENCES, ids=lambda row: row.name)
def test_difference(row: Difference, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = [
        asyncio.run(played(kind, row.actors, row.steps, row.replies, tmp_path / kind, monkeypatch)) for kind in KINDS
    ]
    for outcome, expect in zip(outcomes, (row.native, row.child), strict=True):
        for name, expected in expect.items():
            assert getattr(outcome, name) == expected, (outcome.kind, name)
    who, words = row.logged
    if who:
        assert words in outcomes[1].logs[f"ext-{who}"]


# --- as a script sees it ----------------------------------------------------------------------------------------------


@dataclass
class Ends:
    """How the installed command ends, for both kinds: what `--json` and `-p` write, and their exit code."""

    name: str
    asks: dict[str, Any]
    code: int
    out: str
    """stdout of `-p`."""
    err: str
    """In its stderr."""
    lines: list[tuple[str, dict[str, Any]]]
    """Among the lines of `--json`, in order: a type, and fields."""


ENDS = [
    Ends(
        "a blocked turn is a failed run, and its reason is the person's",
        {"turn_start": {"block": True, "reason": "after hours"}},
        1,
        "",
        "after hours",
        [("turn_end", {"stop": "blocked"}), ("error", {"kind": "blocked", "message": ANY}), ("done", {})],
    ),
    Ends(
        "a withheld message is no failure",
        {"assistant_message": {"block": True, "reason": "private"}},
        0,
        "",
        "private",
        [("assistant_message", {"withheld": True}), ("turn_end", {"stop": "end_turn"}), ("done", {})],
    ),
    Ends(
        "a replaced message is all that leaves",
        {"assistant_message": {"replace_text": "[redacted]"}},
        0,
        "[redacted]\n",
        "",
        [("text_delta", {"delta": "[redacted]"}), ("assistant_message", {"content": ANY}), ("done", {})],
    ),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("row", ENDS, ids=lambda row: row.name)
def test_the_command_ends(row: Ends, kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZOT_SCRIPT", str(said("The secret is 7.").write(tmp_path / "script.json")))
    (_, path), *_ = write_actors(kind, [Actor("guard", asks=row.asks)], tmp_path)
    flag = "--ext" if kind == "child" else "--plugin"
    line = [sys.executable, "-m", "zot_cli", "--provider", "scripted", flag, path, "Go"]

    def run(*mode: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*line, *mode], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=20)

    plain, lines = run("-p"), run("--json")
    assert (plain.returncode, plain.stdout) == (row.code, row.out), plain.stderr
    assert row.err in plain.stderr and "Traceback" not in plain.stderr
    assert lines.returncode == row.code
    assert "secret" not in plain.stdout + plain.stderr + lines.stdout
    events = [json.loads(text) for text in lines.stdout.split("\n") if text]
    place = 0
    for type, fields in row.lines:
        place = next(
            (n for n in range(place, len(events)) if events[n]["type"] == type and fields.items() <= events[n].items()),
            -1,
        )
        assert place >= 0, (type, fields, events)
