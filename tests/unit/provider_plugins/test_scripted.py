"""The scripted provider plays what its file says, and without one shows itself honestly."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from zot_core.agent.builder import MessageBuilder
from zot_core.models.protocol import Request
from zot_core.types.content import Text, Thinking, ToolCall
from zot_core.types.failure import Failure
from zot_core.types.messages import AssistantMessage, Message, ToolResultMessage, UserMessage
from zot_core.types.specs import SessionFacts, ToolSpec
from zot_core.types.stream import Done, Failed, StreamPart, TextDelta, ToolCallEnd, UsageUpdate
from zot_core.types.usage import Usage
from zot_plugins.provider_scripted.plugin import MODEL, Player, flags, providers
from zot_plugins.provider_scripted.script import ScriptError, parse

USER = UserMessage(content=(Text("what is here?"),))


def played(player: Player, *messages: Message, tools: tuple[str, ...] = ()) -> list[StreamPart]:
    specs = [ToolSpec(name=name, description="", parameters={"type": "object"}, execute="x:y") for name in tools]

    async def collect() -> list[StreamPart]:
        return [part async for part in player(Request(model=MODEL, messages=messages or (USER,), tools=specs))]

    return asyncio.run(collect())


def script(tmp_path: Path, *replies: Any) -> Player:
    file = tmp_path / "script.jsonl"
    file.write_text("# a script\n\n" + "".join(f"{json.dumps(reply)}\n" for reply in replies), encoding="utf-8")
    return Player(str(file))


def message(parts: list[StreamPart]) -> AssistantMessage:
    builder = MessageBuilder()
    last = parts[-1]
    assert isinstance(last, Done), last
    for part in parts[:-1]:
        builder.feed(part)
    return builder.message(last.stop)


def failure(parts: list[StreamPart]) -> Failure:
    last = parts[-1]
    assert isinstance(last, Failed), last
    return last.failure


def test_one_reply_for_each_call_and_then_a_clear_failure(tmp_path: Path) -> None:
    player = script(tmp_path, "one", ["two", " more"])
    assert [message(played(player)).text for _ in range(2)] == ["one", "two more"]
    gone = failure(played(player))
    assert "has 2 replies, and this is model call 3" in gone.message
    assert not gone.retryable


def test_every_step(tmp_path: Path) -> None:
    call = {"id": "c1", "name": "read", "args": {"path": "x"}}
    raw = {"name": "bash", "raw": ['{"comm', 'and": "ls"}']}
    reply = [
        {"thinking": ["hm", "…"], "signature": "sig"},
        {"text": ["Hel", "lo"]},
        {"delay": 0},
        {"tool_call": call},
        {"tool_call": raw},
        {"usage": {"input": 10, "output": 2}},
    ]
    parts = played(script(tmp_path, reply))
    assert message(parts).content == (
        Thinking("hm…", signature="sig"),
        Text("Hello"),
        ToolCall("c1", "read", {"path": "x"}, '{"path": "x"}'),
        ToolCall("call_1_5", "bash", {"command": "ls"}, '{"command": "ls"}'),
    )
    assert UsageUpdate(Usage(input=10, output=2)) in parts
    assert parts[-1] == Done("tool_use", "scripted")
    assert [part.text for part in parts if isinstance(part, TextDelta)] == ["Hel", "lo"]


def test_broken_arguments_and_calls_without_end(tmp_path: Path) -> None:
    cut = [{"tool_call": {"name": "write", "raw": '{"path": "x', "unfinished": True}}, {"finish": "length"}]
    parts = played(script(tmp_path, cut))
    assert parts[-1] == Done("length")
    assert not any(isinstance(part, ToolCallEnd) for part in parts)
    assert message(parts).tool_calls[0].args is None


def test_failures_end_the_reply(tmp_path: Path) -> None:
    player = script(
        tmp_path,
        {"error": {"kind": "overloaded"}},
        ["text", {"error": {"kind": "auth", "message": "no", "status": 401}}, "never"],
        ["text", {"cut": True}],
        {"error": {"kind": "rate_limit", "retry_after": 90, "retryable": False}},
    )
    first, second, third, fourth = (played(player) for _ in range(4))
    assert (failure(first).kind, failure(first).retryable, len(first)) == ("overloaded", True, 1)
    assert second == [TextDelta("text", "2_1"), Failed(Failure(kind="auth", message="no", status=401))]
    assert (failure(third).kind, failure(third).retryable) == ("network", True)
    assert (failure(fourth).retry_after, failure(fourth).retryable) == (90, False)


def test_hang_waits_until_it_is_cancelled(tmp_path: Path) -> None:
    player = script(tmp_path, ["a", {"hang": True}])

    async def run() -> None:
        stream = player(Request(model=MODEL, messages=(USER,)))
        assert await anext(stream) == TextDelta("a", "1_1")
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(run())


@pytest.mark.parametrize(
    ("text", "replies"),
    [
        ('["a", ["b"]]', 2),
        ('{"replies": ["a", "b"]}', 2),
        ('{"text": "a"}', 1),
        ('"a"\n{"text": "b"}\n', 2),
        ('{"steps": ["a", "b"]}', 1),
        ("", 0),
    ],
)
def test_the_forms_of_a_file(text: str, replies: int) -> None:
    assert len(parse(text)) == replies


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"a"\n{"text": \n', "script:2: not JSON"),
        ('[{"txet": "a"}]', "reply 1, step 1: expected"),
        ('[{"text": "a", "cut": true}]', "expected"),
        ('["a", [3]]', "reply 2, step 1"),
        ('[{"text": 3}]', "text must be"),
        ('[{"tool_call": {"args": {}}}]', "with a name"),
        ('[{"error": {"kind": "boredom"}}]', "overloaded"),
        ('[{"finish": "now"}]', "a stop reason"),
        ('[{"usage": {"tokens": 1}}]', "input, output"),
        ('[{"delay": -1}]', "seconds"),
    ],
)
def test_a_wrong_script_says_where_and_what(text: str, words: str) -> None:
    with pytest.raises(ScriptError) as caught:
        parse(text)
    assert words in str(caught.value)


def test_a_script_that_is_missing_or_broken_is_a_failed_answer(tmp_path: Path) -> None:
    assert "cannot be read" in failure(played(Player(str(tmp_path / "none.json")))).message
    (tmp_path / "bad.json").write_text("[3", encoding="utf-8")
    assert "bad.json:1: not JSON" in failure(played(Player(str(tmp_path / "bad.json")))).message


def test_the_file_comes_from_the_flag_or_the_variable_and_each_session_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.json").write_text('["from the flag"]', encoding="utf-8")
    (tmp_path / "e.json").write_text('["from the variable"]', encoding="utf-8")
    assert [flag.name for flag in flags()] == ["script"]

    def first(**given: Any) -> str:
        (spec,) = providers(SessionFacts(cwd=str(tmp_path), mode="print", flags=given))
        assert isinstance(spec.stream, Player)
        assert spec.keyless
        return message(played(spec.stream)).text

    assert first(script="s.json") == first(script="s.json") == "from the flag"
    monkeypatch.setenv("ZOT_SCRIPT", str(tmp_path / "e.json"))
    assert first() == "from the variable"
    assert first(script="s.json") == "from the flag"


# --- the demonstration --------------------------------------------------------------------------------------------


def answer(*results: ToolResultMessage, tools: tuple[str, ...]) -> AssistantMessage:
    return message(played(Player(""), USER, *results, tools=tools))


def result(tool: str, text: str, is_error: bool = False) -> ToolResultMessage:
    return ToolResultMessage(call_id="1", tool_name=tool, content=(Text(text),), is_error=is_error)


def test_it_says_that_it_is_no_model_and_looks_with_the_tool_that_is_there() -> None:
    for tools, expected in (
        (("bash", "ls", "read"), ("ls", {"path": "."})),
        (("bash", "read"), ("bash", {"command": "ls -Ap"})),
        (("find",), ("find", {"pattern": "*", "path": "."})),
    ):
        said = answer(tools=tools)
        assert said.text.startswith("I am no model")
        assert [(call.name, call.args) for call in said.tool_calls] == [expected]


def test_it_answers_from_what_the_tools_returned() -> None:
    listing = result("bash", "src/\nREADME.md\n.gitignore\n")
    looked = answer(listing, tools=("bash", "read"))
    assert [(call.name, call.args) for call in looked.tool_calls] == [("read", {"path": "README.md", "limit": 20})]
    done = answer(listing, result("read", "\n# My project\nmore"), tools=("bash", "read"))
    assert not done.tool_calls
    assert "holds 3 entries" in done.text
    assert all(name in done.text for name in ("src/", "README.md", ".gitignore", "My project", "--base-url"))
    assert "holds 3 entries" in answer(listing, tools=("bash",)).text


def test_it_is_honest_about_what_does_not_work() -> None:
    assert "no tool that lists a folder is active" in answer(tools=()).text
    assert "The tool bash failed: not allowed" in answer(result("bash", "not allowed", True), tools=("bash",)).text
    assert "empty" in answer(result("ls", ""), tools=("ls",)).text
    many = answer(result("ls", "\n".join(f"f{n:03}" for n in range(50))), tools=("ls",))
    assert "50 entries" in many.text
    assert "and 30 more" in many.text
