"""The promises of tests/conftest.py: no test sees the user, the network or the next test."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_environment_holds_no_user(zot_home: Path, project: Path) -> None:
    assert Path(os.environ["ZOT_HOME"]) == zot_home
    assert Path.cwd() == project
    assert not [name for name in os.environ if name.endswith("_API_KEY")]
    assert Path.home() == project.parent / "user"


@pytest.mark.parametrize("host", ["192.0.2.1", "example.invalid", "2001:db8::1"])
def test_the_network_is_refused(host: str) -> None:
    with pytest.raises(RuntimeError, match="no network in tests"):
        socket.create_connection((host, 80), timeout=1)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as sock, pytest.raises(RuntimeError, match="no network in tests"):
        sock.connect((host, 80))


def test_the_network_is_refused_to_asyncio() -> None:
    async def leave() -> None:
        await asyncio.open_connection("192.0.2.1", 80)

    with pytest.raises(RuntimeError, match="no network in tests"):
        asyncio.run(leave())


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_loopback_works(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection((host, server.getsockname()[1]), timeout=5).close()


def inner_run(folder: Path, code: str, **env: str) -> str:
    """What pytest says about `code` under the same conftest."""
    (folder / "conftest.py").write_text((ROOT / "tests/conftest.py").read_text())
    (folder / "test_inner.py").write_text(textwrap.dedent(code))
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", str(folder)]
    inherited = {name: value for name, value in os.environ.items() if name != "CI"}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=inherited | env).stdout


def test_a_test_that_hangs_fails_by_name_and_the_next_one_runs(tmp_path: Path) -> None:
    said = inner_run(
        tmp_path,
        """
        import asyncio, pytest

        @pytest.mark.time_limit(0.2)
        def test_hang():
            asyncio.run(asyncio.Event().wait())

        def test_after():
            pass
        """,
    )
    assert "test_inner.py::test_hang took longer than 0.2 s" in said
    assert "1 failed, 1 passed" in said


@pytest.mark.parametrize(("env", "outcome"), [({}, "1 skipped"), ({"CI": "1"}, "1 error")])
def test_a_missing_program_fails_only_in_ci(env: dict[str, str], outcome: str, tmp_path: Path) -> None:
    said = inner_run(
        tmp_path,
        """
        import pytest

        @pytest.mark.needs("a-program-that-nobody-has")
        def test_needs():
            pass
        """,
        **env,
    )
    assert outcome in said
    assert "'a-program-that-nobody-has' is not installed" in said
