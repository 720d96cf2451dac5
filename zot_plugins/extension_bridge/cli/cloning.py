"""A git repository into an empty folder: shallow, without hooks, prompts or submodules. Runs nothing of it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

from zot_core.types.failure import ZotError
from zot_plugins.extension_bridge.cli.sources import Repository

LIMIT_S = 600.0
"""Seconds that one step of git may take."""
_SAFE = (
    "core.hooksPath=/dev/null",
    "protocol.ext.allow=never",
    "core.fsmonitor=false",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "advice.detachedHead=false",
)
_OF_ANOTHER = re.compile(r"GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|NAMESPACE|PREFIX|ALTERNATE_.*)")
"""Variables that name another repository: zot may have been started by a hook of one."""
_COMMIT = re.compile("[0-9a-fA-F]{7,64}")


def clone(source: Repository, folder: Path) -> str:
    """Fills `folder` and returns the commit; its history is not kept, and submodules stay empty. Raises ZotError with
    what git said."""
    if shutil.which("git") is None:
        raise ZotError(f"git is not installed, and {source.shown} needs it; a folder can be installed without")
    env = _environment()
    _git(folder, source, env, "init", "-q", "--template=")
    try:
        _git(folder, source, env, "fetch", "-q", "--depth=1", "--no-tags", "--", source.url, source.ref or "HEAD")
        wanted = "FETCH_HEAD"
    except ZotError:
        if not _COMMIT.fullmatch(source.ref):
            raise
        # Not every server gives out a commit by its id, and none by the beginning of it.
        refs = ("+refs/heads/*:refs/heads/fetched/*", "+refs/tags/*:refs/tags/*")
        _git(folder, source, env, "fetch", "-q", "--", source.url, *refs)
        wanted = source.ref
    try:
        commit = _git(folder, source, env, "rev-parse", "-q", "--verify", "--end-of-options", f"{wanted}^{{commit}}")
    except ZotError as error:
        raise ZotError(f"{source.shown} cannot be cloned: there is no branch, tag or commit {source.ref}") from error
    _git(folder, source, env, "checkout", "-q", "--detach", commit)
    shutil.rmtree(folder / ".git")
    return commit


def _git(folder: Path, source: Repository, env: dict[str, str], *args: str) -> str:
    options = [part for value in _SAFE for part in ("-c", value)]
    process = subprocess.Popen(
        ["git", *options, "-C", str(folder), *args],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    except BaseException as error:
        _kill(process)
        if isinstance(error, subprocess.TimeoutExpired):
            raise ZotError(f"{source.shown}: git took longer than {LIMIT_S:g} s") from None
        raise
    if process.returncode:
        raise ZotError(f"{source.shown} cannot be cloned: {_said(err)}")
    return out.decode("utf-8", "replace").strip()


def _environment() -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if not _OF_ANOTHER.fullmatch(name)}
    env |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never"}
    env |= {"GCM_INTERACTIVE": "never", "GIT_LFS_SKIP_SMUDGE": "1", "LC_ALL": "C"}
    if not (env.get("GIT_SSH_COMMAND") or env.get("GIT_SSH") or _own_ssh(env)):
        env["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes"
    return env


def _own_ssh(env: dict[str, str]) -> bool:
    """Whether the person's configuration of git says which ssh it uses."""
    asked = ["git", "config", "--get", "core.sshCommand"]
    return subprocess.run(asked, stdin=subprocess.DEVNULL, capture_output=True, env=env).stdout.strip() != b""


def _said(err: bytes) -> str:
    lines = [line.strip() for line in err.decode("utf-8", "replace").splitlines() if line.strip()]
    told = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines[-1:]
    if told and told[0].startswith("fatal: Could not read from remote") and lines.index(told[0]):
        told = [lines[lines.index(told[0]) - 1]]  # what ssh said of it, or who has hung up
    text = "; ".join(line.removeprefix("fatal: ").removeprefix("error: ") for line in told) or "git says nothing"
    if "terminal prompts disabled" in text:
        text += "; it wants a password, and zot lets git ask for none: set up a credential helper, or use SSH"
    return re.sub(r"(?<=://)[^/\s]*@", "", text)


def _kill(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has just ended
    process.communicate()
