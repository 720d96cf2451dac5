"""PF-01 and EX-09: what a call imports, as sets of modules: listing is data, doing is import."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"httpx", "pydantic", "rich", "asyncio", "pluggy", "prompt_toolkit", "importlib.metadata", "platformdirs"}


def modules(*argv: str) -> tuple[set[str], str]:
    code = (
        "import sys\n"
        f"sys.argv = ['zot', *{list(argv)!r}]\n"
        "from zot_cli.__main__ import main\n"
        "code = main()\n"
        "sys.stdout.flush()\n"
        "print('\\n--', code, *sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    code_, *names = done.stderr.rpartition("\n-- ")[2].split()
    assert code_ == "0"
    return set(names), done.stdout


@pytest.mark.parametrize("flag", ["--version", "-v"])
def test_the_version_imports_nothing_else(flag: str) -> None:
    loaded, out = modules(flag)
    assert out.startswith("zot ") and out.count("\n") == 1
    ours = {name for name in loaded if name.startswith("zot_")}
    assert ours == {"zot_cli", "zot_cli.__main__", "zot_core", "zot_core._version"}
    assert not loaded & (HEAVY | {"click", "argparse", "dataclasses", "json", "inspect"})


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_the_help_page_imports_no_command_and_no_engine(flag: str) -> None:
    loaded, out = modules(flag)
    assert "--model" in out and "sessions" in out and "Exit codes" in out
    assert not loaded & HEAVY
    assert not {name for name in loaded if name.startswith(("zot_plugins", "zot_core.plugins", "zot_core.events"))}
    assert "zot_cli.commands.sessions" not in loaded


@pytest.mark.parametrize("name", ["sessions", "plugins", "doctor"])
def test_the_help_of_a_command_loads_no_plugin(name: str) -> None:
    loaded, out = modules(name, "--help")
    assert out.startswith("Usage: zot " + name)
    assert not {module for module in loaded if module.startswith("zot_plugins")}
    assert not loaded & {"httpx", "pydantic", "rich"}


def test_a_list_of_sessions_needs_no_engine() -> None:
    loaded, _ = modules("sessions", "list")
    assert not loaded & {"httpx", "pydantic", "rich", "pluggy"}


def test_the_parser_of_a_run_needs_no_library() -> None:
    code = "import sys, zot_cli.main; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not set(out.split()) & (HEAVY | {"click", "argparse", "json"})
