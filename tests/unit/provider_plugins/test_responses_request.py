"""The body of a Responses request: what is said, in which words, and what the strict server takes."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest
from mock_provider.strict_responses import Refused, check, sealed

from zot_core.models.growing import Grown
from zot_core.models.projection import project
from zot_core.models.protocol import Request
from zot_core.types.content import Image, Text, Thinking, ToolCall
from zot_core.types.messages import AssistantMessage, ToolResultMessage, UserMessage
from zot_core.types.specs import ModelSpec, ToolSpec
from zot_plugins.api_openai_responses.request import build, safe_id
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
RS = Thinking(
    "why",
    sealed("rs_1", ["why"], "m"),
    meta={"id": "rs_1", "summary": [{"type": "summary_text", "text": "why"}]},
)
RS_ROW = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "why"}],
    "encrypted_content": RS.signature,
}
FC = ToolCall("c1", "read", {"path": "x"}, '{"path":"x"}', {"id": "fc_1_of_rs_1", "reasoning": "rs_1"})
FC_ROW = {
    "type": "function_call",
    "id": "fc_1_of_rs_1",
    "call_id": "c1",
    "name": "read",
    "arguments": '{"path":"x"}',
}


def payload(*messages: Any, model: ModelSpec = MODEL, **request: Any) -> dict[str, Any]:
    built = build(Request(model=model, messages=project(messages or [USER], model), **request))
    extra = set(model.compat.get("extraBody", {}))
    check({key: value for key, value in built.payload.items() if key not in extra})
    return dict(built.payload)


def said(*blocks: Any, model: str = "m", **more: Any) -> AssistantMessage:
    return AssistantMessage(content=blocks, provider="p", model=model, api="a", **more)


def result(call_id: str, *content: Any) -> ToolResultMessage:
    return ToolResultMessage(call_id=call_id, tool_name="read", content=content)


OUT = result("c1", Text("ok"))
OUT_ROW = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
USER_ROW = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}


def test_the_plainest_request() -> None:
    assert payload(system="be brief") == {
        "model": "m",
        "input": [USER_ROW],
        "stream": True,
        "store": False,
        "instructions": "be brief",
    }
    built = build(Request(model=MODEL, messages=[USER]))
    assert (built.path, built.auth) == ("v1/responses", {"authorization": "Bearer {key}"})
    bare = replace(MODEL, compat={"versionlessPath": True})
    assert build(Request(model=bare, messages=[USER])).path == "responses"


def test_the_same_request_is_the_same_body_and_grows_from_the_last() -> None:
    messages = [USER, said(RS, FC), OUT, said(Text("done")), USER]
    whole = Request(model=THINKS, messages=messages, system="s", tools=[TOOL], thinking="high", session_id="x")
    assert build(whole).payload == build(whole).payload
    grown = Grown()
    build(replace(whole, messages=messages[:1], grown=grown))
    for upto in (3, 5):
        assert (
            build(replace(whole, messages=messages[:upto], grown=grown)).payload
            == build(replace(whole, messages=messages[:upto])).payload
        )


def test_flags_of_servers() -> None:
    assert payload(max_output=9)["max_output_tokens"] == 16
    sent = payload(
        model=replace(MODEL, compat={"supportsPromptCacheKey": True, "serviceTier": "flex"}), session_id="abc"
    )
    assert (sent["prompt_cache_key"], sent["service_tier"]) == ("abc", "flex")
    assert "prompt_cache_key" not in payload(session_id="abc")
    assert payload(model=replace(MODEL, compat={"extraBody": {"top_k": 3}}))["top_k"] == 3


def test_tools_are_not_strict() -> None:
    assert payload(tools=[TOOL])["tools"] == [
        {"type": "function", "name": "read", "description": "Reads.", "parameters": TOOL.parameters, "strict": False}
    ]


@pytest.mark.parametrize(
    ("model", "level", "reasoning"),
    [
        (MODEL, "high", None),
        (THINKS, "off", None),
        (THINKS, "high", {"effort": "high", "summary": "auto"}),
        (THINKS, "max", {"effort": "high", "summary": "auto"}),
        (replace(THINKS, thinking_levels={"off": "none", "max": "max"}), "off", {"effort": "none"}),
        (replace(THINKS, thinking_levels={"off": None, "minimal": None}), "off", {"effort": "low", "summary": "auto"}),
        (replace(THINKS, compat={"supportsReasoningEffort": False}), "high", {"summary": "auto"}),
        (replace(THINKS, compat={"reasoningSummary": ""}), "high", {"effort": "high"}),
        (replace(THINKS, compat={"reasoningSummary": "detailed"}), "low", {"effort": "low", "summary": "detailed"}),
    ],
)
def test_reasoning_by_level(model: ModelSpec, level: Any, reasoning: Any) -> None:
    sent = payload(model=model, thinking=level)
    assert sent.get("reasoning") == reasoning
    assert sent.get("include") == (["reasoning.encrypted_content"] if model.reasoning else None)


def test_own_reasoning_goes_back_to_the_letter() -> None:
    text = Text("look", {"id": "msg_1_of_rs_1", "reasoning": "rs_1", "phase": "commentary"})
    sent = payload(USER, said(RS, text, FC), OUT, model=THINKS)
    assert sent["input"] == [
        USER_ROW,
        RS_ROW,
        {
            "type": "message",
            "id": "msg_1_of_rs_1",
            "role": "assistant",
            "status": "completed",
            "phase": "commentary",
            "content": [{"type": "output_text", "text": "look", "annotations": []}],
        },
        FC_ROW,
        OUT_ROW,
    ]


def test_foreign_reasoning_and_ids_stay_away() -> None:
    sent = payload(USER, said(RS, Text("look", {"id": "msg_1"}), FC, model="other"), OUT, model=THINKS)
    assert sent["input"][1:3] == [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "look"}]},
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": '{"path":"x"}'},
    ]


def test_items_go_without_ids_where_their_reasoning_is_gone() -> None:
    bare = {key: value for key, value in FC_ROW.items() if key != "id"}
    unsigned = Thinking("why", meta=RS.meta)
    for message in (said(unsigned, FC), said(unsigned, FC, stop="error"), said(FC)):
        assert payload(USER, message, OUT, model=THINKS)["input"][1:] == [bare, OUT_ROW]


def test_reasoning_that_led_nowhere_is_not_sent() -> None:
    second = replace(RS, signature=sealed("rs_2", ["why"], "m"), meta={**(RS.meta or {}), "id": "rs_2"})
    sent = payload(USER, said(Text("a"), RS, second, stop="error"), USER, model=THINKS)
    assert [row["type"] for row in sent["input"]] == ["message", "message", "message"]
    assert len(payload(USER, said(RS, stop="aborted"), USER, model=THINKS)["input"]) == 2


def test_plain_reasoning_goes_back_where_a_server_wants_it() -> None:
    content = [{"type": "reasoning_text", "text": "hm"}]
    message = said(Thinking("hm", meta={"id": "rs_1", "summary": [], "content": content}), Text("so"))
    model = replace(THINKS, compat={"replaysPlainReasoning": True})
    rows = build(Request(model=model, messages=[USER, message, USER])).payload["input"]
    assert rows[1] == {"type": "reasoning", "id": "rs_1", "summary": [], "content": content}
    assert payload(USER, message, USER, model=THINKS)["input"][1]["type"] == "message"


def test_arguments_as_the_model_wrote_them_unless_changed() -> None:
    def sent(call: ToolCall) -> Any:
        return payload(USER, said(call), OUT)["input"][1]["arguments"]

    assert sent(ToolCall("c1", "read", {"path": "ä"}, '{ "path":"ä" }')) == '{ "path":"ä" }'
    assert sent(ToolCall("c1", "read", {"path": "b"}, '{"path":"a"}')) == '{"path": "b"}'
    assert sent(ToolCall("c1", "read", None, '{"path":"a')) == "{}"
    assert sent(ToolCall("c1", "read", {}, "")) == "{}"


def test_names_and_ids_of_other_formats() -> None:
    long = "call_" + "a" * 80
    sent = payload(USER, said(ToolCall(long, "bad name/" + "x" * 90, {})), result(long, Text("ok")))
    assert sent["input"][1]["call_id"] == sent["input"][2]["call_id"] == safe_id(long)
    assert "id" not in sent["input"][1]


def test_pictures_of_a_person_and_of_tools() -> None:
    image = {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{PNG.data}"}
    talk = (UserMessage(content=(Text("see"), PNG)), said(FC), result("c1", Text("a"), PNG))
    sent = payload(*talk)["input"]
    assert sent[0]["content"][1] == image
    assert sent[2]["output"] == [{"type": "input_text", "text": "a"}, image]
    old = payload(*talk, model=replace(MODEL, compat={"supportsToolResultImages": False}))["input"]
    assert old[2]["output"] == "a"
    assert old[3]["content"][1:] == [image]
    alone = payload(
        USER, said(FC), result("c1", PNG), USER, model=replace(MODEL, compat={"supportsToolResultImages": False})
    )
    assert [row["type"] for row in alone["input"]] == [
        "message",
        "function_call",
        "function_call_output",
        "message",
        "message",
    ]


@pytest.mark.parametrize("model", [model for model in MODELS if model.api], ids=lambda model: model.id)
def test_every_catalogued_model_gets_a_body_that_a_strict_server_takes(model: ModelSpec) -> None:
    (openai,) = (spec for spec in providers() if spec.id == "openai")
    whole = replace(model, compat={**openai.compat, **model.compat})
    for level in ("off", "medium", "max"):
        sent = payload(system="s", model=whole, tools=[TOOL], max_output=100, session_id="s", thinking=level)
        assert sent["reasoning"]["effort"] in {"none", "low", "medium", "max"}
    assert model.prices is not None
    assert model.api == "openai-responses"
    assert openai.default_model in {one.id for one in MODELS}


SOUND: dict[str, Any] = {"model": "m", "input": [USER_ROW], "stream": True, "store": False}


@pytest.mark.parametrize(
    "change",
    [
        {"model": ""},
        {"input": []},
        {"input": "x"},
        {"store": True},
        {"surprise": 1},
        {"instructions": " "},
        {"max_output_tokens": 3},
        {"include": ["everything"]},
        {"include": ["reasoning.encrypted_content"], "model": "gpt-4o"},
        {"reasoning": {"effort": "off"}},
        {"reasoning": {"summary": ""}},
        {"service_tier": "best"},
        {"prompt_cache_key": "x" * 65},
        {"tools": []},
        {"tools": [{"type": "function", "name": "a b", "parameters": {"type": "object"}, "strict": False}]},
        {"tools": [{"type": "function", "name": "a", "parameters": {"type": "object"}}]},
        {"tools": [{"type": "function", "function": {"name": "a"}}]},
        {"tools": [{"type": "function", "name": "a", "parameters": {"type": "string"}, "strict": False}]},
    ],
)
def test_the_strict_server_refuses_bad_bodies(change: dict[str, Any]) -> None:
    check(SOUND)
    with pytest.raises(Refused):
        check({**SOUND, **change})


def user(*parts: Any) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": list(parts)}


@pytest.mark.parametrize(
    "rows",
    [
        [FC_ROW],
        [RS_ROW],
        [RS_ROW, USER_ROW],
        [FC_ROW, OUT_ROW],
        [RS_ROW, FC_ROW],
        [RS_ROW, FC_ROW, USER_ROW],
        [RS_ROW, FC_ROW, USER_ROW, OUT_ROW],
        [OUT_ROW],
        [RS_ROW, FC_ROW, OUT_ROW, OUT_ROW],
        [RS_ROW, FC_ROW, FC_ROW, OUT_ROW],
        [RS_ROW, FC_ROW, {**OUT_ROW, "output": ""}],
        [RS_ROW, FC_ROW, {**OUT_ROW, "output": []}],
        [RS_ROW, {**FC_ROW, "arguments": '{"a'}, OUT_ROW],
        [RS_ROW, {**FC_ROW, "name": "a b"}, OUT_ROW],
        [RS_ROW, {**FC_ROW, "id": "call_1"}, OUT_ROW],
        [RS_ROW, {**FC_ROW, "call_id": "x" * 65}, {**OUT_ROW, "call_id": "x" * 65}],
        [{**RS_ROW, "id": "rs_2"}, FC_ROW, OUT_ROW],
        [{**RS_ROW, "summary": []}, FC_ROW, OUT_ROW],
        [{**RS_ROW, "encrypted_content": "x"}, FC_ROW, OUT_ROW],
        [{**RS_ROW, "encrypted_content": f"{RS.signature}x"}, FC_ROW, OUT_ROW],
        [{**RS_ROW, "encrypted_content": sealed("rs_1", ["why"], "other")}, FC_ROW, OUT_ROW],
        [{key: value for key, value in RS_ROW.items() if key != "encrypted_content"}, FC_ROW, OUT_ROW],
        [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ""}]}, USER_ROW],
        [{"type": "message", "role": "assistant", "content": [{"type": "input_text", "text": "a"}]}, USER_ROW],
        [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}],
        [{"type": "message", "role": "robot", "content": "x"}],
        [{**USER_ROW, "phase": "commentary"}],
        [{"role": "user", "content": "x"}],
        [{"type": "item_reference", "id": "rs_1"}],
        [user()],
        [user({"type": "input_text", "text": ""})],
        [user({"type": "input_image", "image_url": "data:image/png;base64,AAAA"})],
        [user({"type": "input_image", "image_url": "data:image/bmp;base64,AAAA"})],
    ],
)
def test_the_strict_server_refuses_bad_conversations(rows: list[Any]) -> None:
    check({**SOUND, "input": [USER_ROW, RS_ROW, FC_ROW, OUT_ROW]})
    with pytest.raises(Refused):
        check({**SOUND, "input": [USER_ROW, *rows]})
