"""`zot plugins`, `zot sessions`, `zot doctor`: what they list, in a pipe, in a terminal and as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pexpect
import pytest

Plugin = Callable[..., str]
GUARD = (
    "from zot_core import hookimpl\n"
    "@hookimpl(trylast=True)\n"
    "def tool_call(event, ctx): ...\n"
    "@hookimpl\n"
    "def message_end(event, ctx): ...\n"
)


def test_plugins_are_listed_in_their_order_with_what_they_implement(zot: Any, plugin: Plugin) -> None:
    first, second = plugin(GUARD, "first"), plugin(GUARD, "second")
    found = json.loads(zot("plugins", "--plugin", first, "--plugin", second, "--json").out)
    names = [row["name"] for row in found["plugins"]]
    assert names[:2] == ["first", "second"] and "tool_read" in names
    assert found["plugins"][0]["tier"] == "explicit" and set(found["plugins"][0]["hooks"]) == {
        "tool_call",
        "message_end",
    }
    assert any(row["flag"] == "--script" for row in found["flags"])


def test_the_chain_of_a_hook_is_printed(zot: Any, plugin: Plugin) -> None:
    first, second = plugin(GUARD, "first"), plugin(GUARD.replace("trylast", "tryfirst"), "second")
    rows = json.loads(zot("plugins", "--order", "tool_call", "--json", "--plugin", first, "--plugin", second).out)
    chain = [("second", "tryfirst"), ("first", "trylast"), ("permissions", "trylast")]
    assert [(row["plugin"], row["band"]) for row in rows] == chain
    assert "no plugin implements" in zot("plugins", "--order", "user_bash").err
    wrong = zot("plugins", "--order", "tool_cal")
    assert wrong.code == 2 and "did you mean tool_call" in wrong.err


def test_hooks_name_who_implements_them(zot: Any, plugin: Plugin) -> None:
    rows = json.loads(zot("plugins", "--hooks", "--json", "--plugin", plugin(GUARD)).out)
    by_hook = {row["hook"]: row for row in rows}
    assert by_hook["tool_call"]["kind"] == "gate" and by_hook["tool_call"]["plugins"] == ["mine", "permissions"]
    assert by_hook["tools"]["kind"] == "contribution"


def test_the_flags_of_a_run_may_stand_on_both_sides(zot: Any, plugin: Plugin) -> None:
    path = plugin(GUARD)
    for argv in (["--plugin", path, "plugins"], ["plugins", "--plugin", path]):
        done = zot(*argv)
        assert done.code == 0 and done.out.splitlines()[1].startswith("mine ")
    assert zot("plugins", "odd").code == 2
    assert "unknown flag --plugn" in zot("plugins", "--plugn", path).err


def test_a_pipe_gets_plain_columns_and_a_terminal_a_table(zot: Any) -> None:
    piped = zot("plugins").out
    assert piped.startswith("NAME ") and "\x1b" not in piped
    shown = pexpect.run(f"{sys.executable} -m zot_cli plugins", encoding="utf-8", timeout=15, env=None)
    assert "tool_read" in shown and "ORIGIN" in shown


@pytest.fixture
def two_sessions(zot: Any) -> list[dict[str, Any]]:
    zot.script([{"tool_call": {"name": "bash", "args": {"command": "echo hi"}}}], ["the answer"])
    zot("-p", "first prompt")
    zot("-p", "second prompt")
    rows: list[dict[str, Any]] = json.loads(zot("sessions", "list", "--json").out)
    return rows


def test_sessions_are_listed_last_used_first(zot: Any, two_sessions: list[dict[str, Any]], tmp_path: Path) -> None:
    assert [row["title"] for row in two_sessions] == ["second prompt", "first prompt"]
    assert all(row["messages"] == 4 and Path(row["path"]).exists() for row in two_sessions)
    assert zot("sessions", "list", "--limit", "1").out.count("prompt") == 1
    elsewhere = zot("--cwd", str(tmp_path), "sessions", "list")
    assert elsewhere.code == 0 and "no sessions of this project" in elsewhere.err
    assert zot("--cwd", str(tmp_path), "sessions", "list", "--all").out.count("prompt") == 2


def test_a_session_is_shown_and_exported(zot: Any, two_sessions: list[dict[str, Any]], project: Path) -> None:
    session = two_sessions[0]["id"]
    shown = zot("sessions", "show", session[:8])
    assert shown.code == 0 and "second prompt" in shown.out and "the answer" in shown.out and "echo hi" in shown.out
    data = json.loads(zot("sessions", "show", session, "--json").out)
    assert [entry["role"] for entry in data["entries"] if "role" in entry] == ["user", "assistant", "tool", "assistant"]
    lines = zot("sessions", "export", session, "--format", "jsonl").out.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [entry["id"] for entry in data["entries"]]
    assert zot("sessions", "export", session, "-o", "out.md").code == 0
    assert (project / "out.md").read_text(encoding="utf-8") == shown.out
    again = zot("sessions", "export", session, "-o", "out.md")
    assert again.code == 2 and "left as it is" in again.err
    missing = zot("sessions", "show", "nope")
    assert missing.code == 2 and session in missing.err


def test_withheld_text_is_in_no_export(zot: Any, plugin: Plugin) -> None:
    path = plugin(
        "from zot_core import Block, hookimpl\n@hookimpl\ndef assistant_message(event, ctx):\n    return Block()\n"
    )
    zot.script(["the secret"])
    zot("-p", "x", "--plugin", path)
    session = json.loads(zot("sessions", "list", "--json").out)[0]["id"]
    for argv in (["show", session], ["show", session, "--json"], ["export", session, "--format", "jsonl"]):
        done = zot("sessions", *argv)
        assert done.code == 0 and "secret" not in done.out and "withheld" in done.out


def test_pruning_asks_says_and_removes(zot: Any, two_sessions: list[dict[str, Any]]) -> None:
    assert "say which are old" in zot("sessions", "prune").err
    assert "30d" in zot("sessions", "prune", "--older-than", "soon").err
    planned = zot("sessions", "prune", "--keep-last", "1", "--dry-run")
    assert planned.code == 0 and "first prompt" in planned.out
    unasked = zot("sessions", "prune", "--keep-last", "1")
    assert unasked.code == 2 and "--yes" in unasked.err
    assert all(Path(row["path"]).exists() for row in two_sessions)
    assert zot("sessions", "prune", "--keep-last", "1", "--yes").code == 0
    assert [Path(row["path"]).exists() for row in two_sessions] == [True, False]
    assert "none is old" in zot("sessions", "prune", "--older-than", "1d").err


def test_the_doctor_tells_where_values_come_from_and_no_secret(
    zot: Any, zot_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (zot_home / "settings.json").write_text('{"max_steps": 7, "max_stepps": 1}', encoding="utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    done = zot("doctor", "--json", "--provider", "openai")
    report = json.loads(done.out)
    row = next(row for row in report["settings"] if row["key"] == "max_steps")
    assert row["value"] == 7 and row["origin"] == str(zot_home / "settings.json")
    assert "OPENAI_API_KEY" in report["model"]["credential"]
    assert any("max_stepps" in problem["text"] for problem in report["problems"])
    assert "sk-very-secret" not in done.out + zot("doctor", "--provider", "openai").out


def test_the_doctor_finds_what_is_broken(zot: Any, zot_home: Path, plugin: Plugin) -> None:
    assert zot("doctor").code == 0
    (zot_home / "settings.json").write_text("{oops", encoding="utf-8")
    done = zot("doctor")
    assert done.code == 1 and "settings.json" in done.out
    (zot_home / "settings.json").unlink()
    broken = zot("doctor", "--plugin", plugin("import nothing_of_this_name\n"))
    assert broken.code == 1 and "nothing_of_this_name" in broken.out
    assert zot("doctor", "--modle", "x").code == 2


def test_a_missing_key_is_a_warning(zot: Any) -> None:
    done = zot("doctor", "--json", "--provider", "openai")
    problems = json.loads(done.out)["problems"]
    assert done.code == 0 and any("OPENAI_API_KEY" in row["text"] for row in problems)


BRINGER = (
    "from zot_core import CommandSpec, hookimpl, tool\n"
    "@tool\n"
    "def hello(name: str) -> str:\n    'Greets someone. At length.'\n    return name\n"
    "@hookimpl\n"
    "def tools():\n    return [hello]\n"
    "@hookimpl\n"
    "def commands():\n"
    "    return [CommandSpec(name='greet', description='Says hello.', handler=lambda args, ctx: f'hello {args}')]\n"
)


def test_plugins_lists_tools_and_commands(zot: Any, plugin: Plugin) -> None:
    path = plugin(BRINGER)
    found = json.loads(zot("plugins", "--json", "--plugin", path, "--exclude-tools", "bash").out)
    tools = {row["tool"]: row for row in found["tools"]}
    assert tools["hello"] == {
        "tool": "hello",
        "plugin": "mine",
        "offered": True,
        "description": "Greets someone. At length.",
    }
    assert tools["bash"]["offered"] is False and tools["read"]["plugin"] == "tool_read"
    assert {"command": "/greet", "plugin": "mine", "help": "Says hello."} in found["commands"]
    shown = zot("plugins", "--plugin", path).out
    tools_at, commands_at = shown.index("\nTools\n"), shown.index("\nCommands\n")
    assert tools_at < shown.index("\nhello ") < commands_at < shown.index("\n/greet ")
    assert "Greets someone." in shown and "At length" not in shown


@pytest.mark.parametrize("argv", [("plugins",), ("plugins", "--json"), ("--list-models",), ("-p", "x")])
def test_what_an_untrusted_project_leaves_out_is_said(zot: Any, project: Path, argv: tuple[str, ...]) -> None:
    (project / ".zot" / "plugins").mkdir(parents=True)
    (project / ".zot" / "plugins" / "local.py").write_text("", encoding="utf-8")
    zot.script(["ok"])
    err = zot(*argv).err
    assert "not trusted" in err and ".zot/plugins not used" in err
    assert "ask nobody" in err and "--trust uses it once" in err and 'answer "Yes, and remember it"' in err


def test_a_plugin_that_does_not_load_is_said_once(zot: Any, plugin: Plugin) -> None:
    done = zot("plugins", "--plugin", plugin("import nothing_of_this_name\n"))
    assert (done.out + done.err).count("nothing_of_this_name") == 1


def test_an_unknown_flag_of_a_command_names_its_own(zot: Any) -> None:
    err = zot("plugins", "--hook").err
    assert "did you mean --hooks" in err and err.endswith("See zot plugins --help\n")


def test_a_group_alone_says_which_commands_it_has(zot: Any) -> None:
    done = zot("sessions")
    assert (done.code, done.out) == (2, "")
    assert done.err == "zot: zot sessions needs a command: export, list, prune, show; see zot sessions --help\n"


def test_a_session_shows_how_answers_ended(zot: Any, zot_home: Path) -> None:
    (zot_home / "settings.json").write_text('{"retry": {"attempts": 1}}', encoding="utf-8")
    zot.script(["half an ans", {"error": {"kind": "auth", "message": "sorry"}}])
    assert zot("-p", "x").code == 1
    session = json.loads(zot("sessions", "list", "--json").out)[0]["id"]
    shown = zot("sessions", "show", session).out
    assert "half an ans\n\n(failed: " in shown and "sorry" in shown
    entry = json.loads(zot("sessions", "show", session, "--json").out)["entries"][-1]
    assert entry["stop"] == "error" and "sorry" in entry["error"]


def test_the_doctor_names_a_source_and_ends_with_a_verdict(zot: Any, zot_home: Path, project: Path) -> None:
    (zot_home / "settings.json").write_text('{"max_stepps": 1}', encoding="utf-8")
    (project / ".zot").mkdir()
    (project / ".zot" / "settings.json").write_text("{}", encoding="utf-8")
    problems = json.loads(zot("doctor", "--json").out)["problems"]
    assert len(problems) >= 2 and all(row["source"] for row in problems)
    assert zot("doctor").out.endswith("\nNothing is broken.\n")
    (zot_home / "settings.json").write_text("{oops", encoding="utf-8")
    assert zot("doctor").out.endswith("\n1 thing is broken; see the errors above.\n")
