"""The body of a Messages request: what is said, in which words, and what a strict server takes."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mock_provider.strict_anthropic import check, redact, sign

from zot_core.models.growing import Encoder, Grown
from zot_core.models.levels import levels_of
from zot_core.models.projection import project
from zot_core.models.protocol import HttpRequest, Request
from zot_core.types.content import Image, Text, Thinking, ToolCall
from zot_core.types.messages import AssistantMessage, CustomMessage, ToolResultMessage, UserMessage
from zot_core.types.specs import ModelSpec, ToolSpec
from zot_plugins.api_anthropic import plugin
from zot_plugins.api_anthropic.names import wire_id, wire_name
from zot_plugins.api_anthropic.request import build
from zot_plugins.providers.anthropic import MODELS
from zot_plugins.providers.plugin import providers

PNG = Image("image/png", base64.b64encode(b"\x89PNG\r\n\x1a\n0000").decode())
MODEL = ModelSpec(id="m", provider="p", api="a", inputs=("text", "image"), max_output=8000)
BUDGET = replace(MODEL, reasoning=True, compat={"interleavedThinking": True})
ADAPTIVE = replace(MODEL, reasoning=True, compat={"thinking": "adaptive"}, thinking_levels={"max": "max"})
OWN_BUDGET = replace(BUDGET, compat={"thinkingBudgets": {"low": 2000}})
OMITTING = replace(ADAPTIVE, compat={**ADAPTIVE.compat, "thinkingDisplay": "omitted"})
ALWAYS = replace(ADAPTIVE, thinking_levels={"off": None, "minimal": None})
SHOWN = {"type": "adaptive", "display": "summarized"}
PLAIN = replace(MODEL, compat={"cacheControl": False})
TOOL = ToolSpec(
    name="read",
    description="Reads.",
    parameters={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    execute="x:y",
)
USER = UserMessage(content=(Text("hi"),))
MARK = {"type": "ephemeral"}


def built(*messages: Any, model: ModelSpec = PLAIN, **request: Any) -> HttpRequest:
    sent = build(Request(model=model, messages=project(messages or [USER], model), **request))
    extra = set(model.compat.get("extraBody", {}))
    check({key: value for key, value in sent.payload.items() if key not in extra})
    return sent


def payload(*messages: Any, model: ModelSpec = PLAIN, **request: Any) -> dict[str, Any]:
    return dict(built(*messages, model=model, **request).payload)


def rows(*messages: Any, **request: Any) -> list[Any]:
    return list(payload(*messages, **request)["messages"])


def said(*blocks: Any, model: str = "m", stop: Any = "end_turn") -> AssistantMessage:
    return AssistantMessage(content=blocks, provider="p", model=model, api="a", stop=stop)


def result(call_id: str, *content: Any, is_error: bool = False) -> ToolResultMessage:
    return ToolResultMessage(call_id=call_id, tool_name="read", content=content, is_error=is_error)


def thought(text: str = "because", model: str = "m") -> Thinking:
    return Thinking(text, sign(model, text))


def test_the_plainest_request() -> None:
    assert payload() == {
        "model": "m",
        "max_tokens": 8000,
        "stream": True,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
    }
    sent = built(system="be brief")
    assert sent.payload["system"] == [{"type": "text", "text": "be brief"}]
    assert "system" not in payload(system="  \n")
    assert (sent.path, sent.headers, sent.auth) == (
        "v1/messages",
        {"anthropic-version": "2023-06-01"},
        {"x-api-key": "{key}"},
    )


def test_the_same_request_is_the_same_body() -> None:
    request = Request(model=BUDGET, messages=[USER], system="s", tools=[TOOL], thinking="high", session_id="x")
    assert json.dumps(build(request).payload) == json.dumps(build(request).payload)


def test_tools_and_their_calls() -> None:
    sent = payload(
        USER,
        said(Text("I look"), ToolCall("1", "read", {"path": "ä"}, "ignored"), ToolCall("2", "read", {})),
        result("2", Text("b")),
        result("1", Text("a")),
        UserMessage(content=(Text("and now?"),)),
        tools=[TOOL],
    )
    assert sent["tools"] == [{"name": "read", "description": "Reads.", "input_schema": TOOL.parameters}]
    assert sent["messages"][1]["content"] == [
        {"type": "text", "text": "I look"},
        {"type": "tool_use", "id": "1", "name": "read", "input": {"path": "ä"}},
        {"type": "tool_use", "id": "2", "name": "read", "input": {}},
    ]
    assert sent["messages"][2:] == [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "a"}]},
                {"type": "tool_result", "tool_use_id": "2", "content": [{"type": "text", "text": "b"}]},
                {"type": "text", "text": "and now?"},
            ],
        }
    ]


def test_roles_alternate_whatever_was_said() -> None:
    note = CustomMessage(custom_type="note", content=(Text("by the way"),))
    sent = rows(said(Text("Welcome")), USER, note, USER, said(Text("a")), said(Text("b")))
    assert [row["role"] for row in sent] == ["user", "assistant", "user", "assistant", "user"]
    assert [block["text"] for block in sent[2]["content"]] == ["hi", "by the way", "hi"]
    assert [block["text"] for block in sent[3]["content"]] == ["a", "b"]
    assert rows(UserMessage(content=(Text("  "),)))[0]["role"] == "user"


def test_broken_arguments_ids_and_names_are_not_sent_again() -> None:
    long = "call_" + "a" * 60 + "|fc_" + "b" * 60
    call = ToolCall(long, "bad name/" + "x" * 90, None, '{"path": "cut')
    sent = rows(USER, said(call), result(long, Text("not run")))
    block = sent[1]["content"][0]
    assert block["input"] == {}
    assert block["name"] == wire_name(call.name)
    assert block["id"] == sent[2]["content"][0]["tool_use_id"] == wire_id(long)


def test_names_and_ids_stay_what_they_are_where_they_can_and_never_meet() -> None:
    assert (wire_id("toolu_01"), wire_name("read_file-2")) == ("toolu_01", "read_file-2")
    names = ["a.b", "a/b", "a b", "a_b", "ä", "日本", "", "x" * 65, "x" * 66]
    made = [wire_name(name) for name in names]
    assert len(set(made)) == len(names)
    assert made == [wire_name(name) for name in names]
    assert len({wire_id(name) for name in names}) == len(names)
    dotted = replace(TOOL, name="files.read")
    sent = payload(USER, said(ToolCall("1", "files.read", {})), result("1", Text("ok")), tools=[dotted])
    assert sent["tools"][0]["name"] == sent["messages"][1]["content"][0]["name"]


def test_a_choice_at_the_top_of_a_schema_becomes_an_object() -> None:
    choice = {"anyOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "integer"}}}]}
    (tool,) = payload(tools=[replace(TOOL, parameters=choice, description="")])["tools"]
    assert tool == {
        "name": "read",
        "input_schema": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}},
    }


def test_pictures_of_a_person_and_of_tools() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG.data}}
    calls = said(ToolCall("1", "read", {}), ToolCall("2", "read", {}), ToolCall("3", "read", {}))
    sent = rows(
        UserMessage(content=(Text("see"), PNG)),
        calls,
        result("1", PNG),
        result("2", Text("broken"), PNG, is_error=True),
        result("3", PNG, is_error=True),
    )
    assert sent[0]["content"] == [{"type": "text", "text": "see"}, image]
    first, second, third, *pictures = sent[2]["content"]
    assert first["content"] == [image]
    assert second["content"] == [{"type": "text", "text": "broken"}]
    assert (second["is_error"], third["is_error"], pictures) == (True, True, [image, image])
    misnamed = rows(UserMessage(content=(replace(PNG, mime_type="image/jpeg"),)))
    assert misnamed[0]["content"] == [image]
    unknown = Image("image/bmp", base64.b64encode(b"BM00").decode())
    assert rows(UserMessage(content=(unknown,)))[0]["content"][0]["type"] == "text"
    blind = replace(PLAIN, inputs=("text",))
    assert rows(UserMessage(content=(PNG,)), model=blind)[0]["content"][0]["type"] == "text"


def test_cache_breakpoints_stand_at_tools_system_and_the_last_two_of_the_user() -> None:
    talk = [USER, said(ToolCall("1", "read", {})), result("1", Text("ok")), said(Text("so")), USER]
    sent = payload(*talk, model=MODEL, system="s", tools=[TOOL, replace(TOOL, name="write")])
    assert [tool.get("cache_control") for tool in sent["tools"]] == [None, MARK]
    assert sent["system"][0]["cache_control"] == MARK
    marks = [row["content"][-1].get("cache_control") for row in sent["messages"]]
    assert marks == [None, None, MARK, None, MARK]
    hour = payload(model=replace(MODEL, compat={"cacheTtl": "1h"}))
    assert hour["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert "cache_control" not in json.dumps(payload(*talk, system="s", tools=[TOOL]))


@pytest.mark.parametrize("model", [MODEL, PLAIN], ids=["marked", "plain"])
def test_a_growing_conversation_is_sent_as_if_it_were_made_anew(model: ModelSpec) -> None:
    """What is kept between requests never shows: neither breakpoints nor merged rows stay in it."""
    grown, encoder, talk = Grown(), Encoder(), [USER]
    more = [
        said(thought(), ToolCall("1", "read", {}), ToolCall("2", "read", {})),
        result("1", Text("a")),
        result("2", Text("b")),
        USER,
        said(Text("so")),
        USER,
        USER,
    ]
    for message in more:
        talk.append(message)
        request = Request(model=model, messages=tuple(talk), system="s", tools=[TOOL])
        fresh = build(request).payload
        kept = build(replace(request, grown=grown)).payload
        assert kept == fresh
        assert json.loads(encoder.encode(kept)) == fresh


def test_thinking_goes_back_to_its_maker_to_the_letter_and_in_order() -> None:
    """SP-09."""
    hidden = Thinking("", redact("m", "hidden"), redacted=True)
    bare = Thinking("", sign("m", ""))
    own = said(thought("a  \n"), hidden, Text("look"), bare, ToolCall("1", "read", {}))
    sent = rows(USER, own, result("1", Text("ok")))
    assert sent[1]["content"] == [
        {"type": "thinking", "thinking": "a  \n", "signature": sign("m", "a  \n")},
        {"type": "redacted_thinking", "data": redact("m", "hidden")},
        {"type": "text", "text": "look"},
        {"type": "thinking", "thinking": "", "signature": sign("m", "")},
        {"type": "tool_use", "id": "1", "name": "read", "input": {}},
    ]
    foreign = said(thought(model="o"), Text("look"), ToolCall("1", "read", {}), model="o")
    assert [block["type"] for block in rows(USER, foreign, result("1", Text("ok")))[1]["content"]] == [
        "text",
        "tool_use",
    ]
    as_it_is = build(Request(model=PLAIN, messages=[USER, foreign, result("1", Text("ok"))]))  # not projected before
    check(as_it_is.payload)


def test_thinking_that_was_never_signed_or_stands_last_is_left_out() -> None:
    unsigned = said(Thinking("hm"), Text("so"))
    assert [block["type"] for block in rows(USER, unsigned, USER)[1]["content"]] == ["text"]
    lenient = replace(PLAIN, compat={**PLAIN.compat, "replaysUnsignedThinking": True})
    sent = build(Request(model=lenient, messages=[USER, unsigned, USER])).payload["messages"][1]["content"]
    assert sent[0] == {"type": "thinking", "thinking": "hm", "signature": ""}
    cut = said(Text("so"), thought(), stop="length")
    assert [block["type"] for block in rows(USER, cut, USER)[1]["content"]] == ["text"]


@pytest.mark.parametrize(
    ("model", "level", "limit", "expected", "effort"),
    [
        (MODEL, "high", None, None, None),
        (BUDGET, "off", None, None, None),
        (BUDGET, "minimal", None, {"type": "enabled", "budget_tokens": 1024}, None),
        (BUDGET, "low", None, {"type": "enabled", "budget_tokens": 4096}, None),
        (BUDGET, "high", None, {"type": "enabled", "budget_tokens": 6976}, None),
        (BUDGET, "high", 2048, {"type": "enabled", "budget_tokens": 1024}, None),
        (BUDGET, "high", 2000, None, None),
        (BUDGET, "high", 1, None, None),
        (replace(BUDGET, max_output=64_000), "max", None, {"type": "enabled", "budget_tokens": 20_480}, None),
        (OWN_BUDGET, "low", None, {"type": "enabled", "budget_tokens": 2000}, None),
        (ADAPTIVE, "off", None, None, None),
        (ADAPTIVE, "medium", None, SHOWN, "medium"),
        (ADAPTIVE, "xhigh", None, SHOWN, "high"),
        (ADAPTIVE, "max", None, SHOWN, "max"),
        (OMITTING, "low", None, {"type": "adaptive", "display": "omitted"}, "low"),
        (replace(ADAPTIVE, thinking_levels={"off": "disabled"}), "off", None, {"type": "disabled"}, None),
        (replace(ADAPTIVE, thinking_levels={"off": "between_tools"}), "off", None, {"type": "between_tools"}, None),
        (ALWAYS, "off", None, SHOWN, "low"),
    ],
)  # fmt: skip
def test_thinking_by_level(model: ModelSpec, level: Any, limit: Any, expected: Any, effort: Any) -> None:
    sent = payload(model=model, thinking=level, max_output=limit)
    assert sent.get("thinking") == expected
    assert sent.get("output_config") == ({"effort": effort} if effort else None)


def test_a_turn_that_began_without_thinking_ends_without_where_a_budget_is_given() -> None:
    """SP-09: a switch of model or level within a turn."""
    foreign = said(thought(model="o"), ToolCall("1", "read", {}), model="o")
    talk = [USER, foreign, result("1", Text("ok"))]
    assert "thinking" not in payload(*talk, model=BUDGET, thinking="high")
    assert "thinking" in payload(*talk, said(Text("done")), USER, model=BUDGET, thinking="high")
    assert "thinking" in payload(*talk, model=ADAPTIVE, thinking="high")
    own = [USER, said(thought(), ToolCall("1", "read", {})), result("1", Text("ok"))]
    assert "thinking" in payload(*own, model=BUDGET, thinking="high")


def test_models_that_bind_signatures_are_asked_to_forget_what_does_not_hold() -> None:
    bound = replace(ADAPTIVE, compat={**ADAPTIVE.compat, "bindsThinking": True}, thinking_levels={"off": "disabled"})
    talk = [USER, said(thought(), Text("so")), USER]
    sent = built(*talk, model=bound, thinking="high")
    assert sent.payload["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
    assert sent.headers["anthropic-beta"] == "thinking-binding-controls-2026-08-01"
    assert sent.payload["messages"][1]["content"][0]["type"] == "thinking"
    silent = built(*talk, model=bound, thinking="off")
    assert "anthropic-beta" not in silent.headers
    assert [block["type"] for block in silent.payload["messages"][1]["content"]] == ["text"]
    grown = Grown()  # what one level made is not what another gets
    for level in ("off", "high", "off"):
        request = Request(model=bound, messages=talk, thinking=level)  # type: ignore[arg-type]
        assert build(replace(request, grown=grown)).payload == build(request).payload


def test_headers_of_betas_keys_and_logins() -> None:
    sent = built(model=BUDGET, thinking="high", tools=[TOOL])
    assert sent.headers["anthropic-beta"] == "interleaved-thinking-2025-05-14"
    assert sent.login == {
        "authorization": "Bearer {key}",
        "anthropic-beta": "oauth-2025-04-20,interleaved-thinking-2025-05-14",
    }
    assert "anthropic-beta" not in built(model=BUDGET, thinking="high").headers
    other = built(model=replace(PLAIN, compat={"bearerAuth": True, "betas": ["x-1", "y-2"], "versionlessPath": True}))
    assert (other.auth, other.headers["anthropic-beta"], other.path) == (
        {"authorization": "Bearer {key}"},
        "x-1,y-2",
        "messages",
    )


def test_small_wishes() -> None:
    assert payload(max_output=9)["max_tokens"] == 9
    assert payload(max_output=9_000_000)["max_tokens"] == 8000
    assert payload(model=replace(PLAIN, compat={"serviceTier": "standard_only"}))["service_tier"] == "standard_only"
    assert payload(model=replace(PLAIN, compat={"extraBody": {"top_k": 3}}))["top_k"] == 3


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.id)
def test_every_catalogued_model_gets_a_body_that_a_strict_server_takes(model: ModelSpec) -> None:
    spec = next(spec for spec in providers() if spec.id == "anthropic")
    whole = replace(model, compat={**spec.compat, **model.compat}, api=spec.api)
    for level in levels_of(whole):
        sent = payload(system="s", model=whole, tools=[TOOL], session_id="s", thinking=level)
        assert sent["max_tokens"] == model.max_output
        assert (level == "off") == (sent.get("thinking", {}).get("type", "disabled") == "disabled")
    assert model.prices is not None
    assert 0 < model.prices.cache_read < model.prices.input < model.prices.cache_write < model.prices.output
    assert model.context_window > model.max_output
    assert spec.default_model in {one.id for one in MODELS}


def test_the_page_lists_every_compat_flag_that_the_format_reads() -> None:
    root = Path(__file__).parents[3]
    page = (root / "docs/providers/anthropic.md").read_text(encoding="utf-8")
    sources = [path.read_text(encoding="utf-8") for path in (root / "zot_plugins/api_anthropic").glob("*.py")]
    read = {flag for source in sources for flag in re.findall(r'compat\.get\("(\w+)"', source)}
    listed = set(re.findall(r"^\| `(\w+)` \|", page.partition("## Compat flags")[2], re.M))
    assert listed == read
    assert all(f"| {flag} |" in str(plugin.__doc__) for flag in read)
