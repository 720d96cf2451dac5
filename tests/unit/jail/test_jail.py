"""`--jail`: tools and commands stay inside the project and the temporary files, whatever leads out of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import sandboxes
from support.tool_context import names

from zot_core.testing import RecordingFrontEnd, Script
from zot_core.types.content import text_of

Run = Callable[..., RecordingFrontEnd]


class Jailed:
    """Calls tools in a jailed session, all in one reply; gives their results' texts and whether each failed."""

    def __init__(self, run_prompt: Run, world: Any) -> None:
        self._run = run_prompt
        self.project: Path = world.project
        self.home: Path = world.home
        self.outside = world.project.parent / "outside"
        self.outside.mkdir()
        (self.outside / "secret.txt").write_text("secret\n")
        (self.project / "a.txt").write_text("mine\n")

    def calls(self, *calls: tuple[str, dict[str, Any]], **how: Any) -> list[tuple[str, bool]]:
        script = Script()
        for tool, args in calls:
            script = script.call(tool, args).then()
        front = self._run("go", script=script.text("done"), **{"flags": {"jail": True}, **how})
        return [(text_of(result.content), result.is_error) for result in front.tool_results()]

    def call(self, tool: str, **args: Any) -> tuple[str, bool]:
        (result,) = self.calls((tool, args))
        return result

    def bash(self, command: str, **more: Any) -> tuple[str, bool]:
        return self.call("bash", command=command, **more)

    def settings(self, **section: Any) -> None:
        import json

        (self.home / "settings.json").write_text(json.dumps({"plugins": {"jail": section}}))


@pytest.fixture
def jailed(run_prompt: Run, world: Any, monkeypatch: pytest.MonkeyPatch) -> Jailed:
    monkeypatch.setenv("SHELL", "/bin/bash")
    return Jailed(run_prompt, world)


# --- files ----------------------------------------------------------------------------------------------------------


def test_the_project_is_open(jailed: Jailed) -> None:
    results = jailed.calls(
        ("read", {"path": "a.txt"}),
        ("write", {"path": "deep/b.txt", "content": "new\n"}),
        ("edit", {"path": "a.txt", "edits": [{"old_text": "mine", "new_text": "ours"}]}),
    )
    assert not any(failed for _, failed in results), results
    assert (jailed.project / "deep/b.txt").read_text() == "new\n"
    assert (jailed.project / "a.txt").read_text() == "ours\n"


@pytest.mark.parametrize("path", ["../outside/secret.txt", "{outside}/secret.txt", "link", "folder/secret.txt"])
def test_nothing_outside_is_read_or_written(jailed: Jailed, path: str) -> None:
    (jailed.project / "link").symlink_to(jailed.outside / "secret.txt")
    (jailed.project / "folder").symlink_to(jailed.outside)
    path = path.format(outside=jailed.outside)
    results = jailed.calls(
        ("read", {"path": path}),
        ("write", {"path": path, "content": "broken"}),
        ("edit", {"path": path, "edits": [{"old_text": "secret", "new_text": "x"}]}),
    )
    for text, failed in results:
        assert failed
        assert "outside of the project" in text and "(policy jail)" in text
        assert "secret\n" not in text
    assert (jailed.outside / "secret.txt").read_text() == "secret\n"


@pytest.mark.parametrize("path", ["../outside/new.txt", "../outside/a/b/new.txt", "folder/new.txt", "dangling"])
def test_no_new_file_appears_outside(jailed: Jailed, path: str) -> None:
    (jailed.project / "folder").symlink_to(jailed.outside)
    (jailed.project / "dangling").symlink_to(jailed.outside / "new.txt")
    text, failed = jailed.call("write", path=path, content="x")
    assert failed and "outside of the project" in text
    assert names(jailed.outside.iterdir()) == ["secret.txt"]


def test_a_sibling_with_the_same_beginning_is_outside(jailed: Jailed) -> None:
    sibling = jailed.project.with_name(jailed.project.name + "-more")
    sibling.mkdir()
    assert jailed.call("write", path=str(sibling / "x"), content="x")[1]


def test_names_outside_are_not_told(jailed: Jailed) -> None:
    text, failed = jailed.call("read", path="../outside/secrets.txt")
    assert failed and "secret.txt" not in text


def test_without_the_flag_there_is_no_jail(jailed: Jailed) -> None:
    (result,) = jailed.calls(("read", {"path": "../outside/secret.txt"}), flags={})
    assert result == ("secret\n", False) or "secret" in result[0]


def test_settings_are_the_same_as_the_flag(jailed: Jailed) -> None:
    jailed.settings(enabled=True)
    ((text, failed),) = jailed.calls(("read", {"path": "../outside/secret.txt"}), flags={})
    assert failed and "(policy jail)" in text


def test_settings_open_more(jailed: Jailed) -> None:
    jailed.settings(read=[str(jailed.outside)])
    (read, write) = jailed.calls(
        ("read", {"path": "../outside/secret.txt"}), ("write", {"path": "../outside/x", "content": "x"})
    )
    assert "secret" in read[0] and not read[1]
    assert write[1]
    jailed.settings(write=["../outside"])
    assert not jailed.call("write", path="../outside/x", content="x")[1]


def test_broken_settings_open_nothing(jailed: Jailed) -> None:
    jailed.settings(read="/", write=[7, ""])
    assert jailed.call("read", path="../outside/secret.txt")[1]


# --- commands -------------------------------------------------------------------------------------------------------

KINDS = [pytest.param("bwrap", marks=pytest.mark.needs("bwrap")), "landlock"]


@pytest.mark.parametrize("kind", KINDS)
def test_commands_work_inside(jailed: Jailed, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sandboxes.only(monkeypatch, kind)
    text, failed = jailed.bash(
        "set -e; cat a.txt; mkdir -p x; echo new > x/y; mv x/y z; rmdir x; pwd; echo hi | tr h H >&2; "
        "f=$(mktemp); echo temporary > $f; cat $f; echo dropped > /dev/null; ls /usr/bin/env; date > /dev/stdout"
    )
    assert not failed, text
    assert text.startswith(f"mine\n{jailed.project}\nHi\ntemporary\n/usr/bin/env\n")
    assert (jailed.project / "z").read_text() == "new\n"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "command",
    [
        "cat {outside}/secret.txt",
        "ls {outside}",
        "echo broken > {outside}/secret.txt",
        "echo x > {outside}/new",
        "mkdir {outside}/new",
        "ln -s {outside} out && cat out/secret.txt",
        "ln {outside}/secret.txt hard && cat hard",
        "mv a.txt {outside}/a.txt",
        "rm -f {outside}/secret.txt; [ ! -e {outside}/secret.txt ] && ls {outside} && false",
        "truncate -s 0 {outside}/secret.txt",
        "cat /proc/{pid}/root{outside}/secret.txt",
        "cat /proc/1/root{outside}/secret.txt",
        "cd {outside} && cat secret.txt",
        "echo x > ~/new && ls {user}/new && false",
        "cat {home}/settings.json",
        "umount {outside}; mount -t tmpfs none /mnt && false",
        "(setsid sh -c 'cat {outside}/secret.txt > leak' &); sleep 0.3; cat leak",
    ],
)
def test_commands_do_not_get_out(jailed: Jailed, kind: str, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sandboxes.only(monkeypatch, kind)
    jailed.settings()
    before = names(Path.home().iterdir())
    text, _ = jailed.bash(
        command.format(outside=jailed.outside, pid=os.getpid(), home=jailed.home, user=Path.home()) + " && echo out"
    )
    assert "secret\n" not in text and not text.startswith("secret")
    assert "\nout" not in f"\n{text}" or command.startswith("(setsid")
    assert (jailed.outside / "secret.txt").read_text() == "secret\n"
    assert names(jailed.outside.iterdir()) == ["secret.txt"]
    assert names(Path.home().iterdir()) == before


@pytest.mark.needs("git")
@pytest.mark.parametrize("kind", KINDS)
def test_git_works_inside(jailed: Jailed, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sandboxes.only(monkeypatch, kind)
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    text, failed = jailed.bash(
        "git init -q . && git config user.email a@b && git config user.name n && git add -A && git commit -qm one && "
        "git log --oneline | wc -l"
    )
    assert (text.strip(), failed) == ("1", False)


@pytest.mark.parametrize("kind", KINDS)
def test_temporary_files_last_and_tools_see_them(jailed: Jailed, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sandboxes.only(monkeypatch, kind)
    first, second = jailed.calls(
        ("bash", {"command": "seq 5000; echo $TMPDIR; echo kept > $TMPDIR/k"}),
        ("bash", {"command": "cat $TMPDIR/k"}),
    )
    assert second == ("kept\n", False) or second[0].startswith("kept")
    log = first[0].partition("All of it: ")[2].partition("]")[0]
    assert log, first
    folder = first[0].partition("\n\n[Shown")[0].rpartition("\n")[2]
    assert Path(folder, "k").read_text() == "kept\n"
    (Path(folder) / "k").unlink()
    ((text, failed),) = jailed.calls(("read", {"path": log}))
    assert not failed and "1\n2\n3" in text


@pytest.mark.needs("bwrap")
def test_tmp_is_the_jails_own(jailed: Jailed, monkeypatch: pytest.MonkeyPatch) -> None:
    sandboxes.only(monkeypatch, "bwrap")
    mark = Path("/tmp") / f"zot-jail-test-{os.getpid()}"
    mark.write_text("not for you\n")
    try:
        one, two = jailed.calls(
            ("bash", {"command": f"cat {mark}; echo hi > /tmp/kept"}), ("bash", {"command": "cat /tmp/kept"})
        )
    finally:
        mark.unlink()
    assert "not for you" not in one[0]
    assert two[0].startswith("hi")
    assert not Path("/tmp/kept").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_jobs_are_jailed_too(jailed: Jailed, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sandboxes.only(monkeypatch, kind)
    text, _ = jailed.bash(f"cat {jailed.outside}/secret.txt a.txt", background=True)
    assert "mine" in text
    assert "secret\n" not in text


@pytest.mark.parametrize("kind", KINDS)
def test_time_outs_end_what_is_jailed(jailed: Jailed, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sandboxes.only(monkeypatch, kind)
    text, failed = jailed.bash("echo begun; sleep 300 & wait", timeout=0.7)
    assert failed and text.startswith("begun\n\n[Timed out after 0.7 s")


def test_where_nothing_can_confine_commands_are_refused(jailed: Jailed, monkeypatch: pytest.MonkeyPatch) -> None:
    sandboxes.only(monkeypatch, "nothing")
    text, failed = jailed.bash("touch made")
    assert failed
    assert text.startswith("Commands are refused: the policy jail keeps them inside ")
    assert "bubblewrap is not installed; Landlock is missing" in text
    assert not (jailed.project / "made").exists()


def test_a_hook_cannot_move_a_command_outside(jailed: Jailed, monkeypatch: pytest.MonkeyPatch) -> None:
    from zot_core import hookimpl

    class Mover:
        @hookimpl
        def shell_spawn(self, event: Any) -> Any:
            return event.replace(cwd=str(jailed.outside))

    ((text, failed),) = jailed.calls(("bash", {"command": "pwd"}), plugins=[Mover()])
    assert failed
    assert "is outside of" in text
