"""Every example does what it says: through the testing kit, and through the command that its docstring shows."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zot_core.testing import RecordingFrontEnd, Script

PLUGINS = Path(__file__).parents[2] / "examples" / "plugins"
Run = Callable[..., RecordingFrontEnd]


def zot(*args: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command, as a person types it."""
    command = [sys.executable, "-m", "zot_cli", *args]
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)


def result_text(ran: RecordingFrontEnd) -> str:
    (result,) = ran.tool_results()
    return str(result.content[0].text)


# --- hello_tool ---------------------------------------------------------------------------------------------------


def test_hello_tool_greets(run_prompt: Run) -> None:
    script = Script().tool_call("greet", name="Ada").then().text("Done.")
    ran = run_prompt("Greet Ada", script=script, plugins=[PLUGINS / "hello_tool.py"])
    assert result_text(ran) == "Hello, Ada!"
    assert ran.answer == "Done."


def test_hello_tool_wants_a_name(run_prompt: Run) -> None:
    script = Script().tool_call("greet", whom="Ada").then().text("Hm.")
    ran = run_prompt("Greet Ada", script=script, plugins=[PLUGINS / "hello_tool.py"])
    assert ran.tool_results()[0].is_error
    assert "name" in result_text(ran)


def test_the_tutorials_script_plays(tmp_path: Path) -> None:
    hello, script = str(PLUGINS / "hello_tool.py"), str(PLUGINS / "greet.json")
    done = zot("--provider", "scripted", "--script", script, "--plugin", hello, "--json", "-p", "Greet Ada")
    assert done.returncode == 0, done.stderr
    assert "HELLO, ADA!" in done.stdout
    listed = zot("plugins", "--plugin", hello)
    assert "hello_tool" in listed.stdout


# --- guard --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    ["rm -rf build", "rm -fr build", "cd x && rm -r -f build", "rm --recursive --force build", "rm -Rf build"],
)
def test_guard_refuses_without_a_yes(run_prompt: Run, command: str) -> None:
    script = Script().tool_call("bash", command=command).then().text("I see.")
    ran = run_prompt("Clean up", script=script, plugins=[PLUGINS / "guard.py"])
    assert ran.ui.asked == [("confirm", "Delete a whole tree?")]
    assert ran.tool_results()[0].is_error
    assert "nobody allowed this rm" in result_text(ran)
    (seen,) = [seen for seen in ran.events if seen.hook == "tool_call"]
    assert seen.plugin == "guard"


def test_guard_lets_through_what_a_person_allows(run_prompt: Run, world: Any) -> None:
    (world.project / "build").mkdir()
    front = RecordingFrontEnd()
    front.ui.answer("confirm", True)
    script = Script().tool_call("bash", command="rm -rf build").then().text("Gone.")
    ran = run_prompt("Clean up", script=script, plugins=[PLUGINS / "guard.py"], front=front)
    assert ran.answer == "Gone."
    assert not (world.project / "build").exists()


@pytest.mark.parametrize("command", ["echo rm", "rm -f one.txt; ls -r", "ls -rf", "echo storm -rf"])
def test_guard_leaves_other_commands_alone(run_prompt: Run, command: str) -> None:
    script = Script().tool_call("bash", command=command).then().text("Done.")
    ran = run_prompt("Go", script=script, plugins=[PLUGINS / "guard.py"])
    assert ran.ui.asked == []


# --- redact_secrets -----------------------------------------------------------------------------------------------

KEY = "sk-" + "a1B2c3D4" * 4


def test_redactor_keeps_secrets_from_model_and_screen(run_prompt: Run, world: Any) -> None:
    (world.project / ".env").write_text(f"KEY={KEY}\npassword=hunter2 name=zot\n")
    script = Script().tool_call("read", path=".env").then().text("It says ", KEY, ".")
    ran = run_prompt("What is in .env?", script=script, plugins=[PLUGINS / "redact_secrets.py"])
    assert "KEY=[secret]" in result_text(ran)
    assert "password=[secret] name=zot" in result_text(ran)
    assert ran.answer == "It says [secret]."
    assert KEY not in str(ran.lines) and "hunter2" not in str(ran.lines)


def test_redactor_that_breaks_lets_nothing_through(run_prompt: Run, world: Any, tmp_path: Path) -> None:
    (world.project / ".env").write_text(f"KEY={KEY}\n")
    broken = tmp_path / "redact_secrets.py"
    broken.write_text((PLUGINS / "redact_secrets.py").read_text().replace("return SECRET.sub", "return SECRET.gone"))
    script = Script().tool_call("read", path=".env").then().text("Done.")
    ran = run_prompt("What is in .env?", script=script, plugins=[broken])
    assert KEY not in str(ran.lines)
    assert "redact_secrets" in result_text(ran)


# --- append_note --------------------------------------------------------------------------------------------------


def test_notes_and_edits_of_one_answer_are_all_there(run_prompt: Run, world: Any) -> None:
    (world.project / "NOTES.md").write_text("# Notes\n")
    script = Script()
    for number in range(8):
        script.tool_call("append_note", text=f"note\n{number}")
        script.tool_call(
            "edit",
            path="./NOTES.md",
            edits=[{"old_text": "# ", "new_text": "# # "}]
            if not number
            else [{"old_text": f"{'# ' * (number + 1)}N", "new_text": f"{'# ' * (number + 2)}N"}],
        )
    ran = run_prompt("Note it", script=script.then().text("Done."), plugins=[PLUGINS / "append_note.py"])
    assert [result.content for result in ran.tool_results() if result.is_error] == []
    lines = (world.project / "NOTES.md").read_text().splitlines()
    assert lines[0] == "# " * 9 + "Notes"
    assert sorted(lines[1:]) == [f"- note {number}" for number in range(8)]


def test_a_note_makes_its_file(run_prompt: Run, world: Any) -> None:
    script = Script().tool_call("append_note", text="first").then().text("Done.")
    ran = run_prompt("Note it", script=script, plugins=[PLUGINS / "append_note.py"])
    assert result_text(ran) == "Noted."
    assert (world.project / "NOTES.md").read_text() == "- first\n"


# --- provider_echo ------------------------------------------------------------------------------------------------


def test_echo_says_it_back() -> None:
    plugin = str(PLUGINS / "provider_echo.py")
    done = zot("--plugin", plugin, "--provider", "echo", "-p", "Is anybody there?")
    assert (done.returncode, done.stdout) == (0, "Is anybody there?\n"), done.stderr


def test_echo_is_listed() -> None:
    done = zot("--plugin", str(PLUGINS / "provider_echo.py"), "--list-models")
    assert "parrot" in done.stdout


# --- offered ------------------------------------------------------------------------------------------------------


def test_offered_says_and_chooses(run_prompt: Run) -> None:
    plugins = [PLUGINS / "offered.py"]
    (note,) = run_prompt("/offered", plugins=plugins).notes
    assert note.text.startswith("The model is offered: bash, ") and ", read, " in note.text
    (note,) = run_prompt("/offered read, grep", plugins=plugins).notes
    assert note.text == "The model is offered: grep, read"


def test_offered_refuses_what_is_no_tool() -> None:
    done = zot("--plugin", str(PLUGINS / "offered.py"), "--provider", "scripted", "-p", "/offered read,grip")
    assert done.returncode != 0 and "grip" in done.stderr and "grep" in done.stderr


# --- tool_log -----------------------------------------------------------------------------------------------------


def test_tool_log_writes_what_was_asked_and_what_came(run_prompt: Run, world: Any) -> None:
    script = Script().tool_call("bash", command="rm -rf build").tool_call("ls", path=".").then().text("Done.")
    ran = run_prompt("Go", script=script, plugins=[PLUGINS / "guard.py", PLUGINS / "tool_log.py"])
    assert ran.answer == "Done."
    rows = [json.loads(line) for line in (world.project / "tool-log.jsonl").read_text().splitlines()]
    assert [row for row in rows if "asked" in row] == [
        {"asked": "bash", "args": {"command": "rm -rf build"}},
        {"asked": "ls", "args": {"path": "."}},
    ]
    ended = {row["ended"]: row["ok"] for row in rows if "ended" in row}
    assert ended == {"bash": False, "ls": True}


# --- a test of an author's own, and files of the home ---------------------------------------------------------------


def test_the_authors_test_of_the_guard_passes() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "zot_core.testing.plugin"]
    done = subprocess.run(
        [*command, "--rootdir", str(PLUGINS), "-c", "/dev/null", str(PLUGINS / "test_guard.py")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout + done.stderr


def test_files_of_the_home_are_understood(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in (PLUGINS.parent / "home").iterdir():
        (world.home / file.name).write_text(file.read_text())
        (world.home / file.name).chmod(0o600)
    monkeypatch.setenv("ACME_API_KEY", "key")
    done = zot("doctor", "--json")
    report = json.loads(done.stdout)
    assert report["problems"] == [] and done.returncode == 0
    assert report["model"]["provider"] == "acme" and report["model"]["model"] == "acme-large"
    assert report["model"]["credential"].endswith("($ACME_API_KEY)")
    models = zot("--list-models").stdout
    assert "acme-large" in models and "small" in models


# --- zot-greet, the package -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `pip install` put the package into."""
    pytest.importorskip("hatchling", reason="building the package needs hatchling")
    target = tmp_path_factory.mktemp("installed")
    source = PLUGINS / "zot-greet"
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*command, "--target", str(target), str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return target


def test_installed_package_is_found_by_its_entry_point(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(installed))
    listed = zot("plugins")
    assert "greet" in listed.stdout and "zot-greet" in listed.stdout, listed.stderr
    done = zot("--provider", "scripted", "--greeting", "Salut", "-p", "/greet Ada")
    assert done.returncode == 0 and "Salut, Ada!" in done.stdout + done.stderr


def test_no_plugins_leaves_it_out(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(installed))
    assert "greet" not in zot("plugins", "--no-plugins").stdout


def test_the_packages_own_tests_pass(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(installed))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(PLUGINS / "zot-greet" / "tests")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=PLUGINS / "zot-greet")
    assert done.returncode == 0, done.stdout + done.stderr


# --- two_speeds ---------------------------------------------------------------------------------------------------


def test_two_speeds_routes_and_takes_the_large_one_when_the_small_one_fails(run_prompt: Run, world: Any) -> None:
    section = {"plugins": {"two_speeds": {"small": "nobody/small", "large": "scripted/scripted"}}}
    (world.home / "settings.json").write_text(json.dumps(section), encoding="utf-8")
    ran = run_prompt(
        "Hi",
        script=Script().text("From the large one."),
        plugins=[PLUGINS / "two_speeds.py"],
        provider="",
        model="speeds/auto",
    )
    assert ran.answer == "From the large one."
    assert ran.messages[-1].provider == "scripted"  # type: ignore[union-attr]


def test_two_speeds_ends_with_the_failure_of_the_last(run_prompt: Run, world: Any) -> None:
    section = {"plugins": {"two_speeds": {"small": "nobody/small", "large": "nobody/large"}}}
    (world.home / "settings.json").write_text(json.dumps(section), encoding="utf-8")
    end = run_prompt("Hi", plugins=[PLUGINS / "two_speeds.py"], provider="", model="speeds/auto").end
    assert end is not None and end.failure is not None and "nobody/large" in end.failure.message
