"""The laws of extensions run twice: what a Python plugin and a real child process do has to come to the same.

A row is actors, what a person does and what a model answers, and what must come of it. Where the two kinds are meant
to differ, `test_extension_differences.py` says how.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from support.both_kinds import KINDS, Actor, Step, calls, played, said

from zot_core import Image
from zot_core.testing import Script

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


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


async def _while_asked(app: Any, do: Callable[[], Any]) -> None:
    """Sends a prompt, does something while its preparation waits for an answer, and lets that come."""
    root = Path(app.runtime.cwd).parent
    prompt = asyncio.create_task(app.prompt("Go"))
    while not (root / "seen").exists():
        await asyncio.sleep(0.005)
    done = do()
    if asyncio.iscoroutine(done):
        await done
    for _ in range(3):  # rounds of the loop, in which what waits is told; an answer at the same moment would be taken
        await asyncio.sleep(0)
    (root / "go-on").touch()
    await prompt


async def overtake(app: Any) -> None:
    await _while_asked(app, lambda: other_model(app))


async def abort(app: Any) -> None:
    await _while_asked(app, app.abort)


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
        {
            "results": [(False, ["fog"])],
            "transcript": [
                ("user", "Go"),
                ("assistant", "", 'weather {"path": "asked.txt"}'),
                ("tool", "fog"),
            ],
        },
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
            Actor(
                "censor", asks={"assistant_message": [{"block": True, "reason": "private", "replace_text": "x"}, {}]}
            ),
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
    Law(
        "a preparation that a reset overtakes is made again; its late answer changes nothing",
        [
            prompter("slow", {"system_prompt": "Old.", "hold": "go-on"}, {"system_prompt": "New."}),
            prompter("behind", {}),
        ],
        said("Yes."),
        {"prompts": ["New."], "asked": ["slow:before_agent_start"] * 2 + ["behind:before_agent_start"]},
        steps=(overtake,),
    ),
    Law(
        "an abort commits nothing: the next prompt asks again",
        [prompter("slow", {"system_prompt": "Old.", "hold": "go-on"}, {"system_prompt": "New."})],
        said("Yes."),
        {"prompts": ["New."], "asked": ["slow:before_agent_start"] * 2, "shown": ["Yes."]},
        steps=(abort, "On"),
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
