"""The strict server of the Messages API refuses what the real one refuses; else a test that passes it says nothing."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from mock_provider.strict_anthropic import Refused, call_id, check, redact, sign

MARK = {"type": "ephemeral"}


def use(number: str = "1", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": number, "name": "a", "input": {}, **fields}


def res(number: str = "1", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": number, **fields}


def talk(*contents: Any) -> list[dict[str, Any]]:
    return [{"role": ("user", "assistant")[n % 2], "content": content} for n, content in enumerate(contents)]


PICTURE = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(b"\x89PNG\r\n\x1a\n0000").decode()}
TOOLROW = {"name": "a", "input_schema": {"type": "object"}}
FORGETFUL = call_id(0, "m", [{"type": "thinking"}])


@pytest.mark.parametrize(
    "change",
    [
        {"model": ""},
        {"max_tokens": None},
        {"max_tokens": 0},
        {"surprise": 1},
        {"messages": []},
        {"messages": talk("")},
        {"messages": talk(" \n")},
        {"messages": talk([])},
        {"messages": [{"role": "system", "content": "x"}]},
        {"messages": [{"role": "assistant", "content": "x"}, {"role": "user", "content": "x"}]},
        {"messages": [{"role": "user", "content": "x"}] * 2},
        {"messages": talk("x", "prefill")},
        {"messages": talk("x", "prefill \n")},
        {"messages": [{"role": "user", "content": "x", "id": "1"}]},
        {"messages": talk([{"type": "text", "text": ""}])},
        {"messages": talk([{"type": "text", "text": "x", "extra": 1}])},
        {"messages": talk("x", [], "x")},
        {"messages": talk("x", [use()], "x")},
        {"messages": talk("x", [use()])},
        {"messages": talk("x", [use()], [res("2")])},
        {"messages": talk("x", [use()], [res(), res()])},
        {"messages": talk("x", [use(), use("2")], [res()])},
        {"messages": talk("x", [use()], [{"type": "text", "text": "x"}, res()])},
        {"messages": talk([res()])},
        {"messages": talk("x", [use(), use()], [res()])},
        {"messages": talk("x", [use()], [res()], [use()], [res()])},
        {"messages": talk("x", [use("a|b")], [res("a|b")])},
        {"messages": talk("x", [use(name="a.b")], [res()])},
        {"messages": talk("x", [use(input="{}")], [res()])},
        {"messages": talk("x", [use()], [res(is_error=True, content=[{"type": "image", "source": PICTURE}])])},
        {"messages": talk("x", [use()], [res(content=[{"type": "text", "text": ""}])])},
        {"messages": talk([{"type": "image", "source": {**PICTURE, "media_type": "image/bmp"}}])},
        {"messages": talk([{"type": "image", "source": {**PICTURE, "media_type": "image/gif"}}])},
        {"messages": talk([{"type": "image", "source": {**PICTURE, "data": "%"}}])},
        {"messages": talk("x", [{"type": "thinking", "thinking": "t", "signature": "x"}, use()], [res()])},
        {"messages": talk("x", [{"type": "thinking", "thinking": "t", "signature": sign("o", "t")}, use()], [res()])},
        {"messages": talk("x", [{"type": "redacted_thinking", "data": redact("o", "t")}, use()], [res()])},
        {"messages": talk("x", [{"type": "thinking", "thinking": "t", "signature": sign("m", "t")}], "x")},
        {"messages": talk("x", [use()], [res()]), "thinking": {"type": "enabled", "budget_tokens": 1024}},
        {"messages": talk("x", [use(FORGETFUL)], [res(FORGETFUL)]), "thinking": {"type": "adaptive"}},
        {"system": [{"type": "text", "text": ""}]},
        {"system": ""},
        {"tools": [{**TOOLROW, "name": "a b"}]},
        {"tools": [TOOLROW, TOOLROW]},
        {"tools": [{"name": "a", "input_schema": {}}]},
        {"tools": [{"name": "a", "input_schema": {"type": "object", "anyOf": []}}]},
        {"tools": [{**TOOLROW, "parameters": {}}]},
        {"thinking": {"type": "enabled", "budget_tokens": 100}},
        {"thinking": {"type": "enabled", "budget_tokens": 5000}},
        {"thinking": {"type": "on"}},
        {"thinking": {"type": "adaptive"}, "temperature": 0.5},
        {"thinking": {"type": "disabled"}, "output_config": {"effort": "max"}},
        {"output_config": {"effort": "minimal"}},
        {"service_tier": "gold"},
        {"messages": talk([{"type": "text", "text": "x", "cache_control": MARK}] * 5)},
        {"messages": talk([{"type": "text", "text": "x", "cache_control": {"type": "for ever"}}])},
    ],
)  # fmt: skip
def test_the_strict_server_refuses_what_the_real_one_refuses(change: dict[str, Any]) -> None:
    sound: dict[str, Any] = {"model": "m", "max_tokens": 4000, "messages": talk("x"), "stream": True}
    check(sound)
    with pytest.raises(Refused):
        check({**sound, **change})
