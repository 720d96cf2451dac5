"""The body of a Chat Completions request: what is said, in which words, and what a strict server takes."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest
from mock_provider.strict_chat import Refused, check

from zot_core.models.protocol import Request
from zot_core.types.content import Image, Text, Thinking, ToolCall
from zot_core.types.messages import AssistantMessage, ToolResultMessage, UserMessage
from zot_core.types.specs import ModelSpec, ToolSpec
from zot_plugins.api_openai_chat.request import build, safe_id, safe_name
from zot_plugins.providers.openai import MODELS
from zot_plugins.providers.plugin import providers

PNG = Image("image/png", base64.b64encode(b"\x89PNG\r\n\x1a\n0000").decode())
MODEL = ModelSpec(id="m", provider="p", api="a", inputs=("text", "image"))
THINKS = replace(MODEL, reasoning=True)
TOOL = ToolSpec(
    name="read",
    description="Reads.",
    parameters={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    execute="x:y",
)
USER = UserMessage(content=(Text("hi"),))


def payload(*messages: Any, model: ModelSpec = MODEL, **request: Any) -> dict[str, Any]:
    built = build(Request(model=model, messages=messages or [USER], **request))
    extra = set(model.compat.get("extraBody", {}))
    check({key: value for key, value in built.payload.items() if key not in extra})
    return dict(built.payload)


def said(*blocks: Any, model: str = "m") -> AssistantMessage:
    return AssistantMessage(content=blocks, provider="p", model=model, api="a")


def result(call_id: str, *content: Any) -> ToolResultMessage:
    return ToolResultMessage(call_id=call_id, tool_name="read", content=content)


def test_the_plainest_request() -> None:
    assert payload(system="be brief") == {
        "model": "m",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert payload()["messages"] == [{"role": "user", "content": "hi"}]


def test_the_same_request_is_the_same_body() -> None:
    request = Request(model=THINKS, messages=[USER], system="s", tools=[TOOL], thinking="high", session_id="x")
    assert build(request).payload == build(request).payload


def test_tools_and_their_calls() -> None:
    sent = payload(
        USER,
        said(Text("I look"), ToolCall("1", "read", {"path": "ä"}, "ignored")),
        result("1", Text("ok")),
        tools=[TOOL],
    )
    assert sent["tools"] == [
        {"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": TOOL.parameters}}
    ]
    assert sent["messages"][1:] == [
        {
            "role": "assistant",
            "content": "I look",
            "tool_calls": [{"id": "1", "type": "function", "function": {"name": "read", "arguments": '{"path": "ä"}'}}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "ok"},
    ]


def test_broken_arguments_and_names_are_not_sent_again() -> None:
    call = ToolCall("1", "bad name/" + "x" * 90, None, '{"path": "cut')
    sent = payload(USER, said(call), result("1", Text("not run")))
    function = sent["messages"][1]["tool_calls"][0]["function"]
    assert function["arguments"] == "{}"
    assert function["name"] == safe_name(call.name)
    assert sent["messages"][1]["content"] is None


def test_long_ids_of_other_formats_are_shortened_alike_in_call_and_result() -> None:
    long = "call_" + "a" * 60 + "|fc_" + "b" * 60
    sent = payload(USER, said(ToolCall(long, "read", {})), result(long, Text("ok")))
    assert sent["messages"][1]["tool_calls"][0]["id"] == sent["messages"][2]["tool_call_id"] == safe_id(long)
    assert len(safe_id(long)) <= 40
    assert safe_id("short") == "short"


def test_pictures_of_a_person_and_of_tools() -> None:
    calls = said(ToolCall("1", "read", {}), ToolCall("2", "read", {}))
    sent = payload(
        UserMessage(content=(Text("see"), PNG)),
        calls,
        result("1", PNG),
        result("2", Text("a"), PNG),
        UserMessage(content=(PNG,)),
    )
    url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG.data}"}}
    assert sent["messages"][0]["content"] == [{"type": "text", "text": "see"}, url]
    assert [row["role"] for row in sent["messages"]] == ["user", "assistant", "tool", "tool", "user", "user"]
    assert sent["messages"][4]["content"][1:] == [url, url]
    last = payload(USER, said(ToolCall("1", "read", {})), result("1", PNG))
    assert last["messages"][-1]["content"][-1] == url


def test_roles_and_limits_by_compat() -> None:
    sent = payload(system="s", model=replace(THINKS, compat={"supportsDeveloperRole": True}))
    assert sent["messages"][0]["role"] == "developer"
    plain = payload(system="s", model=replace(MODEL, compat={"supportsDeveloperRole": True}))
    assert plain["messages"][0]["role"] == "system"
    assert payload(max_output=9)["max_tokens"] == 9
    newer = replace(MODEL, compat={"maxTokensField": "max_completion_tokens"})
    assert payload(max_output=9, model=newer)["max_completion_tokens"] == 9
    assert "stream_options" not in payload(model=replace(MODEL, compat={"supportsUsageInStreaming": False}))
    cached = replace(MODEL, compat={"supportsPromptCacheKey": True, "supportsStore": True})
    sent = payload(model=cached, session_id="abc")
    assert (sent["prompt_cache_key"], sent["store"]) == ("abc", False)
    assert payload(model=replace(MODEL, compat={"extraBody": {"top_k": 3}}))["top_k"] == 3
    bare = build(Request(model=replace(MODEL, compat={"versionlessPath": True}), messages=[USER]))
    assert bare.path == "chat/completions"


def test_small_wishes_of_servers() -> None:
    wishes = {"requiresToolResultName": True, "requiresAssistantAfterToolResult": True}
    sent = payload(
        USER, said(ToolCall("1", "read", {})), result("1", Text("ok")), USER, model=replace(MODEL, compat=wishes)
    )
    assert sent["messages"][2]["name"] == "read"
    assert [row["role"] for row in sent["messages"]] == ["user", "assistant", "tool", "assistant", "user"]


@pytest.mark.parametrize(
    ("model", "level", "tools", "effort"),
    [
        (MODEL, "high", [], None),
        (THINKS, "off", [], None),
        (THINKS, "high", [TOOL], "high"),
        (THINKS, "max", [], "high"),
        (replace(THINKS, thinking_levels={"off": "none", "max": "max"}), "off", [], "none"),
        (replace(THINKS, thinking_levels={"low": "LOW"}), "low", [], None),
        (replace(THINKS, compat={"supportsReasoningEffort": False}), "high", [], None),
        (replace(THINKS, compat={"reasoningEffortWithTools": "none"}), "high", [TOOL], "none"),
        (replace(THINKS, compat={"reasoningEffortWithTools": "none"}), "high", [], "high"),
        (replace(THINKS, compat={"reasoningEffortWithTools": ""}), "high", [TOOL], None),
    ],
)
def test_reasoning_effort(model: ModelSpec, level: Any, tools: list[ToolSpec], effort: str | None) -> None:
    built = build(Request(model=model, messages=[USER], thinking=level, tools=tools)).payload
    if model.thinking_levels == {"low": "LOW"}:
        assert built["reasoning_effort"] == "LOW"
    else:
        assert built.get("reasoning_effort") == effort


def test_reasoning_goes_back_to_its_maker_in_its_own_field() -> None:
    thought = Thinking("because", meta={"field": "reasoning_content"})
    own, foreign = said(thought, Text("so")), said(thought, Text("so"), model="other")
    assert payload(USER, own, USER)["messages"][1]["reasoning_content"] == "because"
    assert "reasoning_content" not in payload(USER, foreign, USER)["messages"][1]
    quiet = replace(MODEL, compat={"replaysReasoning": False})
    assert "reasoning_content" not in payload(USER, own, USER, model=quiet)["messages"][1]


@pytest.mark.parametrize("model", [model for model in MODELS if not model.api], ids=lambda model: model.id)
def test_every_catalogued_model_gets_a_body_that_a_strict_server_takes(model: ModelSpec) -> None:
    (openai,) = (spec for spec in providers() if spec.id == "openai")
    whole = replace(model, compat={**openai.compat, **model.compat}, api=openai.api)
    sent = payload(system="s", model=whole, tools=[TOOL], max_output=10, session_id="s", thinking="medium")
    assert sent["messages"][0]["role"] == "developer"
    assert sent["max_completion_tokens"] == 10
    assert model.prices is not None
    assert model.context_window > model.max_output
    assert openai.default_model in {one.id for one in MODELS}


@pytest.mark.parametrize(
    "change",
    [
        {"model": ""},
        {"model": None},
        {"messages": []},
        {"messages": [{"role": "user", "content": ""}]},
        {"messages": [{"role": "user", "content": []}]},
        {"messages": [{"role": "robot", "content": "x"}]},
        {"messages": [{"role": "user", "content": "x"}, {"role": "system", "content": "late"}]},
        {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]},
        {
            "messages": [
                {"role": "user", "content": "x"},
                {"role": "assistant", "content": None},
                {"role": "user", "content": "x"},
            ]
        },
        {"messages": [{"role": "tool", "tool_call_id": "1", "content": "x"}]},
        {
            "messages": [
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}
            ]
        },
        {
            "messages": [
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,%"}}]}
            ]
        },
        {
            "messages": [
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/bmp;base64,AAAA"}}]}
            ]
        },
        {"messages": [{"role": "user", "content": "x", "id": "1"}]},
        {"tools": []},
        {"tools": [{"type": "function", "function": {"name": "a b", "parameters": {"type": "object"}}}]},
        {"tools": [{"type": "function", "function": {"name": "a", "parameters": {"type": "string"}}}]},
        {
            "tools": [
                {"type": "function", "function": {"name": "a", "parameters": {"type": "object", "required": ["x"]}}}
            ]
        },
        {
            "tools": [
                {"type": "function", "function": {"name": f"t{n}", "parameters": {"type": "object"}}}
                for n in range(129)
            ]
        },
        {"tools": [{"type": "function", "function": {"name": "a", "parameters": {"type": "object"}}}] * 2},
        {"max_tokens": 1, "max_completion_tokens": 1},
        {"surprise": 1},
        {"reasoning_effort": "off"},
    ],
)
def test_the_strict_server_refuses_what_real_ones_refuse(change: dict[str, Any]) -> None:
    sound: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": True}
    check(sound)
    with pytest.raises(Refused):
        check({**sound, **change})


def call_row(call_id: str = "1", arguments: str = "{}", name: str = "a") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    "rows",
    [
        [{"role": "assistant", "tool_calls": [call_row()]}, {"role": "user", "content": "x"}],
        [{"role": "assistant", "tool_calls": [call_row()]}],
        [{"role": "assistant", "tool_calls": [call_row()]}, {"role": "tool", "tool_call_id": "2", "content": "x"}],
        [
            {"role": "assistant", "tool_calls": [call_row()]},
            *[{"role": "tool", "tool_call_id": "1", "content": "x"}] * 2,
        ],
        [{"role": "assistant", "tool_calls": [call_row()]}, {"role": "tool", "tool_call_id": "1", "content": ""}],
        [
            {"role": "assistant", "tool_calls": [call_row(arguments='{"a')]},
            {"role": "tool", "tool_call_id": "1", "content": "x"},
        ],
        [
            {"role": "assistant", "tool_calls": [call_row(name="a b")]},
            {"role": "tool", "tool_call_id": "1", "content": "x"},
        ],
        [
            {"role": "assistant", "tool_calls": [call_row("x" * 41)]},
            {"role": "tool", "tool_call_id": "x" * 41, "content": "x"},
        ],
        [{"role": "assistant", "tool_calls": []}, {"role": "user", "content": "x"}],
    ],
)
def test_the_strict_server_refuses_unpaired_and_broken_calls(rows: list[dict[str, Any]]) -> None:
    with pytest.raises(Refused):
        check({"model": "m", "messages": [{"role": "user", "content": "q"}, *rows]})
