"""A reload of one extension: a new process beside the old one, then, if that fails, in its place.

An extension may hold what only one process can (a port, a lock): so the second attempt is made without the old one. If
that fails too, the old one is started again.
"""

from __future__ import annotations

from zot_core.plugins.errors import PluginLoadError, ReplacementFailed
from zot_plugins.extension_bridge.candidates import Start, launch
from zot_plugins.extension_bridge.manifest import Manifest
from zot_plugins.extension_bridge.process import CannotStart
from zot_plugins.extension_bridge.remote import Remote


async def renewed(old: Remote, manifest: Manifest, start: Start) -> Remote:
    """The extension anew, ready. Raises ReplacementFailed with what goes on instead, PluginLoadError if nothing
    does."""
    name, origin = f"ext:{manifest.name}", str(manifest.folder)
    try:
        new = await _attempt(old, manifest, start)
        if not new.error:
            return new
        if not old.lost:
            old.log.say("the new process did not start beside this one; this one is ended, and it is tried once more")
            await old.stop.finish()
            new = await _attempt(old, manifest, start)
            if not new.error:
                return new
        problem = f"{new.error} (log: {new.log.path})"
    except CannotStart as error:
        problem = f"{error} (log: {old.log.path})"
        if not old.lost:
            raise ReplacementFailed(name, problem, kept=old, origin=origin) from error
    try:
        back = await _attempt(old, old.manifest, start)
    except CannotStart as error:
        raise PluginLoadError(name, problem, origin=origin) from error
    if back.error:
        raise PluginLoadError(name, f"{problem}; the one before could not be started again either", origin=origin)
    raise ReplacementFailed(name, f"{problem}; the one before was started again", kept=back, origin=origin)


async def _attempt(old: Remote, manifest: Manifest, start: Start) -> Remote:
    """A new process that is ready, or has an `error` and is ended. Raises CannotStart."""
    new = await launch(manifest, start, reload=True)
    new.host = old.host_now()  # the session is the same; it need not wait for its start to be greeted
    try:
        await new.settled()
    except BaseException:
        await new.stop.finish()
        raise
    if new.error:
        await new.stop.finish()
    return new
