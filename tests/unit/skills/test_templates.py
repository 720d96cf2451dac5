"""Prompt templates: SK-03 (arguments are literal) and SK-05 (names), as the model is sent them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zot_core import CommandSpec, hookimpl
from zot_plugins.prompt_templates.arguments import filled, parsed

Put = Callable[[Path, str], Path]
PLACES = "A:$1 B:$@ C:$ARGUMENTS D:$10"
PARAGRAPHS = "first second  word\n\n  third $1\n'fourth'"


@pytest.mark.parametrize(
    ("typed", "first", "everything"),
    [
        (" $100", "$100", "$100"),
        (" $1", "$1", "$1"),
        (" $&", "$&", "$&"),
        (" $ARGUMENTS", "$ARGUMENTS", "$ARGUMENTS"),
        (" 'two words'", "two words", "'two words'"),
        (' "two words" x', "two words", '"two words" x'),
        (" 'un balanced", "'un", "'un balanced"),
        (" don't stop", "don't", "don't stop"),
        (r" C:\new\1", r"C:\new\1", r"C:\new\1"),
        (" \\", "\\", "\\"),
        (" ''", "", "''"),
        ("", "", ""),
        ("   ", "", ""),
        (f" {PARAGRAPHS}", "first", PARAGRAPHS),
        (f"\n{PARAGRAPHS}", "first", PARAGRAPHS),
    ],
)
def test_arguments_on_the_wire(
    typed: str, first: str, everything: str, wire: Any, put_template: Put, zot_home: Path
) -> None:
    put_template(zot_home / "prompts/t.md", PLACES)
    sent = wire(f"/t{typed}")
    assert sent["user"] == f"A:{first} B:{everything} C:{everything} D:"
    assert "there is no command" not in sent["err"]


@pytest.mark.parametrize(
    ("template", "typed", "wanted"),
    [
        ("$1-$2-$3", "a b", "a-b-"),
        ("$10 $1", "1 2 3 4 5 6 7 8 9 ten", "ten 1"),
        ("${1}0", "a", "a0"),
        ("${1:-none} ${2:-two words}", "", "none two words"),
        ("${1:-none}", "''", "none"),
        ("${1:-$2}", "", "$2"),
        ("${@:-all} ${ARGUMENTS:-of it}", "", "all of it"),
        ("${@:2}", "a  b   'c  d'\n\ne", "b   'c  d'\n\ne"),
        ("${@:2:2}|${@:9}|${ARGUMENTS:3}", "a b c d", "b c||c d"),
        ("${@:2:0}", "a b", ""),
        ("$@", "a\tb\n c", "a\tb\n c"),
        (r"\$1 \$@ \$ARGUMENTS \${1:-x} $1", "a", "$1 $@ $ARGUMENTS ${1:-x} a"),
        ("$0 $$ $x ${x} $ARGUMENTSX $ {1} ${-1} $1", "a", "$0 $$ $x ${x} $ARGUMENTSX $ {1} ${-1} a"),
        ("$1$1$1", "$1", "$1$1$1"),
        ("No place.", "a 'b", "No place.\n\na 'b"),
        ("No place.", "", "No place."),
    ],
)
def test_places(template: str, typed: str, wanted: str) -> None:
    assert filled(template, typed) == wanted


@given(st.text(alphabet=st.sampled_from("ab '\"\\$1@{}:-\n\t"), max_size=40))
def test_what_was_typed_is_never_read_again(typed: str) -> None:
    assert filled("$@", typed) == typed
    found = parsed(typed)
    assert filled("<$1>", typed) == f"<{found[0].text if found else ''}>"
    rest = re.sub(r"\s", "", typed)
    assert "".join(re.sub(r"\s", "", typed[one.start : one.end]) for one in found) == rest


def test_fields(runtime: Any, put_template: Put, zot_home: Path) -> None:
    from zot_core.runtime.expanding import listed

    prompts = zot_home / "prompts"
    put_template(prompts / "a.md", "---\ndescription: Fix: an issue\nargument-hint: [number] [why]\n---\nFix $1")
    put_template(prompts / "c.md", "---\nargument-hint: [number, why]\n---\nFix $1")
    put_template(prompts / "b.md", "# The first line\n\nmore")

    async def scenario() -> Any:
        async with runtime() as app:
            return {one.name: (one.description, one.argument_hint) for one in listed(app.runtime)}

    names = asyncio.run(scenario())
    assert names["a"] == ("Fix: an issue", "[number] [why]")
    assert names["c"] == ("Fix $1", "[number, why]")
    assert names["b"] == ("The first line", "")


def test_broken_fields_are_named_and_the_others_work(look: Any, put_template: Put, zot_home: Path) -> None:
    file = put_template(zot_home / "prompts/broken.md", "---\na: 1\na: 2\n---\nText")
    put_template(zot_home / "prompts/well.md", "Well: $1")
    seen = asyncio.run(look("/well $1"))
    assert seen.sent == ["Well: $1"]
    assert [one for one in seen.warnings if str(file) in one] == [
        f"{file}:3: this template is not used: the frontmatter is no YAML: the field a is there twice"
    ]


def test_places_of_templates(look: Any, put_template: Put, zot_home: Path, project: Path, tmp_path: Path) -> None:
    homely = put_template(zot_home / "prompts/same.md", "home")
    put_template(project / ".zot/prompts/same.md", "project")
    brought = put_template(tmp_path / "more/same.md", "plugin")
    put_template(tmp_path / "more/own.md", "own")
    put_template(zot_home / "prompts/below/not.md", "not")

    class Brings:
        @hookimpl
        def prompts(self) -> str:
            return str(tmp_path / "more")

    trusted = asyncio.run(look("/same", trust=True, plugins=[Brings()]))
    assert trusted.sent == ["project"]
    assert trusted.names == ["skill:zot-plugins", "same", "own"]
    winner = project / ".zot/prompts/same.md"
    assert trusted.warnings == [
        f"{file}: this template /same is not used; {winner} comes first" for file in (homely, brought)
    ]
    assert asyncio.run(look("/same", trust=False)).sent == ["home"]


def test_a_command_keeps_its_name(look: Any, put_template: Put, zot_home: Path) -> None:
    put_template(zot_home / "prompts/say.md", "The template.")
    put_template(zot_home / "prompts/Fallback.md", "The template.")

    class Says:
        @hookimpl
        def commands(self) -> CommandSpec:
            return CommandSpec(name="say", handler=lambda args, ctx: f"said {args}")

    seen = asyncio.run(look("/say it", plugins=[Says()]))
    assert "said it" in [note.text for note in seen.notes]
    assert seen.sent == []
    assert "say" not in seen.names and "Fallback" not in seen.names
    assert len([one for one in seen.warnings if "/say is not used" in one]) == 1
    assert len([one for one in seen.warnings if "/Fallback is a command of the plugin model_fallback" in one]) == 1


@pytest.mark.parametrize("name", ["Case", "a.b", "größe", "re-view_2", "日本"])
def test_names_that_can_be_typed(name: str, look: Any, put_template: Put, zot_home: Path) -> None:
    put_template(zot_home / f"prompts/{name}.md", "It is $1.")
    put_template(zot_home / "prompts/case.md", "Small.")
    seen = asyncio.run(look(f"/{name} here"))
    assert seen.sent == ["It is here."]
    assert seen.names.count(name) == 1


@pytest.mark.parametrize("name", ["two words", "skill:x"])
def test_names_that_cannot(name: str, look: Any, put_template: Put, zot_home: Path) -> None:
    file = put_template(zot_home / f"prompts/{name}.md", "It is.")
    seen = asyncio.run(look(f"/{name}"))
    assert seen.sent == [f"/{name}"]
    assert [one for one in seen.warnings if str(file) in one] == [
        f"{file}: this template is not used: nobody can type its name, which may have no blank, : or \\"
    ]


def test_a_steered_template_expands(runtime: Any, put_template: Put, zot_home: Path) -> None:
    put_template(zot_home / "prompts/t.md", "It is $1.")

    async def scenario() -> Any:
        async with runtime() as app:
            await app.steer("/t here")
            await app.runtime.runs.wait_for_idle()
            return [message.content[0].text for message in app.front.messages if message.role == "user"]

    assert asyncio.run(scenario()) == ["It is here."]
