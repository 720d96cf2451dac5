"""What stays closed inside of the jail: zot's own folder, and the network where the settings close it."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support import sandboxes
from support.tool_context import names

from zot_core.testing import RecordingFrontEnd, Script
from zot_core.toolkit import confine
from zot_core.types.content import text_of
from zot_core.types.specs import SessionFacts
from zot_plugins.jail.policy import policy

Run = Callable[..., RecordingFrontEnd]
Call = Callable[..., tuple[str, bool]]
KINDS = [pytest.param("bwrap", marks=pytest.mark.needs("bwrap")), "landlock"]
OLD = '{"model": "old"}'


@pytest.fixture
def project(world: Any) -> Path:
    folder: Path = world.project
    (folder / ".zot" / "plugins").mkdir(parents=True)
    (folder / ".zot" / "settings.json").write_text(OLD)
    (folder / ".mcp.json").write_text("{}")
    return folder


@pytest.fixture
def call(run_prompt: Run, world: Any, monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.setenv("SHELL", "/bin/bash")

    def one(tool: str, section: dict[str, Any] | None = None, **args: Any) -> tuple[str, bool]:
        (world.home / "settings.json").write_text(json.dumps({"plugins": {"jail": section or {}}}))
        front = run_prompt("go", script=Script().call(tool, args).then().text("done"), flags={"jail": True})
        (result,) = front.tool_results()
        return text_of(result.content), result.is_error

    return one


def state(project: Path) -> list[tuple[str, str]]:
    return sorted(
        (str(path.relative_to(project)), path.read_text() if path.is_file() else "")
        for root in (project / ".zot", project / ".mcp.json")
        for path in [root, *root.rglob("*")]
    )


# --- zot's own folder -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", [".zot/settings.json", ".zot/plugins/mine.py", ".zot/new/deep", "link/x.py", ".mcp.json", ".ZOT/x"]
)
def test_tools_read_it_and_leave_it(call: Call, project: Path, path: str) -> None:
    (project / "link").symlink_to(".zot/plugins")
    before = state(project)
    text, failed = call("write", path=path, content="mine = 1\n")
    assert failed and "plugins.jail.write_zot" in text
    assert state(project) == before
    assert not (project / ".ZOT").exists()
    edit = {"path": ".zot/settings.json", "edits": [{"old_text": "old", "new_text": "new"}]}
    assert call("edit", **edit)[1]
    assert state(project) == before
    assert call("read", path=".zot/settings.json") == (OLD, False)


WRITING = [
    "echo x > .zot/settings.json",
    "echo x > .zot/plugins/mine.py",
    "rm -rf .zot",
    "mv .zot aside",
    "chmod 777 .zot/settings.json",
    "ln -sf /etc/passwd .zot/settings.json",
    "touch .zot/new",
    "mount -o remount,rw .zot; umount -l .zot; echo x > .zot/new",
    "echo '{\"mcpServers\": {}}' > .mcp.json",
    "unshare -Urm sh -c 'umount -l .zot; mount -o remount,rw,bind .zot; echo x > .zot/new'",
    "cd .. && mv project aside && mkdir -p project/.zot && echo x > project/.zot/new",
    "cd ../.. && mv {around} aside && mkdir -p {around}/project/.zot && echo x > {around}/project/.zot/new",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", WRITING)
@pytest.mark.parametrize("wide", [False, True])
def test_commands_leave_it(
    call: Call, project: Path, kind: str, command: str, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandboxes.only(monkeypatch, kind)
    before = state(project)
    text, failed = call(
        "bash", {"write": ["../.."]} if wide else {}, command=command.replace("{around}", project.parent.name)
    )
    assert failed or "aside" in command, text  # outside of the jail's roots a sandbox may have folders of its own
    assert state(project) == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_one_cannot_be_made(call: Call, world: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sandboxes.only(monkeypatch, kind)
    text, _ = call("bash", command="mkdir -p .zot/plugins; echo x > .zot/plugins/mine.py; echo ok > other; ls -a")
    assert "other" in text
    assert names((world.project / ".zot").iterdir()) == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_setting_opens_it(call: Call, project: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sandboxes.only(monkeypatch, kind)
    assert not call("write", {"write_zot": True}, path=".zot/a", content="x")[1]
    assert not call("bash", {"write_zot": True}, command="echo y > .zot/b")[1]
    assert names((project / ".zot").iterdir()) == ["a", "b", "plugins", "settings.json"]


def test_where_it_cannot_be_kept_the_result_says_so(call: Call, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sandboxes.only(monkeypatch, "bare landlock")
    text, failed = call("bash", command="echo ran")
    assert not failed
    assert text.startswith("ran\n\n[A policy wants ")
    assert f"{project}/.zot, {project}/.mcp.json unchanged, but nothing here keeps commands from it" in text


@pytest.mark.needs("bwrap")
def test_a_link_in_its_place_is_said(call: Call, world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sandboxes.only(monkeypatch, "bwrap")
    (world.project / "real").mkdir()
    (world.project / ".zot").symlink_to("real")
    text, _ = call("bash", command="echo x > .zot/new; echo ran")
    assert f"[A policy wants {world.project}/.zot unchanged" in text
    assert names((world.project / "real").iterdir()) == []


def test_the_home_of_zot_is_kept_too(tmp_path: Path) -> None:
    facts = SessionFacts(
        cwd=str(tmp_path / "p"), home=str(tmp_path / "home"), settings={"write": [str(tmp_path)]}, mode="print"
    )
    assert str(tmp_path / "home") in policy(facts).readonly_roots


# --- the network ----------------------------------------------------------------------------------------------------

needs_python = pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="the system has no python3")


@contextmanager
def listening(kind: int) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, kind) as server:
        server.bind(("127.0.0.1", 0))
        if kind == socket.SOCK_STREAM:
            server.listen()
        server.settimeout(0.3)
        yield server


TCP = '/usr/bin/python3 -c \'import socket; socket.create_connection(("127.0.0.1", {port}), 3); print("out")\''
SERVE = (
    '/usr/bin/python3 -c \'import socket; s = socket.create_server(("127.0.0.1", 0)); '
    'c = socket.create_connection(s.getsockname()); print("own")\''
)


@needs_python
@pytest.mark.parametrize("kind", [*KINDS, "bare landlock"])
def test_the_network_is_open_unless_the_settings_close_it(
    call: Call, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandboxes.only(monkeypatch, kind)
    with listening(socket.SOCK_STREAM) as server:
        port = server.getsockname()[1]
        assert call("bash", command=TCP.format(port=port))[0].startswith("out")
        text, failed = call("bash", {"network": False}, command=TCP.format(port=port))
    assert failed and "out\n" not in text


@needs_python
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_else_gets_out_and_programs_reach_their_own_servers(
    call: Call, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandboxes.only(monkeypatch, kind)
    assert call("bash", {"network": False}, command=SERVE) == ("own", False)
    with listening(socket.SOCK_DGRAM) as server:
        port = server.getsockname()[1]
        udp = f'/usr/bin/python3 -c \'import socket as s; s.socket(2, 2).sendto(b"x", ("127.0.0.1", {port}))\''
        call("bash", {"network": False}, command=udp)
        with pytest.raises(TimeoutError):
            server.recv(1)
        nowhere = '/usr/bin/python3 -c \'import socket as s; s.socket(2, 2).sendto(b"x", ("192.0.2.1", 9))\''
        text, failed = call("bash", {"network": False}, command=nowhere)
        assert failed and "unreachable" in text


def test_landlock_alone_closes_tcp_and_says_so(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    sandboxes.only(monkeypatch, "bare landlock")
    text, failed = call("bash", {"network": False, "write_zot": True}, command="echo ran")
    assert not failed
    assert text.startswith("ran\n\n[Commands have no TCP (policy jail); UDP and local sockets stay open")


def test_where_nothing_can_close_it_commands_are_refused(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confine, "_found", [confine.Sandbox("", True, "bubblewrap is not installed")])
    text, failed = call("bash", {"network": False}, command="touch made")
    assert failed
    assert text.startswith("Commands are refused: the policy jail closes the network to them, and nothing here can")


def test_what_this_machine_has_is_tried() -> None:
    has = asyncio.run(confine.sandbox())
    assert has.bwrap or has.why
