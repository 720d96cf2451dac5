"""zot in a terminal: no command waits for the person, takes their keys, or touches their screen. BT-03."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import pexpect
import pyte
import pytest

EDITOR = "#!/bin/sh\nexec < /dev/tty > /dev/tty\nprintf '\\033[2J\\033[?1049hEDIT%s' OR\nread answer\n"
COMMANDS = {
    "cat": "cat",
    "read": "read x; echo read $?",
    "input": "python3 -c 'input()'",
    "tty": "printf '\\033[2JHEL%s' LO > /dev/tty",
    "python-tty": "python3 -c \"open('/dev/tty', 'w').write('HEL' + 'LO')\"",
    "stty": "stty -echo raw; stty -echo raw < /dev/tty",
    "password": 'python3 -c "import getpass; getpass.getpass()"',
    "less": "seq 100000 > long; less long | tail -1",
    "less-alone": "seq 100 > long; less long",
    "man": "git --paginate log | cat",
}


class Terminal:
    """A shell command in a pseudo-terminal of 24 lines, and what its screen shows."""

    def __init__(self, command: str) -> None:
        self.raw = ""
        self._screen = pyte.Screen(100, 24)
        self._stream = pyte.Stream(self._screen)
        self.child = pexpect.spawn("/bin/bash", ["-c", command], dimensions=(24, 100), encoding="utf-8", timeout=20)

    def finish(self) -> list[str]:
        """Waits for the end; the lines of the screen that are not empty."""
        self.child.expect(pexpect.EOF)
        self.raw += self.child.before
        self.child.close()
        self._stream.feed(self.raw)
        return [line.rstrip() for line in self._screen.display if line.strip()]


@pytest.fixture
def zot(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A command line of zot that plays these shell commands, one after another, and says `done`."""
    monkeypatch.setenv("TERM", "xterm-256color")

    def line(*commands: str, flags: str = "") -> str:
        replies: list[Any] = [[{"tool_call": {"name": "bash", "args": {"command": command}}}] for command in commands]
        script = isolated / "script.json"
        script.write_text(json.dumps([*replies, [{"text": "done"}]]))
        os.environ["ZOT_SCRIPT"] = str(script)
        return f"{shlex.quote(sys.executable)} -m zot_cli --provider scripted {flags} -p go"

    monkeypatch.setenv("ZOT_SCRIPT", "")
    return line


@pytest.mark.needs("less")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_asks_ends_and_the_screen_is_whole(zot: Any, name: str) -> None:
    began = time.monotonic()
    terminal = Terminal(zot(COMMANDS[name]))
    screen = terminal.finish()
    assert time.monotonic() - began < 8
    assert screen[-1] == "done"
    assert terminal.child.exitstatus == 0
    assert not any(word in terminal.raw for word in ("HELLO", "\x1b[2J", "\x1b[?1049h", "Password"))


@pytest.mark.needs("git")
def test_an_editor_that_opens_the_terminal_does_not_get_it(zot: Any, isolated: Path) -> None:
    editor = isolated / "editor.sh"
    editor.write_text(EDITOR)
    editor.chmod(0o755)
    setup = "git init -q . && git config user.email a@b && git config user.name n && touch x && git add x"
    began = time.monotonic()
    terminal = Terminal(
        zot(f"{setup} && git commit", f"git -c core.editor={editor} commit; GIT_EDITOR={editor} git commit")
    )
    assert terminal.finish()[-1] == "done"
    assert time.monotonic() - began < 10
    assert "EDITOR" not in terminal.raw.replace("GIT_EDITOR", "")


def test_keys_are_not_swallowed(zot: Any) -> None:
    """What is typed while a command runs is still there for who reads the terminal next."""
    command = zot("touch begun; cat; read x; python3 -c 'input()'; while [ ! -e typed ]; do sleep 0.02; done; cat")
    terminal = Terminal(f'{command}; read -r line; echo "GOT:$line"')
    deadline = time.monotonic() + 10
    while not Path("begun").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    terminal.child.send("these keys\r")
    Path("typed").touch()
    assert "GOT:these keys" in terminal.finish()


SLEEPER = "sh -c 'echo $$ > pid; exec sleep 300'"


@pytest.mark.parametrize(
    "start", [f"{SLEEPER} &", f"setsid {SLEEPER} &", f"(setsid {SLEEPER} &)", f"nohup {SLEEPER} &"]
)
def test_zot_ends_at_once_and_leaves_nobody(zot: Any, start: str) -> None:
    began = time.monotonic()
    terminal = Terminal(zot(f"{start} until [ -s pid ]; do sleep 0.02; done".replace("&)", "&);")))
    assert terminal.finish()[-1] == "done"
    assert time.monotonic() - began < 8
    state = Path(f"/proc/{Path('pid').read_text().strip()}/stat")
    # Whoever inherited the process may not have buried it yet.
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"
