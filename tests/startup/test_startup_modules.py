"""Which modules a start may have imported: the sets make starts fast, and do not depend on the machine."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.chat_server import ChatServer, text_answer

import zot_core
from zot_core.events import LANES

RUN = "import sys; from zot_cli.__main__ import main; sys.exit(main())"
HEAVY = frozenset({"httpx", "pydantic", "pydantic_core", "rich", "prompt_toolkit", "pygments"})
DUMP = """
import json, os, sys

def dump(event, args):
    if event == "socket.connect" and isinstance(args[1], tuple) and not os.path.exists(os.environ["ZOT_TEST_MODULES"]):
        modules = sorted(sys.modules)
        with open(os.environ["ZOT_TEST_MODULES"], "w") as file:
            json.dump(modules, file)

sys.addaudithook(dump)
"""
"""A plugin that writes down what is imported when the first connection is made."""
DUMP_AT_EXIT = """
import atexit, json, os, sys
from zot_core.runtime import ahead

ahead.AFTER_S = float(os.environ["ZOT_TEST_AFTER"])

@atexit.register
def dump():
    with open(os.environ["ZOT_TEST_MODULES"], "w") as file:
        json.dump(sorted(sys.modules), file)
"""
"""A plugin that writes down what was imported in the end, with another time for `Ahead`."""


def imported_by(*args: str) -> set[str]:
    """The modules that `zot ARGS` imports, as the interpreter itself reports them."""
    done = subprocess.run([sys.executable, "-X", "importtime", "-c", RUN, *args], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip() for line in lines}


def packages(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_version_imports_nothing() -> None:
    modules = imported_by("--version")
    ours = {name for name in modules if name.startswith("zot_")}
    assert ours <= {"zot_cli", "zot_cli.__main__", "zot_core", "zot_core._version"}
    assert not packages(modules) & (HEAVY | {"asyncio", "json", "click", "pluggy"})


def test_help_loads_no_plugin() -> None:
    modules = imported_by("--help")
    assert not packages(modules) & (HEAVY | {"asyncio", "zot_plugins", "pluggy"})
    assert "importlib.metadata" not in modules


@pytest.mark.parametrize("command", [("plugins",), ("sessions", "list"), ("--list-models",), ("ext", "list")])
def test_listing_is_data(command: tuple[str, ...], zot_home: Path) -> None:
    imported_by(*command)  # the first start makes the boot snapshot
    assert not packages(imported_by(*command)) & HEAVY


def test_extensions_are_listed_without_an_engine(zot_home: Path) -> None:
    """Which command it is, is in the boot snapshot; no plugin is imported to know that."""
    (zot_home / "plugins").mkdir()
    (zot_home / "plugins" / "mine.py").write_text("import email\n")
    time.sleep(0.12)  # younger than this and the boot snapshot does not believe a file
    imported_by("ext", "list")
    modules = imported_by("ext", "list")
    assert not packages(modules) & {"asyncio", "pluggy", "email"}
    assert not {name for name in modules if name.startswith("zot_core.plugins.") and name != "zot_core.plugins.rank"}
    assert {name.split(".")[1] for name in modules if name.startswith("zot_plugins.")} == {"extension_bridge"}


@pytest.fixture
def first_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[set[str], ChatServer]:
    """The modules that are there when the first request leaves, from the second start on."""
    plugin = tmp_path / "dump_modules.py"
    plugin.write_text(DUMP)
    dump = tmp_path / "modules.json"
    monkeypatch.setenv("ZOT_TEST_MODULES", str(dump))
    with ChatServer([text_answer("Hello")]) as server:
        args = ["--plugin", str(plugin), "--base-url", server.url, "--model", "m", "-p", "Hi"]
        for _ in range(2):
            dump.unlink(missing_ok=True)
            done = subprocess.run([sys.executable, "-c", RUN, *args], capture_output=True, text=True)
            assert (done.returncode, done.stdout) == (0, "Hello\n"), done.stderr
    return set(json.loads(dump.read_text())), server


def test_first_request_needs_little(first_request: tuple[set[str], ChatServer]) -> None:
    modules, _ = first_request
    assert not packages(modules) & (HEAVY - {"httpx"} | {"click"})
    assert "importlib.metadata" not in modules
    assert "httpx" in modules


def test_first_request_imports_only_what_it_needs(first_request: tuple[set[str], ChatServer]) -> None:
    """What comes with an event, a tool call, a command, a failure or an old session is imported when that comes."""
    modules, _ = first_request
    assert [lane for lane in LANES if f"zot_core.events.{lane}" in modules] == ["agent"]
    later = {
        "zot_core.agent.calls",
        "zot_core.agent.execute",
        "zot_core.agent.preflight",
        "zot_core.models.wordings",
        "zot_core.runtime.commands",
        "zot_core.session.find",
        "zot_core.session.fork",
        "zot_core.session.listing",
        "zot_core.toolkit",
        "zot_core.types.tool_decorator",
        "difflib",
        "yaml",
        "zot_core.runtime.bringing",
        "zot_core.runtime.expanding",
        "zot_plugins.prompt_templates.templates",
        "zot_plugins.skills.reading",
        "zot_plugins.skills.tool",
    }
    assert sorted(modules & later) == []


@pytest.mark.parametrize(("after", "imported"), [("0", {"zot_core.agent.calls", "pydantic"}), ("3600", set())])
def test_the_rest_is_imported_while_the_model_thinks(
    after: str, imported: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for it: an answer that is sooner than its time ends without."""
    plugin = tmp_path / "dump_modules.py"
    plugin.write_text(DUMP_AT_EXIT)
    dump = tmp_path / "modules.json"
    monkeypatch.setenv("ZOT_TEST_MODULES", str(dump))
    monkeypatch.setenv("ZOT_TEST_AFTER", after)
    with ChatServer([text_answer("Hello")]) as server:
        args = ["--plugin", str(plugin), "--base-url", server.url, "--model", "m", "-p", "Hi"]
        done = subprocess.run([sys.executable, "-c", RUN, *args], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "Hello\n"), done.stderr
    assert {"zot_core.agent.calls", "pydantic"} & set(json.loads(dump.read_text())) == imported


def test_first_request_compiles_no_dataclass(first_request: tuple[set[str], ChatServer]) -> None:
    """`record` is a dataclass that costs a seventh at import; see zot_core/types/record.py."""
    modules, _ = first_request
    root = Path(zot_core.__file__).parents[1]
    stems = [root.joinpath(*name.split(".")) for name in modules if name.startswith("zot_")]
    sources = [path for stem in stems for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file()]
    assert len(sources) > 100
    assert not [str(path) for path in sources if "@dataclass(frozen=True" in path.read_text()]


def test_first_request_imports_no_screen_and_no_kit(first_request: tuple[set[str], ChatServer]) -> None:
    modules, _ = first_request
    assert not [name for name in modules if name.startswith(("zot_cli.repl", "zot_core.testing", "pytest"))]


def test_first_request_is_small(first_request: tuple[set[str], ChatServer]) -> None:
    _, server = first_request
    request = server.received[0]
    assert {tool["function"]["name"] for tool in request.body["tools"]} >= {"bash", "edit", "read", "write"}
    assert len(request.data) < 6 * 1024


def test_first_request_imports_no_other_provider(first_request: tuple[set[str], ChatServer]) -> None:
    modules, _ = first_request
    unused = {
        "zot_plugins.provider_scripted.script",
        "zot_plugins.provider_scripted.demo",
        "zot_plugins.tool_edit.edit",
    }
    assert not modules & unused


def test_thirty_plugins_cost_version_and_help_nothing(zot_home: Path) -> None:
    (zot_home / "plugins").mkdir()
    for number in range(30):
        (zot_home / "plugins" / f"p{number}.py").write_text("import email\n")
    for flag in ("--version", "--help"):
        assert not packages(imported_by(flag)) & {"email", "zot_plugins"}


@pytest.mark.parametrize("command", [("plugins",), ("--list-models",), ("doctor",)])
def test_nothing_goes_out_before_a_prompt(command: tuple[str, ...], tmp_path: Path, zot_home: Path) -> None:
    (zot_home / "plugins").mkdir()
    watch = zot_home / "plugins" / "watch.py"
    events = '{"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}'
    said = tmp_path / "said"
    hook = f"lambda event, args: event in {events} and open({str(said)!r}, 'a').write(event)"
    watch.write_text(f"import sys\nsys.addaudithook({hook})\n")
    done = subprocess.run([sys.executable, "-c", RUN, *command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not said.exists()
