"""The docs are outputs: generated pages fit the code, shown code runs, links lead somewhere."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from zot_core.events import LANE_OF
from zot_core.hooks.contributions import CONTRIBUTIONS

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"(?P<mark><!-- include: \S+ -->\n)?```python\n(?P<code>.*?)^```$", re.S | re.M)
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
CALL_SITE_LATER = """
user_bash tool_barrier_expired session_before_compact session_compact session_compact_failed session_before_tree
session_tree session_hold_changed held_wakes_released session_parked session_resumed session_control_wake
session_paused session_unpaused session_move_export session_move_import
""".split()
"""Events whose thing comes later; every other one has a call site now."""


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


def test_the_command_lines_of_the_readme_are_whole() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for marker in ("first-run", "dev-install-and-test"):
        block = re.search(rf"^<!-- {marker} -->\n```sh\n(.+)\n```$", readme, re.M)
        assert block, f"README.md needs one command line below <!-- {marker} -->"
        assert block[1].startswith("python3 -m venv .venv && .venv/bin/pip install -q ")
