"""The docs are outputs: generated pages fit the code, shown code runs, links lead somewhere."""

from __future__ import annotations

import json
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import zot_core
from zot_cli.flags import FLAGS
from zot_core import CommandSpec, hookimpl
from zot_core.events import LANE_OF
from zot_core.hooks.contributions import CONTRIBUTIONS
from zot_core.testing import Script

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"(?P<mark><!-- include: \S+ -->\n)?```python\n(?P<code>.*?)^```$", re.S | re.M)
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
CALL_SITE_LATER = """
tool_barrier_expired session_before_tree
session_tree session_hold_changed held_wakes_released session_parked session_resumed session_control_wake
session_paused session_unpaused session_move_export session_move_import
""".split()
"""Events whose thing comes later; every other one has a call site now."""


BLOCK = re.compile(r"^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.S | re.M)
PLUGIN_FLAGS = {"--script", "--jail", "--greeting", "--skill", "--no-skills", "--no-yolo", "--permission-preset"}
"""Flags of plugins that the pages show."""


def blocks(kind: str) -> list[tuple[str, str]]:
    """(where, text) of every fenced block of this kind."""
    found = []
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        found += [
            (f"{page_name(path)}:{text[: match.start()].count(chr(10)) + 1}", match["text"])
            for match in BLOCK.finditer(text)
            if match["kind"] == kind
        ]
    return found


def page_name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def snippets() -> list[tuple[str, str]]:
    """(where, code) of every Python block that is not lifted from a file."""
    found = []
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        found += [
            (f"{page_name(path)}:{text[: match.start()].count(chr(10)) + 1}", match["code"])
            for match in FENCE.finditer(text)
            if not match["mark"]
        ]
    return found


def test_generated_pages_are_up_to_date() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "docs/gen.py"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_hook_is_in_the_reference() -> None:
    reference = (ROOT / "docs/reference/hooks.md").read_text(encoding="utf-8")
    events = (ROOT / "docs/reference/events.md").read_text(encoding="utf-8")
    assert not [hook for hook in [*LANE_OF, *CONTRIBUTIONS] if f"`{hook}`" not in reference]
    assert not [hook for hook in LANE_OF if f"\n### {hook}\n" not in events]


def test_the_reference_says_which_events_are_sent() -> None:
    reference = (ROOT / "docs/reference/hooks.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[`(\w+)`\].*\| (yes|not yet) \|$", reference, re.M)
    assert len(rows) == len(LANE_OF)
    assert sorted(hook for hook, sent in rows if sent == "not yet") == sorted(CALL_SITE_LATER)


@pytest.mark.parametrize(("where", "code"), [pytest.param(*one, id=one[0]) for one in snippets()])
def test_shown_code_runs(where: str, code: str, tmp_path: Path) -> None:
    file = tmp_path / "snippet.py"
    file.write_text(code, encoding="utf-8")
    runpy.run_path(str(file))


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_links_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    targets = [target for target, _ in LINK.findall(text) if "://" not in target]
    assert not [target for target in targets if not (path.parent / target).exists()]


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_links_lead_to_headings(path: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", path.read_text(encoding="utf-8"))
    assert not [link for link in links if "://" not in link[0] and link[1] not in anchors(path.parent / link[0], path)]


def anchors(target: Path, page: Path) -> set[str]:
    """The names by which the headings of a page can be linked to; a folder stands for `page` itself."""
    text = (page if target.is_dir() else target).read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", text), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_command_lines_of_the_readme_are_whole() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for marker in ("first-run", "dev-install-and-test"):
        block = re.search(rf"^<!-- {marker} -->\n```sh\n(.+)\n```$", readme, re.M)
        assert block, f"README.md needs one command line below <!-- {marker} -->"
        assert block[1].startswith("python3 -m venv .venv && .venv/bin/pip install -q ")


def test_shown_json_is_json() -> None:
    for where, text in blocks("json"):
        assert json.loads(text) is not None, where


def test_shown_commands_have_flags_that_exist() -> None:
    known = {name for flag in FLAGS for name in flag.names} | PLUGIN_FLAGS | {"-h", "--help", "-v", "--version"}
    for _, text in blocks(""):  # the help of the subcommands, as the reference has it
        known |= set(re.findall(r"(?<=[\s,])--?[a-z][a-z-]*", text)) if "Usage: zot" in text else set()
    wrong = []
    for where, text in blocks("sh"):
        for line in text.splitlines():
            words = shlex.split(line.partition(" | ")[0] if line.startswith("zot ") else line.rpartition("| ")[2], True)
            if words and words[0] == "zot":
                flags = [word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)]
                wrong += [f"{where}: {flag}" for flag in flags if flag not in known]
    assert wrong == []


def test_a_file_that_is_shown_whole_is_named_in_the_sentence_before_it() -> None:
    unnamed = []
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        for match in re.finditer(r"^(?P<before>.*)\n\n<!-- include: (?P<what>\S+) -->$", text, re.M):
            file = Path(match["what"]).name
            sentence = text[: match.start("what")].rpartition("\n\n")[0].rpartition("\n\n")[2]
            if "::" not in file and f"{file}`" not in sentence:
                unnamed.append(f"{page_name(path)}: {file}")
    assert unnamed == []


def test_the_index_leads_to_every_page() -> None:
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    linked = {target for target, _ in LINK.findall(index)}
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert pages - linked == {"index.md"}


def test_nothing_of_ctx_goes_unsaid() -> None:
    api = (ROOT / "docs/reference/api.md").read_text(encoding="utf-8")
    of_ctx = api.partition("\n## ctx\n")[2].partition("\n## ")[0]
    assert of_ctx.count("\n### ") == 11
    assert re.findall(r"^\| .* \| – \|$", of_ctx, re.M) == []
    assert not [name for name in zot_core.__all__ if name != "events" and f"\n### {name}\n" not in api]


def test_every_field_of_a_json_event_is_told(run_prompt: Any) -> None:
    page = (ROOT / "docs/reference/wire.md").read_text(encoding="utf-8")
    told = {
        kind: {field.strip("`? ") for field in fields.split(",")}
        for kind, fields in re.findall(r"^\| `(\w+)` \| ([^|]*) \|", page, re.M)
    }
    script = (
        Script().thinking("Hm.").text("I look.").tool_call("bash", command="echo hi; sleep 0.2; echo").usage(input=1)
    )
    script.tool_call("nothing").then().text("Done.").then().error("bad_request", "no")
    lines = []
    for prompt, plugins in (("Go", []), ("Go", [Withholds()]), ("/say", [Withholds()])):
        lines += run_prompt(prompt, script=script, plugins=plugins).lines
    done = subprocess.run(
        [sys.executable, "-m", "zot_cli", "--provider", "scripted", "--json", "Hi"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    lines += [json.loads(line) for line in done.stdout.splitlines()]
    assert {line["type"] for line in lines} >= {"session", "tool_result", "assistant_message", "ext_display", "usage"}
    assert any("withheld" in line for line in lines)
    assert [f"{line['type']}: {key}" for line in lines for key in line.keys() - told[line["type"]] - {"type"}] == []


class Withholds:
    """A plugin that says something, and whose redactor breaks."""

    @hookimpl(on_error="block")
    def assistant_message(self, event: Any) -> None:
        raise ValueError("broken")

    @hookimpl
    def commands(self) -> CommandSpec:
        return CommandSpec(name="say", handler=lambda args, ctx: "said")
