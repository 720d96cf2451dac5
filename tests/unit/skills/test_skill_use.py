"""Loading a skill: the tool, `/skill:NAME`, and what happens to the prompt on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import zot_plugins.skills.catalog as catalog
from zot_core import hookimpl
from zot_core.testing import Script
from zot_core.toolkit.frontmatter import split

Put = Callable[..., Path]


@pytest.fixture
def review(put_skill: Put, zot_home: Path) -> Path:
    body = "# Review\n\nLook for $1 and $ARGUMENTS.\n---\nEnd."
    file = put_skill(
        zot_home / "skills/review", body=body, description="Reviews code.", compatibility="git",
        **{"allowed-tools": "Bash(git diff *) Read"},
    )  # fmt: skip
    (file.parent / "scripts").mkdir()
    (file.parent / "scripts/check.sh").write_text("exit 1\n")
    return file


def text(file: Path) -> str:
    return (
        f'<skill name="review" folder="{file.parent}">\nIt needs: git\n\n'
        "It is written for these tools: Bash(git diff *), Read\n\n"
        "# Review\n\nLook for $1 and $ARGUMENTS.\n---\nEnd.\n\nOther files in its folder: scripts/check.sh\n</skill>"
    )


def test_the_tool_loads_it(run_prompt: Any, review: Path) -> None:
    script = Script().tool_call("skill", name="review").then().text("Done.")
    ran = run_prompt("Hi", script=script)
    (result,) = [message for message in ran.messages if message.role == "tool"]
    assert [block.text for block in result.content] == [text(review)]
    assert not result.is_error
    assert result.details == {"skill": "review", "path": str(review)}


@pytest.mark.parametrize("name", ["nothing", "../review", "", "secret"])
def test_the_tool_knows_no_other(name: str, run_prompt: Any, review: Path, put_skill: Put, zot_home: Path) -> None:
    put_skill(zot_home / "skills/secret", description="Hidden.", **{"disable-model-invocation": "true"})
    ran = run_prompt("Hi", script=Script().tool_call("skill", name=name).then().text("Done."))
    (result,) = [message for message in ran.messages if message.role == "tool"]
    assert result.is_error
    assert result.content[0].text.endswith("There are: review, zot-plugins")


def test_a_hidden_skill_is_for_people(look: Any, put_skill: Put, zot_home: Path) -> None:
    put_skill(zot_home / "skills/secret", body="Psst.", description="Hid.", **{"disable-model-invocation": "true"})
    seen = asyncio.run(look("/skill:secret"))
    assert "secret" not in seen.system.partition("# Skills")[2]
    assert "Psst." in seen.sent[0]


@pytest.mark.parametrize(
    ("typed", "after"),
    [
        ("/skill:review", ""),
        ("/skill:review  look at  it", "\n\nlook at  it"),
        ("/skill:review\nfirst\n\nsecond $1", "\n\nfirst\n\nsecond $1"),
    ],
)
def test_the_command_becomes_the_skill(typed: str, after: str, wire: Any, review: Path) -> None:
    sent = wire(typed)
    assert sent["user"] == text(review) + after
    assert "there is no command" not in sent["err"]


def test_an_unknown_skill_is_sent_as_text_with_a_notice(wire: Any, review: Path) -> None:
    sent = wire("/skill:revue it")
    assert sent["user"] == "/skill:revue it"
    assert "there is no command /skill:revue; did you mean /skill:review? It is sent as text" in sent["err"]


def test_input_handlers_come_first(look: Any, review: Path) -> None:
    heard = []

    class Asked:
        @hookimpl(trylast=True)
        def input(self, event: Any) -> Any:
            heard.append(event.text)
            return event.replace(text="/skill:review now") if event.text == "review!" else None

    seen = asyncio.run(look("review!", plugins=[Asked()]))
    assert seen.sent == [text(review) + "\n\nnow"]
    assert heard == ["review!"]
    assert asyncio.run(look("/skill:review", plugins=[Asked()])).sent == [text(review)]
    assert heard == ["review!", "/skill:review"]
    assert seen.warnings == []


def test_without_the_tool_the_list_says_where(look: Any, review: Path) -> None:
    seen = asyncio.run(look(exclude_tools=("skill",)))
    assert f"- review: Reviews code. ({review})" in seen.system and "read its file" in seen.system
    assert "# Skills" not in asyncio.run(look(no_tools=True)).system


def test_options_name_each_skill(look: Any, review: Path) -> None:
    told = []

    class Looks:
        @hookimpl
        def before_agent_start(self, event: Any) -> None:
            told.append(event.options.skills)

    asyncio.run(look(plugins=[Looks()]))
    assert told == [("review", "zot-plugins")]


def test_a_long_body_is_cut(look: Any, put_skill: Put, zot_home: Path) -> None:
    file = put_skill(zot_home / "skills/long", body="x" * 100_000, description="Long.")
    sent = asyncio.run(look("/skill:long")).sent[0]
    assert len(sent) < 61_000 and f"[Cut here: 40000 characters more are in {file}]" in sent


def test_a_skill_that_goes_away(put_skill: Put, zot_home: Path, runtime: Any) -> None:
    async def scenario() -> Any:
        file = put_skill(zot_home / "skills/brief", description="Brief.")
        async with runtime() as app:
            await app.prompt("/skill:brief")
            file.unlink()
            await app.prompt("/skill:brief")
            return app.front

    front = asyncio.run(scenario())
    assert [m.content[0].text for m in front.messages if m.role == "user"][1] == "/skill:brief"
    assert any("there is no command /skill:brief" in note.text for note in front.notes)


def test_zots_own_skill_is_as_its_row_says(run_prompt: Any) -> None:
    document = split(Path(catalog.OWN.path).read_text(encoding="utf-8"))
    assert dict(document.fields()) == {"name": catalog.OWN.name, "description": catalog.OWN.description}
    script = Script().tool_call("skill", name="zot-plugins").then().text("Done.")
    ran = run_prompt("Hi", script=script)
    (result,) = [message for message in ran.messages if message.role == "tool"]
    assert document.body in result.content[0].text


def test_the_plugin_that_it_shows_works(run_prompt: Any, tmp_path: Path, project: Path) -> None:
    body = Path(catalog.OWN.path).read_text(encoding="utf-8")
    plugin = tmp_path / "shown.py"
    plugin.write_text(body.partition("```python\n")[2].partition("```")[0])
    (project / "a.txt").write_text("one two three")
    script = Script().tool_call("word_count", path="a.txt").tool_call("bash", command="rm -rf x").then().text("Done.")
    ran = run_prompt("Hi", script=script, plugins=[plugin])
    counted, refused = [message for message in ran.messages if message.role == "tool"]
    assert counted.content[0].text == "3 words"
    assert refused.is_error and "refused by the user" in refused.content[0].text
    said = run_prompt("/hello Ann", plugins=[plugin])
    assert "Hello, Ann!" in [note.text for note in said.notes]


def test_what_it_names_exists() -> None:
    from zot_core.events import LANE_OF
    from zot_core.hooks.contributions import CONTRIBUTIONS

    text = Path(catalog.OWN.path).read_text(encoding="utf-8")
    for hook in ("tools", "commands", "flags", "providers", "prompt_sources", "skills", "prompts"):
        assert hook in CONTRIBUTIONS and f"`{hook}`" in text
    assert {"session_start", "tool_call"} <= LANE_OF.keys()
    for frame in ("hello", "register_tool", "event_intercept_response", "shutdown_ack"):
        assert frame in text


def test_the_examples_of_the_pages(wire: Any, put_template: Any, zot_home: Path) -> None:
    examples = Path(__file__).parents[3] / "examples"
    sent = wire("/skill:release-notes for 2.0", "--skill", str(examples / "skills/release-notes"))
    assert "- release-notes: Writes release notes from git history." in sent["system"]
    assert "It is written for these tools: Bash(git *), Read, Edit" in sent["user"]
    assert sent["user"].endswith("</skill>\n\nfor 2.0")
    put_template(zot_home / "prompts/fix.md", (examples / "prompts/fix.md").read_text())
    page = (Path(__file__).parents[3] / "docs/prompt-templates.md").read_text()
    assert wire("/fix 12 it is the parser")["user"] == page.partition("sends\n\n```\n")[2].partition("\n```")[0]
