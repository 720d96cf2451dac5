"""Tools that come in the middle of a conversation, as each wire format says it, and what its servers refuse of that."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from mock_provider import strict_anthropic, strict_chat, strict_google, strict_responses
from mock_provider.strict_chat import Refused

from zot_core.models.growing import Grown
from zot_core.models.projection import project
from zot_core.models.protocol import Request
from zot_core.types.content import Image, Text, ToolCall
from zot_core.types.messages import AssistantMessage, Message, ToolResultMessage, UserMessage
from zot_core.types.specs import ModelSpec, ToolSpec
from zot_plugins.api_anthropic.request import build as build_messages
from zot_plugins.api_google.request import build as build_google
from zot_plugins.api_openai_chat.request import build as build_chat
from zot_plugins.api_openai_responses.request import build as build_responses

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
OPUS = ModelSpec(id="claude-opus-5-5", provider="p", api="anthropic-messages", inputs=("text", "image"))
GPT = ModelSpec(id="gpt-6-sol", provider="p", api="openai-responses", inputs=("text", "image"))
KIMI = ModelSpec(id="kimi-k3", provider="p", api="openai-completions", inputs=("text", "image"))
GEMINI = ModelSpec(id="gemini-4-neon", provider="p", api="google-generative-ai", inputs=("text", "image"))
Build = Callable[[Request], Any]
FORMATS: dict[str, tuple[ModelSpec, Build, Callable[[Any], None]]] = {
    "anthropic": (OPUS, build_messages, strict_anthropic.check),
    "responses": (GPT, build_responses, strict_responses.check),
    "chat": (KIMI, build_chat, strict_chat.check),
    "google": (GEMINI, build_google, strict_google.check),
}


def tool(name: str) -> ToolSpec:
    schema = {"type": "object", "properties": {"place": {"type": "string"}}}
    return ToolSpec(name=name, description=f"The tool {name}.", parameters=schema, execute="x:y")


TOOLS = (tool("lookup_weather"), tool("other"), tool("read"), tool("tool_search"))


def user(text: str) -> UserMessage:
    return UserMessage(content=(Text(text),))


def called(*calls: tuple[str, str]) -> AssistantMessage:
    return AssistantMessage(content=tuple(ToolCall(call_id, name, {}) for call_id, name in calls), stop="tool_use")


def result(call_id: str, name: str, *content: Any, activated: tuple[str, ...] = ()) -> ToolResultMessage:
    return ToolResultMessage(call_id=call_id, tool_name=name, content=content or (Text("ok"),), activated=activated)


TALK: list[Message] = [
    user("weather?"),
    called(("c1", "tool_search"), ("c2", "read")),
    result("c1", "tool_search", Text("found it"), activated=("lookup_weather",)),
    result("c2", "read", Text("a file"), Image("image/png", PIXEL)),
    called(("c3", "lookup_weather")),
    result("c3", "lookup_weather", Text("sunny")),
    user("thanks"),
]


def body(kind: str, messages: list[Message] = TALK, tools: tuple[ToolSpec, ...] = TOOLS, **model: Any) -> Any:
    """The checked payload, made at once and turn by turn."""
    from dataclasses import replace

    given, build, check = FORMATS[kind]
    spec = replace(given, **model)

    def made(upto: int, grown: Grown | None) -> Any:
        sent = project(messages[:upto], spec)
        return build(Request(model=spec, messages=sent, tools=tools, grown=grown)).payload

    whole = made(len(messages), None)
    grown = Grown()
    for upto in range(1, len(messages)):
        if isinstance(messages[upto - 1], (UserMessage, ToolResultMessage)):
            made(upto, grown)
    assert made(len(messages), grown) == whole, "what grew is what is made at once"
    if kind != "google":  # its model is in the path
        check(whole)
    return whole


def names(rows: list[Mapping[str, Any]]) -> list[str]:
    return [row.get("name") or row["function"]["name"] for row in rows]


# --- Anthropic ----------------------------------------------------------------------------------------------------


def test_anthropic_refers_to_a_tool_where_it_was_loaded() -> None:
    sent = body("anthropic")
    assert names(sent["tools"]) == ["other", "read", "tool_search", "lookup_weather"]
    assert [row.get("defer_loading") for row in sent["tools"]] == [None, None, None, True]
    assert "cache_control" in sent["tools"][2] and "cache_control" not in sent["tools"][3]
    first, second, label, text = sent["messages"][2]["content"]
    assert first == {
        "type": "tool_result",
        "tool_use_id": "c1",
        "content": [{"type": "tool_reference", "tool_name": "lookup_weather"}],
    }
    assert second["tool_use_id"] == "c2" and second["content"][0]["text"] == "a file"
    assert (label["text"], text["text"]) == ("[output of tool_search]", "found it"), "said behind all results"


@pytest.mark.parametrize(
    ("model", "native"),
    [
        ({"id": "claude-sonnet-4-5-20250929"}, True),
        ({"id": "claude-opus-4-8"}, True),
        ({"id": "us.anthropic.claude-opus-4-5-20251101-v1:0"}, True),
        ({"id": "claude-fable-5-2"}, True),
        ({"id": "claude-haiku-4-5"}, False),
        ({"id": "claude-haiku-5-5"}, False),
        ({"id": "claude-sonnet-4-20250514"}, False),
        ({"id": "claude-opus-4-1-20250805"}, False),
        ({"id": "claude-opus-4-8", "source": "models.json"}, False),
        ({"id": "claude-opus-4-8", "source": "models.json", "compat": {"supportsToolReferences": True}}, True),
        ({"id": "claude-opus-4-8", "compat": {"supportsToolReferences": False}}, False),
    ],
)
def test_which_models_of_anthropic(model: dict[str, Any], native: bool) -> None:
    sent = body("anthropic", **model)
    assert ("tool_reference" in str(sent)) is native
    assert names(sent["tools"]) == (
        ["other", "read", "tool_search", "lookup_weather"] if native else [one.name for one in TOOLS]
    )


@pytest.mark.parametrize("kind", ["mixed", "error", "unknown", "listed", "cached", "all", "old"])
def test_what_anthropic_refuses_of_it(kind: str) -> None:
    sent = copy.deepcopy(body("anthropic"))
    block = sent["messages"][2]["content"][0]
    if kind == "mixed":
        block["content"].append({"type": "text", "text": "x"})
    elif kind == "error":
        block["is_error"] = True
    elif kind == "unknown":
        block["content"][0]["tool_name"] = "nobody"
    elif kind == "listed":
        del sent["tools"][3]["defer_loading"]
    elif kind == "cached":
        sent["tools"][3]["cache_control"] = {"type": "ephemeral"}
    elif kind == "all":
        sent["tools"] = [{**row, "defer_loading": True} for row in sent["tools"]]
    else:
        sent["model"] = "claude-haiku-4-5"
    with pytest.raises(Refused):
        strict_anthropic.check(sent)


# --- Responses ----------------------------------------------------------------------------------------------------


def test_responses_gets_a_finished_search() -> None:
    sent = body("responses")
    assert names(sent["tools"]) == ["other", "read", "tool_search"]
    kinds = [row["type"] for row in sent["input"]]
    assert kinds[1:7] == [
        "function_call",
        "function_call",
        "function_call_output",
        "function_call_output",
        "tool_search_call",
        "tool_search_output",
    ]
    search, found = sent["input"][5:7]
    assert search["call_id"] == found["call_id"]
    assert search["execution"] == found["execution"] == "client"
    assert search["arguments"] == {"query": "lookup_weather", "limit": 1}
    assert [(row["name"], row["defer_loading"]) for row in found["tools"]] == [("lookup_weather", True)]
    assert sent["input"][3]["output"] == "found it"


@pytest.mark.parametrize(
    ("model", "native"),
    [
        ({"id": "gpt-5.4"}, True),
        ({"id": "gpt-5.10"}, True),
        ({"id": "gpt-6.2-astra"}, True),
        ({"id": "gpt-5.2"}, False),
        ({"id": "gpt-5.1"}, False),
        ({"id": "gpt-5"}, False),
        ({"id": "gpt-5.4-nano"}, False),
        ({"id": "gpt-5.5-pro"}, False),
        ({"id": "gpt-6-sol", "source": "--base-url"}, False),
        ({"id": "gpt-6-sol", "source": "models.json", "compat": {"supportsToolSearch": True}}, True),
        ({"id": "gpt-6-sol", "compat": {"supportsToolSearch": False}}, False),
    ],
)
def test_which_models_of_responses(model: dict[str, Any], native: bool) -> None:
    sent = body("responses", **model)
    assert ("tool_search_output" in str(sent)) is native
    assert ("lookup_weather" in names(sent["tools"])) is not native


@pytest.mark.parametrize("kind", ["alone", "unanswered", "other id", "server", "plain", "twice", "between", "old"])
def test_what_responses_refuses_of_it(kind: str) -> None:
    sent = copy.deepcopy(body("responses"))
    search, found = sent["input"][5:7]
    if kind == "alone":
        del sent["input"][5]
    elif kind == "unanswered":
        del sent["input"][6]
    elif kind == "other id":
        found["call_id"] = "x"
    elif kind == "server":
        search["execution"] = "server"
    elif kind == "plain":
        del found["tools"][0]["defer_loading"]
    elif kind == "twice":
        sent["tools"].append({**found["tools"][0]})
        del sent["tools"][-1]["defer_loading"]
    elif kind == "between":
        sent["input"][3:7] = [sent["input"][3], search, found, sent["input"][4]]
    else:
        sent["model"] = "gpt-5.1"
    with pytest.raises(Refused):
        strict_responses.check(sent)


# --- Kimi ---------------------------------------------------------------------------------------------------------


def test_kimi_gets_a_system_message_with_tools_behind_the_results() -> None:
    sent = body("chat")
    assert names(sent["tools"]) == ["other", "read", "tool_search"]
    rows = sent["messages"]
    assert [row["role"] for row in rows] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "system",
        "user",
        "assistant",
        "tool",
        "user",
    ]
    assert rows[4].keys() == {"role", "tools"}, "no content, not even null"
    assert rows[4]["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "lookup_weather",
                "description": "The tool lookup_weather.",
                "parameters": TOOLS[0].parameters,
            },
        }
    ]
    assert rows[5]["content"][1]["type"] == "image_url", "and then the picture of a result"


def test_a_conversation_may_end_with_them() -> None:
    sent = body("chat", TALK[:4])
    assert [row["role"] for row in sent["messages"]] == ["user", "assistant", "tool", "tool", "system", "user"]
    assert body("chat", TALK[:3])["messages"][-1]["role"] == "system"
    assert body("responses", TALK[:3])["input"][-1]["type"] == "tool_search_output"
    assert body("anthropic", TALK[:3])["messages"][-1]["content"][-1]["text"] == "found it"


@pytest.mark.parametrize(
    ("model", "native"),
    [
        ({"id": "kimi-k3"}, True),
        ({"id": "kimi-k3.1-pro"}, True),
        ({"id": "kimi-k2.7-code"}, False),
        ({"id": "moonshotai/kimi-k3.1-pro"}, False),
        ({"id": "kimi-k3", "source": "models.json"}, False),
        ({"id": "moonshotai/kimi-k3", "source": "models.json", "compat": {"deferredToolsMode": "kimi"}}, True),
        ({"id": "kimi-k3", "compat": {"deferredToolsMode": ""}}, False),
        ({"id": "gpt-6-sol"}, False),
    ],
)
def test_which_models_of_chat(model: dict[str, Any], native: bool) -> None:
    sent = body("chat", **model)
    assert any("tools" in row for row in sent["messages"]) is native
    assert ("lookup_weather" in names(sent["tools"])) is not native


@pytest.mark.parametrize("kind", ["content", "null", "empty", "twice", "between", "old"])
def test_what_kimi_refuses_of_it(kind: str) -> None:
    sent = copy.deepcopy(body("chat"))
    row = sent["messages"][4]
    if kind == "content":
        row["content"] = "x"
    elif kind == "null":
        row["content"] = None
    elif kind == "empty":
        row["tools"] = []
    elif kind == "twice":
        sent["tools"].extend(row["tools"])
    elif kind == "between":
        sent["messages"][3:5] = [row, sent["messages"][3]]
    else:
        sent["model"] = "kimi-k2.7-code"
    with pytest.raises(Refused):
        strict_chat.check(sent)


# --- all of them --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(FORMATS))
def test_the_beginning_stays_what_it_was(kind: str) -> None:
    """What servers cache by: with a native form nothing before the result changes when tools come."""
    few = tuple(one for one in TOOLS if one.name != "lookup_weather")
    before, after = body(kind, TALK[:1], few), body(kind, TALK)
    rows = "input" if kind == "responses" else "contents" if kind == "google" else "messages"
    if kind != "anthropic":
        assert after[rows][0] == before[rows][0]
    if kind == "google":
        assert after["tools"] != before["tools"], "without a native form the whole list is sent"
    else:
        listed = [row for row in after["tools"] if not row.get("defer_loading")]
        assert listed == before["tools"]


@pytest.mark.parametrize("kind", list(FORMATS))
def test_a_tool_that_is_gone_leaves_no_trace(kind: str) -> None:
    few = tuple(one for one in TOOLS if one.name != "lookup_weather")
    sent = body(kind, TALK, few)
    assert (
        "defer_loading" not in str(sent) and "tool_reference" not in str(sent) and "tool_search_call" not in str(sent)
    )
    assert "found it" in str(sent)


@pytest.mark.parametrize("kind", ["anthropic", "responses", "chat"])
def test_several_loads_and_a_tool_that_changes(kind: str) -> None:
    more = [
        *TALK,
        called(("c5", "tool_search")),
        result("c5", "tool_search", Text("and this"), activated=("other", "lookup_weather")),
        user("go on"),
    ]
    sent = body(kind, more)
    assert str(sent).count("The tool other.") == 1 and str(sent).count("The tool lookup_weather.") == 1
    grown, (spec, build, check) = Grown(), FORMATS[kind]
    changed = (tool("lookup_weather"), *TOOLS[1:])
    object.__setattr__(changed[0], "description", "Another one.")
    build(Request(model=spec, messages=project(more, spec), tools=TOOLS, grown=grown))
    again = build(Request(model=spec, messages=project(more, spec), tools=changed, grown=grown)).payload
    check(again)
    assert "Another one." in str(again) and "The tool lookup_weather." not in str(again)
