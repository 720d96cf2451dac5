"""Extensions for zot in Python: commands, tools, events, interceptors and panels. Speaks version 1 of zot's protocol.

One file, nothing but the standard library, Python 3.9 or newer: copy it beside your extension.

    from zot_ext import Extension, prompt

    ext = Extension("hello", "1.0.0")

    @ext.command("hello", "say hi")
    def hello(args):
        return prompt("Greet me in one short sentence.")

    @ext.tool
    def weather(city: str) -> str:
        "Current weather for a city."
        return f"{city}: sunny"

    ext.run()

Three things go on side by side, so that none waits for another: commands and panels, in the order in which the person
acts; events and interceptors, in the order in which zot sends them; tools, each call in a thread of its own (those with
`in_order=True` take their turn among commands and keys and so may share state with them without a lock). Every handler
may be `async def`. What your code prints goes to stderr, which zot keeps as the extension's log.
"""

from __future__ import annotations

import base64
import inspect
import json
import os
import queue
import sys
import threading
import time
import traceback
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, BinaryIO, TypeVar

PROTOCOL_VERSION = 1
MAX_FRAME = 4 * 1024 * 1024
"""Bytes that a frame may have; zot hangs up on a longer one."""
LAST_WORDS = 1.5
"""Seconds that handlers have left when zot ends; it waits for two."""
EVENTS = ("session_start", "turn_start", "turn_end", "tool_call", "tool_confirmation_requested", "assistant_message")
LEVELS = ("info", "success", "warn", "error")
_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")


# What handlers are given ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Host:
    """Who started the extension. `cwd` is the person's project (the process itself runs in its own folder), `data_dir`
    is where to keep files."""

    protocol_version: int = PROTOCOL_VERSION
    zot_version: str = ""
    provider: str = ""
    model: str = ""
    cwd: str = ""
    extension_dir: str = ""
    data_dir: str = ""


@dataclass(frozen=True)
class Event:
    """What happened; `event` is its name. A field that its kind does not have is empty."""

    event: str
    step: int = 0
    stop: str = ""
    error: str = ""
    tool_id: str = ""
    tool_name: str = ""
    tool_args: dict[str, Any] = field(default_factory=dict)
    tool_preview: str = ""
    text: str = ""


@dataclass(frozen=True)
class PromptEvent:
    """The whole system prompt before the first model call. `agent_run_id` names this pass over the extensions."""

    system_prompt: str = ""
    session_id: str = ""
    agent_run_id: str = ""
    cwd: str = ""
    provider: str = ""
    model: str = ""


# What handlers answer -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Response:
    """What a command wants done. Made by `prompt`, `insert`, `display`, `panel`, `noop` and `error`."""

    fields: Mapping[str, Any]
    panel: Panel | None = None


def prompt(text: str) -> Response:
    """Sends `text` to the model as the person's own words."""
    return Response({"action": "prompt", "prompt": text})


def insert(text: str) -> Response:
    """Puts `text` where the cursor is, without sending it."""
    return Response({"action": "insert", "insert": text})


def display(text: str) -> Response:
    """Shows `text` to the person and to nobody else. A command that returns a str means this."""
    return Response({"action": "display", "display": text})


def panel(shown: Panel) -> Response:
    """Opens a panel. A command that returns a Panel means this."""
    return Response({"action": "open_panel"}, shown)


def noop() -> Response:
    """Nothing more; the command has done its work. A command that returns None means this."""
    return Response({"action": "noop"})


def error(message: str) -> Response:
    """Shows `message` as an error."""
    return Response({"action": "noop", "error": message})


@dataclass(frozen=True)
class Decision:
    """What an interceptor wants. Made by `block`, `modify` and `replace`; None lets everything pass as it is."""

    fields: Mapping[str, Any]


def block(reason: str = "") -> Decision:
    """Refuses. The model reads the reason for a tool call, the person that for a turn or a message."""
    return Decision({"block": True, "reason": reason})


def modify(args: Mapping[str, Any]) -> Decision:
    """Lets a tool call run with other arguments."""
    return Decision({"modified_args": dict(args)})


def replace(text: str) -> Decision:
    """Shows other text than the model wrote; the transcript keeps what it wrote."""
    return Decision({"replace_text": text})


@dataclass(frozen=True)
class ToolResult:
    """More than text: `content` is text, a block (`text`, `image`) or a list of them; `activate_tools` names deferred
    tools that the model may use from now on."""

    content: Any = ""
    is_error: bool = False
    activate_tools: Iterable[str] = ()


def text(content: str) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": content}


def image(data: bytes, mime_type: str = "image/png") -> dict[str, Any]:
    """A block with a picture."""
    return {"type": "image", "mime_type": mime_type, "data": base64.b64encode(data).decode("ascii")}


class Panel:
    """Lines that the extension shows in the editor's place. Made by `Extension.panel`.

    Its keys come one after another, as `up down left right enter esc tab pageup pagedown home end backspace delete`, or
    `rune` with the character typed. When the person closes it, `on_close` is told; `close` is not answered.
    """

    def __init__(self, ext: Extension, id: str, title: str, lines: Iterable[str], footer: str) -> None:
        self.id, self.title, self.lines, self.footer = id, title, list(lines), footer
        self.is_open = False
        self._ext = ext
        self._key: Callable[[str, str], Any] | None = None
        self._closed: Callable[[], Any] | None = None

    def on_key(self, handler: _F) -> _F:
        """Decorates what is called with (key, text) for each key."""
        self._key = handler
        return handler

    def on_close(self, handler: _F) -> _F:
        """Decorates what is called when the person has closed the panel."""
        self._closed = handler
        return handler

    def update(self, lines: Iterable[str] | None = None, title: str | None = None, footer: str | None = None) -> None:
        """Changes what is given and draws it, if the panel is open."""
        self.lines = self.lines if lines is None else list(lines)
        self.title = self.title if title is None else title
        self.footer = self.footer if footer is None else footer
        if self.is_open:
            self._ext.send("panel_render", panel_id=self.id, **self._content())

    def close(self) -> None:
        """Takes the panel away."""
        if self.is_open:
            self.is_open = False
            self._ext.send("panel_close", panel_id=self.id)

    def _content(self) -> dict[str, Any]:
        lines = [one for line in self.lines for one in str(line).split("\n")]
        return {"title": self.title, "lines": lines, "footer": self.footer}


# The extension --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Tool:
    call: Callable[[dict[str, Any]], Any]
    frame: dict[str, Any]
    in_order: bool


class Extension:
    """An extension: what its decorators register is announced by `run`, which then serves zot until it ends."""

    def __init__(self, name: str, version: str = "") -> None:
        """`name` is the one in `extension.json`."""
        self.name, self.version = name, version
        self.host = Host()
        self._commands: dict[str, tuple[Callable[[str], Any], dict[str, Any]]] = {}
        self._tools: dict[str, _Tool] = {}
        self._observers: dict[str, list[Callable[[Event], Any]]] = {}
        self._interceptors: dict[str, Callable[[dict[str, Any]], Mapping[str, Any]]] = {}
        self._panels: dict[str, Panel] = {}
        self._hello: list[Callable[[Host], Any]] = []
        self._shutdown: list[Callable[[], Any]] = []
        self._ready = self._over = False
        self._wire: int | None = None
        self._writing = threading.Lock()
        self._acts, self._asks = _Lane("commands and panels"), _Lane("events and interceptors")

    # Registering

    def command(self, name: str, description: str = "") -> Callable[[_F], _F]:
        """Decorates a slash command. It gets what was typed after its name and returns a Response, text to display, a
        Panel, or None."""

        def register(handler: _F) -> _F:
            _new(name.lower(), self._commands, "command")
            frame = {"type": "register_command", "name": name, "description": description}
            self._commands[name.lower()] = (handler, frame)
            self._announce(frame)
            return handler

        return register

    @typing.overload
    def tool(self, name: _F) -> _F: ...
    @typing.overload
    def tool(
        self,
        name: str | None = None,
        description: str | None = None,
        schema: Mapping[str, Any] | None = None,
        *,
        deferred: bool = False,
        in_order: bool = False,
    ) -> Callable[[_F], _F]: ...
    def tool(
        self,
        name: Any = None,
        description: str | None = None,
        schema: Mapping[str, Any] | None = None,
        *,
        deferred: bool = False,
        in_order: bool = False,
    ) -> Any:
        """Decorates a tool for the model, with or without parentheses.

        Name, description and schema are taken from the function's name, docstring and type hints
        (`Annotated[str, "what it is"]` describes a parameter), and it is called with keyword arguments. With a `schema`
        given it gets the arguments as one dict. It returns text, a block, a list of these, a ToolResult, or data that
        becomes JSON. A `deferred` tool is hidden until a result's `activate_tools` names it.
        """

        def register(handler: _F) -> _F:
            title = name if isinstance(name, str) else handler.__name__
            about = inspect.cleandoc(handler.__doc__ or "") if description is None else description
            _new(title, self._tools, "tool")
            shape = schema_of(handler) if schema is None else dict(schema)
            frame: dict[str, Any] = {"type": "register_tool", "name": title, "description": about, "schema": shape}
            if deferred:
                frame["deferred"] = True

            def call(args: dict[str, Any]) -> Any:
                if schema is not None:
                    return handler(args)
                given = {key: value for key, value in args.items() if value is not None or key in shape["required"]}
                if wrong := problem(given, shape):
                    raise ValueError(wrong)
                return handler(**given)

            self._tools[title] = _Tool(call, frame, in_order)
            self._announce(frame)
            return handler

        return register(name) if callable(name) else register

    def on(self, *events: str) -> Callable[[_F], _F]:
        """Decorates what is told of each of these EVENTS, with an Event."""
        for event in events:
            if event not in EVENTS:
                raise ValueError(f"there is no event {event!r}; there are {', '.join(EVENTS)}")
            self._before_ready(event)

        def register(handler: _F) -> _F:
            for event in events:
                self._observers.setdefault(event, []).append(handler)
            return handler

        return register

    def intercept_before_agent_start(self, handler: _F) -> _F:
        """Decorates what gets a PromptEvent and returns the whole system prompt to use ("" for none), or None."""

        def answer(frame: dict[str, Any]) -> Mapping[str, Any]:
            said = _run(handler, _filled(PromptEvent, frame))
            return {} if said is None else {"system_prompt": str(said)}

        return self._intercept("before_agent_start", handler, answer)

    def intercept_tool_call(self, handler: _F) -> _F:
        """Decorates what gets (tool name, args) and returns whether it may run: True or None, False, or
        (False, "why not"). A Decision is fine too."""

        def answer(frame: dict[str, Any]) -> Mapping[str, Any]:
            said = _run(handler, frame.get("tool_name", ""), frame.get("tool_args") or {})
            allowed, reason = said if isinstance(said, tuple) else (said, "")
            return _decided(block(reason) if allowed is False else None if allowed is True else allowed)

        return self._intercept("tool_call", handler, answer)

    def decide_tool_call(self, handler: _F) -> _F:
        """Decorates what gets the Event of a call, its id included, and returns `block(...)`, `modify(args)` or None.
        In the place of `intercept_tool_call`."""
        return self._intercept("tool_call", handler, lambda frame: _decided(_run(handler, _filled(Event, frame))))

    def intercept_turn_start(self, handler: _F) -> _F:
        """Decorates what gets the step and returns `block(...)` to keep the model from being called, or None."""
        return self._intercept("turn_start", handler, lambda frame: _decided(_run(handler, frame.get("step", 0))))

    def intercept_assistant_message(self, handler: _F) -> _F:
        """Decorates what gets the text and returns other text to show, `block(...)` to show none, or None."""

        def answer(frame: dict[str, Any]) -> Mapping[str, Any]:
            said = _run(handler, frame.get("text", ""))
            return _decided(replace(said) if isinstance(said, str) else said)

        return self._intercept("assistant_message", handler, answer)

    def panel(self, id: str, title: str = "", lines: Iterable[str] = (), footer: str = "") -> Panel:
        """A panel that a command may return. The same `id` takes an older one's place."""
        self._panels[id] = made = Panel(self, id, title, lines, footer)
        return made

    def on_hello(self, handler: _F) -> _F:
        """Decorates what gets the Host before anything is announced; it may register more."""
        self._hello.append(handler)
        return handler

    def on_shutdown(self, handler: _F) -> _F:
        """Decorates what is called last, with no argument."""
        self._shutdown.append(handler)
        return handler

    # Speaking

    def notify(self, message: str, level: str = "info") -> None:
        """Shows a note to the person until their next prompt."""
        if level not in LEVELS:
            raise ValueError(f"a note's level is one of {', '.join(LEVELS)}, not {level!r}")
        self.send("notify", level=level, message=str(message))

    def clear_notes(self) -> None:
        """Takes away the notes of this extension."""
        self.send("clear_notes")

    def submit(self, text: str) -> None:
        """Sends `text` as the person's prompt, behind what waits already. Only a person's own screen takes it."""
        self.send("submit", text=text)

    def log(self, *parts: object) -> None:
        """Writes a line to the extension's log."""
        print(*parts, file=sys.stderr, flush=True)

    def send(self, kind: str, **values: Any) -> None:
        """Sends one frame; the methods above are the better way. Raises ValueError for one that is too long or that
        JSON cannot say, RuntimeError before `run`."""
        if self._wire is None:
            raise RuntimeError(f"{kind}: nothing can be sent before run()")
        frame = json.dumps({"type": kind, **values}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        line = memoryview(frame.encode("utf-8", "replace") + b"\n")
        if len(line) > MAX_FRAME:
            raise ValueError(f"this {kind} would have {len(line)} bytes; a frame has {MAX_FRAME} at most")
        with self._writing:
            if self._over:
                self.log(f"{kind} came too late to be sent")
                return
            try:
                while line:
                    line = line[os.write(self._wire, line) :]
            except OSError as gone:
                self.log(f"{kind} was not sent, zot is gone: {gone}")

    # Serving

    def run(self) -> None:
        """Serves zot until it says `shutdown` or its end of the pipe closes; then returns."""
        incoming, self._wire = _take_pipes()
        for lane in (self._asks, self._acts):
            lane.start()
        self.send("hello", name=self.name, version=self.version, capabilities=["commands", "tools", "panels"])
        asked = False
        for line in incoming:  # bytes: only LF ends a frame, whatever else looks like the end of a line
            try:
                frame = json.loads(line)
                kind = frame["type"]
            except (ValueError, KeyError, TypeError, RecursionError):
                self.log(f"not a frame: {line[:200]!r}")
                continue
            if kind == "shutdown":
                asked = True
                break
            self._take(kind, frame)
        until = time.monotonic() + LAST_WORDS
        for lane in (self._asks, self._acts):
            lane.put(None)  # what zot sent before is handled first
        for lane in (self._asks, self._acts):
            lane.join(max(0.0, until - time.monotonic()))
            if lane.is_alive():
                self.log(f"{lane.name}: a handler still ran at the end")
        for handler in self._shutdown:
            self._guarded("on_shutdown", handler)
        if asked:
            self.send("shutdown_ack")
        with self._writing:
            self._over = True

    def _take(self, kind: str, frame: dict[str, Any]) -> None:
        if kind == "hello_ack":
            self._greeted(frame)
        elif kind == "command_invoked":
            self._acts.put(lambda: self._command(frame))
        elif kind == "panel_key" or kind == "panel_close":
            self._acts.put(lambda: self._panel(kind, frame))
        elif kind == "event":
            self._asks.put(lambda: self._event(frame))
        elif kind == "event_intercept":
            self._asks.put(lambda: self._intercepted(frame))
        elif kind == "tool_call":
            tool = self._tools.get(frame.get("name", ""))
            if tool is not None and tool.in_order:
                self._acts.put(lambda: self._tool_call(tool, frame))
            else:
                threading.Thread(target=self._tool_call, args=(tool, frame), daemon=True).start()

    def _greeted(self, frame: dict[str, Any]) -> None:
        self.host = _filled(Host, frame)
        for handler in self._hello:
            self._guarded("on_hello", handler, self.host)
        for announced in [*(frame for _, frame in self._commands.values()), *(t.frame for t in self._tools.values())]:
            self._announce(announced, now=True)
        if self._observers or self._interceptors:
            self.send("subscribe", events=list(self._observers), intercept=list(self._interceptors))
        self._ready = True
        self.send("ready")

    def _announce(self, frame: dict[str, Any], now: bool = False) -> None:
        if now or self._ready:
            self.send(**{"kind" if key == "type" else key: value for key, value in frame.items()})

    def _command(self, frame: dict[str, Any]) -> None:
        try:
            handler, _ = self._commands[frame["name"].lower()]
            said = _run(handler, frame.get("args", ""))
            response = noop() if said is None else panel(said) if isinstance(said, Panel) else said
            response = response if isinstance(response, Response) else display(str(response))
        except (Exception, SystemExit) as failed:
            self.log(traceback.format_exc())
            response = error(f"/{frame.get('name')}: {_said(failed)}")
        answer = dict(response.fields)
        if (shown := response.panel) is not None:
            self._panels[shown.id] = shown
            answer["open_panel"] = {"id": shown.id, **shown._content()}
        self._reply("command_response", frame, answer, lambda why: {"action": "noop", "error": why})
        if shown is not None:
            shown.is_open = True

    def _tool_call(self, tool: _Tool | None, frame: dict[str, Any]) -> None:
        try:
            if tool is None:
                raise LookupError(f"this extension has no tool {frame.get('name')!r}")
            said = _run(tool.call, frame.get("args") or {})
            result = said if isinstance(said, ToolResult) else ToolResult(said)
            answer: dict[str, Any] = {"content": _blocks(result.content), "is_error": result.is_error}
            if activate := list(result.activate_tools):
                answer["activate_tools"] = activate
        except (Exception, SystemExit) as failed:
            self.log(traceback.format_exc())
            answer = {"content": [text(_said(failed))], "is_error": True}
        self._reply("tool_result", frame, answer, lambda why: {"content": [text(why)], "is_error": True})

    def _intercepted(self, frame: dict[str, Any]) -> None:
        answer = self._interceptors.get(frame.get("event", ""), lambda frame: {})
        said = self._guarded(f"the interceptor of {frame.get('event')}", answer, frame)
        self._reply("event_intercept_response", frame, said or {}, lambda why: {})

    def _event(self, frame: dict[str, Any]) -> None:
        for handler in self._observers.get(frame.get("event", ""), ()):
            self._guarded(f"a handler of {frame.get('event')}", handler, _filled(Event, frame))

    def _panel(self, kind: str, frame: dict[str, Any]) -> None:
        shown = self._panels.get(frame.get("panel_id", ""))
        if shown is None or not shown.is_open:
            return
        if kind == "panel_close":
            shown.is_open = False
            if shown._closed is not None:
                self._guarded("on_close", shown._closed)
        elif shown._key is not None:
            self._guarded("on_key", shown._key, frame.get("key", ""), frame.get("text", ""))

    def _reply(self, kind: str, frame: dict[str, Any], said: Mapping[str, Any], instead: Callable[[str], Any]) -> None:
        """Answers a request, and says why if the answer itself cannot be sent."""
        try:
            self.send(kind, id=frame.get("id", ""), **said)
        except (ValueError, TypeError) as unsendable:
            self.log(f"{kind}: {unsendable}")
            self.send(kind, id=frame.get("id", ""), **instead(str(unsendable)))

    def _intercept(self, event: str, handler: _F, answer: Callable[[dict[str, Any]], Mapping[str, Any]]) -> _F:
        self._before_ready(event)
        _new(event, self._interceptors, "interceptor of")
        self._interceptors[event] = answer
        return handler

    def _before_ready(self, event: str) -> None:
        if self._ready:
            raise RuntimeError(f"{event}: subscriptions are sent once; make them before run() or in on_hello")

    def _guarded(self, what: str, handler: Callable[..., Any], *args: Any) -> Any:
        """Runs a handler whose failure is nobody's answer: it goes to the log and counts as None."""
        try:
            return _run(handler, *args)
        except (Exception, SystemExit):
            self.log(f"{what} failed:\n{traceback.format_exc()}")
            return None


# From Python to JSON --------------------------------------------------------------------------------------------------


def schema_of(handler: Callable[..., Any]) -> dict[str, Any]:
    """The JSON Schema of a function's parameters. Raises TypeError for a type hint that JSON has no word for."""
    try:
        hints = typing.get_type_hints(handler, include_extras=True)
    except (TypeError, NameError) as unreadable:
        raise TypeError(f"{handler.__name__}: its type hints cannot be read ({unreadable}); give schema=") from None
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, parameter in inspect.signature(handler).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{handler.__name__}: {parameter} cannot be given by name; give schema=")
        try:
            shape = _shape(hints.get(name, Any))
        except TypeError as unknown:
            raise TypeError(f"{handler.__name__}: {name}: {unknown}; use another type hint or give schema=") from None
        if parameter.default is parameter.empty:
            required.append(name)
        elif parameter.default is not None:
            shape["default"] = parameter.default
        elif "anyOf" in shape:  # Optional[...] = None: leaving it out says the same as null
            kinds = [one for one in shape.pop("anyOf") if one != {"type": "null"}]
            shape = {**(kinds[0] if len(kinds) == 1 else {"anyOf": kinds}), **shape}
        properties[name] = shape
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_KINDS: dict[Any, str] = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
_TYPES: dict[str, Any] = {"string": str, "boolean": bool, "integer": int, "number": (int, float), "array": list}
_TYPES.update({"object": dict, "null": type(None)})


def _shape(hint: Any) -> dict[str, Any]:
    """The schema of one type hint."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return {}
    if hint in _KINDS:
        return {"type": _KINDS[hint]}
    if hasattr(hint, "__metadata__"):
        described = [one for one in hint.__metadata__ if isinstance(one, str)]
        return {**_shape(hint.__origin__), **({"description": described[0]} if described else {})}
    if origin is typing.Literal:
        return {"enum": list(args)}
    if origin is typing.Union or origin is getattr(types, "UnionType", typing.Union):
        return {"anyOf": [_shape(one) for one in args]}
    if hint is list or origin is list:
        return {"type": "array", **({"items": _shape(args[0])} if args else {})}
    if hint is dict or origin is dict:
        return {"type": "object", **({"additionalProperties": _shape(args[1])} if args else {})}
    if hasattr(hint, "__required_keys__"):
        inner = {key: _shape(one) for key, one in typing.get_type_hints(hint, include_extras=True).items()}
        return {"type": "object", "properties": inner, "required": sorted(hint.__required_keys__)}
    raise TypeError(f"{hint!r} has no form in JSON")


def problem(value: Any, schema: Mapping[str, Any], where: str = "") -> str | None:
    """What is wrong with a value by the parts of JSON Schema that `schema_of` writes; None when it is right."""
    called = where or "the arguments"
    if "anyOf" in schema:
        wrong = [problem(value, one, where) for one in schema["anyOf"]]
        return None if None in wrong else " or ".join(str(one) for one in wrong)
    if "enum" in schema and value not in schema["enum"]:
        return f"{called} is {value!r}, not one of {', '.join(repr(one) for one in schema['enum'])}"
    kind = schema.get("type")
    if kind and (not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        return f"{called} must be of type {kind}, not {type(value).__name__}"
    if kind == "array":
        inner = [problem(one, schema.get("items", {}), f"{where}[{index}]") for index, one in enumerate(value)]
        return next((one for one in inner if one), None)
    return _problem_in_object(value, schema, where) if kind == "object" else None


def _problem_in_object(value: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> str | None:
    known, other = schema.get("properties", {}), schema.get("additionalProperties", True)
    if missing := [name for name in schema.get("required", ()) if name not in value]:
        return f"{', '.join(missing)} missing in {where or 'the arguments'}"
    for name, one in value.items():
        path = f"{where}.{name}" if where else name
        if name not in known and other is False:
            return f"{path} is unknown; there are {', '.join(known) or 'no arguments'}"
        if wrong := problem(one, known.get(name, other if isinstance(other, Mapping) else {}), path):
            return wrong
    return None


def _blocks(content: Any) -> list[dict[str, Any]]:
    """What a tool returned as blocks."""
    if isinstance(content, str):
        return [text(content)]
    if content is None:
        return [text("(no output)")]
    parts = content if isinstance(content, (list, tuple)) and content else [content]
    if all(isinstance(one, str) or (isinstance(one, dict) and one.get("type") in ("text", "image")) for one in parts):
        return [text(one) if isinstance(one, str) else one for one in parts]
    return [text(json.dumps(content, ensure_ascii=False, default=str))]


# Small things ---------------------------------------------------------------------------------------------------------


class _Lane(threading.Thread):
    """A thread that does one piece of work after another; None ends it."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self._work: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self.put = self._work.put

    def run(self) -> None:
        while (work := self._work.get()) is not None:
            work()


def _take_pipes() -> tuple[BinaryIO, int]:
    """Keeps zot's pipes for frames alone: what else this process or a child of it prints goes to stderr, and whoever
    reads stdin finds nothing."""
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout.flush()
    sys.stdout = sys.stderr
    if (reconfigure := getattr(sys.stderr, "reconfigure", None)) is not None:
        reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    return incoming, outgoing


def _run(handler: Callable[..., Any], *args: Any) -> Any:
    result = handler(*args)
    if inspect.iscoroutine(result):
        import asyncio  # only for handlers that are coroutines: it takes longer to import than all the rest

        return asyncio.run(result)
    return result


def _decided(said: Any) -> Mapping[str, Any]:
    if said is None:
        return {}
    if isinstance(said, Decision):
        return said.fields
    raise TypeError(f"an interceptor answers block(...), modify(...), replace(...) or None, not {said!r}")


def _filled(cls: type[_T], frame: Mapping[str, Any]) -> _T:
    """A dataclass with the fields that the frame has."""
    return cls(**{one.name: frame[one.name] for one in fields(typing.cast(Any, cls)) if one.name in frame})


def _new(name: str, known: Mapping[str, Any], what: str) -> None:
    if name in known:
        raise ValueError(f"there is a {what} {name!r} already")


def _said(failed: BaseException) -> str:
    return f"{type(failed).__name__}: {failed}" if str(failed) else type(failed).__name__
