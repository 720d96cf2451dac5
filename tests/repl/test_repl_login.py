"""`/login` on the screen and in lines: what is typed hidden is on no screen, in no byte, and in no file but one."""

from __future__ import annotations

import json
import os
import signal
import sys
import termios
from pathlib import Path
from typing import Any

import pytest
from support.oauth_server import ACCESS, CLIENT, KEY, SECRETS, USER_CODE, OAuthServer
from support.pty_screen import PtyScreen

PLUGIN = """
from zot_core import ModelSpec, ProviderSpec, hookimpl
from zot_core.types.login import OAuthSpec

@hookimpl
def providers():
    return ProviderSpec(
        id="acme", name="Acme", api="openai-completions", base_url="{url}/v1", env=("ACME_API_KEY",),
        models=(ModelSpec(id="large", provider="acme"),), default_model="large",
        oauth=OAuthSpec(authorize_url="{url}/authorize", device_url="{url}/device", token_url="{url}/token",
                        client_id="{client}", notice="Acme's terms hold."),
    )
"""
WRONG = "key-that-is-wrong-zzzz"


@pytest.fixture
def acme(desk: Any) -> Any:
    with OAuthServer() as server:
        server.device = {"expires_in": 60, "interval": 0.05}
        (desk.project / "acme.py").write_text(PLUGIN.format(url=server.url, client=CLIENT))
        for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
            desk.env.pop(name, None)
        yield server


def kept(desk: Any) -> Any:
    return json.loads((desk.home / "auth.json").read_text())["acme"]


def leaks(desk: Any, zot: PtyScreen, *more: str) -> list[tuple[str, str]]:
    """Where a secret is that it must not be in."""
    seen = {"output": zot.raw.decode("utf-8", "replace"), "screen": zot.everything}
    for path in [*desk.home.rglob("*"), *desk.project.rglob("*")]:
        if path.is_file() and path.name != "auth.json":
            seen[str(path)] = path.read_text(encoding="utf-8", errors="replace")
    assert any("sessions" in name for name in seen), "the session is among them"
    return [(where, one) for where, said in seen.items() for one in (*SECRETS, *more) if one in said]


def end(zot: PtyScreen) -> None:
    zot.press("ctrl+d")
    assert zot.wait_end() == 0


def test_a_key_is_typed_in_dots_tried_and_kept(desk: Any, acme: OAuthServer) -> None:
    desk.script(["Hello."])
    zot = desk.zot("--plugin", "acme.py", columns=100)
    zot.type("hi")
    zot.press("enter")
    zot.wait("Hello.")
    zot.type("/login")
    zot.press("enter")
    zot.wait("Log in to which provider?")
    zot.type("acme")
    zot.press("enter")
    zot.wait("How do you log in to Acme?")
    zot.type("key")
    zot.press("enter")
    zot.wait("API key of Acme (it is not shown)")
    zot.type(WRONG)
    zot.wait("•" * len(WRONG))
    zot.press("enter")
    zot.wait("Acme refused the key")
    zot.press("esc")
    zot.wait("Nothing was stored.")
    assert not (desk.home / "auth.json").exists()

    zot.type("/login acme")
    zot.press("enter")
    zot.wait("How do you log in to Acme?")
    zot.press("down", "down", "enter")
    zot.wait("API key of Acme (it is not shown)")
    zot.paste(KEY)
    zot.wait("•" * len(KEY))
    zot.press("enter")
    zot.wait(lambda screen: "Acme takes it." in " ".join(screen.text.split()))
    assert "Asking Acme" not in zot.text, "what was said while it worked goes with the answer"
    zot.press("up")
    zot.wait("› /login acme")
    zot.press("ctrl+c")
    end(zot)
    assert kept(desk) == {"api_key": KEY} and acme.keys == [WRONG, KEY]
    assert (desk.home / "auth.json").stat().st_mode & 0o777 == 0o600
    assert leaks(desk, zot, WRONG) == []


def test_the_browser_is_opened_and_the_login_ends_without_a_key_pressed(desk: Any, acme: OAuthServer) -> None:
    program = desk.home / "browser"
    program.write_text(
        f"#!{sys.executable} -I\nimport sys, urllib.request\nprint('noise of a browser')\n"
        "urllib.request.build_opener(urllib.request.ProxyHandler({})).open(sys.argv[1], timeout=10).read()\n"
    )
    program.chmod(0o755)
    desk.script(["Hello."])
    zot = desk.zot("--plugin", "acme.py", "hi", BROWSER=f"{program} %s")
    zot.wait("Hello.")
    zot.type("/login acme")
    zot.press("enter")
    zot.wait("How do you log in to Acme?")
    zot.press("enter")
    zot.wait("Acme's terms hold.")
    zot.press("enter")
    zot.wait("You are logged in to Acme")
    assert "in a browser of this machine" not in zot.text, "the address is of no use any more"
    zot.type("/logout acme")
    zot.press("enter")
    zot.wait("Forget what is stored for acme?")
    assert kept(desk)["access"] == ACCESS
    zot.press("enter")
    zot.wait("is forgotten here")
    end(zot)
    assert json.loads((desk.home / "auth.json").read_text()) == {}
    assert leaks(desk, zot) == [] and "noise of a browser" not in zot.everything


def test_a_device_code_is_shown_until_it_was_typed(desk: Any, acme: OAuthServer) -> None:
    acme.polls = ["authorization_pending"] * 1000
    desk.script(["Hello."])
    zot = desk.zot("--plugin", "acme.py", "hi", columns=120)
    zot.wait("Hello.")
    zot.type("/login acme")
    zot.press("enter")
    zot.wait("How do you log in to Acme?")
    zot.press("down", "enter")
    zot.wait("Acme's terms hold.")
    zot.press("enter")
    zot.wait(f"open {acme.url}/type on any device and type the code {USER_CODE}")
    acme.polls.clear()
    zot.wait("You are logged in to Acme")
    end(zot)
    assert kept(desk)["access"] == ACCESS and leaks(desk, zot) == []


def test_a_terminal_of_lines_does_not_echo_the_key(desk: Any, acme: OAuthServer) -> None:
    desk.script(["Hello."])
    line = [sys.executable, "-m", "zot_cli", "--provider", "scripted", "--plugin", "acme.py"]
    with PtyScreen(line, cwd=Path(desk.project), env={**desk.env, "TERM": "dumb"}, columns=250) as zot:
        zot.wait("zot>")
        zot.type("hi\n")
        zot.wait("Hello.")
        zot.type("/login acme\n")
        zot.wait("Which? [1]")
        zot.type("3\n")
        zot.wait("API key of Acme (it is not shown):")
        zot.type(f"{KEY}\n")
        zot.wait(lambda screen: "Acme takes it." in " ".join(screen.text.split()))
        zot.type("echoed again")
        zot.wait("echoed again")
        zot.type("\x15")
        end(zot)
        assert kept(desk) == {"api_key": KEY} and leaks(desk, zot) == []


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminal_of_lines_echoes_again_when_zot_is_ended_in_mid_question(
    desk: Any, acme: OAuthServer, sign: signal.Signals
) -> None:
    line = [sys.executable, "-m", "zot_cli", "--provider", "scripted", "--plugin", "acme.py"]
    with PtyScreen(line, cwd=Path(desk.project), env={**desk.env, "TERM": "dumb"}, columns=250) as zot:
        zot.wait("zot>")
        zot.type("/login anthropic\n")
        zot.wait("API key of Anthropic (it is not shown):")
        assert not termios.tcgetattr(zot._fd)[3] & termios.ECHO
        os.kill(zot.pid, sign)
        zot.wait_end()
        assert termios.tcgetattr(zot._fd)[3] & termios.ECHO
