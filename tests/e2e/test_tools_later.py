"""The installed command finds tools that were not offered, calls them, and says so in each format's own way; a session
that is resumed says it again."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from mock_provider import anthropic_replies as anthropic
from mock_provider import replies_responses as responses
from mock_provider.server import MockServer, Reply, calls, text

PLUGIN = """
from zot_core import hookimpl, tool


@tool(exposure="search", search_keywords=("forecast",))
def lookup_weather(place: str) -> str:
    \"\"\"What it is like outside.\"\"\"
    return f"sunny in {place}"


@tool(exposure="search")
def find_issues(words: str) -> str:
    \"\"\"Finds issues in the tracker.\"\"\"
    return "none"


@hookimpl
def tools():
    return [lookup_weather, find_issues]
"""
SEARCH = {"query": "weather forecast"}
PLACE = {"place": "Bonn"}


def replies(kind: str) -> list[Reply]:
    if kind == "anthropic":
        found, used = anthropic.call("tool_search", **SEARCH), anthropic.call("lookup_weather", **PLACE)
        model = "claude-opus-4-8"
        return [anthropic.answer(one, model=model) for one in (found, used, "Sunny.", "Still.")]
    if kind == "responses":
        model = "gpt-6-sol"
        found, used = responses.call("c1", "tool_search", SEARCH), responses.call("c2", "lookup_weather", PLACE)
        said = responses.message("Sunny."), responses.message("Still.", item_id="msg_2")
        return [responses.answer(one, model=model) for one in (found, used, *said)]
    found, used = calls(("c1", "tool_search", SEARCH)), calls(("c2", "lookup_weather", PLACE))
    return [found, used, text("Sunny."), text("Still.")]


def at(home: Path, url: str) -> None:
    """The catalog's providers, at the mock."""
    rows = {name: {"baseUrl": url, "apiKey": "x"} for name in ("anthropic", "openai", "kimi")}
    rows["acme"] = {"api": "openai-completions", "baseUrl": url, "models": [{"id": "plain"}]}  # type: ignore[dict-item]
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "models.json").write_text(json.dumps({"providers": rows}), encoding="utf-8")


NATIVE = {
    "anthropic": ("anthropic", "claude-opus-4-8", "tool_reference"),
    "responses": ("openai", "gpt-6-sol", "tool_search_output"),
    "kimi": ("kimi", "kimi-k3", "'role': 'system', 'tools'"),
    "plain": ("acme", "plain", ""),
}


@pytest.mark.parametrize("kind", list(NATIVE))
def test_a_tool_is_found_called_and_found_again_after_a_resume(zot: Any, plugin: Any, kind: str) -> None:
    provider, model, form = NATIVE[kind]
    with MockServer(replies(kind), key="x" if kind != "plain" else "") as server:
        at(Path(os.environ["ZOT_HOME"]), server.url.removesuffix("/v1") if kind == "anthropic" else server.url)
        argv = ("--plugin", plugin(PLUGIN), "--provider", provider, "--model", model)
        done = zot(*argv, "-p", "Do I need a coat?")
        again = zot(*argv, "--continue", "-p", "And now?")
    assert server.refusals == []
    assert (done.code, done.out, done.err) == (0, "Sunny.\n", "")
    assert (again.code, again.out, again.err) == (0, "Still.\n", "")
    first, second, third, resumed = server.bodies
    assert "tool_search" in str(first["tools"]) and "lookup_weather" not in str(first["tools"])
    assert "sunny in Bonn" in str(third)
    assert "What it is like outside." in str(second) and "find_issues" not in str(second["tools"])
    rows = "input" if kind == "responses" else "messages"
    for later in (second, third, resumed):
        if form:
            assert form in str(later[rows])
            assert [one for one in later["tools"] if not one.get("defer_loading")] == first["tools"]
        else:
            assert "lookup_weather" in str(later["tools"])
    if kind != "anthropic":  # whose breakpoints move
        assert resumed[rows][: len(third[rows])] == third[rows], "a resumed session is sent as it was"


def test_the_session_says_what_came(zot: Any, plugin: Any, isolated: Path) -> None:
    zot.script([{"tool_call": {"name": "tool_search", "args": SEARCH}}], [{"text": ["Ok."]}])
    done = zot("--plugin", plugin(PLUGIN), "--session-dir", str(isolated / "kept"), "--json", "-p", "x")
    assert done.code == 0, done.err
    (file,) = (isolated / "kept").rglob("*.jsonl")
    entries = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    (result,) = [one["message"] for one in entries if one.get("message", {}).get("role") == "tool"]
    assert result["activated"] == ["lookup_weather"]
