"""How an extension fares, and what it is told of zot, as data. The first is for `zot ext doctor` and for tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from zot_core.types.record import record

if TYPE_CHECKING:
    from zot_plugins.extension_bridge.remote import Remote


@record(kw_only=True)
class Host:
    """What `hello_ack` says of zot."""

    provider: str
    model: str
    cwd: str


@record(kw_only=True)
class Status:
    """How an extension fares. Times are in seconds from its start."""

    name: str
    folder: Path
    state: str
    """starting, ready, auto-ready, failed (it never was ready) or ended."""
    pid: int | None
    version: str
    hello_s: float | None
    ready_s: float | None
    commands: tuple[str, ...]
    tools: tuple[str, ...]
    events: tuple[str, ...]
    intercepts: tuple[str, ...]
    conflicts: tuple[str, ...]
    warnings: tuple[str, ...]
    log: Path
    error: str


def host_of(ctx: Any) -> Host:
    """What a session says of zot."""
    model = ctx.models.current
    return Host(provider=model.provider if model else "", model=model.id if model else "", cwd=str(ctx.cwd))


def status_of(remote: Remote) -> Status:
    """How it fares now."""
    shake, known = remote.handshake, remote.registrations
    return Status(
        name=remote.name,
        folder=remote.manifest.folder,
        state="starting" if shake.state == "registering" else shake.state,
        pid=remote.child.pid,
        version=remote.version,
        hello_s=shake.hello_s,
        ready_s=shake.ready_s,
        commands=tuple(command.name for command in known.commands.values()),
        tools=tuple(known.tools),
        events=tuple(known.events),
        intercepts=tuple(known.intercepts),
        conflicts=tuple(remote.voice.conflicts),
        warnings=tuple(remote.voice.warnings),
        log=remote.log.path,
        error=remote.error,
    )
