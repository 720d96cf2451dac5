"""The body of a Gemini request: what is said, in which words, and what the strict server takes."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest
from mock_provider.strict_google import UNSIGNED, Refused, check, signed

from zot_core.models.attempt import join_url
from zot_core.models.growing import Grown
from zot_core.models.projection import project
from zot_core.models.protocol import Request
from zot_core.types.content import Image, Text, Thinking, ToolCall
from zot_core.types.messages import AssistantMessage, ToolResultMessage, UserMessage
from zot_core.types.specs import ModelSpec, ToolSpec
from zot_plugins.api_google.request import build, safe_name
from zot_plugins.providers.google import MODELS
from zot_plugins.providers.plugin import providers

PNG = Image("image/png", base64.b64encode(b"\x89PNG\r\n\x1a\n0000").decode())
GIF = Image("image/gif", base64.b64encode(b"GIF89a0000").decode())
MODEL = ModelSpec(id="m", provider="p", api="a", inputs=("text", "image"))
NEW = replace(
    MODEL,
    id="gemini-4-neon",
    reasoning=True,
    compat={"requiresThoughtSignature": True, "supportsMultimodalFunctionResponse": True},
)
TOOL = ToolSpec(
    name="read",
    description="Reads.",
    parameters={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    execute="x:y",
)
USER = UserMessage(content=(Text("hi"),))
USER_ROW = {"role": "user", "parts": [{"text": "hi"}]}


def payload(*messages: Any, model: ModelSpec = MODEL, **request: Any) -> dict[str, Any]:
    built = build(Request(model=model, messages=project(messages or [USER], model), **request))
    extra = set(model.compat.get("extraBody", {}))
    body = {key: value for key, value in built.payload.items() if key not in extra}
    check(body, f"/{built.path}")
    return dict(built.payload)


def said(*blocks: Any, model: str = "m", **more: Any) -> AssistantMessage:
    return AssistantMessage(content=blocks, provider="p", model=model, api="a", **more)


def result(call_id: str, *content: Any, is_error: bool = False) -> ToolResultMessage:
    return ToolResultMessage(call_id=call_id, tool_name="read", content=content, is_error=is_error)


def test_the_plainest_request() -> None:
    assert payload(system="be brief") == {
        "contents": [USER_ROW],
        "systemInstruction": {"parts": [{"text": "be brief"}]},
    }
    assert payload(max_output=9)["generationConfig"] == {"maxOutputTokens": 9}
    built = build(Request(model=MODEL, messages=[USER]))
    assert built.path == "v1beta/models/m:streamGenerateContent?alt=sse"
    assert built.auth == {"x-goog-api-key": "{key}"}


def test_where_it_goes() -> None:
    path = build(Request(model=replace(MODEL, id="models/gemini-x"), messages=[USER])).path
    end = "/models/gemini-x:streamGenerateContent?alt=sse"
    assert join_url("https://g.test", path) == f"https://g.test/v1beta{end}"
    assert join_url("https://g.test/v1beta", path) == f"https://g.test/v1beta{end}"
    assert join_url("https://g.test/v1beta?a=b", path) == f"https://g.test/v1beta{end.replace('?', '?a=b&')}"
    assert (
        "/v1beta/tunedModels/x:" in f"/{build(Request(model=replace(MODEL, id='tunedModels/x'), messages=[USER])).path}"
    )
    assert "a%3Fb" in build(Request(model=replace(MODEL, id="a?b"), messages=[USER])).path


def test_the_same_request_is_the_same_body_and_grows_from_the_last() -> None:
    call = ToolCall("1", "read", {"path": "x"}, meta={"id": "w1"})
    messages = [USER, said(call), result("1", Text("ok"), PNG), said(Text("done")), USER]
    whole = Request(model=MODEL, messages=messages, system="s", tools=[TOOL])
    assert build(whole).payload == build(whole).payload
    grown = Grown()
    for upto in (1, 3, 5):
        assert (
            build(replace(whole, messages=messages[:upto], grown=grown)).payload
            == build(replace(whole, messages=messages[:upto])).payload
        )
    late = Grown()
    late.keep(messages[:2], build(replace(whole, messages=messages[:2])).payload["contents"])
    assert build(replace(whole, grown=late)).payload == build(whole).payload


def test_flags_of_servers() -> None:
    safety = [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]
    sent = payload(model=replace(MODEL, compat={"safetySettings": safety, "extraBody": {"labels": {"a": "b"}}}))
    assert (sent["safetySettings"], sent["labels"]) == (safety, {"a": "b"})


@pytest.mark.parametrize(
    ("model", "level", "thinking"),
    [
        (MODEL, "high", None),
        (replace(MODEL, reasoning=True), "off", None),
        (replace(MODEL, reasoning=True), "high", {"thinkingLevel": "high", "includeThoughts": True}),
        (
            replace(NEW, thinking_levels={"off": None, "minimal": None}),
            "off",
            {"thinkingLevel": "low", "includeThoughts": True},
        ),
        (
            replace(MODEL, id="gemini-2.5-flash", reasoning=True, thinking_levels={"off": "0", "high": "24576"}),
            "off",
            {"thinkingBudget": 0},
        ),
        (
            replace(MODEL, id="gemini-2.5-flash", reasoning=True, thinking_levels={"high": "24576"}),
            "high",
            {"thinkingBudget": 24576, "includeThoughts": True},
        ),
        (
            replace(MODEL, id="gemini-2.5-flash", reasoning=True, thinking_levels={"medium": "-1"}),
            "medium",
            {"thinkingBudget": -1, "includeThoughts": True},
        ),
        (replace(MODEL, reasoning=True, compat={"supportsThinking": False}), "high", None),
        (replace(MODEL, reasoning=True, compat={"includeThoughts": False}), "low", {"thinkingLevel": "low"}),
    ],
)
def test_thinking_by_level(model: ModelSpec, level: Any, thinking: Any) -> None:
    sent = payload(model=model, thinking=level)
    assert sent.get("generationConfig", {}).get("thinkingConfig") == thinking


def test_calls_and_their_responses_stand_together_in_order() -> None:
    calls = said(Text("I look"), ToolCall("1", "read", {"path": "ä"}), ToolCall("2", "ls", {}))
    sent = payload(USER, calls, result("1", Text("ok")), result("2", Text("bad"), is_error=True), USER, tools=[TOOL])
    assert sent["contents"][1:] == [
        {
            "role": "model",
            "parts": [
                {"text": "I look"},
                {"functionCall": {"name": "read", "args": {"path": "ä"}}},
                {"functionCall": {"name": "ls", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "read", "response": {"output": "ok"}}},
                {"functionResponse": {"name": "ls", "response": {"error": "bad"}}},
            ],
        },
        USER_ROW,
    ]
    assert sent["tools"][0]["functionDeclarations"][0]["name"] == "read"


def test_ids_go_back_where_the_model_gave_them_or_a_server_wants_them() -> None:
    talk = (USER, said(ToolCall("call_9", "read", {}, meta={"id": "w1"})), result("call_9", Text("ok")))
    rows = payload(*talk)["contents"]
    assert rows[1]["parts"][0]["functionCall"]["id"] == rows[2]["parts"][0]["functionResponse"]["id"] == "w1"
    foreign = (USER, said(ToolCall("call_9", "read", {}), model="o"), result("call_9", Text("ok")))
    assert "id" not in payload(*foreign)["contents"][1]["parts"][0]["functionCall"]
    wants = payload(*foreign, model=replace(MODEL, compat={"requiresCallIds": True}))["contents"]
    assert wants[1]["parts"][0]["functionCall"]["id"] == wants[2]["parts"][0]["functionResponse"]["id"] == "call_9"


def test_signatures_go_back_in_the_part_that_they_came_in() -> None:
    def sign(part: Any) -> Any:
        return signed(part, NEW.id)

    call = {"functionCall": {"name": "read", "args": {"path": "x"}}}
    parts = [
        sign({"text": "why", "thought": True}),
        {"text": "hm", "thought": True},
        sign({"text": "look"}),
        sign({"text": ""}),
        sign(call),
        {"functionCall": {"name": "ls", "args": {}}},
    ]
    message = said(
        Thinking("why", parts[0]["thoughtSignature"], meta={"part": "thought"}),
        Thinking("hm"),
        Text("look", {"thoughtSignature": parts[2]["thoughtSignature"]}),
        Thinking("", parts[3]["thoughtSignature"], meta={"part": "text", "text": ""}),
        ToolCall("1", "read", {"path": "x"}, meta={"thoughtSignature": parts[4]["thoughtSignature"]}),
        ToolCall("2", "ls", {}),
        model=NEW.id,
    )
    talk = (USER, message, result("1", Text("ok")), result("2", Text("ok")))
    assert payload(*talk, model=NEW)["contents"][1]["parts"] == parts
    other = payload(*talk, model=replace(NEW, id="gemini-4-argon"))["contents"][1]["parts"]
    assert other == [{"text": "look"}, {**call, "thoughtSignature": UNSIGNED}, parts[5]]
    old = payload(*talk, model=MODEL)["contents"][1]["parts"]
    assert old == [{"text": "look"}, call, parts[5]]


def test_broken_arguments_and_names_are_not_sent_again() -> None:
    call = ToolCall("1", "9 bad name/" + "x" * 90, None, '{"path": "cut')
    sent = payload(USER, said(call), result("1", Text("not run")))
    assert sent["contents"][1]["parts"][0]["functionCall"] == {"name": safe_name(call.name), "args": {}}
    assert len(safe_name(call.name)) == 64
    assert [safe_name(name) for name in ("", "a.b:c", "é", "1")] == ["unknown", "a.b:c", "unknown", "_1"]


def test_pictures_of_a_person_and_of_tools() -> None:
    blob = {"inlineData": {"mimeType": "image/png", "data": PNG.data}}
    talk = (
        UserMessage(content=(Text("see"), PNG, GIF)),
        said(ToolCall("1", "read", {}), ToolCall("2", "read", {})),
        result("1", PNG),
        result("2", Text("a"), PNG, GIF),
    )
    old = payload(*talk)["contents"]
    assert old[0]["parts"][:2] == [{"text": "see"}, blob]
    assert "image/gif" in old[0]["parts"][2]["text"]
    assert old[3]["parts"][1:] == [blob, blob]
    new = payload(*talk, model=NEW)["contents"]
    assert len(new) == 3
    responses = [part["functionResponse"] for part in new[2]["parts"]]
    assert [one["parts"] for one in responses] == [[blob], [blob]]
    assert responses[1]["response"]["output"].startswith("a\n[image/gif")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.id)
def test_every_catalogued_model_gets_a_body_that_a_strict_server_takes(model: ModelSpec) -> None:
    (google,) = (spec for spec in providers() if spec.id == "google")
    whole = replace(model, api=google.api)
    for level in ("off", "medium", "max"):
        sent = payload(system="s", model=whole, tools=[TOOL], max_output=10, thinking=level)
        assert sent["generationConfig"]["thinkingConfig"]["thinkingLevel"] in {"low", "medium", "high", "xhigh"}
    assert model.prices is not None
    assert google.default_model in {one.id for one in MODELS}


CALL = {"role": "model", "parts": [{"functionCall": {"name": "a", "args": {}}}]}
RESPONSE = {"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {}}}]}
SOUND: dict[str, Any] = {"contents": [USER_ROW, CALL, RESPONSE]}


def declared(**schema: Any) -> dict[str, Any]:
    return {"tools": [{"functionDeclarations": [{"name": "a", "parameters": {"type": "object", **schema}}]}]}


@pytest.mark.parametrize(
    "change",
    [
        {"contents": []},
        {"contents": None},
        {"messages": []},
        {"system_prompt": "x"},
        {"systemInstruction": {"parts": [{"text": ""}]}},
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": 1, "thinkingLevel": "low"}}},
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": "max"}}},
        {"generationConfig": {"max_tokens": 3}},
        {"tools": [{"functionDeclarations": [{"name": "a b"}]}]},
        {"tools": [{"functionDeclarations": [{"name": "9a"}]}]},
        {"tools": [{"functionDeclarations": [{"name": "a"}, {"name": "a"}]}]},
        declared(),
        declared(properties={"x": {"type": "string"}}, additionalProperties=False),
        declared(properties={"x": {"const": 1}}),
        declared(properties={"x": {"type": ["string", "null"]}}),
        declared(properties={"x": {"type": "integer", "enum": [1]}}),
        declared(properties={"x": {"type": "string", "enum": [""]}}),
        declared(properties={"x": {"type": "string", "format": "uri"}}),
        declared(properties={"x": {"type": "array"}}),
        declared(properties={"x": {"$ref": "#/$defs/X"}}),
        declared(properties={"x": {"type": "string"}}, required=["y"]),
        {"contents": [CALL, RESPONSE]},
        {"contents": [USER_ROW, CALL]},
        {"contents": [USER_ROW, {"role": "model", "parts": [{"text": "a"}]}]},
        {"contents": [USER_ROW, CALL, USER_ROW]},
        {"contents": [USER_ROW, RESPONSE]},
        {"contents": [USER_ROW, CALL, {"role": "user", "parts": RESPONSE["parts"] * 2}]},
        {"contents": [USER_ROW, CALL, RESPONSE, RESPONSE]},
        {"contents": [USER_ROW, {"role": "model", "parts": [{"text": "a"}]}, CALL, RESPONSE]},
        {
            "contents": [
                USER_ROW,
                CALL,
                {"role": "user", "parts": [{"functionResponse": {"name": "b", "response": {}}}]},
            ]
        },
        {
            "contents": [
                USER_ROW,
                CALL,
                {"role": "user", "parts": [{"functionResponse": {"id": "1", "name": "a", "response": {}}}]},
            ]
        },
        {"contents": [{"role": "user", "parts": []}]},
        {"contents": [{"role": "user", "parts": [{}]}]},
        {"contents": [{"role": "user", "parts": [{"text": ""}]}]},
        {"contents": [{"role": "user", "parts": CALL["parts"]}]},
        {"contents": [{"role": "assistant", "parts": [{"text": "a"}]}]},
        {"contents": [{"role": "user", "parts": [{"text": "a", "inlineData": {}}]}]},
        {"contents": [{"role": "user", "parts": [{"inlineData": {"mimeType": "image/gif", "data": GIF.data}}]}]},
        {"contents": [{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]}]},
        {"contents": [{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "%"}}]}]},
        {"contents": [{"role": "user", "parts": [{"text": "a", "thoughtSignature": "x"}]}]},
        {"contents": [{"role": "user", "parts": [{**signed({"text": "a"}, "m"), "text": "b"}]}]},
        {"contents": [{"role": "user", "parts": [signed({"text": "a"}, "other")]}]},
    ],
)
def test_the_strict_server_refuses_what_the_real_one_refuses(change: dict[str, Any]) -> None:
    check(SOUND)
    with pytest.raises(Refused):
        check({**SOUND, **change})


def test_the_strict_server_wants_signatures_in_the_running_turn_alone() -> None:
    def at(model: str) -> str:
        return f"/v1beta/models/{model}:streamGenerateContent?alt=sse"

    check(SOUND, at("gemini-2.5-pro"))
    check({"contents": [*SOUND["contents"], USER_ROW]}, at("gemini-4-neon"))
    for body, path in ((SOUND, at("gemini-4-neon")), (SOUND, "/v1beta/models/m:streamGenerateContent"), (SOUND, "/x")):
        with pytest.raises(Refused):
            check(body, path)
    for thinking in ({"thinkingBudget": 100}, {"thinkingBudget": -2}):
        with pytest.raises(Refused):
            check({**SOUND, "generationConfig": {"thinkingConfig": thinking}}, at("gemini-4-neon"))
