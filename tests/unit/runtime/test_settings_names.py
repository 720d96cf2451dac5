"""What settings.json and models.json misspell is said, with the file and the nearest name."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from zot_core.testing import Script

Open = Callable[..., Any]


def notes(runtime: Open, world: Any, file: str = "settings.json", **data: Any) -> list[str]:
    """The notes of a start with this file in the home."""
    (world.home / file).write_text(json.dumps(data))

    async def story() -> list[str]:
        async with runtime(script=Script().text("Hi.")) as app:
            return [note.text for note in app.front.notes]

    return asyncio.run(story())


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"disabled_plugins": ["tool_bahs"]},
         "'disabled_plugins': no plugin is called 'tool_bahs'; did you mean 'tool_bash'?"),
        ({"allow_replacing": ["jial"]}, "'allow_replacing': no plugin is called 'jial'; did you mean 'jail'?"),
        ({"plugins": {"tool_bsh": {"timeout": 3}}},
         "'plugins.tool_bsh': no plugin is called 'tool_bsh'; did you mean 'tool_bash'?"),
        ({"tools": {"exclude": ["bsh"]}}, "'tools.exclude': no tool is called 'bsh'; did you mean 'bash'?"),
        ({"tools": {"include": ["raed", "bash"]}}, "'tools.include': no tool is called 'raed'; did you mean 'read'?"),
        ({"tools": {"include": ["zzzz"]}},
         "'tools.include': no tool is called 'zzzz'; it counts when a plugin brings one later"),
    ],
)  # fmt: skip
def test_a_misspelt_name_is_said_with_its_file(runtime: Open, world: Any, data: dict[str, Any], says: str) -> None:
    assert notes(runtime, world, **data) == [f"{world.home / 'settings.json'}: {says}"]


@pytest.mark.parametrize(
    "data",
    [
        {"disabled_plugins": ["tool_grep", "providers"], "tools": {"exclude": ["grep", "powershell", "bash"]}},
        {"plugins": {"another_projects": {"x": 1}, "tool_bash": {"timeout": 3}}, "allow_replacing": ["jail"]},
    ],
)
def test_names_that_are_right_or_may_be_anothers_are_let_be(runtime: Open, world: Any, data: dict[str, Any]) -> None:
    assert notes(runtime, world, **data) == []


def test_a_plugins_settings_are_checked_in_plain_words(runtime: Open, world: Any) -> None:
    section = {"timeout": "long", "shel": "/bin/sh", "shell": 3, "expose_session_environment": []}
    said = sorted(notes(runtime, world, plugins={"tool_bash": section}))
    at = f"{world.home / 'settings.json'}: "
    assert said == [
        f"{at}'plugins.tool_bash.expose_session_environment': must be true or false; the default counts",
        f"{at}'plugins.tool_bash.shell': must be a text; the default counts",
        f"{at}'plugins.tool_bash.timeout': must be a number; the default counts",
        f"{at}unknown setting 'plugins.tool_bash.shel'; did you mean 'plugins.tool_bash.shell'? It is kept and ignored",
    ]


def test_an_api_that_no_plugin_speaks_is_said_with_the_nearest(runtime: Open, world: Any) -> None:
    models = [{"id": "m", "api": "anthropic-mesages"}]
    corp = {"api": "openai-completion", "baseUrl": "http://127.0.0.1:1", "models": models}
    one, two = notes(runtime, world, "models.json", providers={"corp": corp})
    assert one.startswith(f"{world.home / 'models.json'}: corp: no plugin speaks the api 'openai-completion'; did you ")
    assert "openai-completions" in one.partition("did you mean")[2]
    assert "corp/m: no plugin speaks the api 'anthropic-mesages'; did you mean anthropic-messages?" in two


def test_a_call_in_an_unknown_format_lists_the_known_ones(runtime: Open, world: Any) -> None:
    corp = {"api": "zzz", "baseUrl": "http://127.0.0.1:1", "models": [{"id": "m"}]}
    (world.home / "models.json").write_text(json.dumps({"providers": {"corp": corp}}))

    async def story() -> str:
        async with runtime(provider="corp", model="m") as app:
            return str((await app.prompt("Hi")).failure.message)

    message = asyncio.run(story())
    assert "corp: no plugin speaks the wire format 'zzz'; known formats are: anthropic-messages, " in message
