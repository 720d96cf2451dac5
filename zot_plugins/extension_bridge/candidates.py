"""From what was found to plugins: programs are started, bundles without one only bring their data.

Imports no frames until the first program has been started, so that it starts while they load.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from zot_core.plugins.errors import PluginLoadError
from zot_core.plugins.rank import EXPLICIT
from zot_core.types.record import record
from zot_core.types.specs import Candidate, SessionFacts
from zot_plugins.extension_bridge.bundle import Bundle
from zot_plugins.extension_bridge.finding import Found, find_extensions
from zot_plugins.extension_bridge.logs import ExtensionLog, log_path
from zot_plugins.extension_bridge.manifest import Manifest

if TYPE_CHECKING:
    from zot_plugins.extension_bridge.remote import Remote


@record(kw_only=True)
class Start:
    """What starting an extension needs beside its manifest."""

    home: str
    cwd: str
    secrets: frozenset[str]
    tool_timeout: float


def candidates(session: SessionFacts) -> list[Candidate]:
    """The extensions of a session, in the order of rank."""
    limit = session.settings.get("tool_timeout_s")
    start = Start(
        home=session.home,
        cwd=session.cwd,
        secrets=session.secret_env,
        tool_timeout=float(limit) if isinstance(limit, int | float) and limit > 0 else 60.0,
    )
    found = find_extensions(
        session.extensions,
        session.cwd,
        session.trusted,
        session.home,
        session.no_extensions,
        session.extension_places,
    )
    _say_shadowed(found, session.home)
    # Whoever names two of one name on the command line is told that the second is not used.
    asked = [one for one in found if one.loads or (one.skipped == "shadowed" and one.tier == EXPLICIT)]
    return [_candidate(one, start) for one in asked]


def _say_shadowed(found: list[Found], home: str) -> None:
    for one in found:
        if one.skipped == "shadowed":
            log = ExtensionLog(log_path(home, one.name))
            log.say(f"{one.folder} is not used: {one.shadowed_by} comes before it and has the same name")
            log.close()


def _candidate(found: Found, start: Start) -> Candidate:
    name, origin, manifest = f"ext:{found.name}", str(found.folder), found.manifest
    if manifest is None:
        return Candidate(name=name, tier=found.tier, position=found.position, load=_refused(name, found), origin=origin)
    if not manifest.runs:
        return Candidate(name=name, tier=found.tier, position=found.position, load=_bundle(manifest), origin=origin)

    async def load() -> Remote:
        from zot_plugins.extension_bridge.process import CannotStart

        try:
            return await launch(manifest, start)
        except CannotStart as error:
            log = log_path(start.home, manifest.name)
            raise PluginLoadError(name, f"{error} (log: {log})", origin=origin) from error

    async def renew(old: Any) -> Remote:
        from zot_plugins.extension_bridge.renewal import renewed

        return await renewed(old, manifest, start)

    return Candidate(
        name=name,
        tier=found.tier,
        position=found.position,
        load=load,
        origin=origin,
        keep=(origin, start.cwd),
        renew=renew,
    )


async def launch(manifest: Manifest, start: Start, *, reload: bool = False) -> Remote:
    """Starts an extension's program; it has not said anything yet. Raises CannotStart."""
    from zot_plugins.extension_bridge.process import CannotStart, Child

    log = ExtensionLog(log_path(start.home, manifest.name))
    child = Child(log)
    try:
        await child.start(manifest, secrets=start.secrets, reload=reload)
    except CannotStart as error:
        log.say(str(error))
        log.close()
        raise
    log.say(f"started {manifest.exec} as process {child.pid}")
    from zot_plugins.extension_bridge.remote import Remote

    remote = Remote(manifest, child, tool_timeout=start.tool_timeout)
    if log.problem:
        remote.voice.tell(f"its log {log.path} cannot be written: {log.problem}")
    await remote.listen()
    return remote


def _bundle(manifest: Manifest) -> Callable[[], Awaitable[Bundle]]:
    async def load() -> Bundle:
        return Bundle(manifest)

    return load


def _refused(name: str, found: Found) -> Callable[[], Awaitable[Any]]:
    async def load() -> Any:
        raise PluginLoadError(name, str(found.error), origin=str(found.folder))

    return load
