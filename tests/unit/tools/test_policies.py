"""Filesystem policies of plugins: asked on the real path right before the I/O, all of them, and commands where the
system can. What they deny stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support import sandboxes

from zot_core import hookimpl
from zot_core.testing import RecordingFrontEnd, Script
from zot_core.types.content import text_of
from zot_core.types.specs import FilesystemPolicy, FilesystemRequest

Call = Callable[..., tuple[str, bool]]
Check = Callable[[FilesystemRequest], str | None]


def policy(name: str, check: Check = lambda request: None, **more: Any) -> Any:
    """A plugin with one policy."""

    @hookimpl
    def filesystem_policies() -> FilesystemPolicy:
        return FilesystemPolicy(name=name, check=check, **more)

    return SimpleNamespace(__name__=name, filesystem_policies=filesystem_policies)


@pytest.fixture
def call(run_prompt: Callable[..., RecordingFrontEnd], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Calls a tool in a session with these plugins; its result's text and whether it failed."""
    monkeypatch.setenv("SHELL", "/bin/bash")

    def one(plugins: list[Any], tool: str, **args: Any) -> tuple[str, bool]:
        front = run_prompt("go", script=Script().call(tool, args).then().text("done"), plugins=plugins)
        (result,) = front.tool_results()
        return text_of(result.content), result.is_error

    return one


def write_to(path: str) -> dict[str, Any]:
    return {"path": path, "content": "new\n"}


@pytest.fixture
def project(world: Any) -> Path:
    folder: Path = world.project
    (folder / "open.txt").write_text("open\n")
    (folder / "closed").mkdir()
    (folder / "closed" / "key.txt").write_text("secret\n")
    return folder


def keep_out(request: FilesystemRequest) -> str | None:
    return "it is closed" if "/closed" in request.path else None


@pytest.mark.parametrize(
    ("tool", "args", "operation"),
    [
        ("read", {"path": "closed/key.txt"}, "read"),
        ("write", {"path": "closed/key.txt", "content": "x"}, "write"),
        ("write", {"path": "closed/new/x.txt", "content": "x"}, "write"),
        ("edit", {"path": "closed/key.txt", "edits": [{"old_text": "secret", "new_text": "x"}]}, "write"),
        ("ls", {"path": "closed"}, "enumerate"),
        ("find", {"pattern": "*", "path": "closed"}, "enumerate"),
        ("grep", {"pattern": "secret", "path": "closed"}, "enumerate"),
    ],
)
def test_a_denial_is_an_error_with_the_reason(
    call: Call, project: Path, tool: str, args: dict[str, Any], operation: str
) -> None:
    asked: list[FilesystemRequest] = []

    def check(request: FilesystemRequest) -> str | None:
        asked.append(request)
        return keep_out(request)

    text, failed = call([policy("guard", check)], tool, **args)
    assert failed
    assert "it is closed (policy guard)" in text
    assert "secret" not in text.replace("secret.txt", "") or tool == "edit"
    assert (project / "closed/key.txt").read_text() == "secret\n"
    assert not (project / "closed/new").exists()
    assert (asked[-1].operation, asked[-1].tool_name) == (operation, tool)
    assert Path(asked[-1].path).is_absolute()


def test_what_is_not_denied_works(call: Call, project: Path) -> None:
    assert call([policy("guard", keep_out)], "read", path="open.txt") == ("open", False)
    assert not call([policy("guard", keep_out)], "write", **write_to("fresh/a.txt"))[1]


def test_reading_may_be_open_where_writing_is_not(call: Call, project: Path) -> None:
    guard = policy("guard", lambda request: "read only" if request.operation == "write" else None)
    assert call([guard], "read", path="open.txt") == ("open", False)
    assert call([guard], "write", **write_to("open.txt"))[1]
    assert (project / "open.txt").read_text() == "open\n"


def test_links_are_judged_by_where_they_lead(call: Call, project: Path) -> None:
    (project / "door").symlink_to("closed/key.txt")
    (project / "hall").symlink_to("closed")
    guard = [policy("guard", keep_out)]
    for path in ("door", "hall/key.txt", "hall/../closed/key.txt", str(project / "hall" / "key.txt")):
        assert call(guard, "read", path=path)[1]
        assert call(guard, "write", **write_to(path))[1]
    assert (project / "closed/key.txt").read_text() == "secret\n"


def test_a_missing_target_is_judged_through_its_nearest_folder(call: Call, project: Path) -> None:
    (project / "hall").symlink_to("closed")
    asked: list[str] = []

    def check(request: FilesystemRequest) -> str | None:
        asked.append(request.path)
        return keep_out(request)

    text, failed = call([policy("guard", check)], "write", **write_to("hall/deep/er/new.txt"))
    assert failed and "it is closed" in text
    assert asked[-1] == str(project / "closed/deep/er/new.txt")
    assert not (project / "closed/deep").exists()


def test_a_policy_that_raises_denies(call: Call, project: Path) -> None:
    def broken(request: FilesystemRequest) -> str | None:
        raise ValueError("oh no")

    text, failed = call([policy("broken", broken)], "read", path="open.txt")
    assert failed
    assert "the policy failed: ValueError: oh no (policy broken)" in text


def test_all_are_asked_in_order_and_the_first_denial_wins(call: Call, project: Path) -> None:
    asked: list[str] = []

    def saying(name: str, reason: str | None) -> Any:
        def check(request: FilesystemRequest) -> str | None:
            asked.append(name)
            return reason

        return policy(name, check)

    plugins = [saying("one", None), saying("two", "the second says no"), saying("three", "the third says no")]
    text, failed = call(plugins, "read", path="open.txt")
    assert failed and "the second says no (policy two)" in text
    assert asked == ["one", "two"]


# --- between the check and the I/O ----------------------------------------------------------------------------------


def swapping(what: Path, to: Path) -> Any:
    """A policy that lets `what` become a link to `to` right after it was judged, as a racing process might."""
    done: list[bool] = []

    def check(request: FilesystemRequest) -> str | None:
        if keep_out(request):
            return "it is closed"
        if str(what) in request.path and not done:
            done.append(True)
            what.rename(what.with_name("moved"))
            what.symlink_to(to)
        return None

    return policy("racer", check)


@pytest.mark.parametrize("tool", ["read", "write", "edit"])
def test_a_file_that_becomes_a_link_leads_nowhere(call: Call, project: Path, tool: str) -> None:
    args = {
        "read": {"path": "open.txt"},
        "write": write_to("open.txt"),
        "edit": {"path": "open.txt", "edits": [{"old_text": "open", "new_text": "new"}]},
    }[tool]
    text, _ = call([swapping(project / "open.txt", project / "closed/key.txt")], tool, **args)
    assert "secret" not in text
    assert (project / "closed/key.txt").read_text() == "secret\n"


@pytest.mark.parametrize("tool", ["read", "write"])
def test_a_folder_that_becomes_a_link_leads_nowhere(call: Call, project: Path, tool: str) -> None:
    (project / "hall").mkdir()
    (project / "hall" / "key.txt").write_text("harmless\n")
    args = {"path": "hall/key.txt"} if tool == "read" else write_to("hall/key.txt")
    text, failed = call([swapping(project / "hall", project / "closed")], tool, **args)
    assert "secret" not in text
    assert (project / "closed/key.txt").read_text() == "secret\n"
    assert failed


# --- commands -------------------------------------------------------------------------------------------------------

KINDS = [pytest.param("bwrap", marks=pytest.mark.needs("bwrap")), "landlock"]


@pytest.mark.parametrize("kind", KINDS)
def test_denied_roots_are_closed_to_commands(
    call: Call, project: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandboxes.only(monkeypatch, kind)
    vault = project.parent / "vault"
    vault.mkdir()
    (vault / "key.txt").write_text("secret\n")
    (project / "link").symlink_to(vault)
    guard = policy("guard", denied_roots=(str(project / "link"), str(project.parent / "missing")))
    text, failed = call(
        [guard],
        "bash",
        command=f"cat open.txt; cat {vault}/key.txt link/key.txt; echo x > {vault}/key.txt; echo new > made",
    )
    assert text.startswith("open\n")
    assert "secret" not in text
    assert (vault / "key.txt").read_text() == "secret\n"
    assert (project / "made").read_text() == "new\n"
    assert not (project.parent / "missing").exists()
    assert not failed


@pytest.mark.needs("bwrap")
def test_denied_files_and_folders_of_the_project_are_closed(
    call: Call, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandboxes.only(monkeypatch, "bwrap")
    guard = policy("guard", denied_roots=(str(project / "closed"), str(project / "open.txt")))
    text, _ = call(
        [guard],
        "bash",
        command="cat closed/key.txt open.txt; ls closed | wc -l; touch closed/x && echo in; cd closed/..",
    )
    assert "secret" not in text and "open\n" not in text and "\nin" not in text
    assert (project / "open.txt").read_text() == "open\n"


def test_where_landlock_cannot_close_a_root_that_is_said(
    call: Call, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandboxes.only(monkeypatch, "landlock")
    text, failed = call([policy("guard", denied_roots=(str(project / "closed"),))], "bash", command="echo ran")
    assert not failed
    assert text.startswith("ran\n\n[A policy closes ") and "nothing here keeps commands out of it" in text


def test_where_nothing_can_close_a_root_that_is_said(
    call: Call, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandboxes.only(monkeypatch, "nothing")
    text, failed = call([policy("guard", denied_roots=(str(project / "closed"),))], "bash", command="echo ran")
    assert not failed
    assert f"[A policy closes {project}/closed, but nothing here keeps commands out of it (bubblewrap is not " in text


@pytest.mark.needs("bwrap")
def test_the_rules_of_background_children_hold_in_a_sandbox(
    call: Call, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandboxes.only(monkeypatch, "bwrap")
    guard = policy("guard", denied_roots=(str(project / "closed"),))
    text, _ = call([guard], "bash", command="sleep 300 & echo hi")
    assert text.startswith("hi\n\n[Still running in the background: its children. It ends with zot;")
    assert call([guard], "bash", command="kill -TERM $$")[0] == "[Exit code 143]"


def test_a_command_in_a_closed_folder_is_refused(call: Call, project: Path) -> None:
    text, failed = call([policy("guard", denied_roots=(str(project.parent),))], "bash", command="true")
    assert failed and "is inside of" in text


# --- the hook shell_spawn -------------------------------------------------------------------------------------------


def spawning(handler: Callable[[Any], Any]) -> Any:
    """A plugin with this handler of `shell_spawn`."""

    @hookimpl
    def shell_spawn(event: Any) -> Any:
        return handler(event)

    return SimpleNamespace(__name__="spawning", shell_spawn=shell_spawn)


def test_a_plugin_rewrites_command_environment_and_folder(call: Call, project: Path) -> None:
    rewrite = spawning(
        lambda event: event.replace(
            command=f"echo before; {event.command}",
            cwd=str(project / "closed"),
            env={**event.env, "MORE": "more"},
        )
    )
    text, failed = call([rewrite], "bash", command="ls; echo $MORE")
    assert (text.split(), failed) == (["before", "key.txt", "more"], False)


def test_rewrites_follow_one_another(call: Call, project: Path) -> None:
    def adding(word: str) -> Any:
        return spawning(lambda event: event.replace(command=f"{event.command} {word}"))

    assert call([adding("one"), adding("two")], "bash", command="echo zero")[0].strip() == "zero one two"


def test_a_block_gives_the_model_the_reason(call: Call, project: Path) -> None:
    from zot_core import Block

    guard = spawning(lambda event: Block("no network on Sundays") if "curl" in event.command else None)
    assert call([guard], "bash", command="curl x; touch made") == ("Blocked: no network on Sundays", True)
    assert not (project / "made").exists()
    assert call([guard], "bash", command="echo fine")[0].strip() == "fine"


def test_a_broken_handler_blocks(call: Call, project: Path) -> None:
    def broken(event: Any) -> Any:
        raise RuntimeError("oh no")

    text, failed = call([spawning(broken)], "bash", command="touch made")
    assert failed and text.startswith("Blocked: ")
    assert "spawning" in text or "oh no" in text
    assert not (project / "made").exists()


def test_the_hook_is_asked_for_background_commands_too(call: Call, project: Path) -> None:
    from zot_core import Block

    text, failed = call([spawning(lambda event: Block("not now"))], "bash", command="touch made", background=True)
    assert (text, failed) == ("Blocked: not now", True)
    assert not (project / "made").exists()


def test_what_the_hook_is_told(call: Call, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    seen: list[Any] = []
    call([spawning(seen.append)], "bash", command="true")
    (event,) = seen
    assert (event.command, event.cwd) == ("true", str(project))
    assert event.env["ZOT_AGENT"] == "1"
    assert "OPENAI_API_KEY" not in event.env
