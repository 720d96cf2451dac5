"""Where a Python plugin and an extension of the same trade are meant to differ, and how the command ends for both."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from support.both_kinds import KINDS, Actor, Kind, Step, calls, played, said, write_actors

from zot_core.testing import Script

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
        "a refusal of the prompt's preparation changes nothing; of an extension it is logged",
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
        [
            ("assistant_message", {"withheld": True, "reason": "private"}),
            ("turn_end", {"stop": "end_turn"}),
            ("done", {}),
        ],
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
