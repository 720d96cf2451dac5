"""What the four file and shell tools tell a model: literal schemas that are the arguments' own, and few bytes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from support.tool_context import schema_of, spec_of

from zot_core.types.specs import resolve

NAMES = ("read", "write", "edit", "bash")


@pytest.mark.parametrize("name", NAMES)
def test_the_literal_schema_is_the_models(name: str) -> None:
    spec = spec_of(name)
    assert spec.parameters == schema_of(resolve(spec.arguments))


@pytest.mark.parametrize("name", NAMES)
def test_every_reference_leads_somewhere(name: str) -> None:
    spec = spec_of(name)
    assert callable(resolve(spec.execute))
    assert callable(resolve(spec.preview))
    assert spec.prepare_arguments is None or callable(resolve(spec.prepare_arguments))


def test_the_four_tools_are_told_in_few_bytes() -> None:
    specs = [spec_of(name) for name in NAMES]
    told = [{"name": s.name, "description": s.description, "parameters": s.parameters} for s in specs]
    assert len(json.dumps(told, separators=(",", ":"))) < 2600
    assert all("\n" not in s.prompt_snippet and s.prompt_snippet for s in specs)


def test_contributing_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "import zot_plugins.tool_read.plugin as r, zot_plugins.tool_write.plugin as w\n"
        "import zot_plugins.tool_edit.plugin as e, zot_plugins.tool_bash.plugin as b\n"
        "[m.tools() for m in (r, w, e, b)]\n"
        "print([m for m in ('pydantic', 'asyncio', 'zot_core.toolkit') if m in sys.modules])\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "[]\n"


@pytest.mark.parametrize(
    ("name", "args", "shown"),
    [
        ("read", {"path": "a.txt", "offset": 5}, "read a.txt from line 5"),
        ("write", {"path": "a.txt", "content": "one\n"}, "write a.txt\none\n"),
        ("edit", {"path": "a", "edits": [{"old_text": "x", "new_text": "y"}]}, "edit a\n-x\n+y"),
        ("bash", {"command": "ls -l"}, "ls -l"),
    ],
)
def test_a_preview_says_what_a_call_will_do(name: str, args: dict[str, object], shown: str) -> None:
    spec = spec_of(name)
    assert resolve(spec.preview)(resolve(spec.arguments).model_validate(args)) == shown
