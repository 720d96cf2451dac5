"""Isolation for every test: a home of its own, no credentials, no network but loopback, a limit in time.

Nothing here knows a room of zot; a test that wants more takes it from `zot_core.testing` or its own folder.
"""

from __future__ import annotations

import faulthandler
import ipaddress
import os
import shutil
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["zot_core.testing.plugin"]
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's `&` leaves it so, and children would inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)
TIME_LIMIT = 30.0
"""Seconds for each phase of a test; `@pytest.mark.time_limit(s)` gives one test more."""
FOREIGN = ("_API_KEY", "_AUTH_TOKEN", "_BASE_URL", "_PROXY")
PREFIXES = (
    "ZOT_",
    "ZOTCORE_",
    "ZOTEXT_",
    "XDG_",
    "GIT_",
    "ANTHROPIC_",
    "OPENAI_",
    "KIMI_",
    "MOONSHOT_",
    "GEMINI_",
    "GOOGLE_",
    "AWS_",
    "AZURE_",
    "CLOUDSDK_",
    "GCE_",
    "LLAMA_",
    "LM_",
    "GITHUB_MODELS_",
    "HF_",
    "OLLAMA_",
    "LMSTUDIO_",
    "LLAMACPP_",
    "VLLM_",
)
KEPT = frozenset({"GIT_EXEC_PATH"})


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "time_limit(seconds): more time for a test than the limit of all")
    config.addinivalue_line("markers", "needs(program, ...): system programs; without them CI fails, others skip")
    _refuse_network()


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        for program in mark.args:
            if shutil.which(program) is None:
                reason = f"the program {program!r} is not installed"
                pytest.fail(reason, pytrace=False) if os.environ.get("CI") else pytest.skip(reason)


# --- a home of its own --------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def isolated(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment without the user: HOME and ZOT_HOME in a temporary folder, an empty cwd, no keys, no proxies.

    Returns the folder; `home` and `project` in it are ZOT_HOME and the cwd.
    """
    root = tmp_path_factory.mktemp("zot")
    for name in list(os.environ):
        upper = name.upper()
        if (upper.endswith(FOREIGN) or upper.startswith(PREFIXES)) and upper not in KEPT:
            monkeypatch.delenv(name)
    for name in ("user", "project"):
        (root / name).mkdir()
    monkeypatch.setenv("HOME", str(root / "user"))
    monkeypatch.setenv("ZOT_HOME", str(root / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.chdir(root / "project")
    return root


@pytest.fixture
def zot_home(isolated: Path) -> Path:
    """ZOT_HOME of this test; made, and private."""
    home = isolated / "home"
    home.mkdir(mode=0o700, exist_ok=True)
    return home


@pytest.fixture
def project(isolated: Path) -> Path:
    """The empty folder that is this test's cwd."""
    return isolated / "project"


# --- no network ---------------------------------------------------------------------------------------------------


class NetworkRefused(RuntimeError):
    """A test tried to leave the machine. No OSError, so that nothing takes it for a failure to handle."""


def _is_local(host: Any) -> bool:
    if host is None or isinstance(host, bytes):
        host = (host or b"").decode("ascii", "replace")
    if host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(host).partition("%")[0]).is_loopback
    except ValueError:
        return False


def _check(address: Any) -> None:
    if isinstance(address, tuple) and not _is_local(address[0]):
        raise NetworkRefused(f"no network in tests: {address[0]}")


def _refuse_network() -> None:
    """Guards the sockets of this process; done once, for all tests."""
    if getattr(socket.socket.connect, "__name__", "") == "guarded":
        return
    real = {name: getattr(socket.socket, name) for name in ("connect", "connect_ex", "sendto")}

    def wrap(name: str) -> Any:
        def guarded(self: socket.socket, *args: Any) -> Any:
            if self.family != socket.AF_UNIX:
                _check(args[-1])
            return real[name](self, *args)

        return guarded

    for name in real:
        setattr(socket.socket, name, wrap(name))
    look_up = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        if not _is_local(host):
            raise NetworkRefused(f"no network in tests: {host}")
        return look_up(host, *args, **kwargs)

    socket.getaddrinfo = getaddrinfo  # type: ignore[assignment]


# --- a limit in time ----------------------------------------------------------------------------------------------


class TimeLimitExceeded(BaseException):
    """A test took too long. No Exception, so that no handler under test swallows it."""


@contextmanager
def _limited(item: pytest.Item) -> Iterator[None]:
    mark = item.get_closest_marker("time_limit")
    seconds = float(mark.args[0]) if mark else TIME_LIMIT
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def expired(_signal: int, _frame: Any) -> None:
        raise TimeLimitExceeded(f"{item.nodeid} took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    # For code that holds the interpreter and never comes back to Python: the stacks, then the end of the run.
    faulthandler.dump_traceback_later(seconds * 2, exit=True)
    try:
        yield
    except TimeLimitExceeded as error:
        pytest.fail(str(error))
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with _limited(item):
        return (yield)


@pytest.hookimpl(wrapper=True, specname="pytest_runtest_setup")
def limit_setup(item: pytest.Item) -> Iterator[None]:
    with _limited(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    with _limited(item):
        return (yield)
