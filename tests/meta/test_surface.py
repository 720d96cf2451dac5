"""What a plugin author may import. A name that leaves this list breaks somebody's plugin: say so in the changelog."""

from __future__ import annotations

import subprocess
import sys

import zot_core

SURFACE = """
ApiFormat AssistantMessage Block Candidate CliSpec CommandContext CommandSpec Context CustomMessage DraftEntry Failure
FilesystemPolicy FlagSpec Handled HookError Image ModelSpec Prices PromptSection PromptSource ProviderSpec SettingsSpec
SystemMessage Text Thinking Tool ToolCall ToolContext ToolResult ToolResultMessage ToolSpec Usage UsageError
UserMessage ZotError events hookimpl tool
""".split()


def test_the_surface_is_what_it_was() -> None:
    assert sorted(zot_core.__all__) == SURFACE


def test_every_name_is_there() -> None:
    for name in SURFACE:
        assert getattr(zot_core, name) is not None


def test_the_door_imports_no_room_by_itself() -> None:
    code = "import zot_core, sys; print(*sorted(name for name in sys.modules if name.startswith('zot_')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["zot_core"]
