"""`zot -p` as cli.md has it: the answer on stdout, everything else on stderr, and how it ends."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Plugin = Callable[..., str]


def test_the_final_text_alone_is_on_stdout(zot: Any, project: Path) -> None:
    (project / "a.txt").write_text("data", encoding="utf-8")
    zot.script(["Let me look.", {"tool_call": {"name": "read", "args": {"path": "a.txt"}}}], ["It says data."])
    done = zot("-p", "What does", "a.txt", "say?")
    assert (done.code, done.out, done.err) == (0, "It says data.\n", "")


def test_piped_text_comes_before_the_prompt_and_is_one_alone(zot: Any) -> None:
    zot.script(["ok"])
    assert zot("-p", "Summarise", text="the text\n").out == "ok\n"
    done = zot("--json", "Summarise", text="the text\n")
    assert done.events[1]["content"] == [{"type": "text", "text": "the text\n\nSummarise"}]
    piped = zot(text="just this\n")
    assert (piped.code, piped.out) == (0, "ok\n")


def test_control_sequences_do_not_reach_stdout(zot: Any) -> None:
    zot.script(["\x1b]0;evil\x07a\x1b[2Jb\x9bc\u202ed"])
    done = zot("-p", "x")
    assert done.out == "abd\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"kind": "auth", "message": "no key"}, 1),
        ({"kind": "rate_limit", "message": "come back", "retryable": False}, 75),
        ({"kind": "overloaded", "message": "busy", "retryable": False}, 75),
    ],
)
def test_a_failure_is_one_line_and_a_code(zot: Any, error: dict[str, Any], code: int) -> None:
    zot.script([{"error": error}])
    done = zot("-p", "x")
    assert (done.code, done.out) == (code, "")
    assert done.err.splitlines()[-1].startswith("zot: ") and error["message"] in done.err


def test_a_cut_stream_is_a_failure_without_an_answer(zot: Any, zot_home: Path) -> None:
    (zot_home / "settings.json").write_text('{"retry": {"attempts": 1}}', encoding="utf-8")
    zot.script(["half an ans", {"cut": True}])
    done = zot("-p", "x")
    assert (done.code, done.out) == (1, "")


def test_an_answer_at_the_output_limit_is_shown_with_a_notice(zot: Any) -> None:
    zot.script(["half an ans", {"finish": "length"}])
    done = zot("-p", "x")
    assert (done.code, done.out) == (0, "half an ans\n")
    assert "cut" in done.err


def test_reaching_the_limit_of_steps_is_an_error(zot: Any) -> None:
    call = {"tool_call": {"name": "bash", "args": {"command": "true"}}}
    zot.script([call], [call], [call])
    done = zot("-p", "--max-steps", "2", "x")
    assert (done.code, done.out) == (1, "")
    assert "2 model calls" in done.err


def test_wrong_usage_that_only_plugins_can_tell(zot: Any) -> None:
    zot.script(["ok"])
    done = zot("-p", "x", "--modle", "y")
    assert done.code == 2 and "unknown flag --modle" in done.err
    done = zot("-p", "x", "--tools", "reed")
    assert done.code == 2 and "reed" in done.err and "read" in done.err
    done = zot("-p", "x", "--session", "nope")
    assert done.code == 2 and "nope" in done.err
    assert "cannot be used together" in zot("-p", "x", "-c", "--fork", "y").err


def test_plugins_bring_flags(zot: Any, plugin: Plugin) -> None:
    path = plugin(
        "from zot_core import FlagSpec, hookimpl\n"
        "@hookimpl\n"
        "def flags():\n    return [FlagSpec(name='deploy-to', type='str')]\n"
        "@hookimpl\n"
        "def input(event, ctx):\n    return event.replace(text=event.text.upper())\n"
    )
    zot.script(["ok"])
    done = zot("--json", "ship", "--deploy-to", "mars", "it", "--plugin", path)
    assert done.code == 0
    assert done.events[1]["content"] == [{"type": "text", "text": "SHIP IT"}]


WITHHOLD = (
    "from zot_core import Block, hookimpl\n@hookimpl\ndef assistant_message(event, ctx):\n    return Block('secret')\n"
)


def test_a_withheld_answer_is_no_failure_and_no_output(zot: Any, plugin: Plugin) -> None:
    zot.script(["the secret"])
    done = zot("-p", "x", "--plugin", plugin(WITHHOLD))
    assert (done.code, done.out) == (0, "")
    assert "the secret" not in done.err and "withheld" in done.err


def test_a_blocked_turn_is_a_failure_with_its_reason(zot: Any, plugin: Plugin) -> None:
    path = plugin(
        "from zot_core import Block, hookimpl\n@hookimpl\ndef turn_start(event, ctx):\n    return Block('not today')\n"
    )
    zot.script(["ok"])
    done = zot("-p", "x", "--plugin", path)
    assert (done.code, done.out, done.err) == (1, "", "zot: not today\n")


def test_a_prompt_that_a_plugin_handled_has_no_output(zot: Any, plugin: Plugin) -> None:
    path = plugin("from zot_core import Handled, hookimpl\n@hookimpl\ndef input(event, ctx):\n    return Handled()\n")
    done = zot("-p", "x", "--plugin", path)
    assert (done.code, done.out, done.err) == (0, "", "")


def test_notes_of_plugins_are_on_stderr(zot: Any, plugin: Plugin) -> None:
    path = plugin(
        "from zot_core import hookimpl\n"
        "@hookimpl\n"
        "def session_start(event, ctx):\n"
        "    print('noise')\n"
        "    ctx.ui.notify('hello \\x1b[2J', 'warning')\n"
    )
    zot.script(["ok"])
    done = zot("-p", "x", "--plugin", path)
    assert (done.code, done.out) == (0, "ok\n")
    assert "[mine] warning: hello" in done.err and "noise" in done.err and "\x1b" not in done.err


def test_a_full_disk_under_stdout_is_a_failure(zot: Any) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    zot.script(["ok"])
    with Path("/dev/full").open("w") as full:
        done = zot("-p", "x", stdout=full)
    assert done.code == 1 and done.err.startswith("zot: cannot write to standard output")


def test_a_closed_stdout_is_said(zot: Any) -> None:
    zot.script(["ok"])
    done = zot("-p", "x", stdout=subprocess.DEVNULL, preexec_fn=lambda: __import__("os").close(1))
    assert done.code == 1 and "Traceback" not in done.err


def test_a_session_is_continued(zot: Any, zot_home: Path) -> None:
    zot.script(["first"], ["second"])
    zot("-p", "one")
    assert zot("-c", "-p", "two").code == 0
    listed = zot("sessions", "list", "--json")
    rows = json.loads(listed.out)
    assert len(rows) == 1 and rows[0]["messages"] == 4 and rows[0]["title"] == "one"
    shown = zot("sessions", "show", rows[0]["id"][:6])
    assert "two" in shown.out and "first" in shown.out
    assert zot("-p", "x", "--no-session").code == 0
    assert len(json.loads(zot("sessions", "list", "--json").out)) == 1


def test_no_builtins_starts(zot: Any) -> None:
    done = zot("-p", "x", "--no-builtins")
    assert done.code in (1, 2) and done.err.startswith("zot: ") and "Traceback" not in done.err


def test_a_command_of_a_plugin_is_part_of_zot(zot: Any, plugin: Plugin) -> None:
    path = plugin(
        "import click\n"
        "from zot_core import CliSpec, hookimpl\n"
        "@click.command()\n"
        "@click.argument('name')\n"
        "@click.option('--loud', is_flag=True)\n"
        "def greet(name, loud):\n    click.echo(f'hello {name}' + '!' * loud)\n"
        "@hookimpl\n"
        "def cli():\n    return [CliSpec(name='greet', help='Greets.', command=greet)]\n"
    )
    done = zot("--plugin", path, "greet", "you")
    assert (done.code, done.out) == (0, "hello you\n")
    assert zot("--plugin", path, "gret", "you").code == 2


COMMAND = (
    "from zot_core import CommandSpec, hookimpl\n"
    "@hookimpl\n"
    "def commands():\n"
    "    return [CommandSpec(name='greet', handler=lambda args, ctx: f'hello {args}')]\n"
)


def test_the_text_that_a_command_returned_is_the_answer(zot: Any, plugin: Plugin) -> None:
    path = plugin(COMMAND)
    done = zot("-p", "/greet you", "--plugin", path)
    assert (done.code, done.out, done.err) == (0, "hello you\n", "")
    events = zot("--json", "/greet you", "--plugin", path).events
    assert {"type": "ext_display", "extension": "mine", "text": "hello you"} in events


def test_a_misspelt_command_names_the_nearest(zot: Any, plugin: Plugin) -> None:
    zot.script(["ok"])
    done = zot("-p", "/gret you", "--plugin", plugin(COMMAND))
    assert (done.code, done.out) == (0, "ok\n")
    assert "no command /gret; did you mean /greet? It is sent as text" in done.err


def test_retries_are_announced_without_a_terminal(zot: Any, zot_home: Path) -> None:
    (zot_home / "settings.json").write_text('{"retry": {"base_delay_s": 0.01}}', encoding="utf-8")
    busy = [{"error": {"kind": "rate_limit", "message": "slow down", "retryable": True}}]
    zot.script(busy, busy, ["the answer"])
    done = zot("-p", "x")
    assert (done.code, done.out) == (0, "the answer\n")
    first, second = done.err.splitlines()
    assert first.startswith("zot: rate limited; trying again in ") and first.endswith(" (1 of 2)")
    assert second.endswith(" (2 of 2)")


def test_extensions_need_a_plugin_that_knows_them(zot: Any, zot_home: Path) -> None:
    (zot_home / "settings.json").write_text('{"disabled_plugins": ["extension_bridge"]}', encoding="utf-8")
    done = zot("-p", "x", "--ext", "/nonexistent")
    assert done.code == 2 and "--ext /nonexistent: no loaded plugin knows extensions" in done.err


def test_a_format_that_no_plugin_speaks_is_refused_with_those_that_are_loaded(zot: Any, zot_home: Path) -> None:
    (zot_home / "settings.json").write_text('{"disabled_plugins": ["api_google"]}', encoding="utf-8")
    done = zot("-p", "x", "--api", "google-generative-ai")
    assert done.code == 2
    said, loaded = done.err.split("; loaded are: ")
    assert said == "zot: --api google-generative-ai: no loaded plugin speaks this wire format"
    assert "openai-completions" in loaded and "google" not in loaded


def test_a_missing_key_says_where_and_in_which_form(zot: Any, zot_home: Path) -> None:
    done = zot("-p", "x", "--provider", "openai")
    assert done.code == 1 and str(zot_home / "auth.json") in done.err
    assert '{"openai": {"api_key": "KEY"}}' in done.err and "OPENAI_API_KEY" in done.err


def test_an_unknown_model_names_near_ones_once(zot: Any) -> None:
    err = zot("-p", "x", "--provider", "openai", "--model", "gpt-6.2-sool").err
    assert err.count("gpt-6.2-sol") == 1 and "?;" not in err and "? `zot --list-models` lists all" in err
