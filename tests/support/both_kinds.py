"""One behaviour in two forms: a Python plugin, and a program that speaks the protocol of extensions.

An `Actor` says as data what it registers and answers, in the protocol's words. `played` lets actors act in a session,
natively or as child processes, and gives what came of it in words that do not tell which it was.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from support.extension_scripts import script

from zot_core import ModelSpec, ProviderSpec, Text, hookimpl
from zot_core.models.protocol import Request
from zot_core.testing import Script
from zot_core.testing.session import open_app
from zot_core.types.failure import ZotError

Kind = Literal["native", "child"]
KINDS: tuple[Kind, ...] = ("native", "child")


@dataclass
class Actor:
    """What one plugin or extension does.

    `asks` has an answer for each event that it intercepts, a list of them for one after another; one with `hold` is
    given when the file of that name is there. `commands` has an answer for each command, with `notes` and `clear`
    before it. `place` and the order of actors give its rank. With `after` it
    starts to speak when that other one has said all, which matters for a process only.
    """

    name: str
    place: Literal["explicit", "project", "home"] = "explicit"
    tools: Sequence[Mapping[str, Any]] = ()
    commands: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    asks: Mapping[str, Any] = field(default_factory=dict)
    tells: Sequence[str] = ()
    after: str = ""
    native: str = ""
    child: str = ""
    """Programs of its own instead, for what the two kinds do in different words: after the same prelude."""

    def data(self, folder: Path) -> str:
        """All of it as text in a program."""
        values = {key: getattr(self, key) for key in ("name", "tools", "commands", "asks", "tells", "after")}
        return repr(json.dumps({**values, "folder": str(folder)}))


SHARED = """
SELF = json.loads(DATA)
def seen(**row):
    with open(os.path.join(SELF["folder"], "seen"), "a", encoding="utf-8") as file:
        file.write(json.dumps({"who": SELF["name"], **row}) + "\\n")
def answer_to(event):
    answer = SELF["asks"][event]
    if isinstance(answer, list):
        return answer.pop(0) if answer else {}
    return answer
def held(answer):
    if "hold" in answer and os.path.exists(os.path.join(SELF["folder"], answer["hold"])):
        del answer["hold"]
    return "hold" in answer
"""
CHILD = """
if SELF["after"]:
    other = os.path.join(SELF["folder"], SELF["after"] + ".ready")
    while not os.path.exists(other): time.sleep(0.005)
hello()
for tool in SELF["tools"]:
    emit("register_tool", name=tool["name"], description="d", schema={"type": "object"},
         deferred=tool.get("deferred", False))
for name in SELF["commands"]: emit("register_command", name=name, description="d")
emit("subscribe", events=SELF["tells"], intercept=list(SELF["asks"]))
emit("ready")
open(os.path.join(SELF["folder"], SELF["name"] + ".ready"), "w").close()
SKIPPED = ("type", "id", "session_id", "agent_run_id", "cwd", "provider", "model")
for frame in frames():
    row = {key: value for key, value in frame.items() if key not in SKIPPED}
    if frame["type"] == "event":
        seen(told=row.pop("event"), **row)
    elif frame["type"] == "event_intercept":
        seen(asked=row.pop("event"), **row)
        answer = dict(answer_to(frame["event"]))
        while held(answer): time.sleep(0.005)
        emit("event_intercept_response", id=frame["id"], **answer)
    elif frame["type"] == "tool_call":
        seen(called=frame["name"], args=frame["args"])
        answer = next(tool["answer"] for tool in SELF["tools"] if tool["name"] == frame["name"])
        emit("tool_result", id=frame["id"], **answer)
    elif frame["type"] == "command_invoked":
        seen(command=frame["name"], args=frame["args"])
        answer = dict(SELF["commands"][frame["name"]])
        for level, message in answer.pop("notes", ()): emit("notify", level=level, message=message)
        if answer.pop("clear", False): emit("clear_notes")
        emit("command_response", id=frame["id"], **answer)
"""
NATIVE = """
import asyncio
from zot_core import Block, CommandSpec, Image, Text, ToolResult, ToolSpec, ZotError, hookimpl

def row_of(name, event):
    if name == "tool_call":
        return {"tool_id": event.call_id, "tool_name": event.tool_name, "tool_args": dict(event.args)}
    if name == "turn_end":
        return {"stop": event.stop, **({"error": event.failure.message} if event.failure else {})}
    field = {"turn_start": "step", "assistant_message": "text", "before_agent_start": "system_prompt"}.get(name)
    return {field: getattr(event, field)} if field else {}

def asking(name):
    async def ask(event):
        seen(asked=name, **row_of(name, event))
        answer = dict(answer_to(name))
        while held(answer): await asyncio.sleep(0.005)
        if answer.get("block"):
            return Block(answer["reason"])
        words = {"modified_args": "args", "replace_text": "text", "system_prompt": "system_prompt"}
        changed = {words[key]: value for key, value in answer.items() if key in words}
        return event.replace(**changed) if changed else None
    return hookimpl("prepare_system_prompt" if name == "before_agent_start" else name)(ask)

def telling(name):
    def tell(event):
        seen(told=name, **row_of(name, event))
    return hookimpl(name, observe=True)(tell) if name != "session_start" else hookimpl(name)(tell)

def block_of(block):
    return Text(block["text"]) if block["type"] == "text" else Image(block["mime_type"], block["data"])

def tool_of(tool):
    async def execute(args, ctx):
        seen(called=tool["name"], args=dict(args))
        answer = dict(tool["answer"])
        content = tuple(block_of(block) for block in answer.pop("content"))
        return ToolResult(content=content, **{key: tuple(v) if key == "activate_tools" else v
                                              for key, v in answer.items()})
    return ToolSpec(name=tool["name"], description="d", parameters={"type": "object", "properties": {}},
                    execute=execute, deferred=tool.get("deferred", False))

def command_of(name, answer):
    async def handler(args, ctx):
        seen(command=name, args=args)
        for level, message in answer.get("notes", ()):
            ctx.ui.notify(message, "warning" if level == "warn" else level)
        if answer.get("clear"): ctx.ui.clear_notes()
        if answer.get("error"): raise ZotError(answer["error"])
        if answer["action"] == "prompt": ctx.send_user_message(answer["prompt"], deliver_as="follow_up")
        if answer["action"] == "display": ctx.ui.display(answer["display"])
    return CommandSpec(name=name, description="d", handler=handler)

@hookimpl
def tools(): return [tool_of(tool) for tool in SELF["tools"]]
@hookimpl
def commands(): return [command_of(name, answer) for name, answer in SELF["commands"].items()]
for name in SELF["asks"]: globals()["ask_" + name] = asking(name)
for name in SELF["tells"]: globals()["tell_" + name] = telling(name)
"""


class Model:
    """A provider that plays a script and keeps what it is asked: what a model is sent is the truth about most laws."""

    def __init__(self, replies: Script) -> None:
        self.requests: list[Request] = []
        self._replies = replies.replies

    @hookimpl
    def providers(self) -> list[ProviderSpec]:
        """The provider `recorded`."""
        models = tuple(
            ModelSpec(id=id, provider="recorded", inputs=("text", "image"), context_window=1_000_000)
            for id in ("one", "two")
        )
        return [
            ProviderSpec(id="recorded", name="R", keyless=True, models=models, default_model="one", stream=self._stream)
        ]

    def _stream(self, request: Request) -> AsyncIterator[Any]:
        from zot_plugins.provider_scripted.script import play

        self.requests.append(request)
        return play(request, self)

    # What `play` wants of a player.
    path = "the test's script"

    @property
    def script(self) -> Any:
        """The replies."""
        return self._replies

    @property
    def calls(self) -> int:
        """How many requests there were, this one included."""
        return len(self.requests)

    @calls.setter
    def calls(self, value: int) -> None: ...


@dataclass
class Outcome:
    """What came of it. All of it but `kind`, `diagnostics` and `logs` has to be the same for both forms."""

    kind: Kind
    ends: list[str]
    """For each step how it ended: a run's stop, `done` where nothing ran, the error's type and text."""
    shown: list[str]
    """What people saw of each answer."""
    withheld: int
    notes: list[tuple[str, str, str]]
    """(plugin, level or kind, text), without what zot itself found."""
    diagnostics: list[str]
    """What zot itself had to say of plugins."""
    logs: dict[str, str]
    reasons: list[str]
    """What stopped something, as front ends are told."""
    prompts: list[str | None]
    """The system prompt of each request."""
    transcript: list[tuple[str, ...]]
    """The conversation in the last request, as the model sees it."""
    offered: list[list[str]]
    """Those of the actors' tools that each request offered."""
    results: list[tuple[bool, list[Any]]]
    seen: list[dict[str, Any]]
    """What all actors were asked for, in order. What one was told stands where it stands among the rest of its own."""

    @property
    def asked(self) -> list[str]:
        """Who was asked what, in order."""
        return [f"{row['who']}:{row['asked']}" for row in self.seen if "asked" in row]

    def of(self, who: str) -> list[dict[str, Any]]:
        """All that one actor saw, in order."""
        return [{key: value for key, value in row.items() if key != "who"} for row in self.seen if row["who"] == who]

    def comparable(self) -> dict[str, Any]:
        """All of it, with what an actor was told apart: that is not awaited, so its place among others' is luck."""
        whole = {key: value for key, value in vars(self).items() if key not in ("kind", "diagnostics", "logs", "seen")}
        whole["asked"] = [row for row in self.seen if "told" not in row]
        whole["told"] = {who: self.of(who) for who in sorted({row["who"] for row in self.seen})}
        return whole


Step = str | Callable[[Any], Any]
"""A prompt, or something to do with the App."""


def write_actors(kind: Kind, actors: Sequence[Actor], root: Path) -> tuple[tuple[str, str], ...]:
    """Writes the programs of the actors; gives those of the command line."""
    explicit = []
    homes = {"explicit": root / "line", "project": root / "project" / ".zot", "home": root / "home"}
    for actor in actors:
        base = homes[actor.place]
        head = f"import json, os\nDATA = {actor.data(root)}\n{SHARED}"
        if kind == "child":
            extension = script(base / "extensions", actor.name, head + (actor.child or CHILD))
            where = ("ext", str(extension.folder))
        else:
            file = base / "plugins" / f"{actor.name}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(head + (actor.native or NATIVE), encoding="utf-8")
            where = ("plugin", str(file))
        if actor.place == "explicit":
            explicit.append(where)
    return tuple(explicit)


async def played(
    kind: Kind,
    actors: Sequence[Actor],
    steps: Sequence[Step],
    replies: Script,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Outcome:
    """Lets the actors act, one step after another, in a home and a project of their own."""
    for name in ("home", "project"):
        (root / name).mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("ZOT_HOME", str(root / "home"))
    model, ends = Model(replies), []
    explicit = write_actors(kind, actors, root)
    options: dict[str, Any] = {"provider": "recorded", "trust": True, "no_plugins": False}
    async with open_app(cwd=root / "project", explicit=explicit, plugins=[model], **options) as app:
        for plugin in app.runtime.host.plugins.values():
            if hasattr(plugin.plugin, "settled"):
                await plugin.plugin.settled()
        for step in steps:
            if callable(step):
                await step(app)
                continue
            try:
                end = await app.prompt(step)
                ends.append(end.stop if end else "done")
            except ZotError as error:
                ends.append(f"{type(error).__name__}: {error}")
    return _outcome(kind, actors, app.front, model, ends, root)


def _outcome(kind: Kind, actors: Sequence[Actor], front: Any, model: Model, ends: list[str], root: Path) -> Outcome:
    own = {tool["name"] for actor in actors for tool in actor.tools}
    lines = (root / "seen").read_text(encoding="utf-8").split("\n") if (root / "seen").exists() else []

    def plain(text: str | None) -> str | None:
        return None if text is None else text.replace(str(root), "<root>")

    return Outcome(
        kind=kind,
        ends=ends,
        shown=list(front.shown),
        withheld=sum(line.get("withheld") is True for line in front.lines),
        notes=[
            (note.source.removeprefix("ext:"), note.kind if note.kind != "notify" else note.level, note.text)
            for note in front.notes
            if note.kind not in ("diagnostic", "plugin_error")
        ],
        diagnostics=[note.text for note in front.notes if note.kind in ("diagnostic", "plugin_error")],
        logs={file.stem: file.read_text(encoding="utf-8") for file in (root / "home" / "logs").glob("ext-*.log")},
        reasons=[f"{seen.plugin.removeprefix('ext:')}: {seen.stop.reason}" for seen in front.events if seen.stop],
        prompts=[plain(request.system) for request in model.requests],
        transcript=[_message(message) for message in (model.requests[-1].messages if model.requests else ())],
        offered=[[tool.name for tool in request.tools if tool.name in own] for request in model.requests],
        results=[
            (result.is_error, [block.text if isinstance(block, Text) else block for block in result.content])
            for result in front.tool_results()
        ],
        seen=[json.loads(plain(line) or "") for line in lines if line],
    )


def _message(message: Any) -> tuple[str, ...]:
    calls = [f"{call.name} {json.dumps(call.args)}" for call in getattr(message, "tool_calls", ())]
    return (message.role, "".join(block.text for block in message.content if isinstance(block, Text)), *calls)


def said(*texts: str) -> Script:
    """One answer after another."""
    replies = Script()
    for number, text in enumerate(texts):
        replies = (replies.then() if number else replies).text(text)
    return replies


def calls(tool: str, then: str = "Done.", **args: Any) -> Script:
    """A call, then an answer."""
    return Script().tool_call(tool, call_id="c1", **args).then().text(then)
