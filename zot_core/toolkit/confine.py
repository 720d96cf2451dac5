"""Keeps a command to what the filesystem policies leave open: by bubblewrap, else by Landlock, else not at all.

A policy is asked by tools, file by file; a command asks nobody, so the folders that the policies name are enforced by
the system around the whole command. Knows no policy by name.
"""

# What is asked here is what the system says of real paths, in a hurry before a spawn.
# ruff: noqa: PTH110, PTH112, PTH114, PTH118

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from zot_core.toolkit import landlock
from zot_core.toolkit.command import Gated
from zot_core.toolkit.errors import ToolError, shown
from zot_core.toolkit.paths import real_path
from zot_core.toolkit.spool import scratch_folder
from zot_core.types.specs import FilesystemPolicy

SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix",
    "/gnu",
    "/run/current-system",
    "/run/systemd/resolve",
)
"""What a confined command may read of the system: programs, libraries, configuration; no home, no /var, no sockets."""
_DEVICES = ("null", "zero", "full", "random", "urandom", "ptmx", "pts")
_PROBE_S = 5.0


@dataclass(frozen=True, slots=True)
class Confinement:
    """What the policies ask of commands. `roots` None means everywhere; `denied` and `readonly` hold inside of roots.

    `links` are among the paths to be left unchanged: nothing keeps a link from being replaced.
    """

    roots: tuple[str, ...] | None
    readable: tuple[str, ...]
    denied: tuple[str, ...]
    by: str
    readonly: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    network: bool = True

    @property
    def writable(self) -> tuple[str, ...]:
        """The roots and the folder for temporary files."""
        return (*(self.roots or ()), str(scratch_folder()))


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What this machine has: `bwrap` is the program's path or empty, `landlock` whether it can be used.

    `seclude` is whether programs can have mounts and a network of their own without bubblewrap, `tcp` whether Landlock
    can close TCP; both count only without bubblewrap.
    """

    bwrap: str
    landlock: bool
    why: str = ""
    seclude: bool = False
    tcp: bool = False


def demands(policies: Iterable[FilesystemPolicy]) -> Confinement | None:
    """What the policies ask of commands together, or None. Roots of several policies: only what all of them allow."""
    asking = [policy for policy in policies if policy.roots or _closes(policy)]
    if not asking:
        return None
    roots: tuple[str, ...] | None = None
    readable: tuple[str, ...] = ()
    for policy in asking:
        if policy.roots:
            theirs = tuple(map(real_path, policy.roots))
            roots = theirs if roots is None else _both(roots, theirs)
            readable += tuple(map(real_path, policy.readable_roots))
    denied = tuple(dict.fromkeys(real_path(root) for policy in asking for root in policy.denied_roots))
    unchanged = tuple(dict.fromkeys(root for policy in asking for root in policy.readonly_roots))
    return Confinement(
        roots,
        readable,
        denied,
        ", ".join(policy.name for policy in asking),
        tuple(dict.fromkeys(map(real_path, unchanged))),
        tuple(root for root in unchanged if os.path.islink(root)),
        all(policy.network for policy in asking),
    )


def _closes(policy: FilesystemPolicy) -> bool:
    return bool(policy.denied_roots or policy.readonly_roots or not policy.network)


async def confined(ctx: Any, allowed: Gated) -> tuple[tuple[str, ...], str, Gated]:
    """The program that confines the command with its arguments, what to say in the result, and the command as it runs.

    Raises ToolError when the command cannot be kept inside the policies' roots, or its folder is outside of them.
    """
    wanted = demands(getattr(ctx, "policies", ()))
    if wanted is None:
        return (), "", allowed
    cwd = real_path(allowed.cwd)
    _check_folder(wanted, cwd)
    has = await sandbox()
    env = allowed.env
    if wanted.roots is not None:
        temporary = os.path.join(str(scratch_folder()), "tmp")
        os.makedirs(temporary, mode=0o700, exist_ok=True)  # noqa: PTH103
        env = {**env, "TMPDIR": temporary}
    allowed = Gated(allowed.command, cwd, env, _why_closed(wanted))
    kept = [path for path in wanted.readonly if _stands(path, wanted)]
    if has.bwrap:
        return tuple(_bubblewrap(has.bwrap, wanted, cwd, kept)), _not_unchanged(wanted.links), allowed
    rules, notice = _without_mounts(has, wanted, kept)
    if wanted.roots is None:
        return _without_bubblewrap(has, wanted, allowed, rules, notice)
    if not has.landlock:
        raise _refusal(f"keeps them inside {_listed(wanted.roots)}", has, wanted)
    inside = [root for root in wanted.denied if any(_within(root, open_) for open_ in wanted.writable)]
    # Programs take a home that they may not look into for an error, one without their files for a new one.
    allowed = allowed._replace(env={**allowed.env, "HOME": allowed.env["TMPDIR"]})
    rules |= {"read": _readable(wanted), "write": _writable(wanted)}
    return _landlocked(rules), _joined(_not_kept(inside), notice), allowed


def _refusal(what: str, has: Sandbox, wanted: Confinement) -> ToolError:
    return ToolError(
        f"Commands are refused: the policy {wanted.by} {what}, and nothing here can enforce that: {has.why}. "
        "Install bubblewrap (the program bwrap), or use the file tools."
    )


def _why_closed(wanted: Confinement) -> str:
    if wanted.roots is None and wanted.network:
        return ""
    places = "" if wanted.roots is None else f" reach only {_listed(wanted.roots)}, $TMPDIR and the system's folders"
    network = "" if wanted.network else f"{' and' if places else ''} have no network"
    return f"[Policy {wanted.by}: commands{places}{network}; all else looks missing or closed to them.]"


def _held(wanted: Confinement, kept: Iterable[str]) -> list[str]:
    """The folders to mount as writable. What is mounted cannot be renamed, so all around what is left unchanged are.

    Outer ones first: a later one would hide an inner one.
    """
    around: set[str] = set(wanted.writable)
    for path in kept:
        while (path := os.path.dirname(path)) != "/":  # noqa: PTH120
            around |= {path} if any(_within(path, root) for root in wanted.writable) else set()
    return sorted(around, key=len)


def _stands(path: str, wanted: Confinement) -> bool:
    """Whether there is anything to be left unchanged. A missing folder is made, else a command could make it."""
    if wanted.roots is not None and not any(_within(path, root) for root in wanted.writable):
        return False  # it is closed anyway
    if not os.path.lexists(path) and not os.path.basename(path).endswith(".json"):  # noqa: PTH119
        with contextlib.suppress(OSError):  # nor can a command then
            os.mkdir(path)  # noqa: PTH102
    return os.path.exists(path)


def _without_mounts(has: Sandbox, wanted: Confinement, kept: list[str]) -> tuple[dict[str, Any], str]:
    """Rules for the script, where there is no bubblewrap: for what is left unchanged and the network; what to say.

    Raises ToolError where the network cannot be closed.
    """
    if not kept and wanted.network:
        return {}, _not_unchanged(wanted.links)
    if has.seclude and has.landlock:
        return {"seclude": {"held": _held(wanted, kept), "readonly": kept, "network": wanted.network}}, _not_unchanged(
            wanted.links
        )
    notices = [_not_unchanged([*kept, *wanted.links], has.why)]
    if not wanted.network:
        if not has.tcp:
            raise _refusal("closes the network to them", has, wanted)
        notices.append(
            f"[Commands have no TCP (policy {wanted.by}); UDP and local sockets stay open to them here ({has.why}). "
            "Leave them alone.]"
        )
    return {} if wanted.network else {"tcp": False}, _joined(*notices)


async def searching(policies: Iterable[FilesystemPolicy], folder: str, programs: Sequence[str]) -> tuple[str, ...]:
    """What to put before a search of ours in `folder`, a real path, that runs one of `programs` (with their libraries).

    It gets names that were judged and opens them later, when a folder among them may have become a link. So it sees
    no more than a command would, and changes nothing. Empty where nothing asks for it or can do it.
    """
    wanted = demands(policies)
    if wanted is None:
        return ()
    has = await sandbox()
    needed = (*map(real_path, programs), *programs)
    if not any(_within(folder, root) for root in (*wanted.writable, *wanted.readable)):
        needed += (folder,)  # it was judged: a policy may allow more than its roots
    if has.bwrap:
        return tuple(_bubblewrap_to_read(has.bwrap, wanted, folder, needed))
    if not has.landlock:
        return ()
    if wanted.roots is None:
        outside = _outside(wanted, (folder,))
        return _landlocked({"denied": outside}) if outside else ()
    return _landlocked({"read": [*_readable(wanted), *wanted.writable, *needed], "write": ["/dev/null"]})


async def sandbox() -> Sandbox:
    """What can confine commands here; tried once in a process."""
    if not _found:
        bwrap = shutil.which("bwrap") or ""
        problem = await _bubblewrap_problem(bwrap) if bwrap else "bubblewrap is not installed"
        version = landlock.abi()
        usable = version >= landlock.NEEDED_ABI
        secludes = bool(problem) and usable and await _can_seclude()
        more = "" if usable else f"; Landlock is {'too old' if version else 'missing'}"
        why = f"{problem}{more}" if problem else ""
        _found[:] = [Sandbox("" if problem else bwrap, usable, why, secludes, version >= landlock.TCP_ABI)]
    return _found[0]


_found: list[Sandbox] = []


async def _bubblewrap_problem(bwrap: str) -> str:
    """Why bubblewrap cannot be used, empty if it can: many machines have it and forbid what it needs."""
    argv = [bwrap, "--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "--cap-drop", "ALL", "true"]
    return await _problem("bubblewrap", argv)


async def _can_seclude() -> bool:
    """Whether this system lets a program have mounts and a network of its own."""
    rules = {"seclude": {"held": [], "readonly": [str(scratch_folder())], "network": False}}
    return not await _problem("", [*_landlocked(rules), "true"])


async def _problem(name: str, argv: Sequence[str]) -> str:
    """Why a trial fails; empty if it does not."""
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        return f"{name} cannot be started: {error.strerror}"
    try:
        async with asyncio.timeout(_PROBE_S):
            _, said = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return f"{name} does not answer"
    words = said.decode(errors="replace").strip().rpartition("\n")[2]
    return f"{name} does not work here ({words})" if process.returncode else ""


def _bubblewrap(bwrap: str, wanted: Confinement, cwd: str, kept: Iterable[str]) -> list[str]:
    argv = [bwrap, "--unshare-pid", "--cap-drop", "ALL", *([] if wanted.network else ["--unshare-net"])]
    if wanted.roots is None:
        argv += ["--dev-bind", "/", "/"]
    else:
        argv += ["--dir", os.path.expanduser("~")]  # noqa: PTH111 - an empty home that is gone after the command
        for path in SYSTEM:
            argv += ["--ro-bind-try", path, path]
        scratch = str(scratch_folder())
        argv += ["--dev", "/dev", "--bind", os.path.join(scratch, "tmp"), "/tmp"]
        for path in wanted.readable:
            argv += ["--ro-bind-try", path, path]
        for path in _held(wanted, kept):
            argv += ["--bind-try", path, path]
    for path in kept:
        argv += ["--ro-bind-try", path, path]
    return [*argv, "--proc", "/proc", *_closed(wanted.denied), "--chdir", cwd, "--"]


def _bubblewrap_to_read(bwrap: str, wanted: Confinement, cwd: str, needed: Iterable[str]) -> list[str]:
    opened = ("/",) if wanted.roots is None else (*SYSTEM, *needed, *wanted.readable, *wanted.writable)
    argv = [bwrap, "--unshare-pid", "--cap-drop", "ALL"]
    # Inside of a folder that is bound there is no place for a second binding, and no need.
    for path in [one for one in opened if not any(one != other and _within(one, other) for other in opened)]:
        argv += ["--ro-bind-try", path, path]
    return [*argv, "--dev", "/dev", "--proc", "/proc", *_closed(wanted.denied), "--chdir", cwd, "--"]


def _closed(denied: Iterable[str]) -> list[str]:
    argv: list[str] = []
    for path in denied:
        if os.path.isdir(path):
            argv += ["--tmpfs", path, "--remount-ro", path]
        elif os.path.exists(path):
            argv += ["--ro-bind", "/dev/null", path]
    return argv


def _without_bubblewrap(
    has: Sandbox, wanted: Confinement, allowed: Gated, rules: dict[str, Any], notice: str
) -> tuple[tuple[str, ...], str, Gated]:
    """No roots. Landlock opens what is beside denied ones, so none may lie where the command makes new files."""
    if not has.landlock:
        return (), _joined(_not_kept(wanted.denied, has.why), notice), allowed
    work = (allowed.cwd, real_path(str(scratch_folder())))
    inside = [root for root in wanted.denied if any(_within(root, folder) for folder in work)]
    if outside := _outside(wanted, work):
        rules |= {"write": list(work), "denied": outside}
    return _landlocked(rules) if rules else (), _joined(_not_kept(inside, has.why), notice), allowed


def _outside(wanted: Confinement, work: Iterable[str]) -> list[str]:
    """The denied roots that exist and lie in none of these folders."""
    apart = [root for root in wanted.denied if not any(_within(root, folder) for folder in work)]
    return [root for root in apart if os.path.exists(root)]


def _landlocked(rules: dict[str, Any]) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", landlock.__file__, json.dumps(rules))


def _readable(wanted: Confinement) -> list[str]:
    return [*SYSTEM, "/proc", *wanted.readable]


def _writable(wanted: Confinement) -> list[str]:
    return [*wanted.writable, *(f"/dev/{name}" for name in _DEVICES)]


def _check_folder(wanted: Confinement, cwd: str) -> None:
    if wanted.roots is not None and not any(_within(cwd, root) for root in wanted.writable):
        raise ToolError(f"The folder {shown(cwd)} is outside of {_listed(wanted.roots)} (policy {wanted.by})")
    for root in wanted.denied:
        if _within(cwd, root):
            raise ToolError(f"The folder {shown(cwd)} is inside of {shown(root)}, which is closed (policy {wanted.by})")


def _not_kept(roots: Iterable[str], why: str = "") -> str:
    names = _listed(roots)
    if not names:
        return ""
    reason = f" ({why})" if why else ""
    return f"[A policy closes {names}, but nothing here keeps commands out of it{reason}. Leave it alone.]"


def _not_unchanged(roots: Iterable[str], why: str = "") -> str:
    names = _listed(roots)
    if not names:
        return ""
    reason = f" ({why})" if why else ""
    return f"[A policy wants {names} unchanged, but nothing here keeps commands from it{reason}. Leave it alone.]"


def _joined(*notices: str) -> str:
    return "\n".join(filter(None, notices))


def _listed(paths: Iterable[str]) -> str:
    return ", ".join(shown(path) for path in paths)


def _within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _both(some: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    inner = [path for path in some if any(_within(path, other) for other in others)]
    return tuple(dict.fromkeys(inner + [path for path in others if any(_within(path, one) for one in some)]))
