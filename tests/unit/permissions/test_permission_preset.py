"""`ctx.permission_preset()`: what plugins are told of the preset in force."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from zot_core import hookimpl
from zot_core.types.permissions import PermissionPreset

Open = Callable[..., Any]


class Reads:
    """Reads the preset from within."""

    def __init__(self) -> None:
        self.at_start: str | None = "not asked"
        self.ctx: Any = None

    @hookimpl
    def session_start(self, ctx: Any) -> None:
        self.ctx = ctx
        self.at_start = ctx.permission_preset()


def read(runtime: Open, *commands: str, **how: Any) -> Any:
    """The preset at the session's start and after the commands."""
    reads = Reads()

    async def story() -> Any:
        async with runtime(plugins=[reads, *how.pop("plugins", ())], **how) as app:
            for command in commands:
                await app.prompt(command)
            return reads.at_start, reads.ctx.permission_preset()

    return asyncio.run(story())


def test_it_is_full_access_where_nothing_is_said(runtime: Open) -> None:
    assert read(runtime) == ("full-access", "full-access")


def test_the_settings_and_a_command_say_it(runtime: Open, world: Any) -> None:
    (world.home / "settings.json").write_text(json.dumps({"plugins": {"permissions": {"preset": "read-only"}}}))
    assert read(runtime) == ("read-only", "read-only")
    assert read(runtime, "/permissions workspace") == ("read-only", "workspace")


@pytest.mark.parametrize("off", [["permissions"], []])
def test_it_is_none_where_nobody_can_tell(runtime: Open, world: Any, off: list[str]) -> None:
    class Breaks:
        @hookimpl
        def permission_presets(self) -> PermissionPreset:
            def broken(ctx: Any) -> str:
                raise RuntimeError("cannot tell")

            return PermissionPreset(read=broken)

    (world.home / "settings.json").write_text(json.dumps({"disabled_plugins": off}))
    assert read(runtime, plugins=() if off else (Breaks(),)) == (None, None)


def test_another_plugin_may_watch_over_permissions(runtime: Open) -> None:
    class Own:
        @hookimpl
        def permission_presets(self) -> PermissionPreset:
            return PermissionPreset(read=lambda ctx: f"ask {ctx.plugin[:3]}")

    assert read(runtime, plugins=(Own(),)) == ("ask own", "ask own")
