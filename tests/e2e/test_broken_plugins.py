"""A broken plugin costs only itself: every command works, the warning names it, stdout stays clean."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HEAD = "from zot_core import hookimpl\n\n"
BROKEN = {
    "raises_import_error": ("import a_package_that_nobody_has\n", "a_package_that_nobody_has"),
    "does_not_parse": ("def f(:\n", "does_not_parse.py:1"),
    "exits": ("import sys\nsys.exit(3)\n", "SystemExit"),
    "misspells": (HEAD + "@hookimpl\ndef tool_cal(event):\n    pass\n", "tool_call"),
    "wants_too_much": (HEAD + "@hookimpl\ndef tool_call(event, ctx, session_manager):\n    pass\n", "session_manager"),
    "raises_in_a_contribution": (
        HEAD + "@hookimpl\ndef tools():\n    raise RuntimeError('no tools today')\n",
        "no tools today",
    ),
    "returns_nonsense": (HEAD + "@hookimpl\ndef tools():\n    return [42]\n", "ToolSpec"),
    "raises_in_a_hook": (
        HEAD + "@hookimpl\nasync def session_start(event, ctx):\n    raise RuntimeError('no start today')\n",
        "no start today",
    ),
    "answers_nonsense": (HEAD + "@hookimpl\ndef input(event):\n    return 'text'\n", "input"),
    "imports_slowly": ("import time\ntime.sleep(1.2)\n", "import"),
}
"""Name -> (its code, what the warning has to say beside the name)."""


def zot(*args: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "zot_cli", *args]
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)


def place(zot_home: Path, name: str, code: str) -> None:
    folder = zot_home / "plugins"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(code)


@pytest.fixture
def script(tmp_path: Path) -> str:
    """Two words, so that an answer is known."""
    file = tmp_path / "script.json"
    file.write_text('["All well."]')
    return str(file)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_plugin_is_named_and_the_prompt_runs(name: str, zot_home: Path, script: str) -> None:
    code, says = BROKEN[name]
    place(zot_home, name, code)
    done = zot("--provider", "scripted", "--script", script, "-p", "Hi")
    assert (done.returncode, done.stdout) == (0, "All well.\n"), done.stderr
    assert name in done.stderr and says in done.stderr
    assert "Traceback" not in done.stderr


def test_all_broken_at_once_stop_nothing(zot_home: Path, script: str) -> None:
    for name, (code, _) in BROKEN.items():
        place(zot_home, name, code)
    done = zot("--provider", "scripted", "--script", script, "--json", "Hi")
    assert done.returncode == 0, done.stderr
    kinds = [json.loads(line)["type"] for line in done.stdout.splitlines()]
    assert kinds[-1] == "done" and "assistant_message" in kinds
    listed = zot("plugins")
    assert "Traceback" not in listed.stderr
    assert not [name for name in BROKEN if name not in listed.stdout + listed.stderr]


def test_version_and_help_load_no_plugin(zot_home: Path) -> None:
    place(zot_home, "loud", "print('i am loud')\nraise RuntimeError('i am loud')\n")
    for flag in ("--version", "--help"):
        done = zot(flag)
        assert (done.returncode, done.stderr) == (0, "")
        assert "i am loud" not in done.stdout


def test_what_a_plugin_prints_at_import_is_no_answer(zot_home: Path, script: str) -> None:
    place(zot_home, "chatty", "import sys\nprint('hello from chatty')\n")
    done = zot("--provider", "scripted", "--script", script, "-p", "Hi")
    assert (done.returncode, done.stdout) == (0, "All well.\n"), done.stderr
    assert "hello from chatty" in done.stderr


def test_no_plugins_leaves_them_out(zot_home: Path, script: str) -> None:
    place(zot_home, "does_not_parse", "def f(:\n")
    done = zot("--no-plugins", "--provider", "scripted", "--script", script, "-p", "Hi")
    assert (done.returncode, done.stdout) == (0, "All well.\n")
    assert "does_not_parse" not in done.stderr


@pytest.mark.parametrize(
    ("code", "says"),
    [("import a_package_that_nobody_has\n", "a_package_that_nobody_has"), ("raise SystemExit(4)\n", "SystemExit")],
)
def test_a_broken_package_is_named(
    code: str, says: str, tmp_path: Path, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "zot_broken.py").write_text(code)
    info = tmp_path / "zot_broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: zot-broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[zot]\nbroken = zot_broken\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    done = zot("--provider", "scripted", "--script", script, "-p", "Hi")
    assert (done.returncode, done.stdout) == (0, "All well.\n"), done.stderr
    assert "broken" in done.stderr and says in done.stderr
    for flag in ("--version", "--help"):
        assert zot(flag).returncode == 0
