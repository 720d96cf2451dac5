"""What presets and rules say of calls. A pattern allows only what it can see whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zot_plugins.permissions.rules import PRESET_RULES, Rule, decide, requests
from zot_plugins.permissions.shell import parts

CALLS = {
    "read inside": ("read", {"path": "a.txt"}, True),
    "read outside": ("read", {"path": "/etc/hosts"}, True),
    "write inside": ("write", {"path": "src/a.txt", "content": "x"}, False),
    "write outside": ("write", {"path": "../a.txt", "content": "x"}, False),
    "look": ("bash", {"command": "git status && ls -la | wc -l"}, False),
    "command": ("bash", {"command": "make test"}, False),
    "hidden command": ("bash", {"command": "ls $(rm -rf x)"}, False),
    "job": ("bash_job", {"action": "input", "input": "rm x"}, False),
    "stranger": ("deploy", {"name": "prod"}, False),
}
EXPECTED = {
    "full-access": dict.fromkeys(CALLS, "allow"),
    "workspace": {
        **dict.fromkeys(CALLS, "allow"),
        "write outside": "ask",
        "stranger": "ask",
    },
    "accept-edits": {
        **dict.fromkeys(CALLS, "ask"),
        "read inside": "allow",
        "read outside": "allow",
        "write inside": "allow",
    },
    "auto": {
        **dict.fromkeys(CALLS, "ask"),
        "read inside": "allow",
        "read outside": "allow",
        "write inside": "allow",
        "look": "allow",
    },
    "read-only": {**dict.fromkeys(CALLS, "deny"), "read inside": "allow", "read outside": "allow"},
    "ask": dict.fromkeys(CALLS, "ask"),
}


@pytest.mark.parametrize("preset", EXPECTED)
@pytest.mark.parametrize("call", CALLS)
def test_each_preset_says_the_same_of_a_call_every_time(preset: str, call: str, tmp_path: Path) -> None:
    tool, args, reads = CALLS[call]
    wanted = requests(tool, args, str(tmp_path), reads)
    assert decide(wanted, PRESET_RULES[preset], str(tmp_path)) == EXPECTED[preset][call]


def test_the_last_rule_that_matches_counts(tmp_path: Path) -> None:
    rules = [*PRESET_RULES["ask"], Rule("bash", "git *", "allow"), Rule("bash", "git push*", "deny")]

    def of(command: str) -> str:
        return decide(requests("bash", {"command": command}, str(tmp_path), False), rules, str(tmp_path))

    assert of("git status") == "allow"
    assert of("git push --force") == "deny"
    assert of("git status && git push") == "deny"
    assert of("git status; make") == "ask"
    assert of("git log `rm x`") == "ask"
    assert of('git log "$(rm x)"') == "ask"
    assert of("git log > ~/.bashrc") == "ask"
    assert of("gitx") == "ask"


def test_a_path_pattern_is_held_to_the_real_path(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "src" / "link").symlink_to(tmp_path / "secret")
    rules = [*PRESET_RULES["full-access"], Rule("*", "secret/*", "deny")]

    def of(path: str) -> str:
        return decide(requests("write", {"path": path}, str(tmp_path), False), rules, str(tmp_path))

    assert of("src/a") == "allow"
    assert of("secret/a") == "deny"
    assert of("src/link/a") == "deny"
    assert of("src/../secret/a") == "deny"
    assert of("@secret/a") == "deny"


def test_a_link_out_of_the_project_is_outside(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "out").symlink_to(tmp_path)
    wanted = requests("write", {"path": "out/x"}, str(project), False)
    assert decide(wanted, PRESET_RULES["accept-edits"], str(project)) == "ask"


HOSTILE = [
    "ls; rm x",
    "ls && rm x",
    "ls || rm x",
    "ls | sh",
    "ls & rm x",
    "ls\nrm x",
    "(rm x)",
    "{ rm x; }",
    "cat x > y",
    "cat <(rm x)",
    "cat `rm x`",
    "echo $(rm x)",
    'echo "$(rm x)"',
    "echo ${x:=rm}",
    "l\\s; r\\m x",
    "git diff --ext-diff",
    "git log --output=x",
    "sort -o x y",
    "eval rm x",
    "find . -delete",
    "find . -exec rm {} +",
    "env rm x",
    "xargs rm",
    "'unclosed",
]


@pytest.mark.parametrize("command", HOSTILE)
def test_no_looking_command_hides_another(command: str, tmp_path: Path) -> None:
    wanted = requests("bash", {"command": command}, str(tmp_path), False)
    assert decide(wanted, PRESET_RULES["auto"], str(tmp_path)) == "ask"


@given(st.text(alphabet="abls 'g\"i|&;$`(){}<>\\\n*", max_size=30))
def test_what_can_be_told_is_told_whole(command: str) -> None:
    found = parts(command)
    if found is None:
        return
    assert not set("".join(found)) & set("`$") or "'" in command
    letters = [char for char in command if char.isalpha()]
    assert [char for part in found for char in part if char.isalpha()] == letters
