"""Letting go of plugins that no session has any more: they are told `process_stop`, side by side, and unloaded.

Knows no reason but the two that the event has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zot_core import events

if TYPE_CHECKING:
    from zot_core.app import App
    from zot_core.plugins.host import PluginHost

NO_LIMIT = 86_400.0
"""What 0 in the settings means, in seconds: a deadline of a day is none."""


async def retire(app: App, host: PluginHost) -> None:
    """Tells `process_stop` to the plugins of `host` that the Runtime in force does not have, and lets go of them."""
    current = app.runtime.host.plugins.values() if hasattr(app, "runtime") else ()
    still = {id(loaded.plugin) for loaded in current}
    gone = [loaded.plugin for loaded in host.plugins.values() if id(loaded.plugin) not in still]
    for name in [name for name, loaded in host.plugins.items() if id(loaded.plugin) in still]:
        host.unregister(name)
    if gone and host.pipeline.wants("process_stop"):
        limit = app.shutdown_limits()[1]
        await host.pipeline.tell(events.ProcessStopEvent(reason="replaced"), deadline=limit or NO_LIMIT)
    for plugin in gone:
        app.loader.discard(plugin)
