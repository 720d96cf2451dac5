"""What an extension does in a session, through a real process: commands, tools, events, intercepts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.extension_scripts import Extension, script

from zot_core import UsageError
from zot_core._version import __version__
from zot_core.testing import Script
from zot_core.testing.front import RecordingFrontEnd
from zot_core.types.failure import ZotError

Open = Callable[..., Any]
Run = Callable[..., RecordingFrontEnd]


def run(runtime: Open, extension: Extension | tuple[Extension, ...], *prompts: str, **how: Any) -> RecordingFrontEnd:
    """Sends prompts, one after another, to an App with these extensions; gives its record."""
    extensions = extension if isinstance(extension, tuple) else (extension,)
    explicit = tuple(row for one in extensions for row in one.explicit)

    async def story() -> RecordingFrontEnd:
        async with runtime(explicit=explicit, **how) as app:
            for prompt in prompts:
                await app.prompt(prompt)
            front: RecordingFrontEnd = app.front
            front.system = app.runtime.current_system_prompt()  # type: ignore[attr-defined]
            return front

    return asyncio.run(story())


def log(world: Any, name: str) -> str:
    path: Path = world.home / "logs" / f"ext-{name}.log"
    return path.read_text(encoding="utf-8")


def test_hello_ack_has_every_field(runtime: Open, tmp_path: Path, world: Any) -> None:
    ext = script(tmp_path, "greeter", "hello(); emit('ready')\nfor frame in frames(): pass")
    run(runtime, ext, "Hi", script=Script().text("Hello."))
    ack = ext.seen[0]
    assert ack == {
        "type": "hello_ack",
        "protocol_version": 1,
        "zot_version": __version__,
        "provider": "scripted",
        "model": ack["model"],
        "cwd": str(world.project),
        "extension_dir": str(ext.folder),
        "data_dir": str(ext.folder),
    }
    assert ack["model"]
    assert [frame["type"] for frame in ext.seen] == ["hello_ack", "shutdown"]


COMMANDS = """
hello()
emit("register_command", name="Do", description="does")
emit("ready")
for frame in frames():
    if frame["type"] == "command_invoked":
        answer = json.loads(frame["args"])
        emit("command_response", id=frame["id"], **answer)
"""


def test_a_command_may_send_a_prompt(runtime: Open, tmp_path: Path, world: Any) -> None:
    ext = script(tmp_path, "doer", COMMANDS)
    front = run(runtime, ext, '/dO   {"action": "prompt", "prompt": "Say it."}  ', script=Script().text("It."))
    assert front.answer == "It."
    assert [text.content[0].text for text in front.messages if text.role == "user"] == ["Say it."]
    invoked = ext.of("command_invoked")[0]
    assert (invoked["name"], invoked["args"]) == ("Do", '{"action": "prompt", "prompt": "Say it."}')


def test_a_command_may_show_a_note(runtime: Open, tmp_path: Path, world: Any) -> None:
    ext = script(tmp_path, "doer", COMMANDS)
    front = run(runtime, ext, '/do {"action": "display", "display": "Look."}')
    assert [(note.source, note.kind, note.text) for note in front.notes] == [("ext:doer", "display", "Look.")]
    assert front.messages == []


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        ('{"action": "insert", "insert": "x"}', UsageError, "json mode has none"),
        ('{"action": "open_panel", "open_panel": {"id": "p"}}', UsageError, "json mode shows none"),
        ('{"action": "display", "display": "x", "error": "no luck"}', ZotError, "the extension doer says: no luck"),
        ('{"action": "prompt", "prompt": " "}', ZotError, "'prompt' with nothing in it"),
        ('{"action": "dance"}', ZotError, "'dance', which is no action"),
        ('{"action": 3}', ZotError, "malformed `command_response`: action: Input should be a valid string"),
    ],
)
def test_a_command_that_cannot_be_done_says_why(
    runtime: Open, tmp_path: Path, world: Any, answer: str, error: type[Exception], words: str
) -> None:
    ext = script(tmp_path, "doer", COMMANDS)
    with pytest.raises(error, match=words):
        run(runtime, ext, f"/do {answer}")


TOOLS = """
hello()
emit("register_tool", name="weather", description="The weather.", schema={"properties": {"city": {"type": "string"}}})
emit("register_tool", name="secret", description="Later.", schema={}, deferred=True)
emit("ready")
for frame in frames():
    if frame["type"] == "tool_call":
        emit("tool_result", id=frame["id"], **ANSWER)
"""
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def test_a_tool_answers_text_and_pictures_in_its_extensions_name(runtime: Open, tmp_path: Path, world: Any) -> None:
    content = [{"type": "text", "text": "16 °C \u2028 fog"}, {"type": "image", "mime_type": "image/png", "data": PIXEL}]
    ext = script(tmp_path, "sky", f"ANSWER = {{'content': {content!r}}}\n{TOOLS}")
    front = run(runtime, ext, "Hm?", script=Script().tool_call("weather", city="Berlin").then().text("Fog."))
    result = front.tool_results()[0]
    assert not result.is_error
    assert result.content[0].text == "16 °C \u2028 fog"
    assert (result.content[1].mime_type, result.content[1].data) == ("image/png", PIXEL)
    assert result.details == {"extension": "sky"}
    call = ext.of("tool_call")[0]
    assert (call["name"], call["args"]) == ("weather", {"city": "Berlin"})


def test_a_loader_brings_deferred_tools_and_nothing_else(runtime: Open, tmp_path: Path, world: Any) -> None:
    answer = {"content": [{"type": "text", "text": "On."}], "activate_tools": ["secret", "bash", "nothing"]}
    ext = script(tmp_path, "sky", f"ANSWER = {answer!r}\n{TOOLS}")

    async def story() -> tuple[list[str], list[str]]:
        replies = Script().tool_call("weather").then().text("On.")
        async with runtime(explicit=ext.explicit, script=replies, exclude_tools=("bash",)) as app:
            await app.runtime.host.plugins["ext:sky"].plugin.settled()
            before = app.runtime.toolbox.active_names()
            await app.prompt("Go")
            return before, app.runtime.toolbox.active_names()

    before, after = asyncio.run(story())
    assert set(after) - set(before) == {"secret"}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"content": [{"type": "text", "text": "bad"}], "is_error": True}, "bad"),
        ({"content": "text"}, "malformed `tool_result`: content: Input should be a valid list"),
        ({"content": [{"type": "sound"}]}, "malformed `tool_result`: content.0"),
        ({"content": [{"type": "image", "mime_type": "image/png", "data": "?"}]}, "is not base64"),
        ({"content": [], "activate_tools": "x"}, "activate_tools: Input should be a valid list"),
    ],
)
def test_a_result_that_is_none_tells_the_model_why(
    runtime: Open, tmp_path: Path, world: Any, answer: Any, words: str
) -> None:
    ext = script(tmp_path, "sky", f"ANSWER = {answer!r}\n{TOOLS}")
    front = run(runtime, ext, "Hm?", script=Script().tool_call("weather").then().text("Well."))
    result = front.tool_results()[0]
    assert result.is_error
    assert words in result.content[0].text


EVENTS = """
hello()
emit("subscribe", events=["session_start", "turn_start", "turn_end", "tool_call", "assistant_message", "lunch"])
emit("ready")
for frame in frames(): pass
"""


def test_events_come_in_order_and_the_last_before_shutdown(runtime: Open, tmp_path: Path, world: Any) -> None:
    ext = script(tmp_path, "watcher", EVENTS)
    replies = Script().text("I look.").tool_call("ls", call_id="c1", path=".").then().text("Done.")
    run(runtime, ext, "Look", script=replies)
    frames = [{key: value for key, value in frame.items() if key != "type"} for frame in ext.of("event")]
    assert frames == [
        {"event": "session_start"},
        {"event": "turn_start", "step": 1},
        {"event": "assistant_message", "text": "I look."},
        {"event": "tool_call", "tool_id": "c1", "tool_name": "ls", "tool_args": {"path": "."}},
        {"event": "turn_end", "stop": "tool_use"},
        {"event": "turn_start", "step": 2},
        {"event": "assistant_message", "text": "Done."},
        {"event": "turn_end", "stop": "end_turn"},
    ]
    assert ext.seen[-1] == {"type": "shutdown"}
    assert "'lunch' in `events`" in log(world, "watcher")


ASKED = """
hello()
emit("subscribe", intercept=["before_agent_start", "tool_call", "turn_start", "assistant_message"])
emit("ready")
for frame in frames():
    if frame["type"] == "event_intercept":
        answer = ANSWERS.get(frame["event"], {})
        emit("event_intercept_response", id=frame["id"], **answer)
"""


def asked(folder: Path, name: str = "guard", **answers: Any) -> Extension:
    return script(folder, name, f"ANSWERS = {answers!r}\n{ASKED}")


def test_a_call_is_refused_with_the_reason_for_the_model(runtime: Open, tmp_path: Path, world: Any) -> None:
    ext = asked(tmp_path, tool_call={"block": True, "reason": "not today", "modified_args": {"path": "x"}})
    front = run(runtime, ext, "Go", script=Script().tool_call("ls", path=".").then().text("Ah."))
    result = front.tool_results()[0]
    assert result.is_error
    assert "not today" in result.content[0].text
    request = next(frame for frame in ext.of("event_intercept") if frame["event"] == "tool_call")
    assert (request["tool_name"], request["tool_args"]) == ("ls", {"path": "."})


def test_arguments_are_rewritten_by_one_after_another_in_the_order_of_the_line(
    runtime: Open, tmp_path: Path, world: Any
) -> None:
    (world.project / "b.txt").write_text("from b")
    first = asked(tmp_path, "zebra", tool_call={"modified_args": {"path": "a.txt"}})
    second = asked(tmp_path, "ant", tool_call={"modified_args": {"path": "b.txt"}})
    front = run(runtime, (first, second), "Go", script=Script().tool_call("read", path="z.txt").then().text("Read."))
    assert "from b" in front.tool_results()[0].content[0].text
    request = next(frame for frame in second.of("event_intercept") if frame["event"] == "tool_call")
    assert request["tool_args"] == {"path": "a.txt"}


def test_arguments_that_are_no_object_change_nothing(runtime: Open, tmp_path: Path, world: Any) -> None:
    ext = asked(tmp_path, tool_call={"modified_args": ["x"]})
    front = run(runtime, ext, "Go", script=Script().tool_call("ls", path=".").then().text("Ah."))
    assert not front.tool_results()[0].is_error
    assert "`modified_args` is a list, not an object" in log(world, "guard")
    assert any("`modified_args` is a list" in note.text and note.level == "warning" for note in front.notes)


def test_a_turn_is_refused_with_the_reason_for_the_person(runtime: Open, tmp_path: Path, world: Any) -> None:
    ext = asked(tmp_path, turn_start={"block": True, "reason": "after hours"})
    front = run(runtime, ext, "Go", script=Script().text("Never."))
    assert front.answer == ""
    assert "after hours" in str(front.of("turn_start")) or "after hours" in str(front.lines)


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ({"replace_text": "[redacted]"}, "[redacted]"),
        ({"replace_text": ""}, ""),
        ({"replace_text": "x", "block": True, "reason": "no"}, ""),
        ({}, "The key is 7."),
    ],
)
def test_what_people_see_is_replaced_and_the_model_keeps_its_word(
    runtime: Open, tmp_path: Path, world: Any, answer: Any, shown: str
) -> None:
    ext = asked(tmp_path, assistant_message=answer)
    front = run(runtime, ext, "Go", script=Script().text("The key is 7."))
    assert front.answer == shown
    assert front.messages[-1].content[0].text == "The key is 7."


@pytest.mark.parametrize(
    ("answer", "prompt", "warning"),
    [
        ({"system_prompt": "  Be brief.\n"}, "  Be brief.\n", ""),
        ({"system_prompt": ""}, "", ""),
        ({}, None, ""),
        ({"system_prompt": 42}, None, "`system_prompt` is a number, not text"),
        ({"block": True, "reason": "no"}, None, "`block` does not stop it"),
        ({"system_prompt": "x" * (1 << 20)}, None, "over 1 MiB"),
        ({"system_prompt": "x" * ((1 << 20) - 2)}, "x" * ((1 << 20) - 2), ""),
    ],
)
def test_the_prompt_is_replaced_exactly(
    runtime: Open, tmp_path: Path, world: Any, answer: Any, prompt: str | None, warning: str
) -> None:
    plain = run(runtime, asked(tmp_path, "plain"), "Go", script=Script().text("Yes."))
    ext = asked(tmp_path, before_agent_start=answer)
    front = run(runtime, ext, "Go", script=Script().text("Yes."))
    base = plain.system  # type: ignore[attr-defined]
    assert front.system == (base if prompt is None else prompt)  # type: ignore[attr-defined]
    request = next(frame for frame in ext.of("event_intercept") if frame["event"] == "before_agent_start")
    assert request["system_prompt"] == base
    assert (request["cwd"], request["provider"]) == (str(world.project), "scripted")
    assert request["model"] and request["session_id"] and request["agent_run_id"]
    said = [note.text for note in front.notes if note.level == "warning"]
    assert [warning in text for text in said] == ([True] if warning else [])
    assert warning in log(world, "guard")
    assert front.answer == "Yes."
