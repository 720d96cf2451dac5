"""Settings `extensions.paths` and `extensions.disabled`: what a session loads, and what `zot ext` says of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.extension_scripts import script
from support.rpc_client import RpcClient

Start = Callable[..., RpcClient]
BODY = """hello()
emit("register_command", name=NAME + "-here", description="x")
emit("ready")
for frame in frames(): pass
"""


@pytest.fixture
def settings(zot_home: Path) -> Callable[..., None]:
    """Writes the home's section `extensions`."""

    def write(**section: Any) -> None:
        (zot_home / "settings.json").write_text(json.dumps({"extensions": section}))

    return write


def listed(zot: Any, *argv: str) -> dict[str, tuple[str, str]]:
    """Name -> (scope, state) as `zot ext list` has it."""
    done = zot(*argv, "ext", "list", "--json")
    assert done.code == 0, done.err
    return {row["name"]: (row["scope"], row["state"]) for row in json.loads(done.out)}


def arrived(client: RpcClient, *names: str) -> set[str]:
    """The extensions whose command is there, once these are: they start beside the session. The test's own limit in
    time ends a wait for one that never comes."""
    while not set(names) <= (found := here(client)):
        pass
    return found


def here(client: RpcClient) -> set[str]:
    """The extensions whose command is there now."""
    names = {row["name"] for row in client.ok("get_commands")["commands"]}
    return {name.removesuffix("-here") for name in names if name.endswith("-here")}


def test_folders_of_the_settings_are_loaded(
    zot: Any, rpc: Start, settings: Any, isolated: Path, zot_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(isolated / "person"))
    script(isolated / "person" / "work", "tilde", BODY)
    script(isolated / "many", "one", BODY)
    script(isolated / "many", "two", BODY)
    script(zot_home / "more", "relative", BODY)
    script(zot_home / "extensions", "installed", BODY)
    settings(paths=["~/work/tilde", str(isolated / "many"), "more", str(zot_home / "extensions")])
    names = {"tilde", "one", "two", "relative", "installed"}
    assert listed(zot) == dict.fromkeys(names, ("home", "enabled"))
    client = rpc()
    client.ok("hello")
    assert arrived(client, *names) == names
    report = json.loads(zot("ext", "doctor", "--json").out)
    assert {row["name"]: row["state"] for row in report["extensions"]} == dict.fromkeys(names, "ready")


def test_a_path_that_leads_to_nothing_is_said(zot: Any, settings: Any, isolated: Path) -> None:
    settings(paths=[str(isolated / "gone")])
    zot.script(["ok"])
    ran = zot("-p", "hi")
    assert ran.code == 0 and ran.out == "ok\n" and str(isolated / "gone") in ran.err
    shown = zot("ext", "list")
    assert "gone" in shown.err and "extensions.paths" in shown.err
    assert zot("ext", "doctor").code == 1


def test_names_of_the_settings_are_left_out_unless_asked_for(
    zot: Any, rpc: Start, settings: Any, zot_home: Path
) -> None:
    script(zot_home / "extensions", "on", BODY)
    off = script(zot_home / "extensions", "off", BODY)
    settings(disabled=["off"])
    assert listed(zot) == {"on": ("home", "enabled"), "off": ("home", "disabled")}
    assert "extensions.disabled" in zot("ext", "list").err
    client = rpc()
    client.ok("hello")
    assert arrived(client, "on") == {"on"}
    client.close()
    client = rpc("--ext", str(off.folder))
    client.ok("hello")
    assert arrived(client, "on", "off") == {"on", "off"}
    refused = zot("ext", "enable", "off")
    assert refused.code == 1 and str(zot_home / "settings.json") in refused.err


def test_a_reload_takes_what_the_settings_say_now(
    zot: Any, rpc: Start, settings: Any, isolated: Path, zot_home: Path
) -> None:
    script(isolated / "more", "late", BODY)
    script(zot_home / "extensions", "early", BODY)
    client = rpc()
    client.ok("hello")
    assert arrived(client, "early") == {"early"}
    settings(paths=[str(isolated / "more" / "late")], disabled=["early"])
    client.ok("reload", what="extensions")
    assert "early" not in here(client)
    assert arrived(client, "late") == {"late"}


def test_a_project_adds_folders_only_where_it_is_trusted(zot: Any, project: Path, isolated: Path) -> None:
    (project / ".zot").mkdir(exist_ok=True)
    (project / ".zot" / "settings.json").write_text(json.dumps({"extensions": {"paths": ["../tools"]}}))
    script(project / "tools", "theirs", BODY)
    assert listed(zot) == {}
    assert listed(zot, "--no-trust") == {}
    assert listed(zot, "--trust") == {"theirs": ("project", "enabled")}
    zot.script(["ok"])
    zot("-p", "hi")
    assert not (project / "tools" / "theirs" / "seen.jsonl").exists()
    zot("--trust", "-p", "hi")
    assert (project / "tools" / "theirs" / "seen.jsonl").exists()


def test_an_installed_one_comes_before_a_listed_one_of_its_name(
    zot: Any, settings: Any, isolated: Path, zot_home: Path
) -> None:
    script(zot_home / "extensions", "same", BODY)
    other = script(isolated / "more", "same", BODY)
    settings(paths=[str(isolated / "more")])
    rows = json.loads(zot("ext", "list", "--json").out)
    assert [(row["state"], row["folder"] == str(other.folder)) for row in rows] == [
        ("enabled", False),
        ("shadowed", True),
    ]


def test_a_listed_one_can_be_switched_and_is_never_removed(zot: Any, settings: Any, isolated: Path) -> None:
    one = script(isolated / "more", "mine", BODY)
    settings(paths=[str(one.folder)])
    assert zot("ext", "disable", "mine").code == 0
    assert listed(zot) == {"mine": ("home", "disabled")}
    assert zot("ext", "enable", "mine").code == 0
    assert listed(zot) == {"mine": ("home", "enabled")}
    removed = zot("ext", "remove", "mine", "--yes")
    assert removed.code == 2 and "extensions.paths" in removed.err and one.folder.is_dir()


PLUGIN = """from zot_core import CommandSpec, hookimpl

async def run(args, ctx):
    return "python"

@hookimpl
def commands():
    return [CommandSpec(name="same-here", handler=run)]
"""


@pytest.mark.parametrize(("flags", "stands"), [(("--trust",), "extension"), ((), "python")])
def test_of_an_extension_and_a_python_plugin_of_one_name_the_first_stands(
    zot: Any, rpc: Start, zot_home: Path, project: Path, flags: tuple[str, ...], stands: str
) -> None:
    extension = script(project / ".zot" / "extensions", "same", BODY)
    (zot_home / "plugins").mkdir()
    (zot_home / "plugins" / "same.py").write_text(PLUGIN)
    client = rpc(*flags)
    client.ok("hello")
    arrived(client, "same")
    rows = [row for row in client.ok("get_commands")["commands"] if row["name"].startswith("same-here")]
    assert [row["name"] for row in rows] == ["same-here"]
    listed = zot(*flags, "plugins").out
    assert ("ext:same" in listed) == (stands == "extension")
    client.close()
    if stands == "extension":
        told = [line for line in client.errors if "same.py is not used" in line]
        assert len(told) == 1 and str(extension.folder) in told[0]


def test_an_extension_named_like_a_built_in_leaves_it_alone(zot: Any, rpc: Start, zot_home: Path) -> None:
    script(zot_home / "extensions", "skills", BODY)
    client = rpc()
    client.ok("hello")
    assert arrived(client, "skills") == {"skills"}
    assert "skill" in {row["name"] for row in client.ok("get_tools")["tools"]}
