"""What a plugin author may import. A name that leaves this list breaks somebody's plugin: say so in the changelog."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import zot_core

SURFACE = """
ApiFormat AssistantMessage Block Candidate CliSpec CommandContext CommandSpec Context CustomMessage DraftEntry
EntryRenderer Expansion ExpansionName Failure FilesystemPolicy FlagSpec Handled HookError Image MarkdownTransformer
MessageRenderer ModelSpec Prices PromptSection PromptSource ProviderSpec Route RouteRequest SettingsSpec ShortcutSpec
SystemMessage Text Thinking Tool ToolCall ToolContext ToolResult ToolResultMessage ToolSpec Usage UsageError
UserMessage VirtualModel ZotError events hookimpl tool
""".split()
TOOLKIT = {
    "diff": "Diff Region unified",
    "encoding": "Decoded Encoding decode guess line_ending marked",
    "errors": "ToolError about in_words shown tool_errors",
    "filesystem": "FileInfo Guard PolicyDenied info read write",
    "mutation": "MutationQueue mutations",
    "operations": "EditOps FindOps LocalFiles LsOps ReadOps ShellOps WriteOps files_for guard_of supplied",
    "paths": "Found find_for_reading locate quoted real_path",
    "process": "ProcessGroup ProcessGroups",
    "replacing": "replace_whole",
    "shell": "LocalShell shell_environment user_shell",
    "sniff": "binary_kind image_type is_pdf",
    "text": "as_seen without_controls",
    "threads": "run_to_end",
    "truncation": "MAX_BYTES MAX_LINES Cut clip clip_line format_size head tail",
}
"""The public part of `zot_core.toolkit`, module by module; docs/tools/toolkit.md says what it is for."""


@pytest.mark.parametrize("module", TOOLKIT)
def test_the_toolkit_is_there_and_told(module: str) -> None:
    page = (Path(__file__).parents[2] / "docs/tools/toolkit.md").read_text(encoding="utf-8")
    assert f"zot_core.toolkit.{module}" in page
    found = import_module(f"zot_core.toolkit.{module}")
    for name in TOOLKIT[module].split():
        assert hasattr(found, name)


def test_the_surface_is_what_it_was() -> None:
    assert sorted(zot_core.__all__) == SURFACE


def test_every_name_is_there() -> None:
    for name in SURFACE:
        assert getattr(zot_core, name) is not None


def test_the_door_imports_no_room_by_itself() -> None:
    code = "import zot_core, sys; print(*sorted(name for name in sys.modules if name.startswith('zot_')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["zot_core"]
